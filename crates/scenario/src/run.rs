//! Running a resolved scenario at any depth.

use std::collections::BTreeSet;

use darkfiber_analysis::heat::Flow;
use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_packetsim::{ConfigError, Pulse, several};
use darkfiber_routing::{Demand, unwind_if_asked};
use darkfiber_workload::CommMatrix;
use darkfiber_workload::demands::{Profile, Scale, demands};
use darkfiber_workload::play::{self, Record, Repeat};
use rayon::prelude::*;

use crate::planes::Rails;
use crate::{
    Job, Medium, Setup, Sharing, SimError, Simulated, Until, count, flows, packets, update_run,
};

/// Simulates. `each` gets the record of every message that is received, in the order of time, except for repeats that are
/// multiplied ([`Setup::multiplies`]).
///
/// # Errors
/// If ranks wait for messages that never come, the tables lose a message, or the saved state of the run is damaged.
pub fn simulate(setup: &Setup<'_>, each: &mut dyn FnMut(&Record)) -> Result<Simulated, SimError> {
    simulated(setup, each, None)
}

/// Simulates until the condition to stop holds, or all jobs are over.
///
/// # Errors
/// As [`simulate`], and if the requested depth has no time.
pub fn simulate_until(setup: &Setup<'_>, until: Until<'_>) -> Result<Simulated, SimError> {
    simulated(setup, &mut |_| (), Some(until))
}

fn simulated(
    setup: &Setup<'_>,
    each: &mut dyn FnMut(&Record),
    until: Option<Until<'_>>,
) -> Result<Simulated, SimError> {
    match &setup.medium {
        other if setup.update.is_some() && other.packets().is_none() => {
            Err(SimError::Config(ConfigError(format!(
                "[update] writes tables under packets, and the depth is {}: give depth packet",
                other.depth()
            ))))
        }
        Medium::Count if until.is_some() || setup.interval.is_some() => {
            Err(SimError::Config(ConfigError(
                "depth count has no time: intervals and steps need flow, loggp or packet"
                    .to_owned(),
            )))
        }
        Medium::Count => count::simulate(setup),
        Medium::Flow(sharing) => flows::simulate(setup, *sharing, false, each, until),
        Medium::Formula => flows::simulate(setup, Sharing::default(), true, each, until),
        Medium::Packet(options) => match setup.update {
            Some(what) => update_run::simulate(setup, options, what, each, until),
            None => packets::simulate(setup, options, each, until),
        },
    }
}

/// Duration of a run of each job on its hosts and its tables in isolation, in picoseconds.
///
/// # Errors
/// If ranks wait for messages that never come, or the tables lose a message.
pub fn isolated(setup: &Setup<'_>) -> Result<Vec<u64>, SimError> {
    let heed = |_: Pulse| unwind_if_asked();
    let one = |(number, job): (usize, &Job)| {
        let number = Some(job.number.unwrap_or(number as u32));
        // With noise no run is as the one before: the mean of those that it has in the time that it has.
        let repeat = match job.play.repeat {
            Repeat::Until(until) if setup.host.noise > 0.0 => {
                Repeat::Until(until.saturating_sub(job.play.start))
            }
            _ => Repeat::Once,
        };
        let play = play::Job { start: 0, repeat, ..job.play.clone() };
        let alone = Setup {
            jobs: vec![Job { play, number, ..job.clone() }],
            medium: setup.medium.clone(),
            interval: None,
            held: false,
            messages: false,
            update: None,
            // Of its own run nobody hears; it ends where the pool of its threads is asked to.
            follow: Some(&heed),
            ..*setup
        };
        let found = simulate(&alone, &mut |_| unwind_if_asked())?;
        let runs = &found.runs[0];
        let long: u64 = runs.iter().map(|run| run.end - run.begin).sum();
        Ok(if repeat == Repeat::Once { found.end } else { long / runs.len().max(1) as u64 })
    };
    // Processes take them in the same order.
    if several(setup.processes).is_some() {
        return setup.jobs.iter().enumerate().map(one).collect();
    }
    setup.jobs.par_iter().enumerate().with_max_len(1).map(one).collect()
}

/// The jobs as each plane sees them: one that is divided over the planes is a job in each of them.
pub(crate) fn in_each_plane(jobs: &[Job], fabric: &Fabric) -> Vec<play::Job> {
    let rails = Rails::new(fabric);
    let mut all = Vec::with_capacity(jobs.len());
    for job in jobs {
        if !job.striped {
            all.push(job.play.clone());
            continue;
        }
        for plane in 0..rails.count() {
            let terminals = job.play.terminals.iter().map(|&t| rails.peers(t)[plane]).collect();
            all.push(play::Job { terminals, ..job.play.clone() });
        }
    }
    all
}

/// The terminals of each job, each once, in the order of its ranks.
pub fn places<J: AsRef<play::Job>>(jobs: &[J]) -> Vec<Vec<TerminalId>> {
    let place = |job: &J| {
        let mut seen = BTreeSet::new();
        job.as_ref().terminals.iter().copied().filter(|&t| seen.insert(t)).collect()
    };
    jobs.iter().map(place).collect()
}

/// Traffic of one run of each job from terminal to terminal, by rising (job, source, destination).
///
/// # Panics
/// If a job does not have a terminal for each rank.
pub fn sent<J: AsRef<play::Job>>(jobs: &[J]) -> Vec<Flow> {
    let mut all = Vec::new();
    for (job, j) in (0..).zip(jobs.iter().map(AsRef::as_ref)) {
        let sent = CommMatrix::of_program(&j.program);
        let profile = Profile { bytes: sent.entries(), nodes: &j.terminals };
        let found = demands(&[profile], Scale::Bytes).expect("a terminal for each rank");
        all.extend(found.iter().map(|d| Flow { job, from: d.from, to: d.to, bytes: d.weight }));
    }
    all
}

/// Flows of all jobs together, by rising (source, destination), as demands in bytes.
pub fn demanded(flows: &[Flow]) -> Vec<Demand> {
    let mut all: Vec<Demand> =
        flows.iter().map(|f| Demand { from: f.from, to: f.to, weight: f.bytes }).collect();
    all.sort_unstable_by_key(|d| (d.from, d.to));
    all.dedup_by(|d, kept| {
        let same = (d.from, d.to) == (kept.from, kept.to);
        if same {
            kept.weight = kept.weight.saturating_add(d.weight);
        }
        same
    });
    all
}
