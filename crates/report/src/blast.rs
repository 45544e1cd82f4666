//! The result of `darkfiber blast`: the cost of every single fault for the jobs of a scenario.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{FabricFacts, Provenance};
use crate::number::{duration, group};
use crate::style::Style;
use crate::table;
use crate::{Report, comma};

/// What faults cost.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct BlastResult<'a> {
    /// The scenario.
    pub title: &'a str,
    /// The tables: their file, or the engine that made them.
    pub tables: &'a str,
    /// By job.
    pub jobs: &'a [BlastJob],
    /// Every fault that a job notices, the worst first: those that end most jobs, then those that slow one most.
    pub faults: &'a [BlastFault],
    /// Faults that were tried.
    pub tried: usize,
    /// Those of them that no job notices.
    pub unused: usize,
    /// What a day of flapping cables is taken for; `null` if it was not asked.
    pub flaps: Option<FlapFacts>,
    /// Seconds to count the jobs and prepare the tables.
    pub seconds_prepare: f64,
    /// Seconds for all faults.
    pub seconds_compute: f64,
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// How cables flap.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FlapFacts {
    /// Flaps of each cable a day.
    pub rate: f64,
    /// Whether cables between switches flap, and those of hosts: as they are among the faults.
    pub between_switches: bool,
    /// See `between_switches`.
    pub of_hosts: bool,
    /// Seconds that a cable is down.
    pub down: f64,
    /// Seconds until mended tables are in place.
    pub reroute: f64,
    /// Seconds by which an adapter notices later that packets were lost: its timer.
    pub timer: f64,
}

/// What faults cost a job.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct BlastJob {
    /// Its name.
    pub name: String,
    /// Faults that stop some of its traffic until tables are mended.
    pub stopped_by: usize,
    /// Faults after which it cannot go on.
    pub ended_by: usize,
    /// Faults after which it is slower by a hundredth or more.
    pub slowed_by: usize,
    /// Time on mended tables over time before, after the worst fault that does not end it.
    pub worst: f64,
    /// That fault; empty if none slows it.
    pub worst_fault: String,
    /// Seconds that it loses in an expected day of flaps; `null` if it was not asked.
    pub lost_a_day: Option<f64>,
    /// Time in such a day over time without flaps; `null` if it was not asked, or nothing is left of the day.
    pub slowdown_a_day: Option<f64>,
}

/// A fault.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct BlastFault {
    /// `cable`, `switch`, `host cable` or `pair of cables`.
    pub kind: &'static str,
    /// Its cables by their ends, or the name of the switch.
    pub name: String,
    /// Whether tables can be mended: those of the largest part, where the fault splits the fabric.
    pub mended: bool,
    /// Jobs that it touches.
    pub jobs: usize,
    /// Those that cannot go on.
    pub ended: usize,
    /// The largest share of a job's bytes that stops until tables are mended.
    pub stopped: f64,
    /// The largest of times on mended tables over times before; `null` if all its jobs end.
    pub slowdown: Option<f64>,
    /// The job of that; else of the largest share.
    pub job: String,
    /// The largest of times on mended tables over times before, by flows; `null` if it was not simulated.
    pub slowdown_by_flows: Option<f64>,
    /// The job of that.
    pub job_by_flows: Option<String>,
}

impl Report for BlastResult<'_> {
    fn text(&self, style: Style) -> String {
        text(self, style)
    }

    fn csv(&self) -> String {
        comma::table(
            self.faults,
            &[
                ("kind", &|f| f.kind.to_owned()),
                ("name", &|f| f.name.clone()),
                ("mended", &|f| f.mended.to_string()),
                ("jobs", &|f| f.jobs.to_string()),
                ("ended", &|f| f.ended.to_string()),
                ("stopped", &|f| f.stopped.to_string()),
                ("slowdown", &|f| comma::some(f.slowdown)),
                ("job", &|f| f.job.clone()),
                ("slowdown_by_flows", &|f| comma::some(f.slowdown_by_flows)),
                ("job_by_flows", &|f| f.job_by_flows.clone().unwrap_or_default()),
            ],
        )
    }
}

