//! Algorithms of Barrier.

use super::call::{CollectiveWriter, power_below};
use super::tree::Tree;
use super::{Algorithm, ring};

pub(super) static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "dissemination",
        doc: "round k: to the one 2^k further on, from the one 2^k back; ceil(log2 n) rounds (called bruck in Open MPI)",
        source: "Hensgen, Finkel, Manber, \"Two algorithms for barrier synchronization\", 1988",
        write: dissemination,
    },
    Algorithm {
        name: "recursive-doubling",
        doc: "round k: partners differ in bit k; ranks beyond the power of two report before and are notified after",
        source: "Open MPI coll_base_barrier.c",
        write: recursive_doubling,
    },
    Algorithm {
        name: "double-ring",
        doc: "a token travels around the ring twice",
        source: "Open MPI coll_base_barrier.c",
        write: ring::twice,
    },
    Algorithm {
        name: "linear",
        doc: "all report to the first, which answers all",
        source: "Open MPI coll_base_barrier.c",
        write: linear,
    },
    Algorithm {
        name: "tree",
        doc: "up a binomial tree and down again",
        source: "Open MPI coll_base_barrier.c",
        write: tree,
    },
];

fn dissemination(writer: &mut CollectiveWriter<'_, '_>) {
    let n = writer.n();
    let mut by = 1;
    while by < n {
        for i in 0..n {
            writer.send(i, (i + by) % n, 0);
            writer.recv(i, (i + n - by) % n, 0);
        }
        writer.wait_all();
        by *= 2;
    }
}

fn recursive_doubling(writer: &mut CollectiveWriter<'_, '_>) {
    let n = writer.n();
    let (power, over) = power_below(n);
    for i in 0..over {
        writer.passed(i + power, i, 0);
    }
    let mut bit = 1;
    while bit < power {
        for i in 0..power {
            writer.send(i, i ^ bit, 0);
            writer.recv(i, i ^ bit, 0);
            writer.wait(i);
        }
        bit *= 2;
    }
    for i in 0..over {
        writer.passed(i, i + power, 0);
    }
}

fn linear(writer: &mut CollectiveWriter<'_, '_>) {
    let n = writer.n();
    for i in 1..n {
        writer.message(i, 0, 0);
        writer.wait(i);
    }
    writer.wait(0);
    for i in 1..n {
        writer.message(0, i, 0);
    }
    writer.wait_all();
}

fn tree(writer: &mut CollectiveWriter<'_, '_>) {
    let tree = Tree::in_order(writer.n());
    // Children have higher numbers than parents.
    for v in (1..writer.n()).rev() {
        if let Some(p) = tree.parent[v as usize] {
            writer.wait(v);
            writer.message(v, p, 0);
            writer.wait(v);
        }
    }
    for v in 0..writer.n() {
        writer.wait(v);
        for &c in tree.children[v as usize].iter().rev() {
            writer.message(v, c, 0);
        }
    }
    writer.wait_all();
}
