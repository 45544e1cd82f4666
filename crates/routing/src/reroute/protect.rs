//! Virtual layers that reserve dependencies for repairs.
//!
//! Usually as few layers as possible are used: each is filled until nothing more fits. Then hardly any detour fits either,
//! and a repair must move paths to other service levels, which running connections do not notice. Lanes that are idle
//! anyway can be spent on this: here a path enters a layer only together with the paths that would replace it, one for
//! each cable that it crosses. So whichever cable fails, the detours are acyclic together with everything else in the
//! layer, by construction; service levels stay, and new entries may be mixed with old ones.

use std::collections::BTreeMap;

use darkfiber_fabric::Fabric;

use super::channel::NONE;
use super::detour::{Detour, Detours, Taken};
use super::graph::Layer;
use super::labels::layers_of;
use super::prepared::Prepared;
use super::tree::Tree;
use crate::{Layers, Routes};

/// Number of repairs that the layers provide for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protection {
    /// Paths (source switch, row), and cables that they cross: each may need a detour.
    pub detours: usize,
    /// Of these, that fit into the layers of their paths.
    pub protected: usize,
}

/// A dependency of a channel on the next.
type Pair = (u32, u32);

/// A path with its detours.
struct Guarded {
    row: usize,
    source: u32,
    /// The layer that the engine gave it.
    layer: u8,
    own: Vec<Pair>,
    /// The dependencies of each detour that the path itself does not have.
    detours: Vec<Vec<Pair>>,
}

