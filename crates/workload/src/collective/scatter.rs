//! Algorithms of Scatter and Scatterv.

use super::Algorithm;
use super::call::Team;
use super::gather::below;
use super::tree::Tree;

pub(super) static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "linear",
        doc: "the root sends to one after the other",
        source: "Open MPI coll_base_scatter.c",
        write: |team| linear(team, true),
    },
    Algorithm {
        name: "linear-nonblocking",
        doc: "the root sends to all at once",
        source: "MPICH scatterv.c; Open MPI coll_base_scatter.c since 4.0",
        write: |team| linear(team, false),
    },
    Algorithm {
        name: "binomial",
        doc: "down a binomial tree, each message all that is below, largest first",
        source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4",
        write: binomial,
    },
];

fn linear(team: &mut Team<'_, '_>, one_by_one: bool) {
    let root = team.after_root(0);
    for i in (0..team.n()).filter(|&i| i != root) {
        team.message(root, i, team.of(i));
        team.wait(i);
        if one_by_one {
            team.wait(root);
        }
    }
    team.wait(root);
}

/// Down a tree of runs, largest subtree first.
pub(super) fn binomial(team: &mut Team<'_, '_>) {
    let n = team.n();
    let tree = Tree::in_order(n);
    for v in 0..n {
        let i = team.after_root(v);
        if let Some(p) = tree.parent[v as usize] {
            let bytes = below(team, v);
            team.recv(i, team.after_root(p), bytes);
            team.wait(i);
        }
        for &c in tree.children[v as usize].iter().rev() {
            let bytes = below(team, c);
            team.send(i, team.after_root(c), bytes);
            team.wait(i);
        }
    }
}
