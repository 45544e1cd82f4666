//! Algorithms of Bcast.

use super::call::Team;
use super::tree::Tree;
use super::{Algorithm, allgather, scatter};

pub(super) static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "linear",
        doc: "the root sends to all at once",
        source: "Open MPI coll_base_bcast.c",
        write: |team| down(team, &Tree::star(team.n())),
    },
    Algorithm {
        name: "binomial",
        doc: "round k doubles those who have it; in segments if wanted",
        source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.3",
        write: binomial,
    },
    Algorithm {
        name: "chain",
        doc: "segments down four chains at once",
        source: "Open MPI coll_base_bcast.c, fan-out 4 by default",
        write: |team| down(team, &Tree::chains(team.n(), 4)),
    },
    Algorithm {
        name: "pipeline",
        doc: "segments down one chain",
        source: "Open MPI coll_base_bcast.c",
        write: |team| down(team, &Tree::chains(team.n(), 1)),
    },
    Algorithm {
        name: "binary",
        doc: "segments down a binary tree",
        source: "Open MPI coll_base_bcast.c",
        write: |team| down(team, &Tree::binary(team.n())),
    },
    Algorithm {
        name: "split-binary",
        doc: "each half of the message in segments down a binary tree of its own; then neighbours, one of each tree, \
              change halves; without a neighbour the last one gets its second half from the root",
        source: "Open MPI coll_base_bcast.c, whose two trees are the subtrees of one and number ranks otherwise",
        write: split_binary,
    },
    Algorithm {
        name: "scatter-doubling",
        doc: "binomial Scatter, then Allgather by recursive doubling; scatter-ring if n is no power of two",
        source: "van de Geijn; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.3",
        write: |team| {
            if team.n().is_power_of_two() {
                scatter_then(team, allgather::doubling);
            } else {
                scatter_then(team, allgather::ring);
            }
        },
    },
    Algorithm {
        name: "scatter-ring",
        doc: "binomial Scatter, then ring Allgather",
        source: "van de Geijn; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.3",
        write: |team| scatter_then(team, allgather::ring),
    },
];

/// Down a binomial tree.
pub(super) fn binomial(team: &mut Team<'_, '_>) {
    down(team, &Tree::binomial(team.n()));
}

/// Down a tree in segments: while one segment is sent on, the next one comes.
fn down(team: &mut Team<'_, '_>, tree: &Tree) {
    let among: Vec<u32> = (0..team.n()).map(|v| team.after_root(v)).collect();
    down_among(team, tree, &among, team.bytes());
}

/// Sends down a tree whose number v is index `among[v]`.
pub(super) fn down_among(team: &mut Team<'_, '_>, tree: &Tree, among: &[u32], bytes: u64) {
    let segments = team.segments(bytes);
    for (v, &i) in among.iter().enumerate() {
        let parent = tree.parent[v].map(|p| among[p as usize]);
        for s in 0..=segments.len() {
            if let (Some(parent), Some(&next)) = (parent, segments.get(s)) {
                team.recv(i, parent, next);
            }
            // The root has the first segment before it begins.
            let has = if parent.is_some() { s.checked_sub(1) } else { Some(s) };
            if let Some(&bytes) = has.and_then(|s| segments.get(s)) {
                for &c in &tree.children[v] {
                    team.send(i, among[c as usize], bytes);
                }
            }
            team.wait(i);
        }
    }
}

fn split_binary(team: &mut Team<'_, '_>) {
    let (n, bytes) = (team.n(), team.bytes());
    if n < 3 || bytes < 2 {
        return down(team, &Tree::binary(n));
    }
    let half = [bytes.div_ceil(2), bytes / 2];
    let root = team.after_root(0);
    // Odd ones are below the root on the left, even ones on the right; the root sends to both sides at once.
    let side = |first: usize| -> Vec<u32> {
        (0..n).skip(first).step_by(2).map(|v| (v + root) % n).collect()
    };
    let mut sides = [vec![root], vec![root]];
    for (all, first) in sides.iter_mut().zip([1, 2]) {
        all.extend(side(first));
    }
    let trees = sides.each_ref().map(|s| below_one(s.len() as u32));
    let call = team.call;
    team.script.fork(
        call.comm,
        |script| down_among(&mut Team { script, call }, &trees[0], &sides[0], half[0]),
        |script| down_among(&mut Team { script, call }, &trees[1], &sides[1], half[1]),
    );
    for v in (1..n).step_by(2) {
        let (left, right) = (team.after_root(v), team.after_root((v + 1) % n));
        if v + 1 == n {
            team.message(root, left, half[1]);
        } else {
            team.message(left, right, half[0]);
            team.message(right, left, half[1]);
        }
    }
    team.wait_all();
}

/// 1 below 0, and a binary tree below 1.
fn below_one(n: u32) -> Tree {
    let inner = Tree::binary(n - 1);
    let up = |v: u32| v + 1;
    let mut tree = Tree { parent: vec![None], children: vec![vec![1]] };
    tree.parent.extend(inner.parent.iter().map(|p| Some(p.map_or(0, up))));
    tree.children.extend(inner.children.iter().map(|c| c.iter().copied().map(up).collect()));
    tree
}

/// Scatters equal blocks, the last ones short or empty, and gathers them everywhere.
fn scatter_then(team: &mut Team<'_, '_>, gather: fn(&mut Team<'_, '_>)) {
    let n = team.n();
    let each = team.bytes().div_ceil(u64::from(n));
    let mut left = team.bytes();
    let mut sizes = vec![0; n as usize];
    for v in 0..n {
        sizes[v as usize] = each.min(left);
        left -= each.min(left);
    }
    // Blocks go by the distance from the root: so does the communicator.
    let comm: Vec<u32> = (0..n).map(|v| team.rank(team.after_root(v))).collect();
    let call = super::Call { comm: &comm, root: 0, sizes: Some(&sizes), ..team.call };
    let mut inner = Team { script: team.script, call };
    scatter::binomial(&mut inner);
    gather(&mut inner);
}
