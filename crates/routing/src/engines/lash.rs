//! LASH: layered shortest paths.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use darkfiber_fabric::{Fabric, SwitchId};

use super::acyclic::Acyclic;
use super::balance::{FirstCriterion, LidGroup, balance, cut_bound, homes, is_near, schedules};
use super::canon::in_order;
use super::dag::require_routable;
use super::dfsssp::{by_destination, out_of_lanes};
use super::frugal::FrugalTrees;
use super::grow::{Loads, Rule};
use super::layers::{LONG, SHORT};
use super::order::{UpDown, tree_levels};
use super::refine::refine;
use super::tree::Tree;
use crate::stop::unwind_if_asked;
use crate::{
    Deadlock, DestId, Engine, FabricRequirement, LayerBy, Layers, Refusal, Request, Routes,
};

/// The engine `lash`; see [`Engine::doc`].
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
         its pairs of switches allow. Where the switches have levels, and shortest paths that go up, then \
         down, lead everywhere, those need one layer and are taken if their fullest channel carries less: \
         trees of director switches that lost spine boards.\n\n\
         OpenSM's lash sends all LIDs of a switch the same way, and keeps both directions of a pair in \
         one layer, which takes more layers; here they may differ.\n\n\
         Complexity: O(LIDs x channels x hops), plus the searches for cycles."
    }

    fn paper(&self) -> &'static str {
        "Skeie, Lysne, Theiss: Layered Shortest Path (LASH) Routing in Irregular System Area \
         Networks, IPDPS'02 (CAC workshop)"
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Any
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Layers
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        in_order(fabric, request, compute)
    }
}

fn compute(fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
    if request.layer_by == LayerBy::Destination {
        return by_destination("lash", fabric, request);
    }
    let mut trees = Routes::empty("lash", fabric, request.paths());
    FrugalTrees::new(fabric, &mut trees);
    let schedules = schedules(fabric);
    let one_wave = &schedules[schedules.len() - 1];
    let tries = schedules.iter().map(|waves| (waves, SHORT)).chain([(one_wave, LONG)]);
    let mut needed = usize::MAX;
    for (waves, effort) in tries {
        match layered(fabric, trees.clone(), waves, effort, usize::from(request.lanes)) {
            Ok((routes, largest)) => {
                let even = is_near(largest, cut_bound(fabric, request.paths()));
                let other = if even { None } else { up_down(fabric, request) };
                return Ok(match other {
                    Some((other, less)) if less < largest => other,
                    _ => routes,
                });
            }
            Err(layers) => needed = needed.min(layers),
        }
    }
    match up_down(fabric, request) {
        Some((routes, _)) => Ok(routes),
        None => Err(out_of_lanes("lash", needed, request)),
    }
}

/// Balanced paths that go up, then down, and their largest load; `None` where the switches have no levels,
/// or some pair of terminals has a shorter path.
///
/// Frugal trees share paths. Where many shortest paths turn at leaves, as next to lost spine boards, they
/// share those of the first.
fn up_down(fabric: &Fabric, request: &Request<'_>) -> Option<(Routes, u64)> {
    let level = tree_levels(fabric, request.shape, &[]).ok()?;
    let updown = UpDown::from_levels(fabric, &level);
    let short = AtomicBool::new(true);
    let mut routes = Routes::empty("lash", fabric, request.paths());
    let balanced = balance(fabric, &mut routes, FirstCriterion::Load, |dag, home| {
        let sends = |s: usize| !fabric.terminals_on(SwitchId::new(s)).is_empty();
        let mut least = Vec::new();
        if sends(home.index()) {
            dag.shortest(fabric, home);
            least.clone_from(&dag.dist);
        }
        updown.legal(fabric, dag, home);
        if least.iter().enumerate().any(|(s, &least)| sends(s) && dag.dist[s] > least) {
            short.store(false, Ordering::Relaxed);
        }
    });
    (balanced.strays.is_empty() && short.into_inner()).then_some((routes, balanced.largest))
}

/// Layers for all paths between switches on the trees of the switches' own LIDs, and every LID balanced
/// separately within them, wave by wave, and the largest load; or the number of layers needed, if too
/// many.
fn layered(
    fabric: &Fabric,
    mut routes: Routes,
    waves: &[Vec<(SwitchId, LidGroup)>],
    effort: usize,
    lanes: usize,
) -> Result<(Routes, u64), usize> {
    let n = fabric.switch_count();
    let mut paths = SwitchPaths::new(fabric);
    let mut loads = Loads::new(fabric);
    for groups in waves {
        paths.fill(&routes, &homes(groups), effort);
        if paths.graphs.len() > lanes {
            return Err(paths.graphs.len());
        }
        let rules = (vec![paths], vec![0; n]);
        let (refined, all) = refine(fabric, &mut routes, groups, rules, loads);
        (paths, loads) = (refined.into_iter().next().expect("one rule"), all);
    }
    if paths.graphs.len() > 1 {
        let mut layer = vec![0; routes.row_count() * n];
        for d in 0..fabric.terminal_count() {
            let dest = DestId::new(d);
            let home = dest.home(fabric).index();
            for path in 0..routes.paths() {
                let row = routes.row(dest, path);
                layer[row * n..(row + 1) * n]
                    .copy_from_slice(&paths.layer[home * n..(home + 1) * n]);
            }
        }
        routes.layers = Layers::BySourceSwitch(layer);
    }
    Ok((routes, loads.largest()))
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
    fn new(fabric: &'a Fabric) -> Self {
        let n = fabric.switch_count();
        Self { fabric, graphs: Vec::new(), layer: Arc::new(vec![0; n * n]), home: 0 }
    }

    /// Puts all paths to `homes` on the trees of the switches' own LIDs into layers.
    fn fill(&mut self, routes: &Routes, homes: &[SwitchId], effort: usize) {
        /// Not in any layer yet.
        const WAITING: u8 = u8::MAX;
        let f = self.fabric;
        let n = f.switch_count();
        let mut ends = homes.to_vec();
        ends.sort_unstable();
        let sends = |&s: &usize| !f.terminals_on(SwitchId::new(s)).is_empty();
        let sources: Vec<usize> = (0..n).filter(sends).collect();
        let layer = Arc::make_mut(&mut self.layer);
        for &d in &ends {
            for &s in &sources {
                layer[d.index() * n + s] = WAITING;
            }
        }
        let mut tree = Tree::default();
        // Lets waiting paths into layer `l`; whether some still wait.
        let mut fill_one = |graph: &mut Acyclic<'a>, l: u8| {
            let mut waiting = false;
            for &d in &ends {
                unwind_if_asked();
                let slots = &mut layer[d.index() * n..(d.index() + 1) * n];
                if sources.iter().all(|&s| slots[s] != WAITING) {
                    continue;
                }
                tree.read(f, routes.ports(routes.row(DestId::switch(f, d), 0)), d);
                for &s in &sources {
                    if slots[s] == WAITING {
                        if graph.admit(|v| tree.next[v], s) {
                            slots[s] = l;
                        } else {
                            waiting = true;
                        }
                    }
                }
            }
            waiting
        };
        for l in 0..WAITING {
            if usize::from(l) == self.graphs.len() {
                self.graphs.push(Acyclic::new(f, effort));
            }
            if !fill_one(&mut self.graphs[usize::from(l)], l) {
                break;
            }
        }
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
