//! Algorithms of Allreduce.

use super::call::{Team, part};
use super::halving::{Fold, double, halve};
use super::tree::Tree;
use super::{Algorithm, bcast, reduce, ring};

pub(super) static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "recursive-doubling",
        doc: "round k: partners at distance 2^k exchange whole vectors; those beyond the power of two hand theirs to a \
              neighbour and get the result",
        source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.5",
        write: recursive_doubling,
    },
    Algorithm {
        name: "rabenseifner",
        doc: "Reduce_scatter by recursive halving, then Allgather by recursive doubling, folded as recursive-doubling",
        source: "Rabenseifner, \"Optimization of collective reduction operations\", ICCS 2004",
        write: rabenseifner,
    },
    Algorithm {
        name: "ring",
        doc: "2 (n - 1) steps of 1/n of the vector to the next one: Reduce_scatter, then Allgather",
        source: "Patarasuk, Yuan, \"Bandwidth optimal all-reduce algorithms\", JPDC 69, 2009; Open MPI; Baidu",
        write: |team| ring_in_slices(team, false),
    },
    Algorithm {
        name: "segmented-ring",
        doc: "ring whose Reduce_scatter is done for one slice of n segments after the other",
        source: "Open MPI coll_base_allreduce.c",
        write: segmented_ring,
    },
    Algorithm {
        name: "reduce-bcast",
        doc: "binomial Reduce to the first, then binomial Bcast (called nonoverlapping in Open MPI)",
        source: "Open MPI coll_base_allreduce.c",
        write: |team| {
            team.call.root = 0;
            reduce::binomial(team);
            bcast::binomial(team);
        },
    },
    Algorithm {
        name: "nccl-ring",
        doc: "ring for one slice of n segments after the other, both ways through; without waiting for a slice to end",
        source: "NCCL src/device/all_reduce.h, one channel",
        write: |team| ring_in_slices(team, true),
    },
    Algorithm {
        name: "double-binary-tree",
        doc: "half of the vector up and down one tree, half up and down its mirror image, all at once in segments, so \
              that everybody has children in one of them only",
        source: "Sanders, Speck, Traeff, Parallel Computing 35, 2009; NCCL 2.4",
        write: two_trees,
    },
];

fn recursive_doubling(team: &mut Team<'_, '_>) {
    let bytes = team.bytes();
    folded(team, |team, fold| {
        let mut bit = 1;
        while bit < fold.power {
            for v in 0..fold.power {
                let (i, other) = (fold.keeper(v), fold.keeper(v ^ bit));
                team.send(i, other, bytes);
                team.recv(i, other, bytes);
                team.reduce(i, bytes);
            }
            bit *= 2;
        }
    });
}

fn rabenseifner(team: &mut Team<'_, '_>) {
    let bytes = team.bytes();
    folded(team, |team, fold| {
        let at = |_: &Team<'_, '_>, new: u32| fold.keeper(new);
        let block = |new: u32| part(bytes, fold.power, new);
        halve(team, fold.power, &at, &block);
        double(team, fold.power, &at, &block);
    });
}

/// A power of two does it, the others give before and get after.
fn folded(team: &mut Team<'_, '_>, inner: impl FnOnce(&mut Team<'_, '_>, &Fold)) {
    let (fold, bytes) = (Fold::of(team.n()), team.bytes());
    for (giver, keeper) in fold.pairs() {
        team.passed(giver, keeper, bytes);
        team.reduce(keeper, bytes);
    }
    inner(team, &fold);
    for (giver, keeper) in fold.pairs() {
        team.passed(keeper, giver, bytes);
    }
}

/// Slices of n segments; one slice if there are no segments.
fn slices(team: &Team<'_, '_>) -> Vec<u64> {
    let (n, bytes) = (u64::from(team.n()), team.bytes());
    let slice = team.call.segment.saturating_mul(n);
    let count = if slice == 0 { 1 } else { bytes.div_ceil(slice).max(1) };
    (0..count).map(|s| part(bytes, count as u32, s as u32)).collect()
}

fn ring_in_slices(team: &mut Team<'_, '_>, cut: bool) {
    let n = team.n();
    let slices = if cut { slices(team) } else { vec![team.bytes()] };
    for bytes in slices {
        ring::reduce_scatter(team, move |i| part(bytes, n, i));
        ring::allgather(team, move |i| part(bytes, n, i));
    }
}

fn segmented_ring(team: &mut Team<'_, '_>) {
    let n = team.n();
    let slices = slices(team);
    for &bytes in &slices {
        ring::reduce_scatter(team, move |i| part(bytes, n, i));
    }
    ring::allgather(team, move |i| slices.iter().map(|&bytes| part(bytes, n, i)).sum());
}

fn two_trees(team: &mut Team<'_, '_>) {
    let (n, bytes) = (team.n(), team.bytes());
    if n < 2 {
        return;
    }
    let tree = Tree::half_of_two(n);
    let plain: Vec<u32> = (0..n).collect();
    // With an odd number the mirror image would leave one with children twice; shifting does not.
    let other = |v: u32| if n.is_multiple_of(2) { n - 1 - v } else { (v + 1) % n };
    let mirror: Vec<u32> = (0..n).map(other).collect();
    let call = team.call;
    team.script.fork(
        call.comm,
        |script| up_and_down(&mut Team { script, call }, &tree, &plain, bytes.div_ceil(2)),
        |script| up_and_down(&mut Team { script, call }, &tree, &mirror, bytes / 2),
    );
}

/// Segments go down as soon as the root has them, while others come up.
fn up_and_down(team: &mut Team<'_, '_>, tree: &Tree, among: &[u32], bytes: u64) {
    let call = team.call;
    let below: Vec<u32> = tree.children[0].iter().map(|&c| among[c as usize]).collect();
    // The root sends within the upward phase; in the downward phase it has nothing left to do.
    let mut down = Tree { parent: tree.parent.clone(), children: tree.children.clone() };
    down.children[0].clear();
    team.script.fork(
        call.comm,
        |script| {
            let mut team = Team { script, call };
            reduce::up_among(&mut team, tree, among, bytes, |team, root, bytes| {
                for &c in &below {
                    team.send(root, c, bytes);
                }
            });
        },
        |script| bcast::down_among(&mut Team { script, call }, &down, among, bytes),
    );
}
