//! Execution traces of Chakra (MLCommons): graphs of the operations of each NPU.
//!
//! A file is of one NPU, whose number is that at the end of its name (`allreduce.3.et`). It holds messages of protocol
//! buffers, each with its length before it: one `GlobalMetadata`, then `Node`s (`et_def.proto` there is the schema); or the same as
//! JSON, in either of its two forms. Of a node are read its number, type, control and data dependencies, duration in microseconds,
//! and the attributes `comm_size` (bytes), `comm_src`, `comm_dst`, `comm_tag`, `comm_type`, `root_rank`, `pg_name`, `stream`, `tid`
//! and `is_cpu_op`.
//!
//! Computations, and other nodes than messages, take their duration, those of one stream of a GPU, or of one thread, one after the
//! other. What does not wait for each other goes on at once; collectives of a process group follow each other. Bytes of an
//! all-to-all and of a reduce-scatter are those that an NPU has before it, of an all-gather what it gives. Members of process groups
//! are in a file of their own beside the others (`{"1": [0, 2]}`); without one, those are members who name the group, and all
//! where it is `0` or has no name.

mod json;
mod node;
mod protobuf;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use darkfiber_workload::schedule::{Builder, MAX_STREAMS, Op};
use darkfiber_workload::trace::{ANY, Collective, CollectiveKind, OpGraph, OpNode, OpWhat};

use super::run::{File, Read, ReadBy, ScheduleFormat};
use super::values::{faulty, number};
use crate::{Diagnostics, ReadError};
use node::{COLLECTIVE, Node, RECV, SEND};

/// The entry of this format.
pub const FORMAT: ScheduleFormat = ScheduleFormat {
    name: "chakra",
    what: "a trace of Chakra",
    is_such: |h| {
        protobuf::is_first(h.bytes)
            || h.is_text && (json::is_trace(&h.lines) || json::groups(h.bytes).is_some())
    },
    read: ReadBy::Ranks(|files, _| read(files)),
};

const EXPECTED: &str =
    "an execution trace of Chakra (messages of protocol buffers, each after its length, or JSON)";

/// The most bytes of a message or collective.
const MOST_BYTES: u64 = 1 << 40;

/// A file that is being turned into something.
struct Npu<'a> {
    path: &'a Path,
    rank: u32,
    ranks: u32,
}

