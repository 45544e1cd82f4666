//! Figure 7: fourteen applications at once.

use darkfiber_workload::play::{Job, Repeat, SECOND};
use rayon::prelude::*;

use super::PAPER;
use super::lab::{ALL, Combination, Lab, program};
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Row, Table, USUAL};

/// Applications and their nodes: nine with 56 and five with 32 (section 4.4.2).
const APPLICATIONS: [(&str, u32); 14] = [
    ("amg", 56),
    ("comd", 32),
    ("ffvc", 32),
    ("graph500", 32),
    ("hpcg", 56),
    ("hpl", 56),
    ("milc", 32),
    ("minife", 56),
    ("mvmc", 56),
    ("ntchem", 56),
    ("qbox", 56),
    ("swfft", 32),
    ("muppp", 56),
    ("emdl", 56),
];
/// The largest messages only, and these 16 times as large: a sweep over all sizes is as much time in its software.
const MUPPP: &str = "muppp:bytes=64MiB,repeat=100";
/// Twelve calls of 4 MiB, the largest of IMB, as one.
const EMDL: &str = "emdl:bytes=48MiB,compute=1200ms,iterations=25";
/// Maximum delay of the start or end of a message, relative to its duration.
const PRECISION: f64 = 0.001;
/// Three hours, in picoseconds.
const LENGTH: u64 = 3 * 3600 * SECOND;

/// Number of placements drawn where only an order is printed.
const SEEDS: u64 = 5;
/// The combinations of which only an order is printed: HX/DFSSSP/linear before HX/DFSSSP/random.
const ORDERED: [usize; 2] = [2, 3];

