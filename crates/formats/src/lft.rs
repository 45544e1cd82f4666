//! Linear forwarding table dumps.
//!
//! One reader takes what OpenSM writes (`opensm-lfts.dump`, at log level 0x40), what `ibroute` and
//! `dump_lfts` / `dump_fts` of infiniband-diags print, and what people cut out of them:
//!
//! ```text
//! Unicast lids [0-108] of switch Lid 2 guid 0x0000500000200001 ('g00r00'):
//! 0x0001 001 # Channel Adapter portguid 0x0000200000000011: 'cn0001 HCA-1'
//! 0x0002 000 # Switch portguid 0x0000500000200001: 'g00r00'
//! 108 lids dumped
//! Unicast lids [0x0-0x6c] of switch DR path slid 0; dlid 0; 0,1,5 guid 0x0000500000200024 (g08r03):
//!   Lid  Out   Destination
//!        Port     Info
//! 0x0001 003 : (Channel Adapter portguid 0x0000200000000011: 'cn0001 HCA-1')
//! 34 valid lids dumped
//! ```
//!
//! The grammar is that of OpenSM's `file` engine: a line that starts with `Unicast lids` and has ` guid 0x` opens a
//! switch, `0xLID PORT` is an entry, `portguid 0x` gives the port of the LID, `#` starts a comment line and all else
//! is ignored. (OpenSM 3.3.23, `osm_ucast_file.c`.)

use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{Fabric, Guid, SwitchId};
use darkfiber_routing::{Lids, Routes};

use crate::format::{Format, Reading, Writing};
use crate::guids::{one_line, parse_guid};
use crate::known_by::KnownBy;
use crate::tables::{self, Entry, SwitchTable, Tables, entries, rows_by_lid};
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "lfts",
    what: "a routing table (LFT dump)",
    summary: "OpenSM's lfts dump, dump_lfts.sh, ibroute",
    hint: tables::HINT,
    known_by: &[KnownBy::Line(|l| {
        l.starts_with("Unicast lids [") || l.starts_with("Multicast mlids [")
    })],
    read: Reading::By("--routes"),
    write: Writing::By("route -o"),
};

/// The block of the current line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// Before the first block.
    Outside,
    /// Table of the last switch.
    Unicast,
    /// A multicast table (`dump_mfts` output appended): not ours.
    Multicast,
}

/// Reads forwarding table dumps.
///
/// # Errors
/// If no line opens a switch.
pub fn read(text: &str, path: &Path) -> Result<(Tables, Diagnostics), ReadError> {
    let mut tables = Tables::default();
    let mut found = Diagnostics::default();
    let mut block = Block::Outside;
    // Entries before the first switch: how many, and the line of the first.
    let (mut stray, mut stray_line) = (0, 0);
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        let line = line.trim_start();
        match line.as_bytes().first() {
            Some(b'0') if line[1..].starts_with(['x', 'X']) => {
                let table = match (block, tables.switches.last_mut()) {
                    (Block::Unicast, Some(table)) => table,
                    (Block::Multicast, _) => continue,
                    _ => {
                        stray += 1;
                        if stray == 1 {
                            stray_line = number;
                        }
                        continue;
                    }
                };
                match entry(line, number) {
                    Ok(entry) => table.entries.extend(entry),
                    Err(problem) => found.error_left_out(
                        number,
                        problem,
                        "expected 0xLID PORT; OpenSM refuses a whole file for one such line",
                    ),
                }
            }
            Some(b'U') if line.starts_with("Unicast lids") => {
                let table = header(line, number);
                if table.guid.is_none() {
                    found.warn(
                        number,
                        "switch without ' guid 0x...'",
                        "it is matched by LID or name; OpenSM would skip it",
                    );
                }
                tables.switches.push(table);
                block = Block::Unicast;
            }
            Some(b'M') if line.starts_with("Multicast") => block = Block::Multicast,
            Some(b'0'..=b'9') if block == Block::Unicast => {
                let Some(table) = tables.switches.last_mut() else { continue };
                let has = table.entries.len();
                let footer = footer(line);
                table.closed |= !matches!(footer, Footer::Not);
                if let Footer::Entries(n) = footer
                    && n != has
                {
                    found.warn_left_out(
                        number,
                        format!("{line}, but {has} are here"),
                        "the dump was cut or edited",
                    );
                }
            }
            _ => {}
        }
    }
    if tables.switches.is_empty() {
        return Err(ReadError::not_such(
            path,
            "no line starts with 'Unicast lids'",
            "a forwarding table dump (opensm-lfts.dump, dump_lfts, ibroute)",
            "OpenSM writes opensm-lfts.dump with -D 0x43",
        ));
    }
    if stray > 0 {
        found.warn_left_out(
            stray_line,
            format!("{} before the first switch left out", entries(stray)),
            "the head of the dump is missing",
        );
        found.0.sort_by_key(|d| d.line);
    }
    // Every program that ends tables ends all of them.
    if let [others @ .., last] = &tables.switches[..]
        && !last.closed
        && (!text.ends_with('\n') || !others.is_empty() && others.iter().all(|table| table.closed))
    {
        found.warn_left_out(
            last.line,
            format!("{} is cut off: no 'lids dumped' line at its end", last.label()),
            "dump again; its last entries may be missing",
        );
    }
    Ok((tables, found))
}

