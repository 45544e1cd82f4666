//! Mended tables in the ids of the damaged fabric.

use darkfiber_fabric::{Fabric, Renumbering};

use super::prepared::Prepared;
use crate::{DestId, Layers, Routes};

impl Prepared<'_> {
    /// The tables for the damaged fabric, without the rows and entries of what has failed. `map` is what
    /// [`Fabric::with_faults`] gave for all faults so far.
    pub fn tables(&self, damaged: &Fabric, map: &Renumbering) -> Routes {
        let old = &self.routes;
        if damaged.switch_count() == old.switch_count()
            && damaged.terminal_count() == old.terminal_count()
        {
            return old.clone();
        }
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
        routes
    }

    fn layers_of(&self, map: &Renumbering, old_row: &[usize]) -> Layers {
        match &self.routes.layers {
            Layers::One => Layers::One,
            Layers::ByRow(layer) => Layers::ByRow(old_row.iter().map(|&r| layer[r]).collect()),
            Layers::BySourceSwitch(layer) => {
                let n = self.routes.switch_count();
                let of_row = |&r: &usize| map.old_switch.iter().map(move |s| r * n + s.index());
                Layers::BySourceSwitch(old_row.iter().flat_map(of_row).map(|i| layer[i]).collect())
            }
            Layers::ByPair(layer) => {
                let n = self.routes.terminal_count();
                let of_source = |s: usize| map.old_terminal.iter().map(move |d| s * n + d.index());
                let sources = map.old_terminal.iter().map(|s| s.index());
                Layers::ByPair(sources.flat_map(of_source).map(|i| layer[i]).collect())
            }
        }
    }
}
