//! Nue: routing inside the channel dependency graphs of the lanes there are.

use darkfiber_fabric::Fabric;

use super::balance::waves;
use super::by_destination::{DestinationPlan, plan};
use super::canon::in_order;
use super::dag::require_routable;
use super::escape::Escape;
use super::order::centre;
use crate::{Deadlock, Engine, FabricRequirement, Refusal, Request, Routes};

/// The engine `nue`; see [`Engine::doc`].
pub(crate) struct Nue;

impl Engine for Nue {
    fn name(&self) -> &'static str {
        "nue"
    }

    fn summary(&self) -> &'static str {
        "deadlock-free with any number of lanes: short, balanced paths within them"
    }

    fn doc(&self) -> &'static str {
        "Every destination switch gets one of the lanes (--lanes), and its paths are searched inside \
         that lane's complete channel dependency graph: a dependency that would close a cycle is not \
         taken, so nothing has to be repaired afterwards. Paths are shortest if some lane allows it; \
         the first such lane takes the destination, else the one with the fewest detours. Among equal \
         paths those that make no new dependency come first, so that lanes fill slowly. Then every \
         LID is balanced by itself within the same graph.\n\n\
         It never fails on a connected fabric. Should a destination find all ways closed, the fabric \
         is routed again with escape paths kept open in every lane, once along a spanning tree (as in \
         the paper), once along balanced Up*/Down* paths (so that nobody is routed worse than by \
         updn), and the tables with the fewest hops are taken.\n\n\
         One layer for each destination LID: what a plain OpenSM can deploy, by a QoS policy. OpenSM's \
         nue splits destinations over lanes beforehand, at random if built without METIS, and falls \
         back to the escape tree destination by destination.\n\n\
         Complexity: O(LIDs x channels), plus the searches for cycles."
    }

    fn paper(&self) -> &'static str {
        "Domke, Hoefler, Matsuoka: Routing on the Dependency Graph: A New Approach to Deadlock-Free \
         High-Performance Routing, HPDC'16"
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Any
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Layers
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let name = self.name();
        in_order(fabric, request, |fabric, request| Ok(nue(name, fabric, request)))
    }
}

/// Nue's routes of a fabric that can be routed, under the name of some engine.
pub(super) fn nue(engine: &str, fabric: &Fabric, request: &Request<'_>) -> Routes {
    best_plan(engine, fabric, request).finish()
}

/// A plan is good enough if detours add less than one hop in this many.
const GOOD: u64 = 100;

/// The plan with the fewest hops, or the first good one.
fn best_plan<'a>(engine: &str, fabric: &'a Fabric, request: &Request<'_>) -> DestinationPlan<'a> {
    let plan = |escape: Option<&Escape>| {
        plan(fabric, (engine, request.paths()), waves(fabric), request.lanes, escape)
    };
    let free = match plan(None) {
        Some(good) if (good.hops - good.least) * GOOD <= good.least => return good,
        other => other,
    };
    let root = centre(fabric);
    let kept = [Escape::spanning(fabric, root), Escape::updown(fabric, root)];
    let plans = kept.iter().filter_map(|escape| plan(Some(escape)));
    free.into_iter()
        .chain(plans)
        .min_by_key(DestinationPlan::worth)
        .expect("escape paths are open to every destination")
}
