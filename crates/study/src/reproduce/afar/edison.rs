//! MILC among others on a dragonfly like Edison: the machine, who runs on it, and how long runs take.

use darkfiber_scenario::{LidsPart, Medium, Setup, Sharing, simulate};
use darkfiber_workload::Stream;
use darkfiber_workload::play::{Job, Repeat, SECOND, host};
use rayon::prelude::*;

use super::lab::Lab;
use crate::reproduce::Context;

/// The machine: routers and cables of Edison, six groups, a third of the cables between groups.
pub(super) const MACHINE: &str = "cascade:groups=6,blue=8";
/// LIDs of a terminal, as a power of two: this many minimal paths.
pub(super) const LMC: u8 = 2;
/// One step of MILC: three iterations of conjugate gradients.
const MILC: (&str, u32) = ("milc:iterations=3,share=0.5", 256);
/// The other applications, and their numbers of nodes. They compute for a time, and then all of them send at once.
const OTHERS: [(&str, u32); 5] = [
    ("bis:steps=1,group=400,iterations=400,compute=200us", 256),
    ("bis:steps=1,group=300,iterations=300,compute=400us", 384),
    ("bis:steps=1,group=500,iterations=500,compute=300us", 256),
    ("alltoall:bytes=256KiB", 128),
    ("nn:steps=1,group=400,iterations=400,compute=500us", 256),
];
/// Each of them is there in this many runs of a hundred, once or twice.
const THERE: u32 = 70;
/// Steps begin for so long.
const LONG: u64 = SECOND;
/// Maximum delay of the start or end of messages, as a part of their own time.
pub(super) const PRECISION: f64 = 0.01;
/// Runs of MILC, each on another day.
const DAYS: u32 = 10;

/// MILC, the first one, and others that a seed draws, each on hosts at random and again and again.
pub(super) fn jobs(lab: &Lab, seed: u64) -> Vec<Job> {
    let mut random = Stream::new(seed, 0);
    let mut programs = vec![(MILC.0.to_owned(), MILC.1)];
    for (spec, nodes) in [OTHERS, OTHERS].concat() {
        if random.below(200) < THERE {
            programs.push((spec.to_owned(), nodes));
        }
    }
    let again = |job: Job| Job {
        start: u64::from(random.below(1000)) * (LONG / 4000),
        repeat: Repeat::Until(LONG),
        ..job
    };
    let mut jobs: Vec<Job> = lab.placed(&programs, seed).into_iter().map(again).collect();
    jobs[0].start = 0;
    jobs
}

/// By day, mean seconds of a step of MILC under idealized adaptive routing: every message takes that of its minimal paths whose
/// fullest channel is shared by the fewest.
pub(super) fn days(context: &Context<'_>) -> Vec<f64> {
    let lab = Lab::of(MACHINE, "minhop", LMC, 1);
    let host = host("aries").expect("known");
    (0..DAYS)
        .into_par_iter()
        .with_max_len(1)
        .map(|day| {
            (context.at)(&format!("MILC, day {}", day + 1));
            let seed = context.seed.wrapping_mul(1000) + u64::from(day);
            let jobs = jobs(&lab, seed);
            let setup = Setup {
                medium: Medium::Flow(Sharing { small: 0, precision: PRECISION }),
                lids: LidsPart::Adaptive,
                seed,
                ..Setup::new(lab.topology(), lab.routes(), host, &jobs)
            };
            let found = simulate(&setup, &mut |_| {}).expect("whole tables and programs");
            let steps = &found.runs[0];
            let all: u64 = steps.iter().map(|run| run.end - run.begin).sum();
            all as f64 / SECOND as f64 / steps.len().max(1) as f64
        })
        .collect()
}
