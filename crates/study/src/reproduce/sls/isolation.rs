//! Figure 13: the effect of a separate traffic class for a small Allreduce with a large Alltoall in the background.

use darkfiber_packetsim::{Congestion, Tuning, routing};
use darkfiber_workload::collective::Library;
use darkfiber_workload::placement::allocator;

use super::PAPER;
use super::tapered::{NODES, PER_NODE, Tapered};
use crate::congest::{APART, CongestPlan, Contender, Hosts, Mechanism, Rule, Split, Times, run};
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F13",
    title: "8 B Allreduce beside 256 KiB Alltoall, in one traffic class and in two (figure 13)",
    paper: PAPER,
    setup: "Malbec with a quarter of its cables between groups (`taper=25`), and beside it, told, with one cable between any two; two \
     jobs of 64 nodes, interleaved: Allreduce with a rank a node, Alltoall \
     16 times side by side, from 2 ms before on. Decisions: algorithms of MPICH, which Cray's MPI \
     is derived from; as many Alltoalls of a rank a node instead of one of 1,024 \
     ranks; classes share evenly and are owed nothing; at least 1,000 Allreduces instead of 100,000.",
    class: Class::Shape,
    seconds: 60.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let (mut found, mut groups) = (Vec::new(), Vec::new());
    let printed = [
        ("same class", 2.85, Allowed::AtLeast(2.0)),
        ("classes of their own", 1.15, Allowed::AtMost(1.3)),
    ];
    for (boxes, (name, printed, allowed)) in
        times(&Tapered::quarter(), context).into_iter().zip(printed)
    {
        found.push(Row::impact(format!("C, {name}"), printed, impact(&boxes), allowed));
        let boxes = ["alone", "beside"].map(str::to_owned).into_iter().zip(boxes);
        groups.push(Group { name: name.to_owned(), boxes: boxes.collect() });
    }
    for (boxes, (name, ..)) in times(&Tapered::thin(), context).into_iter().zip(printed) {
        let what = format!("C, {name}, one cable between any two groups");
        found.push(Row::told(what, impact(&boxes)));
    }
    (context.draw)(Figure {
        name: "isolation",
        title: "Allreduce of 8 B beside Alltoall of 256 KiB".to_owned(),
        subtitle: "time of an Allreduce, in microseconds".to_owned(),
        what: Drawn::Boxes { unit: "us", groups },
    });
    found
}

/// Mean with Alltoall divided by the mean alone.
fn impact([alone, beside]: &[Vec<f64>; 2]) -> f64 {
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
    mean(beside) / mean(alone)
}

/// In one class and in two, the times of Allreduces alone and with Alltoall, in microseconds.
fn times(tapered: &Tapered, context: &Context<'_>) -> Vec<[Vec<f64>; 2]> {
    let mechanism = |apart: bool| Mechanism {
        name: format!("pairs{}", if apart { APART } else { "" }),
        congestion: Congestion::Pairs,
        tuning: Tuning::DEFAULT,
        routing: routing::kind("slingshot").expect("registered"),
        apart,
    };
    let part = |name, spec| Contender::new(name, spec).expect("registered");
    let plan = CongestPlan {
        case: &tapered.0,
        hosts: Hosts::first(tapered.0.topology(), tapered.0.fabric().terminal_count() as u32)
            .expect("a terminal a host"),
        victims: vec![part("Allreduce", "imb:op=allreduce,bytes=8,repeat=1")],
        aggressors: vec![part("Alltoall", "imb:op=alltoall,bytes=256KiB,repeat=1")],
        splits: vec![Split { victim: NODES, aggressor: NODES }],
        allocations: vec![allocator("interleaved").expect("registered")],
        mechanisms: [false, true].map(mechanism).to_vec(),
        per_node: PER_NODE,
        library: Library::Mpich,
        rule: Rule { iterations: 1000, runs: 1000, precision: 0.05, limit: 100_000_000_000 },
        warmup: 2_000_000_000,
        seed: context.seed,
    };
    let samples =
        |times: &Times| -> Vec<f64> { times.samples.iter().map(|t| *t as f64 * 1e-6).collect() };
    run(&plan, None, &|_| (context.at)("Allreduce alone, and beside Alltoall"))
        .iter()
        .map(|row| {
            let ran = row.ran.as_ref().expect("both are traffic for 64 ranks");
            [samples(&ran.isolated), samples(&ran.congested)]
        })
        .collect()
}
