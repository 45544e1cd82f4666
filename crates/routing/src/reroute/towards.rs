//! From the current tables towards others, as far as that is safe in any order.
//!
//! Tables that an engine recomputes are sound in isolation, but together with those in place they may deadlock, and running
//! connections keep their current service levels. So the new tables are taken row by row: with the old service levels, and only
//! if packets that meet old and new entries of the row in any mix do not loop and close no cycle together with all mixes that
//! were taken before. A row that does not fit as a whole is taken entry by entry. The result may be written in any order.

use std::collections::BTreeMap;

use super::RerouteError;
use super::channel::NONE;
use super::coexist::Dependency;
use super::labels::layers;
use super::prepared::Prepared;
use crate::{DestId, Routes};

/// Part of other tables that was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Rows (LIDs) that differ between both tables.
    pub rows: usize,
    /// Of these, rows that were taken as a whole.
    pub whole: usize,
    /// Rows of which some entries were taken.
    pub in_part: usize,
    /// Entries that differ between both tables.
    pub entries: usize,
    /// Entries that were taken.
    pub taken: usize,
}

impl Prepared<'_> {
    /// Takes as many entries of `target` as can be mixed with old ones in any order, and keeps these tables; service levels
    /// stay. Dependencies of all mixes stay counted: later changes are compatible with them, too.
    ///
    /// Complexity: for each row that differs O(switches x hops) and the searches for dependencies that do not follow the order; for a
    /// row that does not fit as a whole the same for each entry.
    ///
    /// # Errors
    /// [`RerouteError::OtherFabric`] if the target has other switches, terminals or LIDs, [`RerouteError::MixedRow`] if rows of
    /// these tables serve several LIDs, [`RerouteError::LanesByHop`] if switches choose the lanes of the target.
    pub fn towards(self, target: &Routes) -> Result<(Self, Taken), RerouteError> {
        let routes = &self.routes;
        let (switches, terminals) = (target.switch_count(), target.terminal_count());
        let same = (switches, terminals) == (routes.switch_count(), routes.terminal_count());
        if !same || target.paths() != routes.paths() {
            return Err(RerouteError::OtherFabric { switches, terminals });
        }
        if target.layers.by_hop().is_some() {
            return Err(RerouteError::LanesByHop);
        }
        let mut row_of: BTreeMap<usize, usize> = BTreeMap::new();
        for d in (0..routes.dest_count()).map(DestId::new) {
            let paths = d.as_terminal(self.fabric).map_or(1, |_| routes.paths());
            for path in 0..paths {
                let wanted = target.row(d, path);
                let before = row_of.insert(routes.row(d, path), wanted);
                if before.is_some_and(|other| target.ports(other) != target.ports(wanted)) {
                    return Err(RerouteError::MixedRow);
                }
            }
        }
        let mut at_work = AtWork { place: vec![NONE; switches], prepared: self };
        let mut taken = Taken::default();
        for (row, wanted) in row_of {
            at_work.row(row, target.ports(wanted), &mut taken);
        }
        let mut prepared = at_work.prepared;
        prepared.count_loads();
        Ok((prepared, taken))
    }
}

struct AtWork<'a> {
    prepared: Prepared<'a>,
    place: Vec<u32>,
}

impl AtWork<'_> {
    /// Takes a row, or the part of it that fits.
    fn row(&mut self, row: usize, wanted: &[u8], taken: &mut Taken) {
        let old = self.prepared.routes.ports(row).to_vec();
        let differ: Vec<u32> =
            (0..old.len()).filter(|&s| old[s] != wanted[s]).map(|s| s as u32).collect();
        if differ.is_empty() {
            return;
        }
        taken.rows += 1;
        taken.entries += differ.len();
        if self.fits(row, &old, &differ, wanted) {
            taken.whole += 1;
            taken.taken += differ.len();
            return;
        }
        let mut now: Vec<u32> = Vec::new();
        for s in differ {
            now.push(s);
            if !self.fits(row, &old, &now, wanted) {
                now.pop();
            }
        }
        taken.in_part += usize::from(!now.is_empty());
        taken.taken += now.len();
    }

    /// Gives some switches their wanted entries, if any mix of these with the old ones of the row is compatible with all that was
    /// taken before; otherwise the row stays as it is.
    fn fits(&mut self, row: usize, old: &[u8], some: &[u32], wanted: &[u8]) -> bool {
        let before = self.prepared.routes.ports(row).to_vec();
        // The cut-off part is read from the old entries.
        self.prepared.routes.ports_mut(row).copy_from_slice(old);
        let cut = self.prepared.cut(row, some.iter().copied(), &mut self.place);
        for &s in some {
            self.prepared.routes.ports_mut(row)[s as usize] = wanted[s as usize];
        }
        let mix = self.prepared.mix(&cut, &BTreeMap::new(), &mut self.place);
        let all = mix.map_or(Some(Vec::new()), |mix| self.prepared.in_any_order(&mix));
        let fits = all.is_some_and(|all| self.put(&all));
        if !fits {
            self.prepared.routes.ports_mut(row).copy_from_slice(&before);
            return false;
        }
        // Dependencies of new paths count for each of them, so that they can be taken out again one by one.
        let mut way = Vec::new();
        for node in cut.nodes.iter().filter(|node| node.layers != 0) {
            way.clear();
            if self.prepared.follow(row, node.switch, &mut way) {
                self.prepared.enter(node.layers, &way);
            }
        }
        true
    }

    /// Adds all of these permanently, or none; returns whether they fit.
    fn put(&mut self, all: &[Dependency]) -> bool {
        let prepared = &mut self.prepared;
        let mut put = Vec::new();
        for &(mask, c, d) in all {
            for layer in layers(mask) {
                if !prepared.layers[usize::from(layer)].put(&prepared.slots, prepared.fabric, c, d)
                {
                    for (layer, c, d) in put {
                        prepared.layers[usize::from(layer)].take(
                            &prepared.slots,
                            prepared.fabric,
                            c,
                            d,
                        );
                    }
                    return false;
                }
                put.push((layer, c, d));
            }
        }
        true
    }
}
