//! Algorithms of Scatter and Scatterv.

use super::Algorithm;
use super::call::CollectiveWriter;
use super::gather::below;
use super::tree::Tree;

pub(super) static ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "linear",
        doc: "the root sends to one after the other",
        source: "Open MPI coll_base_scatter.c",
        write: |writer| linear(writer, true),
    },
    Algorithm {
        name: "linear-nonblocking",
        doc: "the root sends to all at once",
        source: "MPICH scatterv.c; Open MPI coll_base_scatter.c since 4.0",
        write: |writer| linear(writer, false),
    },
    Algorithm {
        name: "binomial",
        doc: "down a binomial tree, each message all that is below, largest first",
        source: "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4",
        write: binomial,
    },
];

fn linear(writer: &mut CollectiveWriter<'_, '_>, one_by_one: bool) {
    let root = writer.after_root(0);
    for i in (0..writer.n()).filter(|&i| i != root) {
        writer.message(root, i, writer.of(i));
        writer.wait(i);
        if one_by_one {
            writer.wait(root);
        }
    }
    writer.wait(root);
}

/// Down a tree of runs, largest subtree first.
pub(super) fn binomial(writer: &mut CollectiveWriter<'_, '_>) {
    let n = writer.n();
    let tree = Tree::in_order(n);
    for v in 0..n {
        let i = writer.after_root(v);
        if let Some(p) = tree.parent[v as usize] {
            let bytes = below(writer, v);
            writer.recv(i, writer.after_root(p), bytes);
            writer.wait(i);
        }
        for &c in tree.children[v as usize].iter().rev() {
            let bytes = below(writer, c);
            writer.send(i, writer.after_root(c), bytes);
            writer.wait(i);
        }
    }
}
