//! OpenSM's `guid2lid`: which port owns which LIDs.
//!
//! A line is `0x<port GUID> 0x<first LID> 0x<last LID>`; blank lines between. OpenSM keeps it in its
//! cache folder and honours one that was there before it started (unless run with `-r`), so writing
//! it chooses the LIDs of a fabric.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use darkfiber_fabric::{Fabric, Guid, SwitchId, TerminalId};
use darkfiber_routing::{DestId, Lids, MAX_UNICAST_LID};

use crate::format::{Format, Reading, Writing};
use crate::guids::{is_guid, parse_guid, parse_hex};
use crate::input::said;
use crate::known_by::KnownBy;
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "guid2lid",
    what: "OpenSM's guid2lid",
    summary: "OpenSM's cache of LIDs",
    hint: "give the output of ibnetdiscover",
    known_by: &[KnownBy::Line(is_line)],
    read: Reading::By("--routes"),
    write: Writing::By("route -o"),
};

fn is_line(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().take(4).collect();
    let is_lid = |w: &str| w.starts_with("0x") && w.len() == 6;
    matches!(*words, [guid, first, last]
        if guid.starts_with("0x") && is_guid(guid) && is_lid(first) && is_lid(last))
}

/// One line: the LIDs of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LidRange {
    /// Port GUID; for a switch its node GUID.
    pub guid: Guid,
    /// First LID of the range.
    pub first: u16,
    /// Last LID of the range.
    pub last: u16,
    /// Line of the file.
    pub line: usize,
}

/// Reads a `guid2lid` file.
///
/// # Errors
/// If there are lines but none of that form. An empty file is an empty list.
pub fn read(text: &str, path: &Path) -> Result<(Vec<LidRange>, Diagnostics), ReadError> {
    let mut ranges = Vec::new();
    let mut found = Diagnostics::default();
    for (number, line) in said(text) {
        match range(line, number) {
            Ok(range) => ranges.push(range),
            Err(problem) => found.warn(
                number,
                problem,
                "expected 0x<port GUID> 0x<first LID> 0x<last LID>; left out",
            ),
        }
    }
    if ranges.is_empty() && !found.is_empty() {
        return Err(ReadError::not_such(
            path,
            "no line has a GUID and two LIDs",
            "OpenSM's guid2lid",
            "",
        ));
    }
    Ok((ranges, found))
}

fn range(line: &str, number: usize) -> Result<LidRange, String> {
    let shown = || line.chars().take(60).collect::<String>();
    let words: Vec<&str> = line.split_whitespace().collect();
    let &[guid, first, last] = words.as_slice() else {
        return Err(format!("{} words in '{}'", words.len(), shown()));
    };
    let guid = parse_guid(guid).ok_or_else(|| format!("'{guid}' is not a GUID"))?;
    let lid = |word: &str| {
        parse_hex(word)
            .and_then(|l| u16::try_from(l).ok())
            .filter(|l| (1..=MAX_UNICAST_LID).contains(l))
            .ok_or_else(|| format!("'{word}' is not a unicast LID"))
    };
    let (first, last) = (lid(first)?, lid(last)?);
    if last < first {
        return Err(format!("the last LID comes before the first in '{}'", shown()));
    }
    Ok(LidRange { guid, first, last, line: number })
}

/// Assigns the LIDs of the list to the ports of a fabric. The LMC is that of the widest range of a terminal. Ports of
/// the fabric that are not in the list, or whose range collides or does not fit, have no LID and are reported; ports
/// of the list that are not in the fabric are a note, as OpenSM keeps lost ports in its file.
///
/// # Errors
/// If more than half of the fabric's ports are not in the list: it is of another fabric. `path` names the file.
pub fn to_lids(
    fabric: &Fabric,
    ranges: &[LidRange],
    path: &Path,
) -> Result<(Lids, Diagnostics), ReadError> {
    let mut found = Diagnostics::default();
    let mut by_guid: HashMap<Guid, DestId> = HashMap::new();
    for s in (0..fabric.switch_count()).map(SwitchId::new) {
        by_guid.insert(fabric.switch(s).guid, DestId::switch(fabric, s));
    }
    for t in (0..fabric.terminal_count()).map(TerminalId::new) {
        by_guid.insert(fabric.terminal(t).guid, DestId::terminal(t));
    }
    let mut bases = Bases::new(fabric);
    let mut lmc = 0;
    for range in ranges {
        let Some(&dest) = by_guid.get(&range.guid) else {
            found.note(
                range.line,
                format!("no linked port of the fabric has GUID {}", range.guid),
                "",
            );
            continue;
        };
        let width = usize::from(range.last - range.first) + 1;
        if dest.as_terminal(fabric).is_some() {
            if !width.is_power_of_two() || width > 128 {
                found.warn(
                    range.line,
                    format!("{width} LIDs of port {}: not a power of two up to 128", range.guid),
                    "left out",
                );
                continue;
            }
            lmc = lmc.max(width.trailing_zeros() as u8);
        }
        bases.set(dest, range.first, range.line);
    }
    let lids = bases.settle(fabric, lmc, &mut found);
    let ports = fabric.terminal_count() + fabric.switch_count();
    let missing = guids(fabric).filter(|&(d, _)| bases.of(d).is_none()).count();
    if 2 * missing > ports {
        return Err(ReadError::not_such(
            path,
            format!("it has no LIDs for {missing} of the {ports} ports of the fabric"),
            format!("OpenSM's guid2lid of fabric '{}'", fabric.name()),
            "fabric, tables and LIDs must be of one sweep",
        ));
    }
    for (d, guid) in guids(fabric) {
        if bases.of(d).is_none() {
            found.warn(
                0,
                format!("port {guid} of the fabric has no LIDs in the list"),
                "OpenSM would give it free ones",
            );
        }
    }
    found.0.sort_by_key(|d| d.line);
    Ok((lids, found))
}

