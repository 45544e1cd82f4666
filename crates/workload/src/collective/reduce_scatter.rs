//! Algorithms of Reduce_scatter.

use super::Algorithm;
use super::call::CollectiveWriter;
use super::halving::{Fold, halve};
use crate::schedule::Exchange;

pub(super) static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "recursive-halving",
        doc: "log2 n rounds with half as much each; those beyond the power of two hand their vectors to a neighbour, \
              which sends them their block at the end",
        source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.4",
        write: halving,
    },
    Algorithm {
        name: "ring",
        doc: "n - 1 steps: partial sums of one block to the next one",
        source: "Open MPI coll_base_reduce_scatter.c",
        write: |writer| {
            let sizes: Vec<u64> = (0..writer.n()).map(|i| writer.of(i)).collect();
            super::ring::reduce_scatter(writer, move |i| sizes[i as usize]);
        },
    },
    Algorithm {
        name: "pairwise",
        doc: "step s of n - 1: its block to the one s further on, from the one s back the own one",
        source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.4",
        write: pairwise,
    },
];

fn halving(writer: &mut CollectiveWriter<'_, '_>) {
    let (fold, total) = (Fold::of(writer.n()), writer.total());
    for (giver, keeper) in fold.pairs() {
        writer.passed(giver, keeper, total);
        writer.reduce(keeper, total);
    }
    let blocks: Vec<u64> =
        (0..fold.power).map(|new| fold.stands_for(new).map(|i| writer.of(i)).sum()).collect();
    halve(writer, fold.power, &|_, new| fold.keeper(new), &|new| blocks[new as usize]);
    for (giver, keeper) in fold.pairs() {
        writer.passed(keeper, giver, writer.of(giver));
    }
}

fn pairwise(writer: &mut CollectiveWriter<'_, '_>) {
    let n = writer.n();
    let sizes: Vec<u64> = (0..n).map(|i| writer.of(i)).collect();
    writer.rounds(n - 1, 0, None, None, move |round, i| {
        let (to, from) = ((i + round + 1) % n, (i + n - round - 1) % n);
        let (bytes, expected) = (sizes[to as usize], sizes[i as usize]);
        (Exchange { to, bytes, from, expected, compute: 0 }, expected)
    });
}
