//! Figures 1 and 4: jobs among others.

use rayon::prelude::*;

use super::PAPER;
use super::contest::{Contest, longer, most, with_model};
use super::edison;
use super::lab::{BENCHMARKS, Lab};
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};
use darkfiber_scenario::LidsPart;

/// Placements of each workload.
const PLACEMENTS: u64 = 10;
/// Jobs of the workloads.
const WORKLOADS: [u32; 3] = [4, 8, 16];

/// A job of some workload.
struct ObservedJob {
    jobs: u32,
    /// The number of its placement.
    placement: u64,
    name: &'static str,
    alone: f64,
    together: f64,
}

impl ObservedJob {
    fn longer(&self) -> f64 {
        longer(self.together, self.alone)
    }
}

/// All jobs of ten placements of some workloads.
fn seen(context: &Context<'_>, workloads: &[u32]) -> Vec<ObservedJob> {
    let lab = Lab::new();
    let cases: Vec<(u32, u64)> =
        workloads.iter().flat_map(|&jobs| (0..PLACEMENTS).map(move |i| (jobs, i))).collect();
    let found: Vec<Vec<ObservedJob>> = cases
        .into_par_iter()
        .with_max_len(1)
        .map(|(jobs, i)| {
            (context.at)(&format!("{jobs} jobs, placement {}", i + 1));
            let seed = context.seed + i;
            let contest = Contest::new(&lab, jobs, seed);
            let alone = contest.alone(&lab, lab.routes(), LidsPart::Engine, seed);
            let together = contest.together(&lab, lab.routes(), LidsPart::Engine, seed);
            (contest.names.iter().zip(alone).zip(together))
                .map(|((name, alone), fared)| ObservedJob {
                    jobs,
                    placement: i,
                    name,
                    alone,
                    together: fared.seconds,
                })
                .collect()
        })
        .collect();
    found.into_iter().flatten().collect()
}

pub(in crate::reproduce) const SLOWDOWNS: Experiment = Experiment {
    id: "AFAR-F4",
    title: "How much longer jobs run among others on Cab (figure 4)",
    paper: PAPER,
    setup: with_model!(
        "Ten random placements of 4, 8 and 16 jobs (three in the paper), tables of ftree. Judged: the worst of all, and \
         which benchmarks suffer. "
    ),
    class: Class::Shape,
    seconds: 120.0,
    run: slowdowns,
    ..USUAL
};

fn slowdowns(context: &Context<'_>) -> Vec<Row> {
    let all = seen(context, &WORKLOADS);
    let of = |jobs: u32, name: &str| -> Vec<f64> {
        let is_meant = |s: &&ObservedJob| s.name == name && (jobs == 0 || s.jobs == jobs);
        all.iter().filter(is_meant).map(ObservedJob::longer).collect()
    };
    let mean = |name: &str| {
        let of = of(0, name);
        of.iter().sum::<f64>() / of.len() as f64
    };
    (context.draw)(Figure {
        name: "slowdowns",
        title: "How much longer jobs on Cab run among others".to_owned(),
        subtitle: "ten random placements of each workload, 1,152 nodes, tables of ftree".to_owned(),
        what: Drawn::Boxes {
            unit: "% longer",
            groups: WORKLOADS
                .iter()
                .map(|&jobs| Group {
                    name: format!("{jobs} jobs"),
                    boxes: BENCHMARKS.iter().map(|b| ((*b).to_owned(), of(jobs, b))).collect(),
                })
                .collect(),
        },
    });
    let mut rows = vec![Row::new(
        "longest of all jobs, % longer",
        114.0,
        most(all.iter().map(ObservedJob::longer)),
        Allowed::Between(60.0, 180.0),
    )];
    for name in BENCHMARKS {
        rows.push(Row::told(format!("{name}: longest, % longer"), most(of(0, name))));
    }
    for name in BENCHMARKS {
        rows.push(Row::told(format!("{name}: mean, % longer"), mean(name)));
    }
    // Five seeds: two placements of each workload each.
    let of_seed = |name: &str, seed: u64| {
        let is_meant = |s: &&ObservedJob| s.name == name && s.placement / 2 == seed;
        let of: Vec<f64> = all.iter().filter(is_meant).map(ObservedJob::longer).collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    let seeds = || 0..PLACEMENTS / 2;
    let first: Vec<f64> = seeds().map(|s| of_seed("bis", s) / of_seed("nn", s)).collect();
    rows.push(Row::order("bis over nn, means", &first));
    let second: Vec<f64> = seeds()
        .map(|s| {
            let [bis, nn, pairs, fft] = BENCHMARKS.map(|name| of_seed(name, s));
            bis.min(nn) / pairs.max(fft).max(0.1)
        })
        .collect();
    rows.push(Row::order(
        "the less of bis and nn over the more of pairs and fft-proxy, means",
        &second,
    ));
    rows
}

pub(in crate::reproduce) const VARIATION: Experiment = Experiment {
    id: "AFAR-F1",
    title: "Run times of bis and nn on Cab, and of MILC on a dragonfly like Edison, vary by a factor of two (figure 1)",
    paper: PAPER,
    setup: with_model!(
        "Ten random placements of 16 jobs, tables of ftree; every job among the others and by itself. MILC on Edison \
         ran beside jobs that nobody knows: it is run on the machine and beside the jobs of AFAR-F8, on 256 nodes on ten days, \
         under idealized adaptive routing, and the mean time of its steps by day stands for its run times. "
    ),
    class: Class::Shape,
    seconds: 120.0,
    run: variation,
    ..USUAL
};

fn variation(context: &Context<'_>) -> Vec<Row> {
    let all = seen(context, &[16]);
    let mut rows = Vec::new();
    let mut largest = 0.0f64;
    for name in ["bis", "nn"] {
        let of = || all.iter().filter(|s| s.name == name);
        let (short, long) = (
            of().map(|s| s.alone.min(s.together)).fold(f64::INFINITY, f64::min),
            most(of().map(|s| s.alone.max(s.together))),
        );
        largest = largest.max(long / short);
        rows.push(Row::told(format!("{name}: shortest run, s"), short));
        rows.push(Row::told(format!("{name}: longest run, s"), long));
    }
    let what = "longest over shortest run of bis or nn";
    rows.push(Row::new(what, 2.0, largest, Allowed::AtLeast(2.0)).noted("over a factor of two"));
    let days = edison::days(context);
    let (short, long) = (days.iter().copied().fold(f64::INFINITY, f64::min), most(days));
    rows.push(Row::told("MILC: step of the shortest run, s", short));
    rows.push(Row::told("MILC: step of the longest run, s", long));
    rows.push(
        Row::new("longest over shortest run of MILC", 2.0, long / short, Allowed::AtLeast(2.0))
            .noted("`over a factor of two`; beside jobs that are not Edison's"),
    );
    rows
}
