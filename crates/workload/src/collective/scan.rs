//! Algorithms of Scan.

use super::Algorithm;
use super::call::CollectiveWriter;

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

fn linear(writer: &mut CollectiveWriter<'_, '_>) {
    let bytes = writer.bytes();
    for i in 1..writer.n() {
        writer.passed(i - 1, i, bytes);
        writer.reduce(i, bytes);
    }
}

fn doubling(writer: &mut CollectiveWriter<'_, '_>) {
    let (n, bytes) = (writer.n(), writer.bytes());
    let mut bit = 1;
    while bit < n {
        for i in (0..n).filter(|&i| i ^ bit < n) {
            writer.send(i, i ^ bit, bytes);
            writer.recv(i, i ^ bit, bytes);
            writer.reduce(i, bytes);
        }
        bit *= 2;
    }
}
