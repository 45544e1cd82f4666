//! Service levels of paths: which virtual layer each pair of terminals uses.
//!
//! OpenSM dumps none of them. Two text forms carry them:
//!
//! * the **matrix** that a plugin inside OpenSM can write by asking the engine's `path_sl` for every
//!   pair: a line `lids` with the base LIDs of all CA ports, then a line a source, its base LID and one
//!   hexadecimal digit a destination in the order of the first line;
//! * the **path-SL list** that `ibdmchk -c` reads: `0x<CA node GUID> <DLID> <SL>` a line, LID and SL
//!   decimal. `ibdmchk` 1.5.7 takes a hexadecimal DLID for 0 without a word. It names a source by its
//!   node GUID, so the ports of one adapter cannot differ.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{Fabric, Guid, TerminalId};
use darkfiber_routing::{DestId, Layers, Lids, Routes};

use crate::guids::parse_guid;
use crate::tables::counted;
use crate::{Diagnostics, ReadError};

/// Reads a matrix of service levels into [`Layers::ByPair`]. Pairs that it does not speak of have SL 0
/// and are reported.
///
/// # Errors
/// If there is no line of LIDs, or none of its LIDs belongs to a terminal of the fabric.
pub fn read_matrix(
    text: &str,
    path: &Path,
    fabric: &Fabric,
    lids: &Lids,
) -> Result<(Layers, Diagnostics), ReadError> {
    let mut found = Diagnostics::default();
    let mut pairs = Pairs::new(fabric);
    let mut columns: Option<Vec<Option<TerminalId>>> = None;
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(list) = line.strip_prefix("lids ") {
            let owners: Vec<_> = list
                .split_whitespace()
                .map(|w| terminal_of(w, number, fabric, lids, &mut found))
                .collect();
            if owners.iter().all(Option::is_none) {
                return Err(ReadError::not_such(
                    path,
                    format!("line {number}: none of its {} LIDs is a terminal's", owners.len()),
                    format!("service levels of fabric '{}'", fabric.name()),
                    "fabric and service levels must be of one sweep",
                ));
            }
            columns = Some(owners);
            continue;
        }
        let (Some(columns), Some((lid, row))) = (&columns, line.split_once(' ')) else {
            if columns.is_none() {
                break;
            }
            found.warn(number, "line without a row of digits", "left out");
            continue;
        };
        let Some(source) = terminal_of(lid, number, fabric, lids, &mut found) else {
            continue;
        };
        let row = row.trim();
        let digits = row.chars().count();
        if digits != columns.len() {
            found.warn(
                number,
                format!("{digits} digits for {} destinations", columns.len()),
                "the file was cut or edited",
            );
        }
        let mut broken = 0;
        for (digit, dest) in row.chars().zip(columns) {
            match (digit.to_digit(16), dest) {
                (Some(sl), Some(dest)) => pairs.set(source, *dest, sl as u8),
                (None, _) => broken += 1,
                (_, None) => {}
            }
        }
        if broken > 0 {
            found.warn(
                number,
                format!("{} not hexadecimal", counted(broken, "digit is", "digits are")),
                "SL 0 is taken for these destinations",
            );
        }
    }
    if columns.is_none() {
        return Err(ReadError::not_such(
            path,
            "no line starts with 'lids '",
            "a matrix of service levels",
            "",
        ));
    }
    Ok((pairs.finish(&mut found), found))
}

fn terminal_of(
    word: &str,
    line: usize,
    fabric: &Fabric,
    lids: &Lids,
    found: &mut Diagnostics,
) -> Option<TerminalId> {
    let owner =
        word.parse().ok().and_then(|lid| lids.owner(lid)).and_then(|(d, _)| d.as_terminal(fabric));
    if owner.is_none() {
        found.warn(
            line,
            format!("'{word}' is not the LID of a terminal of the fabric"),
            "left out",
        );
    }
    owner
}

