//! What is replayed.

use darkfiber_analysis::jobs::JobLoad;
use darkfiber_fabric::Topology;
use darkfiber_routing::{Lids, Request};
use darkfiber_scenario::Chain;
use darkfiber_workload::History;
use rayon::prelude::*;

/// What is replayed.
#[derive(Clone, Copy)]
pub struct ReplayPlan<'a> {
    /// The machine's network.
    pub topology: &'a Topology,
    /// LIDs of its ports, which say what entries share a block of a table.
    pub lids: &'a Lids,
    /// Who ran where and when, in order.
    pub history: &'a History,
    /// What is compared.
    pub engines: &'a [Chain],
    /// Virtual lanes that engines may use.
    pub lanes: u8,
    /// Seed of what engines draw.
    pub seed: u64,
    /// The first moment, in the history's seconds.
    pub from: i64,
    /// Seconds from one moment to the next.
    pub every: i64,
    /// How many moments there are.
    pub moments: usize,
}

/// The request of a plan.
pub(super) fn request<'a>(
    plan: &ReplayPlan<'a>,
    jobs: &'a [Vec<darkfiber_fabric::TerminalId>],
) -> Request<'a> {
    Request {
        shape: plan.topology.shape.as_ref(),
        lmc: plan.lids.lmc(),
        lanes: plan.lanes,
        jobs,
        seed: plan.seed,
        ..Request::default()
    }
}

/// What places load by some tables, in their order.
pub(super) fn loads(
    plan: &ReplayPlan<'_>,
    routes: &darkfiber_routing::Routes,
    places: impl IndexedParallelIterator<Item = u32>,
) -> Vec<JobLoad> {
    let all = plan.history.places();
    places.map(|p| JobLoad::of(&plan.topology.fabric, routes, &all[p as usize])).collect()
}
