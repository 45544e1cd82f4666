//! InfiniBand maps of netloc, the network part of hwloc: `IB-<subnet>-nodes.ndat` with nodes and cables and
//! `-log-paths.ndat` / `-phy-paths.ndat` with the route of every pair of hosts as lists of edge numbers. All three
//! are JSON. Logical paths are those of the forwarding tables; physical ones are shortest paths that netloc computed
//! itself.
//!
//! An edge is one direction of a cable. A path starts with the edge that leaves the source. The maps
//! have one GUID a node (an adapter's is its port GUID), LIDs in `log_id`, no LMC and no port counts:
//! a switch gets as many ports as its highest one in use.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use darkfiber_fabric::{
    Adapter, AdapterId, FabricBuilder, Guid, LinkClass, Switch, SwitchId, Terminal, TerminalId,
    Topology,
};
use darkfiber_routing::{DestId, Routes};
use serde::Deserialize;

use crate::diagnostic::counted;
use crate::format::{Format, Reading};
use crate::hosts::{HostTable, role_of};
use crate::known_by::KnownBy;
use crate::subnet_lst::free_guid;
use crate::tables;
use crate::{Diagnostics, ReadError};

/// The entry of nodes files.
pub const NODES: Format = Format {
    name: "netloc",
    what: "a netloc nodes file",
    summary: "netloc nodes files",
    known_by: &[KnownBy::Begin(|b| {
        b.json().starts_with('{') && b.json().contains("\"node_info\":")
    })],
    read: Reading::Fabric(|c| read_nodes(c.text, c.path)),
    ..Format::NONE
};

/// The entry of paths files.
pub const PATHS: Format = Format {
    name: "netloc-paths",
    what: "a netloc paths file, which holds routes",
    summary: "netloc paths files: the way of every pair, with the nodes file as fabric",
    hint: tables::HINT,
    known_by: &[KnownBy::Begin(|b| b.json().starts_with("{\"path_info\":"))],
    read: Reading::By("--routes"),
    ..Format::NONE
};

/// `node_type` of a switch.
const SWITCH: u32 = 1;
/// `network_type` of Ethernet.
const ETHERNET: u32 = 1;

#[derive(Deserialize)]
struct NodesFile {
    #[serde(rename = "network_info")]
    network: Option<NetworkInfo>,
    #[serde(rename = "node_info")]
    nodes: BTreeMap<String, NodeInfo>,
    #[serde(rename = "edge_info")]
    edges: BTreeMap<String, EdgeInfo>,
}

#[derive(Deserialize)]
struct NetworkInfo {
    #[serde(default)]
    subnet_id: String,
    #[serde(default)]
    network_type: Option<u32>,
}

#[derive(Deserialize)]
struct NodeInfo {
    node_type: u32,
    #[serde(default)]
    log_id: String,
    #[serde(default)]
    desc: String,
}

#[derive(Deserialize)]
struct EdgeInfo {
    euid: u64,
    src_node_id: String,
    src_port_id: String,
    dest_node_id: String,
    dest_port_id: String,
    #[serde(default)]
    speed: String,
    #[serde(default)]
    width: String,
}

#[derive(Deserialize)]
struct PathsFile {
    path_info: BTreeMap<String, BTreeMap<String, Vec<u64>>>,
}

/// A netloc map: the network, and the data to which paths files refer.
#[derive(Clone, Debug)]
pub struct Nodes {
    /// Topology of the network.
    pub topology: Topology,
    edges: BTreeMap<u64, Edge>,
    ends: BTreeMap<Guid, NetlocEnd>,
}

/// One direction of a cable.
#[derive(Clone, Copy, Debug)]
struct Edge {
    from: Guid,
    port: u8,
    to: Guid,
    to_port: u8,
}

#[derive(Clone, Debug)]
enum NetlocEnd {
    Switch(SwitchId),
    /// An adapter and, by rising port, its linked ones.
    Adapter(AdapterId, Vec<TerminalId>),
}

impl Nodes {
    /// Number of directed edges.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }
}

