//! Table I of the paper.

use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Experiment, USUAL};

const PAPER: Paper = paper!("opt-t1");

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "OPT-T1",
    title: "worst permutation of OPT and of D-mod-k on 15 two-level trees",
    paper: "Nienaber, Mahapatra, Yuan: Improving Performance of Deterministic Single-path Routing on 2-Level \
     Generalized Fat-trees, Table I",
    setup: "WORST by maximum matching for every channel, engines opt and dmodk. T(12+16,24) has 28 leaves in \
     Table II and is read so.",
    class: Class::Exact,
    papers: &[PAPER],
    run: |context| PAPER.rows(context),
    ..USUAL
};
