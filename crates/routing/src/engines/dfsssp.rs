//! DFSSSP: SSSP made deadlock-free by virtual layers.

use darkfiber_fabric::{Fabric, SwitchId};

use super::balance::{cut_bound, schedules, shortest};
use super::by_destination::plan;
use super::canon::in_order;
use super::dag::require_routable;
use super::frugal::FrugalTrees;
use super::layers::{LONG, OutOfLanes, SHORT, assign_layers};
use crate::{Deadlock, Engine, FabricRequirement, LayerBy, Refusal, Request, Routes};

/// The engine `dfsssp`; see [`Engine::doc`].
pub(crate) struct DfSssp;

impl Engine for DfSssp {
    fn name(&self) -> &'static str {
        "dfsssp"
    }

    fn summary(&self) -> &'static str {
        "sssp on virtual layers: balanced shortest paths without deadlock, on any fabric"
    }

    fn doc(&self) -> &'static str {
        "Balanced shortest paths; then every path (source switch, destination LID) gets a virtual layer \
         such that the channel dependency graph of each layer is acyclic. A layer is filled path by \
         path, each tested against an incrementally kept topological order, so it takes as many paths \
         as it can before the next one is opened. --layer-by destination keeps all paths to a LID in \
         one layer. Refuses if --lanes (8) do not suffice.\n\n\
         There are two sets of shortest paths: those of sssp, and frugal ones that continue as others \
         do where they can (see lash), with fewer dependencies, hence fewer layers, and on lattices \
         with less load too. The one with the lower largest load is taken, the other if its layers do \
         not suffice.\n\n\
         OpenSM instead breaks cycles of one common graph at their weakest edge and then spreads the \
         paths at random over the lanes left; here layers are as few as they come, and equal inputs \
         give equal layers.\n\n\
         Complexity: sssp, plus O(paths x hops) and the searches for dependencies against the order."
    }

    fn paper(&self) -> &'static str {
        "Domke, Hoefler, Nagel: Deadlock-Free Oblivious Routing for Arbitrary Topologies, IPDPS'11"
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
        return by_destination("dfsssp", fabric, request);
    }
    let mut plain = Routes::empty("dfsssp", fabric, request.paths());
    let mut thrifty = Routes::empty("dfsssp", fabric, request.paths());
    let mut grow = || FrugalTrees::new(fabric, &mut thrifty);
    // A second thread grows the other set meanwhile, where it is likely to be needed.
    let (largest, early) = if rayon::current_num_threads() > 1 && is_direct(fabric) {
        let (largest, trees) = rayon::join(|| shortest(fabric, &mut plain), &mut grow);
        (largest, Some(trees))
    } else {
        (shortest(fabric, &mut plain), None)
    };
    if largest <= cut_bound(fabric, request.paths())
        && assign_layers(fabric, &mut plain, request.lanes, SHORT).is_ok()
    {
        return Ok(plain);
    }
    let mut trees = Some(early.unwrap_or_else(grow));
    let is_near = |load: u64| load * 20 <= largest * 21;
    // Refining takes its time; it pays if the trees are near the balance of single LIDs already.
    let early = trees.take_if(|t| is_near(t.largest)).map(|t| t.refine(&mut thrifty));
    let better = early.is_some_and(|load| load <= largest);
    let first = if better { &mut thrifty } else { &mut plain };
    if assign_layers(fabric, first, request.lanes, SHORT).is_ok() {
        return Ok(if better { thrifty } else { plain });
    }
    let late = trees.map(|t| t.refine(&mut thrifty));
    let mut tries = [(thrifty.clone(), SHORT), (thrifty, LONG), (plain, LONG)];
    if !early.or(late).is_some_and(is_near) {
        // Balance is worth the longer search.
        tries.rotate_right(1);
    }
    let mut fewest = OutOfLanes { needed: usize::MAX };
    for (mut routes, effort) in tries {
        match assign_layers(fabric, &mut routes, request.lanes, effort) {
            Ok(()) => return Ok(routes),
            Err(out) => fewest = fewest.min(out),
        }
    }
    Err(out_of_lanes("dfsssp", fewest.needed, request))
}

/// Whether every switch has terminals. Such fabrics hardly ever reach the bound of [`cut_bound`].
fn is_direct(fabric: &Fabric) -> bool {
    (0..fabric.switch_count()).all(|s| !fabric.terminals_on(SwitchId::new(s)).is_empty())
}

/// Shortest paths with one layer for each destination LID, as few layers as it finds.
pub(super) fn by_destination(
    engine: &'static str,
    fabric: &Fabric,
    request: &Request<'_>,
) -> Result<Routes, Refusal> {
    let mut needed = usize::from(u8::MAX) + 1;
    // Balancing in between can take lanes.
    for waves in schedules(fabric) {
        // With a separate lane every destination has shortest paths.
        let plan = plan(fabric, (engine, request.paths()), waves, u8::MAX, None);
        if let Some(plan) = plan.filter(|plan| plan.hops == plan.least) {
            if plan.lanes() <= usize::from(request.lanes) {
                return Ok(plan.finish());
            }
            needed = needed.min(plan.lanes());
        }
    }
    Err(out_of_lanes(engine, needed, request))
}

pub(super) fn out_of_lanes(engine: &'static str, needed: usize, request: &Request<'_>) -> Refusal {
    Refusal::Lanes {
        engine,
        needed,
        lanes: request.lanes,
        hint: "use nue, which takes what there is",
    }
}
