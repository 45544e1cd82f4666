//! Channel loads at some moments of a replay, for a map of them.

use darkfiber_analysis::jobs::{Effective, JobLoad};
use darkfiber_routing::{Request, Routes};
use darkfiber_scenario::{Chain, Error};
use rayon::prelude::*;

use super::plan::{ReplayPlan, loads, multi_switch};

/// Routes inside jobs over each channel between switches, at moments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshots {
    /// Moment by moment, by channel.
    pub load: Vec<Vec<f64>>,
    /// The tables, where they are the same for all moments.
    pub routes: Option<Routes>,
}

/// Loads of jobs by the tables of an engine at the moments of these numbers, which rise.
///
/// Complexity: as a replay of these moments; memory for moments x channels numbers.
///
/// # Errors
/// If the engine refuses.
pub fn snapshots(
    plan: &ReplayPlan<'_>,
    engine: &Chain,
    moments: impl Iterator<Item = usize>,
) -> Result<Snapshots, Error> {
    let fabric = plan.case.fabric();
    let mut walk = plan.history.walk();
    let several = multi_switch(fabric, plan.history);
    let mut found = Snapshots::default();
    // Engines that ignore jobs have the same tables at all moments, and a place the same loads.
    let mut known: Vec<Option<JobLoad>> = vec![None; plan.history.places().len()];
    if !engine.follows_jobs() {
        found.routes = Some(engine.route(fabric, &plan.case.request())?);
    }
    for index in moments {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        walk.to(plan.from.saturating_add(index.saturating_mul(plan.every)));
        let now: Vec<(u32, u32)> = walk.running().filter(|p| several[p.0 as usize]).collect();
        let mut all = Effective::new(fabric);
        if let Some(routes) = &found.routes {
            let fresh: Vec<u32> =
                now.iter().map(|p| p.0).filter(|&p| known[p as usize].is_none()).collect();
            for (&p, load) in fresh.iter().zip(of_places(plan, routes, &fresh)) {
                known[p as usize] = Some(load);
            }
            for &(place, times) in &now {
                if let Some(load) = &known[place as usize] {
                    all.add(load, times);
                }
            }
        } else {
            let places = plan.history.places();
            let jobs: Vec<_> = now.iter().map(|p| places[p.0 as usize].to_vec()).collect();
            let routes = engine.route(fabric, &Request { jobs: &jobs, ..plan.case.request() })?;
            let which: Vec<u32> = now.iter().map(|p| p.0).collect();
            for (load, &(_, times)) in of_places(plan, &routes, &which).iter().zip(&now) {
                all.add(load, times);
            }
        }
        found.load.push(all.load.iter().map(|&routes| routes as f64).collect());
    }
    Ok(found)
}

fn of_places(plan: &ReplayPlan<'_>, routes: &Routes, places: &[u32]) -> Vec<JobLoad> {
    loads(plan, routes, places.par_iter().copied())
}