/// Writes the LIDs of a fabric as `guid2lid`, in the order of terminals, then switches.
///
/// # Errors
/// Any error of `out`.
pub fn write(out: &mut dyn Write, fabric: &Fabric, lids: &Lids) -> io::Result<()> {
    for (d, guid) in guids(fabric) {
        let (first, width) = match d.as_terminal(fabric) {
            Some(t) => (lids.terminal(t), lids.width() as u16),
            None => (lids.switch(d.home(fabric)), 1),
        };
        if first != 0 {
            writeln!(out, "{guid} 0x{first:04x} 0x{:04x}\n", first + width - 1)?;
        }
    }
    Ok(())
}

/// All destinations with their port GUIDs.
fn guids(fabric: &Fabric) -> impl Iterator<Item = (DestId, Guid)> {
    let terminals = fabric.terminals().iter().map(|t| t.guid);
    let switches = fabric.switches().iter().map(|s| s.guid);
    terminals.chain(switches).enumerate().map(|(d, guid)| (DestId::new(d), guid))
}

/// Base LIDs of external origin, not yet validated.
pub(crate) struct Bases {
    terminals: usize,
    /// By destination: base LID (0 = none) and its line.
    lid: Vec<(u16, usize)>,
}

impl Bases {
    pub(crate) fn new(fabric: &Fabric) -> Self {
        Self {
            terminals: fabric.terminal_count(),
            lid: vec![(0, 0); fabric.terminal_count() + fabric.switch_count()],
        }
    }

    pub(crate) fn set(&mut self, dest: DestId, lid: u16, line: usize) {
        self.lid[dest.index()] = (lid, line);
    }

    fn of(&self, dest: DestId) -> Option<u16> {
        let lid = self.lid[dest.index()].0;
        (lid != 0).then_some(lid)
    }

    fn width(&self, d: usize, lmc: u8) -> usize {
        if d < self.terminals { 1 << lmc } else { 1 }
    }

    /// Whether with this LMC all LIDs are sound and every one that is `used` has an owner.
    pub(crate) fn cover(&self, lmc: u8, used: &[bool]) -> bool {
        let mut owned = vec![false; used.len()];
        for (d, &(lid, _)) in self.lid.iter().enumerate().filter(|(_, b)| b.0 != 0) {
            let (first, width) = (usize::from(lid), self.width(d, lmc));
            if !first.is_multiple_of(width) {
                return false;
            }
            let range = first..(first + width).min(owned.len());
            if owned[range.clone()].contains(&true) {
                return false;
            }
            owned[range].fill(true);
        }
        used.iter().zip(&owned).all(|(&used, &owned)| !used || owned)
    }

    /// The LIDs, without those that collide or that no port may have.
    pub(crate) fn settle(&self, fabric: &Fabric, lmc: u8, found: &mut Diagnostics) -> Lids {
        let guid = |d: usize| guids(fabric).nth(d).map_or(Guid(0), |(_, guid)| guid);
        // The port that has a LID, counted from 1.
        let mut owner = vec![0u32; usize::from(MAX_UNICAST_LID) + 1];
        let mut base = vec![0u16; self.lid.len()];
        for (d, &(lid, line)) in self.lid.iter().enumerate().filter(|(_, b)| b.0 != 0) {
            let width = self.width(d, lmc);
            let first = usize::from(lid);
            let problem = if !first.is_multiple_of(width) || first + width > owner.len() {
                "is not a valid base LID".to_owned()
            } else if let Some(other) = owner[first..first + width].iter().find(|&&o| o != 0) {
                format!("is of port {}, too", guid(*other as usize - 1))
            } else {
                owner[first..first + width].fill(u32::try_from(d + 1).unwrap_or(u32::MAX));
                base[d] = lid;
                continue;
            };
            found.error(
                line,
                format!("LID 0x{lid:04x} with LMC {lmc} of port {} {problem}", guid(d)),
                "the port is left without a LID",
            );
        }
        let (terminals, switches) = base.split_at(self.terminals);
        Lids::from_bases(lmc, terminals, switches).expect("every range was just checked")
    }
}
