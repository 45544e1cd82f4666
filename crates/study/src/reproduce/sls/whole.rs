//! Figure 11: applications on all of Shandy.

use super::PAPER;
use super::records::{answers, table};
use crate::grid::{Record, Value};
use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Context, Drawn, Experiment, Figure, Row, USUAL};

const STUDY: Paper = paper!("sls-f11");

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F11",
    title: "Applications beside an incast on all 1,024 nodes of Shandy, random allocation (figure 11)",
    paper: PAPER,
    setup: "`@shandy`, one adapter of each node, as in SLS-F9; incasts of 256, 512 and 768 nodes; 10 runs of each application, or 20 ms. Decision: \
     the same without congestion control, which the paper has not, is shown beside it, not judged.",
    class: Class::Shape,
    seconds: 300.0,
    papers: &[STUDY],
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let (study, records) = STUDY.records(context);
    let tables = [("pairs", "with control"), ("none", "without control")].map(|(scheme, title)| {
        let is = |record: &&Record| {
            record.set.iter().any(|(_, value)| *value == Value::Text(scheme.to_owned()))
        };
        let of: Vec<Record> = records.iter().filter(is).cloned().collect();
        table(title.to_owned(), answers(&of, "impact"))
    });
    (context.draw)(Figure {
        name: "whole",
        title: "Applications beside an incast on 1,024 nodes".to_owned(),
        subtitle: "C = time beside the incast / time alone; nodes of application / incast; -: cannot be, or not within 20 ms alone".to_owned(),
        what: Drawn::Impacts(tables.to_vec()),
    });
    study.judged(&records)
}