/// Reads a nodes file for its network alone. LIDs and link speeds come along; shapes do not.
///
/// # Errors
/// As [`read_map`].
pub fn read_nodes(text: &str, path: &Path) -> Result<(Topology, Diagnostics), ReadError> {
    read_map(text, path).map(|(nodes, found)| (nodes.topology, found))
}

/// Reads a nodes file with the edge numbers that [`read_paths`] needs.
///
/// # Errors
/// If it is not JSON of that form, or its nodes do not make a fabric.
pub fn read_map(text: &str, path: &Path) -> Result<(Nodes, Diagnostics), ReadError> {
    let expected = "a netloc nodes file";
    let not = |what: String| ReadError::not_such(path, what, expected, "its name ends in -nodes");
    let file: NodesFile = serde_json::from_str(text).map_err(|e| not(e.to_string()))?;
    if file.network.as_ref().and_then(|network| network.network_type) == Some(ETHERNET) {
        let what = "it is of an Ethernet network (network_type 1)".to_owned();
        let hint = "of Ethernet the cables are read: `lldpctl -f json`, or a line for each as SWITCH,PORT,SWITCH,PORT";
        return Err(ReadError::not_such(path, what, "a netloc nodes file of InfiniBand", hint));
    }
    let mut found = Diagnostics::default();
    let edges = edges(&file, &mut found);
    let mut top_port: HashMap<Guid, u8> = HashMap::new();
    for edge in edges.values() {
        for (guid, port) in [(edge.from, edge.port), (edge.to, edge.to_port)] {
            let top = top_port.entry(guid).or_default();
            *top = (*top).max(port);
        }
    }

    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let subnet = file.network.as_ref().map(|i| i.subnet_id.as_str());
    let name = match subnet {
        Some(id) if stem.is_empty() => id,
        _ => stem.strip_suffix("-nodes").unwrap_or(&stem),
    };
    let mut builder = FabricBuilder::new(name);
    let mut hosts = HostTable::default();
    let mut ends: BTreeMap<Guid, NetlocEnd> = BTreeMap::new();
    let mut lids: HashMap<Guid, u16> = HashMap::new();
    for (id, node) in &file.nodes {
        let Some(guid) = guid(id) else {
            found.warn(0, format!("node id '{id}' is not four groups of a GUID"), "left out");
            continue;
        };
        let description = unquoted(&node.desc);
        let lid = node.log_id.parse().ok().filter(|&lid| lid != 0);
        lids.extend(lid.map(|lid| (guid, lid)));
        let ports = top_port.get(&guid).copied().unwrap_or(0);
        let end = if node.node_type == SWITCH {
            NetlocEnd::Switch(builder.add_switch(Switch {
                guid,
                description: description.to_owned(),
                ports,
                lid,
                ..Switch::default()
            }))
        } else {
            let host = hosts.host(&mut builder, description, Guid(0), guid);
            let adapter = builder.add_adapter(Adapter {
                guid,
                description: description.to_owned(),
                ports: ports.max(1),
                host,
                ..Adapter::default()
            });
            NetlocEnd::Adapter(adapter, Vec::new())
        };
        ends.insert(guid, end);
    }
    link(&mut builder, &edges, &ends, &file, &lids, &mut found).map_err(|e| not(e.to_string()))?;
    let fabric = builder.finish().map_err(|e| not(e.to_string()))?;
    let mut of_adapter: HashMap<AdapterId, Vec<TerminalId>> = HashMap::new();
    for (t, terminal) in fabric.terminals().iter().enumerate() {
        let list = of_adapter.entry(terminal.adapter).or_default();
        list.push(TerminalId::new(t));
    }
    for end in ends.values_mut() {
        if let NetlocEnd::Adapter(adapter, list) = end {
            *list = of_adapter.remove(adapter).unwrap_or_default();
        }
    }
    let topology = Topology { fabric, shape: None };
    Ok((Nodes { topology, edges, ends }, found))
}

