//! Figure 1: bandwidth between the nodes of a rack.

use std::sync::Arc;

use darkfiber_fabric::open;
use darkfiber_workload::schedule::Program;

use super::PAPER;
use super::lab::{ALL, Lab, on_first, program};
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Row, Square, USUAL};
use darkfiber_scenario::Pairs;

const GIB: f64 = 1_073_741_824.0;
/// Nodes of a rack.
const NODES: u32 = 28;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-F1",
    title: "mpiGraph on one rack: Fat-Tree, HyperX with minimal paths, HyperX with PARX (figure 1)",
    paper: PAPER,
    setup: "28 nodes on two leaf switches, or on four HyperX switches in a row; every rank sends 1 MiB to the one this many \
     ranks on, shift by shift. Cables carry what one adapter does, 2.26 GiB/s. The printed average of the Fat-Tree \
     is that very maximum, so that no cable of that rack can have been missing: it is judged on the full tree, and \
     beside it with 235 cables missing that a seed draws. \
     PARX follows the demands of the job; the paper's extra cost of its MPI layer is not known and not modelled.",
    class: Class::Shape,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new();
    let graph = program("mpigraph:bytes=1MiB", NODES, context.seed).expect("28 ranks");
    let full = full_tree(&graph);
    let on = |i: usize| lab.alone(&ALL[i], Arc::clone(&graph), context.seed).pairs.remove(0);
    let (torn, minimal) = (on(0), on(2));
    // As in the figure: the same nodes as the others, consecutive.
    let parx = parx(&graph);
    let bandwidth = |p: &Pairs| p.mean_bandwidth().expect("28 ranks keep their pairs");
    let mean = |p: &Pairs| bandwidth(p) / GIB;
    let least =
        |p: &Pairs| p.sent().map(|(_, c)| c.bandwidth()).fold(f64::INFINITY, f64::min) / GIB;
    let square = |title: &str, p: &Pairs| Square {
        title: title.to_owned(),
        ranks: NODES,
        mean: bandwidth(p),
        cells: p.sent().map(|(ends, c)| (ends, c.bandwidth())).collect(),
    };
    (context.draw)(Figure {
        name: "mpigraph",
        title: "mpiGraph, 28 nodes of a rack".to_owned(),
        subtitle:
            "bandwidth of 1 MiB messages, all nodes at once; cables and adapters carry 2.26 GiB/s"
                .to_owned(),
        what: Drawn::Pairs(vec![
            square("Fat-Tree, ftree", &full),
            square("HyperX, DFSSSP", &minimal),
            square("HyperX, PARX", &parx),
        ]),
    });
    vec![
        Row::new("Fat-Tree, ftree: mean, GiB/s", 2.26, mean(&full), Allowed::Relative(0.05)),
        Row::new(
            "Fat-Tree with 235 cables missing anywhere: mean, GiB/s",
            2.26,
            mean(&torn),
            Allowed::Relative(0.05),
        )
        .noted("which cables were missing is not known"),
        Row::new("HyperX, DFSSSP: mean, GiB/s", 0.84, mean(&minimal), Allowed::Relative(0.20)),
        Row::derived(
            "HyperX, DFSSSP: least pair, GiB/s",
            2.26 / 7.0,
            least(&minimal),
            Allowed::Rule,
        )
        .noted("up to seven streams share a cable (section 1)"),
        Row::new("HyperX, PARX: mean, GiB/s", 1.39, mean(&parx), Allowed::Rule)
            .noted("without the cost of its MPI layer"),
        Row::derived(
            "Fat-Tree over HyperX with DFSSSP",
            2.26 / 0.84,
            mean(&full) / mean(&minimal),
            Allowed::Between(2.3, 2.8),
        ),
        // The text prints + 66 %.
        Row::new("PARX over DFSSSP", 1.66, mean(&parx) / mean(&minimal), Allowed::AtLeast(1.5)),
    ]
}

/// The first rack of a tree without faults.
fn full_tree(graph: &Arc<Program>) -> Pairs {
    first("@t2hx-fattree-full", "ftree", graph)
}

/// The first 28 nodes of the HyperX, whatever the placement of the combination.
fn parx(graph: &Arc<Program>) -> Pairs {
    first("@t2hx-hyperx", "parx", graph)
}

fn first(preset: &str, engine: &str, graph: &Arc<Program>) -> Pairs {
    let topology = open(preset).expect("a preset");
    on_first(&topology, engine, Arc::clone(graph), 0).pairs.remove(0)
}
