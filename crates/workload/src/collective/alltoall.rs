//! Algorithms of Alltoall and Alltoallv.

use darkfiber_fabric::Digest;

use super::Algorithm;
use super::call::CollectiveWriter;
use crate::schedule::Exchange;

pub(super) static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "bruck",
        doc: "round k: all blocks whose way has bit k, to the one 2^k further on; ceil(log2 n) rounds",
        source: "Bruck et al., IEEE TPDS 8(11), 1997",
        write: bruck,
    },
    Algorithm {
        name: "pairwise",
        doc: "step s of n - 1: to the one s further on, from the one s back",
        source: "Open MPI coll_base_alltoall.c; MPICH for no power of two",
        write: |writer| pairwise(writer, |i, step, n| ((i + step) % n, (i + n - step) % n)),
    },
    Algorithm {
        name: "pairwise-xor",
        doc: "step s of n - 1: partners i and i xor s exchange; pairwise if n is no power of two",
        source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.2",
        write: |writer| {
            pairwise(writer, |i, step, n| {
                if n.is_power_of_two() {
                    (i ^ step, i ^ step)
                } else {
                    ((i + step) % n, (i + n - step) % n)
                }
            });
        },
    },
    Algorithm {
        name: "linear",
        doc: "all messages at once, to those further on first",
        source: "Open MPI coll_base_alltoall.c",
        write: |writer| windows(writer, u32::MAX),
    },
    Algorithm {
        name: "linear-sync",
        doc: "linear, but 32 messages each way must be done before the next 32",
        source: "MPICH alltoall_intra_scattered.c, throttle of 32",
        write: |writer| windows(writer, 32),
    },
];

fn bruck(writer: &mut CollectiveWriter<'_, '_>) {
    let n = writer.n();
    let mut bit = 1;
    while bit < n {
        // Before the round of this bit, i holds blocks that have been moved by their lower bits.
        let out = |writer: &CollectiveWriter<'_, '_>, i: u32| -> u64 {
            (1..n)
                .filter(|distance| distance & bit != 0)
                .map(|distance| {
                    let origin = (i + n - (distance & (bit - 1))) % n;
                    writer.pair(origin, (origin + distance) % n)
                })
                .sum()
        };
        for i in 0..n {
            let (to, from) = ((i + bit) % n, (i + n - bit) % n);
            let (sent, come) = (out(writer, i), out(writer, from));
            writer.send(i, to, sent);
            writer.recv(i, from, come);
        }
        writer.wait_all();
        bit *= 2;
    }
}

fn pairwise(writer: &mut CollectiveWriter<'_, '_>, with: fn(u32, u32, u32) -> (u32, u32)) {
    let (n, bytes) = (writer.n(), writer.bytes());
    let sizes: Option<Vec<u64>> = writer.call.sizes.map(<[u64]>::to_vec);
    let mut digest = Digest::default();
    sizes.iter().flatten().for_each(|&size| digest.add(size));
    let to_others = |all: &[u64]| -> u128 {
        let other = |(at, _): &(usize, &u64)| at / n as usize != at % n as usize;
        all.iter().enumerate().filter(other).map(|(_, &size)| u128::from(size)).sum()
    };
    let same = u128::from(n) * u128::from(n - 1) * u128::from(bytes);
    let total = sizes.as_deref().map_or(same, to_others);
    let pair = move |from: u32, to: u32| match &sizes {
        Some(sizes) => sizes[from as usize * n as usize + to as usize],
        None => bytes,
    };
    writer.rounds(n - 1, digest.value(), None, Some(total), move |round, i| {
        let (to, from) = with(i, round + 1, n);
        (Exchange { to, bytes: pair(i, to), from, expected: pair(from, i), compute: 0 }, 0)
    });
}

fn windows(writer: &mut CollectiveWriter<'_, '_>, window: u32) {
    let n = writer.n();
    for i in 0..n {
        for by in 1..n {
            let (to, from) = ((i + by) % n, (i + n - by) % n);
            writer.recv(i, from, writer.pair(from, i));
            writer.send(i, to, writer.pair(i, to));
            if by.is_multiple_of(window) {
                writer.wait(i);
            }
        }
        writer.wait(i);
    }
}
