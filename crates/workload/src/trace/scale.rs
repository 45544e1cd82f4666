//! Scaling a small graph to a larger one: copies of its ranks.

use super::{Collective, CollectiveKind, OpGraph, OpNode, OpWhat};
use crate::schedule::Op;

impl OpGraph {
    /// `copies` copies of its ranks, and the number of groups that grew. Each copy does the same as the original. Groups of the slowest
    /// dimension of the grid of ranks (every k-th of all, as those of data parallelism are, or all) are merged with those of the other
    /// copies; the total bytes of such a collective stay the same: members of an all-gather, all-to-all or reduce-scatter give or get
    /// less each.
    ///
    /// `None` without such a group: copies would have nothing to do with each other.
    ///
    /// # Panics
    /// If there are more than 2^32 ranks or nodes.
    pub fn scaled_out(&self, copies: u32) -> Option<(Self, usize)> {
        let ranks = self.ranks;
        let grows: Vec<bool> = self.groups.iter().map(|g| is_slowest(g, ranks)).collect();
        if !grows.contains(&true) {
            return None;
        }
        let nodes = self.nodes.len() as u32;
        let all = ranks.checked_mul(copies).zip(nodes.checked_mul(copies));
        let (all, _) = all.expect("as many as have numbers");
        // Groups that grow come once, others once a copy.
        let mut numbers = vec![Vec::new(); self.groups.len()];
        let mut groups = Vec::new();
        for (group, number) in self.groups.iter().zip(&mut numbers) {
            let of = |copy: u32| group.iter().map(move |rank| rank + copy * ranks);
            let first = groups.len() as u32;
            if is_slowest(group, ranks) {
                groups.push((0..copies).flat_map(of).collect());
                *number = vec![first; copies as usize];
            } else {
                groups.extend((0..copies).map(|copy| of(copy).collect::<Vec<u32>>()));
                *number = (first..first + copies).collect();
            }
        }
        let mut made = Self { ranks: all, groups, nodes: Vec::new() };
        for copy in 0..copies {
            made.nodes.extend(self.nodes.iter().map(|node| OpNode {
                rank: node.rank + copy * ranks,
                before: node.before.iter().map(|before| before + copy * nodes).collect(),
                stream: node.stream,
                what: match &node.what {
                    OpWhat::Alone(op) => OpWhat::Alone(moved(*op, copy * ranks)),
                    OpWhat::Collective(c) => {
                        let group = c.communicator as usize;
                        let communicator = numbers[group][copy as usize];
                        let parts = if grows[group] { copies } else { 1 };
                        OpWhat::Collective(Collective { communicator, ..divided(c, parts) })
                    }
                },
            }));
        }
        Some((made, grows.iter().filter(|grows| **grows).count()))
    }
}

/// Whether a group is every k-th rank of all, for some k.
fn is_slowest(members: &[u32], ranks: u32) -> bool {
    let Some(step) = ranks.checked_div(members.len() as u32) else { return false };
    let Some(&first) = members.first() else { return false };
    members.len() as u32 * step == ranks
        && first < step
        && members.iter().zip(0..).all(|(&m, i)| m == first + i * step)
}

/// The same operation of a copy.
fn moved(op: Op, by: u32) -> Op {
    match op {
        Op::Send { to, bytes, tag } => Op::Send { to: to + by, bytes, tag },
        Op::Recv { from, bytes, tag } => Op::Recv { from: from + by, bytes, tag },
        Op::Put { to, bytes } => Op::Put { to: to + by, bytes },
        compute @ Op::Compute { .. } => compute,
    }
}

/// A member's part of a collective among this many times as many.
fn divided(c: &Collective, parts: u32) -> Collective {
    use CollectiveKind as K;
    let is_of_parts =
        matches!(c.kind, K::Allgather | K::Gather | K::Scatter | K::Alltoall | K::ReduceScatter);
    let bytes = if is_of_parts { c.bytes.div_ceil(parts.into()) } else { c.bytes };
    let sizes: Vec<u64> = c.sizes.iter().map(|size| size.div_ceil(parts.into())).collect();
    Collective { bytes, sizes: sizes.repeat(parts as usize), ..c.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collective(rank: u32, kind: CollectiveKind, communicator: u32) -> OpNode {
        let what = OpWhat::Collective(Collective {
            kind,
            communicator,
            root: 0,
            bytes: 64,
            sizes: Vec::new(),
        });
        OpNode { rank, what, before: Vec::new(), stream: 0 }
    }

    /// Four ranks, tensor parallelism of two and data parallelism of two, three times.
    #[test]
    fn the_slowest_groups_grow() {
        let groups = vec![vec![0, 1], vec![2, 3], vec![0, 2], vec![1, 3]];
        let mut nodes = Vec::new();
        for rank in 0..4 {
            nodes.push(collective(rank, CollectiveKind::Allreduce, rank / 2));
            let own = nodes.len() as u32 - 1;
            let data = collective(rank, CollectiveKind::ReduceScatter, 2 + rank % 2);
            nodes.push(OpNode { before: vec![own], ..data });
        }
        let graph = OpGraph { ranks: 4, groups, nodes };
        let (large, grew) = graph.scaled_out(3).expect("data parallelism is there");
        assert_eq!(grew, 2);
        assert_eq!((large.ranks, large.nodes.len(), large.groups.len()), (12, 24, 8));
        let group = |node: &OpNode| match &node.what {
            OpWhat::Collective(c) => (large.groups[c.communicator as usize].clone(), c.bytes),
            OpWhat::Alone(_) => unreachable!(),
        };
        // Rank 9 is rank 1 of the third copy.
        let of: Vec<&OpNode> = large.nodes.iter().filter(|n| n.rank == 9).collect();
        assert_eq!(group(of[0]), (vec![8, 9], 64));
        assert_eq!(group(of[1]), (vec![1, 3, 5, 7, 9, 11], 22));
        assert_eq!(of[1].before, [18]);
        assert_eq!(graph.scaled_out(1), Some((graph, 2)));
    }

    #[test]
    fn without_such_groups_nothing_grows() {
        let groups = vec![vec![0, 1], vec![2, 3]];
        assert_eq!(OpGraph { ranks: 4, groups, nodes: Vec::new() }.scaled_out(2), None);
    }
}
