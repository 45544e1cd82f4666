//! Recorded operations that wait for each other, with collectives still whole.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::error::TraceError;
use super::scheduled::volume;
use super::{Collective, CollectiveCall};
use crate::schedule::{Builder, Op, Schedule, ScheduleError, Script};

/// The operations of ranks, as a graph: independent ones run concurrently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpGraph {
    /// Number of ranks.
    pub ranks: u32,
    /// Members of groups, by number: ranks in the order of their places there.
    pub groups: Vec<Vec<u32>>,
    /// The operations. Those of a rank are in an order that their dependencies allow, which is that in which it takes part in
    /// the collectives of each group.
    pub nodes: Vec<OpNode>,
}

/// An operation of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpNode {
    /// Rank of the operation.
    pub rank: u32,
    /// Kind of the operation.
    pub what: OpWhat,
    /// The nodes that it waits for, of the same rank and before it.
    pub before: Vec<u32>,
    /// Computations of a stream wait for each other's processor; at most [`MAX_STREAMS`](crate::schedule::MAX_STREAMS) minus two,
    /// as messages have a separate one.
    pub stream: u8,
}

/// The kind of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpWhat {
    /// A computation, or a message between two.
    Alone(Op),
    /// Takes part in a collective; `communicator` is a group's number.
    Collective(Collective),
}

/// A collective of all members of a group, one node for each.
struct Instance<'a> {
    group: u32,
    nodes: Vec<usize>,
    calls: Vec<&'a Collective>,
}

