//! Figures 9 and 10: congestion impacts on 512 and 128 nodes.

use super::PAPER;
use super::gpcnet::{Cell, MS, SPLITS, System, Trial, most, table};
use crate::congest::Hosts;
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Group, Row};

/// Victims of incasts.
const VICTIMS: &[&str] = &[
    "allreduce:8B",
    "allreduce:32KiB",
    "alltoall:128B",
    "barrier",
    "bcast:8B",
    "halo3d",
    "sweep3d:cells=50x50x10",
    "lammps",
    "milc",
    "hpcg",
    "fft",
    "resnet:part=100kB",
];
/// Victims of all-to-alls, which load the whole machine and take the longest to simulate.
const FEW: &[&str] = &["allreduce:8B", "alltoall:128B", "halo3d"];

/// Simulated time of a victim beside an incast at most: without control single iterations last milliseconds.
const LIMIT: u64 = 20 * MS;

fn incast(hosts: Hosts, limit: u64) -> Trial<'static> {
    static INCAST: std::sync::LazyLock<Vec<String>> =
        std::sync::LazyLock::new(|| vec!["incast".to_owned()]);
    Trial {
        hosts,
        splits: &SPLITS,
        allocations: &["linear"],
        victims: VICTIMS,
        aggressors: &INCAST,
        per_node: 1,
        iterations: 200,
        limit,
    }
}

/// Names of splits.
fn columns(splits: &[(u32, u32)]) -> Vec<String> {
    splits.iter().map(|(v, a)| format!("{v}/{a}")).collect()
}

const SETUP: &str = "Crystal: switches `aries`, routing `aries`, no congestion control, packets of 512 B (64 B there), 512 of its 698 \
     nodes drawn by lot, in their order. Shandy: `rosetta`, routing `slingshot`, congestion control `pairs`, its first four groups, one \
     adapter of each node. Aggressors begin 2 ms before victims. Decisions: iterations begin together, 200 of them (10 runs of \
     applications) or 10 ms, the paper's at least 4 s left out; algorithms of MPICH; sizes of applications as docs/congest.md has them.";

/// See [`Experiment::title`].
pub(crate) struct Impacts;

impl Experiment for Impacts {
    fn id(&self) -> &'static str {
        "SLS-F9"
    }

    fn title(&self) -> &'static str {
        "Congestion impacts on 512 nodes, linear allocation (figure 9)"
    }

    fn paper(&self) -> &'static str {
        PAPER
    }

    fn setup(&self) -> &'static str {
        SETUP
    }

    fn class(&self) -> Class {
        Class::Shape
    }

    fn run(&self, context: &Context<'_>) -> Vec<Row> {
        let systems = [System::crystal(), System::slingshot("Shandy", "@shandy")];
        let (mut rows, mut tables) = (Vec::new(), Vec::new());
        let printed = [(93.0, Allowed::AtLeast(10.0)), (1.3, Allowed::AtMost(2.0))];
        for (system, (paper, allowed)) in systems.iter().zip(printed) {
            let hosts = system.nodes(512, context);
            let found = incast(hosts.clone(), LIMIT).run(system, context);
            let all = Trial {
                victims: FEW,
                aggressors: &["alltoall".to_owned()],
                limit: 2 * MS,
                ..incast(hosts, 0)
            };
            let mild = all.run(system, context);
            let name = system.name;
            rows.push(Row::new(
                format!("{name}: largest C beside incast"),
                paper,
                most(found.iter()).0,
                allowed,
            ));
            if name == "Crystal" {
                let of = |split: usize| most(found.iter().filter(|c| c.split == split)).1;
                let [few, half, many] = [0, 1, 2].map(of);
                for (share, c) in [(10, few), (50, half), (90, many)] {
                    rows.push(Row::ours(
                        format!("{name}: median C, {share} % of the nodes the incast's"),
                        c,
                    ));
                }
                rows.push(
                    Row::new(
                        format!("{name}: C at 90 % by C at 10 %"),
                        1.0,
                        many / few,
                        Allowed::AtLeast(1.0),
                    )
                    .noted("it grows; by how much is not printed in numbers"),
                );
                rows.push(
                    Row::new(
                        format!("{name}: C at 50 % by C at 10 %"),
                        1.0,
                        half / few,
                        Allowed::AtLeast(1.0),
                    )
                    .noted("with two groups a linear split in halves parts the jobs"),
                );
            }
            rows.push(Row::new(
                format!("{name}: largest C beside all-to-all"),
                1.0,
                most(mild.iter()).0,
                Allowed::AtMost(1.5),
            ));
            let title = |of: &str| format!("{name}, {of}");
            let by_split = |c: &Cell| Some(c.split);
            tables.push(table(title("incast"), VICTIMS, columns(&SPLITS), &found, by_split));
            tables.push(table(title("all-to-all"), FEW, columns(&SPLITS), &mild, by_split));
        }
        (context.draw)(Figure {
            name: "impacts",
            title: "Congestion impacts on 512 nodes".to_owned(),
            subtitle: "C = time beside the aggressor / time alone; nodes of victim / aggressor"
                .to_owned(),
            what: Drawn::Impacts(tables),
        });
        rows
    }
}

/// See [`Experiment::title`].
pub(crate) struct Allocations;

