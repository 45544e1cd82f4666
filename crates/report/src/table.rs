//! Tables for terminals: plain ASCII, numbers to the right, colour only on request.

use std::fmt::Write as _;

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, ContentLineStyle, LineStyle, Table,
    TableStyle,
};

use darkfiber_analysis::jobs::EffectiveFacts;
use darkfiber_study::{Stat, Summary};

use crate::model::{FabricFacts, PortGroups, RailFacts, RouteOutcome, Routed};
use crate::number::{counted, duration, group, mean, percent};
use crate::style::Style;

/// Only a line of dashes below the heading.
const PLAIN: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::new(' ', ' ', ' '))
    .header_separator(LineStyle::new(' ', '-', ' ', ' '))
    .content_lines(ContentLineStyle::new(' ', ' ', ' '));

/// Tables narrower than this are set with less space between columns.
const ROOMY: u16 = 100;
/// Column of [`engines`] that narrow terminals do without.
const STDDEV: usize = 9;

/// A table from a heading and rows of text. `numbers` are the columns set to the right.
pub fn plain(heading: &[&str], rows: &[Vec<String>], numbers: &[usize], style: Style) -> String {
    let mut table = new(style);
    table.set_header(heading.to_vec());
    for row in rows {
        table.add_row(row.clone());
    }
    finish(&mut table, numbers, style)
}

/// Says how many of a list are not shown, if any. `most`: lines shown.
pub(crate) fn more(text: &mut String, all: usize, most: usize, what: &str) {
    if all > most {
        let rest = group((all - most) as u64);
        let _ok = writeln!(text, "... and {rest} more {what} (--top N, --format json)");
    }
}

/// A table of engines, and below it the reasons of refusals. On a narrow terminal the standard deviation is left out.
pub fn engines(rows: &[RouteOutcome], style: Style) -> String {
    let narrow = style.width.is_some_and(|w| w < ROOMY);
    let columns = |mut all: Vec<Cell>| {
        if narrow {
            all.remove(STDDEV);
        }
        all
    };
    // The heading.
    let mut table = new(style);
    table.set_header(columns(
        [
            "engine",
            "time",
            "reachable\npairs",
            "hops\nmean",
            "\nmax",
            "layers",
            "deadlock-\nfree",
            "EFI\nmax",
            "\nmean",
            "\nstddev",
            "dark\nfiber",
        ]
        .map(Cell::new)
        .to_vec(),
    ));
    // A row for each engine; information that does not fit in columns goes into notes below.
    let mut notes = String::new();
    for row in rows {
        match row {
            RouteOutcome::Refused(r) => {
                let mut cells = vec![Cell::new(&r.engine), Cell::new("-"), Cell::new("refused")];
                cells.resize(11, Cell::new("-"));
                table.add_row(columns(cells));
                let _infallible = writeln!(notes, "{} refused: {}", r.engine, r.refused);
            }
            RouteOutcome::Routed(r) => {
                table.add_row(columns(cells(r, style)));
                for refused in &r.refusals {
                    let _infallible = writeln!(
                        notes,
                        "{} refused, so {} routed: {}",
                        refused.engine, r.engine, refused.refused
                    );
                }
                if let Some(groups) = &r.groups {
                    notes.push_str(&port_groups(&r.engine, groups));
                }
                if let Some(pair) = r.layers_by_pair {
                    let _infallible = writeln!(
                        notes,
                        "{}: a layer depends on one end alone; by pair it takes {pair}",
                        r.engine
                    );
                }
                if let Some(t) = &r.towards {
                    let _infallible = writeln!(
                        notes,
                        "{}: its own tables (EFI max {}, rung {}) are taken {}: {} of {} LIDs, {} more in part, {} of {} \
                         entries",
                        r.engine,
                        group(t.efi_max),
                        t.verdict,
                        t.how,
                        group(t.lids_whole as u64),
                        group(t.lids as u64),
                        group(t.lids_in_part as u64),
                        group(t.entries_taken as u64),
                        group(t.entries as u64)
                    );
                }
                if let Some(share) = r.cables_untouched_percent {
                    let _infallible = writeln!(
                        notes,
                        "{}: the repairs of {} of the single cables leave running connections alone",
                        r.engine,
                        percent(share)
                    );
                }
                if let Some(needed) = r.layers_needed {
                    let _infallible = writeln!(
                        notes,
                        "{}: needs {needed} of these layers; dealt out over idle lanes",
                        r.engine
                    );
                }
            }
        }
    }
    // The meaning of "NO", once.
    let cyclic = |row: &RouteOutcome| matches!(row, RouteOutcome::Routed(r) if !r.deadlock_free);
    if rows.iter().any(cyclic) {
        notes.push_str(
            "NO: channel dependencies form a cycle, so packets can deadlock under load\n",
        );
    }
    // All but the name and the verdict on deadlock.
    let numbers: Vec<usize> = (1..11).filter(|&i| i != 6).collect();
    let mut text = finish(&mut table, &numbers, style);
    text.push_str(&inside_jobs(rows, style));
    if !notes.is_empty() {
        text.push('\n');
        text.push_str(&notes);
    }
    text
}

