//! What a list of ports says: its nodes and the ends of its cables, before a fabric is made of them.

mod assemble;
mod cables;

use std::collections::HashMap;

use darkfiber_fabric::Guid;

use crate::Diagnostics;

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NodeKind {
    Switch,
    Adapter,
    Router,
}

/// How a line refers to a node: by type and GUID, by LID where a list has nothing better, or by any name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key<'a> {
    Guid(NodeKind, Guid),
    Lid(u16),
    Name(&'a str),
}

/// A port: the number of its node among the records, and its number there.
pub(crate) type CableEnd = (u32, u8);

/// A record of a node.
pub(crate) struct Node<'a> {
    /// Where it begins; 0 if it has no lines of its own.
    pub(crate) line: usize,
    pub(crate) kind: NodeKind,
    pub(crate) id: &'a str,
    pub(crate) guid: Option<Guid>,
    pub(crate) system: Guid,
    pub(crate) vendor: u32,
    pub(crate) device: u32,
    pub(crate) ports: u8,
    pub(crate) description: &'a str,
    pub(crate) lid: Option<u16>,
    pub(crate) enhanced_port0: bool,
}

/// A port line: one end of a cable.
#[derive(Clone, Copy)]
pub(crate) struct Listing<'a> {
    pub(crate) line: usize,
    pub(crate) node: u32,
    pub(crate) port: u32,
    pub(crate) guid: Option<Guid>,
    pub(crate) far: Key<'a>,
    pub(crate) far_id: &'a str,
    pub(crate) far_port: u32,
    pub(crate) far_guid: Option<Guid>,
    pub(crate) far_description: Option<&'a str>,
    pub(crate) lid: Option<u16>,
    pub(crate) lmc: u8,
    pub(crate) far_lid: Option<u16>,
    pub(crate) label: Option<&'a str>,
}

/// The complete content of a file.
#[derive(Default)]
pub(crate) struct Records<'a> {
    pub(crate) nodes: Vec<Node<'a>>,
    pub(crate) ports: Vec<Listing<'a>>,
    pub(crate) index: HashMap<Key<'a>, u32>,
}

impl Records<'_> {
    /// "port 3 of "leaf1"", for people.
    pub(crate) fn end(&self, end: CableEnd) -> String {
        let node = &self.nodes[end.0 as usize];
        let name = node.description.trim();
        let name = if name.is_empty() { node.id } else { name };
        format!("port {} of \"{name}\"", end.1)
    }

    /// Says which switch of a list of all ports lacks lines, if one does: others name it, or ports of the last one beyond those
    /// that it lists.
    pub(crate) fn cut_short(&self) -> Option<String> {
        let Records { nodes, ports, index } = self;
        let of_switch = |p: &&Listing<'_>| matches!(p.far, Key::Guid(NodeKind::Switch, _));
        let mut to_switches = ports.iter().filter(of_switch);
        if let Some(p) = to_switches.clone().find(|p| !index.contains_key(&p.far)) {
            let name = p.far_description.unwrap_or(p.far_id);
            return Some(format!("the list was cut short: switch \"{name}\" has no line"));
        }
        let last = nodes.len() - 1;
        // Ports are listed in ascending order.
        let highest = ports.iter().filter(|p| p.node as usize == last).map(|p| p.port).max()?;
        let is_unlisted =
            |p: &&Listing<'_>| index.get(&p.far) == Some(&(last as u32)) && p.far_port > highest;
        let p = to_switches.find(is_unlisted)?;
        let (name, port) = (nodes[last].description, p.far_port);
        Some(format!("the list was cut short: port {port} of switch \"{name}\" has no line"))
    }
}

/// A valid unicast LID of a port: 0 and 65535 mean none, and so does any other LID.
pub(crate) fn unicast(lid: Option<u32>, line: usize, d: &mut Diagnostics) -> Option<u16> {
    match lid? {
        0 => None,
        0xFFFF => {
            // If one port has none, usually all have.
            const NONE: &str = "LID 65535 is none: no subnet manager has given this port one";
            if d.0.iter().all(|remark| remark.what != NONE) {
                d.note(
                    line,
                    NONE,
                    "the first such port; if LIDs matter, make the dump once the subnet is up",
                );
            }
            None
        }
        lid @ 1..=0xBFFF => Some(lid as u16),
        lid => {
            d.warn(line, format!("{lid} is not a unicast LID (1 to 49151)"), "read as none");
            None
        }
    }
}