fn text(r: &BlastResult<'_>, style: Style) -> String {
    let most = style.most();
    let n = |x: usize| group(x as u64);
    let times = |x: Option<f64>| x.map_or("-".to_owned(), |x| format!("{x:.3}"));
    let mut text = format!("{}\n", table::headline(r.fabric));
    let _infallible = writeln!(
        text,
        "{}: routes of {}; {} faults, of which no job notices {}\nprepare {}, compute {}\n",
        r.title,
        r.tables,
        n(r.tried),
        n(r.unused),
        duration(r.seconds_prepare),
        duration(r.seconds_compute)
    );
    let mut heading =
        vec!["job", "stopped by", "ended by", "slowed by", "worst", "after this fault"];
    if r.flaps.is_some() {
        heading.extend(["lost a day", "slowdown a day"]);
    }
    let rows: Vec<Vec<String>> = r
        .jobs
        .iter()
        .map(|j| {
            let counts = [j.stopped_by, j.ended_by, j.slowed_by];
            let mut row = vec![j.name.clone()];
            row.extend(counts.map(n));
            row.extend([format!("{:.3}", j.worst), j.worst_fault.clone()]);
            if r.flaps.is_some() {
                row.push(j.lost_a_day.map_or("-".to_owned(), duration));
                row.push(j.slowdown_a_day.map_or("-".to_owned(), |x| format!("{x:.5}")));
            }
            row
        })
        .collect();
    text.push_str(&table::plain(&heading, &rows, &[1, 2, 3, 4, 6, 7], style));
    if let Some(f) = &r.flaps {
        let _infallible = writeln!(
            text,
            "\na day: {} flaps of each cable{}, down {}, tables mended after {}, lost packets noticed {} later",
            f.rate,
            match (f.between_switches, f.of_hosts) {
                (true, true) => "",
                (true, false) => " between switches (--faults cables,hosts has those of hosts)",
                _ => " of a host",
            },
            duration(f.down),
            duration(f.reroute),
            duration(f.timer)
        );
    }
    let row = |f: &BlastFault| {
        vec![
            f.name.clone(),
            f.kind.to_owned(),
            n(f.jobs),
            n(f.ended),
            format!("{:.1} %", 100.0 * f.stopped),
            if f.mended { times(f.slowdown) } else { "no other path".to_owned() },
            f.job.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = r.faults.iter().take(most).map(row).collect();
    if !rows.is_empty() {
        text.push('\n');
        let heading = ["fault", "kind", "jobs", "ended", "stopped", "slowdown", "job"];
        text.push_str(&table::plain(&heading, &rows, &[2, 3, 4, 5], style));
    }
    table::more(&mut text, r.faults.len(), most, "faults");
    text.push_str(
        "\nstopped: share of the bytes of the job hit most that waits until tables are repaired; slowdown: time on repaired tables over\n\
         time before, of the job slowed most; ended: jobs that lose a host, or of which one is cut off. By counting: a job is as\n\
         slow as its fullest channel.\n",
    );
    text.push_str(&by_flows(r, most, style));
    text
}

/// The faults that were simulated, the worst by that first.
fn by_flows(r: &BlastResult<'_>, most: usize, style: Style) -> String {
    let mut faults: Vec<(&BlastFault, f64)> =
        r.faults.iter().filter_map(|f| Some((f, f.slowdown_by_flows?))).collect();
    faults.sort_by(|a, b| b.1.total_cmp(&a.1));
    if faults.is_empty() {
        return String::new();
    }
    let row = |(f, by_flows): &(&BlastFault, f64)| {
        vec![
            f.name.clone(),
            f.kind.to_owned(),
            f.slowdown.map_or("-".to_owned(), |x| format!("{x:.3}")),
            format!("{by_flows:.3}"),
            f.job_by_flows.clone().unwrap_or_default(),
        ]
    };
    let rows: Vec<Vec<String>> = faults.iter().take(most).map(row).collect();
    let heading = ["simulated at flow depth", "kind", "by counting", "by flows", "job"];
    let mut text = format!("\n{}", table::plain(&heading, &rows, &[2, 3], style));
    table::more(&mut text, faults.len(), most, "faults");
    text
}
