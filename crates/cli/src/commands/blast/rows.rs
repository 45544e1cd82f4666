//! What faults cost, for people: by job and by fault.

use std::cmp::Ordering;

use darkfiber_analysis::blast::{Damage, Mending};
use darkfiber_report::blast::{BlastFault, BlastJob, FlapFacts};

use super::tried::FaultTrial;

/// Those that end most jobs first, then those that slow one most, then those that stop most.
pub(super) fn worst_first(a: &Damage, b: &Damage) -> Ordering {
    let ended = |d: &Damage| d.jobs.iter().filter(|loss| loss.slowdown.is_none()).count();
    let slowdown = |d: &Damage| slowest(d).map_or(1.0, |(slowdown, _)| slowdown);
    let stopped = |d: &Damage| d.jobs.iter().map(|loss| loss.stopped).fold(0.0, f64::max);
    ended(b)
        .cmp(&ended(a))
        .then(slowdown(b).total_cmp(&slowdown(a)))
        .then(stopped(b).total_cmp(&stopped(a)))
}

/// The job that is slowed most among those that go on, with its slowdown.
pub(super) fn slowest(damage: &Damage) -> Option<(f64, usize)> {
    damage
        .jobs
        .iter()
        .filter_map(|loss| Some((loss.slowdown?, loss.job)))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
}

/// What all faults cost one job.
pub(super) fn job(
    j: usize,
    name: &str,
    tried: &[FaultTrial],
    damages: &[Damage],
    flaps: Option<FlapFacts>,
) -> BlastJob {
    let mut row = BlastJob {
        name: name.to_owned(),
        stopped_by: 0,
        ended_by: 0,
        slowed_by: 0,
        worst: 1.0,
        worst_fault: String::new(),
        lost_a_day: None,
        slowdown_a_day: None,
    };
    let mut lost = 0.0;
    for (t, damage) in tried.iter().zip(damages) {
        let Some(loss) = damage.jobs.iter().find(|loss| loss.job == j) else { continue };
        row.stopped_by += usize::from(loss.stopped > 0.0);
        let slowdown = loss.slowdown;
        row.ended_by += usize::from(slowdown.is_none());
        row.slowed_by += usize::from(slowdown.is_some_and(|s| s >= 1.01));
        if let Some(slowdown) = slowdown.filter(|s| *s > row.worst * (1.0 + 1e-9)) {
            (row.worst, row.worst_fault) = (slowdown, t.name.clone());
        }
        if let Some(f) = flaps.filter(|_| t.kind == "cable" || t.kind == "host cable") {
            let stands = if slowdown.is_some() { f.down.min(f.reroute) } else { f.down };
            let slower = slowdown.map_or(0.0, |s| (1.0 - 1.0 / s).max(0.0));
            let stop = if loss.stopped > 0.0 { stands + f.timer } else { 0.0 };
            lost += f.rate * (stop + (f.down - f.reroute).max(0.0) * slower);
        }
    }
    if flaps.is_some() {
        const DAY: f64 = 86_400.0;
        row.lost_a_day = Some(lost);
        row.slowdown_a_day = (lost < DAY).then(|| DAY / (DAY - lost));
    }
    row
}

/// What a fault costs all jobs.
pub(super) fn fault(t: &FaultTrial, damage: &Damage, jobs: &[String]) -> BlastFault {
    let slowest = slowest(damage);
    let stopped = damage
        .jobs
        .iter()
        .map(|loss| (loss.stopped, loss.job))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let worst = slowest.filter(|s| s.0 > 1.0 + 1e-9).or(stopped).map(|(_, job)| jobs[job].clone());
    BlastFault {
        kind: t.kind,
        name: t.name.clone(),
        mended: damage.mending == Mending::Mended,
        jobs: damage.jobs.len(),
        ended: damage.jobs.iter().filter(|loss| loss.slowdown.is_none()).count(),
        stopped: stopped.map_or(0.0, |s| s.0),
        slowdown: slowest.map(|s| s.0),
        job: worst.unwrap_or_default(),
        slowdown_by_flows: None,
        job_by_flows: None,
    }
}
