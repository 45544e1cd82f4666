//! Virtual layers: spreading the paths of finished tables over lanes so that no lane can deadlock.
//!
//! DFSSSP finds cycles in one graph of all paths and moves the paths of each cycle's weakest edge to
//! the next layer (Domke, Hoefler, Nagel, "Deadlock-free oblivious routing for arbitrary topologies",
//! IPDPS 2011, section IV). Here a layer is filled in the opposite direction: a path is admitted to the
//! layer if the layer's channel dependency graph stays acyclic, which an incrementally kept topological
//! order decides (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs",
//! JEA 11, 2006). A rejected dependency stays rejected, because a layer only grows. This needs fewer
//! layers (measured in docs/benchmarks.md) and no list of the paths on each edge.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use darkfiber_fabric::{AtPort, Fabric, SwitchId};
use rayon::prelude::*;

use super::acyclic::{Acyclic, NONE};
use super::dependencies::Dependencies;
use super::wavefront::each_cell;
use crate::stop::unwind_if_asked;
use crate::{DELIVER, DestId, Layers, NO_ROUTE, Refusal, Routes};

/// Not in any layer yet.
const WAITING: u8 = u8::MAX;
/// Channels that a search may visit before a path is put off to the next layer. Long searches are rare
/// and mostly end in a cycle: giving them up costs hardly any layer and saves half of the time.
pub(super) const SHORT: usize = 128;
/// As [`SHORT`], where rejected paths take a detour.
pub(super) const MIDDLING: usize = 1024;
/// As [`SHORT`], where a layer less is worth the time.
pub(super) const LONG: usize = 4096;

/// Blocks that the rows are divided into.
const BLOCKS: usize = 64;

/// More layers needed than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OutOfLanes {
    /// Number of layers that would suffice.
    pub(super) needed: usize,
}

/// The refusal of an engine whose layers here depend on the source too, where they must not.
pub(super) fn only_by_pair(engine: &'static str) -> Refusal {
    Refusal::Parameter {
        engine,
        problem:
            "its layers depend on source and destination here; assign them by pair, or use nue, \
                  dfsssp or lash, which can assign them by destination"
                .to_owned(),
    }
}

/// Assigns all paths between terminals to layers, at most `lanes`.
///
/// A path is (source switch, row): all terminals of a switch share it. Rows are taken in order, within
/// a row the sources by id, each into the first layer that stays acyclic with it.
pub(super) fn assign_layers(
    fabric: &Fabric,
    routes: &mut Routes,
    lanes: u8,
    effort: usize,
) -> Result<(), OutOfLanes> {
    let filling = Filling::new(fabric, routes, effort);
    if filling.fits_one(routes, &[]) {
        routes.layers = Layers::One;
        return Ok(());
    }
    let waiting = vec![WAITING; routes.row_count() * fabric.switch_count()];
    filling.fill(routes, lanes, 0, waiting)
}

/// Whether all paths between terminals but those (row, source switch) in `apart`, which are sorted, fit into one layer, as on trees.
pub(super) fn one_layer_does(fabric: &Fabric, routes: &Routes, apart: &[(u32, u32)]) -> bool {
    Filling::new(fabric, routes, SHORT).fits_one(routes, apart)
}

/// Assigns the paths (row, source switch) in `strays` to layers above 0; all others stay in layer 0,
/// which the caller knows to be acyclic.
pub(super) fn assign_strays(
    fabric: &Fabric,
    routes: &mut Routes,
    lanes: u8,
    strays: &[(u32, u32)],
) -> Result<(), OutOfLanes> {
    if strays.is_empty() {
        return Ok(());
    }
    let n = fabric.switch_count();
    let mut layer = vec![0; routes.row_count() * n];
    for &(row, s) in strays {
        layer[row as usize * n + s as usize] = WAITING;
    }
    Filling::new(fabric, routes, SHORT)
        .fill(routes, lanes, 1, layer.clone())
        .or_else(|_| Filling::new(fabric, routes, LONG).fill(routes, lanes, 1, layer))
}

struct Filling<'a> {
    fabric: &'a Fabric,
    effort: usize,
    /// Rows that terminals are reached by.
    rows: Vec<usize>,
    /// Switches with terminals.
    sources: Vec<usize>,
}

impl<'a> Filling<'a> {
    fn new(fabric: &'a Fabric, routes: &Routes, effort: usize) -> Self {
        let rows: BTreeSet<usize> = (0..fabric.terminal_count())
            .flat_map(|d| (0..routes.paths()).map(move |p| (d, p)))
            .map(|(d, p)| routes.row(DestId::new(d), p))
            .collect();
        let sources = (0..fabric.switch_count())
            .filter(|&s| !fabric.terminals_on(SwitchId::new(s)).is_empty())
            .collect();
        Self { fabric, effort, rows: rows.into_iter().collect(), sources }
    }

