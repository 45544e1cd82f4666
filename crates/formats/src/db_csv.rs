//! ibdiagnet's database (`ibdiagnet2.db_csv`): tables one after the other, each between `START_NAME` and `END_NAME`.
//!
//! ```text
//! START_LINKS
//! NodeGuid1,PortNum1,NodeGuid2,PortNum2
//! 0xb8599f0300fc6de4,1,0xec0d9a03007d7d0a,1
//! END_LINKS
//! ```
//!
//! The fabric is in `NODES`, `PORTS` and `LINKS`, and which switches have an enhanced port 0 in `SWITCHES`. Columns are found by
//! their names. Speeds and widths are sums of powers of two: SDR, DDR and QDR from 1, FDR to XDR from 256, FDR10 65536; 1, 4, 8, 12
//! and 2 lanes from 1. An active link has one of each, but ports that are faster than QDR may say QDR as well (2052: NDR). Of speeds
//! that are not known the fastest that is known is taken, with a warning.

use std::collections::HashMap;
use std::path::Path;

use darkfiber_fabric::{Guid, Topology};

use crate::diagnostic::counted;
use crate::format::{Format, Reading};
use crate::guids::parse_guid;
use crate::input::name_of;
use crate::known_by::KnownBy;
use crate::records::{Key, Listing, Node, NodeKind, Records, unicast};
use crate::speeds::{self, Speed};
use crate::{Diagnostics, ReadError, sheet};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "db_csv",
    what: "a database of ibdiagnet",
    summary: "ibdiagnet2.db_csv: its tables NODES, PORTS and LINKS",
    known_by: &[KnownBy::Line(begins_table)],
    read: Reading::Fabric(|c| read(c.text, c.path)),
    ..Format::NONE
};

/// Tables that such a file begins with, or that are read.
const TABLES: [&str; 6] = ["DUMP_INFO", "NODES", "PORTS", "LINKS", "SWITCHES", "PM_INFO"];

/// Whether a line begins one of [`TABLES`].
pub(crate) fn begins_table(line: &str) -> bool {
    line.strip_prefix("START_").is_some_and(|name| TABLES.contains(&name))
}

/// Expected content, for errors.
const EXPECTED: &str = "a database of ibdiagnet with the tables NODES, PORTS and LINKS";

/// The lines of each table of a name with its heading, and how many lines come before. There are several where files were put together.
pub(crate) fn tables<'t>(text: &'t str, name: &str) -> Vec<(usize, &'t str)> {
    let mut all = Vec::new();
    let mut begin: Option<(usize, usize)> = None;
    let mut offset = 0;
    for (i, line) in text.split_inclusive('\n').enumerate() {
        let word = line.trim();
        match begin {
            None if word.strip_prefix("START_") == Some(name) => {
                begin = Some((i + 1, offset + line.len()));
            }
            Some((before, start)) if word.strip_prefix("END_") == Some(name) => {
                all.push((before, &text[start..offset]));
                begin = None;
            }
            _ => {}
        }
        offset += line.len();
    }
    all.extend(begin.map(|(before, start)| (before, &text[start..])));
    all
}

/// Whether a table is there and has no end.
fn is_cut(text: &str, name: &str) -> bool {
    let has = |mark: &str| text.lines().any(|l| l.trim().strip_prefix(mark) == Some(name));
    has("START_") && !has("END_")
}