/// Reads a path-SL list into [`Layers::ByPair`]. A source's SL to several LIDs of one port must be one:
/// that of the lowest LID counts and others are reported, as are pairs that the list lacks (SL 0).
///
/// # Errors
/// If no line has the form, or none is of this fabric.
pub fn read_paths(
    text: &str,
    path: &Path,
    fabric: &Fabric,
    lids: &Lids,
) -> Result<(Layers, Diagnostics), ReadError> {
    let mut found = Diagnostics::default();
    let mut sources: HashMap<Guid, Vec<TerminalId>> = HashMap::new();
    for (t, terminal) in fabric.terminals().iter().enumerate() {
        let guid = fabric.adapter(terminal.adapter).guid;
        sources.entry(guid).or_default().push(TerminalId::new(t));
    }
    let mut pairs = Pairs::new(fabric);
    // Index of the LID that each pair's level came from.
    let mut lowest: HashMap<(TerminalId, TerminalId), usize> = HashMap::new();
    let (mut lines, mut differ) = (0usize, 0usize);
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
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
            found.warn(
                number,
                format!("no linked adapter has node GUID {guid}"),
                "port GUIDs do not count here",
            );
            continue;
        };
        let Some((dest, index)) = lids.owner(dlid) else {
            found.warn(number, format!("LID {dlid} belongs to no port"), "left out");
            continue;
        };
        // Paths to switches carry no traffic of jobs.
        let Some(dest) = dest.as_terminal(fabric) else {
            continue;
        };
        for &source in from {
            if let Some(&before) = lowest.get(&(source, dest)) {
                differ += usize::from(pairs.get(source, dest) != sl);
                if before <= index {
                    continue;
                }
            }
            if lids.width() > 1 {
                lowest.insert((source, dest), index);
            }
            pairs.set(source, dest, sl);
        }
    }
    if pairs.given == 0 {
        return Err(ReadError::not_such(
            path,
            format!("none of this fabric among {}", counted(lines, "path", "paths")),
            format!("path-SL lines of fabric '{}'", fabric.name()),
            "each is 0x<CA node GUID> <decimal DLID> <decimal SL>",
        ));
    }
    if differ > 0 {
        found.warn(
            0,
            format!(
                "{} another LID of a port another SL",
                counted(differ, "line gives", "lines give")
            ),
            "the SL of its lowest LID is taken",
        );
    }
    Ok((pairs.finish(&mut found), found))
}

fn path_line(line: &str) -> Option<(Guid, u16, u8)> {
    let mut words = line.split_whitespace();
    let guid = parse_guid(words.next()?.strip_prefix("0x")?)?;
    let dlid = words.next()?.parse().ok()?;
    let sl = words.next()?.parse().ok().filter(|sl| *sl < 16)?;
    Some((guid, dlid, sl))
}

/// Writes the path-SL list of a routing: a line for every adapter and every LID of every terminal of
/// other adapters. An adapter's first linked port speaks for all.
///
/// # Errors
/// Whatever `out` says.
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
                let sl = layer_to(fabric, routes, source, dest, index);
                writeln!(out, "{guid} {} {sl}", usize::from(base) + index)?;
            }
        }
    }
    Ok(())
}

/// The layer from `source` to LID `index` of `dest`.
fn layer_to(
    fabric: &Fabric,
    routes: &Routes,
    source: TerminalId,
    dest: TerminalId,
    index: usize,
) -> u8 {
    let row = || routes.row(DestId::terminal(dest), index % routes.paths().max(1));
    match &routes.layers {
        Layers::ByRow(layer) => layer[row()],
        Layers::BySourceSwitch(layer) => {
            layer[row() * routes.switch_count() + fabric.terminal(source).switch.index()]
        }
        Layers::One | Layers::ByPair(_) => routes.layer(fabric, source, dest),
    }
}

/// A layer matrix that knows which pairs it was given.
struct Pairs {
    terminals: usize,
    layer: Vec<u8>,
    given: usize,
}

/// A pair that nobody spoke of.
const MISSING: u8 = u8::MAX;

impl Pairs {
    fn new(fabric: &Fabric) -> Self {
        let terminals = fabric.terminal_count();
        Self { terminals, layer: vec![MISSING; terminals * terminals], given: 0 }
    }

    fn set(&mut self, source: TerminalId, dest: TerminalId, sl: u8) {
        self.layer[source.index() * self.terminals + dest.index()] = sl;
        self.given += 1;
    }

    fn get(&self, source: TerminalId, dest: TerminalId) -> u8 {
        self.layer[source.index() * self.terminals + dest.index()]
    }

    fn finish(mut self, found: &mut Diagnostics) -> Layers {
        let mut missing = 0usize;
        for (i, layer) in self.layer.iter_mut().enumerate() {
            if *layer == MISSING {
                missing += usize::from(i / self.terminals != i % self.terminals);
                *layer = 0;
            }
        }
        if missing > 0 {
            found.warn(
                0,
                format!("{missing} pairs of terminals have no service level"),
                "SL 0 is taken, OpenSM's default",
            );
        }
        Layers::ByPair(self.layer)
    }
}
