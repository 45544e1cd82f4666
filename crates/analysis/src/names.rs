//! Names of switches, ports and hosts for operators.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use darkfiber_fabric::{ChannelId, Fabric, Guid, SwitchId, TerminalId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

/// A directed channel by its two ends.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ChannelName {
    /// Name of the switch it leaves.
    pub from: String,
    /// Its GUID.
    pub from_guid: GuidText,
    /// Egress port there.
    pub from_port: u8,
    /// Name of the switch it enters.
    pub to: String,
    /// Its GUID.
    pub to_guid: GuidText,
    /// Ingress port there.
    pub to_port: u8,
}

impl fmt::Display for ChannelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} port {} -> {} port {}", self.from, self.from_port, self.to, self.to_port)
    }
}

/// A GUID that serializes as OpenSM prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuidText(pub Guid);

impl JsonSchema for GuidText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Guid".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^0x[0-9a-f]{16}$" })
    }
}

impl Serialize for GuidText {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&self.0)
    }
}

/// An ordered pair of terminals.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct PairName {
    /// Who sends.
    pub source: String,
    /// Who should receive.
    pub destination: String,
}

impl fmt::Display for PairName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.source, self.destination)
    }
}

/// Gives every switch and terminal of a fabric a name that no other one has: the description where it
/// is unique, with the GUID where it is not.
pub struct Names<'a> {
    fabric: &'a Fabric,
    shared: BTreeMap<&'a str, usize>,
    ports_of_host: Vec<u32>,
}

impl<'a> Names<'a> {
    /// Looks at all descriptions once.
    pub fn new(fabric: &'a Fabric) -> Self {
        let mut shared = BTreeMap::new();
        for s in fabric.switches() {
            *shared.entry(s.description.as_str()).or_insert(0) += 1;
        }
        let mut ports_of_host = vec![0; fabric.hosts().len()];
        for t in 0..fabric.terminal_count() {
            ports_of_host[fabric.host_of(TerminalId::new(t)).index()] += 1;
        }
        Self { fabric, shared, ports_of_host }
    }

    /// Name of a switch.
    pub fn switch(&self, s: SwitchId) -> String {
        let switch = self.fabric.switch(s);
        let description = switch.description.as_str();
        if description.is_empty() {
            switch.guid.to_string()
        } else if self.shared[description] > 1 {
            format!("{description} ({})", switch.guid)
        } else {
            description.to_owned()
        }
    }

    /// A terminal: its host, and the port GUID where the host has several ports.
    pub fn terminal(&self, t: TerminalId) -> String {
        let host = self.fabric.host_of(t);
        let name = self.fabric.host(host).name.as_str();
        let guid = self.fabric.terminal(t).guid;
        if name.is_empty() {
            guid.to_string()
        } else if self.ports_of_host[host.index()] > 1 {
            format!("{name} ({guid})")
        } else {
            name.to_owned()
        }
    }

    /// A channel between switches.
    pub fn channel(&self, c: ChannelId) -> ChannelName {
        let (from, to) = (self.fabric.tail(c), self.fabric.head(c));
        ChannelName {
            from: self.switch(from),
            from_guid: GuidText(self.fabric.switch(from).guid),
            from_port: self.fabric.tail_port(c),
            to: self.switch(to),
            to_guid: GuidText(self.fabric.switch(to).guid),
            to_port: self.fabric.head_port(c),
        }
    }

    /// A pair of terminals.
    pub fn pair(&self, source: TerminalId, destination: TerminalId) -> PairName {
        PairName { source: self.terminal(source), destination: self.terminal(destination) }
    }
}
