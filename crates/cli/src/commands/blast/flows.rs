//! The worst faults once more, by flows.

use std::time::Instant;

use darkfiber_analysis::blast::{Blast, Damage, Mending};
use darkfiber_fabric::Faults;
use darkfiber_scenario::Case;

use super::tried::FaultTrial;
use crate::failure::Failure;
use crate::options::Common;
use crate::out;
use crate::progress::Progress;

/// Seconds from which on it is said how long it takes.
const LONG: f64 = 10.0;

/// Places in `order` of the first `most` faults that end no job, and of those after which some job goes on if these are fewer.
pub(super) fn worth(
    order: &[usize],
    tried: &[FaultTrial],
    damages: &[Damage],
    most: usize,
) -> Vec<usize> {
    let goes_on = |&i: &usize| {
        let damage = &damages[order[i]];
        tried[order[i]].kind != "host cable"
            && damage.mending == Mending::Mended
            && damage.jobs.iter().any(|loss| loss.slowdown.is_some())
    };
    let ends = |&i: &usize| damages[order[i]].jobs.iter().any(|loss| loss.slowdown.is_none());
    let (some, none): (Vec<usize>, Vec<usize>) = (0..order.len()).filter(goes_on).partition(ends);
    none.into_iter().chain(some).take(most).collect()
}

/// By fault, the largest of times on mended tables over times before, by flows, and the job of that; `None` if no job that
/// goes on has ended a run.
pub(super) fn slowdowns(
    case: &Case,
    blast: &Blast<'_>,
    faults: &[(&Faults, &Damage)],
    common: &Common,
) -> Result<Vec<Option<(f64, usize)>>, Failure> {
    let progress = Progress::new(faults.len() as u64 + 1, common.quiet);
    progress.at("by flows");
    let begin = Instant::now();
    let before = case.flow_times(blast.routes(), &vec![true; case.jobs.len()])?;
    let all =
        begin.elapsed().as_secs_f64() * faults.len() as f64 / rayon::current_num_threads() as f64;
    if all > LONG && !common.quiet {
        out::eprint_line(&format!(
            "note: {} runs at flow depth take about {all:.0} s",
            faults.len()
        ));
    }
    progress.step();
    let only: Vec<&Faults> = faults.iter().map(|(faults, _)| *faults).collect();
    let found = blast.on_mended(&only, |i, routes| {
        let mut alive = vec![true; case.jobs.len()];
        for loss in faults[i].1.jobs.iter().filter(|loss| loss.slowdown.is_none()) {
            alive[loss.job] = false;
        }
        let times = case.flow_times(routes, &alive);
        progress.step();
        times
    });
    let slowest = |times: Vec<Option<f64>>| {
        let both = times.iter().zip(&before).enumerate();
        // A job within one host may take no time.
        let ratio = |(after, before): (f64, f64)| (before > 0.0).then(|| after / before);
        both.filter_map(|(j, (after, before))| Some((ratio(((*after)?, (*before)?))?, j)))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
    };
    found.into_iter().map(|times| Ok(times.transpose()?.and_then(slowest))).collect()
}