/// Runs of each application that end in time.
fn completed(lab: &Lab, combination: &Combination, seed: u64) -> Vec<u64> {
    let sizes: Vec<usize> = APPLICATIONS.iter().map(|a| a.1 as usize).collect();
    let places = lab.places(combination, &sizes, seed);
    let jobs: Vec<Job> = (APPLICATIONS.iter().zip(places))
        .map(|((name, nodes), terminals)| {
            let spec = match *name {
                "muppp" => MUPPP.to_owned(),
                "emdl" => EMDL.to_owned(),
                _ => format!("{name}:messages=10000"),
            };
            let program = program(&spec, *nodes, seed).expect("it runs on this many");
            Job { program, terminals, start: 0, repeat: Repeat::Until(LENGTH) }
        })
        .collect();
    let found = lab.run(combination, &jobs, seed);
    let in_time = found.runs.iter().map(|runs| runs.iter().filter(|r| r.end <= LENGTH).count());
    in_time.map(|count| count as u64).collect()
}

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-F7",
    title: "Three hours of fourteen applications on 664 nodes: runs completed (figure 7)",
    paper: PAPER,
    setup: "All begin together and are run again and again for three hours; runs that end in time count. MILC has 32 nodes \
     in print; that FFVC, SWFFT, Graph500 and CoMD are the other four is inferred. Skeletons with 20 % communication \
     whose runs are cut into 20,000 messages and take about 80 s, so that totals are not the paper's; MuPP and EmDL \
     are all communication, or nearly. Messages may begin or end late by 0.1 % of their own time. Judged: HyperX with linear placement is ahead of HyperX with random, by five seeds, and within 10 % of \
     the Fat-Tree, over all fourteen and over the twelve that are applications; by one seed that PARX is ahead of the Fat-Tree, SSSP on it last, and MILC \
     fewest with random placement. The requirement of 10 % was set before the runs, and leaves out the 12.7 % that are printed.",
    class: Class::Shape,
    seconds: 2000.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new().with_precision(PRECISION);
    let cases: Vec<(usize, u64)> = (0..ALL.len())
        .map(|c| (c, 0))
        .chain((1..SEEDS).flat_map(|i| ORDERED.map(|c| (c, i))))
        .collect();
    let mut done: Vec<Vec<u64>> = cases
        .par_iter()
        .with_max_len(1)
        .map(|&(c, i)| {
            (context.at)(&format!("{}, seed {}", ALL[c].name, i + 1));
            completed(&lab, &ALL[c], context.seed + i)
        })
        .collect();
    // Of the two that are ordered, by seed: the first one is that of all five.
    let more = done.split_off(ALL.len());
    let by_seed: Vec<[&[u64]; 2]> = std::iter::once(ORDERED.map(|c| done[c].as_slice()))
        .chain(more.chunks(2).map(|two| [two[0].as_slice(), two[1].as_slice()]))
        .collect();
    (context.draw)(Figure {
        name: "capacity",
        title: "Completed runs in three hours, fourteen applications on 664 nodes".to_owned(),
        subtitle: "colour: gain over FT/ftree/linear".to_owned(),
        what: Drawn::Gains(vec![Table {
            title: String::new(),
            rows: APPLICATIONS.iter().map(|(name, nodes)| format!("{name} ({nodes})")).collect(),
            columns: ALL.iter().map(|c| c.name.to_owned()).collect(),
            cells: (0..APPLICATIONS.len())
                .flat_map(|a| (0..ALL.len()).map(move |c| (a, c)))
                .map(|(a, c)| Some(done[c][a] as f64 / done[0][a].max(1) as f64 - 1.0))
                .collect(),
            texts: (0..APPLICATIONS.len())
                .flat_map(|a| (0..ALL.len()).map(move |c| (a, c)))
                .map(|(a, c)| done[c][a].to_string())
                .collect(),
        }]),
    });
    let total = |c: usize| done[c].iter().sum::<u64>() as f64;
    // Without the two that are not applications: their runs are so short that they are nearly all of the sum.
    let apps = |c: usize| done[c][..12].iter().sum::<u64>() as f64;
    let order = |what: &str, of: usize| {
        let sum = |runs: &[u64]| runs[..of].iter().sum::<u64>() as f64;
        let linear: Vec<f64> = by_seed.iter().map(|[a, b]| sum(a) / sum(b)).collect();
        Row::order(format!("{what}, HX/DFSSSP/linear over HX/DFSSSP/random"), &linear)
    };
    let milc = |c: usize| done[c][6] as f64;
    let muppp = |c: usize| done[c][12] as f64;
    vec![
        Row::new(
            "all fourteen, HX/DFSSSP/linear over FT/ftree/linear",
            1.127,
            total(2) / total(0),
            Allowed::Between(0.9, 1.1),
        )
        .noted("+12.7 % is printed; within 10 % of the Fat-Tree is required"),
        order("all fourteen", 14),
        Row::told("all fourteen, HX/DFSSSP/random over FT/ftree/linear", total(3) / total(0)),
        Row::expected(
            "all fourteen, HX/PARX/clustered over FT/ftree/linear",
            total(4) / total(0),
            Allowed::AtLeast(1.0),
        )
        .noted("second in print; one seed"),
        Row::expected(
            "all fourteen, FT/SSSP/clustered over FT/ftree/linear",
            total(1) / total(0),
            Allowed::AtMost(1.0),
        )
        .noted("last in print, for MuPP and Graph500; one seed"),
        Row::expected(
            "applications, HX/DFSSSP/linear over FT/ftree/linear",
            apps(2) / apps(0),
            Allowed::Between(0.9, 1.1),
        ),
        order("applications", 12),
        Row::told("applications, HX/DFSSSP/random over FT/ftree/linear", apps(3) / apps(0)),
        Row::told("applications, HX/PARX/clustered over FT/ftree/linear", apps(4) / apps(0)),
        Row::told("applications, FT/SSSP/clustered over FT/ftree/linear", apps(1) / apps(0)),
        Row::expected(
            "MILC, HX/DFSSSP/random over linear",
            milc(3) / milc(2).max(1.0),
            Allowed::AtMost(1.0),
        )
        .noted("14 runs only with random placement in print; one seed"),
        Row::new(
            "MuPP, HX/DFSSSP/random over linear",
            1.16,
            muppp(3) / muppp(2).max(1.0),
            Allowed::Rule,
        ),
    ]
}