/// The edges by number.
fn edges(file: &NodesFile, found: &mut Diagnostics) -> BTreeMap<u64, Edge> {
    let mut edges = BTreeMap::new();
    for edge in file.edges.values() {
        let port = |p: &str| p.parse().ok().filter(|p| (1..255).contains(p));
        let parsed = guid(&edge.src_node_id)
            .zip(port(&edge.src_port_id))
            .zip(guid(&edge.dest_node_id).zip(port(&edge.dest_port_id)));
        let Some(((from, port), (to, to_port))) = parsed else {
            found.warn(0, format!("edge {} has no proper nodes and ports", edge.euid), "left out");
            continue;
        };
        let end = Edge { from, port, to, to_port };
        if edges.insert(edge.euid, end).is_some() {
            found.error(0, format!("two edges have number {}", edge.euid), "the later is taken");
        }
    }
    edges
}

/// Adds the cables, each once though the file has both directions.
fn link(
    builder: &mut FabricBuilder,
    edges: &BTreeMap<u64, Edge>,
    ends: &BTreeMap<Guid, NetlocEnd>,
    file: &NodesFile,
    lids: &HashMap<Guid, u16>,
    found: &mut Diagnostics,
) -> Result<(), darkfiber_fabric::BuildError> {
    let (mut cables, mut guids) = (HashSet::new(), HashSet::new());
    for info in file.edges.values() {
        let Some(&edge) = edges.get(&info.euid) else {
            continue;
        };
        let (near, far) = ((edge.from, edge.port), (edge.to, edge.to_port));
        if !cables.insert((near.min(far), near.max(far))) {
            continue;
        }
        let taken = |b: &FabricBuilder, s: SwitchId, port: u8| b.is_taken(s, port);
        let problem = match (ends.get(&near.0), ends.get(&far.0)) {
            (Some(&NetlocEnd::Switch(a)), Some(&NetlocEnd::Switch(b))) => {
                if near == far || taken(builder, a, near.1) || taken(builder, b, far.1) {
                    "a port with two cables"
                } else {
                    let class = class(builder, info, found);
                    builder.link_switches((a, near.1), (b, far.1), class)?;
                    continue;
                }
            }
            (Some(&NetlocEnd::Switch(s)), Some(&NetlocEnd::Adapter(adapter, _)))
            | (Some(&NetlocEnd::Adapter(adapter, _)), Some(&NetlocEnd::Switch(s))) => {
                let forward = matches!(ends.get(&near.0), Some(NetlocEnd::Switch(_)));
                let (at, host) = if forward { (near, far) } else { (far, near) };
                if taken(builder, s, at.1) {
                    "a port with two cables"
                } else {
                    let class = class(builder, info, found);
                    let role = role_of(&builder.adapters()[adapter.index()].description);
                    let guid = free_guid(host.0, &mut guids);
                    builder.link_terminal(Terminal {
                        adapter,
                        port: host.1,
                        guid,
                        switch: s,
                        switch_port: at.1,
                        // The map has one LID a node: that of its first port.
                        lid: lids.get(&host.0).copied().filter(|_| guid == host.0),
                        lmc: 0,
                        role,
                        class,
                    })?;
                    continue;
                }
            }
            (Some(NetlocEnd::Adapter(..)), Some(NetlocEnd::Adapter(..))) => {
                "a cable between two adapters"
            }
            _ => "a node that the file does not have",
        };
        found.warn(0, format!("edge {}: {problem}", info.euid), "left out");
    }
    Ok(())
}

fn class(builder: &mut FabricBuilder, info: &EdgeInfo, found: &mut Diagnostics) -> u8 {
    let label = format!("{}{}", info.width, info.speed);
    builder.class(LinkClass::infiniband(&label).unwrap_or_else(|| {
        found.warn(
            0,
            format!("edge {}: unknown link speed '{label}'", info.euid),
            "it counts as 4xQDR",
        );
        LinkClass::unknown()
    }))
}

/// Parses `0002:c903:0006:dc31`.
fn guid(id: &str) -> Option<Guid> {
    let mut value = 0u64;
    let mut groups = 0;
    for group in id.split(':') {
        if group.len() != 4 || groups == 4 {
            return None;
        }
        value = value << 16 | crate::guids::parse_hex(group)?;
        groups += 1;
    }
    (groups == 4).then_some(Guid(value))
}

/// Removes the single quotes of descriptions.
fn unquoted(description: &str) -> &str {
    description.strip_prefix('\'').and_then(|d| d.strip_suffix('\'')).unwrap_or(description)
}

