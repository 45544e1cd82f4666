//! SSSP: shortest paths, balanced over the whole fabric.

use darkfiber_fabric::Fabric;

use super::balance::shortest;
use super::dag::require_routable;
use crate::{Deadlock, Engine, FabricRequirement, Refusal, Request, Routes};

/// The engine `sssp`; see [`Engine::doc`].
pub(crate) struct Sssp;

impl Engine for Sssp {
    fn name(&self) -> &'static str {
        "sssp"
    }

    fn summary(&self) -> &'static str {
        "shortest paths, balanced over the whole fabric"
    }

    fn doc(&self) -> &'static str {
        "Routes one destination after the other, each on those shortest paths that the destinations \
         before it load least, so that no channel becomes a hot spot. Then, beyond the paper, \
         destinations are routed anew among all others while that lowers the largest load, at most \
         two passes with all sources of a destination together and three source by source; none \
         where the load already is at its lower bound, as on full trees. With 512 switches with \
         terminals or more, parts of the destinations are routed side by side, and tell each other \
         their loads now and then; how many follows from the fabric, not from the threads. \
         Deadlock is not looked at: safe on trees; elsewhere use dfsssp.\n\n\
         OpenSM grows edge weights from (number of LIDs)^2 so that hop count dominates; here only \
         shortest paths are candidates, which is the same without its overflow. Ties go to the lower \
         channel, so equal inputs give equal tables.\n\n\
         Complexity: one breadth-first search a destination switch, then O(channels on shortest \
         paths) a LID and pass."
    }

    fn paper(&self) -> &'static str {
        "Hoefler, Schneider, Lumsdaine: Optimized Routing for Large-Scale InfiniBand Networks, HOTI'09"
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Any
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::NotPromised
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let mut routes = Routes::empty(self.name(), fabric, request.paths());
        shortest(fabric, &mut routes);
        Ok(routes)
    }
}
