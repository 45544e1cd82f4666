//! Algorithms of Bcast.

use super::call::CollectiveWriter;
use super::tree::Tree;
use super::{Algorithm, allgather, scatter};
use crate::schedule::Op;

pub(super) static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "linear",
        doc: "the root sends to all at once",
        source: "Open MPI coll_base_bcast.c",
        write: |writer| down(writer, &Tree::star(writer.n())),
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
        write: |writer| down(writer, &Tree::chains(writer.n(), 4)),
    },
    Algorithm {
        name: "pipeline",
        doc: "segments down one chain",
        source: "Open MPI coll_base_bcast.c",
        write: |writer| down(writer, &Tree::chains(writer.n(), 1)),
    },
    Algorithm {
        name: "binary",
        doc: "segments down a binary tree",
        source: "Open MPI coll_base_bcast.c",
        write: |writer| down(writer, &Tree::binary(writer.n())),
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
        write: |writer| {
            if writer.n().is_power_of_two() {
                scatter_then(writer, allgather::doubling);
            } else {
                scatter_then(writer, allgather::ring);
            }
        },
    },
    Algorithm {
        name: "scatter-ring",
        doc: "binomial Scatter, then ring Allgather",
        source: "van de Geijn; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.3",
        write: |writer| scatter_then(writer, allgather::ring),
    },
];

/// Down a binomial tree.
pub(super) fn binomial(writer: &mut CollectiveWriter<'_, '_>) {
    down(writer, &Tree::binomial(writer.n()));
}

/// Down a tree in segments: while one segment is sent on, the next one comes.
fn down(writer: &mut CollectiveWriter<'_, '_>, tree: &Tree) {
    let among: Vec<u32> = (0..writer.n()).map(|v| writer.after_root(v)).collect();
    let call = writer.call;
    let rank = |v: u32| call.comm[among[v as usize] as usize];
    let is_kept = writer.pass_on(
        writer.cut(writer.bytes()),
        among.len() - 1,
        |builder, bytes| {
            for v in 0..among.len() as u32 {
                let children = tree.children[v as usize].iter();
                let recv = |p| Op::Recv { from: rank(p), bytes, tag: call.tag };
                let send = |&c| Op::Send { to: rank(c), bytes, tag: call.tag };
                for op in tree.parent[v as usize].map(recv).into_iter().chain(children.map(send)) {
                    builder.add(rank(v), op, 0);
                }
            }
        },
        // The root has a segment before it begins.
        |of, op| of != rank(0) && matches!(op, Op::Send { .. }),
    );
    if !is_kept {
        down_among(writer, tree, &among, writer.bytes());
    }
}

/// Sends down a tree whose number v is index `among[v]`.
pub(super) fn down_among(
    writer: &mut CollectiveWriter<'_, '_>,
    tree: &Tree,
    among: &[u32],
    bytes: u64,
) {
    let segments = writer.segments(bytes);
    for (v, &i) in among.iter().enumerate() {
        let parent = tree.parent[v].map(|p| among[p as usize]);
        for s in 0..=segments.len() {
            if let (Some(parent), Some(&next)) = (parent, segments.get(s)) {
                writer.recv(i, parent, next);
            }
            // The root has the first segment before it begins.
            let has = if parent.is_some() { s.checked_sub(1) } else { Some(s) };
            if let Some(&bytes) = has.and_then(|s| segments.get(s)) {
                for &c in &tree.children[v] {
                    writer.send(i, among[c as usize], bytes);
                }
            }
            writer.wait(i);
        }
    }
}

fn split_binary(writer: &mut CollectiveWriter<'_, '_>) {
    let (n, bytes) = (writer.n(), writer.bytes());
    if n < 3 || bytes < 2 {
        return down(writer, &Tree::binary(n));
    }
    let half = [bytes.div_ceil(2), bytes / 2];
    let root = writer.after_root(0);
    // Odd ones are below the root on the left, even ones on the right; the root sends to both sides at once.
    let side = |first: usize| -> Vec<u32> {
        (0..n).skip(first).step_by(2).map(|v| (v + root) % n).collect()
    };
    let mut sides = [vec![root], vec![root]];
    for (all, first) in sides.iter_mut().zip([1, 2]) {
        all.extend(side(first));
    }
    let trees = sides.each_ref().map(|s| below_one(s.len() as u32));
    let call = writer.call;
    writer.script.fork(
        call.comm,
        |script| down_among(&mut CollectiveWriter { script, call }, &trees[0], &sides[0], half[0]),
        |script| down_among(&mut CollectiveWriter { script, call }, &trees[1], &sides[1], half[1]),
    );
    for v in (1..n).step_by(2) {
        let (left, right) = (writer.after_root(v), writer.after_root((v + 1) % n));
        if v + 1 == n {
            writer.message(root, left, half[1]);
        } else {
            writer.message(left, right, half[0]);
            writer.message(right, left, half[1]);
        }
    }
    writer.wait_all();
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
fn scatter_then(writer: &mut CollectiveWriter<'_, '_>, gather: fn(&mut CollectiveWriter<'_, '_>)) {
    let n = writer.n();
    let each = writer.bytes().div_ceil(u64::from(n));
    let mut left = writer.bytes();
    let mut sizes = vec![0; n as usize];
    for v in 0..n {
        sizes[v as usize] = each.min(left);
        left -= each.min(left);
    }
    // Blocks go by the distance from the root: so does the communicator.
    let comm: Vec<u32> = (0..n).map(|v| writer.rank(writer.after_root(v))).collect();
    let call = super::Call { comm: &comm, root: 0, sizes: Some(&sizes), ..writer.call };
    let mut inner = CollectiveWriter { script: writer.script, call };
    scatter::binomial(&mut inner);
    gather(&mut inner);
}
