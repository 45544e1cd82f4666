//! Figure 5c: effective bisection bandwidth.

use std::sync::Arc;

use rayon::prelude::*;

use super::PAPER;
use super::lab::{ALL, Lab, program};
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};

const NODES: [u32; 7] = [14, 28, 56, 112, 224, 448, 672];
const MIB: f64 = 1_048_576.0;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-F5c",
    title: "Effective bisection bandwidth (figure 5c)",
    paper: PAPER,
    setup: "Random bisections of a job's nodes, 1 MiB to and from each partner at once; 1,000 bisections up to 112 nodes, \
     200 above. Mean bandwidth of a message. Values of the figure are lost; the text gives PARX as 1.9 times DFSSSP \
     at 14 nodes, behind the others at full size, and random placement as the best.",
    class: Class::Shape,
    seconds: 120.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new();
    let programs: Vec<_> = NODES
        .iter()
        .map(|&n| {
            let samples = if n <= 112 { 1000 } else { 200 };
            let spec = format!("ebb:samples={samples},bytes=1MiB");
            program(&spec, n, context.seed).expect("an even number of ranks")
        })
        .collect();
    let cells: Vec<(usize, usize)> =
        (0..NODES.len()).rev().flat_map(|n| (0..ALL.len()).map(move |c| (n, c))).collect();
    let found: Vec<((usize, usize), f64)> = cells
        .into_par_iter()
        .with_max_len(1)
        .map(|(n, c)| {
            (context.at)(&format!("{} on {} nodes", ALL[c].name, NODES[n]));
            let run = lab.alone(&ALL[c], Arc::clone(&programs[n]), context.seed);
            let total = run.pairs[0].total;
            // The mean of what each message got.
            let mean =
                run.pairs[0].sent().map(|(_, p)| p.bandwidth() * p.messages as f64).sum::<f64>();
            ((n, c), mean / total.messages.max(1) as f64 / MIB)
        })
        .collect();
    let of = |nodes: u32, c: usize| {
        let n = NODES.iter().position(|&n| n == nodes);
        found.iter().find(|(key, _)| Some(key.0) == n && key.1 == c).map_or(0.0, |f| f.1)
    };
    (context.draw)(Figure {
        name: "ebb",
        title: "Effective bisection bandwidth".to_owned(),
        subtitle: "mean bandwidth of 1 MiB messages in random bisections, by nodes".to_owned(),
        what: Drawn::Boxes {
            unit: "MiB/s",
            groups: NODES
                .iter()
                .map(|&n| Group {
                    name: n.to_string(),
                    boxes: (0..ALL.len())
                        .map(|c| (ALL[c].name.to_owned(), vec![of(n, c)]))
                        .collect(),
                })
                .collect(),
        },
    });
    let best_random = [14, 28, 56].iter().all(|&n| of(n, 3) >= of(n, 2));
    vec![
        Row::new(
            "14 nodes: PARX over DFSSSP, linear",
            1.9,
            of(14, 4) / of(14, 2),
            Allowed::AtLeast(1.3),
        ),
        Row::expected(
            "672 nodes: PARX over DFSSSP, linear",
            of(672, 4) / of(672, 2),
            Allowed::AtMost(1.0),
        ),
        Row::holds("14 to 56 nodes: random placement is no worse than linear", best_random),
        Row::told("56 nodes: PARX over FT/ftree/linear", of(56, 4) / of(56, 0))
            .noted("2 to 6 % are printed for middle sizes"),
        Row::told("672 nodes: FT/ftree/linear, MiB/s", of(672, 0)),
        Row::told("672 nodes: HX/DFSSSP/linear, MiB/s", of(672, 2)),
    ]
}
