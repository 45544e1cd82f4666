//! Adaptive flow-aware routing: tables made without knowledge of traffic, with a few entries changed for
//! the demands.

use darkfiber_fabric::Fabric;

use super::dfsssp::DfSssp;
use super::ftree::FTree;
use crate::reroute::{Goal, Prepared};
use crate::{Deadlock, Engine, FabricRequirement, Refusal, Request, Routes};

/// The engine `afar`; see [`Engine::doc`].
pub(crate) struct Afar;

impl Engine for Afar {
    fn name(&self) -> &'static str {
        "afar"
    }

    fn summary(&self) -> &'static str {
        "ftree or dfsssp with some entries changed for what terminals send to each other"
    }

    fn doc(&self) -> &'static str {
        "Starts from the tables of ftree on a tree, else of dfsssp. As long as the channel that carries most of the \
         demands (by time, where speeds differ) can be relieved, one destination that is reached over it is sent \
         another way at the switch before it: the destination and the way after which the fuller of both is least full. \
         Where that switch has no other way, one before it is tried. No channel becomes as hot as the one that is \
         relieved, so that the result is never worse; where nothing helps it ends. Every new way fits into the virtual \
         layers that its paths have, beside all old ones; it may be longer by one channel than the longest old one, \
         which HyperX and dragonflies need. Without demands nothing changes.\n\n\
         The paper takes the first destination and the least loaded channel, and stops at a load that is given: \
         that, other tables to start from, and the list of changes are in the library (routing::reroute::Goal).\n\n\
         Complexity: as the engine that it starts from, and for each change O(channels + destinations over the hot \
         channel x ports x hops)."
    }

    fn paper(&self) -> &'static str {
        "Smith et al.: Mitigating Inter-Job Interference Using Adaptive Flow-Aware Routing, SC'18, section V"
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Any
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Layers
    }

    fn follows_demands(&self) -> bool {
        true
    }

    fn takes_roots(&self) -> bool {
        true
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        let mut old = match FTree.route(fabric, request) {
            Ok(routes) => routes,
            Err(Refusal::WrongFabric { .. }) => DfSssp.route(fabric, request)?,
            Err(other) => return Err(other),
        };
        let base = std::mem::replace(&mut old.engine, self.name().to_owned());
        let mut prepared = Prepared::with_demands(fabric, &old, request.lanes, request.demands)
            .expect("tables of an engine");
        let relief = prepared.relieve(&Goal::default());
        let mut routes = prepared.into_routes();
        if relief.changes.is_empty() {
            routes.notes.push(format!("the tables of {base}: no change helps"));
        } else {
            let cooler = 100.0 * (1.0 - relief.after / relief.before);
            routes.notes.push(format!(
                "the tables of {base} with {} entries changed: the fullest channel carries {cooler:.1} % less",
                relief.changes.len(),
            ));
        }
        Ok(routes)
    }
}
