//! `opensm-subnet.lst`, OpenSM's list of links, which `ibdmchk -s` reads as topology.
//!
//! Every link has two lines, one a direction: a node block for each end, then the state. ibdiagnet's `ibdiagnet2.lst` has one.
//!
//! ```text
//! { CA Ports:01 SystemGUID:0000200000000100 NodeGUID:0000200000000100 PortGUID:0000200000000101
//!   VenID:0002C9 DevID:1017 Rev:000000A1 {cn0016 HCA-1} LID:0003 PN:01 }
//! { SW Ports:07 ... VenID:000002C9 DevID:CB200000 Rev:000000A1 {g01r03} LID:000D PN:02 }
//! PHY=4x LOG=ACT SPD=10
//! ```
//!
//! (one line in the file). Notes:
//!
//! * All numbers are hexadecimal, port counts, port numbers and LIDs too; there is no LMC.
//! * Node types are `SW`, `CA`, and `Rt` or `RTR` of a router, with `-SM` for the node of the subnet manager. Simulated fabrics
//!   exist that call switches `CA`: a CA with more than eight ports, or with three linked ports of one
//!   port GUID, is read as a switch.
//! * The second block has a device id that is shifted by 16 bits, the first one too in old versions.
//! * `SPD` is the lane speed in Gbit/s; versions before it was written mean SDR.
//! * Braces in descriptions are read as they are, but written as parentheses for other readers.
//!
//! `ibdmchk -s opensm-subnet.lst -f opensm.fdbs -m opensm.mcfdbs -c path-sl` (ibutils 1.5.7) checks a routing from
//! our files. It needs a multicast file to start, which may be empty; it dies of a segmentation fault after its
//! verdict, so only the text counts; and with `-l 2` it finds no path to any LID, with OpenSM's own files too,
//! because a switch has one LID: leave `-l` out, then the first LID of each port is checked.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{
    Adapter, AtPort, Fabric, FabricBuilder, Guid, LinkClass, Switch, SwitchId, Terminal,
    TerminalId, Topology,
};
use darkfiber_routing::Lids;

use crate::diagnostic::counted;
use crate::format::{Format, Reading, Writing};
use crate::guids::{one_line, parse_guid, parse_hex};
use crate::hosts::{HostTable, role_of};
use crate::known_by::KnownBy;
use crate::{Diagnostic, Diagnostics, ReadError, Severity, ibdiagnet};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "subnet.lst",
    what: "an OpenSM subnet.lst",
    summary: "OpenSM's opensm-subnet.lst, read by ibdm tools",
    known_by: &[KnownBy::Line(|l| l.starts_with('{') && l.contains("NodeGUID:"))],
    read: Reading::Fabric(|c| read(c.text, c.path)),
    write: Writing::By("route -o"),
    ..Format::NONE
};

/// `SPD=` and the InfiniBand speed name.
const SPEEDS: &[(&str, &str)] = &[
    ("2.5", "SDR"),
    ("5", "DDR"),
    ("10", "QDR"),
    ("FDR10", "FDR10"),
    ("14", "FDR"),
    ("25", "EDR"),
    ("50", "HDR"),
    ("100", "NDR"),
    ("200", "XDR"),
];

/// What is wrong with a line that is not of a link.
const NO_BLOCKS: &str = "has no two node blocks";

/// A CA with more ports than this is a switch.
const MOST_CA_PORTS: u8 = 8;

/// One end of a link as a line has it.
struct Block<'a> {
    kind: &'a str,
    ports: u8,
    system: Guid,
    node: Guid,
    port_guid: Guid,
    vendor: u32,
    device: u32,
    description: &'a str,
    lid: u16,
    port: u8,
}

struct Node {
    called_switch: bool,
    /// It joins this subnet to another, and is left out.
    is_router: bool,
    guid: Guid,
    system: Guid,
    ports: u8,
    vendor: u32,
    device: u32,
    description: String,
    /// Linked ports: number, GUID, LID.
    linked: Vec<(u8, Guid, u16)>,
}

struct Link {
    ends: [(usize, u8); 2],
    label: String,
    line: usize,
    /// Whether the line of the other direction was there.
    paired: bool,
}

