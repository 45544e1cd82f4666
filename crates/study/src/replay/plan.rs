//! The input of a replay.

use darkfiber_analysis::jobs::JobLoad;
use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_routing::Lids;
use darkfiber_scenario::{Case, Chain};
use darkfiber_workload::History;
use rayon::prelude::*;

/// The input of a replay.
#[derive(Clone, Copy)]
pub struct ReplayPlan<'a> {
    /// The machine's network, and the resources of engines.
    pub case: &'a Case<()>,
    /// LIDs of its ports, which determine the entries that share a block of a table.
    pub lids: &'a Lids,
    /// Nodes and times of all jobs, in order.
    pub history: &'a History,
    /// Engines that are compared.
    pub engines: &'a [Chain],
    /// The first moment, in the history's seconds.
    pub from: i64,
    /// Seconds from one moment to the next.
    pub every: i64,
    /// Number of moments to examine.
    pub moments: usize,
}

/// Loads of places by some tables, in their order.
pub(super) fn loads(
    plan: &ReplayPlan<'_>,
    routes: &darkfiber_routing::Routes,
    places: impl IndexedParallelIterator<Item = u32>,
) -> Vec<JobLoad> {
    let all = plan.history.places();
    places.map(|p| JobLoad::of(plan.case.fabric(), routes, &all[p as usize])).collect()
}

/// By place, whether its terminals hang on two switches or more.
pub(super) fn multi_switch(fabric: &Fabric, history: &History) -> Vec<bool> {
    let on = |t: &TerminalId| fabric.terminal(*t).switch;
    history.places().iter().map(|place| place.iter().any(|t| on(t) != on(&place[0]))).collect()
}
