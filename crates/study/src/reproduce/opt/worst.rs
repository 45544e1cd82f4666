//! Table I.

use super::printed::TABLE_I;
use super::{Tree, name};
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "OPT-T1",
    title: "worst permutation of OPT and of D-mod-k on 15 two-level trees",
    paper: "Nienaber, Mahapatra, Yuan: Improving Performance of Deterministic Single-path Routing on 2-Level \
     Generalized Fat-trees, Table I",
    setup: "WORST by maximum matching for every channel, engines opt and dmodk. T(12+16,24) has 28 leaves in \
     Table II and is read so.",
    class: Class::Exact,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for &(tree, opt, improvement) in TABLE_I {
        (context.at)(&name(tree));
        let [ours, base] =
            ["opt", "dmodk"].map(|engine| f64::from(Tree::new(tree, engine).worst()));
        let row = |what: &str, paper: u32, ours: f64| {
            let quantity = format!("{} {what}", name(tree));
            Row::new(quantity, f64::from(paper), ours, Allowed::Nothing)
        };
        let mut all = vec![
            row("WORST of OPT", opt, ours),
            row("WORST of D-mod-k", tree.0, base),
            row("improvement, %", improvement, 100.0 * (base / ours - 1.0)),
        ];
        if tree == (12, 16, 28) {
            all[0].note =
                Some("printed as T(12+16,24) here, as T(12+16,28) in Table II".to_owned());
        }
        rows.append(&mut all);
    }
    rows
}