/// Reads a list of links. The fabric is named after the file.
///
/// # Errors
/// If no line has two node blocks, or the nodes do not make a fabric.
pub fn read(text: &str, path: &Path) -> Result<(Topology, Diagnostics), ReadError> {
    let mut found = Diagnostics::default();
    let mut nodes = Nodes::default();
    let mut last = 0;
    for (i, line) in text.lines().enumerate() {
        last = i + 1;
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            nodes.add(line, last, &mut found);
        }
    }
    if ibdiagnet::is_cut(text) {
        found.error(
            last,
            "the list was cut short: `# File closed at` is missing, with which ibdiagnet ends it",
            "hosts may be missing; copy it again",
        );
    }
    // OpenSM ends every line.
    let is_damaged = |d: &Diagnostic| d.line == last && d.what.ends_with(NO_BLOCKS);
    if !text.ends_with('\n') && found.0.last().is_some_and(is_damaged) {
        found.error(
            last,
            "the list was cut short in this line",
            "hosts may be missing; make a new one",
        );
    }
    let expected = "an opensm-subnet.lst file";
    if nodes.links.is_empty() {
        return Err(ReadError::not_such(
            path,
            "no line has two node blocks '{ SW|CA Ports:.. } { .. }'",
            expected,
            "",
        ));
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".lst").unwrap_or(&name);
    let fabric = build(name, &nodes, &mut found)
        .map_err(|e| ReadError::not_such(path, e.to_string(), expected, ""))?;
    found.0.sort_by_key(|d| d.line);
    Ok((Topology { fabric, shape: None }, found))
}

#[derive(Default)]
struct Nodes {
    list: Vec<Node>,
    by_guid: HashMap<Guid, usize>,
    links: Vec<Link>,
    link_at: HashMap<(usize, u8), usize>,
}

impl Nodes {
    fn add(&mut self, line: &str, number: usize, found: &mut Diagnostics) {
        let parsed = block(line).and_then(|(a, rest)| block(rest).map(|(b, state)| (a, b, state)));
        let Some((a, b, state)) = parsed else {
            let shown: String = line.chars().take(60).collect();
            found.warn(
                number,
                format!("'{shown}' {NO_BLOCKS}"),
                "expected '{ TYPE Ports:.. {name} LID:.. PN:.. } { .. } PHY=.. LOG=.. SPD=..'",
            );
            return;
        };
        let label = label(state);
        if let Some(log) = word(state, "LOG=").filter(|log| *log != "ACT") {
            found.warn(number, format!("link in state {log}"), "it is taken as active");
        }
        let ends = [self.node(&a), self.node(&b)];
        match (self.link_at.get(&ends[0]), self.link_at.get(&ends[1])) {
            (None, None) => {
                self.link_at.insert(ends[0], self.links.len());
                self.link_at.insert(ends[1], self.links.len());
                self.links.push(Link { ends, label, line: number, paired: false });
            }
            (Some(&x), Some(&y)) if x == y => {
                let link = &mut self.links[x];
                link.paired |= link.ends[0] == ends[1];
                if link.label != label {
                    found.warn(
                        number,
                        format!("{label} here, but {} at the other end", link.label),
                        "the first is taken",
                    );
                }
            }
            _ => {
                let port = |node: &Block<'_>| format!("port {} of {}", node.port, node.node);
                found.error(
                    number,
                    format!("{} and {}: one has another cable", port(&a), port(&b)),
                    "left out; the list mixes two states of the fabric",
                );
            }
        }
    }

    /// Whether each link has one line, as ibdiagnet 2 writes it: then there is one from a node to another that has lines of its own,
    /// all of which a list with two lines a link would have had by then.
    fn have_links_once(&self) -> bool {
        let Some(last) = self.links.last().map(|l| l.ends[0].0) else { return false };
        let near: HashSet<usize> = self.links.iter().map(|l| l.ends[0].0).collect();
        let joins_listed = |l: &Link| {
            let [a, b] = l.ends.map(|(node, _)| node);
            a != b && b != last && near.contains(&b)
        };
        self.links.iter().all(|l| !l.paired) && self.links.iter().any(joins_listed)
    }