/// Groups of ports in a line.
fn port_groups(engine: &str, g: &PortGroups) -> String {
    let mut text = format!(
        "{engine}: {} of up to {} ports, paths of up to {} switches",
        counted(g.groups, "group", "groups"),
        g.largest,
        g.hops
    );
    if let (Some(max), Some(of)) = (g.expected_max, g.expected_mean) {
        let _infallible = write!(
            text,
            "; split evenly, routes on a channel: max {}, mean {}",
            mean(max),
            mean(of)
        );
    }
    text.push_str(if g.deadlock_free {
        "; whatever ports switches pick, no cyclic dependency\n"
    } else {
        "; a cyclic dependency\n"
    });
    text
}

/// Loads of routes inside jobs, if jobs were given.
fn inside_jobs(rows: &[RouteOutcome], style: Style) -> String {
    let of_jobs = |row: &RouteOutcome| match row {
        RouteOutcome::Routed(r) => r.jobs.map(|jobs| (r.engine.clone(), jobs)),
        RouteOutcome::Refused(_) => None,
    };
    let all: Vec<(String, EffectiveFacts)> = rows.iter().filter_map(of_jobs).collect();
    let Some((_, first)) = all.first() else { return String::new() };
    let heading = [
        "inside jobs",
        "fullest\nchannel",
        "mean\nload",
        "fullest of\na job, mean",
        "links\nper job",
        "dark\nfiber",
    ];
    let cells: Vec<Vec<String>> = all
        .iter()
        .map(|(engine, jobs)| {
            vec![
                engine.clone(),
                group(jobs.effective_efi.max),
                mean(jobs.effective_efi.mean),
                mean(jobs.gamma_max_mean),
                mean(jobs.links_per_job_mean),
                percent(jobs.effective_dark_fiber_percent),
            ]
        })
        .collect();
    format!(
        "\n{}\nroutes between terminals of one job; {} jobs are on several switches\n",
        plain(&heading, &cells, &[1, 2, 3, 4, 5], style),
        group(first.multi_switch_jobs as u64)
    )
}

fn cells(r: &Routed, style: Style) -> Vec<Cell> {
    let bad = |text: String, is_bad: bool| {
        let cell = Cell::new(text);
        if is_bad && style.color {
            cell.fg(Color::Red).add_attribute(Attribute::Bold)
        } else {
            cell
        }
    };
    let missing = r.unreachable + r.loops;
    let reach = if missing == 0 {
        format!("all {}", group(r.pairs))
    } else if r.paths == r.pairs {
        format!("{} lost", group(missing))
    } else {
        // With several LIDs a port a pair may lose one of its paths.
        format!("{} of {} to LIDs lost", group(missing), group(r.paths))
    };
    vec![
        Cell::new(&r.engine),
        Cell::new(r.seconds.map_or("-".to_owned(), duration)),
        bad(reach, missing > 0),
        Cell::new(format!("{:.2}", r.hops.mean)),
        Cell::new(r.hops.max),
        Cell::new(r.layers),
        bad(if r.deadlock_free { "yes" } else { "NO" }.to_owned(), !r.deadlock_free),
        Cell::new(group(r.efi.max)),
        Cell::new(mean(r.efi.mean)),
        Cell::new(mean(r.efi.stddev)),
        Cell::new(percent(r.dark_fiber_percent)),
    ]
}

