//! Repaired tables in the ids of the damaged fabric.

use std::collections::BTreeMap;

use darkfiber_fabric::{Fabric, Renumbering, SwitchId};

use super::prepared::Prepared;
use crate::{DestId, Layers, Lids, Routes};

/// Number of changes in one switch's linear forwarding table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Number of changed entries.
    pub entries: usize,
    /// Blocks of 64 LIDs, the unit in which tables are sent.
    pub blocks: usize,
}

/// Changes from the `old` tables of a `whole` fabric to the `new` ones of a damaged fabric, by
/// switch of the damaged one (only where something did) and in its `lids`, which differ from the old
/// ones only by what has failed. Entries of what has failed do not count. Both must have the same number
/// of paths a terminal.
pub fn changed_by_switch(
    (whole, old): (&Fabric, &Routes),
    (damaged, new): (&Fabric, &Routes),
    map: &Renumbering,
    lids: &Lids,
) -> BTreeMap<SwitchId, Changed> {
    let mut changed: Vec<Vec<u16>> = vec![Vec::new(); damaged.switch_count()];
    for dest in (0..new.dest_count()).map(DestId::new) {
        let (before, lid, paths) = if let Some(t) = dest.as_terminal(damaged) {
            (DestId::terminal(map.old_terminal[t.index()]), lids.terminal(t), new.paths())
        } else {
            let s = dest.home(damaged);
            (DestId::switch(whole, map.old_switch[s.index()]), lids.switch(s), 1)
        };
        for path in 0..paths {
            let was = old.ports(old.row(before, path));
            let is = new.ports(new.row(dest, path));
            for (s, entry) in is.iter().enumerate() {
                if was[map.old_switch[s].index()] != *entry {
                    changed[s].push(lid + path as u16);
                }
            }
        }
    }
    changed
        .into_iter()
        .enumerate()
        .filter(|(_, lids)| !lids.is_empty())
        .map(|(s, lids)| {
            let mut blocks: Vec<u16> = lids.iter().map(|lid| lid / 64).collect();
            blocks.sort_unstable();
            blocks.dedup();
            (SwitchId::new(s), Changed { entries: lids.len(), blocks: blocks.len() })
        })
        .collect()
}

/// Changes from `old` tables to `new` ones of the same fabric with the same number of paths a terminal:
/// entries, and blocks of all switches together.
///
/// Complexity: O(entries).
pub fn difference(fabric: &Fabric, old: &Routes, new: &Routes, lids: &Lids) -> Changed {
    // Rows by LID, so that those of a block come one after the other.
    let mut rows: Vec<(u16, usize, usize)> = Vec::with_capacity(new.row_count());
    for dest in (0..new.dest_count()).map(DestId::new) {
        let (lid, paths) = match dest.as_terminal(fabric) {
            Some(t) => (lids.terminal(t), new.paths()),
            None => (lids.switch(dest.home(fabric)), 1),
        };
        let both = |path| (lid + path as u16, old.row(dest, path), new.row(dest, path));
        rows.extend((0..paths).map(both));
    }
    rows.sort_unstable();
    let mut total = Changed::default();
    // The block in which each switch's table changed last.
    let mut last = vec![u16::MAX; fabric.switch_count()];
    for (lid, before, after) in rows {
        let (was, is) = (old.ports(before), new.ports(after));
        if was == is {
            continue;
        }
        for (last, _) in last.iter_mut().zip(was.iter().zip(is)).filter(|(_, (a, b))| a != b) {
            total.entries += 1;
            total.blocks += usize::from(std::mem::replace(last, lid / 64) != lid / 64);
        }
    }
    total
}

impl Prepared<'_> {
    /// The tables for the damaged fabric, without the rows and entries of what has failed. `map` is the
    /// result of [`Fabric::with_faults`] for all faults so far.
    pub fn tables(&self, damaged: &Fabric, map: &Renumbering) -> Routes {
        if self.all_stay(damaged) { self.routes.clone() } else { self.without_lost(damaged, map) }
    }

    /// As [`Self::tables`], but copies nothing where only cables have failed.
    pub fn into_tables(self, damaged: &Fabric, map: &Renumbering) -> Routes {
        if self.all_stay(damaged) { self.routes } else { self.without_lost(damaged, map) }
    }

    fn all_stay(&self, damaged: &Fabric) -> bool {
        damaged.switch_count() == self.routes.switch_count()
            && damaged.terminal_count() == self.routes.terminal_count()
    }

    fn without_lost(&self, damaged: &Fabric, map: &Renumbering) -> Routes {
        let old = &self.routes;
        let paths = old.paths();
        let old_terminals = map.old_terminal.iter().map(|t| DestId::terminal(*t));
        let old_switches = map.old_switch.iter().map(|s| DestId::switch(self.fabric, *s));
        // New rows in the order in which destinations first name them.
        let mut row_of = Vec::new();
        let mut old_row = Vec::new();
        let mut new_row = vec![None; old.row_count()];
        let slots = old_terminals
            .flat_map(|d| (0..paths).map(move |p| (d, p)))
            .chain(old_switches.map(|d| (d, 0)));
        for (dest, path) in slots {
            let row = old.row(dest, path);
            row_of.push(*new_row[row].get_or_insert_with(|| {
                old_row.push(row);
                old_row.len() as u32 - 1
            }));
        }
        let own = row_of.iter().enumerate().all(|(slot, &row)| slot == row as usize);
        let mut routes = if own {
            Routes::empty(&old.engine, damaged, paths)
        } else {
            Routes::with_shared_rows(&old.engine, damaged, paths, row_of, old_row.len())
        };
        for (new, &row) in old_row.iter().enumerate() {
            let from = old.ports(row);
            for (entry, s) in routes.ports_mut(new).iter_mut().zip(&map.old_switch) {
                *entry = from[s.index()];
            }
        }
        if old.source_chooses() {
            let select = map.old_terminal.iter().map(|&t| old.path_of(t) as u16).collect();
            routes.set_select(select);
        }
        routes.layers = self.layers_of(map, &old_row);
        routes.choice = old.choice.as_ref().map(|choice| choice.of_terminals(&map.old_terminal));
        routes
    }

    fn layers_of(&self, map: &Renumbering, old_row: &[usize]) -> Layers {
        match &self.routes.layers {
            // Tables of which switches choose lanes are refused before.
            Layers::One | Layers::ByHop(_) => Layers::One,
            Layers::ByRow(layer) => Layers::ByRow(old_row.iter().map(|&r| layer[r]).collect()),
            Layers::BySourceSwitch(layer) => {
                let n = self.routes.switch_count();
                let of_row = |&r: &usize| map.old_switch.iter().map(move |s| r * n + s.index());
                Layers::BySourceSwitch(old_row.iter().flat_map(of_row).map(|i| layer[i]).collect())
            }
            Layers::BySource(layer) => {
                let n = self.routes.terminal_count();
                let of_row = |&r: &usize| map.old_terminal.iter().map(move |t| r * n + t.index());
                Layers::BySource(old_row.iter().flat_map(of_row).map(|i| layer[i]).collect())
            }
        }
    }
}
