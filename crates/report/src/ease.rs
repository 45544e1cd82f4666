//! The result of `darkfiber route -e ease`: the few entries that serve the jobs that run.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{FabricFacts, Provenance, Routed};
use crate::number::{counted, duration, group};
use crate::style::Style;
use crate::table;
use crate::{Report, comma};

/// Even tables, and what of them changes.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct EaseResult<'a> {
    /// The tables in place: their file.
    pub from: &'a str,
    /// Where the traffic is from: `jobs` (every pair inside a job alike), `demands` or `counters`.
    pub traffic: &'static str,
    /// Pairs of terminals that send.
    pub pairs: usize,
    /// What the fullest channel carries before, as time of a channel of the fastest kind: routes inside jobs, or bytes.
    pub fullest_before: f64,
    /// And with the changed entries.
    pub fullest_after: f64,
    /// No tables have a lower maximum of the effective edge forwarding index; `null` unless the traffic is that of jobs.
    pub bound: Option<u64>,
    /// Entries changed one after the other.
    pub moves: usize,
    /// Moves that were found beyond these, and are withheld as it would take too many steps to put them in place.
    pub withheld: usize,
    /// Entries that differ in the end, one for each LID.
    pub entries_changed: usize,
    /// Blocks of 64 LIDs to send, all steps together.
    pub blocks_changed: usize,
    /// The steps in which entries change, each complete before the next; switches of a step in any order.
    pub steps: &'a [EaseStep],
    /// Seconds to read loads and dependencies from the tables in place; once for many mixes of jobs.
    pub seconds_prepare: f64,
    /// Seconds to find the entries.
    pub seconds_compute: f64,
    /// The tables in place.
    pub before: &'a Routed,
    /// The eased tables, proved by the checker.
    pub after: &'a Routed,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// What changes before anything else may.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct EaseStep {
    /// Blocks of 64 LIDs to send.
    pub blocks: usize,
    /// The entries, by switch and LID.
    pub entries: Vec<EaseEntry>,
}

/// A table entry that changes.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct EaseEntry {
    /// The switch.
    pub switch: String,
    /// Its GUID.
    pub guid: String,
    /// The LID of the entry.
    pub lid: u16,
    /// Egress port before.
    pub old_port: u8,
    /// Egress port now.
    pub new_port: u8,
}

impl Report for EaseResult<'_> {
    fn text(&self, style: Style) -> String {
        text(self, style)
    }

    fn csv(&self) -> String {
        csv(self.steps)
    }
}

/// For people: this many entries are listed as the style says.
fn text(r: &EaseResult<'_>, style: Style) -> String {
    let most = style.most();
    let n = |x: usize| group(x as u64);
    let mut text = format!("{}\n\n", table::headline(r.fabric));
    let mut line = |key: &str, value: String| {
        let _infallible = writeln!(text, "  {key:<14} {value}");
    };
    line("from", r.from.to_owned());
    line("traffic", format!("{}: {}", r.traffic, counted(r.pairs, "pair", "pairs")));
    let bound = r.bound.map_or_else(String::new, |b| format!(", bound {}", group(b)));
    let fill = |x: f64| format!("{x:.0}");
    let (before, after) = (fill(r.fullest_before), fill(r.fullest_after));
    let what = if r.bound.is_some() { "effective EFI" } else { "fullest" };
    line(what, format!("{before} -> {after}{bound}"));
    line(
        "changed",
        format!(
            "{}, {}",
            counted(r.entries_changed, "entry", "entries"),
            counted(r.blocks_changed, "block", "blocks")
        ),
    );
    let how = match r.steps.len() {
        0 => "nothing changes".to_owned(),
        1 => "switches may be updated in any order".to_owned(),
        steps => format!("{steps} steps, each complete before the next begins"),
    };
    line("coexistence", format!("{how}; service levels stay"));
    if r.withheld > 0 {
        let moves = counted(r.withheld, "move", "moves");
        line("withheld", format!("{moves} that would take more steps"));
    }
    let (prepare, compute) = (duration(r.seconds_prepare), duration(r.seconds_compute));
    line("time", format!("prepare {prepare}, compute {compute}"));
    text.push('\n');
    let row = |name: &str, of: &Routed| {
        let jobs = of.jobs.as_ref().map_or("-".to_owned(), |j| group(j.effective_efi.max));
        vec![
            name.to_owned(),
            group(of.unreachable + of.loops),
            of.layers.to_string(),
            if of.deadlock_free { "yes" } else { "NO" }.to_owned(),
            group(of.efi.max),
            jobs,
        ]
    };
    let rows = [row("before", r.before), row("after", r.after)];
    let heading =
        ["", "lost pairs", "layers", "deadlock-free", "EFI max (all pairs)", "effective EFI max"];
    text.push_str(&table::plain(&heading, &rows, &[1, 2, 4, 5], style));
    let entries =
        r.steps.iter().zip(1..).flat_map(|(s, step)| s.entries.iter().map(move |e| (step, e)));
    let rows: Vec<Vec<String>> = entries
        .take(most)
        .map(|(step, e): (usize, _)| {
            vec![
                step.to_string(),
                e.switch.clone(),
                e.guid.clone(),
                e.lid.to_string(),
                format!("{} -> {}", e.old_port, e.new_port),
            ]
        })
        .collect();
    if !rows.is_empty() {
        text.push('\n');
        let heading = ["step", "switch", "GUID", "LID", "port"];
        text.push_str(&table::plain(&heading, &rows, &[0, 3], style));
        let all: usize = r.steps.iter().map(|s| s.entries.len()).sum();
        if all > rows.len() {
            let more = n(all - rows.len());
            let _infallible = writeln!(text, "... and {more} more entries (-v shows all)");
        }
    }
    text
}

/// A line for each entry.
fn csv(steps: &[EaseStep]) -> String {
    let entries = steps
        .iter()
        .zip(1usize..)
        .flat_map(|(s, number)| s.entries.iter().map(move |e| (number, e)));
    comma::table(
        entries,
        &[
            ("step", &|(number, _)| number.to_string()),
            ("switch", &|(_, e)| e.switch.clone()),
            ("guid", &|(_, e)| e.guid.clone()),
            ("lid", &|(_, e)| e.lid.to_string()),
            ("old_port", &|(_, e)| e.old_port.to_string()),
            ("new_port", &|(_, e)| e.new_port.to_string()),
        ],
    )
}