/// A sweep over one fabric: a line for each share of failed cables and engine, and below it why some
/// refused.
pub fn sweep<'a>(rows: impl Iterator<Item = &'a Summary>, style: Style) -> String {
    let mut table = new(style);
    table.set_header([
        "failed\ncables",
        "engine",
        "runs",
        "lost pairs\nmean",
        "\nmax",
        "layers\nmean",
        "\nmax",
        "deadlock-\nfree",
        "EFI max\nmean",
        "relative\nmean",
        "\nmin",
        "\nmax",
        "hops\nmean",
        "time\nmean",
    ]);
    let of_mean =
        |stat: Option<Stat>, text: fn(f64) -> String| stat.map_or("-".to_owned(), |s| text(s.mean));
    let of_max =
        |stat: Option<Stat>, text: fn(f64) -> String| stat.map_or("-".to_owned(), |s| text(s.max));
    let few = |x: f64| format!("{x:.2}");
    let whole = |x: f64| if x == 0.0 { "0".to_owned() } else { mean(x) };
    let count = |x: f64| format!("{x:.0}");
    let mut notes = String::new();
    let mut told = Vec::new();
    let mut last_failed = None;
    for row in rows {
        let routed = row.runs - row.refused;
        let failed = format!("{} % ({})", row.percent, group(row.failed as u64));
        table.add_row([
            if last_failed.as_ref() == Some(&failed) { String::new() } else { failed.clone() },
            row.engine.clone(),
            match routed {
                0 => "refused".to_owned(),
                n if n < row.runs => format!("{n} of {}", row.runs),
                n => n.to_string(),
            },
            of_mean(row.lost, whole),
            of_max(row.lost, count),
            of_mean(row.layers, few),
            of_max(row.layers, count),
            match row.deadlock_free {
                _ if routed == 0 => "-".to_owned(),
                n if n == routed => "yes".to_owned(),
                0 => "NO".to_owned(),
                n => format!("{n} of {routed}"),
            },
            of_mean(row.efi_max, whole),
            of_mean(row.efi_max_relative, few),
            row.efi_max_relative.map_or("-".to_owned(), |s| few(s.min)),
            of_max(row.efi_max_relative, few),
            of_mean(row.hops_mean, few),
            of_mean(row.seconds, duration),
        ]);
        last_failed = Some(failed);
        // Its first reason; the others differ in numbers.
        if let Some(reason) = row.reason.as_ref().filter(|_| !told.contains(&&row.engine)) {
            let _infallible = writeln!(notes, "{} refused: {reason}", row.engine);
            told.push(&row.engine);
        }
    }
    let numbers: Vec<usize> = (2..14).filter(|&i| i != 7).collect();
    let mut text = finish(&mut table, &numbers, style);
    if !notes.is_empty() {
        text.push('\n');
        text.push_str(&notes);
    }
    text
}

/// One line that describes the fabric.
pub fn headline(f: &FabricFacts) -> String {
    let mut line = format!(
        "{}: {}, {}",
        f.name,
        counted(f.switches, "switch", "switches"),
        counted(f.terminals, "terminal", "terminals")
    );
    if f.compute_terminals != f.terminals {
        let _infallible = write!(line, " ({} compute)", group(f.compute_terminals as u64));
    }
    let _infallible = write!(line, ", {}", counted(f.switch_links, "switch link", "switch links"));
    let recognised = f.recognised.as_ref().map(|r| &r.text);
    if let Some(what) = recognised.or(f.shape.as_ref()) {
        let _infallible = write!(line, "; {what}");
    }
    line
}

/// Rails in a line.
pub(crate) fn rails(r: &RailFacts) -> String {
    let hosts = match (r.units.first(), r.units.last()) {
        (Some(most), Some(least)) if most == least => format!("of {most} hosts"),
        (Some(most), Some(least)) => format!("of {least} to {most} hosts"),
        _ => String::new(),
    };
    let above = if r.rails_meet { "share switches above" } else { "are networks of their own" };
    let exceptions = match r.exceptions.len() {
        0 => String::new(),
        n => format!("; {} on another rail", counted(n, "adapter", "adapters")),
    };
    let planes = if r.planes > 1 { format!(", in {} planes", r.planes) } else { String::new() };
    format!(
        "{}, {} {hosts}, {}{planes}; rails {above}{exceptions}",
        counted(r.rails, "rail", "rails"),
        counted(r.units.len(), "unit", "units"),
        counted(r.pods, "pod", "pods"),
    )
}

