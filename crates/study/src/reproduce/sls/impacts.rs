//! Figure 9: congestion impacts on 512 nodes.

use super::PAPER;
use super::records::{answers, table};
use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Context, Drawn, Experiment, Figure, Row, USUAL};

const STUDY: Paper = paper!("sls-f9");

pub(super) const SETUP: &str = "Crystal: switches `aries`, routing `aries`, no congestion control, packets of 512 B (64 B there), 512 of its 698 \
     nodes drawn at random, in their order. Shandy: `rosetta`, routing `slingshot`, congestion control `pairs`, its first four groups, one \
     adapter of each node. Aggressors begin 2 ms before victims. Decisions: iterations begin together, 200 of them (10 runs of \
     applications) or 20 ms (4 ms where five seeds are run, 2 ms beside an all-to-all), the paper's at least 4 s left out; algorithms of \
     MPICH; sizes of applications as docs/congest.md has them, but parts of 100 kB for ResNet. Five seeds, all-to-alls and figure 10B have \
     three victims (Allreduce of 8 B, Alltoall of 128 B, halo3d), 10B linear and random allocations; services (Tailbench) are no victims here.";

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F9",
    title: "Congestion impacts on 512 nodes, linear allocation (figure 9)",
    paper: PAPER,
    setup: SETUP,
    class: Class::Shape,
    seconds: 500.0,
    papers: &[STUDY],
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let (study, records) = STUDY.records(context);
    let tables = ["Crystal", "Shandy"].iter().flat_map(|name| {
        [("incast", (*name).to_owned()), ("all-to-all", format!("{name}, all-to-all"))]
            .map(|(of, question)| table(format!("{name}, {of}"), answers(&records, &question)))
    });
    (context.draw)(Figure {
        name: "impacts",
        title: "Congestion impacts on 512 nodes".to_owned(),
        subtitle: "C = time beside the aggressor / time alone; nodes of victim / aggressor"
            .to_owned(),
        what: Drawn::Impacts(tables.collect()),
    });
    study.judged(&records)
}
