//! Algorithms of Barrier.

use super::call::{Team, power_below};
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

fn dissemination(team: &mut Team<'_, '_>) {
    let n = team.n();
    let mut by = 1;
    while by < n {
        for i in 0..n {
            team.send(i, (i + by) % n, 0);
            team.recv(i, (i + n - by) % n, 0);
        }
        team.wait_all();
        by *= 2;
    }
}

fn recursive_doubling(team: &mut Team<'_, '_>) {
    let n = team.n();
    let (power, over) = power_below(n);
    for i in 0..over {
        team.passed(i + power, i, 0);
    }
    let mut bit = 1;
    while bit < power {
        for i in 0..power {
            team.send(i, i ^ bit, 0);
            team.recv(i, i ^ bit, 0);
            team.wait(i);
        }
        bit *= 2;
    }
    for i in 0..over {
        team.passed(i, i + power, 0);
    }
}

fn linear(team: &mut Team<'_, '_>) {
    let n = team.n();
    for i in 1..n {
        team.message(i, 0, 0);
        team.wait(i);
    }
    team.wait(0);
    for i in 1..n {
        team.message(0, i, 0);
    }
    team.wait_all();
}

fn tree(team: &mut Team<'_, '_>) {
    let tree = Tree::in_order(team.n());
    // Children have higher numbers than parents.
    for v in (1..team.n()).rev() {
        if let Some(p) = tree.parent[v as usize] {
            team.wait(v);
            team.message(v, p, 0);
            team.wait(v);
        }
    }
    for v in 0..team.n() {
        team.wait(v);
        for &c in tree.children[v as usize].iter().rev() {
            team.message(v, c, 0);
        }
    }
    team.wait_all();
}