    /// Whether all paths but those in `apart` (sorted) are acyclic together, as on trees: decided at once, instead of path by path.
    fn fits_one(&self, routes: &Routes, apart: &[(u32, u32)]) -> bool {
        let rows = &self.rows;
        let shares = rows.par_chunks(rows.len().div_ceil(rayon::current_num_threads()).max(1));
        let gather = |rows: &[usize]| {
            let mut graph = Dependencies::new(self.fabric);
            let mut next = vec![NONE; self.fabric.switch_count()];
            for &row in rows {
                read_channels(self.fabric, routes.ports(row), &mut next);
                if apart.is_empty() {
                    graph.add_row(&next, &self.sources);
                    continue;
                }
                let is_in = |&s: &usize| apart.binary_search(&(row as u32, s as u32)).is_err();
                let sources: Vec<usize> = self.sources.iter().copied().filter(is_in).collect();
                graph.add_row(&next, &sources);
            }
            graph
        };
        let all = shares.map(gather).reduce(|| Dependencies::new(self.fabric), Dependencies::with);
        all.are_acyclic()
    }

    /// Fills layers from `first` up until no path is left, also beyond `lanes` to find how many are
    /// needed.
    ///
    /// A layer takes the paths of a block of rows when the previous layer is done with the block, and it
    /// is itself done with the previous block: as if one layer were filled after the other.
    fn fill(
        &self,
        routes: &mut Routes,
        lanes: u8,
        first: u8,
        mut layer: Vec<u8>,
    ) -> Result<(), OutOfLanes> {
        let mut used = first;
        let mut waiting = true;
        while waiting && used < WAITING {
            // Mostly the lanes that there are suffice.
            let wanted = lanes.saturating_sub(used).clamp(1, WAITING - used);
            let blocks = self.blocks(routes, &mut layer);
            let graphs: Vec<Mutex<Option<Acyclic<'_>>>> =
                (0..wanted).map(|_| Mutex::new(None)).collect();
            each_cell(graphs.len(), blocks.len(), |l, b| {
                let (mut block, mut graph) = (held(&blocks[b]), held(&graphs[l]));
                if block.waiting {
                    let graph = graph.get_or_insert_with(|| Acyclic::new(self.fabric, self.effort));
                    block.waiting = self.fill_one(routes, graph, used + l as u8, &mut block);
                }
            });
            waiting = blocks.iter().any(|block| held(block).waiting);
            used += graphs.iter().filter(|graph| held(graph).is_some()).count() as u8;
        }
        if waiting || used > lanes {
            return Err(OutOfLanes { needed: usize::from(used) });
        }
        for slot in &mut layer {
            if *slot == WAITING {
                // No terminal sends from here; any layer will do.
                *slot = 0;
            }
        }
        routes.layers = if used == 1 { Layers::One } else { Layers::BySourceSwitch(layer) };
        Ok(())
    }

    /// The rows in blocks, each with its slots.
    fn blocks<'x>(&'x self, routes: &Routes, mut layer: &'x mut [u8]) -> Vec<Mutex<Block<'x>>> {
        let n = self.fabric.switch_count();
        let mut start = 0;
        let mut blocks = Vec::new();
        for rows in self.rows.chunks(self.rows.len().div_ceil(BLOCKS).max(1)) {
            let end = rows.last().map_or(routes.row_count(), |row| row + 1);
            let (slots, rest) = std::mem::take(&mut layer).split_at_mut((end - start) * n);
            blocks.push(Mutex::new(Block { rows, start, slots, waiting: true }));
            (layer, start) = (rest, end);
        }
        blocks
    }

    /// Lets waiting paths of a block into layer `l`; whether some still wait.
    fn fill_one(
        &self,
        routes: &Routes,
        graph: &mut Acyclic<'_>,
        l: u8,
        block: &mut Block<'_>,
    ) -> bool {
        let n = self.fabric.switch_count();
        let mut next = vec![NONE; n];
        let mut waiting = false;
        for &row in block.rows {
            unwind_if_asked();
            let slots = &mut block.slots[(row - block.start) * n..][..n];
            if self.sources.iter().all(|&s| slots[s] != WAITING) {
                continue;
            }
            read_channels(self.fabric, routes.ports(row), &mut next);
            for &s in &self.sources {
                if slots[s] == WAITING {
                    if graph.admit(|v| next[v], s) {
                        slots[s] = l;
                    } else {
                        waiting = true;
                    }
                }
            }
        }
        waiting
    }
}

/// Some rows that terminals are reached by.
struct Block<'a> {
    rows: &'a [usize],
    /// The row that the slots begin with.
    start: usize,
    /// By row and source the layer of the path.
    slots: &'a mut [u8],
    /// Whether some path may have no layer yet.
    waiting: bool,
}

/// Locks data that only one thread uses at a time.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The channel that each switch sends on, [`NONE`] at the destination.
fn read_channels(fabric: &Fabric, ports: &[u8], next: &mut [u32]) {
    for (s, &port) in ports.iter().enumerate() {
        next[s] = channel(fabric, s, port);
    }
}

/// The channel behind a table entry.
pub(super) fn channel(fabric: &Fabric, s: usize, port: u8) -> u32 {
    match port {
        DELIVER | NO_ROUTE => NONE,
        port => match fabric.at_port(SwitchId::new(s), port) {
            AtPort::Switch(c, _) => c.0,
            _ => NONE,
        },
    }
}
