//! CSV: one line a row, one column a number, with a heading.

use darkfiber_analysis::jobs::EffectiveFacts;
use darkfiber_study::SweepRun;

use crate::model::{FabricFacts, RouteOutcome};

/// Columns of [`engines`].
const ENGINE_COLUMNS: [&str; 20] = [
    "engine",
    "seconds",
    "pairs",
    "unreachable",
    "loops",
    "hops_mean",
    "hops_max",
    "layers",
    "deadlock_free",
    "efi_max",
    "efi_mean",
    "efi_min",
    "efi_stddev",
    "dark_fiber_percent",
    "chain",
    "effective_efi_max",
    "gamma_max_mean",
    "links_per_job_mean",
    "effective_dark_fiber_percent",
    "refused",
];

/// Engines, one a line.
pub fn engines(rows: &[RouteOutcome]) -> String {
    let mut lines = vec![ENGINE_COLUMNS.map(str::to_owned).to_vec()];
    for row in rows {
        lines.push(match row {
            RouteOutcome::Refused(r) => {
                let mut line = vec![String::new(); ENGINE_COLUMNS.len()];
                line[0].clone_from(&r.engine);
                line[ENGINE_COLUMNS.len() - 1].clone_from(&r.refused);
                line
            }
            RouteOutcome::Routed(r) => {
                let of_jobs = |pick: fn(&EffectiveFacts) -> String| {
                    r.jobs.as_ref().map_or(String::new(), pick)
                };
                vec![
                    r.engine.clone(),
                    r.seconds.map_or(String::new(), |s| s.to_string()),
                    r.pairs.to_string(),
                    r.unreachable.to_string(),
                    r.loops.to_string(),
                    r.hops.mean.to_string(),
                    r.hops.max.to_string(),
                    r.layers.to_string(),
                    r.deadlock_free.to_string(),
                    r.efi.max.to_string(),
                    r.efi.mean.to_string(),
                    r.efi.min.to_string(),
                    r.efi.stddev.to_string(),
                    r.dark_fiber_percent.to_string(),
                    r.chain.join(" "),
                    of_jobs(|j| j.effective_efi.max.to_string()),
                    of_jobs(|j| j.gamma_max_mean.to_string()),
                    of_jobs(|j| j.links_per_job_mean.to_string()),
                    of_jobs(|j| j.effective_dark_fiber_percent.to_string()),
                    String::new(),
                ]
            }
        });
    }
    text(&lines)
}

/// A fabric, one line.
pub fn fabric(f: &FabricFacts) -> String {
    let columns: [(&str, String); 11] = [
        ("name", f.name.clone()),
        ("switches", f.switches.to_string()),
        ("terminals", f.terminals.to_string()),
        ("compute_terminals", f.compute_terminals.to_string()),
        ("hosts", f.hosts.to_string()),
        ("switch_links", f.switch_links.to_string()),
        ("links", f.links.to_string()),
        ("components", f.components.to_string()),
        ("diameter", f.diameter.map_or(String::new(), |d| d.to_string())),
        ("loopbacks", f.loopbacks.to_string()),
        ("unlinked_adapters", f.unlinked_adapters.to_string()),
    ];
    let (names, values): (Vec<_>, Vec<_>) =
        columns.into_iter().map(|(n, v)| (n.to_owned(), v)).unzip();
    text(&[names, values])
}

/// Columns of [`runs`].
const RUN_COLUMNS: [&str; 16] = [
    "fabric",
    "engine",
    "percent",
    "failed",
    "seed",
    "pieces",
    "pairs",
    "lost",
    "unrouted",
    "layers",
    "deadlock_free",
    "efi_max",
    "efi_max_relative",
    "hops_mean",
    "seconds",
    "refused",
];

/// The runs of a sweep, one a line.
pub fn runs(runs: &[SweepRun]) -> String {
    let mut lines = vec![RUN_COLUMNS.map(str::to_owned).to_vec()];
    for run in runs {
        let mut line = vec![
            run.fabric.clone(),
            run.engine.clone(),
            run.percent.to_string(),
            run.failed.to_string(),
            run.seed.to_string(),
            run.pieces.to_string(),
        ];
        match &run.outcome {
            darkfiber_study::SweepOutcome::Routed(m) => line.extend([
                m.pairs.to_string(),
                m.lost.to_string(),
                m.unrouted.to_string(),
                m.layers.to_string(),
                m.deadlock_free.to_string(),
                m.efi_max.to_string(),
                m.efi_max_relative.map_or(String::new(), |x| x.to_string()),
                m.hops_mean.to_string(),
                m.seconds.to_string(),
                String::new(),
            ]),
            darkfiber_study::SweepOutcome::Refused { refused } => {
                line.resize(RUN_COLUMNS.len() - 1, String::new());
                line.push(refused.clone());
            }
        }
        lines.push(line);
    }
    text(&lines)
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
