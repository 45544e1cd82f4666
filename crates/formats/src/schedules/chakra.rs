//! Execution traces of Chakra (MLCommons): graphs of the operations of each NPU.
//!
//! A file is of one NPU, whose number is that at the end of its name (`allreduce.3.et`). It holds messages of protocol
//! buffers, each with its length before it: one `GlobalMetadata`, then `Node`s (`et_def.proto` there is the schema). Of
//! a node are read its number, type, control and data dependencies, duration in microseconds, and the attributes
//! `comm_size` (bytes), `comm_src`, `comm_dst`, `comm_tag`, `comm_type`, `root_rank` and `pg_name`.
//!
//! Computations, and other nodes than messages, take their duration. If there are collective nodes, the graph becomes a
//! trace of calls: nodes one after the other, each when those it depends on are done, the lower number first. Bytes of
//! an all-to-all and of a reduce-scatter are those that an NPU has before it, of an all-gather what it gives. Members of
//! process groups (`pg_name` other than `0` or empty) are not in the files.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use darkfiber_workload::schedule::{Builder, Op};
use darkfiber_workload::trace::{ANY, Call, Collective, CollectiveKind, Message, MpiTrace, WORLD};

use super::run::{File, Read, ReadBy, ScheduleFormat};
use super::values::{faulty, number};
use super::wire::{self, Value};
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: ScheduleFormat = ScheduleFormat {
    name: "chakra",
    what: "a trace of Chakra",
    is_such: |h| is_first(h.bytes),
    read: ReadBy::Ranks(|files, _| read(files)),
};

const EXPECTED: &str =
    "an execution trace of Chakra (messages of protocol buffers, each after its length)";

const SEND: u64 = 5;
const RECV: u64 = 6;
const COLLECTIVE: u64 = 7;

#[derive(Default)]
struct Node {
    id: u64,
    kind: u64,
    before: Vec<u64>,
    micros: u64,
    /// Integers by name.
    numbers: BTreeMap<String, i64>,
    group: String,
}

/// The next message of a file.
fn message<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = wire::number(bytes)?;
    wire::split(bytes, len)
}

/// Whether a file begins like a trace.
fn is_first(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let Some(first) = message(&mut rest).and_then(wire::fields) else { return false };
    let metadata = first.iter().all(|(n, v)| matches!((n, v), (1 | 2, Value::Bytes(_))));
    let Some(second) = message(&mut rest).and_then(node) else { return false };
    metadata && (1..=10).contains(&second.kind)
}

