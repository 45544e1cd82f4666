//! One service level a host: layers that depend only on the source.
//!
//! Applications that do not query path records (UCX, and with it current MPI libraries) use one service level for all
//! traffic of a host. So all paths from a switch share a layer here, whatever engine made them: sources are admitted to a
//! layer one after the other, each with all of its paths or not at all.

use darkfiber_fabric::{Fabric, SwitchId};

use super::acyclic::{Acyclic, NONE};
use super::layers::{LONG, SHORT, channel, one_layer_does};
use crate::{DestId, Layers, Routes};

/// More layers needed than there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLayersBySource {
    /// This many would do.
    #[error(
        "takes {needed} lanes with one service level a host, more than the {lanes} that it may use"
    )]
    Lanes {
        /// Number of lanes that would suffice.
        needed: usize,
        /// Number of lanes that are allowed.
        lanes: u8,
    },
    /// Paths of one switch close a cycle among themselves.
    #[error(
        "the paths from one switch close a cycle among themselves: no service level of a host will do"
    )]
    Alone,
}

/// Gives all paths from a switch the same layer, at most `lanes` in all; the paths stay. Existing layers are discarded.
///
/// Sources are taken in several orders, and the result with the fewest layers is kept: by number, which keeps
/// neighbours together, in reverse, and in strides.
///
/// Complexity: O(LIDs x switches x hops) for each order and layer that is tried, and the searches for dependencies against
/// the order of channels.
///
/// # Errors
/// If more layers are needed; the routes are unchanged then.
pub fn layers_by_source(
    fabric: &Fabric,
    routes: &mut Routes,
    lanes: u8,
) -> Result<(), NoLayersBySource> {
    if one_layer_does(fabric, routes, &[]) {
        routes.layers = Layers::One;
        return Ok(());
    }
    let sources: Vec<usize> = (0..fabric.switch_count())
        .filter(|&s| !fabric.terminals_on(SwitchId::new(s)).is_empty())
        .collect();
    let rows = Rows::new(fabric, routes);
    let mut best: Option<Vec<u8>> = None;
    let layers = |of: &[u8]| of.iter().copied().max().map_or(1, |l| usize::from(l) + 1);
    for order in orders(&sources) {
        for effort in [SHORT, LONG] {
            let found = rows.fill(fabric, &order, effort).ok_or(NoLayersBySource::Alone)?;
            if best.as_ref().is_none_or(|known| layers(&found) < layers(known)) {
                best = Some(found);
            }
        }
        // Two are the fewest where one will not do.
        if best.as_ref().is_some_and(|known| layers(known) <= 2) {
            break;
        }
    }
    let best = best.unwrap_or_default();
    let needed = layers(&best);
    if needed > usize::from(lanes) {
        return Err(NoLayersBySource::Lanes { needed, lanes });
    }
    let all = (0..routes.row_count()).flat_map(|_| best.iter().copied());
    routes.layers = Layers::BySourceSwitch(all.collect());
    Ok(())
}

fn orders(sources: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![sources.to_vec(), sources.iter().rev().copied().collect()];
    for stride in [2, 3, 4, 5, 8] {
        let dealt = (0..stride).flat_map(|first| sources.iter().skip(first).step_by(stride));
        all.push(dealt.copied().collect());
    }
    all
}

/// The channel that each switch sends on, for every row that leads to a terminal.
struct Rows {
    switches: usize,
    next: Vec<u32>,
}

impl Rows {
    fn new(fabric: &Fabric, routes: &Routes) -> Self {
        let mut rows: Vec<usize> = (0..fabric.terminal_count())
            .flat_map(|d| (0..routes.paths()).map(move |path| (d, path)))
            .map(|(d, path)| routes.row(DestId::new(d), path))
            .collect();
        rows.sort_unstable();
        rows.dedup();
        let mut all: Vec<Vec<u32>> = rows
            .into_iter()
            .map(|row| {
                let ports = routes.ports(row).iter().enumerate();
                ports.map(|(s, &port)| channel(fabric, s, port)).collect()
            })
            .collect();
        // LIDs of one switch often share their paths.
        all.sort_unstable();
        all.dedup();
        Self { switches: fabric.switch_count(), next: all.concat() }
    }

    /// A layer for each switch, sources in this order, each into the first that takes all of its paths; `None` if the paths
    /// of one close a cycle in isolation.
    fn fill(&self, fabric: &Fabric, order: &[usize], effort: usize) -> Option<Vec<u8>> {
        let mut layer = vec![0; self.switches];
        let mut left = order.to_vec();
        for number in 0..u8::MAX {
            if left.is_empty() {
                break;
            }
            let mut graph = Acyclic::new(fabric, effort);
            let before = left.len();
            left.retain(|&s| {
                let fits = self.enter(fabric, &mut graph, s);
                if fits {
                    layer[s] = number;
                }
                !fits
            });
            if left.len() == before {
                // An empty layer takes every source that has no cycle of its own, if the search is
                // not cut short.
                graph.set_effort(usize::MAX);
                let first = left.remove(0);
                if !self.enter(fabric, &mut graph, first) {
                    return None;
                }
                layer[first] = number;
            }
        }
        left.is_empty().then_some(layer)
    }

    /// Adds all paths from a switch to a layer, or none.
    fn enter(&self, fabric: &Fabric, graph: &mut Acyclic<'_>, s: usize) -> bool {
        graph.begin();
        let fits = self.next.chunks_exact(self.switches).all(|next| {
            let mut c = next[s];
            while c != NONE {
                let d = next[fabric.heads()[c as usize] as usize];
                if d != NONE && !graph.extend(c, d) {
                    return false;
                }
                c = d;
            }
            true
        });
        graph.end(fits);
        fits
    }
}