impl Prepared<'_> {
    /// The same tables with layers that admit the detours of as many paths as `lanes` hold; all paths of the engine
    /// stay, and each layer is acyclic if all were. Layers by pair of terminals, as dumps have them, and those that
    /// can deadlock, stay as they are.
    ///
    /// Complexity: O(paths x hops squared x lanes), and the searches for dependencies against the order.
    pub fn protected(&self, lanes: u8) -> (Routes, Protection) {
        let mut routes = self.routes.clone();
        let kept = usize::from(lanes).max(self.layers.len());
        if matches!(routes.layers, Layers::BySource(_)) || self.layers.iter().any(|l| l.cyclic) {
            return (routes, Protection::default());
        }
        let paths = self.guarded();
        let detours = paths.iter().map(|path| path.detours.len()).sum();
        // Lanes that are kept for paths whose detours fit nowhere: none at first; the engine's own number of lanes
        // always suffices.
        let found = (0..=self.layers.len()).find_map(|spare| self.filled(&paths, kept, spare));
        let Some((layer, protected)) = found else { return (routes, Protection::default()) };
        let n = self.fabric.switch_count();
        let mut layers = vec![0; routes.row_count() * n];
        for (path, layer) in paths.iter().zip(layer) {
            layers[path.row * n + path.source as usize] = layer;
        }
        routes.layers = Layers::BySourceSwitch(layers);
        (routes, Protection { detours, protected })
    }

    /// All paths between terminals of different switches, by row and source.
    fn guarded(&self) -> Vec<Guarded> {
        let mut tree = Tree::new(self.fabric.switch_count());
        let mut detours = Detours::new(self.fabric);
        let mut taken = Taken::new();
        let mut all = Vec::new();
        for row in (0..self.traffic.rows.len()).filter(|&row| self.traffic.rows[row].live) {
            tree.read(self.fabric, self.routes.ports(row), self.traffic.rows[row].home);
            detours.read(&tree);
            let senders = tree.order.iter().filter(|&&s| tree.next[s as usize] != NONE);
            let detour: BTreeMap<u32, Detour> =
                senders.filter_map(|&s| Some((s, detours.of(&tree, s, &mut taken)?))).collect();
            for (source, _) in self.traffic.sources(row) {
                let mask = layers_of(self.fabric, &self.routes, row, source);
                let way = follow(self.fabric, &tree.next, &BTreeMap::new(), source);
                let own = pairs(&way);
                let around = |&c: &u32| {
                    let changed = detour.get(&self.fabric.tails()[c as usize])?;
                    Some(self.beside(&tree, changed, (source, &way), &own))
                };
                let detours = way.iter().filter_map(around).collect();
                let layer = mask.trailing_zeros() as u8;
                all.push(Guarded { row, source, layer, own, detours });
            }
        }
        all
    }

    /// The dependencies of a path's detour that the path itself does not have: also of packets that come to a switch by old
    /// entries and continue by new ones.
    fn beside(
        &self,
        tree: &Tree,
        changed: &Detour,
        (source, way): (u32, &[u32]),
        own: &[Pair],
    ) -> Vec<Pair> {
        let mut found = pairs(&follow(self.fabric, &tree.next, changed, source));
        for (i, &c) in way.iter().enumerate() {
            let at = self.fabric.tails()[c as usize];
            if changed.contains_key(&at) {
                let mut mixed = way[..i].to_vec();
                mixed.extend(follow(self.fabric, &tree.next, changed, at));
                found.extend(pairs(&mixed));
            }
        }
        found.retain(|pair| !own.contains(pair));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A layer of `lanes` for each path, the last `spare` of them for paths that do not fit with their detours, and
    /// how many detours fit; `None` if a path fits nowhere.
    fn filled(&self, paths: &[Guarded], lanes: usize, spare: usize) -> Option<(Vec<u8>, usize)> {
        let mut graphs: Vec<Layer> = (0..lanes).map(|_| Layer::new(&self.slots)).collect();
        let mut layer: Vec<Option<u8>> = vec![None; paths.len()];
        let mut protected = 0;
        for (l, graph) in graphs.iter_mut().enumerate().take(lanes - spare) {
            for (path, layer) in paths.iter().zip(&mut layer).filter(|(_, l)| l.is_none()) {
                if self.put_all(graph, std::iter::once(&path.own).chain(&path.detours)) {
                    *layer = Some(l as u8);
                    protected += path.detours.len();
                }
            }
        }
        let is_last = spare == self.layers.len();
        let left: Vec<usize> = (0..paths.len()).filter(|&i| layer[i].is_none()).collect();
        for &i in &left {
            let path = &paths[i];
            // With all lanes of the engine to spare, each path keeps its own: these are acyclic.
            let all = 0..lanes;
            let order = if is_last {
                let own = lanes - spare + usize::from(path.layer);
                own..own + 1
            } else {
                all
            };
            let l = order.into_iter().find(|&l| self.put_all(&mut graphs[l], [&path.own]))?;
            layer[i] = Some(l as u8);
        }
        // Detours of these, as far as they fit.
        for i in left {
            let l = usize::from(layer[i]?);
            for detour in &paths[i].detours {
                protected += usize::from(self.put_all(&mut graphs[l], [detour]));
            }
        }
        Some((layer.into_iter().collect::<Option<Vec<u8>>>()?, protected))
    }

    /// Adds all of these dependencies to a layer, or none.
    fn put_all<'p>(&self, graph: &mut Layer, of: impl IntoIterator<Item = &'p Vec<Pair>>) -> bool {
        let mut put = Vec::new();
        for &(c, d) in of.into_iter().flatten() {
            if !graph.put(&self.slots, self.fabric, c, d) {
                for (c, d) in put {
                    graph.take(&self.slots, self.fabric, c, d);
                }
                return false;
            }
            put.push((c, d));
        }
        true
    }
}

fn pairs(way: &[u32]) -> Vec<Pair> {
    way.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

/// The channels from a switch on, by the tree but where `changed` says otherwise.
fn follow(fabric: &Fabric, next: &[u32], changed: &BTreeMap<u32, u32>, from: u32) -> Vec<u32> {
    let mut way = Vec::new();
    let mut at = from;
    for _ in 0..next.len() {
        let c = changed.get(&at).copied().unwrap_or(next[at as usize]);
        if c == NONE {
            break;
        }
        way.push(c);
        at = fabric.heads()[c as usize];
    }
    way
}