    /// The end of a link, its node added if new.
    fn node(&mut self, block: &Block<'_>) -> (usize, u8) {
        let next = self.list.len();
        let index = *self.by_guid.entry(block.node).or_insert(next);
        if index == next {
            self.list.push(Node {
                called_switch: block.kind.starts_with("SW"),
                is_router: block.kind.to_ascii_uppercase().starts_with('R'),
                guid: block.node,
                system: block.system,
                ports: block.ports,
                vendor: block.vendor,
                device: block.device,
                description: block.description.to_owned(),
                linked: Vec::new(),
            });
        }
        let node = &mut self.list[index];
        if !node.linked.iter().any(|l| l.0 == block.port) {
            node.linked.push((block.port, block.port_guid, block.lid));
        }
        // Some versions leave the ids out of one of the two blocks.
        node.device = node.device.max(block.device);
        node.ports = node.ports.max(block.ports).max(block.port);
        (index, block.port)
    }
}

impl Node {
    fn is_switch(&self) -> bool {
        self.called_switch
            || self.ports > MOST_CA_PORTS
            || (self.linked.len() > 2 && self.linked.iter().all(|l| l.1 == self.linked[0].1))
    }
}

/// Takes a node block off the head of a line.
fn block(text: &str) -> Option<(Block<'_>, &str)> {
    let text = text.trim_start().strip_prefix('{')?;
    let (head, rest) = text.split_once('{')?;
    // Descriptions may hold braces themselves.
    let (description, rest) = rest.split_once("} LID:")?;
    let (tail, rest) = rest.split_once('}')?;
    let mut tail = tail.split_whitespace();
    let lid = tail.next().and_then(parse_hex)?;
    let port = tail.next()?.strip_prefix("PN:").and_then(parse_hex)?;
    let guid = |key: &str| word(head, key).and_then(parse_guid);
    let number = |key: &str| word(head, key).and_then(parse_hex);
    let device = number("DevID:").unwrap_or_default() as u32;
    Some((
        Block {
            kind: head.split_whitespace().next()?,
            ports: number("Ports:").and_then(|p| u8::try_from(p).ok())?,
            system: guid("SystemGUID:").unwrap_or_default(),
            node: guid("NodeGUID:")?,
            port_guid: guid("PortGUID:")?,
            vendor: number("VenID:").unwrap_or_default() as u32,
            device: if device > 0xffff { device >> 16 } else { device },
            description,
            lid: u16::try_from(lid).ok()?,
            port: u8::try_from(port).ok().filter(|p| (1..255).contains(p))?,
        },
        rest,
    ))
}

/// The rest of the word that starts with `key`.
fn word<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split_whitespace().find_map(|w| w.strip_prefix(key))
}

/// `PHY=4x LOG=ACT SPD=10` as a label, `4xQDR`.
fn label(state: &str) -> String {
    let width = word(state, "PHY=").unwrap_or("?");
    let speed = word(state, "SPD=").unwrap_or("2.5");
    let known = SPEEDS.iter().find(|(spd, _)| *spd == speed);
    format!("{width}{}", known.map_or(speed, |(_, name)| name))
}

