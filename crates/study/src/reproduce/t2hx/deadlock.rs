//! Section 3.2: SSSP on a HyperX can deadlock.

use darkfiber_fabric::open;
use darkfiber_routing::check::check;

use super::PAPER;
use super::lab::routed;
use crate::reproduce::{Class, Context, Experiment, Row, USUAL};

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-SSSP",
    title: "SSSP deadlocks on the HyperX, DFSSSP and PARX do not (section 3.2)",
    paper: PAPER,
    setup: "Cycles in the channel dependency graph of each virtual lane, found by the checker. That one lane then blocks \
     for good takes finite buffers to show, which the packet depth has.",
    class: Class::Exact,
    run: reproduce,
    ..USUAL
};

fn reproduce(_: &Context<'_>) -> Vec<Row> {
    let hyperx = open("@t2hx-hyperx").expect("a preset");
    let free = |engine: &str| check(&hyperx.fabric, &routed(&hyperx, engine, &[])).deadlock_free();
    vec![
        Row::holds("SSSP can deadlock", !free("sssp")),
        Row::holds("DFSSSP is free of deadlock", free("dfsssp")),
        Row::holds("PARX is free of deadlock", free("parx")),
    ]
}
