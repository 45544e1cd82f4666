//! Algorithms of Reduce.

use super::Algorithm;
use super::call::{Team, part};
use super::halving::{Fold, halve};
use super::tree::Tree;

pub(super) static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "linear",
        doc: "all send to the root, which receives and reduces one after the other, the last rank first",
        source: "Open MPI coll_base_reduce.c",
        write: linear,
    },
    Algorithm {
        name: "binomial",
        doc: "up a binomial tree, small subtrees first, in segments if wanted",
        source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.4",
        write: binomial,
    },
    Algorithm {
        name: "chain",
        doc: "segments up four chains at once",
        source: "Open MPI coll_base_reduce.c, fan-out 4 by default",
        write: |team| up(team, &Tree::chains(team.n(), 4)),
    },
    Algorithm {
        name: "pipeline",
        doc: "segments up one chain",
        source: "Open MPI coll_base_reduce.c",
        write: |team| up(team, &Tree::chains(team.n(), 1)),
    },
    Algorithm {
        name: "binary",
        doc: "segments up a binary tree",
        source: "Open MPI coll_base_reduce.c",
        write: |team| up(team, &Tree::binary(team.n())),
    },
    Algorithm {
        name: "rabenseifner",
        doc: "Reduce_scatter by recursive halving, then binomial Gather; those beyond the power of two hand their \
              vectors to a neighbour first",
        source: "Rabenseifner, \"Optimization of collective reduction operations\", ICCS 2004",
        write: rabenseifner,
    },
];

fn linear(team: &mut Team<'_, '_>) {
    let (root, bytes) = (team.after_root(0), team.bytes());
    for i in (0..team.n()).rev().filter(|&i| i != root) {
        team.message(i, root, bytes);
        team.wait(i);
        team.reduce(root, bytes);
    }
}

/// Up a binomial tree.
pub(super) fn binomial(team: &mut Team<'_, '_>) {
    up(team, &Tree::in_order(team.n()));
}

/// Up a tree in segments.
fn up(team: &mut Team<'_, '_>, tree: &Tree) {
    let among: Vec<u32> = (0..team.n()).map(|v| team.after_root(v)).collect();
    up_among(team, tree, &among, team.bytes(), |_, _, _| {});
}

/// Up a tree whose number v is index `among[v]`: children are received and reduced one after the other, the next one
/// or the next segment arriving meanwhile. `done` is called for each segment that the root has.
pub(super) fn up_among(
    team: &mut Team<'_, '_>,
    tree: &Tree,
    among: &[u32],
    bytes: u64,
    mut done: impl FnMut(&mut Team<'_, '_>, u32, u64),
) {
    let segments = team.segments(bytes);
    for (v, &i) in among.iter().enumerate() {
        let children = &tree.children[v];
        let parent = tree.parent[v].map(|p| among[p as usize]);
        let steps = segments.len() * children.len();
        let come = |step: usize| {
            (among[children[step % children.len()] as usize], segments[step / children.len()])
        };
        if steps > 0 {
            let (child, bytes) = come(0);
            team.recv_aside(i, child, bytes);
        }
        for step in 0..steps {
            team.settle(i);
            team.wait(i);
            if step + 1 < steps {
                let (child, bytes) = come(step + 1);
                team.recv_aside(i, child, bytes);
            }
            let bytes = come(step).1;
            team.reduce(i, bytes);
            if (step + 1) % children.len() == 0 {
                match parent {
                    Some(parent) => team.send(i, parent, bytes),
                    None => done(team, i, bytes),
                }
            }
        }
        if let (Some(parent), 0) = (parent, steps) {
            for &bytes in &segments {
                team.send(i, parent, bytes);
                team.wait(i);
            }
        }
        team.wait(i);
    }
}

fn rabenseifner(team: &mut Team<'_, '_>) {
    let (n, bytes) = (team.n(), team.bytes());
    let fold = Fold::of(n);
    let at = |team: &Team<'_, '_>, new: u32| team.after_root(fold.keeper(new));
    for (giver, keeper) in fold.pairs() {
        let (giver, keeper) = (team.after_root(giver), team.after_root(keeper));
        team.passed(giver, keeper, bytes);
        team.reduce(keeper, bytes);
    }
    let block = |new: u32| part(bytes, fold.power, new);
    halve(team, fold.power, &at, &block);
    // Block v is at v now: up a tree of runs. The root is the first that keeps.
    let tree = Tree::in_order(fold.power);
    let sum = |v: u32| (v..v + Tree::run(v, fold.power)).map(block).sum::<u64>();
    for v in (0..fold.power).rev() {
        let i = at(team, v);
        for &c in &tree.children[v as usize] {
            team.recv(i, at(team, c), sum(c));
            team.wait(i);
        }
        if let Some(p) = tree.parent[v as usize] {
            team.send(i, at(team, p), sum(v));
            team.wait(i);
        }
    }
}
