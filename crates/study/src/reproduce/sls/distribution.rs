//! Figure 10: how congestion impacts are distributed, by allocation, aggressors a node, and number of nodes.

use super::PAPER;
use super::gpcnet::{Cell, System, Trial, most};
use super::impacts::{FEW, LIMIT, SETUP, Seeds, incast};
use crate::congest::Hosts;
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};

pub(in crate::reproduce) const ALLOCATIONS: Experiment = Experiment {
    id: "SLS-F10A",
    title: "Congestion impacts by allocation on 512 nodes (figure 10A)",
    paper: PAPER,
    setup: SETUP,
    class: Class::Shape,
    seconds: 1200.0,
    run: allocations,
    ..USUAL
};

fn allocations(context: &Context<'_>) -> Vec<Row> {
    const ALL: [&str; 3] = ["linear", "interleaved", "random"];
    let systems = [System::crystal(), System::slingshot("Shandy", "@shandy")];
    let (mut rows, mut groups) = (Vec::new(), Vec::new());
    for system in &systems {
        let name = system.name;
        let trial = Trial { allocations: &ALL, ..incast(system.nodes(512, context), LIMIT) };
        let found = trial.run(system, context);
        let of = |a: usize| most(found.iter().filter(|c| c.allocation == a));
        let [linear, interleaved, random] = [0, 1, 2].map(of);
        for (what, (most, median)) in ALL.iter().zip([linear, interleaved, random]) {
            rows.push(Row::told(format!("{name}: median C, {what}"), median));
            rows.push(Row::told(format!("{name}: largest C, {what}"), most));
        }
        let largest = linear.0.max(interleaved.0).max(random.0);
        let quantity = format!("{name}: largest C, all allocations");
        if name == "Crystal" {
            rows.push(Row::impact(quantity, 154.0, largest, Allowed::Rule));
            let seeds = Seeds::run(system, context, &ALL);
            for (what, big, small) in
                [("interleaved by linear", 1, 0), ("random by interleaved", 2, 1)]
            {
                let of = |c: &Cell, a: usize| c.allocation == a;
                rows.push(
                    seeds
                        .order(
                            format!("{name}: median C, {what}"),
                            |c| of(c, big),
                            |c| of(c, small),
                        )
                        .noted("linear stays below 100, the others reach 150"),
                );
            }
            for (a, what) in ALL.iter().enumerate().skip(1) {
                for (more, less, [big, small]) in [(50, 10, [1, 0]), (90, 50, [2, 1])] {
                    let quantity =
                        format!("{name}: median C, {what}, {more} % of aggressors by {less} %");
                    let of = |c: &Cell, split: usize| (c.allocation, c.split) == (a, split);
                    rows.push(
                        seeds
                            .order(quantity, |c| of(c, big), |c| of(c, small))
                            .noted("similar trends for other allocations"),
                    );
                }
            }
        } else {
            rows.push(Row::impact(quantity, 2.3, largest, Allowed::AtMost(2.3)));
        }
        groups.push(boxes(name, &ALL, &found, |c| c.allocation));
    }
    (context.draw)(distribution("allocations", "allocations", groups));
    rows
}

/// Impacts as boxes, in powers of ten.
fn boxes(name: &str, of: &[&str], cells: &[Cell], which: impl Fn(&Cell) -> usize) -> Group {
    let one = |i: usize| {
        let mine = cells.iter().filter(|c| which(c) == i).filter_map(|c| c.impact);
        mine.map(|c| c.times.log10()).collect()
    };
    let boxes = of.iter().enumerate().map(|(i, what)| ((*what).to_owned(), one(i))).collect();
    Group { name: name.to_owned(), boxes }
}

fn distribution(name: &'static str, of: &str, groups: Vec<Group>) -> Figure {
    Figure {
        name,
        title: format!("Congestion impacts by {of}"),
        subtitle:
            "beside incast, all victims and splits; 0: as fast as alone, 2: a hundred times as slow"
                .to_owned(),
        what: Drawn::Boxes { unit: "log10 C", groups },
    }
}

pub(in crate::reproduce) const PER_NODE: Experiment = Experiment {
    id: "SLS-F10B",
    title: "Congestion impacts of 1 and of 24 aggressors a node on 512 nodes (figure 10B)",
    paper: PAPER,
    setup: SETUP,
    class: Class::Shape,
    seconds: 400.0,
    run: per_node,
    ..USUAL
};

