//! Virtual layers: spreading the paths of finished tables over lanes so that no lane can deadlock.
//!
//! DFSSSP finds cycles in one graph of all paths and moves the paths of each cycle's weakest edge to
//! the next layer (Domke, Hoefler, Nagel, "Deadlock-free oblivious routing for arbitrary topologies",
//! IPDPS 2011, section IV). Here a layer is filled the other way round: a path is let into the layer if
//! the layer's channel dependency graph stays acyclic, which an incrementally kept topological order
//! decides (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", JEA
//! 11, 2006). A dependency that was turned away once stays so, because a layer only grows. This needs
//! fewer layers (measured in docs/benchmarks.md) and no list of the paths on each edge.

use std::collections::BTreeSet;

use darkfiber_fabric::{AtPort, Fabric, SwitchId};

use super::acyclic::{Acyclic, NONE};
use crate::{DELIVER, DestId, Layers, NO_ROUTE, Routes};

/// Not in any layer yet.
const WAITING: u8 = u8::MAX;
/// Channels that a search may visit before the path is put off to the next layer. Long searches are
/// rare and mostly end in a cycle: giving them up costs hardly any layer and saves half of the time.
const SHORT_SEARCH: usize = 128;

/// More layers needed than allowed; carries how many were full.
pub(super) struct OutOfLanes;

/// Assigns all paths between terminals to layers, at most `lanes`.
///
/// A path is (source switch, row): all terminals of a switch share it. Rows are taken in order, within
/// a row the sources by id. Should short searches need too many layers, thorough ones are tried.
pub(super) fn assign_layers(
    fabric: &Fabric,
    routes: &mut Routes,
    lanes: u8,
) -> Result<(), OutOfLanes> {
    let waiting = vec![WAITING; routes.row_count() * fabric.switch_count()];
    fill_layers(fabric, routes, lanes, 0, &waiting)
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
    fill_layers(fabric, routes, lanes, 1, &layer)
}

fn fill_layers(
    fabric: &Fabric,
    routes: &mut Routes,
    lanes: u8,
    first: u8,
    start: &[u8],
) -> Result<(), OutOfLanes> {
    let rows: BTreeSet<usize> = (0..fabric.terminal_count())
        .flat_map(|d| (0..routes.paths()).map(move |p| (d, p)))
        .map(|(d, p)| routes.row(DestId::new(d), p))
        .collect();
    for effort in [SHORT_SEARCH, usize::MAX] {
        let mut layer = start.to_vec();
        let mut waiting = true;
        let mut used = first;
        while waiting && used < lanes {
            waiting = fill(fabric, routes, &rows, used, effort, &mut layer);
            used += 1;
        }
        if waiting {
            continue;
        }
        for slot in &mut layer {
            if *slot == WAITING {
                // Nobody sends from here; any layer will do.
                *slot = 0;
            }
        }
        routes.layers = if used == 1 { Layers::One } else { Layers::BySourceSwitch(layer) };
        return Ok(());
    }
    Err(OutOfLanes)
}

/// Lets waiting paths into layer `l` while it stays acyclic; whether some still wait.
fn fill(
    fabric: &Fabric,
    routes: &Routes,
    rows: &BTreeSet<usize>,
    l: u8,
    effort: usize,
    layer: &mut [u8],
) -> bool {
    let n = fabric.switch_count();
    let sources: Vec<usize> =
        (0..n).filter(|&s| !fabric.terminals_on(SwitchId::new(s)).is_empty()).collect();
    let mut graph = Acyclic::new(fabric, effort);
    let mut next = vec![NONE; n];
    let mut waiting = false;
    for &row in rows {
        let slots = &mut layer[row * n..(row + 1) * n];
        if sources.iter().all(|&s| slots[s] != WAITING) {
            continue;
        }
        read_channels(fabric, routes.ports(row), &mut next);
        for &s in &sources {
            if slots[s] == WAITING {
                if graph.admit(&next, s) {
                    slots[s] = l;
                } else {
                    waiting = true;
                }
            }
        }
    }
    waiting
}

/// The channel that each switch sends on, [`NONE`] at the destination.
fn read_channels(fabric: &Fabric, ports: &[u8], next: &mut [u32]) {
    for (s, &port) in ports.iter().enumerate() {
        next[s] = match port {
            DELIVER | NO_ROUTE => NONE,
            port => match fabric.at_port(SwitchId::new(s), port) {
                AtPort::Switch(c, _) => c.0,
                _ => NONE,
            },
        };
    }
}
