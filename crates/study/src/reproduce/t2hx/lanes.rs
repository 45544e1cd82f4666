//! Section 3.2: virtual lanes.

use darkfiber_fabric::{Faults, open};
use rayon::prelude::*;

use super::PAPER;
use super::lab::routed;
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

const SEEDS: u64 = 10;
/// Number of missing cables.
const MISSING: usize = 15;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-VL",
    title: "Virtual lanes of DFSSSP and PARX on the 12x8 HyperX (section 3.2, footnote 8)",
    paper: PAPER,
    setup: "15 cables drawn by ten seeds are missing; no demands. Which were missing is not printed. Layers are filled \
     path by path here, and come out fewer than OpenSM's: fewer than printed is off, too.",
    class: Class::Exact,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let full = open("hyperx:dims=12x8,t=7").expect("a spec");
    let all: Vec<[usize; 2]> = (0..SEEDS)
        .into_par_iter()
        .map(|i| {
            let faults = Faults::random_links(&full.fabric, MISSING, context.seed + i);
            let torn = full.with_faults(&faults.expect("864 cables are enough")).0;
            ["dfsssp", "parx"].map(|engine| routed(&torn, engine, &[]).layer_count())
        })
        .collect();
    let most = |e: usize| all.iter().map(|l| l[e]).max().unwrap_or(0) as f64;
    let mean = |e: usize| all.iter().map(|l| l[e]).sum::<usize>() as f64 / SEEDS as f64;
    let seeds = |e: usize, from: usize, to: usize| {
        all.iter().filter(|l| (from..=to).contains(&l[e])).count()
    };
    vec![
        Row::new("DFSSSP: most lanes of ten seeds", 3.0, most(0), Allowed::AtMost(3.0)),
        Row::told("DFSSSP: mean", mean(0)),
        Row::range("PARX: most lanes of ten seeds", [5.0, 8.0], most(1), Allowed::AtMost(8.0)),
        Row::expected(
            "PARX: seeds with 5 to 8 lanes, of ten",
            seeds(1, 5, 8) as f64,
            Allowed::AtLeast(9.0),
        ),
        Row::told("PARX: mean", mean(1)).noted("5 to 8 are printed"),
    ]
}
