//! Algorithms of Scan.

use super::Algorithm;
use super::call::Team;

pub(super) static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "linear",
        doc: "each rank adds what comes from the one before and sends on",
        source: "Open MPI coll_basic_scan.c",
        write: linear,
    },
    Algorithm {
        name: "recursive-doubling",
        doc: "round k: partners i and i xor 2^k exchange partial sums, where there is one",
        source: "MPICH scan_intra_recursive_doubling.c",
        write: doubling,
    },
];

fn linear(team: &mut Team<'_, '_>) {
    let bytes = team.bytes();
    for i in 1..team.n() {
        team.passed(i - 1, i, bytes);
        team.reduce(i, bytes);
    }
}

fn doubling(team: &mut Team<'_, '_>) {
    let (n, bytes) = (team.n(), team.bytes());
    let mut bit = 1;
    while bit < n {
        for i in (0..n).filter(|&i| i ^ bit < n) {
            team.send(i, i ^ bit, bytes);
            team.recv(i, i ^ bit, bytes);
            team.reduce(i, bytes);
        }
        bit *= 2;
    }
}