fn build(
    name: &str,
    nodes: &Nodes,
    found: &mut Diagnostics,
) -> Result<Fabric, darkfiber_fabric::BuildError> {
    /// The element that a node became.
    enum CreatedNode {
        Switch(SwitchId),
        Adapter(darkfiber_fabric::AdapterId),
        Router,
    }
    // Nodes first: cables refer to the elements that they became.
    let mut builder = FabricBuilder::new(name);
    let mut hosts = HostTable::default();
    let mut renamed = 0;
    let made: Vec<CreatedNode> = nodes
        .list
        .iter()
        .map(|node| {
            if node.is_router {
                let cables = counted(node.linked.len(), "cable", "cables");
                found.warn(
                    0,
                    format!("router \"{}\" is left out, and so are its {cables}", node.description),
                    "it leads to another subnet",
                );
                builder.reserve_lids(node.linked.iter().map(|l| l.2).filter(|&lid| lid != 0));
                return CreatedNode::Router;
            }
            if !node.is_switch() {
                let host = hosts.host(&mut builder, &node.description, node.system, node.guid);
                return CreatedNode::Adapter(builder.add_adapter(Adapter {
                    guid: node.guid,
                    system_guid: node.system,
                    description: node.description.clone(),
                    ports: node.ports,
                    host,
                    vendor: node.vendor,
                    device: node.device,
                }));
            }
            renamed += usize::from(!node.called_switch);
            CreatedNode::Switch(builder.add_switch(Switch {
                guid: node.guid,
                system_guid: node.system,
                description: node.description.clone(),
                ports: node.ports,
                lid: node.linked.first().map(|l| l.2).filter(|&l| l != 0),
                enhanced_port0: false,
                vendor: node.vendor,
                device: node.device,
            }))
        })
        .collect();
    if renamed > 0 {
        found.note(
            0,
            format!(
                "{} the ports of a switch",
                counted(renamed, "node of type CA has", "nodes of type CA have")
            ),
            "read as a switch",
        );
    }
    // Cables: between switches, or from a switch to an adapter.
    let (mut unpaired, mut first) = (0, 0);
    let mut guids_used = HashSet::new();
    for link in &nodes.links {
        if !link.paired && link.ends[0] != link.ends[1] {
            first = if unpaired == 0 { link.line } else { first };
            unpaired += 1;
        }
        let class = builder.class(LinkClass::infiniband(&link.label).unwrap_or_else(|| {
            found.warn(
                link.line,
                format!("unknown link speed '{}'", link.label),
                "it counts as 4xQDR",
            );
            LinkClass::unknown()
        }));
        let [(a, a_port), (b, b_port)] = link.ends;
        let (switch, switch_port, adapter, node, port) = match (&made[a], &made[b]) {
            (&CreatedNode::Switch(s), &CreatedNode::Switch(t)) => {
                if (s, a_port) == (t, b_port) {
                    found.warn(link.line, "a port linked to itself", "left out");
                } else {
                    builder.link_switches((s, a_port), (t, b_port), class)?;
                }
                continue;
            }
            (&CreatedNode::Switch(s), &CreatedNode::Adapter(h)) => {
                (s, a_port, h, &nodes.list[b], b_port)
            }
            (&CreatedNode::Adapter(h), &CreatedNode::Switch(s)) => {
                (s, b_port, h, &nodes.list[a], a_port)
            }
            (CreatedNode::Router, _) | (_, CreatedNode::Router) => continue,
            (CreatedNode::Adapter(_), CreatedNode::Adapter(_)) => {
                found.warn(
                    link.line,
                    "a cable between two adapters",
                    "left out: it is not part of a switched fabric",
                );
                continue;
            }
        };
        // A port of an adapter is a terminal; GUIDs that are given twice are replaced.
        let &(_, guid, lid) =
            node.linked.iter().find(|l| l.0 == port).expect("the port was added with the link");
        let guid = free_guid(guid, &mut guids_used);
        builder.link_terminal(Terminal {
            adapter,
            port,
            guid,
            switch,
            switch_port,
            lid: Some(lid).filter(|&l| l != 0),
            lmc: 0,
            role: role_of(&node.description),
            class,
        })?;
    }
    if unpaired > 0 && !nodes.have_links_once() {
        let links = counted(unpaired, "link has", "links have");
        found.warn(
            first,
            format!("{links} one line instead of two, here the first"),
            "the list was cut or edited: hosts may be missing; make a new one",
        );
        // Where no link has two it may be all of a small list of ibdiagnet's.
        if let Some(last) = found.0.last_mut().filter(|_| unpaired < nodes.links.len()) {
            last.severity = Severity::Error;
        }
    }
    builder.finish()
}

/// The GUID itself, or the next one that no other port has: simulated adapters may have one GUID for
/// all their ports.
pub(crate) fn free_guid(mut guid: Guid, used: &mut HashSet<Guid>) -> Guid {
    while guid.0 == 0 || !used.insert(guid) {
        guid.0 = guid.0.wrapping_add(1);
    }
    guid
}

