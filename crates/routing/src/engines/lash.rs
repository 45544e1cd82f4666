//! LASH: layered shortest paths.

use std::sync::Arc;

use darkfiber_fabric::{Fabric, SwitchId};

use super::acyclic::Acyclic;
use super::balance::homes;
use super::canon::in_order;
use super::dag::require_routable;
use super::dfsssp::{by_destination, out_of_lanes};
use super::frugal::FrugalTrees;
use super::grow::Rule;
use super::layers::{LONG, SHORT};
use super::refine::refine;
use super::tree::Tree;
use crate::{Deadlock, DestId, Engine, LayerBy, Layers, Needs, Refusal, Request, Routes};

/// See [`Engine::doc`].
pub(crate) struct Lash;

impl Engine for Lash {
    fn name(&self) -> &'static str {
        "lash"
    }

    fn summary(&self) -> &'static str {
        "balanced shortest paths on few virtual layers, one for each pair of switches"
    }

    fn doc(&self) -> &'static str {
        "Shortest paths that make few different channel dependencies: where several are open, one that \
         continues as other paths already do comes first, then the least loaded. On lattices that is \
         dimension order, found without coordinates. Every pair of switches, by direction, gets the \
         first virtual layer whose channel dependency graph stays acyclic with its path. Then each LID \
         is balanced by itself, over other shortest paths and parallel cables, as far as the layers of \
         its pairs of switches allow.\n\n\
         OpenSM's lash sends all LIDs of a switch the same way, and keeps both directions of a pair in \
         one layer, which takes more layers; here they may differ.\n\n\
         Complexity: O(LIDs x channels x hops), plus the searches for cycles."
    }

    fn paper(&self) -> &'static str {
        "Skeie, Lysne, Theiss: Layered Shortest Path (LASH) Routing in Irregular System Area \
         Networks, IPDPS'02 (CAC workshop)"
    }

    fn needs(&self) -> Needs {
        Needs::Any
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Layers
    }

    fn route(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        in_order(fabric, request, compute)
    }
}

fn compute(fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
    if request.layer_by == LayerBy::Destination {
        return by_destination("lash", fabric, request);
    }
    let mut routes = Routes::empty("lash", fabric, request.paths());
    FrugalTrees::new(fabric, &mut routes);
    let lanes = usize::from(request.lanes);
    let mut paths = SwitchPaths::fill(fabric, &routes, SHORT);
    if paths.graphs.len() > lanes {
        paths = SwitchPaths::fill(fabric, &routes, LONG);
    }
    if paths.graphs.len() > lanes {
        return Err(out_of_lanes("lash", paths.graphs.len(), request));
    }
    let n = fabric.switch_count();
    let layers = paths.graphs.len();
    let of_path = Arc::clone(&paths.layer);
    refine(fabric, &mut routes, &[paths], &vec![0; n]);
    if layers > 1 {
        let mut layer = vec![0; routes.row_count() * n];
        for d in 0..fabric.terminal_count() {
            let dest = DestId::new(d);
            let home = dest.home(fabric).index();
            for path in 0..routes.paths() {
                let row = routes.row(dest, path);
                layer[row * n..(row + 1) * n].copy_from_slice(&of_path[home * n..(home + 1) * n]);
            }
        }
        routes.layers = Layers::BySourceSwitch(layer);
    }
    Ok(routes)
}

/// Layers of the paths between switches, and the dependencies of each layer.
#[derive(Clone)]
struct SwitchPaths<'a> {
    fabric: &'a Fabric,
    graphs: Vec<Acyclic<'a>>,
    /// By destination switch and source switch.
    layer: Arc<Vec<u8>>,
    /// First entry of the destination at hand.
    home: usize,
}

impl<'a> SwitchPaths<'a> {
    /// Puts all paths on the trees of the switches' own LIDs into layers.
    fn fill(fabric: &'a Fabric, routes: &Routes, effort: usize) -> Self {
        /// Not in any layer yet.
        const WAITING: u8 = u8::MAX;
        let n = fabric.switch_count();
        let mut ends = homes(fabric);
        ends.sort_unstable();
        let mut layer = vec![0; n * n];
        for &d in &ends {
            for &s in &ends {
                layer[d.index() * n + s.index()] = WAITING;
            }
        }
        let mut graphs = Vec::new();
        let mut tree = Tree::default();
        let mut waiting = true;
        while waiting && graphs.len() < usize::from(WAITING) {
            let mut graph = Acyclic::new(fabric, effort);
            waiting = false;
            for &d in &ends {
                let slots = &mut layer[d.index() * n..(d.index() + 1) * n];
                if ends.iter().all(|s| slots[s.index()] != WAITING) {
                    continue;
                }
                tree.read(fabric, routes.ports(routes.row(DestId::switch(fabric, d), 0)), d);
                for s in ends.iter().map(|s| s.index()) {
                    if slots[s] == WAITING {
                        if graph.admit(|v| tree.next[v], s) {
                            slots[s] = graphs.len() as u8;
                        } else {
                            waiting = true;
                        }
                    }
                }
            }
            graphs.push(graph);
        }
        Self { fabric, graphs, layer: Arc::new(layer), home: 0 }
    }

    fn graph(&self, source: u32) -> usize {
        usize::from(self.layer[self.home + source as usize])
    }
}

impl Rule for SwitchPaths<'_> {
    const BY_SOURCE: bool = true;

    fn begin(&mut self, home: SwitchId) {
        self.home = home.index() * self.fabric.switch_count();
    }

    fn known(&self, source: u32, c: u32, next: u32) -> bool {
        self.graphs[self.graph(source)].has(c, next)
    }

    fn barred(&self, source: u32, c: u32, next: u32) -> bool {
        self.graphs[self.graph(source)].is_barred(c, next)
    }

    fn take(&mut self, source: u32, c: u32, next: u32) -> bool {
        let graph = self.graph(source);
        self.graphs[graph].extend(c, next)
    }
}