/// `Unicast lids [..] of switch Lid 2 guid 0x.. ('name'):`.
fn header(line: &str, number: usize) -> SwitchTable {
    let (before, guid, after) = match line.split_once(" guid 0x") {
        Some((before, rest)) => {
            let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
            (before, parse_guid(&rest[..end]), &rest[end..])
        }
        None => (line, None, ""),
    };
    let lid = before
        .rsplit_once(" Lid ")
        .and_then(|(_, lid)| lid.split_whitespace().next())
        .and_then(|lid| lid.parse().ok());
    let name = after.trim().trim_end_matches(':');
    let name = unwrap(unwrap(name, '(', ')'), '\'', '\'');
    SwitchTable { guid, lid, name: name.to_owned(), line: number, ..SwitchTable::default() }
}

fn unwrap(text: &str, open: char, close: char) -> &str {
    text.strip_prefix(open).and_then(|t| t.strip_suffix(close)).unwrap_or(text)
}

/// The line that closes a table.
enum Footer {
    Not,
    /// `N lids dumped`: OpenSM, N is the largest LID.
    Top,
    /// `N valid lids dumped`: ibroute, N is the number of entries.
    Entries(usize),
}

fn footer(line: &str) -> Footer {
    let Some((count, rest)) = line.split_once(' ') else {
        return Footer::Not;
    };
    match (count.parse(), rest.trim_end()) {
        (Ok(_), "lids dumped") => Footer::Top,
        (Ok(count), "valid lids dumped") => Footer::Entries(count),
        _ => Footer::Not,
    }
}

/// Parses `0xLID PORT [.. portguid 0x..]`; `None` for port 255, "no route".
fn entry(line: &str, number: usize) -> Result<Option<Entry>, String> {
    let bytes = line.as_bytes();
    let bad = || {
        let shown: String = line.chars().take(40).collect();
        format!("broken entry '{shown}'")
    };
    let mut at = 2;
    let mut lid = 0u32;
    while let Some(digit) = bytes.get(at).and_then(|&b| (b as char).to_digit(16)) {
        lid = (lid << 4 | digit).min(0x10_0000);
        at += 1;
    }
    if at == 2 || !bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        return Err(bad());
    }
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    let start = at;
    let mut port = 0u32;
    while let Some(digit) = bytes.get(at).filter(|b| b.is_ascii_digit()) {
        port = (port * 10 + u32::from(digit - b'0')).min(1000);
        at += 1;
    }
    let ended = bytes.get(at).is_none_or(|b| b.is_ascii_whitespace() || *b == b':');
    if at == start || !ended {
        return Err(bad());
    }
    if lid == 0 || lid > u32::from(darkfiber_routing::MAX_UNICAST_LID) {
        return Err(format!("0x{lid:04x} is not a unicast LID"));
    }
    let Ok(port) = u8::try_from(port) else {
        return Err(format!("port {port} of LID 0x{lid:04x} is above 255"));
    };
    if port == darkfiber_routing::NO_ROUTE {
        return Ok(None);
    }
    let guid = portguid(&line[at..]);
    Ok(Some(Entry::new(lid as u16, port, guid, number)))
}

