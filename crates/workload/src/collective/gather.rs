//! Algorithms of Gather and Gatherv.

use super::Algorithm;
use super::call::Team;
use super::tree::Tree;

pub(super) static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "linear",
        doc: "all send to the root, which receives one after the other",
        source: "Open MPI coll_base_gather.c",
        write: linear,
    },
    Algorithm {
        name: "linear-sync",
        doc: "the root asks one after the other for a first segment, and goes on when it is there; the rest of each \
              message follows meanwhile",
        source: "Open MPI coll_base_gather.c",
        write: linear_sync,
    },
    Algorithm {
        name: "binomial",
        doc: "up a binomial tree, each message all that is below",
        source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4",
        write: binomial,
    },
];

fn linear(team: &mut Team<'_, '_>) {
    let root = team.after_root(0);
    for i in (0..team.n()).filter(|&i| i != root) {
        team.passed(i, root, team.of(i));
    }
}

fn linear_sync(team: &mut Team<'_, '_>) {
    let root = team.after_root(0);
    let segment = if team.call.segment == 0 { u64::MAX } else { team.call.segment };
    for i in (0..team.n()).filter(|&i| i != root) {
        let bytes = team.of(i);
        let first = bytes.min(segment);
        team.recv(i, root, 0);
        team.wait(i);
        team.send(i, root, first);
        team.wait(i);
        team.recv(root, i, first);
        team.send(root, i, 0);
        if bytes > first {
            team.send(i, root, bytes - first);
            team.wait(i);
            team.recv_aside(root, i, bytes - first);
        }
        team.wait(root);
    }
    team.settle(root);
    team.wait(root);
}

/// Up a tree of runs, smallest subtree first.
pub(super) fn binomial(team: &mut Team<'_, '_>) {
    let n = team.n();
    let tree = Tree::in_order(n);
    for v in (0..n).rev() {
        let i = team.after_root(v);
        for &c in &tree.children[v as usize] {
            let bytes = below(team, c);
            team.recv(i, team.after_root(c), bytes);
            team.wait(i);
        }
        if let Some(p) = tree.parent[v as usize] {
            let bytes = below(team, v);
            team.send(i, team.after_root(p), bytes);
            team.wait(i);
        }
    }
}

/// Bytes of v and of all below it.
pub(super) fn below(team: &Team<'_, '_>, v: u32) -> u64 {
    (v..v + Tree::run(v, team.n())).map(|v| team.of(team.after_root(v))).sum()
}