impl OpGraph {
    /// The schedule: each collective as `write` writes it, among ranks numbered by their places in its group. The collectives of a
    /// group follow each other on each of its ranks, as on the stream of a communicator.
    ///
    /// # Errors
    /// If members take part in different collectives, or in more than others; if messages have one end only.
    ///
    /// # Panics
    /// If a node waits for one of another rank or after it, or a group has a member that is no rank.
    pub fn schedule(
        &self,
        write: &mut dyn FnMut(&mut Script, &CollectiveCall<'_>),
    ) -> Result<Schedule, TraceError> {
        let instances = self.instances()?;
        // Tags of messages between two, and above them one for each collective.
        let own = self.nodes.iter().filter_map(|node| match node.what {
            OpWhat::Alone(Op::Send { tag, .. } | Op::Recv { tag, .. }) => Some(tag),
            _ => None,
        });
        let free = own.max().map_or(0, |tag| u64::from(tag) + 1);
        if free + instances.len() as u64 >= u64::from(super::ANY) {
            return Err(TraceError::Tags);
        }
        let mut builder = Builder::new(self.ranks);
        let messages = 1 + self.nodes.iter().map(|node| node.stream).max().unwrap_or(0);
        // Where each node begins and where it ends, once they are there.
        let mut ends = vec![u32::MAX; self.nodes.len()];
        let mut begins = ends.clone();
        for (i, node) in self.nodes.iter().enumerate() {
            match &node.what {
                OpWhat::Alone(op) => {
                    let stream = match op {
                        Op::Compute { .. } => node.stream,
                        _ => messages,
                    };
                    begins[i] = builder.add(node.rank, *op, stream);
                    ends[i] = begins[i];
                }
                OpWhat::Collective(_) => {
                    let nothing = Op::Compute { picoseconds: 0 };
                    begins[i] = builder.add(node.rank, nothing, messages);
                    ends[i] = builder.add(node.rank, nothing, messages);
                    builder.after(ends[i], begins[i]);
                }
            }
            for &before in &node.before {
                let before = before as usize;
                assert!(before < i && self.nodes[before].rank == node.rank, "it comes before");
                builder.after(begins[i], ends[before]);
            }
        }
        // The messages of each collective between the two.
        let mut last: HashMap<(u32, u32), u32> = HashMap::new();
        for (number, instance) in (0..).zip(&instances) {
            let members = &self.groups[instance.group as usize];
            for (&rank, &node) in members.iter().zip(&instance.nodes) {
                if let Some(before) = last.insert((instance.group, rank), ends[node]) {
                    builder.after(begins[node], before);
                }
            }
            let tag = free as u32 + number;
            let part = self.written(instance, tag, write)?;
            if builder.len() + part.len() > MOST {
                let count = builder.len() + part.len();
                return Err(ScheduleError::TooMany { what: "operations", count, most: MOST }.into());
            }
            let between = |place: usize| {
                let node = instance.nodes[place];
                (begins[node], ends[node])
            };
            splice(&mut builder, &part, members, messages, between);
        }
        Ok(builder.finish()?)
    }

    /// A collective as messages among the places of its group.
    fn written(
        &self,
        instance: &Instance<'_>,
        tag: u32,
        write: &mut dyn FnMut(&mut Script, &CollectiveCall<'_>),
    ) -> Result<Schedule, TraceError> {
        let places: Vec<u32> = (0..self.groups[instance.group as usize].len() as u32).collect();
        let mut script = Script::new(places.len() as u32);
        let first = instance.calls[0];
        let call = CollectiveCall {
            kind: first.kind,
            ranks: &places,
            root: first.root,
            volume: volume(&instance.calls),
            tag,
        };
        write(&mut script, &call);
        Ok(script.finish()?)
    }

    /// The collectives: of each group the first of all members, the second, and so on; in an order in which those of each rank
    /// follow each other.
    fn instances(&self) -> Result<Vec<Instance<'_>>, TraceError> {
        let mut of: BTreeMap<(u32, u32), Vec<Part<'_>>> = BTreeMap::new();
        for (i, node) in self.nodes.iter().enumerate() {
            if let OpWhat::Collective(c) = &node.what {
                of.entry((c.communicator, node.rank)).or_default().push((i, c));
            }
        }
        let groups: BTreeSet<u32> = of.keys().map(|key| key.0).collect();
        let mut instances = Vec::new();
        for group in groups {
            let members = self.groups.get(group as usize).map_or(&[][..], Vec::as_slice);
            let stranger = (of.range((group, 0)..=(group, u32::MAX)))
                .find(|((_, rank), _)| !members.contains(rank));
            if let Some((&(_, rank), parts)) = stranger {
                let (call, communicator) = (parts[0].0, group);
                return Err(if members.is_empty() {
                    TraceError::NoMembers { rank, call, communicator }
                } else {
                    let (peer, members) = (rank, members.len());
                    TraceError::NoSuchRank { rank, call, peer, communicator, members }
                });
            }
            let by_member: Vec<&[Part<'_>]> = (members.iter())
                .map(|&rank| of.get(&(group, rank)).map_or(&[][..], Vec::as_slice))
                .collect();
            let most = by_member.iter().map(|parts| parts.len()).max().unwrap_or(0);
            for k in 0..most {
                instances.push(instance(group, members, &by_member, k)?);
            }
        }
        // The first node of each, so that the result does not depend on the numbers of groups.
        instances.sort_by_key(|instance| instance.nodes[0]);
        Ok(instances)
    }
}

/// A node that takes part in a collective.
type Part<'a> = (usize, &'a Collective);

/// The k-th collective of a group.
fn instance<'a>(
    group: u32,
    members: &[u32],
    by_member: &[&[Part<'a>]],
    k: usize,
) -> Result<Instance<'a>, TraceError> {
    let is_there = by_member.iter().position(|parts| parts.len() > k).unwrap_or(0);
    let (other, (other_call, expected)) = (members[is_there], by_member[is_there][k]);
    let mut all = Instance { group, nodes: Vec::new(), calls: Vec::new() };
    for (&rank, of) in members.iter().zip(by_member) {
        let Some(&(call, found)) = of.get(k) else {
            return Err(TraceError::Alone {
                rank: other,
                call: other_call,
                kind: expected.kind,
                communicator: group,
                other: rank,
                state: format!("takes part in {} of that group", of.len()),
            });
        };
        if (found.kind, found.root) != (expected.kind, expected.root) {
            return Err(TraceError::Disagree {
                rank,
                call,
                found: named(found),
                expected: named(expected),
                other,
                other_call,
                communicator: group,
            });
        }
        all.nodes.push(call);
        all.calls.push(found);
    }
    Ok(all)
}

/// Name of a collective, with its root.
fn named(c: &Collective) -> String {
    if c.kind.rooted() { format!("{} with root {}", c.kind, c.root) } else { c.kind.to_string() }
}

/// Adds the messages of a collective among these members, at each place between two operations.
fn splice(
    builder: &mut Builder,
    part: &Schedule,
    members: &[u32],
    stream: u8,
    between: impl Fn(usize) -> (u32, u32),
) {
    let base = builder.len() as u32;
    for (place, &rank) in (0..).zip(members) {
        let (begin, end) = between(place as usize);
        for op in part.of(place) {
            let moved = match part.op(op) {
                Op::Send { to, bytes, tag } => Op::Send { to: members[to as usize], bytes, tag },
                Op::Recv { from, bytes, tag } => {
                    Op::Recv { from: members[from as usize], bytes, tag }
                }
                Op::Put { to, bytes } => Op::Put { to: members[to as usize], bytes },
                compute @ Op::Compute { .. } => compute,
            };
            let id = builder.add(rank, moved, stream);
            if part.needs(op) == 0 {
                builder.after(id, begin);
            }
            if part.dependents(op).len() == 0 {
                builder.after(end, id);
            }
        }
    }
    for op in 0..part.len() as u32 {
        for (next, on_start) in part.dependents(op) {
            if on_start {
                builder.after_start(base + next, base + op);
            } else {
                builder.after(base + next, base + op);
            }
        }
    }
}

/// The most operations: some twelve gibibytes.
const MOST: usize = 1 << 28;
