//! Service levels of paths: which virtual layer each pair of a source and a destination LID uses.
//!
//! OpenSM dumps none of them. Three text forms carry them:
//!
//! * **rows** of one hexadecimal digit a destination LID. A line `lids` lists LIDs and ranges of them
//!   (`lids 1-672 1000`); every other line is a source and its digits in that order. A source is a terminal
//!   by one of its LIDs, or a switch by its LID or GUID, for all terminals on it. Darkfiber writes these as
//!   `path-sl.rows`, by switch; a plugin inside OpenSM can write them by asking the engine's `path_sl` for
//!   every pair of base LIDs;
//! * the **path-SL list** that `ibdmchk -c` reads: `0x<CA node GUID> <DLID> <SL>` a line, LID and SL
//!   decimal. `ibdmchk` 1.5.7 takes a hexadecimal DLID for 0 without a word. It names a source by its
//!   node GUID, so the ports of one adapter cannot differ;
//! * **path records** as `saquery` prints them, one after the other.

mod paths;
mod records;
mod rows;

use std::path::Path;

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_routing::{Layers, Lids, Routes};

use crate::diagnostic::counted;
use crate::{Diagnostics, ReadError};

use crate::format::{Format, Reading, Writing};
pub use paths::{path_count, paths_say_all, write_paths};
pub use rows::write_rows;

/// The entry of this format.
pub const FORMAT: Format = Format {
    name: "path-sl",
    summary: "service level of every path, as ibdmchk reads it",
    read: Reading::By("--sl"),
    write: Writing::By("route -o"),
    ..Format::NONE
};

/// Reads service levels in any form and gives them to the routes, which must have a row for each LID. What
/// nothing is said of has SL 0 and is reported; a port of whose LIDs only the base LID is given has its SL on all.
///
/// # Errors
/// If the text has none of the forms, or nothing in it belongs to the fabric.
///
/// # Panics
/// If destinations of the routes share rows, or the LIDs are those of other tables.
pub fn read(
    text: &str,
    path: &Path,
    fabric: &Fabric,
    lids: &Lids,
    routes: &mut Routes,
) -> Result<Diagnostics, ReadError> {
    assert_eq!(lids.width(), routes.paths(), "LIDs of other tables");
    let rows = fabric.terminal_count() * routes.paths() + fabric.switch_count();
    assert_eq!(routes.row_count(), rows, "each LID has a row of its own");
    let mut found = Diagnostics::default();
    let mut levels = Levels::new(fabric, routes);
    let at = &At { path, fabric, lids };
    if text.lines().any(|line| line.starts_with("lids ")) {
        rows::read(text, at, &mut levels, &mut found)?;
    } else if text.lines().any(records::begins) {
        records::read(text, at, &mut levels, &mut found)?;
    } else {
        paths::read(text, at, &mut levels, &mut found)?;
    }
    routes.layers = levels.finish(fabric, routes, &mut found);
    routes.condense(fabric);
    Ok(found)
}

/// Where service levels are read from, and for whom.
struct At<'a> {
    path: &'a Path,
    fabric: &'a Fabric,
    lids: &'a Lids,
}

impl At<'_> {
    /// Nothing in the file belongs to the fabric.
    fn foreign(&self, what: String, form: &str) -> ReadError {
        ReadError::not_such(
            self.path,
            what,
            format!("service levels of fabric '{}'", self.fabric.name()),
            format!("fabric, tables and service levels must be of one sweep; {form}"),
        )
    }
}

/// Lines that name LIDs that nobody has: how many, and the first.
#[derive(Default)]
struct Nobodys {
    count: usize,
    line: usize,
    lid: u16,
}

impl Nobodys {
    fn add(&mut self, line: usize, lid: u16) {
        if self.count == 0 {
            (self.line, self.lid) = (line, lid);
        }
        self.count += 1;
    }

    fn report(&self, found: &mut Diagnostics) {
        if self.count > 0 {
            let lines = counted(self.count, "path names a LID", "paths name LIDs");
            found.error(
                self.line,
                format!("{lines} that no port of the fabric has, here {}", self.lid),
                "left out; fabric, tables and service levels must be of one sweep",
            );
        }
    }
}

/// Service levels by source terminal and row, that know which they were given.
struct Levels {
    terminals: usize,
    paths: usize,
    layer: Vec<u8>,
}

/// What nobody spoke of.
const MISSING: u8 = u8::MAX;

impl Levels {
    fn new(fabric: &Fabric, routes: &Routes) -> Self {
        let terminals = fabric.terminal_count();
        let layer = vec![MISSING; terminals * routes.row_count()];
        Self { terminals, paths: routes.paths(), layer }
    }

    fn set(&mut self, source: TerminalId, dest: TerminalId, index: usize, sl: u8) {
        let row = dest.index() * self.paths + index;
        self.layer[row * self.terminals + source.index()] = sl;
    }

    fn finish(mut self, fabric: &Fabric, routes: &Routes, found: &mut Diagnostics) -> Layers {
        let n = self.terminals;
        let (mut missing, mut others) = (0usize, 0usize);
        for t in 0..n {
            for index in 0..self.paths {
                let row = t * self.paths + index;
                for source in (0..n).map(TerminalId::new) {
                    let at = row * n + source.index();
                    if self.layer[at] != MISSING {
                        continue;
                    }
                    let base = self.layer[t * self.paths * n + source.index()];
                    self.layer[at] = if base == MISSING { 0 } else { base };
                    let is_meant = source.index() != t && routes.uses(source, index);
                    // The path-SL list has no lines between the ports of one adapter.
                    let to_itself = fabric.terminal(source).adapter
                        == fabric.terminal(TerminalId::new(t)).adapter;
                    if is_meant && index > 0 && base != MISSING {
                        others += 1;
                    } else if is_meant && !to_itself {
                        missing += 1;
                    }
                }
            }
        }
        // What is sent to switches is management traffic.
        self.layer.iter_mut().filter(|layer| **layer == MISSING).for_each(|layer| *layer = 0);
        if missing > 0 {
            let pairs = counted(
                missing,
                "pair of a source and a LID has",
                "pairs of a source and a LID have",
            );
            found.warn(0, format!("{pairs} no service level"), "SL 0 is taken, OpenSM's default");
        }
        if others > 0 {
            let pairs = counted(
                others,
                "pair of a source and a LID has",
                "pairs of a source and a LID have",
            );
            found.warn(
                0,
                format!("{pairs} no service level of its own"),
                "that of the base LID is taken",
            );
        }
        Layers::BySource(self.layer)
    }
}
