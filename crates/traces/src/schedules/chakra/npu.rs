//! The nodes of one NPU as a part of a graph.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use darkfiber_workload::schedule::{MAX_STREAMS, Op};
use darkfiber_workload::trace::{ANY, Collective, CollectiveKind, OpGraph, OpNode, OpWhat};

use super::expected::not_such;
use super::groups::Groups;
use super::json;
use super::node::{Node, RECV, SEND};
use super::protobuf;
use crate::schedules::values::MOST_BYTES;
use darkfiber_formats::ReadError;

/// A file that is being turned into a part of a graph.
pub(super) struct Npu<'a> {
    pub(super) path: &'a Path,
    pub(super) rank: u32,
    /// Total number of ranks.
    pub(super) ranks: u32,
}

impl Npu<'_> {
    pub(super) fn fail(&self, what: impl std::fmt::Display, hint: &str) -> ReadError {
        not_such(self.path, what, hint)
    }

    /// The nodes of its file.
    ///
    /// # Errors
    /// If it is truncated or damaged.
    pub(super) fn nodes(&self, bytes: &[u8]) -> Result<Vec<Node>, ReadError> {
        if bytes.trim_ascii_start().starts_with(b"{") && !protobuf::is_first(bytes) {
            return json::nodes(bytes).map_err(|why| self.fail(why, "is the file cut off?"));
        }
        protobuf::nodes(bytes).map_err(|at| {
            self.fail(
                format!("byte {at}: the message there is not whole"),
                "is the file cut off or damaged?",
            )
        })
    }

    /// The other end, bytes and tag of a message; `side` names the attribute with its other end.
    fn message(&self, node: &Node, side: &str) -> Result<(u32, u64, u32), ReadError> {
        let get = |name: &str| node.numbers.get(name).copied();
        let missing = |name: &str| {
            self.fail(format!("node {} has no `{name}`", node.id), "is it of an older schema?")
        };
        let found = get(side).ok_or_else(|| missing(side))?;
        let ranks = self.ranks;
        let peer = u32::try_from(found).ok().filter(|&p| p < ranks).ok_or_else(|| {
            let what =
                format!("node {} names NPU {found}, but there are files of {ranks}", node.id);
            self.fail(what, "give the files of all NPUs")
        })?;
        let tag = u32::try_from(get("comm_tag").unwrap_or(0)).ok().filter(|&t| t != ANY);
        let tag = tag.ok_or_else(|| {
            self.fail(format!("node {} has a tag that does not fit", node.id), "")
        })?;
        Ok((peer, self.size(node)?, tag))
    }

    fn size(&self, node: &Node) -> Result<u64, ReadError> {
        let found = node.numbers.get("comm_size").copied().and_then(|n| u64::try_from(n).ok());
        if let Some(bytes) = found.filter(|&bytes| bytes > MOST_BYTES) {
            let what = format!("node {} has {bytes} bytes, more than a TiB", node.id);
            return Err(self.fail(what, "is the file damaged?"));
        }
        found.ok_or_else(|| {
            self.fail(format!("node {} has no `comm_size` that is not below zero", node.id), "")
        })
    }

    fn picoseconds(&self, node: &Node) -> Result<u64, ReadError> {
        let long = || {
            self.fail(format!("node {} takes {} us", node.id, node.micros), "is the file damaged?")
        };
        node.micros.checked_mul(1_000_000).ok_or_else(long)
    }

    /// A node that is no collective.
    fn op(&self, node: &Node) -> Result<Op, ReadError> {
        Ok(match node.kind {
            SEND if node.communicates() => {
                let (to, bytes, tag) = self.message(node, "comm_dst")?;
                Op::Send { to, bytes, tag }
            }
            RECV if node.communicates() => {
                let (from, bytes, tag) = self.message(node, "comm_src")?;
                Op::Recv { from, bytes, tag }
            }
            _ => Op::Compute { picoseconds: self.picoseconds(node)? },
        })
    }

    /// Places of nodes by their ids.
    fn places(&self, nodes: &[Node]) -> Result<HashMap<u64, usize>, ReadError> {
        let mut places = HashMap::with_capacity(nodes.len());
        for (i, node) in nodes.iter().enumerate() {
            if places.insert(node.id, i).is_some() {
                return Err(
                    self.fail(format!("there are two nodes {}", node.id), "is the file damaged?")
                );
            }
        }
        Ok(places)
    }

    fn nowhere(&self, node: &Node, before: u64) -> ReadError {
        self.fail(
            format!("node {} depends on node {before}, which is not there", node.id),
            "is the file cut off?",
        )
    }

    /// Adds the nodes to a graph, the lower number first where the order is free.
    ///
    /// # Errors
    /// If nodes refer to nodes that do not exist, or wait for each other.
    pub(super) fn graph(
        &self,
        nodes: &[Node],
        groups: &Groups,
        graph: &mut OpGraph,
    ) -> Result<(), ReadError> {
        let place = self.places(nodes)?;
        let mut left = vec![0; nodes.len()];
        let mut after = vec![Vec::new(); nodes.len()];
        for (i, node) in nodes.iter().enumerate() {
            for before in &node.before {
                let &b = place.get(before).ok_or_else(|| self.nowhere(node, *before))?;
                after[b].push(i);
                left[i] += 1;
            }
        }
        let streams: BTreeSet<_> =
            nodes.iter().filter(|node| !node.communicates()).map(Node::stream).collect();
        let streams: BTreeMap<_, u8> =
            streams.into_iter().zip((0..MAX_STREAMS - 1).cycle()).collect();
        let mut ready: BTreeSet<(u64, usize)> =
            (0..nodes.len()).filter(|&i| left[i] == 0).map(|i| (nodes[i].id, i)).collect();
        let mut numbers = vec![u32::MAX; nodes.len()];
        let mut done = 0;
        while let Some((_, i)) = ready.pop_first() {
            done += 1;
            for &next in &after[i] {
                left[next] -= 1;
                if left[next] == 0 {
                    ready.insert((nodes[next].id, next));
                }
            }
            let node = &nodes[i];
            let what = if node.is_collective() {
                OpWhat::Collective(self.collective(node, groups)?)
            } else {
                OpWhat::Alone(self.op(node)?)
            };
            numbers[i] = graph.nodes.len() as u32;
            let before = node.before.iter().map(|id| numbers[place[id]]).collect();
            let stream = streams.get(&node.stream()).copied().unwrap_or(0);
            graph.nodes.push(OpNode { rank: self.rank, what, before, stream });
        }
        if done < nodes.len() {
            let what = format!("{} nodes wait for each other in a cycle", nodes.len() - done);
            return Err(self.fail(what, "is the file damaged?"));
        }
        Ok(())
    }

    fn collective(&self, node: &Node, groups: &Groups) -> Result<Collective, ReadError> {
        use CollectiveKind as K;
        let communicator = groups.number(node);
        let members = &groups.members[communicator as usize];
        if !members.contains(&self.rank) {
            let what = format!(
                "node {} is in process group `{}`, which NPU {} is no member of",
                node.id,
                if node.group.is_empty() { "0" } else { &node.group },
                self.rank
            );
            return Err(self.fail(what, "is the file of the groups of this run?"));
        }
        let n = members.len() as u64;
        let Some(number) = node.numbers.get("comm_type").copied() else {
            let what = format!("node {} is a collective, and has no `comm_type`", node.id);
            return Err(self.fail(what, "is it of an older schema?"));
        };
        let kind = match number {
            0 => K::Allreduce,
            1 => K::Reduce,
            2 => K::Allgather,
            3 => K::Gather,
            4 => K::Scatter,
            5 => K::Broadcast,
            6 => K::Alltoall,
            7 | 8 => K::ReduceScatter,
            9 => K::Barrier,
            _ => {
                return Err(self.fail(
                    format!("node {} is a collective of the unknown type {number}", node.id),
                    "",
                ));
            }
        };
        let bytes = match kind {
            K::Barrier => 0,
            K::Alltoall | K::ReduceScatter | K::Scatter => self.size(node)?.div_ceil(n),
            _ => self.size(node)?,
        };
        let root = node.numbers.get("root_rank").or(node.numbers.get("root")).copied().unwrap_or(0);
        let root = if kind.rooted() { root } else { 0 };
        // Roots are NPUs, not places in the group.
        let place = members.iter().position(|&rank| i64::from(rank) == root);
        let root = place.filter(|_| kind.rooted()).or((!kind.rooted()).then_some(0));
        let root = root.ok_or_else(|| {
            self.fail(
                format!("node {} has a root that is not in its group", node.id),
                "give the files of all NPUs",
            )
        })? as u32;
        Ok(Collective { kind, communicator, root, bytes, sizes: Vec::new() })
    }
}