/// Writes a list of links, two lines each, as OpenSM 3.3.23 does (but no node is marked as the subnet
/// manager's, revisions are 0, and device ids are in their place).
///
/// `ibdmchk` reads the LIDs of this file, so it must be written with the LIDs of the tables.
///
/// # Errors
/// Any error of `out`.
pub fn write(out: &mut dyn Write, fabric: &Fabric, lids: &Lids) -> io::Result<()> {
    for s in (0..fabric.switch_count()).map(SwitchId::new) {
        for port in 1..=fabric.switch(s).ports {
            let near = switch_block(fabric, lids, s, port);
            match fabric.at_port(s, port) {
                AtPort::Nothing => {}
                AtPort::Switch(c, v) => {
                    let far = switch_block(fabric, lids, v, fabric.head_port(c));
                    writeln!(out, "{near} {far} {}", state(fabric.class_of(c)))?;
                }
                AtPort::Terminal(t) => {
                    let far = terminal_block(fabric, lids, t);
                    let state = state(fabric.terminal_class(t));
                    writeln!(out, "{near} {far} {state}")?;
                    writeln!(out, "{far} {near} {state}")?;
                }
                AtPort::Loopback => {
                    let cable = fabric
                        .loopbacks()
                        .iter()
                        .find(|l| l.switch == s && (l.ports.0 == port || l.ports.1 == port));
                    if let Some(cable) = cable {
                        let other = cable.ports.0 ^ cable.ports.1 ^ port;
                        let far = switch_block(fabric, lids, s, other);
                        let state = state(&fabric.classes()[cable.class as usize]);
                        writeln!(out, "{near} {far} {state}")?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn switch_block(fabric: &Fabric, lids: &Lids, s: SwitchId, port: u8) -> String {
    let switch = fabric.switch(s);
    written(&Block {
        kind: "SW",
        ports: switch.ports,
        system: switch.system_guid,
        node: switch.guid,
        port_guid: switch.guid,
        vendor: switch.vendor,
        device: switch.device,
        description: &switch.description,
        lid: lids.switch(s),
        port,
    })
}

fn terminal_block(fabric: &Fabric, lids: &Lids, t: TerminalId) -> String {
    let terminal = fabric.terminal(t);
    let adapter = fabric.adapter(terminal.adapter);
    written(&Block {
        kind: "CA",
        ports: adapter.ports,
        system: adapter.system_guid,
        node: adapter.guid,
        port_guid: terminal.guid,
        vendor: adapter.vendor,
        device: adapter.device,
        description: &adapter.description,
        lid: lids.terminal(t),
        port: terminal.port,
    })
}

fn written(b: &Block<'_>) -> String {
    let description = one_line(b.description).replace('{', "(").replace('}', ")");
    format!(
        "{{ {} Ports:{:02X} SystemGUID:{:016x} NodeGUID:{:016x} PortGUID:{:016x} VenID:{:06X} \
         DevID:{:04X} Rev:00000000 {{{description}}} LID:{:04X} PN:{:02X} }}",
        b.kind, b.ports, b.system.0, b.node.0, b.port_guid.0, b.vendor, b.device, b.lid, b.port
    )
}

fn state(class: &LinkClass) -> String {
    match rate(class) {
        Some((width, spd)) => format!("PHY={width}x LOG=ACT SPD={spd}"),
        None => "PHY=4x LOG=ACT SPD=10".to_owned(),
    }
}

/// Width and lane speed. Readers of this file accept only those of InfiniBand.
fn rate(class: &LinkClass) -> Option<(&str, &'static str)> {
    let (width, name) = class.label.split_once('x')?;
    let (spd, _) = SPEEDS.iter().find(|(_, known)| *known == name)?;
    Some((width, spd))
}

/// Labels of links whose rate [`write()`] cannot express, and writes as 4xQDR.
pub fn without_rate(fabric: &Fabric) -> impl Iterator<Item = &str> {
    fabric.classes().iter().filter(|class| rate(class).is_none()).map(|class| &*class.label)
}
