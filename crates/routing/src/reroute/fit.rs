//! Detours that add as few channel dependencies as possible.
//!
//! A layer most easily takes a detour that consists of turns that other paths make already: for example along the rest of a
//! broken ring, which has no cycle left, instead of over a neighboring ring and back, by turns that dimension order never
//! takes. For every row all detours are examined that leave the cut-off part by one channel, and the one that adds the fewest
//! new dependencies is taken.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::SwitchId;

use super::RerouteError;
use super::channel::{NONE, channel, channel_at};
use super::cut::Cut;
use super::detour::Detour;
use super::labels::layers;
use super::mended::Mended;
use super::prepared::Prepared;

/// Detours of a row that are tried, those with the fewest new dependencies first.
const MOST_TRIES: usize = 8;

/// A detour of a row.
struct Candidate {
    /// Dependencies that no path has yet.
    fresh: usize,
    /// Channels of all paths together.
    hops: usize,
    changed: Detour,
    /// The path of each node of the cut.
    ways: Vec<Vec<u32>>,
}

impl Prepared<'_> {
    /// Repairs cuts by one detour for each row; [`RerouteError::Levels`] if a row is cut at several places, or none of
    /// its detours fits into the layers of its paths.
    ///
    /// Complexity: for each row O(cut-off switches squared x hops x ports that leave them).
    pub(super) fn mend_by_fit(&mut self, cuts: &[Cut]) -> Result<Mended, RerouteError> {
        let mut mended = Mended::default();
        for cut in cuts {
            self.lift(cut.row, &cut.nodes, &mut mended.held);
        }
        for cut in cuts {
            let mut all = self.candidates(cut)?;
            all.sort_by_key(|c| (c.fresh, c.hops));
            let taken = all.into_iter().take(MOST_TRIES).find(|c| self.enter_all(cut, &c.ways));
            let taken = taken.ok_or(RerouteError::Levels)?;
            for (s, c) in taken.changed {
                self.routes.ports_mut(cut.row)[s as usize] = self.fabric.tail_ports()[c as usize];
            }
            for (node, way) in cut.nodes.iter().zip(&taken.ways) {
                for &c in way {
                    self.load[c as usize] += node.amount;
                }
            }
        }
        Ok(mended)
    }

    /// All detours of a row that leave its cut-off part by one channel.
    fn candidates(&self, cut: &Cut) -> Result<Vec<Candidate>, RerouteError> {
        let fabric = self.fabric;
        let ports = self.routes.ports(cut.row);
        // A cable that failed before the tables were read leaves a port without any.
        let is_dead = |c: u32| c == NONE || !self.works(c);
        let mut starts = cut.nodes.iter().filter(|n| is_dead(channel_at(fabric, n.switch, n.old)));
        let (Some(start), None) = (starts.next(), starts.next()) else {
            return Err(RerouteError::Levels);
        };
        let inside: BTreeSet<u32> = cut.nodes.iter().map(|n| n.switch).collect();
        let mut found = Vec::new();
        let mut rest = Vec::new();
        for exit in &cut.nodes {
            for c in fabric.channels_from(SwitchId(exit.switch)).map(|c| c as u32) {
                let head = fabric.heads()[c as usize];
                rest.clear();
                let leaves = self.works(c) && !inside.contains(&head);
                if !leaves || !self.follow(cut.row, head, &mut rest) {
                    continue;
                }
                // From where the cable was to the exit it goes as from the exit, backwards.
                let mut changed = Detour::from([(exit.switch, c)]);
                let mut at = exit.switch;
                while at != start.switch {
                    let next = channel(fabric, ports, at);
                    at = fabric.heads()[next as usize];
                    changed.insert(at, fabric.reverses()[next as usize]);
                }
                if changed.values().all(|&c| self.works(c)) {
                    found.push(self.candidate(cut, changed));
                }
            }
        }
        Ok(found)
    }

    fn candidate(&self, cut: &Cut, changed: Detour) -> Candidate {
        let mut fresh: BTreeSet<(u8, u32, u32)> = BTreeSet::new();
        let mut hops = 0;
        let ways: Vec<Vec<u32>> =
            cut.nodes.iter().map(|n| self.changed_way(cut.row, n.switch, &changed)).collect();
        for (node, way) in cut.nodes.iter().zip(&ways).filter(|(node, _)| node.layers != 0) {
            hops += way.len();
            for layer in layers(node.layers) {
                let of = &self.layers[usize::from(layer)];
                let unknown = |p: &&[u32]| !of.knows(&self.slots, self.fabric, p[0], p[1]);
                fresh.extend(way.windows(2).filter(unknown).map(|p| (layer, p[0], p[1])));
            }
        }
        Candidate { fresh: fresh.len(), hops, changed, ways }
    }

    /// The channels of a row from a switch on, but where `changed` says otherwise.
    fn changed_way(&self, row: usize, from: u32, changed: &BTreeMap<u32, u32>) -> Vec<u32> {
        let ports = self.routes.ports(row);
        let mut way = Vec::new();
        let mut at = from;
        for _ in 0..ports.len() {
            let c = changed.get(&at).copied().unwrap_or_else(|| channel(self.fabric, ports, at));
            if c == NONE {
                break;
            }
            way.push(c);
            at = self.fabric.heads()[c as usize];
        }
        way
    }

    /// Puts the paths of all nodes into their layers, or none; returns whether they fit.
    fn enter_all(&mut self, cut: &Cut, ways: &[Vec<u32>]) -> bool {
        for (i, (node, way)) in cut.nodes.iter().zip(ways).enumerate() {
            if !self.enter(node.layers, way) {
                for (node, way) in cut.nodes[..i].iter().zip(ways) {
                    self.withdraw(node.layers, way);
                }
                return false;
            }
        }
        true
    }
}
