//! A node of a trace, however it is written.

use std::collections::{BTreeMap, HashSet};

/// Types of nodes (`NodeType` of the schema).
pub(super) const SEND: u64 = 5;
pub(super) const RECV: u64 = 6;
const COLLECTIVE: u64 = 7;

/// The fields of a node that are read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) id: u64,
    pub(super) kind: u64,
    /// Ids of the nodes that it depends on.
    pub(super) before: Vec<u64>,
    /// Ids of the nodes that it depends on by control alone, which may be missing in a trace: Chakra's feeder does not look at them.
    pub(super) control: Vec<u64>,
    pub(super) micros: u64,
    /// Attributes that are integers, by name; true is 1.
    pub(super) numbers: BTreeMap<String, i64>,
    /// Name of its process group; empty without.
    pub(super) group: String,
}

/// Has nodes depend on those that they depend on by control, too, if all of these are there; returns how many are not. Where some
/// are missing these dependencies are of calls that were left out, and may contradict those by data.
pub(super) fn add_control(nodes: &mut [Node]) -> usize {
    let there: HashSet<u64> = nodes.iter().map(|node| node.id).collect();
    let control = nodes.iter().flat_map(|node| &node.control);
    let missing = control.filter(|id| !there.contains(id)).count();
    for node in nodes {
        let control = std::mem::take(&mut node.control);
        if missing == 0 {
            node.before.extend(control);
        }
    }
    missing
}

impl Node {
    /// Whether it is a message or a collective that is sent, not the call of one on a processor (which has no size).
    pub(super) fn communicates(&self) -> bool {
        let is_call =
            self.numbers.get("is_cpu_op") == Some(&1) && !self.numbers.contains_key("comm_size");
        matches!(self.kind, SEND | RECV | COLLECTIVE) && !is_call
    }

    /// Whether it takes part in a collective.
    pub(super) fn is_collective(&self) -> bool {
        self.kind == COLLECTIVE && self.communicates()
    }

    /// The stream within its rank: that of its GPU, or a thread of its processor.
    pub(super) fn stream(&self) -> (bool, i64) {
        let get = |name: &str| self.numbers.get(name).copied();
        match get("stream") {
            Some(stream) => (true, stream),
            None => (false, get("tid").unwrap_or(0)),
        }
    }
}
