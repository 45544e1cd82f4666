//! Conversion of lines to records.

use std::collections::HashMap;
use std::path::Path;

use darkfiber_fabric::{Guid, Topology};

use super::line::{Header, Line, NodeLine, PortLine, parse};
use crate::diagnostic::{counted, excerpt};
use crate::ibdiagnet;
use crate::input::name_of;
use crate::records::{Key, Listing, Node, NodeKind, Records, unicast};
use crate::{Diagnostics, ReadError};

/// Reads an `ibnetdiscover` file, or an input file of ibsim.
///
/// Switches and adapters come in the order of the file. The fabric is named after the file. Irregularities are
/// reported in the diagnostics, one a line, in the order of the file:
///
/// * an **error** where the file contradicts itself: two nodes with one GUID (the second is dropped
///   with its port lines), one port with two different cables (the first is kept), a port that the
///   node does not have; and where it was cut short among the switches, whose hosts may be missing
///   then;
/// * a **warning** where something is left out or guessed: damaged lines, messages of the tool itself,
///   cables with only one end listed (they are made), nodes that are referred to but never described
///   (they are made of what their neighbours say), cables between two adapters and cables of routers
///   (left out), different speeds at the two ends of a cable (the slower counts), 1x cables, and
///   cables that are slower than others between the same two switches;
/// * a **note** on adapters without a link to a switch (they stay, without a terminal), and on lines
///   that are not of this format.
///
/// Hosts are guessed from descriptions and system image GUIDs; see [`crate::hosts::host_key`].
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if there is not one node in the text.
pub fn read(text: &str, path: &Path) -> Result<(Topology, Diagnostics), ReadError> {
    let mut reader = Reader {
        records: Records::default(),
        guids: HashMap::new(),
        pending: Pending::default(),
        current: Current::None,
        diagnostics: Diagnostics::default(),
    };
    let mut last = 0;
    for (i, line) in text.lines().enumerate() {
        last = i + 1;
        reader.line(last, line);
    }
    if reader.records.nodes.is_empty() {
        return Err(ReadError::wrong_format(
            path,
            "no line describes a node",
            "an ibnetdiscover file (lines such as `Switch 36 \"S-...\"` and `Ca 1 \"H-...\"`)",
        ));
    }
    reader.end(last, text);
    let Reader { records, mut diagnostics, .. } = reader;
    let topology = records.assemble(&name_of(path), path, &mut diagnostics)?;
    Ok((topology, diagnostics))
}

/// Values of the preceding `key=value` lines; they belong to the next node line.
#[derive(Default)]
struct Pending {
    any: bool,
    vendor: u64,
    device: u64,
    system: u64,
    node: u64,
    /// In parentheses behind the node's, which in ibdiagnet's files is the system image's.
    second: Option<u64>,
}

/// The node to which the following port lines belong.
#[derive(Clone, Copy)]
enum Current {
    None,
    /// A node that is not read.
    Skipped,
    Node(u32),
}

struct Reader<'a> {
    records: Records<'a>,
    /// Line of the node with that GUID.
    guids: HashMap<Guid, usize>,
    pending: Pending,
    current: Current,
    diagnostics: Diagnostics,
}

impl<'a> Reader<'a> {
    fn line(&mut self, number: usize, text: &'a str) {
        match parse(text) {
            Line::Nothing => {}
            Line::Header(header, value, second) => {
                // Port lines never follow these, so a damaged node line in between shows.
                self.current = Current::None;
                let p = &mut self.pending;
                p.any = true;
                if header == Header::Node {
                    p.second = second;
                }
                *match header {
                    Header::Vendor => &mut p.vendor,
                    Header::Device => &mut p.device,
                    Header::System => &mut p.system,
                    Header::Node => &mut p.node,
                } = value;
            }
            Line::Node(node) => self.node(number, &node),
            Line::Port(port) => self.port(number, &port),
            Line::Damaged => {
                if !text.trim_start().starts_with('[') {
                    self.current = Current::Skipped;
                    self.pending = Pending::default();
                }
                self.diagnostics.warn(
                    number,
                    format!("cut or damaged line: {}", excerpt(text)),
                    "the line is left out; make a new dump if cables are missing",
                );
            }
            // It says that it runs on the simulator.
            Line::Message if text.contains("sim_connect: attached") => {}
            Line::Message => self.diagnostics.warn(
                number,
                format!("message of the tool itself: {}", excerpt(text)),
                "ibnetdiscover may not have seen the whole fabric",
            ),
            Line::Directive => self.diagnostics.warn(
                number,
                format!("directive of ibsim is not followed: {}", excerpt(text)),
                "give a file without it",
            ),
            Line::Other => self.diagnostics.note(
                number,
                format!("not a line of ibnetdiscover: {}", excerpt(text)),
                "ignored",
            ),
        }
    }

