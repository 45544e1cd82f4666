//! Algorithms of Gather and Gatherv.

use super::Algorithm;
use super::call::CollectiveWriter;
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

fn linear(writer: &mut CollectiveWriter<'_, '_>) {
    let root = writer.after_root(0);
    for i in (0..writer.n()).filter(|&i| i != root) {
        writer.passed(i, root, writer.of(i));
    }
}

fn linear_sync(writer: &mut CollectiveWriter<'_, '_>) {
    let root = writer.after_root(0);
    let segment = if writer.call.segment == 0 { u64::MAX } else { writer.call.segment };
    for i in (0..writer.n()).filter(|&i| i != root) {
        let bytes = writer.of(i);
        let first = bytes.min(segment);
        writer.recv(i, root, 0);
        writer.wait(i);
        writer.send(i, root, first);
        writer.wait(i);
        writer.recv(root, i, first);
        writer.send(root, i, 0);
        if bytes > first {
            writer.send(i, root, bytes - first);
            writer.wait(i);
            writer.recv_aside(root, i, bytes - first);
        }
        writer.wait(root);
    }
    writer.settle(root);
    writer.wait(root);
}

/// Up a tree of runs, smallest subtree first.
pub(super) fn binomial(writer: &mut CollectiveWriter<'_, '_>) {
    let n = writer.n();
    let tree = Tree::in_order(n);
    for v in (0..n).rev() {
        let i = writer.after_root(v);
        for &c in &tree.children[v as usize] {
            let bytes = below(writer, c);
            writer.recv(i, writer.after_root(c), bytes);
            writer.wait(i);
        }
        if let Some(p) = tree.parent[v as usize] {
            let bytes = below(writer, v);
            writer.send(i, writer.after_root(p), bytes);
            writer.wait(i);
        }
    }
}

/// Bytes of v and of all below it.
pub(super) fn below(writer: &CollectiveWriter<'_, '_>, v: u32) -> u64 {
    (v..v + Tree::run(v, writer.n())).map(|v| writer.of(writer.after_root(v))).sum()
}
