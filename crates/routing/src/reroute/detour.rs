//! One detour for every switch of a row, for the failure of the cable that it sends over.
//!
//! The detour is the entry to a neighbor that does not send over the switch itself (a loop-free alternate, RFC 5286);
//! where there is none, the path back through the nearest switch behind it that has such a neighbor. Among equally near
//! neighbors the one is taken that the fewest detours of the same cable take already, so that the load of the cable is
//! spread.

use std::collections::BTreeMap;

use darkfiber_fabric::{Fabric, SwitchId};

use super::RerouteError;
use super::channel::{NONE, channel_at};
use super::cut::Cut;
use super::mended::Mended;
use super::prepared::Prepared;
use super::tree::Tree;

/// Number of times that detours of a channel take another channel.
pub(super) type Taken = BTreeMap<(u32, u32), u64>;

/// The entries that change, as switch and channel.
pub(super) type Detour = BTreeMap<u32, u32>;

/// Looks for detours; kept from switch to switch.
pub(super) struct Detours<'a> {
    fabric: &'a Fabric,
    /// The switches that send to each on the row.
    children: Vec<Vec<u32>>,
    /// Switches that send over the current switch.
    behind: Vec<bool>,
}

impl<'a> Detours<'a> {
    pub(super) fn new(fabric: &'a Fabric) -> Self {
        let n = fabric.switch_count();
        Self { fabric, children: vec![Vec::new(); n], behind: vec![false; n] }
    }

    /// Turns to another row.
    pub(super) fn read(&mut self, tree: &Tree) {
        self.children.iter_mut().for_each(Vec::clear);
        for &s in tree.order.iter().filter(|&&s| tree.next[s as usize] != NONE) {
            let head = self.fabric.heads()[tree.next[s as usize] as usize];
            self.children[head as usize].push(s);
        }
    }

    /// The detour of switch `u`; `None` if the cable that it sends over splits the fabric. Rows must come in the same order
    /// for the same choice.
    pub(super) fn of(&mut self, tree: &Tree, u: u32, taken: &mut Taken) -> Option<Detour> {
        let fabric = self.fabric;
        let dead = tree.next[u as usize];
        // The nearest first.
        let mut order = vec![u];
        let mut done = 0;
        while let Some(&s) = order.get(done) {
            done += 1;
            self.behind[s as usize] = true;
            order.extend(&self.children[s as usize]);
        }
        let behind = &self.behind;
        let leaves = |&c: &u32| {
            let head = fabric.heads()[c as usize] as usize;
            let works = c != dead && c != fabric.reverses()[dead as usize];
            works && !behind[head] && tree.hops(head as u32).is_some()
        };
        let found = order.iter().find_map(|&exit| {
            let channels = fabric.channels_from(SwitchId(exit)).map(|c| c as u32);
            let best = channels.filter(leaves).min_by_key(|&c| {
                let hops = tree.hops(fabric.heads()[c as usize]);
                (hops, taken.get(&(dead, c)).copied().unwrap_or(0), c)
            })?;
            *taken.entry((dead, best)).or_default() += 1;
            let mut detour = Detour::from([(exit, best)]);
            // From the switch to the exit it goes as from the exit, backwards.
            let mut at = exit;
            while at != u {
                let c = tree.next[at as usize];
                at = fabric.heads()[c as usize];
                detour.insert(at, fabric.reverses()[c as usize]);
            }
            Some(detour)
        });
        for s in order {
            self.behind[s as usize] = false;
        }
        found
    }
}

impl Prepared<'_> {
    /// Repairs cuts by the detours of a single cable, one for each row; [`RerouteError::Levels`] if something else failed, or
    /// a path does not fit into its layers.
    pub(super) fn mend_by_detours(&mut self, cuts: &[Cut]) -> Result<Mended, RerouteError> {
        let fabric = self.fabric;
        let mut mended = Mended::default();
        for cut in cuts {
            self.lift(cut.row, &cut.nodes, &mut mended.held);
        }
        let mut detours = Detours::new(fabric);
        let mut tree = Tree::new(fabric.switch_count());
        let mut taken = Taken::new();
        let mut way = Vec::new();
        for cut in cuts {
            let is_dead = |c: u32| c != NONE && !self.works(c);
            let mut starts =
                cut.nodes.iter().filter(|n| is_dead(channel_at(fabric, n.switch, n.old)));
            let (Some(start), None) = (starts.next(), starts.next()) else {
                return Err(RerouteError::Levels);
            };
            tree.read(fabric, self.routes.ports(cut.row), cut.home);
            detours.read(&tree);
            let detour = detours.of(&tree, start.switch, &mut taken).ok_or(RerouteError::Levels)?;
            for (s, c) in detour {
                self.routes.ports_mut(cut.row)[s as usize] = fabric.tail_ports()[c as usize];
            }
            for node in &cut.nodes {
                way.clear();
                // Another failed element may be on the detour.
                let arrives = self.follow(cut.row, node.switch, &mut way)
                    && way.iter().all(|&c| self.works(c));
                if !arrives || !self.enter(node.layers, &way) {
                    return Err(RerouteError::Levels);
                }
                for &c in &way {
                    self.load[c as usize] += node.amount;
                }
            }
        }
        Ok(mended)
    }
}
