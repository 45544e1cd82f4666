//! Figure 5b: barriers.

use super::PAPER;
use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Experiment, USUAL};

const STUDY: Paper = paper!("t2hx-f5b");

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-F5b",
    title: "MPI_Barrier with the MPI layer of PARX (figure 5b)",
    paper: PAPER,
    setup: "The paper finds its PARX 2.8 to 6.9 times slower, even on 7 nodes of one switch: the cost of the MPI layer (bfo) \
     that it needs. What that costs each end of a message, 1,226,805 ps, is set so that 7 nodes are 2.8 times slower; what \
     this makes of larger barriers is judged.",
    class: Class::Substitute,
    papers: &[STUDY],
    run: |context| STUDY.rows(context),
    ..USUAL
};
