//! Dumped forwarding tables, and how they are bound to a fabric.
//!
//! A dump uses GUIDs and LIDs of the moment it was made. Binding follows OpenSM's `file` engine: a switch is found by
//! its GUID, an entry's destination by its port GUID and only without a known one by its LID, so that tables survive
//! a renumbering of LIDs.

mod bind;
mod lids;

use std::collections::HashMap;

use darkfiber_fabric::{Fabric, Guid, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Lids, Routes};

use crate::diagnostic::counted;

pub use bind::to_routes;
pub use lids::{fewer_lids, lids_of, other_lids};

/// Hint for tables where a fabric was wanted.
pub(crate) const HINT: &str = "give it with --routes, and its fabric as an ibnetdiscover file";

/// Forwarding tables of a dump, not yet bound to a fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// One a switch, in the order of the dump.
    pub switches: Vec<SwitchTable>,
}

/// The dumped table of one switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchTable {
    /// Node GUID, where the dump has it.
    pub guid: Option<Guid>,
    /// LID, where the dump has it.
    pub lid: Option<u16>,
    /// Node description, or empty.
    pub name: String,
    /// The line that opens it.
    pub line: usize,
    /// Its entries in the order of the dump.
    pub entries: Vec<Entry>,
    /// Whether the dump says where it ends.
    pub closed: bool,
}

/// One entry of a dumped table; 24 bytes, as a large fabric has twenty million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// LID of the destination.
    pub lid: u16,
    /// Egress port, 0 = the switch itself.
    pub port: u8,
    /// Hops, where the dump has them.
    pub hops: Option<u8>,
    line: u32,
    /// GUID of the port; 0 = none.
    guid: Guid,
}

impl Entry {
    pub(crate) fn new(lid: u16, port: u8, portguid: Option<Guid>, line: usize) -> Self {
        Self {
            lid,
            port,
            hops: None,
            line: u32::try_from(line).unwrap_or(u32::MAX),
            guid: portguid.unwrap_or_default(),
        }
    }

    /// GUID of the port that owns the LID, where the dump has it.
    pub fn portguid(&self) -> Option<Guid> {
        (self.guid.0 != 0).then_some(self.guid)
    }

    /// Its line in the dump.
    pub fn line(&self) -> usize {
        self.line as usize
    }
}

impl SwitchTable {
    /// The switch for people: name and GUID, as far as they are known.
    pub fn label(&self) -> String {
        match (self.name.as_str(), self.guid, self.lid) {
            ("", Some(guid), _) => format!("switch {guid}"),
            (name, Some(guid), _) => format!("switch {guid} \"{name}\""),
            ("", None, Some(lid)) => format!("switch with LID {lid}"),
            ("", None, None) => "switch without a name".to_owned(),
            (name, None, _) => format!("switch \"{name}\""),
        }
    }
}

impl Tables {
    /// Number of entries in all tables.
    pub fn entry_count(&self) -> usize {
        self.switches.iter().map(|s| s.entries.len()).sum()
    }
}

/// A LID and the table row that serves it.
#[derive(Clone, Copy)]
pub(crate) struct LidRow {
    pub(crate) lid: u16,
    pub(crate) dest: DestId,
    pub(crate) path: usize,
}

/// All LIDs in use by rising number. A port with more LIDs than the routes have paths uses those paths
/// in turn.
pub(crate) fn rows_by_lid(fabric: &Fabric, routes: &Routes, lids: &Lids) -> Vec<LidRow> {
    (1..=lids.top())
        .filter_map(|lid| {
            let (dest, index) = lids.owner(lid)?;
            let path = match dest.as_terminal(fabric) {
                Some(_) => index % routes.paths().max(1),
                None => 0,
            };
            Some(LidRow { lid, dest, path })
        })
        .collect()
}

/// The destinations of a fabric by port GUID.
fn dest_by_guid(fabric: &Fabric) -> HashMap<Guid, DestId> {
    let switches = (0..fabric.switch_count())
        .map(SwitchId::new)
        .map(|s| (fabric.switch(s).guid, DestId::switch(fabric, s)));
    let terminals = (0..fabric.terminal_count())
        .map(TerminalId::new)
        .map(|t| (fabric.terminal(t).guid, DestId::terminal(t)));
    switches.chain(terminals).collect()
}

/// A number of entries for people.
pub(crate) fn entries(count: usize) -> String {
    counted(count, "entry", "entries")
}
