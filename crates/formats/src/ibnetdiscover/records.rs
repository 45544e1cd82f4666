//! The records of a file, before they are assembled.

use std::collections::HashMap;

use darkfiber_fabric::Guid;

use super::line::{Key, NodeKind};

/// A port: the number of its node among the records, and its number there.
pub(super) type CableEnd = (u32, u8);

/// A record of a node.
pub(super) struct Node<'a> {
    pub(super) line: usize,
    pub(super) kind: NodeKind,
    pub(super) id: &'a str,
    pub(super) guid: Option<Guid>,
    pub(super) system: Guid,
    pub(super) vendor: u32,
    pub(super) device: u32,
    pub(super) ports: u8,
    pub(super) description: &'a str,
    pub(super) lid: Option<u16>,
    pub(super) enhanced_port0: bool,
}

/// A port line: one end of a cable.
#[derive(Clone, Copy)]
pub(super) struct Listing<'a> {
    pub(super) line: usize,
    pub(super) node: u32,
    pub(super) port: u32,
    pub(super) guid: Option<Guid>,
    pub(super) far: Key<'a>,
    pub(super) far_id: &'a str,
    pub(super) far_port: u32,
    pub(super) far_guid: Option<Guid>,
    pub(super) far_description: Option<&'a str>,
    pub(super) lid: Option<u16>,
    pub(super) lmc: u8,
    pub(super) far_lid: Option<u16>,
    pub(super) label: Option<&'a str>,
}

/// The complete content of a file.
#[derive(Default)]
pub(super) struct Records<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) ports: Vec<Listing<'a>>,
    pub(super) index: HashMap<Key<'a>, u32>,
}

impl Records<'_> {
    /// "port 3 of "leaf1"", for people.
    pub(super) fn end(&self, end: CableEnd) -> String {
        let node = &self.nodes[end.0 as usize];
        let name = node.description.trim();
        let name = if name.is_empty() { node.id } else { name };
        format!("port {} of \"{name}\"", end.1)
    }
}
