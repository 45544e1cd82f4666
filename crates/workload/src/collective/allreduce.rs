//! Algorithms of Allreduce.

use super::call::{CollectiveWriter, part};
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
        write: |writer| ring_in_slices(writer, false),
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
        write: |writer| {
            writer.call.root = 0;
            reduce::binomial(writer);
            bcast::binomial(writer);
        },
    },
    Algorithm {
        name: "nccl-ring",
        doc: "ring for one slice of n segments after the other, both ways through; without waiting for a slice to end",
        source: "NCCL src/device/all_reduce.h, one channel",
        write: |writer| ring_in_slices(writer, true),
    },
    Algorithm {
        name: "double-binary-tree",
        doc: "half of the vector up and down one tree, half up and down its mirror image (an odd number of ranks: shifted by \
              one), all at once in segments: everybody has children in one of them only, but for rank 0 of an odd number",
        source: "Sanders, Speck, Traeff, Parallel Computing 35, 2009; NCCL 2.4",
        write: two_trees,
    },
];

fn recursive_doubling(writer: &mut CollectiveWriter<'_, '_>) {
    let bytes = writer.bytes();
    folded(writer, |writer, fold| {
        let mut bit = 1;
        while bit < fold.power {
            for v in 0..fold.power {
                let (i, other) = (fold.keeper(v), fold.keeper(v ^ bit));
                writer.send(i, other, bytes);
                writer.recv(i, other, bytes);
                writer.reduce(i, bytes);
            }
            bit *= 2;
        }
    });
}

fn rabenseifner(writer: &mut CollectiveWriter<'_, '_>) {
    let bytes = writer.bytes();
    folded(writer, |writer, fold| {
        let at = |_: &CollectiveWriter<'_, '_>, new: u32| fold.keeper(new);
        let block = |new: u32| part(bytes, fold.power, new);
        halve(writer, fold.power, &at, &block);
        double(writer, fold.power, &at, &block);
    });
}

/// A power of two does it, the others give before and get after.
fn folded(
    writer: &mut CollectiveWriter<'_, '_>,
    inner: impl FnOnce(&mut CollectiveWriter<'_, '_>, &Fold),
) {
    let (fold, bytes) = (Fold::of(writer.n()), writer.bytes());
    for (giver, keeper) in fold.pairs() {
        writer.passed(giver, keeper, bytes);
        writer.reduce(keeper, bytes);
    }
    inner(writer, &fold);
    for (giver, keeper) in fold.pairs() {
        writer.passed(keeper, giver, bytes);
    }
}

/// Slices of n segments; one slice if there are no segments.
fn slices(writer: &mut CollectiveWriter<'_, '_>) -> Vec<u64> {
    let (n, bytes) = (u64::from(writer.n()), writer.bytes());
    let slice = writer.call.segment.saturating_mul(n);
    let count = if slice == 0 { 1 } else { bytes.div_ceil(slice).max(1) };
    let count = if writer.has_room_for(count) { count } else { 1 };
    (0..count).map(|s| part(bytes, count as u32, s as u32)).collect()
}

fn ring_in_slices(writer: &mut CollectiveWriter<'_, '_>, cut: bool) {
    let n = writer.n();
    let slices = if cut { slices(writer) } else { vec![writer.bytes()] };
    for bytes in slices {
        ring::reduce_scatter(writer, move |i| part(bytes, n, i));
        ring::allgather(writer, move |i| part(bytes, n, i));
    }
}

fn segmented_ring(writer: &mut CollectiveWriter<'_, '_>) {
    let n = writer.n();
    let slices = slices(writer);
    for &bytes in &slices {
        ring::reduce_scatter(writer, move |i| part(bytes, n, i));
    }
    ring::allgather(writer, move |i| slices.iter().map(|&bytes| part(bytes, n, i)).sum());
}

fn two_trees(writer: &mut CollectiveWriter<'_, '_>) {
    let (n, bytes) = (writer.n(), writer.bytes());
    if n < 2 {
        return;
    }
    let tree = Tree::half_of_two(n);
    let plain: Vec<u32> = (0..n).collect();
    // With an odd number the mirror image leaves the same ranks with children; shifted, only the first has them in both, as with NCCL.
    let other = |v: u32| if n.is_multiple_of(2) { n - 1 - v } else { (v + 1) % n };
    let mirror: Vec<u32> = (0..n).map(other).collect();
    let call = writer.call;
    writer.script.fork(
        call.comm,
        |script| {
            up_and_down(&mut CollectiveWriter { script, call }, &tree, &plain, bytes.div_ceil(2));
        },
        |script| up_and_down(&mut CollectiveWriter { script, call }, &tree, &mirror, bytes / 2),
    );
}

/// Segments go down as soon as the root has them, while others come up.
fn up_and_down(writer: &mut CollectiveWriter<'_, '_>, tree: &Tree, among: &[u32], bytes: u64) {
    let call = writer.call;
    let below: Vec<u32> = tree.children[0].iter().map(|&c| among[c as usize]).collect();
    // The root sends within the upward phase; in the downward phase it has nothing left to do.
    let mut down = Tree { parent: tree.parent.clone(), children: tree.children.clone() };
    down.children[0].clear();
    writer.script.fork(
        call.comm,
        |script| {
            let mut writer = CollectiveWriter { script, call };
            reduce::up_among(&mut writer, tree, among, bytes, |writer, root, bytes| {
                for &c in &below {
                    writer.send(root, c, bytes);
                }
            });
        },
        |script| bcast::down_among(&mut CollectiveWriter { script, call }, &down, among, bytes),
    );
}
