//! DFSSSP: SSSP made deadlock-free by virtual layers.

use darkfiber_fabric::Fabric;

use super::balance::shortest;
use super::dag::require_routable;
use super::layers::{OutOfLanes, assign_layers};
use crate::{Deadlock, Engine, Needs, Refusal, Request, Routes};

/// See [`Engine::doc`].
pub(crate) struct DfSssp;

impl Engine for DfSssp {
    fn name(&self) -> &'static str {
        "dfsssp"
    }

    fn summary(&self) -> &'static str {
        "sssp on virtual layers: balanced shortest paths without deadlock, on any fabric"
    }

    fn doc(&self) -> &'static str {
        "The tables of sssp; then every path (source switch, destination LID) gets a virtual layer such \
         that the channel dependency graph of each layer is acyclic. A layer is filled path by path, \
         each tested against an incrementally kept topological order, so it takes as many paths as it \
         can before the next one is opened. Refuses if --lanes (8) do not suffice.\n\n\
         OpenSM instead breaks cycles of one common graph at their weakest edge and then spreads the \
         paths at random over the lanes left; here layers are as few as they come, and equal inputs \
         give equal layers.\n\n\
         Complexity: sssp, plus O(paths x hops) and the searches for dependencies against the order."
    }

    fn paper(&self) -> &'static str {
        "Domke, Hoefler, Nagel: Deadlock-Free Oblivious Routing for Arbitrary Topologies, IPDPS'11"
    }

    fn needs(&self) -> Needs {
        Needs::Any
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Layers
    }

    fn route(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let mut routes = Routes::empty(self.name(), fabric, request.paths());
        shortest(fabric, &mut routes);
        match assign_layers(fabric, &mut routes, request.lanes) {
            Ok(()) => Ok(routes),
            Err(OutOfLanes) => Err(Refusal::Lanes {
                engine: self.name(),
                needed: usize::from(request.lanes) + 1,
                lanes: request.lanes,
                hint: "use updn, which needs one",
            }),
        }
    }
}
