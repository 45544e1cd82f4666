//! Figures 7 and 8: times of MILC's steps on a dragonfly, and what is learnt of them from counters.

use darkfiber_analysis::learn::{Boosting, Judged, Reading, Samples, judge};
use darkfiber_workload::Stream;
use darkfiber_workload::play::{Host, Job, Repeat, SECOND, host};
use rayon::prelude::*;

use super::PAPER;
use super::lab::Lab;
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Row};
use darkfiber_scenario::{LidsPart, Medium, Setup, Sharing, counted, simulate};

/// See [`Experiment::title`].
pub(crate) struct LearnedSteps;

/// Runs of MILC.
const RUNS: u32 = 30;
/// The machine: routers and cables of Edison, six groups, a third of the cables between groups.
const MACHINE: &str = "cascade:groups=6,blue=8";
/// LIDs of a terminal, as a power of two: so many minimal ways.
const LMC: u8 = 2;
/// One step of MILC: three iterations of conjugate gradients.
const MILC: (&str, u32) = ("milc:iterations=3,share=0.5", 256);
/// What others do, and on how many nodes. They compute for so long, and all of them send at once then.
const OTHERS: [(&str, u32); 5] = [
    ("bis:steps=1,group=400,iterations=400,compute=200us", 256),
    ("bis:steps=1,group=300,iterations=300,compute=400us", 384),
    ("bis:steps=1,group=500,iterations=500,compute=300us", 256),
    ("alltoall:bytes=256KiB", 128),
    ("nn:steps=1,group=400,iterations=400,compute=500us", 256),
];
/// Each of them is there in so many runs of a hundred, once or twice.
const THERE: u32 = 70;
/// Steps begin for so long.
const LONG: u64 = SECOND;
/// Counters are read so often.
const INTERVAL: u64 = SECOND / 2000;
/// Messages may begin or end late by so much of their own time.
const PRECISION: f64 = 0.01;

impl Experiment for LearnedSteps {
    fn id(&self) -> &'static str {
        "AFAR-F8"
    }

    fn title(&self) -> &'static str {
        "Times of MILC's steps on a dragonfly, learnt from counters (figures 7 and 8)"
    }

    fn paper(&self) -> &'static str {
        PAPER
    }

    fn setup(&self) -> &'static str {
        "Nobody has the counters of Edison, so they are simulated: routers and cables of Edison in six groups with 8 cables \
         between any two, tables of minhop with four LIDs of which messages take any (routing does not adapt at this depth). MILC runs on 256 nodes at \
         random, thirty times; others come and go by lot, compute, and send all at once. Features are sum, mean and maximum \
         of what the ports of MILC's routers carried and of what waited for them, in one virtual channel instead of eight. \
         The paper's figures are of another machine, other jobs and times in a unit that it does not tell; what is judged \
         is that sparse features foretell, and as well as those in common."
    }

    fn class(&self) -> Class {
        Class::Substitute
    }

    fn seconds(&self) -> f64 {
        80.0
    }

    fn run(&self, context: &Context<'_>) -> Vec<Row> {
        let lab = Lab::of(MACHINE, "minhop", LMC, 1);
        let readings: Vec<Reading> = (0..RUNS)
            .into_par_iter()
            .with_max_len(1)
            .flat_map_iter(|run| {
                (context.at)(&format!("run {}", run + 1));
                steps(&lab, run as usize, context.seed.wrapping_mul(1000) + u64::from(run))
            })
            .collect();
        let names = ["bytes", "held"].map(str::to_owned);
        let samples = Samples::gather(&names, &readings).expect("steps differ");
        (context.at)("learning");
        let judged = judge(&samples, Boosting::default(), context.seed);
        draw(context, &samples, &judged);
        rows(&samples, &judged)
    }
}

/// A run: what each port of MILC's routers counted in each step.
fn steps(lab: &Lab, run: usize, seed: u64) -> Vec<Reading> {
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
    let host: Host = host("aries").expect("known").clone();
    let setup = Setup {
        medium: Medium::Flow(Sharing { small: 0, precision: PRECISION }),
        lids: LidsPart::Random,
        seed,
        interval: Some(INTERVAL),
        held: true,
        ..Setup::new(lab.topology(), lab.routes(), &host, &jobs)
    };
    let simulated = simulate(&setup, &mut |_| {}).expect("whole tables and programs");
    let mut readings = Vec::new();
    counted(&simulated, &lab.topology().fabric, &jobs, 0, &mut |c| {
        readings.push(Reading {
            run,
            step: c.run,
            time: c.time as f64 / SECOND as f64,
            counters: vec![c.bytes, c.held],
        });
    });
    readings
}

/// The two runs whose times vary most, step by step: as they were, and as foretold from sparse features.
fn draw(context: &Context<'_>, samples: &Samples, judged: &Judged) {
    let sparse = &judged.models[2];
    let times = |run: usize| {
        let of = samples.runs.iter().zip(&samples.times).zip(&sparse.predicted);
        of.filter(move |((r, _), _)| **r == run).map(|((_, t), p)| (*t, *p))
    };
    let spread = |run: usize| {
        let (least, most) = times(run)
            .fold((f64::MAX, 0.0f64), |(least, most), (t, _)| (least.min(t), most.max(t)));
        most / least
    };
    let mut runs: Vec<usize> = (0..RUNS as usize).collect();
    runs.sort_by(|&a, &b| spread(b).total_cmp(&spread(a)));
    let least = samples.times.iter().copied().fold(f64::MAX, f64::min);
    for (name, &run) in ["steps-1", "steps-2"].into_iter().zip(&runs) {
        let step = |f: fn((f64, f64)) -> f64| -> Vec<(f64, f64)> {
            times(run).enumerate().map(|(i, both)| (i as f64, f(both) / least)).collect()
        };
        (context.draw)(Figure {
            name,
            title: format!("Steps of run {} of MILC", run + 1),
            subtitle:
                "points: as they were; line: foretold from sparse features, none of this run seen"
                    .to_owned(),
            what: Drawn::Scatter {
                x: "step",
                y: "time over that of the quickest step",
                points: step(|b| b.0),
                line: step(|b| b.1),
            },
        });
    }
}

fn rows(samples: &Samples, judged: &Judged) -> Vec<Row> {
    let times = &samples.times;
    let least = times.iter().copied().fold(f64::MAX, f64::min);
    let most = times.iter().copied().fold(0.0, f64::max);
    let [all, common, sparse] = [0, 1, 2].map(|m| &judged.models[m]);
    let mut rows = vec![
        Row::told("steps", times.len() as f64),
        Row::told("slowest step over quickest", most / least).printed(2.0),
        Row::told("rank of what features have in common", judged.rank as f64),
        Row::told("values that stand out, %", 100.0 * judged.filled),
        Row::told("S: squared error, variances", sparse.mean_error()).printed(0.35),
        Row::told("S: from fold to fold", sparse.error_deviation()).printed(0.21),
        Row::told("L: squared error, variances", common.mean_error()),
        Row::told("X: squared error, variances", all.mean_error()),
    ];
    let better = common.mean_error() - sparse.mean_error();
    rows.push(Row::expected("L's error over S's", better, Allowed::AtLeast(0.0)));
    rows.push(Row::told("S: R2 of steps not seen", sparse.r2(times)));
    for (name, &importance) in samples.features.iter().zip(&sparse.importance) {
        rows.push(Row::told(format!("S: error without {name}"), importance));
    }
    rows
}