/// A fabric, in full.
pub fn fabric(f: &FabricFacts, digest: &str, style: Style) -> String {
    let number = |n: usize| group(n as u64);
    let roles: Vec<String> =
        f.roles.iter().map(|(role, n)| format!("{} {role}", number(*n))).collect();
    let mut rows = vec![
        ("switches", number(f.switches)),
        ("terminals", format!("{}   ({})", number(f.terminals), roles.join(", "))),
        ("hosts", number(f.hosts)),
        (
            "links",
            format!(
                "{}   ({} between switches, {} to terminals{})",
                number(f.links),
                number(f.switch_links),
                number(f.terminals),
                if f.loopbacks > 0 {
                    format!(", {} from a switch to itself", number(f.loopbacks))
                } else {
                    String::new()
                }
            ),
        ),
        ("components", number(f.components)),
    ];
    if let Some(diameter) = f.diameter {
        rows.push(("diameter", format!("{diameter}   (switch-to-switch hops)")));
    }
    if let Some(p) = f.peaks {
        let tera = |bytes: f64| format!("{:.3} TB/s", bytes / 1e12);
        rows.push(("injection", format!("{}   (what terminals send)", tera(p.injection))));
        if let Some(bisection) = p.bisection {
            let how = "(between halves of the groups, both directions)";
            rows.push(("bisection", format!("{}   {how}", tera(bisection))));
        }
        rows.push((
            "all to all",
            format!(
                "{}   (at most: what cables between groups carry, or terminals send)",
                tera(p.all_to_all)
            ),
        ));
    }
    if f.terminals == 0 {
        "0".clone_into(&mut rows[1].1);
    }
    if f.unlinked_adapters > 0 {
        rows.push(("unlinked adapters", number(f.unlinked_adapters)));
    }
    if let Some(found) = &f.recognised {
        rows.push(("structure", found.text.clone()));
    } else if !f.unrecognised.is_empty() {
        rows.push(("structure", "unknown (-v says why)".to_owned()));
    }
    if let Some(shape) = &f.shape {
        rows.push(("shape", shape.clone()));
    }
    if let Some(r) = &f.rails {
        rows.push(("rails", rails(r)));
        let most = if style.full { usize::MAX } else { 3 };
        rows.extend(r.exceptions.iter().take(most).map(|e| ("", e.clone())));
        if r.exceptions.len() > most {
            rows.push(("", format!("... and {} more (-v)", r.exceptions.len() - most)));
        }
    }
    rows.push(("digest", digest.to_owned()));
    let mut text = format!("{}\n", f.name);
    for (key, value) in rows {
        let _infallible = writeln!(text, "  {key:<18} {value}");
    }
    if !f.link_classes.is_empty() {
        let lines: Vec<Vec<String>> = f
            .link_classes
            .iter()
            .map(|c| {
                vec![
                    c.label.clone(),
                    format!("{:.1}", c.gbit_per_second),
                    number(c.switch_links),
                    number(c.terminal_links),
                ]
            })
            .collect();
        text.push('\n');
        text.push_str(&plain(
            &["link speed", "Gbit/s", "switch links", "terminal links"],
            &lines,
            &[1, 2, 3],
            style,
        ));
    }
    text
}

fn new(style: Style) -> Table {
    let mut table = Table::new();
    table.load_style(PLAIN);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    match style.width {
        Some(width) => {
            table.set_width(width);
        }
        None => {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    if style.color {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table
}

fn finish(table: &mut Table, numbers: &[usize], style: Style) -> String {
    let padding = if style.width.is_some_and(|w| w < ROOMY) { (0, 0) } else { (0, 1) };
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding(padding);
        if numbers.contains(&i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text: String = table.lines().map(|l| l.trim_end().to_owned() + "\n").collect();
    // The style begins every line with the blank of its left border.
    text = text.lines().map(|l| l.strip_prefix(' ').unwrap_or(l).to_owned() + "\n").collect();
    text
}
