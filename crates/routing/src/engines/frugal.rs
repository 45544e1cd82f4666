//! Frugal tables: balanced shortest paths that make few different channel dependencies.
//!
//! Where several shortest paths are open, one that continues as other paths already do adds no
//! dependency, and a path that adds no dependency needs no new layer. On lattices this finds
//! dimension order without further rules; a 4x4x4 torus needs one layer, an 8x8x8 torus five.

use darkfiber_fabric::Fabric;

use super::acyclic::Acyclic;
use super::balance::{homes, lid_groups};
use super::dag::Dag;
use super::grow::{Grower, LoadView, Loads, Preference, Rule};
use super::layers::SHORT;
use super::refine::{refine, route_empty_switches};
use super::tree::Tree;
use crate::{DestId, Routes};

/// The dependencies of all paths so far, and which others can join the first layer.
#[derive(Clone)]
pub(super) struct Frugal<'a> {
    made: Vec<u64>,
    words: usize,
    fabric: &'a Fabric,
    /// The dependencies of as many paths as fit into one layer; `None` while the trees are grown.
    layer: Option<Acyclic<'a>>,
}

impl<'a> Frugal<'a> {
    pub(super) fn new(fabric: &'a Fabric) -> Self {
        let starts = fabric.channel_starts();
        let widest = starts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        let words = widest.div_ceil(64).max(1) as usize;
        Self { made: vec![0; fabric.channel_count() * words], words, fabric, layer: None }
    }

    fn bit(&self, c: u32, next: u32) -> (usize, u64) {
        let head = self.fabric.heads()[c as usize] as usize;
        let k = next - self.fabric.channel_starts()[head];
        (c as usize * self.words + (k >> 6) as usize, 1 << (k & 63))
    }
}

impl Rule for Frugal<'_> {
    fn known(&self, _: u32, c: u32, next: u32) -> bool {
        let (word, bit) = self.bit(c, next);
        self.made[word] & bit != 0
    }

    fn barred(&self, _: u32, c: u32, next: u32) -> bool {
        self.layer.as_ref().is_some_and(|layer| layer.is_barred(c, next))
    }

    fn take(&mut self, _: u32, c: u32, next: u32) -> bool {
        if self.known(0, c, next) {
            return true;
        }
        if self.layer.as_mut().is_some_and(|layer| !layer.extend(c, next)) {
            return false;
        }
        let (word, bit) = self.bit(c, next);
        self.made[word] |= bit;
        true
    }
}

/// One frugal tree of shortest paths for each destination switch, in the row of its own LID.
pub(super) struct FrugalTrees<'a> {
    fabric: &'a Fabric,
    rule: Frugal<'a>,
    /// Largest load of a channel if all LIDs of a switch were routed along its tree.
    pub(super) largest: u64,
}

impl<'a> FrugalTrees<'a> {
    pub(super) fn new(fabric: &'a Fabric, routes: &mut Routes) -> Self {
        let mut rule = Frugal::new(fabric);
        let mut grower = Grower::new(fabric);
        let mut loads = Loads::new(fabric);
        let mut tree = Tree::default();
        let mut dag = Dag::default();
        for home in homes(&lid_groups(fabric)) {
            dag.shortest(fabric, home);
            let view = LoadView::Joint(&loads.of, Preference::Frugal);
            grower.grow_shortest(&mut rule, view, &dag, &mut tree);
            let lids = (fabric.terminals_on(home).len() * routes.paths()) as u64;
            loads.add(&tree, &grower.sources, lids);
            let row = routes.row(DestId::switch(fabric, home), 0);
            tree.write(fabric, routes.ports_mut(row));
        }
        route_empty_switches(fabric, routes, &loads.of);
        Self { fabric, rule, largest: loads.largest() }
    }

    /// Routes every LID on its own, with dependencies that the trees make or that fit into one layer
    /// with many of them. Returns the largest load of a channel.
    pub(super) fn refine(self, routes: &mut Routes) -> u64 {
        let f = self.fabric;
        let groups = lid_groups(f);
        let homes = homes(&groups);
        let mut layer = Acyclic::new(f, SHORT);
        let mut tree = Tree::default();
        for &home in &homes {
            tree.read(f, routes.ports(routes.row(DestId::switch(f, home), 0)), home);
            for s in &homes {
                layer.admit(|v| tree.next[v], s.index());
            }
        }
        let rule = Frugal { layer: Some(layer), ..self.rule };
        let rules = (vec![rule], vec![0; f.switch_count()]);
        refine(f, routes, &groups, rules, Loads::new(f)).1.largest()
    }
}
