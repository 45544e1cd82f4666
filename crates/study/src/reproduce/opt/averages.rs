//! Table II of the paper.

use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Experiment, USUAL};

/// Table II as a study. Its numbers come by tree, in the order of the table; of each tree by ABB, AFPB and ADB; of each of these those
/// of OPT and D-mod-k, and the improvement by OPT.
pub(super) const TABLE_II: Paper = paper!("opt-t2");

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "OPT-T2",
    title: "average bandwidth of random bisections, permutations and exchanges, OPT and D-mod-k, 15 trees",
    paper: "Nienaber, Mahapatra, Yuan: Improving Performance of Deterministic Single-path Routing on 2-Level \
     Generalized Fat-trees, Table II",
    setup: "Mean of 1 / largest load: 1,000 samples, doubled until the 99 % confidence interval (read as its full \
     width) is below 1 % of the mean. Engine dmodk; opt where it uses all top switches, else opt-balanced, \
     a rule recovered from these very numbers.",
    class: Class::Exact,
    papers: &[TABLE_II],
    run: |context| TABLE_II.rows(context),
    ..USUAL
};