/// Reads the fabric of ibdiagnet's database.
///
/// # Errors
/// [`ReadError::NotSuchAFile`] if a table or a column is missing, or there is no node.
pub fn read(text: &str, path: &Path) -> Result<(Topology, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let nodes = Table::new(text, path, "NODES", &mut d)?;
    let ports = Table::new(text, path, "PORTS", &mut d)?;
    let links = Table::new(text, path, "LINKS", &mut d)?;
    let mut records = Records::default();
    add_nodes(&mut records, &nodes, path, &mut d)?;
    let ports = by_end(&ports, path, &mut d)?;
    // The switch's own LID is that of its port 0.
    for node in records.nodes.iter_mut().filter(|n| n.kind == NodeKind::Switch) {
        let port0 = node.guid.and_then(|guid| ports.get(&(guid, 0)));
        node.lid = port0.and_then(|port| port.lid);
    }
    if !tables(text, "SWITCHES").is_empty() {
        let switches = Table::new(text, path, "SWITCHES", &mut d)?;
        add_ports0(&mut records, &switches);
    }
    add_links(&mut records, &links, &ports, path, &mut d)?;
    if records.nodes.is_empty() {
        return Err(ReadError::not_such(path, "the table NODES has no node", EXPECTED, ""));
    }
    let cut: Vec<&str> =
        ["NODES", "PORTS", "LINKS"].into_iter().filter(|name| is_cut(text, name)).collect();
    if let [first, ..] = cut[..] {
        d.error(
            text.lines().count(),
            format!("the table {first} has no end: the file was cut short"),
            "hosts may be missing; copy it again",
        );
    }
    let topology = records.assemble(&name_of(path), path, &mut d)?;
    Ok((topology, d))
}

/// A table in memory.
struct Table {
    name: &'static str,
    heading: Vec<String>,
    /// Number of the line, and its cells.
    lines: Vec<(usize, csv::StringRecord)>,
}

impl Table {
    fn new(
        text: &str,
        path: &Path,
        name: &'static str,
        d: &mut Diagnostics,
    ) -> Result<Self, ReadError> {
        let all = tables(text, name);
        let Some(&(before, text)) = all.first() else {
            let hint = "give the whole ibdiagnet2.db_csv, or the output of ibnetdiscover";
            return Err(ReadError::not_such(
                path,
                format!("there is no table {name}"),
                EXPECTED,
                hint,
            ));
        };
        if let (Some((second, _)), "NODES") = (all.get(1), name) {
            let hint = "the first is read: give one database at a time";
            d.warn(*second, format!("there is a second table {name}"), hint);
        }
        // Blanks at the ends of a name are part of it.
        let mut reader = sheet::reader(text).trim(csv::Trim::Headers).from_reader(text.as_bytes());
        let unreadable =
            |e: csv::Error| ReadError::not_such(path, format!("table {name}: {e}"), EXPECTED, "");
        let heading = reader.headers().map_err(unreadable)?.iter().map(str::to_owned).collect();
        let mut lines = Vec::new();
        for record in reader.records() {
            match record {
                Ok(record) => {
                    lines.push((before + sheet::line(text, &record), record));
                }
                Err(e) => {
                    let at = e.position().map_or(0, |p| p.line() as usize);
                    d.warn(before + at, format!("no line of {name}: {e}"), "left out");
                }
            }
        }
        Ok(Self { name, heading, lines })
    }

    fn column(&self, name: &str, path: &Path) -> Result<usize, ReadError> {
        let is_it = |h: &String| h.eq_ignore_ascii_case(name);
        self.heading.iter().position(is_it).ok_or_else(|| {
            let what = format!("the table {} has no column {name}", self.name);
            ReadError::not_such(path, what, EXPECTED, "")
        })
    }
}