impl Npu<'_> {
    fn fail(&self, what: impl std::fmt::Display, hint: &str) -> ReadError {
        ReadError::not_such(self.path, what.to_string(), EXPECTED, hint)
    }

    fn nodes(&self, bytes: &[u8]) -> Result<Vec<Node>, ReadError> {
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

    /// Adds the nodes to a schedule.
    fn schedule(&self, nodes: &[Node], builder: &mut Builder) -> Result<(), ReadError> {
        let places = self.places(nodes)?;
        let first = builder.len() as u32;
        for node in nodes {
            builder.add(self.rank, self.op(node)?, 0);
        }
        for (i, node) in (first..).zip(nodes) {
            for before in &node.before {
                let &before = places.get(before).ok_or_else(|| self.nowhere(node, *before))?;
                builder.after(i, first + before as u32);
            }
        }
        Ok(())
    }

    fn nowhere(&self, node: &Node, before: u64) -> ReadError {
        self.fail(
            format!("node {} depends on node {before}, which is not there", node.id),
            "is the file cut off?",
        )
    }

    /// Adds the nodes to a graph, the lower number first where it does not matter.
    fn graph(
        &self,
        nodes: &[Node],
        groups: &BTreeMap<String, u32>,
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
            let what = if node.kind == COLLECTIVE && node.communicates() {
                OpWhat::Collective(self.collective(node, groups, &graph.groups)?)
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

    fn collective(
        &self,
        node: &Node,
        groups: &BTreeMap<String, u32>,
        members: &[Vec<u32>],
    ) -> Result<Collective, ReadError> {
        use CollectiveKind as K;
        let communicator = groups.get(group(node)).copied().unwrap_or(0);
        let members = &members[communicator as usize];
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
        let number = node.numbers.get("comm_type").copied().unwrap_or(-1);
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

/// The process group of a node; empty is that of all.
fn group(node: &Node) -> &str {
    if node.group == "0" { "" } else { &node.group }
}

/// Reads a trace from the files of all NPUs, in their order, and that of process groups.
///
/// # Errors
/// If files of some are missing, one is cut off, or nodes name what is not there.
pub fn read(files: &[File]) -> Result<(Read, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let is_groups = |file: &&File| json::groups(&file.bytes).is_some();
    let (beside, traces): (Vec<&File>, Vec<&File>) = files.iter().partition(is_groups);
    let path = files.first().map_or(Path::new(""), |f| &f.path);
    if let [_, second, ..] = beside.as_slice() {
        let what = "a second file of process groups";
        return Err(ReadError::not_such(&second.path, what, EXPECTED, "give one"));
    }
    if traces.is_empty() {
        let what = "process groups without traces";
        return Err(ReadError::not_such(path, what, EXPECTED, "give the files of the NPUs, too"));
    }
    let ranks = traces.len() as u32;
    let mut all = Vec::with_capacity(traces.len());
    for (rank, file) in (0..ranks).zip(&traces) {
        let npu = Npu { path: &file.path, rank, ranks };
        if traces.len() > 1 && number(&file.path).is_some_and(|n| n != u64::from(rank)) {
            return Err(npu.fail(
                format!("this should be the file of NPU {rank}"),
                "the names end with the NPU's number",
            ));
        }
        all.push((npu.nodes(&file.bytes)?, npu));
    }
    let untimed = (all.iter().flat_map(|(nodes, _)| nodes))
        .filter(|node| node.micros == 0 && node.numbers.get("num_ops").is_some_and(|&n| n > 0));
    match untimed.count() {
        0 => {}
        count => d.warn(
            0,
            format!("{count} computations say how many operations they are, but not how long"),
            "they take no time: write durations with the tool that made the trace",
        ),
    }
    let is_collective = |node: &&Node| node.kind == COLLECTIVE && node.communicates();
    let collectives = || all.iter().flat_map(|(nodes, npu)| nodes.iter().map(|n| (npu.rank, n)));
    if !collectives().any(|(_, node)| is_collective(&node)) {
        let mut builder = Builder::new(ranks);
        for (nodes, npu) in &all {
            npu.schedule(nodes, &mut builder)?;
        }
        let schedule = builder.finish().map_err(|e| faulty(&e, path, EXPECTED))?;
        return Ok((Read::Schedule(schedule), d));
    }
    // Groups: all, those of the file, and those that are only named.
    let mut groups = BTreeMap::from([(String::new(), 0)]);
    let mut graph = OpGraph { ranks, groups: vec![(0..ranks).collect()], nodes: Vec::new() };
    for file in &beside {
        for (name, list) in json::groups(&file.bytes).into_iter().flatten() {
            let members = json::members(&list).map_err(|member| {
                let what = format!("group `{name}` has the member {member}, which is no NPU");
                ReadError::not_such(&file.path, what, EXPECTED, "for example {\"1\": [0, 2]}")
            })?;
            if let Some(member) = members.iter().find(|&&m| m >= ranks) {
                let what =
                    format!("group `{name}` has NPU {member}, but there are files of {ranks}");
                return Err(ReadError::not_such(&file.path, what, EXPECTED, "give all of them"));
            }
            let distinct: BTreeSet<&u32> = members.iter().collect();
            if distinct.len() < members.len() {
                let what = format!("group `{name}` has an NPU twice");
                return Err(ReadError::not_such(&file.path, what, EXPECTED, "name each once"));
            }
            // Whoever names group 0 means it if it is there.
            let name = if name == "0" { String::new() } else { name };
            let number = *groups.entry(name).or_insert(graph.groups.len() as u32);
            graph.groups.resize(graph.groups.len().max(number as usize + 1), Vec::new());
            graph.groups[number as usize] = members;
        }
    }
    let known = graph.groups.len();
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for (rank, node) in collectives().filter(|(_, node)| is_collective(node)) {
        let next = graph.groups.len() as u32;
        let number = *groups.entry(group(node).to_owned()).or_insert(next);
        if number == next {
            graph.groups.push(Vec::new());
        }
        let members = &mut graph.groups[number as usize];
        if number as usize >= known && members.last() != Some(&rank) {
            members.push(rank);
            named.insert(group(node));
        }
    }
    if let Some(name) = named.first() {
        let what =
            format!("the members of {} process groups are not told, such as `{name}`", named.len());
        d.note(0, what, "those who name a group are taken to be its members");
    }
    for (nodes, npu) in &all {
        npu.graph(nodes, &groups, &mut graph)?;
    }
    Ok((Read::Graph(graph), d))
}
