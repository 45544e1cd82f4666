//! One rack on each plane of the machine, and on both.

use std::sync::Arc;

use darkfiber_fabric::{TerminalId, Topology, open};
use darkfiber_routing::{Request, Routes, find_engine};
use darkfiber_scenario::{Job, Medium, Setup, Sharing, simulate};
use darkfiber_workload::Machine;
use darkfiber_workload::play::{self, Repeat, host};
use darkfiber_workload::schedule::Program;

use super::PAPER;
use super::lab::{CABLE, program};
use crate::reproduce::{Class, Context, Experiment, Row, USUAL};

const GIB: f64 = 1_073_741_824.0;
/// Nodes of a rack.
const NODES: u32 = 28;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-PLANES",
    title: "mpiGraph on one rack: on each plane of the machine, and striped over both",
    paper: PAPER,
    setup: "@t2hx, one fabric of both planes, routed with ftree/dfsssp; 28 nodes side by side, 1 MiB messages, shift by shift, as \
     in T2HX-F1. Striped, each message is two halves, one on each plane, and has arrived when both have. The machine had \
     both planes, and the paper runs each job on one of them: it prints nothing for both.",
    class: Class::Shape,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let graph = program("mpigraph:bytes=1MiB", NODES, context.seed).expect("28 ranks");
    let topology = open("@t2hx").expect("a preset");
    let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
    let engine = find_engine("ftree/dfsssp").expect("registered");
    let routes = engine.route(&topology.fabric, &request).expect("it routes both planes");
    let on =
        |plane: usize, striped: bool| bandwidth(&topology, &routes, &graph, plane, striped) / GIB;
    vec![
        Row::told("Fat-Tree plane: mean, GiB/s", on(0, false)),
        Row::told("HyperX plane: mean, GiB/s", on(1, false)),
        Row::told("striped over both: mean, GiB/s", on(0, true)),
    ]
}

/// Mean bandwidth of the messages of a program on the first hosts, in bytes a second.
fn bandwidth(
    topology: &Topology,
    routes: &Routes,
    program: &Arc<Program>,
    plane: usize,
    striped: bool,
) -> f64 {
    let machine = Machine::new(topology, 1).in_plane(topology, plane);
    let terminals: Vec<TerminalId> =
        (0..program.ranks()).map(|h| machine.terminals(h)[0]).collect();
    let program = Arc::clone(program);
    let play = play::Job { program, terminals, start: 0, repeat: Repeat::Once };
    let setup = Setup {
        medium: Medium::Flow(Sharing::default()),
        link_rate: Some(CABLE),
        ..Setup::new(
            topology,
            routes,
            host("qdr").expect("known"),
            [Job { striped, ..Job::from(play) }],
        )
    };
    let simulated =
        simulate(&setup, &mut |_| ()).expect("programs of the registry come to their ends");
    simulated.pairs[0].mean_bandwidth().expect("small jobs keep their pairs")
}