    fn node(&mut self, line: usize, node: &NodeLine<'a>) {
        let header = std::mem::take(&mut self.pending);
        self.current = Current::Skipped;
        let key = Key::new(node.id);
        let index = self.records.nodes.len() as u32;
        let header_guid = (header.node != 0).then_some(Guid(header.node));
        let guid = match key {
            Key::Guid(_, guid) => {
                if header_guid.is_some_and(|h| h != guid) && header.second != Some(guid.0) {
                    self.diagnostics.warn(
                        line,
                        format!(
                            "\"{}\" is headed by GUID {}",
                            node.id,
                            header_guid.unwrap_or_default()
                        ),
                        "the GUID in the node line counts",
                    );
                }
                Some(guid)
            }
            Key::Lid(_) | Key::Name(_) => header_guid,
        };
        let of_key = self.records.index.get(&key);
        let taken = of_key
            .map(|&i| self.records.nodes[i as usize].line)
            .or_else(|| self.guids.get(&guid?).copied());
        if let Some(first) = taken {
            let what = match guid {
                Some(guid) => format!("GUID {guid} already belongs to the node of line {first}"),
                None => format!("node \"{}\" is already described in line {first}", node.id),
            };
            self.diagnostics.error(
                line,
                format!("{what}; this one is dropped"),
                "two nodes cannot share a GUID; are these several dumps in one file?",
            );
            return;
        }
        self.records.index.insert(key, index);
        if let Some(guid) = guid {
            self.guids.insert(guid, line);
        }
        if node.cut {
            self.diagnostics.warn(
                line,
                format!("the description of \"{}\" has no end", node.id),
                "the line was cut; make a new dump if nodes are missing",
            );
        }
        let ports = if node.ports > 254 {
            self.diagnostics.error(
                line,
                format!("\"{}\" has {} ports; InfiniBand allows 254", node.id, node.ports),
                "read as 254",
            );
            254
        } else {
            node.ports as u8
        };
        self.current = Current::Node(index);
        let id = node.id;
        let lid = unicast(node.lid, line, &mut self.diagnostics);
        self.records.nodes.push(Node {
            line,
            kind: node.kind,
            id,
            guid,
            system: Guid(header.system),
            vendor: header.vendor as u32,
            device: header.device as u32,
            ports,
            description: node.description.unwrap_or(id),
            lid,
            enhanced_port0: node.enhanced_port0,
        });
    }

    fn port(&mut self, line: usize, port: &PortLine<'a>) {
        let node = match self.current {
            Current::Node(node) => node,
            Current::Skipped => return,
            Current::None => {
                self.diagnostics.warn(
                    line,
                    "port line that belongs to no node",
                    "a node line before it is missing; the line is left out",
                );
                return;
            }
        };
        let lmc = port.lmc.unwrap_or(0);
        if lmc > 7 {
            self.diagnostics.warn(line, format!("LMC {lmc} is out of range: 0 to 7"), "read as 0");
        }
        let lid = unicast(port.lid, line, &mut self.diagnostics);
        let far_lid = unicast(port.far_lid, line, &mut self.diagnostics);
        self.records.ports.push(Listing {
            line,
            node,
            port: port.port,
            guid: port.guid,
            far: Key::new(port.far),
            far_id: port.far,
            far_port: port.far_port,
            far_guid: port.far_guid,
            far_description: port.far_description,
            lid,
            lmc: if lmc > 7 { 0 } else { lmc as u8 },
            far_lid,
            label: port.label,
        });
    }

    fn end(&mut self, last: usize, text: &str) {
        let complete = text.ends_with('\n');
        let is_damaged = self
            .diagnostics
            .0
            .last()
            .is_some_and(|d| d.line == last && d.what.starts_with("cut or damaged"));
        let line = text.lines().next_back().unwrap_or_default();
        let is_open = line.matches('"').count() % 2 == 1;
        // Dumps end with their adapters: if some have no record, one that ends within the lines of a switch was cut there.
        let lacks_adapters = || {
            let Records { ports, index, .. } = &self.records;
            ports.iter().any(|p| {
                matches!(p.far, Key::Guid(NodeKind::Adapter, _)) && !index.contains_key(&p.far)
            })
        };
        let is_cut =
            !complete && (is_damaged || is_open || lacks_adapters()) || ibdiagnet::is_cut(text);
        if let Some(what) = self.cut_among_switches(is_cut) {
            self.diagnostics.error(
                last,
                what,
                "hosts may be missing that no other line names; make a new one",
            );
        } else if self.pending.any {
            self.diagnostics.warn(
                last,
                "the file ends in the middle of a record",
                "the dump was cut short; make a new one",
            );
        } else if !complete && is_damaged {
            self.diagnostics.warn(
                last,
                "the file ends in the middle of a line",
                "the dump was cut short; make a new one",
            );
        }
    }

    /// Says how the dump was cut short among its switches, which come before the adapters, if it
    /// was. The hosts of what is missing are then named nowhere; after the last switch, the lines
    /// of switches name all adapters.
    fn cut_among_switches(&self, in_a_line: bool) -> Option<String> {
        let Records { nodes, ports, index } = &self.records;
        let last = nodes.len().checked_sub(1)?;
        let node = &nodes[last];
        let key = Key::new(node.id);
        // Files for ibsim have free names, any order, and may list one end of a cable.
        let ends_here = node.kind == NodeKind::Switch
            && matches!(key, Key::Guid(..))
            && matches!(self.current, Current::Node(at) if at as usize == last);
        if ends_here {
            let what =
                format!("the dump was cut short in the record of switch \"{}\"", node.description);
            if in_a_line {
                return Some(what);
            }
            // Ports are listed in ascending order.
            let of_it = |p: &&Listing<'_>| p.node as usize == last;
            let highest = ports.iter().filter(of_it).map(|p| p.port).max().unwrap_or(0);
            let unlisted =
                ports.iter().filter(|p| !of_it(p) && p.far == key && p.far_port > highest).count();
            if unlisted > 0 {
                let named = counted(unlisted, "port", "ports");
                return Some(format!("{what}: other records name {named} that it does not list"));
            }
        }
        // The host from which the fabric was discovered may come first.
        if node.kind == NodeKind::Adapter {
            return None;
        }
        let is_missing = |p: &&Listing<'_>| {
            matches!(p.far, Key::Guid(NodeKind::Switch, _)) && !index.contains_key(&p.far)
        };
        let line = ports.iter().find(is_missing)?;
        let name = line.far_description.unwrap_or(line.far_id);
        Some(format!("the dump was cut short: switch \"{name}\" has no record"))
    }
}