/// A cell that is a number, decimal or hexadecimal with `0x`.
fn number(record: &csv::StringRecord, column: usize) -> Option<u32> {
    let text = record.get(column)?.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn guid(record: &csv::StringRecord, column: usize) -> Option<Guid> {
    record.get(column).map(str::trim).and_then(parse_guid).filter(|guid| guid.0 != 0)
}

fn add_nodes<'t>(
    records: &mut Records<'t>,
    table: &'t Table,
    path: &Path,
    d: &mut Diagnostics,
) -> Result<(), ReadError> {
    let column = |name| table.column(name, path);
    let (of_guid, of_kind) = (column("NodeGUID")?, column("NodeType")?);
    let (of_name, of_ports) = (column("NodeDesc")?, column("NumPorts")?);
    // Useful, and missing in some versions.
    let [system, vendor, device] =
        ["SystemImageGUID", "VendorID", "DeviceID"].map(|name| column(name).ok());
    for (line, record) in &table.lines {
        let kind = match number(record, of_kind) {
            Some(1) => Some(NodeKind::Adapter),
            Some(2) => Some(NodeKind::Switch),
            Some(3) => Some(NodeKind::Router),
            _ => None,
        };
        let ports =
            number(record, of_ports).and_then(|n| u8::try_from(n).ok()).filter(|&n| n < 255);
        let (Some(kind), Some(node), Some(ports)) = (kind, guid(record, of_guid), ports) else {
            let what = "no node: its GUID, type (1 to 3) or number of ports (0 to 254) is damaged";
            d.warn(*line, what, "the line is left out");
            continue;
        };
        let keys =
            [NodeKind::Adapter, NodeKind::Switch, NodeKind::Router].map(|k| Key::Guid(k, node));
        if let Some(first) = keys.iter().find_map(|key| records.index.get(key)) {
            let first = records.nodes[*first as usize].line;
            let what = format!("GUID {node} already belongs to the node of line {first}");
            d.error(*line, what, "the line is left out");
            continue;
        }
        let optional = |column: Option<usize>| column.and_then(|c| number(record, c)).unwrap_or(0);
        let description = record.get(of_name).unwrap_or_default();
        records.index.insert(Key::Guid(kind, node), records.nodes.len() as u32);
        records.nodes.push(Node {
            line: *line,
            kind,
            id: description,
            guid: Some(node),
            system: system.and_then(|c| guid(record, c)).unwrap_or_default(),
            vendor: optional(vendor),
            device: optional(device),
            ports,
            description,
            lid: None,
            enhanced_port0: false,
        });
    }
    Ok(())
}

/// Notes which switches have an enhanced port 0.
fn add_ports0(records: &mut Records<'_>, table: &Table) {
    let column = |name: &str| table.heading.iter().position(|h| h.eq_ignore_ascii_case(name));
    let (Some(of_node), Some(of_port0)) = (column("NodeGUID"), column("ENP0")) else { return };
    for (_, record) in &table.lines {
        if let Some(node) = guid(record, of_node)
            && let Some(&at) = records.index.get(&Key::Guid(NodeKind::Switch, node))
        {
            records.nodes[at as usize].enhanced_port0 = number(record, of_port0) == Some(1);
        }
    }
}

/// What the table of ports says of one.
struct Port {
    guid: Option<Guid>,
    lid: Option<u16>,
    lmc: u8,
    label: Option<&'static str>,
}

/// Ports by node and number.
fn by_end(
    table: &Table,
    path: &Path,
    d: &mut Diagnostics,
) -> Result<HashMap<(Guid, u32), Port>, ReadError> {
    let column = |name| table.column(name, path);
    let (of_node, of_guid, of_number) =
        (column("NodeGuid")?, column("PortGuid")?, column("PortNum")?);
    let of_lid = column("LID")?;
    let [of_lmc, of_width, of_speed] =
        ["LMC", "LinkWidthActv", "LinkSpeedActv"].map(|name| column(name).ok());
    let mut ports = HashMap::with_capacity(table.lines.len());
    let (mut unheard, mut first) = (0, (0, 0));
    for (line, record) in &table.lines {
        let (Some(node), Some(number_)) = (guid(record, of_node), number(record, of_number)) else {
            d.warn(*line, "no port: its GUID or number is damaged", "the line is left out");
            continue;
        };
        let optional = |column: Option<usize>| column.and_then(|c| number(record, c));
        let width = optional(of_width).and_then(lanes);
        let code = optional(of_speed).unwrap_or(0);
        let speed = speed(code);
        if code & !KNOWN_SPEEDS != 0 {
            first = if unheard == 0 { (*line, code) } else { first };
            unheard += 1;
        }
        let port = Port {
            guid: guid(record, of_guid),
            lid: unicast(number(record, of_lid), *line, d),
            lmc: optional(of_lmc)
                .and_then(|l| u8::try_from(l).ok())
                .filter(|&l| l < 8)
                .unwrap_or(0),
            label: width.zip(speed).and_then(|(lanes, speed)| speeds::label(lanes, speed)),
        };
        ports.entry((node, number_)).or_insert(port);
    }
    if unheard > 0 {
        let (line, code) = first;
        let count = counted(unheard, "port has", "ports have");
        let what = format!("{count} a speed that is not known, here code {code}");
        d.warn(
            line,
            what,
            "the fastest that is known of it is taken; a newer darkfiber may know more",
        );
    }
    Ok(ports)
}

