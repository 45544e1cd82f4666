//! Table II.

use super::printed::{Average, COLUMNS, TABLE_II};
use super::{Tree, name};
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

/// OPT as the paper ran it on this tree.
fn engine(printed: &Average) -> &'static str {
    if printed.balanced { "opt-balanced" } else { "opt" }
}

/// Our Table II: for each row and column OPT and D-mod-k.
pub(super) fn measured(context: &Context<'_>) -> Vec<[[f64; 2]; 3]> {
    let row = |printed: &Average| {
        (context.at)(&name(printed.tree));
        let trees = [engine(printed), "dmodk"].map(|engine| Tree::new(printed.tree, engine));
        COLUMNS.map(|(_, kind)| [0, 1].map(|i| trees[i].average(kind, context.seed)))
    };
    TABLE_II.iter().map(row).collect()
}

/// The paper's interval and ours are each 1 % of the mean wide; the rest is rounding to three digits.
const CELL: Allowed = Allowed::Relative(0.025);
/// A quotient of two such cells, in percent.
const IMPROVEMENT: Allowed = Allowed::Absolute(3.0);

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "OPT-T2",
    title: "average bandwidth of random bisections, permutations and exchanges, OPT and D-mod-k, 15 trees",
    paper: "Nienaber, Mahapatra, Yuan: Improving Performance of Deterministic Single-path Routing on 2-Level \
     Generalized Fat-trees, Table II",
    setup: "Mean of 1 / largest load: 1,000 samples, doubled until the 99 % confidence interval (read as its full \
     width) is below 1 % of the mean. Engine dmodk; opt where it uses all top switches, else opt-balanced, \
     a rule recovered from these very numbers.",
    class: Class::Exact,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (printed, measured) in TABLE_II.iter().zip(measured(context)) {
        let engine = engine(printed);
        for (((column, _), cells), [ours, base]) in COLUMNS.iter().zip(&printed.cells).zip(measured)
        {
            let quantity = |what: &str| format!("{} {column} {what}", name(printed.tree));
            let improvement = 100.0 * (ours / base - 1.0);
            let mut last =
                Row::new(quantity("improvement, %"), cells.improvement, improvement, IMPROVEMENT);
            // The quotient of the two printed cells, were they not rounded, lies between these.
            let half = 0.0005;
            let least = 100.0 * ((cells.opt - half) / (cells.dmodk + half) - 1.0);
            let most = 100.0 * ((cells.opt + half) / (cells.dmodk - half) - 1.0);
            if cells.improvement < least - 0.05 || cells.improvement > most + 0.05 {
                let quotient = 100.0 * (cells.opt / cells.dmodk - 1.0);
                last = last.read_as(
                    (quotient * 10.0).round() / 10.0,
                    "misprint: not the quotient of the printed cells",
                );
            }
            rows.extend([
                Row::new(quantity(&format!("of {engine}")), cells.opt, ours, CELL),
                Row::new(quantity("of D-mod-k"), cells.dmodk, base, CELL),
                last,
            ]);
        }
    }
    rows
}
