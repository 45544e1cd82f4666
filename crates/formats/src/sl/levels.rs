//! Service levels while they are read, in any form.

use std::path::Path;

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_routing::{Layers, Lids, Routes};

use crate::diagnostic::counted;
use crate::{Diagnostics, ReadError};

/// The source of service levels, and their fabric.
pub(super) struct LevelSource<'a> {
    pub(super) path: &'a Path,
    pub(super) fabric: &'a Fabric,
    pub(super) lids: &'a Lids,
}

impl LevelSource<'_> {
    /// The error if nothing in the file belongs to the fabric.
    pub(super) fn foreign(&self, what: String, form: &str) -> ReadError {
        ReadError::not_such(
            self.path,
            what,
            format!("service levels of fabric '{}'", self.fabric.name()),
            format!("fabric, tables and service levels must be of one sweep; {form}"),
        )
    }

    /// Refuses a file of whose items more than half belong to no part of the fabric: it is of
    /// another one. Single ones may have come or gone since.
    pub(super) fn expect_most(
        &self,
        strange: usize,
        all: usize,
        items: &str,
        form: &str,
    ) -> Result<(), ReadError> {
        if 2 * strange <= all {
            return Ok(());
        }
        Err(self.foreign(format!("{strange} of its {all} {items} are not of this fabric"), form))
    }
}

/// Lines with unassigned LIDs: their number, and the first.
#[derive(Default)]
pub(super) struct UnassignedLids {
    count: usize,
    line: usize,
    lid: u16,
}

impl UnassignedLids {
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn add(&mut self, line: usize, lid: u16) {
        if self.count == 0 {
            (self.line, self.lid) = (line, lid);
        }
        self.count += 1;
    }

    pub(super) fn report(&self, found: &mut Diagnostics) {
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

/// Service levels by source terminal and row, with a record of those that were set.
pub(super) struct Levels {
    terminals: usize,
    paths: usize,
    layer: Vec<u8>,
}

/// A level that was not set.
const MISSING: u8 = u8::MAX;

impl Levels {
    pub(super) fn new(fabric: &Fabric, routes: &Routes) -> Self {
        let terminals = fabric.terminal_count();
        let layer = vec![MISSING; terminals * routes.row_count()];
        Self { terminals, paths: routes.paths(), layer }
    }

    /// Sets the level of a path; whether it had another one before.
    pub(super) fn set(
        &mut self,
        source: TerminalId,
        dest: TerminalId,
        index: usize,
        sl: u8,
    ) -> bool {
        let row = dest.index() * self.paths + index;
        let before = &mut self.layer[row * self.terminals + source.index()];
        let is_other = *before != MISSING && *before != sl;
        *before = sl;
        is_other
    }

    pub(super) fn finish(
        mut self,
        fabric: &Fabric,
        routes: &Routes,
        found: &mut Diagnostics,
    ) -> Layers {
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
        // Traffic to switches is management traffic.
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
