//! Section IV: another simulator finds the same.

use std::sync::Arc;

use darkfiber_analysis::count::{Bandwidth, Precision, Quantities, measure};
use darkfiber_workload::play::{Job, Repeat, host};
use darkfiber_workload::schedule::{Program, Script};
use darkfiber_workload::{Stream, listed_pairs};

use super::{Tree, name};
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};
use darkfiber_scenario::{Setup, simulate};

/// Patterns for each tree and engine.
const PATTERNS: u64 = 20;
/// A full, a slimmed and a fatted one of Table II, and those that are balanced.
const TREES: [(u32, u32, u32); 5] =
    [(9, 9, 18), (12, 12, 24), (12, 4, 16), (16, 8, 24), (8, 16, 24)];
const BYTES: u64 = 1 << 20;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "OPT-ORCS",
    title: "Counting and simulating flows find the same bandwidth of bisect patterns (section IV)",
    paper: "Nienaber, Mahapatra, Yuan: Improving Performance of Deterministic Single-path Routing on 2-Level \
     Generalized Fat-trees, section IV",
    setup: "The paper compares its simulator with ORCS: `the results match perfectly`. Here the share that counting gives the slowest \
     pair of a pattern, 1 over its fullest channel, and the time that messages of 1 MiB take as flows that share channels \
     fairly, are compared on 20 random bisect patterns of five trees under dmodk, opt and opt-balanced: both must be the \
     same within a millionth.",
    class: Class::Exact,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for tree in TREES {
        for engine in ["dmodk", "opt", "opt-balanced"] {
            (context.at)(&format!("{} {engine}", name(tree)));
            let same = same(&Tree::new(tree, engine), context.seed);
            rows.push(Row::derived(
                format!("{}, {engine}: patterns of {PATTERNS} that agree", name(tree)),
                PATTERNS as f64,
                same as f64,
                Allowed::Nothing,
            ));
        }
    }
    rows
}

/// In how many patterns counting and simulating agree.
fn same(tree: &Tree, seed: u64) -> usize {
    let n = tree.who.len() as u32;
    let paths = tree.paths();
    let fabric = &tree.topology.fabric;
    let rate = fabric.terminal_class(tree.who[0]).bytes_per_second as f64;
    let agree = |k: &u64| {
        let mut order: Vec<u32> = (0..n).collect();
        Stream::new(seed, *k).shuffle(&mut order);
        let pairs: Vec<[u32; 2]> = order.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
        let pattern = listed_pairs(pairs.clone(), n).expect("a partial permutation");
        let found =
            measure(&paths, None, &*pattern, &Quantities::default(), &Precision::default(), seed);
        let share = found.bandwidth(Bandwidth::Share).expect("always measured").mean;
        let mut script = Script::new(n);
        for &[from, to] in &pairs {
            script.message(from, to, BYTES, 0);
        }
        let mut program = Program::new(n);
        program.then(Arc::new(script.finish_block().expect("both ends are given")), 1);
        let jobs = [Job {
            program: Arc::new(program),
            terminals: tree.who.clone(),
            start: 0,
            repeat: Repeat::Once,
        }];
        let ideal = host("ideal").expect("registered");
        let end = simulate(&Setup::new(&tree.topology, &tree.routes, ideal, &jobs), &mut |_| ())
            .expect("everybody receives what is sent")
            .end;
        let simulated = BYTES as f64 / rate / (end as f64 * 1e-12);
        (simulated / share - 1.0).abs() < 1e-6
    };
    (0..PATTERNS).filter(agree).count()
}