fn per_node(context: &Context<'_>) -> Vec<Row> {
    let systems = [System::crystal(), System::slingshot("Shandy", "@shandy")];
    let (mut rows, mut groups, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for system in &systems {
        let name = system.name;
        let mut both = Vec::new();
        for (i, per_node) in [1, 24].into_iter().enumerate() {
            let trial = Trial {
                victims: FEW,
                allocations: &["linear", "random"],
                per_node,
                ..incast(system.nodes(512, context), LIMIT)
            };
            let mut found = trial.run(system, context);
            let (largest, median) = most(found.iter());
            rows.push(Row::told(
                format!("{name}: largest C, {per_node} of the aggressor a node"),
                largest,
            ));
            rows.push(Row::told(
                format!("{name}: median C, {per_node} of the aggressor a node"),
                median,
            ));
            for cell in &mut found {
                cell.aggressor = i;
            }
            all.push((largest, median));
            both.extend(found);
        }
        groups.push(boxes(name, &["1 a node", "24 a node"], &both, |c| c.aggressor));
    }
    let [one, many] = [1, 24].map(|per_node| {
        let crystal = &systems[0];
        Seeds::of(crystal, context, |context| Trial {
            allocations: &["linear", "random"],
            per_node,
            ..incast(crystal.nodes(512, context), 0)
        })
    });
    let what = "Crystal: median C, 24 of the aggressor a node by 1";
    rows.push(many.order_over(&one, what.to_owned()));
    rows.push(Row::new(
        "Crystal by Shandy: largest C, 24 of the aggressor a node",
        200.0,
        all[1].0 / all[3].0,
        Allowed::AtLeast(20.0),
    ));
    (context.draw)(distribution("per-node", "aggressors a node", groups));
    rows
}

pub(in crate::reproduce) const FEWER_NODES: Experiment = Experiment {
    id: "SLS-F10C",
    title: "Congestion impacts on 128 nodes in two groups, and on 512 (figure 10C)",
    paper: PAPER,
    setup: "The first 64 nodes of each of two groups of Crystal and of Malbec, splits 115/13, 64/64 and 13/115, three allocations; 512 \
     nodes as in SLS-F10A, of Crystal and Shandy.",
    class: Class::Shape,
    seconds: 500.0,
    run: fewer_nodes,
    ..USUAL
};

fn fewer_nodes(context: &Context<'_>) -> Vec<Row> {
    const ALL: [&str; 3] = ["linear", "interleaved", "random"];
    let pairs = vec![
        (System::crystal(), None, [154.0, 40.0]),
        (
            System::slingshot("Malbec", "@malbec"),
            Some(System::slingshot("Shandy", "@shandy")),
            [2.3, 1.5],
        ),
    ];
    let (mut rows, mut groups) = (Vec::new(), Vec::new());
    for (small, large, printed) in &pairs {
        let large = large.as_ref().unwrap_or(small);
        let mut both = Vec::new();
        for (i, system) in [large, small].into_iter().enumerate() {
            let trial = if i == 0 {
                incast(system.nodes(512, context), LIMIT)
            } else {
                Trial { limit: LIMIT, ..of_two_groups(system) }
            };
            let mut cells = Trial { allocations: &ALL, victims: FEW, ..trial }.run(system, context);
            let (largest, median) = most(cells.iter());
            let count = [512, 128][i];
            rows.push(
                Row::impact(
                    format!("{}: largest C on {count} nodes", system.name),
                    printed[i],
                    largest,
                    Allowed::Rule,
                )
                .noted("of some victims, within 20 ms; the paper's is of all"),
            );
            rows.push(Row::told(format!("{}: median C on {count} nodes", system.name), median));
            for cell in &mut cells {
                cell.aggressor = i;
            }
            both.extend(cells);
        }
        let [many, few] = [(large, false), (small, true)].map(|(system, is_few)| {
            Seeds::of(system, context, |context| Trial {
                allocations: &ALL,
                ..if is_few { of_two_groups(system) } else { incast(system.nodes(512, context), 0) }
            })
        });
        let what = format!("{}: median C, 512 nodes by 128", small.name);
        rows.push(
            many.order_over(&few, what)
                .noted("fewer nodes, less impact; the paper prints the largest"),
        );
        groups.push(boxes(small.name, &["512 nodes", "128 nodes"], &both, |c| c.aggressor));
    }
    (context.draw)(distribution("fewer-nodes", "nodes", groups));
    rows
}

/// An incast on 64 nodes of each of two groups.
fn of_two_groups(system: &System) -> Trial<'static> {
    let hosts = Hosts::of_groups(system.case.topology(), 2, 64);
    Trial { splits: &[(115, 13), (64, 64), (13, 115)], ..incast(hosts, 0) }
}
