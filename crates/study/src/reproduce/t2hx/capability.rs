//! Figures 6a to 6l: applications, one at a time.

use rayon::prelude::*;

use super::PAPER;
use super::lab::{ALL, Lab, gain, program, seconds};
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};

/// Applications of section 4.2 and 4.3, and whether they need powers of two.
const APPLICATIONS: [(&str, bool); 12] = [
    ("amg", false),
    ("comd", false),
    ("minife", false),
    ("swfft", true),
    ("ffvc", true),
    ("mvmc", false),
    ("ntchem", false),
    ("milc", true),
    ("qbox", false),
    ("hpl", false),
    ("hpcg", false),
    ("graph500", false),
];
const NODES: [u32; 4] = [14, 56, 224, 672];
const POWERS: [u32; 4] = [16, 64, 256, 512];
/// Runs of a combination whose placement is drawn, on up to this many nodes, and beyond.
const SEEDS: (u32, u64, u64) = (64, 10, 2);

/// How late a message may begin or end, as a part of its own time: what that changes in a run is told in the set-up.
const PRECISION: f64 = 0.01;

/// Seconds of runs by application, nodes and combination.
type Times = Vec<Vec<Runs>>;
/// Of one of them on this many nodes, by combination.
type Runs = Vec<Vec<f64>>;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-F6",
    title: "Twelve applications alone on the machine, five combinations (figure 6)",
    paper: PAPER,
    setup: "Skeletons with 20 % communication (`darkfiber list traffic amg` and so on say what is assumed), runs of 2,000 \
     messages, 14 to 672 nodes (16 to 512 where a code needs powers of two). Where placement is drawn, ten draws \
     up to 64 nodes and two beyond; the median is judged. Messages may begin or end late by 1 % of their own \
     time, which changes runs of AMG, MiniFE and HPCG on 672 nodes by at most 0.2 %. Values of the figure are \
     lost. Halo codes within 5 % under HX/DFSSSP/linear; Graph500 and HPCG no worse under random placement at \
     full size. HPL's +46 % is blamed on small matrices in the paper itself, and told.",
    class: Class::Shape,
    seconds: 600.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new().with_precision(PRECISION);
    let cells: Vec<(usize, usize)> =
        (0..NODES.len()).rev().flat_map(|n| (0..APPLICATIONS.len()).map(move |a| (a, n))).collect();
    let mut times: Times = vec![vec![vec![Vec::new(); ALL.len()]; NODES.len()]; APPLICATIONS.len()];
    let found: Vec<((usize, usize), Runs)> = cells
        .into_par_iter()
        .with_max_len(1)
        .map(|(a, n)| {
            let (name, powers) = APPLICATIONS[a];
            let nodes = if powers { POWERS[n] } else { NODES[n] };
            (context.at)(&format!("{name} on {nodes} nodes"));
            let spec = format!("{name}:messages=2000");
            let program = program(&spec, nodes, context.seed).expect("it runs on this many");
            let runs = |c: usize| {
                let drawn = if nodes <= SEEDS.0 { SEEDS.1 } else { SEEDS.2 };
                let seeds = if ALL[c].name.ends_with("linear") { 1 } else { drawn };
                let one = |i| seconds(&lab.alone(&ALL[c], program.clone(), context.seed + i));
                (0..seeds).map(one).collect()
            };
            ((a, n), (0..ALL.len()).map(runs).collect())
        })
        .collect();
    for ((a, n), by_combination) in found {
        times[a][n] = by_combination;
    }
    draw(context, &times);
    let of = |name: &str, n: usize, c: usize| {
        let a = APPLICATIONS.iter().position(|x| x.0 == name).expect("it is one of them");
        gain(median(&times[a][n][0]), median(&times[a][n][c]))
    };
    let last = NODES.len() - 1;
    let mut rows = Vec::new();
    for name in ["amg", "comd", "minife", "ffvc", "milc"] {
        let gains = (0..NODES.len()).map(|n| of(name, n, 2));
        let far = gains.fold(0.0, |far: f64, g| if g.abs() > far.abs() { g } else { far });
        rows.push(Row::expected(
            format!("{name}: gain of HX/DFSSSP/linear that is furthest from 0, all sizes"),
            far,
            Allowed::Between(-0.05, 0.05),
        ));
    }
    for (name, paper) in [("hpcg", 0.36), ("graph500", 0.07)] {
        rows.push(
            Row::new(
                format!("{name}: gain of HX/DFSSSP/random, full size"),
                paper,
                of(name, last, 3),
                Allowed::AtLeast(0.0),
            )
            .noted("`up to` is printed; its sign is required"),
        );
    }
    rows.push(
        Row::told("hpl: gain of HX/DFSSSP/random, full size", of("hpl", last, 3)).printed(0.46),
    );
    for name in ["swfft", "mvmc", "ntchem", "qbox"] {
        for c in [2, 4] {
            let what = format!("{name}: gain of {}, full size", ALL[c].name);
            rows.push(Row::told(what, of(name, last, c)));
        }
    }
    rows
}

fn draw(context: &Context<'_>, times: &Times) {
    for (n, nodes) in NODES.iter().enumerate().filter(|(n, _)| n % 2 == 1) {
        let group = |(a, (name, powers)): (usize, &(&str, bool))| {
            let base = median(&times[a][n][0]);
            let boxes = |c: usize| {
                let gains = times[a][n][c].iter().map(|t| gain(base, *t)).collect();
                (ALL[c].name.to_owned(), gains)
            };
            let nodes =
                if *powers { format!("{name} ({})", POWERS[n]) } else { (*name).to_owned() };
            Group { name: nodes, boxes: (0..ALL.len()).map(boxes).collect() }
        };
        (context.draw)(Figure {
            name: if *nodes == 56 { "applications-56" } else { "applications-672" },
            title: format!("Applications on {nodes} nodes: gain over FT/ftree/linear"),
            subtitle: "skeletons with 20 % communication; several placements where it is drawn; nodes in brackets for powers of two"
                .to_owned(),
            what: Drawn::Boxes { unit: "gain", groups: APPLICATIONS.iter().enumerate().map(group).collect() },
        });
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    if n == 0 { 0.0 } else { f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]) }
}
