//! Figure 10: how congestion impacts are distributed, by allocation, aggressors a node, and number of nodes.

use super::PAPER;
use super::impacts::SETUP;
use super::records::{answers, distribution, powers, word};
use crate::grid::Record;
use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Context, Experiment, Group, Row, USUAL};

const BY_ALLOCATION: Paper = paper!("sls-f10a");
const BY_COUNT: Paper = paper!("sls-f10b");
const BY_NODES: Paper = paper!("sls-f10c");

pub(in crate::reproduce) const ALLOCATIONS: Experiment = Experiment {
    id: "SLS-F10A",
    title: "Congestion impacts by allocation on 512 nodes (figure 10A)",
    paper: PAPER,
    setup: SETUP,
    class: Class::Shape,
    seconds: 1200.0,
    papers: &[BY_ALLOCATION],
    run: allocations,
    ..USUAL
};

fn allocations(context: &Context<'_>) -> Vec<Row> {
    let (study, records) = BY_ALLOCATION.records(context);
    let boxes = |name: &str| {
        ["linear", "interleaved", "random"]
            .map(|place| {
                let of = answers(&records, name).filter(|a| word(a, "place") == place);
                (place.to_owned(), powers(of))
            })
            .to_vec()
    };
    let groups = ["Crystal", "Shandy"].map(|n| Group { name: n.to_owned(), boxes: boxes(n) });
    (context.draw)(distribution("allocations", "allocations", groups.to_vec()));
    study.judged(&records)
}

pub(in crate::reproduce) const PER_NODE: Experiment = Experiment {
    id: "SLS-F10B",
    title: "Congestion impacts of 1 and of 24 aggressors a node on 512 nodes (figure 10B)",
    paper: PAPER,
    setup: SETUP,
    class: Class::Shape,
    seconds: 400.0,
    papers: &[BY_COUNT],
    run: per_node,
    ..USUAL
};

/// Boxes of questions, each with its label.
fn group(records: &[Record], name: &str, of: [(&str, String); 2]) -> Group {
    let boxes = of.map(|(what, question)| (what.to_owned(), powers(answers(records, &question))));
    Group { name: name.to_owned(), boxes: boxes.to_vec() }
}

fn per_node(context: &Context<'_>) -> Vec<Row> {
    let (study, records) = BY_COUNT.records(context);
    let groups = ["Crystal", "Shandy"].map(|name| {
        let of = ["1 a node", "24 a node"].map(|what| (what, format!("{name}, {what}")));
        group(&records, name, of)
    });
    (context.draw)(distribution("per-node", "aggressors a node", groups.to_vec()));
    study.judged(&records)
}

pub(in crate::reproduce) const FEWER_NODES: Experiment = Experiment {
    id: "SLS-F10C",
    title: "Congestion impacts on 128 nodes in two groups, and on 512 (figure 10C)",
    paper: PAPER,
    setup: "The first 64 nodes of each of two groups of Crystal and of Malbec, splits 115/13, 64/64 and 13/115, three allocations; 512 \
     nodes as in SLS-F10A, of Crystal and Shandy.",
    class: Class::Shape,
    seconds: 500.0,
    papers: &[BY_NODES],
    run: fewer_nodes,
    ..USUAL
};

fn fewer_nodes(context: &Context<'_>) -> Vec<Row> {
    let (study, records) = BY_NODES.records(context);
    let groups = [("Crystal", "Crystal"), ("Malbec", "Shandy")].map(|(small, large)| {
        let of = [("512 nodes", format!("{large}, 512")), ("128 nodes", format!("{small}, 128"))];
        group(&records, small, of)
    });
    (context.draw)(distribution("fewer-nodes", "nodes", groups.to_vec()));
    study.judged(&records)
}
