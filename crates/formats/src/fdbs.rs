//! `opensm.fdbs` (older OpenSM: `osm.fdbs`): forwarding tables with hop counts, input of `ibdmchk`.
//!
//! ```text
//! dump_ucast_routes: Switch 0x0000500000200001
//! LID    : Port : Hops : Optimal
//! 0x0001 : 001  : 01   : yes
//! 0x0002 : 000  : 00   : yes
//! 0x0003 : UNREACHABLE
//! ```
//!
//! LIDs are hexadecimal, ports and hops decimal; hops count cables (to a host: switches crossed). It
//! names no destination but by LID, so it is of use only with the LIDs of the same sweep.
//! (OpenSM 3.3.23, `osm_dump.c`.)

use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{AtPort, Fabric, SwitchId};
use darkfiber_routing::{Lids, Routes};

use crate::format::{Format, Reading, Writing};
use crate::guids::{parse_guid, parse_hex};
use crate::known_by::KnownBy;
use crate::tables::{self, Entry, SwitchTable, Tables, entries, rows_by_lid};
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "fdbs",
    what: "a routing table (osm.fdbs)",
    summary: "OpenSM's osm.fdbs, ibdiagnet2.fdbs",
    hint: tables::HINT,
    known_by: &[KnownBy::Line(|l| {
        l.starts_with("dump_ucast_routes:") || l.starts_with("osm_ucast_mgr_dump_ucast_routes:")
    })],
    read: Reading::By("--routes"),
    write: Writing::By("route -o"),
};

const TITLE: &str = "dump_ucast_routes: Switch ";

/// Reads an fdbs file. LIDs that it calls unreachable have no entry.
///
/// # Errors
/// If no line opens a switch.
pub fn read(text: &str, path: &Path) -> Result<(Tables, Diagnostics), ReadError> {
    let mut tables = Tables::default();
    let mut found = Diagnostics::default();
    let mut longer = 0usize;
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        let line = line.trim();
        // Old versions have a longer function name in front of the title.
        if let Some((_, guid)) = line.split_once(TITLE) {
            let guid = guid.split_whitespace().next().and_then(parse_guid);
            if guid.is_none() {
                found.warn(number, "switch without a GUID", "its table cannot be used");
            }
            tables.switches.push(SwitchTable { guid, line: number, ..SwitchTable::default() });
        } else if line.starts_with("0x") {
            let Some(table) = tables.switches.last_mut() else {
                continue;
            };
            match parse(line, number) {
                Some(Line::Route(entry, optimal)) => {
                    longer += usize::from(!optimal);
                    table.entries.push(entry);
                }
                Some(Line::Unreachable) => {}
                None => {
                    let shown: String = line.chars().take(40).collect();
                    found.error_left_out(
                        number,
                        format!("broken entry '{shown}'"),
                        "expected 0xLID : PORT : HOPS : yes",
                    );
                }
            }
        }
    }
    if tables.switches.is_empty() {
        return Err(ReadError::not_such(
            path,
            "no line has 'dump_ucast_routes: Switch'",
            "an opensm.fdbs file",
            "OpenSM writes it with -D 0x43",
        ));
    }
    if !text.ends_with('\n') {
        found.warn_left_out(
            text.lines().count(),
            "the last line has no end: the file may have been cut",
            "dump again, or add the end of the line if nothing is missing",
        );
    }
    if longer > 0 {
        found.note(0, format!("{} not on shortest paths, says the dump", entries(longer)), "");
    }
    Ok((tables, found))
}

enum Line {
    Route(Entry, bool),
    Unreachable,
}

fn parse(line: &str, number: usize) -> Option<Line> {
    let mut fields = line.split(':').map(str::trim);
    let lid = fields.next().and_then(parse_hex)?;
    let lid =
        u16::try_from(lid).ok().filter(|l| (1..=darkfiber_routing::MAX_UNICAST_LID).contains(l))?;
    let port = fields.next()?;
    if port == "UNREACHABLE" {
        return Some(Line::Unreachable);
    }
    let port: u8 = port.parse().ok()?;
    if port == darkfiber_routing::NO_ROUTE {
        return Some(Line::Unreachable);
    }
    let mut entry = Entry::new(lid, port, None, number);
    entry.hops = fields.next().and_then(|h| h.parse().ok());
    let optimal = fields.next().is_none_or(|o| o.starts_with("yes"));
    Some(Line::Route(entry, optimal))
}

/// Writes forwarding tables as `opensm.fdbs`: every LID up to the largest, the hops of a shortest path
/// through the port in the table, and whether no other port has a shorter one.
///
/// Complexity: a breadth-first search and a byte a switch for each switch.
///
/// # Errors
/// Any error of `out`.
pub fn write(out: &mut dyn Write, fabric: &Fabric, routes: &Routes, lids: &Lids) -> io::Result<()> {
    let rows = rows_by_lid(fabric, routes, lids);
    let distance = Distances::new(fabric);
    for s in (0..fabric.switch_count()).map(SwitchId::new) {
        writeln!(out, "{TITLE}{}", fabric.switch(s).guid)?;
        writeln!(out, "LID    : Port : Hops : Optimal")?;
        let mut next = 1;
        for row in &rows {
            for gap in next..row.lid {
                writeln!(out, "0x{gap:04X} : UNREACHABLE")?;
            }
            next = row.lid + 1;
            let home = row.dest.home(fabric);
            // The cable to a host counts.
            let last = u16::from(row.dest.as_terminal(fabric).is_some());
            let port = routes.lft_entry(fabric, s, row.dest, row.path);
            let hops = port.and_then(|port| match fabric.at_port(s, port) {
                _ if s == home => Some(last),
                AtPort::Switch(_, v) => distance.get(v, home).map(|d| d + 1 + last),
                _ => None,
            });
            match (port, hops) {
                (Some(port), Some(hops)) => {
                    let least = distance.get(s, home).map(|d| d + last);
                    write!(out, "0x{:04X} : {port:03}  : {hops:02}   : ", row.lid)?;
                    match least {
                        Some(least) if least < hops => {
                            writeln!(out, "No {least} hop path possible via port {port}!")?;
                        }
                        _ => writeln!(out, "yes")?,
                    }
                }
                _ => writeln!(out, "0x{:04X} : UNREACHABLE", row.lid)?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Cables between any two switches.
struct Distances {
    switches: usize,
    hops: Vec<u8>,
}

const FAR: u8 = u8::MAX;

impl Distances {
    fn new(fabric: &Fabric) -> Self {
        let switches = fabric.switch_count();
        let mut hops = vec![FAR; switches * switches];
        let mut queue = Vec::with_capacity(switches);
        for start in 0..switches {
            let row = &mut hops[start * switches..(start + 1) * switches];
            queue.clear();
            queue.push(start);
            row[start] = 0;
            let mut next = 0;
            while let Some(&s) = queue.get(next) {
                next += 1;
                for c in fabric.channels_from(SwitchId::new(s)) {
                    let v = fabric.heads()[c] as usize;
                    if row[v] == FAR {
                        // A path of 254 cables stands for longer ones: OpenSM has 64 at most.
                        row[v] = (row[s] + 1).min(FAR - 1);
                        queue.push(v);
                    }
                }
            }
        }
        Self { switches, hops }
    }

    fn get(&self, a: SwitchId, b: SwitchId) -> Option<u16> {
        let hops = self.hops[a.index() * self.switches + b.index()];
        (hops != FAR).then_some(u16::from(hops))
    }
}
