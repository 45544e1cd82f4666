//! CSV: one line a row, one column a number, with a heading.

use darkfiber_study::{Measured, SweepOutcome, SweepRun};

use crate::model::{FabricFacts, RouteOutcome, Routed};

/// A column: its heading, and its value in a row.
pub type Column<'c, R> = (&'c str, &'c dyn Fn(&R) -> String);

/// Rows, one a line, below a heading.
pub fn table<R>(rows: impl IntoIterator<Item = R>, columns: &[Column<'_, R>]) -> String {
    let mut lines = vec![columns.iter().map(|(heading, _)| (*heading).to_owned()).collect()];
    lines.extend(rows.into_iter().map(|row| columns.iter().map(|(_, cell)| cell(&row)).collect()));
    text(&lines)
}

/// A value as text, or an empty text.
pub fn some(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Engines, one a line.
pub fn engines(rows: &[RouteOutcome]) -> String {
    let of = |row: &RouteOutcome, cell: fn(&Routed) -> String| match row {
        RouteOutcome::Routed(r) => cell(r),
        RouteOutcome::Refused(_) => String::new(),
    };
    table(
        rows,
        &[
            ("engine", &|row| match row {
                RouteOutcome::Routed(r) => r.engine.clone(),
                RouteOutcome::Refused(r) => r.engine.clone(),
            }),
            ("seconds", &|row| of(row, |r| some(r.seconds))),
            ("pairs", &|row| of(row, |r| r.pairs.to_string())),
            ("paths", &|row| of(row, |r| r.paths.to_string())),
            ("unreachable", &|row| of(row, |r| r.unreachable.to_string())),
            ("loops", &|row| of(row, |r| r.loops.to_string())),
            ("hops_mean", &|row| of(row, |r| r.hops.mean.to_string())),
            ("hops_max", &|row| of(row, |r| r.hops.max.to_string())),
            ("layers", &|row| of(row, |r| r.layers.to_string())),
            ("deadlock_free", &|row| of(row, |r| r.deadlock_free.to_string())),
            ("efi_max", &|row| of(row, |r| r.efi.max.to_string())),
            ("efi_mean", &|row| of(row, |r| r.efi.mean.to_string())),
            ("efi_min", &|row| of(row, |r| r.efi.min.to_string())),
            ("efi_stddev", &|row| of(row, |r| r.efi.stddev.to_string())),
            ("dark_fiber_percent", &|row| of(row, |r| r.dark_fiber_percent.to_string())),
            ("chain", &|row| of(row, |r| r.chain.join(" "))),
            ("effective_efi_max", &|row| {
                of(row, |r| some(r.jobs.as_ref().map(|j| j.effective_efi.max)))
            }),
            ("gamma_max_mean", &|row| of(row, |r| some(r.jobs.as_ref().map(|j| j.gamma_max_mean)))),
            ("links_per_job_mean", &|row| {
                of(row, |r| some(r.jobs.as_ref().map(|j| j.links_per_job_mean)))
            }),
            ("effective_dark_fiber_percent", &|row| {
                of(row, |r| some(r.jobs.as_ref().map(|j| j.effective_dark_fiber_percent)))
            }),
            ("refused", &|row| match row {
                RouteOutcome::Routed(_) => String::new(),
                RouteOutcome::Refused(r) => r.refused.clone(),
            }),
        ],
    )
}

/// A fabric, one line.
pub fn fabric(f: &FabricFacts) -> String {
    table(
        [f],
        &[
            ("name", &|f| f.name.clone()),
            ("switches", &|f| f.switches.to_string()),
            ("terminals", &|f| f.terminals.to_string()),
            ("compute_terminals", &|f| f.compute_terminals.to_string()),
            ("hosts", &|f| f.hosts.to_string()),
            ("switch_links", &|f| f.switch_links.to_string()),
            ("links", &|f| f.links.to_string()),
            ("components", &|f| f.components.to_string()),
            ("diameter", &|f| some(f.diameter)),
            ("loopbacks", &|f| f.loopbacks.to_string()),
            ("unlinked_adapters", &|f| f.unlinked_adapters.to_string()),
        ],
    )
}

/// The runs of a sweep, one a line.
pub fn runs(runs: &[SweepRun]) -> String {
    let of = |run: &SweepRun, cell: fn(&Measured) -> String| {
        run.measured().map(cell).unwrap_or_default()
    };
    table(
        runs,
        &[
            ("fabric", &|run| run.fabric.clone()),
            ("engine", &|run| run.engine.clone()),
            ("percent", &|run| run.percent.to_string()),
            ("failed", &|run| run.failed.to_string()),
            ("seed", &|run| run.seed.to_string()),
            ("pieces", &|run| run.pieces.to_string()),
            ("pairs", &|run| of(run, |m| m.pairs.to_string())),
            ("lost", &|run| of(run, |m| m.lost.to_string())),
            ("unrouted", &|run| of(run, |m| m.unrouted.to_string())),
            ("layers", &|run| of(run, |m| m.layers.to_string())),
            ("deadlock_free", &|run| of(run, |m| m.deadlock_free.to_string())),
            ("efi_max", &|run| of(run, |m| m.efi_max.to_string())),
            ("efi_max_relative", &|run| of(run, |m| some(m.efi_max_relative))),
            ("hops_mean", &|run| of(run, |m| m.hops_mean.to_string())),
            ("seconds", &|run| of(run, |m| m.seconds.to_string())),
            ("refused", &|run| match &run.outcome {
                SweepOutcome::Routed(_) => String::new(),
                SweepOutcome::Refused { refused } => refused.clone(),
            }),
        ],
    )
}

/// Any lines, the first being the heading.
///
/// # Panics
/// If the lines differ in length.
pub fn text(lines: &[Vec<String>]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        writer.write_record(line).expect("lines are of one length");
    }
    let bytes = writer.into_inner().expect("memory does not fail");
    String::from_utf8(bytes).expect("fields were text")
}