impl Experiment for Allocations {
    fn id(&self) -> &'static str {
        "SLS-F10A"
    }

    fn title(&self) -> &'static str {
        "Congestion impacts by allocation on 512 nodes (figure 10A)"
    }

    fn paper(&self) -> &'static str {
        PAPER
    }

    fn setup(&self) -> &'static str {
        SETUP
    }

    fn class(&self) -> Class {
        Class::Shape
    }

    fn run(&self, context: &Context<'_>) -> Vec<Row> {
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
                rows.push(Row::ours(format!("{name}: median C, {what}"), median));
                rows.push(Row::ours(format!("{name}: largest C, {what}"), most));
            }
            if name == "Crystal" {
                for (what, by) in [
                    ("median C, interleaved by linear", interleaved.1 / linear.1),
                    ("median C, random by interleaved", random.1 / interleaved.1),
                    ("largest C, interleaved by linear", interleaved.0 / linear.0),
                    ("largest C, random by interleaved", random.0 / interleaved.0),
                ] {
                    rows.push(
                        Row::new(format!("{name}: {what}"), 1.0, by, Allowed::AtLeast(1.0))
                            .noted("linear stays below 100, the others reach 150"),
                    );
                }
                for (a, what) in ALL.iter().enumerate().skip(1) {
                    let at = |split: usize| {
                        most(found.iter().filter(|c| (c.allocation, c.split) == (a, split))).1
                    };
                    for (more, less, [big, small]) in [(50, 10, [1, 0]), (90, 50, [2, 1])] {
                        let quantity =
                            format!("{name}: median C, {what}, {more} % of aggressors by {less} %");
                        let by = at(big) / at(small);
                        rows.push(
                            Row::new(quantity, 1.0, by, Allowed::AtLeast(1.0))
                                .noted("similar trends for other allocations"),
                        );
                    }
                }
            } else {
                let largest = linear.0.max(interleaved.0).max(random.0);
                rows.push(Row::new(
                    format!("{name}: largest C, all allocations"),
                    2.3,
                    largest,
                    Allowed::AtMost(2.3),
                ));
            }
            groups.push(boxes(name, &ALL, &found, |c| c.allocation));
        }
        (context.draw)(distribution("allocations", "allocations", groups));
        rows
    }
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

/// See [`Experiment::title`].
pub(crate) struct PerNode;

impl Experiment for PerNode {
    fn id(&self) -> &'static str {
        "SLS-F10B"
    }

    fn title(&self) -> &'static str {
        "Congestion impacts of 1 and of 24 aggressors a node on 512 nodes (figure 10B)"
    }

    fn paper(&self) -> &'static str {
        PAPER
    }

    fn setup(&self) -> &'static str {
        SETUP
    }

    fn class(&self) -> Class {
        Class::Shape
    }

    fn run(&self, context: &Context<'_>) -> Vec<Row> {
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
                rows.push(Row::ours(
                    format!("{name}: largest C, {per_node} of the aggressor a node"),
                    largest,
                ));
                rows.push(Row::ours(
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
        rows.push(Row::new(
            "Crystal: median C, 24 of the aggressor a node by 1",
            1.0,
            all[1].1 / all[0].1,
            Allowed::AtLeast(1.0),
        ));
        rows.push(Row::new(
            "Crystal by Shandy: largest C, 24 of the aggressor a node",
            200.0,
            all[1].0 / all[3].0,
            Allowed::AtLeast(20.0),
        ));
        (context.draw)(distribution("per-node", "aggressors a node", groups));
        rows
    }
}

/// See [`Experiment::title`].
pub(crate) struct FewerNodes;

impl Experiment for FewerNodes {
    fn id(&self) -> &'static str {
        "SLS-F10C"
    }

    fn title(&self) -> &'static str {
        "Congestion impacts on 128 nodes in two groups, and on 512 (figure 10C)"
    }

    fn paper(&self) -> &'static str {
        PAPER
    }

    fn setup(&self) -> &'static str {
        "The first 64 nodes of each of two groups of Crystal and of Malbec, splits 115/13, 64/64 and 13/115, three allocations; 512 \
         nodes as in SLS-F10A, of Crystal and Shandy."
    }

    fn class(&self) -> Class {
        Class::Shape
    }

    fn run(&self, context: &Context<'_>) -> Vec<Row> {
        const ALL: [&str; 3] = ["linear", "interleaved", "random"];
        let pairs = [
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
            let mut found = Vec::new();
            for (i, system) in [large, small].into_iter().enumerate() {
                let trial = if i == 0 {
                    incast(system.nodes(512, context), LIMIT)
                } else {
                    let splits: &[(u32, u32)] = &[(115, 13), (64, 64), (13, 115)];
                    let hosts = Hosts::of_groups(&system.topology, 2, 64);
                    Trial { splits, ..incast(hosts, LIMIT) }
                };
                let mut cells =
                    Trial { allocations: &ALL, victims: FEW, ..trial }.run(system, context);
                let (largest, median) = most(cells.iter());
                let count = [512, 128][i];
                rows.push(
                    Row::new(
                        format!("{}: largest C on {count} nodes", system.name),
                        printed[i],
                        largest,
                        Allowed::Anything,
                    )
                    .noted("of some victims, within 20 ms; the paper's is of all"),
                );
                rows.push(Row::ours(format!("{}: median C on {count} nodes", system.name), median));
                found.push((largest, median));
                for cell in &mut cells {
                    cell.aggressor = i;
                }
                both.extend(cells);
            }
            rows.push(
                Row::new(
                    format!("{}: median C, 128 nodes by 512", small.name),
                    1.0,
                    found[1].1 / found[0].1,
                    Allowed::AtMost(1.0),
                )
                .noted("fewer nodes, less impact; the paper prints the largest"),
            );
            groups.push(boxes(small.name, &["512 nodes", "128 nodes"], &both, |c| c.aggressor));
        }
        (context.draw)(distribution("fewer-nodes", "nodes", groups));
        rows
    }
}