/// The number behind the first `portguid 0x`. This is most of the work of reading, and an `x` is rare.
fn portguid(text: &str) -> Option<Guid> {
    const KEY: &[u8] = b"portguid 0";
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(x) = bytes[from..].iter().position(|&b| b == b'x') {
        from += x + 1;
        if bytes[..from - 1].ends_with(KEY) {
            let digits = &text[from..];
            let end = digits.bytes().position(|b| !b.is_ascii_hexdigit()).unwrap_or(digits.len());
            return parse_guid(&digits[..end]);
        }
    }
    None
}

/// Writes forwarding tables as `opensm-lfts.dump`, which stock OpenSM loads with `-R file -U FILE`:
/// for every switch a line for every LID that it has a route to, LIDs of switches (port 000 for its
/// own) and all LIDs of a port included.
///
/// A port with more LIDs than the routes have paths uses them in turn; paths beyond the LIDs of a port
/// are left out.
///
/// # Errors
/// Any error of `out`.
pub fn write(out: &mut dyn Write, fabric: &Fabric, routes: &Routes, lids: &Lids) -> io::Result<()> {
    write_as(out, fabric, routes, lids, true)
}

/// The same without the ports of LIDs: an eighth as long. OpenSM and [`read`] then go by LIDs alone, so it is useful only
/// with the `guid2lid` that was written with it.
///
/// # Errors
/// Any error of `out`.
pub fn write_brief(
    out: &mut dyn Write,
    fabric: &Fabric,
    routes: &Routes,
    lids: &Lids,
) -> io::Result<()> {
    write_as(out, fabric, routes, lids, false)
}

fn write_as(
    out: &mut dyn Write,
    fabric: &Fabric,
    routes: &Routes,
    lids: &Lids,
    with_owners: bool,
) -> io::Result<()> {
    let rows = rows_by_lid(fabric, routes, lids);
    // The text of a LID but for the port is the same in all tables.
    let (heads, tails): (Vec<String>, Vec<String>) = rows
        .iter()
        .map(|row| {
            let (kind, guid, description) = owner(fabric, row.dest);
            let owner = || format!(" # {kind} portguid {guid}: '{}'\n", one_line(description));
            let tail = if with_owners { owner() } else { "\n".to_owned() };
            (format!("0x{:04x} ", row.lid), tail)
        })
        .unzip();
    let ports: Vec<String> = (0..=u8::MAX).map(|port| format!("{port:03}")).collect();
    for s in (0..fabric.switch_count()).map(SwitchId::new) {
        let switch = fabric.switch(s);
        writeln!(
            out,
            "Unicast lids [0-{}] of switch Lid {} guid {} ('{}'):",
            lids.top(),
            lids.switch(s),
            switch.guid,
            one_line(&switch.description)
        )?;
        for (row, (head, tail)) in rows.iter().zip(heads.iter().zip(&tails)) {
            if let Some(port) = routes.lft_entry(fabric, s, row.dest, row.path) {
                out.write_all(head.as_bytes())?;
                out.write_all(ports[usize::from(port)].as_bytes())?;
                out.write_all(tail.as_bytes())?;
            }
        }
        writeln!(out, "{} lids dumped", lids.top())?;
    }
    Ok(())
}

/// Kind, port GUID and description of the node behind a destination.
fn owner(fabric: &Fabric, dest: darkfiber_routing::DestId) -> (&'static str, Guid, &str) {
    if let Some(t) = dest.as_terminal(fabric) {
        let terminal = fabric.terminal(t);
        let adapter = fabric.adapter(terminal.adapter);
        ("Channel Adapter", terminal.guid, &adapter.description)
    } else {
        let switch = fabric.switch(dest.home(fabric));
        ("Switch", switch.guid, &switch.description)
    }
}
