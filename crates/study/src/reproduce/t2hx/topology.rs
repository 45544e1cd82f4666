//! Section 2.3: the machine as built.

use darkfiber_fabric::open;

use super::PAPER;
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-TOPO",
    title: "The 12x8 HyperX and the Fat-Tree of 672 nodes (section 2.3)",
    paper: PAPER,
    setup: "Counted on the presets. A node has three NVIDIA K20X (1.31 Tflop/s each) and two Xeon X5670 (0.141 together): \
     their peaks are the vendors'.",
    class: Class::Exact,
    run: reproduce,
    ..USUAL
};

fn reproduce(_: &Context<'_>) -> Vec<Row> {
    let hyperx = open("@t2hx-hyperx").expect("a preset").fabric;
    let full = open("hyperx:dims=12x8,t=7").expect("a spec").fabric;
    let tree = open("@t2hx-fattree").expect("a preset").fabric;
    let nodes = hyperx.terminal_count() as f64;
    // Halves of the shorter dimension: 12 lines of 8 switches, 4 x 4 cables each.
    let cut = 12.0 * 16.0;
    let exact = |what: &str, paper: f64, ours: f64| Row::new(what, paper, ours, Allowed::Nothing);
    let missing = |have: usize, all: f64| all - have as f64;
    vec![
        exact("HyperX: switches", 96.0, hyperx.switch_count() as f64),
        exact("HyperX: nodes", 672.0, nodes),
        exact("HyperX: cables between switches", 684.0, full.switch_link_count() as f64).read_as(
            864.0,
            "8 x 66 + 12 x 28; 684 has two digits transposed, or counts optical ones only",
        ),
        exact(
            "HyperX: missing cables",
            15.0,
            missing(hyperx.switch_link_count(), full.switch_link_count() as f64),
        ),
        Row::new(
            "HyperX: bisection, % of its nodes",
            57.1,
            100.0 * cut / (nodes / 2.0),
            Allowed::Absolute(0.05),
        ),
        exact("Fat-Tree: switches", 204.0, tree.switch_count() as f64),
        exact("Fat-Tree: nodes", 672.0, tree.terminal_count() as f64),
        Row::derived(
            "Fat-Tree: cables between switches that are there",
            2662.0 - 197.0,
            tree.switch_link_count() as f64,
            Allowed::Nothing,
        )
        .noted("2,662 less 197 missing; the tree as described has 2,700"),
        Row::new(
            "peak, Pflop/s",
            2.7,
            nodes * (3.0 * 1.31 + 0.141) / 1000.0,
            Allowed::Absolute(0.05),
        ),
    ]
}
