//! The page of benchmarks: losses, then a table for each section, then the growth with size.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::growth;
use super::results::{Measured, Results};
use super::rows::{Row, Rows};
use super::text::{figure, is_below, ratio};

/// Most lines of the page.
pub(crate) const LINES: usize = 200;

/// What a row that is behind says as long as nobody has looked into it.
const UNEXPLAINED: &str = "**not explained yet**";

const HEAD: &str = "# Benchmarks

<!-- Made by `cargo run -p xtask -- bench` from benches/bench.toml and benches/bench.csv; changes belong there. -->

darkfiber beside other programs: the same work, which the command below runs one after the other, one thread unless the row says otherwise. A row is
behind where the peer is faster or a goal is missed. Machines were virtual and shared with other work, so a ratio may be off by half where it is small.

```sh
cargo run -p xtask -- bench --peers DIR              # all rows; an interrupted run resumes; then this page
cargo run -p xtask -- bench --only route-cab         # rows whose name, section, work or peer has this text
cargo run -p xtask -- bench --table                  # the page alone, from benches/bench.csv
```

- **ratio**: how many times as fast as the peer. **goal**: a ratio (`10x`) or a figure. **limit**: what no implementation can beat, with its
  derivation; most are estimates for one core. **measured**: date and commit of darkfiber; a date behind the peer's figure: it is older.
- A figure is the median of three runs, or one run where it takes over 20 seconds. benches/bench.toml has the commands of each row, and
  rows that are not shown here. Those whose `runs` are 0 in bench.csv were carried over from the pages below: the least of several runs, as each says.
- DIR has the peers as they are built from their sources (`DIR/LogGOPSim/LogGOPSim`, `DIR/booksim2/src/booksim`, `DIR/caminos`); OpenSM, ibsim, ibutils and SimGrid are packages of Debian. A row
  whose peer is missing keeps the peer's last figure with its date.

In full, with all reservations: [engines beside OpenSM, fabric by fabric](benchmarks/opensm.md) (192 comparisons of tables, none worse),
[several LIDs a port](benchmarks/lids.md), [growth of routing](benchmarks/growth.md), [engines, checker and analysis](benchmarks/engines.md),
[simulations](benchmarks/simulation.md), [first contact](benchmarks/first-contact.md). Whether results agree: [validation](validation.md).
";

/// A row with its result.
struct Entry<'a> {
    row: &'a Row,
    measured: &'a Measured,
    ratio: Option<f64>,
}

impl<'a> Entry<'a> {
    fn new(row: &'a Row, measured: &'a Measured) -> Self {
        let ratio = match (measured.ours, measured.theirs) {
            (Some(ours), Some(theirs)) if ours > 0.0 && theirs > 0.0 => {
                Some(if row.more { ours / theirs } else { theirs / ours })
            }
            _ => None,
        };
        Self { row, measured, ratio }
    }

    /// darkfiber's figure by its goal: below 1 the goal is missed.
    fn by_goal(&self) -> Option<f64> {
        let (goal, ours) = (self.row.goal?, self.measured.ours?);
        Some(if self.row.more { ours / goal } else { goal / ours })
    }

    /// How far it is behind, the smaller the farther; none if it is not.
    fn behind(&self) -> Option<f64> {
        // Where a part of the peer's is aimed at, it is expected to be ahead.
        let least = 0.995 * self.row.ratio_goal.unwrap_or(1.0).min(1.0);
        let peer = self.ratio.filter(|&r| r < least);
        let ratio = self.ratio.zip(self.row.ratio_goal);
        let ratio = ratio.filter(|&(r, goal)| is_below(r, goal)).map(|(r, goal)| r / goal);
        let goal = self.by_goal().filter(|&by| by < 1.0);
        [peer, ratio, goal].into_iter().flatten().reduce(f64::min)
    }

    fn line(&self) -> String {
        let Self { row, measured, .. } = self;
        let of = |value: Option<f64>| value.map(|v| figure(v, &row.unit));
        let peer = row.peer.as_deref().unwrap_or_default();
        let mut theirs = of(measured.theirs).unwrap_or_default();
        let mut ours = of(measured.ours).unwrap_or_default();
        if let Some(date) = &measured.theirs_date {
            let _infallible = write!(theirs, " ({date})");
        }
        if let Some(note) = &measured.note {
            let cell = if row.peer.is_some() { &mut theirs } else { &mut ours };
            let _infallible = write!(cell, "{}{note}", if cell.is_empty() { "" } else { "; " });
        }
        let sign = if row.more { "≥" } else { "≤" };
        let goals = [
            row.ratio_goal.map(|goal| format!("{}x", ratio(goal).trim_end_matches(".0"))),
            row.goal.map(|goal| format!("{sign} {}", figure(goal, &row.unit))),
        ];
        let goals: Vec<String> = goals.into_iter().flatten().collect();
        let limit = of(row.limit).zip(row.limit_source.as_ref());
        let cells = [
            format!("`{}`", row.id),
            row.work.clone(),
            peer.to_owned(),
            theirs,
            ours,
            self.ratio.map(ratio).unwrap_or_default(),
            goals.join(", "),
            limit.map(|(limit, source)| format!("{limit}: {source}")).unwrap_or_default(),
            format!("{}, {}", measured.date, measured.commit),
        ];
        format!("| {} |", cells.join(" | "))
    }
}

