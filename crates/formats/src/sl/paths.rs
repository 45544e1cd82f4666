//! The path-SL list that `ibdmchk -c` reads.

use std::collections::HashMap;
use std::io::{self, Write};

use darkfiber_fabric::{Fabric, Guid, TerminalId};
use darkfiber_routing::{DestId, Lids, Routes};

use super::levels::{LevelSource, Levels, UnassignedLids};
use crate::diagnostic::counted;
use crate::guids::parse_guid;
use crate::input::said;
use crate::{Diagnostics, ReadError};

pub(super) fn read(
    text: &str,
    at: &LevelSource<'_>,
    levels: &mut Levels,
    found: &mut Diagnostics,
) -> Result<(), ReadError> {
    let LevelSource { fabric, lids, .. } = *at;
    let mut sources: HashMap<Guid, Vec<TerminalId>> = HashMap::new();
    for (t, terminal) in fabric.terminals().iter().enumerate() {
        let guid = fabric.adapter(terminal.adapter).guid;
        sources.entry(guid).or_default().push(TerminalId::new(t));
    }
    let (mut lines, mut given, mut strange) = (0usize, 0usize, 0usize);
    let mut nobodys = UnassignedLids::default();
    for (number, line) in said(text) {
        let Some((guid, dlid, sl)) = path_line(line) else {
            let shown: String = line.chars().take(60).collect();
            found.warn(
                number,
                format!("'{shown}' is not a path"),
                "expected 0x<CA node GUID> <decimal DLID> <decimal SL>",
            );
            continue;
        };
        lines += 1;
        let Some(from) = sources.get(&guid) else {
            strange += 1;
            found.warn(
                number,
                format!("no linked adapter has node GUID {guid}"),
                "port GUIDs do not count here",
            );
            continue;
        };
        let Some((dest, index)) = lids.owner(dlid) else {
            nobodys.add(number, dlid);
            continue;
        };
        // Paths to switches carry no traffic of jobs.
        let Some(dest) = dest.as_terminal(fabric) else {
            continue;
        };
        given += 1;
        let mut is_second = false;
        for &source in from {
            is_second |= levels.set(source, dest, index, sl);
        }
        if is_second {
            found.warn(
                number,
                format!("a second service level of the path from {guid} to LID {dlid}"),
                "the last one counts; are two lists in one file?",
            );
        }
    }
    nobodys.report(found);
    let form = "each line is 0x<CA node GUID> <decimal DLID> <decimal SL>";
    if lines == 0 {
        return Err(at.foreign("no line is a path".to_owned(), form));
    }
    if given == 0 {
        let what = format!("none of this fabric among {}", counted(lines, "path", "paths"));
        return Err(at.foreign(what, form));
    }
    at.expect_most(strange + nobodys.count(), lines, "paths", form)
}

fn path_line(line: &str) -> Option<(Guid, u16, u8)> {
    let mut words = line.split_whitespace();
    let guid = parse_guid(words.next()?.strip_prefix("0x")?)?;
    let dlid = words.next()?.parse().ok()?;
    let sl = words.next()?.parse().ok().filter(|sl| *sl < 16)?;
    Some((guid, dlid, sl))
}

/// Writes the path-SL list of a routing: a line for every adapter and every LID of every terminal of
/// other adapters. An adapter's first linked port represents all.
///
/// # Errors
/// Any error of `out`.
pub fn write_paths(
    out: &mut dyn Write,
    fabric: &Fabric,
    routes: &Routes,
    lids: &Lids,
) -> io::Result<()> {
    let mut done = vec![false; fabric.adapters().len()];
    for source in (0..fabric.terminal_count()).map(TerminalId::new) {
        let adapter = fabric.terminal(source).adapter;
        if std::mem::replace(&mut done[adapter.index()], true) {
            continue;
        }
        let guid = fabric.adapter(adapter).guid;
        for dest in (0..fabric.terminal_count()).map(TerminalId::new) {
            let base = lids.terminal(dest);
            if base == 0 || fabric.terminal(dest).adapter == adapter {
                continue;
            }
            for index in 0..lids.width() {
                let row = routes.row(DestId::terminal(dest), index % routes.paths().max(1));
                let sl = routes.layer_on(fabric, source, row);
                writeln!(out, "{guid} {} {sl}", usize::from(base) + index)?;
            }
        }
    }
    Ok(())
}

/// Whether the path-SL list can say all that the routes hold: not where adapters have several linked ports, for which
/// it has one line.
pub fn path_list_is_complete(fabric: &Fabric, routes: &Routes) -> bool {
    let mut linked = vec![false; fabric.adapters().len()];
    routes.layer_count() == 1
        || fabric
            .terminals()
            .iter()
            .all(|t| !std::mem::replace(&mut linked[t.adapter.index()], true))
}

/// Lines of the path-SL list.
pub fn path_count(fabric: &Fabric, lids: &Lids) -> u64 {
    let mut linked = vec![0u64; fabric.adapters().len()];
    for terminal in fabric.terminals() {
        linked[terminal.adapter.index()] += 1;
    }
    let all = fabric.terminal_count() as u64;
    linked.iter().filter(|&&n| n > 0).map(|n| all - n).sum::<u64>() * lids.width() as u64
}
