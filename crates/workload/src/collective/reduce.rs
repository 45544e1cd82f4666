//! Algorithms of Reduce.

use super::Algorithm;
use super::call::{CollectiveWriter, part};
use super::halving::{Fold, halve};
use super::tree::Tree;
use crate::schedule::Op;

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
        write: |writer| up(writer, &Tree::chains(writer.n(), 4)),
    },
    Algorithm {
        name: "pipeline",
        doc: "segments up one chain",
        source: "Open MPI coll_base_reduce.c",
        write: |writer| up(writer, &Tree::chains(writer.n(), 1)),
    },
    Algorithm {
        name: "binary",
        doc: "segments up a binary tree",
        source: "Open MPI coll_base_reduce.c",
        write: |writer| up(writer, &Tree::binary(writer.n())),
    },
    Algorithm {
        name: "rabenseifner",
        doc: "Reduce_scatter by recursive halving, then binomial Gather; those beyond the power of two hand their \
              vectors to a neighbour first",
        source: "Rabenseifner, \"Optimization of collective reduction operations\", ICCS 2004",
        write: rabenseifner,
    },
];

fn linear(writer: &mut CollectiveWriter<'_, '_>) {
    let (root, bytes) = (writer.after_root(0), writer.bytes());
    for i in (0..writer.n()).rev().filter(|&i| i != root) {
        writer.message(i, root, bytes);
        writer.wait(i);
        writer.reduce(root, bytes);
    }
}

/// Up a binomial tree.
pub(super) fn binomial(writer: &mut CollectiveWriter<'_, '_>) {
    up(writer, &Tree::in_order(writer.n()));
}

/// Up a tree in segments.
fn up(writer: &mut CollectiveWriter<'_, '_>, tree: &Tree) {
    let among: Vec<u32> = (0..writer.n()).map(|v| writer.after_root(v)).collect();
    if !up_by_segments(writer, tree, &among) {
        up_among(writer, tree, &among, writer.bytes(), |_, _, _| {});
    }
}

/// The same by rounds, if these are kept, and nothing is computed: a reduction may last longer than a round, which would wait for it.
fn up_by_segments(writer: &mut CollectiveWriter<'_, '_>, tree: &Tree, among: &[u32]) -> bool {
    let call = writer.call;
    let rank = |v: u32| call.comm[among[v as usize] as usize];
    let leaves: Vec<bool> = {
        let mut leaves = vec![false; call.comm.len()];
        (0..).zip(&tree.children).for_each(|(v, c)| leaves[rank(v) as usize] = c.is_empty());
        leaves
    };
    call.reduce == 0
        && writer.pass_on(
            writer.cut(writer.bytes()),
            among.len() - 1,
            |builder, bytes| {
                for v in 0..among.len() as u32 {
                    let mut add = |op| builder.add(rank(v), op, 0);
                    let recv = |&c: &u32| Op::Recv { from: rank(c), bytes, tag: call.tag };
                    let send = |p| Op::Send { to: rank(p), bytes, tag: call.tag };
                    let mut children = tree.children[v as usize].iter().map(recv);
                    // While a segment goes up the next one comes from the first child, then from one after the other.
                    let mut before: Vec<u32> = children.next().map(&mut add).into_iter().collect();
                    before.extend(tree.parent[v as usize].map(send).map(&mut add));
                    for recv in children {
                        let recv = builder.add(rank(v), recv, 0);
                        before.drain(..).for_each(|before| builder.after(recv, before));
                        before.push(recv);
                    }
                }
            },
            |of, op| !leaves[of as usize] && matches!(op, Op::Send { .. }),
        )
}

/// Up a tree whose number v is index `among[v]`: children are received and reduced one after the other, the next one
/// or the next segment arriving meanwhile. `done` is called for each segment that the root has.
pub(super) fn up_among(
    writer: &mut CollectiveWriter<'_, '_>,
    tree: &Tree,
    among: &[u32],
    bytes: u64,
    mut done: impl FnMut(&mut CollectiveWriter<'_, '_>, u32, u64),
) {
    let segments = writer.segments(bytes);
    for (v, &i) in among.iter().enumerate() {
        let children = &tree.children[v];
        let parent = tree.parent[v].map(|p| among[p as usize]);
        let steps = segments.len() * children.len();
        let come = |step: usize| {
            (among[children[step % children.len()] as usize], segments[step / children.len()])
        };
        if steps > 0 {
            let (child, bytes) = come(0);
            writer.recv_aside(i, child, bytes);
        }
        for step in 0..steps {
            writer.settle(i);
            writer.wait(i);
            if step + 1 < steps {
                let (child, bytes) = come(step + 1);
                writer.recv_aside(i, child, bytes);
            }
            let bytes = come(step).1;
            writer.reduce(i, bytes);
            if (step + 1) % children.len() == 0 {
                match parent {
                    Some(parent) => writer.send(i, parent, bytes),
                    None => done(writer, i, bytes),
                }
            }
        }
        if let (Some(parent), 0) = (parent, steps) {
            for &bytes in &segments {
                writer.send(i, parent, bytes);
                writer.wait(i);
            }
        }
        writer.wait(i);
    }
}

fn rabenseifner(writer: &mut CollectiveWriter<'_, '_>) {
    let (n, bytes) = (writer.n(), writer.bytes());
    let fold = Fold::of(n);
    let at = |writer: &CollectiveWriter<'_, '_>, new: u32| writer.after_root(fold.keeper(new));
    for (giver, keeper) in fold.pairs() {
        let (giver, keeper) = (writer.after_root(giver), writer.after_root(keeper));
        writer.passed(giver, keeper, bytes);
        writer.reduce(keeper, bytes);
    }
    let block = |new: u32| part(bytes, fold.power, new);
    halve(writer, fold.power, &at, &block);
    // Block v is at v now: up a tree of runs. The root is the first that keeps.
    let tree = Tree::in_order(fold.power);
    let sum = |v: u32| (v..v + Tree::run(v, fold.power)).map(block).sum::<u64>();
    for v in (0..fold.power).rev() {
        let i = at(writer, v);
        for &c in &tree.children[v as usize] {
            writer.recv(i, at(writer, c), sum(c));
            writer.wait(i);
        }
        if let Some(p) = tree.parent[v as usize] {
            writer.send(i, at(writer, p), sum(v));
            writer.wait(i);
        }
    }
}
