//! Algorithms of Allgather and Allgatherv.

use super::Algorithm;
use super::call::CollectiveWriter;
use super::halving::double;

pub(super) static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "recursive-doubling",
        doc: "round k: partners at distance 2^k exchange all they have; bruck if n is no power of two",
        source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.1",
        write: doubling,
    },
    Algorithm {
        name: "bruck",
        doc: "round k: all that is there, at most 2^k blocks, to the one 2^k back; ceil(log2 n) rounds",
        source: "Bruck et al., IEEE TPDS 8(11), 1997",
        write: bruck,
    },
    Algorithm {
        name: "ring",
        doc: "n - 1 steps: each block goes to the next one",
        source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.1",
        write: ring,
    },
    Algorithm {
        name: "neighbor-exchange",
        doc: "n / 2 steps: neighbours to the right and to the left in turn exchange the two blocks that came last; ring \
              if n is odd",
        source: "Chen, Zhang, Yuan, \"Performance evaluation of Allgather algorithms on terascale Linux cluster with \
                 Fast Ethernet\", HPCAsia 2005",
        write: neighbours,
    },
    Algorithm {
        name: "linear",
        doc: "everybody sends to everybody at once",
        source: "LAM/MPI; Open MPI's own linear one is Gather and Bcast",
        write: linear,
    },
];

/// Partners exchange all they have.
pub(super) fn doubling(writer: &mut CollectiveWriter<'_, '_>) {
    if !writer.n().is_power_of_two() {
        return bruck(writer);
    }
    let sizes: Vec<u64> = (0..writer.n()).map(|i| writer.of(i)).collect();
    double(writer, writer.n(), &|_, v| v, &|v| sizes[v as usize]);
}

/// Each block travels around the ring.
pub(super) fn ring(writer: &mut CollectiveWriter<'_, '_>) {
    let sizes: Vec<u64> = (0..writer.n()).map(|i| writer.of(i)).collect();
    super::ring::allgather(writer, move |i| sizes[i as usize]);
}

fn bruck(writer: &mut CollectiveWriter<'_, '_>) {
    let n = writer.n();
    let mut have = 1;
    while have < n {
        let count = have.min(n - have);
        // i has the blocks from i on.
        let run = |writer: &CollectiveWriter<'_, '_>, i: u32| -> u64 {
            (0..count).map(|k| writer.of((i + k) % n)).sum()
        };
        for i in 0..n {
            let (to, from) = ((i + n - have) % n, (i + have) % n);
            let (out, come) = (run(writer, i), run(writer, from));
            writer.send(i, to, out);
            writer.recv(i, from, come);
        }
        writer.wait_all();
        have *= 2;
    }
}

fn neighbours(writer: &mut CollectiveWriter<'_, '_>) {
    let n = writer.n();
    if !n.is_multiple_of(2) {
        return ring(writer);
    }
    // Blocks go in pairs 2 p and 2 p + 1; pair p is at both of its owners after the first step.
    let pair = |writer: &CollectiveWriter<'_, '_>, p: u32| writer.of(2 * p) + writer.of(2 * p + 1);
    for i in 0..n {
        let (out, come) = (writer.of(i), writer.of(i ^ 1));
        writer.send(i, i ^ 1, out);
        writer.recv(i, i ^ 1, come);
        writer.wait(i);
    }
    // The pair that came last to each.
    let mut last: Vec<u32> = (0..n).map(|i| i / 2).collect();
    for step in 1..n / 2 {
        let partner = |i: u32| {
            // Even ones use the left neighbour in odd steps, the right one in even steps.
            if i.is_multiple_of(2) == (step % 2 == 1) { (i + n - 1) % n } else { (i + 1) % n }
        };
        for i in 0..n {
            let other = partner(i);
            let (out, come) = (pair(writer, last[i as usize]), pair(writer, last[other as usize]));
            writer.send(i, other, out);
            writer.recv(i, other, come);
            writer.wait(i);
        }
        last = (0..n).map(|i| last[partner(i) as usize]).collect();
    }
}

fn linear(writer: &mut CollectiveWriter<'_, '_>) {
    let n = writer.n();
    for i in 0..n {
        for by in 1..n {
            writer.send(i, (i + by) % n, writer.of(i));
            writer.recv(i, (i + n - by) % n, writer.of((i + n - by) % n));
        }
    }
    writer.wait_all();
}