/// The page.
///
/// # Errors
/// If it is too long.
pub(crate) fn page(rows: &Rows, results: &Results) -> Result<String, String> {
    let shown = rows.rows.iter().filter(|row| row.is_shown());
    let all: Vec<Entry> =
        shown.filter_map(|row| results.get(&row.id).map(|m| Entry::new(row, m))).collect();
    let mut text = HEAD.to_owned();
    let _infallible = writeln!(text, "\nMachines: {}.", results.machines().join("; "));
    let _infallible = writeln!(text, "Peers: {}.", peers(rows, &all));
    losses(&mut text, &all);
    let mut sections: Vec<&str> = Vec::new();
    for entry in &all {
        if !sections.contains(&&entry.row.section[..]) {
            sections.push(&entry.row.section);
        }
    }
    for section in sections {
        let of = all.iter().filter(|e| e.row.section == section && e.behind().is_none());
        table(&mut text, section, "", of.map(Entry::line));
    }
    growths(&mut text, rows, results);
    let count = text.lines().count();
    if count > LINES {
        return Err(format!(
            "the page would have {count} lines, at most {LINES}: hide rows (`shown = false`)"
        ));
    }
    Ok(text)
}

/// Peers of the rows with their versions.
fn peers(rows: &Rows, all: &[Entry]) -> String {
    let is_used = |name: &String| all.iter().any(|e| e.row.peer.as_ref() == Some(name));
    let of = rows.peers.iter().filter(|(name, _)| is_used(name));
    let of: Vec<String> = of.map(|(name, peer)| format!("{name} ({})", peer.version)).collect();
    of.join("; ")
}

/// The rows that are behind, the farthest first, with the reasons.
fn losses(text: &mut String, all: &[Entry]) {
    let mut behind: Vec<(f64, &Entry)> =
        all.iter().filter_map(|e| e.behind().map(|far| (far, e))).collect();
    behind.sort_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal));
    let _infallible = writeln!(
        text,
        "{} of {} rows are behind their peer or their goal. {} of all figures were carried over from the pages above or measured by hand, not by this command yet.",
        behind.len(),
        all.len(),
        all.iter().filter(|e| e.measured.runs == 0).count()
    );
    let lines = behind.into_iter().map(|(_, entry)| {
        let why = entry.row.miss.as_deref().unwrap_or(UNEXPLAINED);
        format!("{} {why} |", entry.line())
    });
    table(text, "Losses", " why |", lines);
}

/// A heading and a table, unless it has no rows.
fn table(text: &mut String, heading: &str, more: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    let rule = if more.is_empty() { "" } else { "---|" };
    let _infallible = writeln!(
        text,
        "\n## {heading}\n\n<!-- tested: cargo test -p xtask -->\n\
         | row | work | peer | peer's | ours | ratio | goal | limit | measured |{more}\n\
         |---|---|---|--:|--:|--:|--:|---|---|{rule}\n{}",
        lines.join("\n")
    );
}

/// The scaling plot and the exponents of its lines.
fn growths(text: &mut String, rows: &Rows, results: &Results) {
    let mut lines = Vec::new();
    for plot in &rows.plots {
        for line in growth::lines(plot, rows, results) {
            let of = |points: &[(f64, f64, bool)]| {
                let e = growth::exponent(points, plot.from);
                e.map(|e| format!("{e:.2}")).unwrap_or_default()
            };
            let largest = line.ours.iter().filter(|p| p.2).map(|p| p.0).fold(plot.from, f64::max);
            let sizes = format!("{} to {} {}", ratio(plot.from), ratio(largest), plot.x);
            let peer = line.peer.unwrap_or_default();
            let (first, last) = &line.of;
            let measured = if first == last { first.clone() } else { format!("{first} to {last}") };
            lines.push(format!(
                "| {} | {} | {} | {peer} | {} | {sizes} | {measured} |",
                plot.name,
                line.name,
                of(&line.ours),
                of(&line.theirs)
            ));
        }
    }
    if lines.is_empty() {
        return;
    }
    let _infallible = writeln!(
        text,
        "\n## Growth with size\n\n\
         ![Time against size for routing, checking, flows and packets, log-log, with fitted exponents](benchmarks.svg)\n\n\
         Exponent e of size^e, least squares on the logarithms of the sizes named; a peer's is of those that it finished, as few as two.\n\n\
         <!-- tested: cargo test -p xtask -->\n\
         | work | of | exponent | peer | its exponent | sizes | measured |\n\
         |---|---|--:|---|--:|---|---|\n{}",
        lines.join("\n")
    );
}