fn lanes(width: u32) -> Option<u8> {
    [(1, 1), (2, 4), (4, 8), (8, 12), (16, 2)].iter().find(|w| w.0 == width).map(|w| w.1)
}

const SPEEDS: [(u32, Speed); 9] = [
    (1, Speed::Sdr),
    (1 << 1, Speed::Ddr),
    (1 << 2, Speed::Qdr),
    (1 << 8, Speed::Fdr),
    (1 << 9, Speed::Edr),
    (1 << 10, Speed::Hdr),
    (1 << 11, Speed::Ndr),
    (1 << 12, Speed::Xdr),
    (1 << 16, Speed::Fdr10),
];

/// The codes of all of them.
const KNOWN_SPEEDS: u32 = 0x1_1f07;

/// The last of a sum of speeds that is known.
fn speed(code: u32) -> Option<Speed> {
    SPEEDS.iter().rev().find(|s| code & s.0 != 0).map(|s| s.1)
}

fn add_links<'t>(
    records: &mut Records<'t>,
    table: &'t Table,
    ports: &HashMap<(Guid, u32), Port>,
    path: &Path,
    d: &mut Diagnostics,
) -> Result<(), ReadError> {
    let column = |name| table.column(name, path);
    let ends =
        [(column("NodeGuid1")?, column("PortNum1")?), (column("NodeGuid2")?, column("PortNum2")?)];
    let (mut unknown, mut first) = (0, 0);
    for (line, record) in &table.lines {
        let end = |i: usize| Some((guid(record, ends[i].0)?, number(record, ends[i].1)?));
        let (Some(a), Some(b)) = (end(0), end(1)) else {
            d.warn(*line, "no link: a GUID or a port is damaged", "the line is left out");
            continue;
        };
        let node = |guid: Guid| {
            [NodeKind::Adapter, NodeKind::Switch, NodeKind::Router]
                .iter()
                .find_map(|&kind| records.index.get(&Key::Guid(kind, guid)).copied())
        };
        let (Some(at_a), Some(at_b)) = (node(a.0), node(b.0)) else {
            first = if unknown == 0 { *line } else { first };
            unknown += 1;
            continue;
        };
        for ((at, end), (far_at, far)) in [((at_a, a), (at_b, b)), ((at_b, b), (at_a, a))] {
            let (port, far_port) = (ports.get(&end), ports.get(&far));
            let node = &records.nodes[far_at as usize];
            let (kind, far_id) = (node.kind, node.id);
            records.ports.push(Listing {
                line: *line,
                node: at,
                port: end.1,
                guid: port.and_then(|p| p.guid),
                far: Key::Guid(kind, far.0),
                far_id,
                far_port: far.1,
                far_guid: far_port.and_then(|p| p.guid),
                far_description: Some(far_id),
                lid: port.and_then(|p| p.lid),
                lmc: port.map_or(0, |p| p.lmc),
                far_lid: far_port.and_then(|p| p.lid),
                label: port.and_then(|p| p.label),
            });
        }
    }
    if unknown > 0 {
        let links = counted(unknown, "link leads", "links lead");
        d.error(
            first,
            format!("{links} to nodes that the table NODES lacks, here the first"),
            "left out; was the file cut or edited?",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_sums() {
        assert_eq!(SPEEDS.iter().fold(0, |all, s| all | s.0), KNOWN_SPEEDS);
        for (code, expected) in [
            (4, Some(Speed::Qdr)),
            (2052, Some(Speed::Ndr)),
            (4100, Some(Speed::Xdr)),
            (65540, Some(Speed::Fdr10)),
            ((1 << 20) + 2052, Some(Speed::Ndr)),
            (8192, None),
            (0, None),
        ] {
            assert_eq!(speed(code), expected, "{code}");
        }
    }
}
