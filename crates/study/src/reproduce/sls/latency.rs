//! Figure 2: latency of a switch.

use darkfiber_packetsim::Targets;
use darkfiber_workload::histogram;

use super::PAPER;
use super::lab::Quiet;
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};

/// Terminals of a switch of Malbec.
const TERMINALS: u32 = 16;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F2",
    title: "Latency of a Rosetta switch for RoCE traffic (figure 2)",
    paper: PAPER,
    setup: "As measured: 8 B messages with the headers of RoCEv2 on quiet Malbec, 2,500 or so to a terminal of the same switch and as \
     many to one of another switch of the group; latencies of the latter less the mean of the former, and less the cable \
     between the switches. A switch takes 310 to 390 ns at random: this is put in, and what two of them make of it comes out.",
    class: Class::Shape,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let quiet = Quiet::new("@malbec");
    let n = quiet.net.terminal_count() as u32;
    let to = |terminal: u32| {
        (context.at)(&format!("to terminal {terminal}"));
        quiet.load(
            "minimal",
            Targets::pairs(n, &[[0, terminal]]),
            0.0002,
            8,
            8_000_000_000,
            context.seed,
        )
    };
    let (one, two) = (to(1).measured, to(TERMINALS).measured);
    let base = (one.mean() + f64::from(super::lab::COPPER)) / 1000.0;
    let steps: Vec<(f64, u64)> = (two.latencies.iter_recorded())
        .map(|v| (v.value_iterated_to() as f64 - base, v.count_at_value()))
        .collect();
    let all: u64 = steps.iter().map(|s| s.1).sum();
    let share = |from: f64, to: f64| {
        let inside: u64 = steps.iter().filter(|s| (from..=to).contains(&s.0)).map(|s| s.1).sum();
        100.0 * inside as f64 / all.max(1) as f64
    };
    let at =
        |q: f64| histogram::quantile(&two.latencies, q, 1.0, two.longest as f64 / 1000.0) - base;
    (context.draw)(Figure {
        name: "latency",
        title: "Latency of a Rosetta switch".to_owned(),
        subtitle: "8 B messages: through two switches, less the mean through one".to_owned(),
        what: Drawn::Boxes {
            unit: "ns",
            groups: vec![Group {
                name: String::new(),
                boxes: vec![(
                    "RoCE".to_owned(),
                    steps.iter().flat_map(|s| (0..s.1).map(|_| s.0)).collect(),
                )],
            }],
        },
    });
    vec![
        Row::new(
            "mean, ns",
            350.0,
            (two.mean() - one.mean() - f64::from(super::lab::COPPER)) / 1000.0,
            Allowed::Rule,
        ),
        Row::new("median, ns", 350.0, at(0.5), Allowed::Rule),
        Row::expected("from 300 to 400 ns, %", share(300.0, 400.0), Allowed::AtLeast(95.0))
            .noted("all `except for a few outliers`"),
        Row::told("shortest, ns", at(0.0)),
        Row::told("longest, ns", at(1.0)),
        Row::told("messages", all as f64),
    ]
}
