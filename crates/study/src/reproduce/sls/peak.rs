//! Figure 6: bisection and Alltoall on all of Shandy.

use std::sync::Arc;

use darkfiber_analysis::peaks;
use darkfiber_fabric::Shape;
use darkfiber_packetsim::Targets;
use darkfiber_workload::Machine;
use darkfiber_workload::collective::Library;
use darkfiber_workload::play::{Job, Repeat, host};
use darkfiber_workload::traffic::{Ranks, traffic};

use super::PAPER;
use super::lab::Quiet;
use super::processes;
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};
use darkfiber_scenario::{Medium, Setup, simulate};

/// Duration of the measurement of packets, in picoseconds.
const LONG: u64 = 60_000_000;
const TERA: f64 = 1e12;
/// Nodes of the Alltoalls by algorithm.
const NODES: u32 = 1024;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F6",
    title: "Bisection and Alltoall bandwidth of Shandy (figure 6)",
    paper: PAPER,
    setup: "All 2,048 adapters of Shandy, packet by packet, 4 KiB of data with the headers of RoCEv2: each sends to all, at random, \
     or to the one that is half of the machine further (a bisection), as much as the peak needs and a quarter more, for 90 us of which 60 count. \
     Adaptive routing is `slingshot` (up to four ways, weighed at the source). By processes a node: what they offer on 64 nodes if \
     messages never meet, each with the processor time of MPI; no number is printed. The change of algorithm is timed without congestion on 1,024 nodes with MPICH's rule (Bruck up to 256 \
     B).",
    class: Class::Shape,
    seconds: 60.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let shandy = Quiet::new("@shandy");
    let fabric = &shandy.topology.fabric;
    let Some(Shape::Dragonfly(shape)) = &shandy.topology.shape else {
        unreachable!("it is a dragonfly")
    };
    let peaks = peaks(fabric, shape);
    let n = fabric.terminal_count() as u32;
    let bisection = peaks.bisection.expect("as many cables between any two groups");
    let pairs: Vec<[u32; 2]> = (0..n).map(|t| [t, (t + n / 2) % n]).collect();
    let halves = Targets::pairs(n, &pairs);
    let carried = |routing: &str, targets: &Targets, peak: f64| {
        (context.at)(routing);
        let load = 1.25 * peak / peaks.injection;
        let found = shandy.load(routing, targets.clone(), load, 4096, LONG, context.seed);
        found.accepted * peaks.injection
    };
    let all = Targets::uniform(n);
    let [all_adaptive, all_minimal] =
        ["slingshot", "minimal"].map(|r| carried(r, &all, peaks.all_to_all));
    let [half_adaptive, half_minimal] =
        ["slingshot", "minimal"].map(|r| carried(r, &halves, bisection));
    let sizes = [64u64, 128, 256, 512, 1024];
    let by_size = sizes.map(|bytes| {
        (context.at)(&format!("Alltoall of {bytes} B"));
        alltoall(&shandy, bytes) / TERA
    });
    (context.draw)(Figure {
        name: "alltoall",
        title: format!("Alltoall on {NODES} nodes of Shandy"),
        subtitle: "without congestion; Bruck's algorithm up to 256 B, pairwise above".to_owned(),
        what: Drawn::Boxes {
            unit: "TB/s",
            groups: sizes
                .iter()
                .zip(by_size)
                .map(|(bytes, tera)| Group {
                    name: bytes.to_string(),
                    boxes: vec![("Alltoall".to_owned(), vec![tera])],
                })
                .collect(),
        },
    });
    let mut rows = vec![
        Row::new("peak of the bisection, TB/s", 6.4, bisection / TERA, Allowed::Nothing)
            .noted("printed as Tb/s: 128 x 200 Gb/s x 2 are 51.2 Tb/s"),
        Row::new("peak of Alltoall, TB/s", 12.8, peaks.all_to_all / TERA, Allowed::Nothing)
            .noted("printed as Tb/s: 8/7 x 448 x 200 Gb/s are 102.4 Tb/s"),
        Row::new(
            "Alltoall, adaptive: part of the peak, %",
            90.0,
            100.0 * all_adaptive / peaks.all_to_all,
            Allowed::AtLeast(90.0),
        )
        .noted("`more than 90 %`; data without headers"),
        Row::told("Alltoall, adaptive, TB/s", all_adaptive / TERA),
        Row::told("Alltoall, minimal paths only, TB/s", all_minimal / TERA),
        Row::told("bisection, adaptive, TB/s", half_adaptive / TERA),
        Row::told("bisection, minimal paths only, TB/s", half_minimal / TERA),
        Row::expected(
            "bisection, minimal paths over adaptive",
            half_minimal / half_adaptive,
            Allowed::AtMost(0.5),
        )
        .noted("not printed: a group's minimal paths to one other group are 8 of its 56 cables"),
        Row::new(
            "Alltoall over bisection, adaptive",
            2.0,
            all_adaptive / half_adaptive,
            Allowed::Rule,
        )
        .noted("`can achieve twice the bisection bandwidth`"),
    ];
    for (bytes, tera) in sizes.iter().zip(by_size) {
        rows.push(Row::told(format!("Alltoall of {bytes} B without congestion, TB/s"), tera));
    }
    rows.push(
        Row::expected(
            "Alltoall: 512 B over 256 B, bandwidth",
            by_size[3] / by_size[2],
            Allowed::AtMost(0.99),
        )
        .noted("`a performance drop`; values of the figure are lost"),
    );
    rows.extend(processes::rows(&shandy, context));
    rows
}

/// Bytes a second that all nodes together send to all in one Alltoall with this many bytes for each, if messages never meet.
fn alltoall(shandy: &Quiet, bytes: u64) -> f64 {
    let mut given = Ranks::new(NODES);
    given.library = Library::Mpich;
    let program =
        traffic(&format!("imb:op=alltoall,bytes={bytes}"), &given).expect("any number of ranks");
    let machine = Machine::new(&shandy.topology, 1);
    let terminals = (0..NODES).map(|h| machine.terminals(h)[0]).collect();
    let jobs = [Job { program: Arc::new(program), terminals, start: 0, repeat: Repeat::Once }];
    let host = host("slingshot").expect("known");
    let setup = Setup {
        medium: Medium::Formula,
        ..Setup::new(&shandy.topology, shandy.routes(), host, &jobs)
    };
    let end = simulate(&setup, &mut |_| {}).expect("a program of the registry").end;
    let n = f64::from(NODES);
    n * (n - 1.0) * bytes as f64 / (end as f64 * 1e-12)
}
