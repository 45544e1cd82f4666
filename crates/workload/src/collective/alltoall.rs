//! Algorithms of Alltoall and Alltoallv.

use darkfiber_fabric::Digest;

use super::Algorithm;
use super::call::Team;
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
        write: |team| pairwise(team, |i, step, n| ((i + step) % n, (i + n - step) % n)),
    },
    Algorithm {
        name: "pairwise-xor",
        doc: "step s of n - 1: partners i and i xor s exchange; pairwise if n is no power of two",
        source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.2",
        write: |team| {
            pairwise(team, |i, step, n| {
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
        write: |team| windows(team, u32::MAX),
    },
    Algorithm {
        name: "linear-sync",
        doc: "linear, but 32 messages each way must be done before the next 32",
        source: "MPICH alltoall_intra_scattered.c, throttle of 32",
        write: |team| windows(team, 32),
    },
];

fn bruck(team: &mut Team<'_, '_>) {
    let n = team.n();
    let mut bit = 1;
    while bit < n {
        // Before the round of this bit, i holds blocks that have been moved by their lower bits.
        let out = |team: &Team<'_, '_>, i: u32| -> u64 {
            (1..n)
                .filter(|way| way & bit != 0)
                .map(|way| {
                    let origin = (i + n - (way & (bit - 1))) % n;
                    team.pair(origin, (origin + way) % n)
                })
                .sum()
        };
        for i in 0..n {
            let (to, from) = ((i + bit) % n, (i + n - bit) % n);
            let (sent, come) = (out(team, i), out(team, from));
            team.send(i, to, sent);
            team.recv(i, from, come);
        }
        team.wait_all();
        bit *= 2;
    }
}

fn pairwise(team: &mut Team<'_, '_>, with: fn(u32, u32, u32) -> (u32, u32)) {
    let (n, bytes) = (team.n(), team.bytes());
    let sizes: Option<Vec<u64>> = team.call.sizes.map(<[u64]>::to_vec);
    let mut told = Digest::default();
    sizes.iter().flatten().for_each(|&size| told.add(size));
    let pair = move |from: u32, to: u32| match &sizes {
        Some(sizes) => sizes[from as usize * n as usize + to as usize],
        None => bytes,
    };
    team.rounds(n - 1, told.value(), false, move |round, i| {
        let (to, from) = with(i, round + 1, n);
        (Exchange { to, bytes: pair(i, to), from, expected: pair(from, i), compute: 0 }, 0)
    });
}

fn windows(team: &mut Team<'_, '_>, window: u32) {
    let n = team.n();
    for i in 0..n {
        for by in 1..n {
            let (to, from) = ((i + by) % n, (i + n - by) % n);
            team.recv(i, from, team.pair(from, i));
            team.send(i, to, team.pair(i, to));
            if by.is_multiple_of(window) {
                team.wait(i);
            }
        }
        team.wait(i);
    }
}