/// Reads a paths file into tables, as far as paths reach: a switch that no path to a host passes has
/// no entry for it, and switches are no destinations. Where two paths leave one switch on different
/// ports for one host (netloc's own paths need not be destination-based) the first counts; the number
/// of such paths is reported.
///
/// # Errors
/// If it is not JSON of that form, or none of its paths is in this map.
pub fn read_paths(
    text: &str,
    path: &Path,
    nodes: &Nodes,
    engine: &str,
) -> Result<(Routes, Diagnostics), ReadError> {
    let not = |what: String| {
        ReadError::not_such(
            path,
            what,
            "a netloc paths file of the same map",
            "its name ends in -log-paths or -phy-paths",
        )
    };
    let file: PathsFile = serde_json::from_str(text).map_err(|e| not(e.to_string()))?;
    let fabric = &nodes.topology.fabric;
    let mut found = Diagnostics::default();
    let mut routes = Routes::empty(engine, fabric, 1);
    let (mut taken, mut conflicts) = (0usize, 0usize);
    let mut broken: BTreeMap<&'static str, (usize, String)> = BTreeMap::new();
    for (source, dests) in &file.path_info {
        for (dest, steps) in dests {
            match trace(nodes, source, dest, steps) {
                Ok((terminal, hops)) => {
                    taken += 1;
                    let row = routes.row(DestId::terminal(terminal), 0);
                    let mut differs = false;
                    for (s, port) in hops {
                        let before = routes.ports(row)[s.index()];
                        let d = DestId::terminal(terminal);
                        let known = routes.lft_entry(fabric, s, d, 0);
                        if before == darkfiber_routing::NO_ROUTE {
                            routes.set_lft_entry(fabric, s, d, 0, port);
                        } else if known != Some(port) {
                            differs = true;
                        }
                    }
                    conflicts += usize::from(differs);
                }
                Err(problem) => {
                    let first =
                        broken.entry(problem).or_insert_with(|| (0, format!("{source} to {dest}")));
                    first.0 += 1;
                }
            }
        }
    }
    if taken == 0 {
        return Err(not("none of its paths is in the map".to_owned()));
    }
    for (problem, (count, first)) in broken {
        found.warn(
            0,
            format!("{} with {problem}, the first {first}", counted(count, "path", "paths")),
            "left out",
        );
    }
    if conflicts > 0 {
        found.warn(
            0,
            format!(
                "{conflicts} of {taken} paths leave a switch on another port than earlier ones"
            ),
            "tables have one port for a destination: the first path counts",
        );
    }
    Ok((routes, found))
}

/// A switch and the port that a path leaves it on.
type Hop = (SwitchId, u8);

/// The terminal that a path ends at, and its hops.
fn trace(
    nodes: &Nodes,
    source: &str,
    dest: &str,
    steps: &[u64],
) -> Result<(TerminalId, Vec<Hop>), &'static str> {
    let mut at = guid(source).ok_or("a source that is not a GUID")?;
    let end = guid(dest).ok_or("a destination that is not a GUID")?;
    let mut hops = Vec::with_capacity(steps.len());
    let mut last = None;
    for step in steps {
        let edge = nodes.edges.get(step).ok_or("an unknown edge")?;
        if edge.from != at {
            return Err("edges that do not join");
        }
        match nodes.ends.get(&at) {
            Some(NetlocEnd::Switch(s)) => hops.push((*s, edge.port)),
            Some(NetlocEnd::Adapter(..)) if last.is_none() => {}
            _ => return Err("a host in the middle"),
        }
        at = edge.to;
        last = Some(edge);
    }
    let last = last.ok_or("no edges")?;
    if at != end {
        return Err("another end than its destination");
    }
    let Some(NetlocEnd::Adapter(_, terminals)) = nodes.ends.get(&end) else {
        return Err("a switch at its end");
    };
    terminals
        .iter()
        .copied()
        .find(|&t| nodes.topology.fabric.terminal(t).port == last.to_port)
        .map(|t| (t, hops))
        .ok_or("an end without a cable")
}