fn text(value: Value<'_>) -> Option<String> {
    match value {
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

fn node(message: &[u8]) -> Option<Node> {
    let mut node = Node::default();
    for (field, value) in wire::fields(message)? {
        match (field, value) {
            (1, Value::Number(id)) => node.id = id,
            (3, Value::Number(kind)) => node.kind = kind,
            (4 | 5, value) => wire::numbers(value, &mut node.before)?,
            (7, Value::Number(micros)) => node.micros = micros,
            (10, Value::Bytes(attribute)) => {
                let mut name = String::new();
                for (field, value) in wire::fields(attribute)? {
                    match (field, value) {
                        (1, value) => name = text(value)?,
                        (29, value) if name == "pg_name" => node.group = text(value)?,
                        (3..=32, value) => {
                            if let Some(number) = integer(field, value) {
                                node.numbers.insert(name.clone(), number);
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Some(node)
}

/// The integer in an attribute of one of the types that hold one.
#[expect(clippy::cast_possible_wrap, reason = "numbers below zero are written so")]
fn integer(field: u64, value: Value<'_>) -> Option<i64> {
    match (field, value) {
        (7 | 9 | 11 | 13, Value::Number(n)) => Some(n as i64),
        (15 | 17, Value::Number(n)) => Some((n >> 1) as i64 ^ -((n & 1) as i64)),
        (19, Value::Four(b)) => Some(i64::from(u32::from_le_bytes(b))),
        (23, Value::Four(b)) => Some(i64::from(i32::from_le_bytes(b))),
        (21 | 25, Value::Eight(b)) => Some(i64::from_le_bytes(b)),
        _ => None,
    }
}

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
        let mut rest = bytes;
        let mut nodes = Vec::new();
        let mut first = true;
        while !rest.is_empty() {
            let at = bytes.len() - rest.len();
            let cut = || {
                self.fail(
                    format!("byte {at}: the message there is not whole"),
                    "is the file cut off or damaged?",
                )
            };
            let body = message(&mut rest).ok_or_else(cut)?;
            if std::mem::take(&mut first) {
                continue;
            }
            nodes.push(node(body).ok_or_else(cut)?);
        }
        Ok(nodes)
    }

    /// A message of a node, that is there and named `side`.
    fn message(&self, node: &Node, side: &str) -> Result<Message, ReadError> {
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
        let bytes = self.size(node)?;
        let tag = get("comm_tag").unwrap_or(0);
        let tag = u32::try_from(tag).ok().filter(|&t| t != ANY);
        let tag = tag.ok_or_else(|| {
            self.fail(format!("node {} has a tag that does not fit", node.id), "")
        })?;
        Ok(Message { peer, bytes, tag, communicator: WORLD })
    }

    fn size(&self, node: &Node) -> Result<u64, ReadError> {
        let found = node.numbers.get("comm_size").copied().and_then(|n| u64::try_from(n).ok());
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

    /// Adds the nodes to a schedule.
    fn schedule(&self, nodes: &[Node], builder: &mut Builder) -> Result<(), ReadError> {
        let mut ops = HashMap::with_capacity(nodes.len());
        for node in nodes {
            let op = match node.kind {
                SEND => {
                    let m = self.message(node, "comm_dst")?;
                    Op::Send { to: m.peer, bytes: m.bytes, tag: m.tag }
                }
                RECV => {
                    let m = self.message(node, "comm_src")?;
                    Op::Recv { from: m.peer, bytes: m.bytes, tag: m.tag }
                }
                _ => Op::Compute { picoseconds: self.picoseconds(node)? },
            };
            if ops.insert(node.id, builder.add(self.rank, op, 0)).is_some() {
                return Err(
                    self.fail(format!("there are two nodes {}", node.id), "is the file damaged?")
                );
            }
        }
        for node in nodes {
            for before in &node.before {
                let Some(&before) = ops.get(before) else {
                    return Err(self.nowhere(node, *before));
                };
                builder.after(ops[&node.id], before);
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

    /// The nodes one after the other.
    fn calls(
        &self,
        nodes: &[Node],
        groups: &mut BTreeMap<String, u32>,
    ) -> Result<Vec<Call>, ReadError> {
        let place: HashMap<u64, usize> = nodes.iter().enumerate().map(|(i, n)| (n.id, i)).collect();
        let mut left = vec![0; nodes.len()];
        let mut after = vec![Vec::new(); nodes.len()];
        for (i, node) in nodes.iter().enumerate() {
            for before in &node.before {
                let &b = place.get(before).ok_or_else(|| self.nowhere(node, *before))?;
                after[b].push(i);
                left[i] += 1;
            }
        }
        let mut ready: BTreeSet<(u64, usize)> =
            (0..nodes.len()).filter(|&i| left[i] == 0).map(|i| (nodes[i].id, i)).collect();
        let mut calls = Vec::with_capacity(nodes.len());
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
            let request = i as u32;
            match node.kind {
                // Sends are not waited for, or two NPUs that send to each other first would never receive.
                SEND => calls.push(Call::Isend(self.message(node, "comm_dst")?, request)),
                RECV => calls.push(Call::Recv(self.message(node, "comm_src")?)),
                COLLECTIVE => calls.push(self.collective(node, groups)?),
                _ if node.micros == 0 => {}
                _ => calls.push(Call::Compute { picoseconds: self.picoseconds(node)? }),
            }
        }
        if done < nodes.len() {
            let what = format!("{} nodes wait for each other in a cycle", nodes.len() - done);
            return Err(self.fail(what, "is the file damaged?"));
        }
        Ok(calls)
    }

    fn collective(
        &self,
        node: &Node,
        groups: &mut BTreeMap<String, u32>,
    ) -> Result<Call, ReadError> {
        use CollectiveKind as K;
        let n = u64::from(self.ranks);
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
        let root = u32::try_from(root).ok().filter(|&r| r < self.ranks).ok_or_else(|| {
            self.fail(
                format!("node {} has NPU {root} as its root", node.id),
                "give the files of all NPUs",
            )
        })?;
        let root = if kind.rooted() { root } else { 0 };
        let communicator = if matches!(node.group.as_str(), "" | "0") {
            WORLD
        } else {
            let next = groups.len() as u32 + 1;
            *groups.entry(node.group.clone()).or_insert(next)
        };
        Ok(Call::Collective(Box::new(Collective {
            kind,
            communicator,
            root,
            bytes,
            sizes: Vec::new(),
        })))
    }
}

/// Reads a trace from the files of all NPUs, in their order.
///
/// # Errors
/// If files of some are missing, one is cut off, or nodes name what is not there.
pub fn read(files: &[File]) -> Result<(Read, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let ranks = files.len() as u32;
    let mut all = Vec::with_capacity(files.len());
    for (rank, file) in (0..ranks).zip(files) {
        let npu = Npu { path: &file.path, rank, ranks };
        if files.len() > 1 && number(&file.path).is_some_and(|n| n != u64::from(rank)) {
            return Err(npu.fail(
                format!("this should be the file of NPU {rank}"),
                "the names end with the NPU's number",
            ));
        }
        all.push((npu.nodes(&file.bytes)?, npu));
    }
    let collectives = all.iter().any(|(nodes, _)| nodes.iter().any(|n| n.kind == COLLECTIVE));
    if !collectives {
        let mut builder = Builder::new(ranks);
        for (nodes, npu) in &all {
            npu.schedule(nodes, &mut builder)?;
        }
        let path = files.first().map_or(Path::new(""), |f| &f.path);
        let schedule = builder.finish().map_err(|e| faulty(&e, path, EXPECTED))?;
        return Ok((Read::Schedule(schedule), d));
    }
    let mut trace = MpiTrace::new(ranks);
    let mut groups = BTreeMap::new();
    for (rank, (nodes, npu)) in all.iter().enumerate() {
        let calls = npu.calls(nodes, &mut groups)?;
        for node in nodes {
            let name = match node.kind {
                SEND => "send",
                RECV => "receive",
                COLLECTIVE => "collective",
                _ => "other",
            };
            trace.count(name, 1);
        }
        trace.ranks[rank] = Some(calls);
    }
    d.note(
        0,
        "there are collectives",
        "nodes are run one after the other, in an order that they allow",
    );
    if let Some(name) = groups.keys().next() {
        let what = format!(
            "there are {} process groups, such as `{name}`, without their members",
            groups.len()
        );
        d.warn(0, what, "a schedule cannot be made of collectives within them");
        trace.communicators.resize(groups.len() + 1, Vec::new());
    }
    Ok((Read::Trace(trace), d))
}
