//! Depth `count`: load of each channel by all messages of one run of each job, and from that its time.
//!
//! A job in isolation cannot be over before its fullest channel has carried the job's traffic there: a lower bound, if messages take the
//! paths by which they are counted. Beside others it
//! waits for its most demanded channel, where each job demands a channel at the rate at which it would send in isolation (as in
//! [`darkfiber_analysis::heat`]), from the beginning to the end: an estimate, as others may end before it, or begin later.
//! Messages that may take several LIDs are spread over them evenly, also where each takes one of them: then it is no bound.

use std::collections::BTreeMap;

use darkfiber_fabric::TerminalId;
use darkfiber_flowsim::{Network, NoRoute, Path};
use darkfiber_packetsim::ConfigError;
use darkfiber_workload::play::JobRun;
use darkfiber_workload::schedule::Program;

use crate::class_totals::by_class;
use crate::drive::{END, TOO_LONG};
use crate::pairs::Received;
use crate::planes::{self, Rails};
use crate::{Effort, LidsPart, Setup, SimError, Simulated};

/// By (sender, receiver, bytes), how many messages a run of a program sends.
fn messages(program: &Program) -> BTreeMap<(u32, u32, u64), u64> {
    let mut all = BTreeMap::new();
    for (block, times) in program.counts() {
        program.blocks()[block].each_message(|from, to, bytes, alike| {
            let count: &mut u64 = all.entry((from, to, bytes)).or_default();
            *count = count.saturating_add(alike.saturating_mul(times));
        });
    }
    all
}

/// Counts one run of each job.
///
/// Complexity: O(distinct messages x paths x hops).
pub(crate) fn simulate(setup: &Setup<'_>) -> Result<Simulated, SimError> {
    let Setup { topology, routes, host, .. } = *setup;
    let jobs = &setup.jobs;
    let fabric = &topology.fabric;
    let mut network = Network::new(fabric, routes, host);
    if let Some(rate) = setup.link_rate {
        network = network.with_link_rate(rate);
    }
    let capacity = network.capacities().to_vec();
    let choice = Choice { setup, all: (0..routes.paths()).map(|path| path as u8).collect() };
    if setup.lids == LidsPart::Adaptive {
        return Err(SimError::Config(ConfigError(
            "lids: adaptive looks at what others send meanwhile, which depth count does not know: take flow".to_owned(),
        )));
    }
    let mut carried = vec![0u64; capacity.len()];
    // By job, its traffic over each channel.
    let mut of_jobs: Vec<BTreeMap<u32, u64>> = Vec::with_capacity(jobs.len());
    let mut received = Received::new(jobs, false);
    let (mut counted, mut divided) = (0, false);
    let rails = jobs.iter().any(|job| job.striped).then(|| Rails::new(fabric));
    for (j, job) in jobs.iter().enumerate() {
        let mut of_job: BTreeMap<u32, u64> = BTreeMap::new();
        for ((from, to, bytes), count) in messages(&job.play.program) {
            received.count(j, [from, to], bytes, count);
            let ends = [from, to].map(|rank| job.play.terminals[rank as usize]);
            let total = u128::from(bytes) * u128::from(count);
            if total == 0 || fabric.host_of(ends[0]) == fabric.host_of(ends[1]) {
                continue;
            }
            // The planes that the message is divided over, and the bytes that each has of it.
            let planes = match &rails {
                Some(rails) if job.striped && bytes >= rails.count() as u64 => rails.count(),
                _ => 1,
            };
            for plane in 0..planes {
                let ends = match &rails {
                    Some(rails) if planes > 1 => ends.map(|t| rails.peers(t)[plane]),
                    _ => ends,
                };
                let part = planes::part(bytes, plane, planes);
                let total = u128::from(part) * u128::from(count);
                let among = choice.among(ends, bytes);
                let n = among.len() as u128;
                divided |= n > 1 && setup.lids != LidsPart::Split;
                for (&path, i) in among.iter().zip(0u128..) {
                    let mut path = [Path::new(ends[0], ends[1], path.into())];
                    network.follow(&mut path);
                    let [path] = path;
                    if path.latency.is_none() {
                        return Err(SimError::NoRoute(NoRoute { from: ends[0], to: ends[1] }));
                    }
                    counted += 1;
                    let part = (total * (i + 1) / n - total * i / n).min(u64::MAX.into()) as u64;
                    for &c in &path.channels {
                        let on = of_job.entry(c).or_default();
                        *on = on.saturating_add(part);
                        let all = &mut carried[c as usize];
                        *all = all.saturating_add(part);
                    }
                }
            }
        }
        of_jobs.push(of_job);
    }
    let runs = runs(&of_jobs, &capacity)?;
    let classes = by_class(jobs, &received, None);
    Ok(Simulated {
        classes,
        end: runs.iter().flatten().map(|run| run.end).max().unwrap_or(0),
        runs,
        pairs: received.pairs,
        carried,
        capacity,
        grid: None,
        held: None,
        effort: Effort::Count { paths: counted, divided },
        packets: Vec::new(),
        pauses: None,
        update: None,
        messages: Vec::new(),
    })
}

/// A run of each job: its minimum time together with the others.
///
/// # Errors
/// If a job takes longer than the clock has.
#[expect(clippy::cast_sign_loss, reason = "times are not below zero")]
fn runs(of_jobs: &[BTreeMap<u32, u64>], capacity: &[f64]) -> Result<Vec<Vec<JobRun>>, SimError> {
    let takes = |(&c, &bytes): (&u32, &u64)| bytes as f64 / capacity[c as usize];
    let alone: Vec<f64> =
        of_jobs.iter().map(|of| of.iter().map(takes).fold(0.0, f64::max)).collect();
    // Demand of all jobs for each channel: 1 is its full capacity.
    let mut wanted = vec![0.0; capacity.len()];
    for (of, &alone) in of_jobs.iter().zip(&alone) {
        for on in of {
            wanted[*on.0 as usize] += takes(on) / alone;
        }
    }
    let run = |(of, &alone): (&BTreeMap<u32, u64>, &f64)| {
        let most = of.keys().map(|&c| wanted[c as usize]).fold(1.0, f64::max);
        // All at once, whenever they start.
        let end = (alone * most).round() as u64;
        if end >= END {
            return Err(SimError::Config(ConfigError(TOO_LONG.to_owned())));
        }
        Ok(vec![JobRun { begin: 0, end }])
    };
    of_jobs.iter().zip(&alone).map(run).collect()
}

/// The LIDs of its destination that a message may take, with equal probability.
struct Choice<'a> {
    setup: &'a Setup<'a>,
    all: Vec<u8>,
}

impl Choice<'_> {
    fn among(&self, [from, to]: [TerminalId; 2], bytes: u64) -> Vec<u8> {
        let routes = self.setup.routes;
        match (self.setup.lids, &routes.choice) {
            (LidsPart::Engine, Some(table)) => table.alternatives(from, to, bytes).to_vec(),
            (LidsPart::Engine, None) if routes.hashed.is_none() => vec![routes.path_of(from) as u8],
            _ => self.all.clone(),
        }
    }
}
