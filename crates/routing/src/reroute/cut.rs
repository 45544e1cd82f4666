//! Switches that are cut off, row by row.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// A switch whose path to the destination of a row is cut.
pub(super) struct Node {
    pub(super) switch: u32,
    /// Entry before the repair.
    pub(super) old: u8,
    /// Layers of the paths that begin here, before; 0 if no terminal sends from here.
    pub(super) layers: u32,
    /// Pairs of terminals that begin here.
    pub(super) pairs: u64,
    /// Amount that is sent from here.
    pub(super) amount: u64,
    /// Amount that is sent from here or came through here.
    pub(super) weight: u64,
    /// Whether any pair begins here or came through here.
    pub(super) used: bool,
}

/// A row, and the switches that are cut off on it: each after the one that it sent to, those next to
/// the fault first.
pub(super) struct Cut {
    pub(super) row: usize,
    pub(super) home: u32,
    pub(super) nodes: Vec<Node>,
}

impl Cut {
    /// The entry that a switch had before, if it is cut off.
    pub(super) fn entry_before(&self, s: u32) -> Option<u8> {
        self.nodes.iter().find(|n| n.switch == s).map(|n| n.old)
    }

    /// Adds the switches of another cut of the row that it does not have yet.
    pub(super) fn join(&mut self, other: Self) {
        let known: BTreeSet<u32> = self.nodes.iter().map(|n| n.switch).collect();
        self.nodes.extend(other.nodes.into_iter().filter(|n| !known.contains(&n.switch)));
    }
}

/// Cuts, one for each row that has any.
#[derive(Default)]
pub(super) struct Cuts {
    pub(super) all: Vec<Cut>,
    of_row: BTreeMap<usize, usize>,
}

impl Cuts {
    pub(super) fn new(all: Vec<Cut>) -> Self {
        let of_row = all.iter().enumerate().map(|(i, cut)| (cut.row, i)).collect();
        Self { all, of_row }
    }

    pub(super) fn of(&self, row: usize) -> Option<&Cut> {
        self.of_row.get(&row).map(|&i| &self.all[i])
    }

    /// Adds one, to that of its row if there is any.
    pub(super) fn join(&mut self, cut: Cut) {
        match self.of_row.entry(cut.row) {
            Entry::Occupied(i) => self.all[*i.get()].join(cut),
            Entry::Vacant(new) => {
                new.insert(self.all.len());
                self.all.push(cut);
            }
        }
    }
}
