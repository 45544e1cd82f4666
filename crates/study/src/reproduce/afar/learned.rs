//! Figures 7 and 8: times of MILC's steps on a dragonfly, and a model of them learnt from counters.

use darkfiber_analysis::learn::{BoostingParams, ModelScores, Reading, Samples, judge};
use darkfiber_workload::play::{Host, SECOND, host};
use rayon::prelude::*;

use super::PAPER;
use super::edison::{LMC, MACHINE, PRECISION, jobs};
use super::lab::Lab;
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Row, USUAL};
use darkfiber_scenario::{LidsPart, Medium, Setup, Sharing, counted, simulate};

/// Number of runs of MILC.
const RUNS: u32 = 30;
/// Counters are read so often.
const INTERVAL: u64 = SECOND / 2000;
pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "AFAR-F8",
    title: "Times of MILC's steps on a dragonfly, learnt from counters (figures 7 and 8)",
    paper: PAPER,
    setup: "Nobody has the counters of Edison, so they are simulated: routers and cables of Edison in six groups with 8 cables \
     between any two, tables of minhop with four LIDs of which messages take any (routing does not adapt at this depth). MILC runs on 256 nodes at \
     random, thirty times; others come and go at random, compute, and send all at once. Features are sum, mean and maximum \
     of what the ports of MILC's routers carried and of what waited for them, in one virtual channel instead of eight. \
     The paper's figures are of another machine, other jobs and times in a unit that it does not tell; what is judged \
     is their order: sparse features (S) foretell best, before what features have in common (L) and all of them (X).",
    class: Class::Substitute,
    seconds: 80.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
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
    let judged = judge(&samples, BoostingParams::default(), context.seed);
    draw(context, &samples, &judged);
    rows(&samples, &judged)
}

/// A run: the counts of each port of MILC's routers in each step.
fn steps(lab: &Lab, run: usize, seed: u64) -> Vec<Reading> {
    let jobs = jobs(lab, seed);
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

/// The two runs whose times vary most, step by step: measured, and predicted from sparse features.
fn draw(context: &Context<'_>, samples: &Samples, judged: &ModelScores) {
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
                "points: as they were; line: predicted from sparse features, none of this run seen"
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

fn rows(samples: &Samples, judged: &ModelScores) -> Vec<Row> {
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
    for (name, other) in [("L", common), ("X", all)] {
        let better = other.mean_error() - sparse.mean_error();
        let quantity = format!("{name}'s squared error less S's, variances");
        let row = Row::expected(quantity, better, Allowed::AtLeast(0.0));
        rows.push(row.noted("sparse features perform best, as printed; one seed, ten folds"));
    }
    rows.push(Row::told("S: R2 of steps not seen", sparse.r2(times)));
    for (name, &importance) in samples.features.iter().zip(&sparse.importance) {
        rows.push(Row::told(format!("S: error without {name}"), importance));
    }
    rows
}
