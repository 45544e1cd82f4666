//! Figure 5b: barriers.

use super::PAPER;
use super::lab::{ALL, Lab, gain, program, seconds};
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-F5b",
    title: "MPI_Barrier with the MPI layer of PARX (figure 5b)",
    paper: PAPER,
    setup: "The paper finds its PARX 2.8 to 6.9 times slower, even on 7 nodes of one switch: the cost of the MPI layer (bfo) \
     that it needs. What that costs a message is set here so that 7 nodes are 2.8 times slower; what this makes of \
     larger barriers is judged, and told beside barriers without that cost.",
    class: Class::Substitute,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new();
    let time = |lab: &Lab, c: usize, nodes: u32| {
        let program = program("imb:op=barrier", nodes, context.seed).expect("any number of ranks");
        seconds(&lab.alone(&ALL[c], program, context.seed))
    };
    let base = time(&lab, 0, 7);
    // The time of a barrier grows in proportion to what a message costs.
    let slow = |extra: u64| {
        Lab::new().with_host(|h| (h.send, h.receive) = (h.send + extra, h.receive + extra))
    };
    let (mut low, mut high) = (0_u64, 10_000_000);
    while high - low > 1_000 {
        let middle = low.midpoint(high);
        if time(&slow(middle), 4, 7) / base < 2.8 { low = middle } else { high = middle }
    }
    let layered = slow(high);
    let mut rows = vec![
        Row::told("what the layer costs each end of a message, us", high as f64 * 1e-6)
            .noted("not printed; set by the row for 7 nodes"),
    ];
    for nodes in [7, 14, 56, 224, 672] {
        let ours = gain(time(&lab, 0, nodes), time(&layered, 4, nodes));
        let what = format!("HX/PARX/clustered: gain at {nodes} nodes");
        rows.push(if nodes == 7 {
            Row::told(what, ours).printed(-0.65).noted("sets what a message costs")
        } else {
            Row::expected(what, ours, Allowed::Between(-0.85, -0.65))
                .noted("2.8 to 6.9 times slower is printed")
        });
    }
    for (c, combination) in ALL.iter().enumerate().take(4).skip(1) {
        let ours = gain(time(&lab, 0, 672), time(&lab, c, 672));
        rows.push(Row::told(format!("{}: gain at 672 nodes", combination.name), ours));
    }
    rows
}
