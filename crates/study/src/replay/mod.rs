//! The replay of a machine's history: what would each engine have done for the jobs that ran?
//!
//! Domke, Hoefler, "Scheduling-Aware Routing for Supercomputers", SC'16, section 4.2: at each moment of a month the
//! jobs on two switches or more are taken, tables are made for them, and routes inside jobs are counted.

mod extent;
mod follower;
mod improvement;
mod moment;
mod plan;
mod reconfigurations;
mod snapshots;

pub use extent::extent;
pub use improvement::{Improvement, Measure, improvements};
pub use moment::{EngineLoads, Moment};
pub use plan::ReplayPlan;
pub use reconfigurations::{BLOCK_SECONDS, Reconfigurations, Sent, reconfigurations};
pub use snapshots::{Snapshots, snapshots};

use darkfiber_scenario::Error;
use rayon::prelude::*;

use follower::Follower;
use moment::RunningNodes;
use plan::multi_switch;

/// An engine that could not do it.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Name of the engine.
    pub engine: String,
    /// Reason of the refusal.
    pub refusal: Error,
}

/// Moments that are computed in parallel.
const BATCH: usize = 64;

/// Replays the moments from number `first` on; `each` gets them in order, and returns whether to continue.
///
/// Tables of engines that ignore jobs are made once, and the load of a place is counted once. Tables of engines that
/// follow jobs are made where the places of multi-switch jobs differ from the previous moment. So no difference is
/// missed, and results do not depend on `first` nor on the number of threads.
///
/// Complexity: for each change a run of each engine that follows jobs, and O(pairs inside jobs x hops).
///
/// # Errors
/// The first refusal of an engine.
pub fn replay(
    plan: &ReplayPlan<'_>,
    first: usize,
    each: &mut dyn FnMut(Moment) -> bool,
) -> Result<(), Failed> {
    let fabric = plan.case.fabric();
    let mut followers = plan
        .engines
        .par_iter()
        .map(|engine| {
            Follower::new(plan, engine)
                .map_err(|refusal| Failed { engine: engine.name.clone(), refusal })
        })
        .collect::<Result<Vec<Follower<'_>>, Failed>>()?;
    let several = multi_switch(fabric, plan.history);
    let can = fabric.compute_terminal_count().max(1);
    let mut is_busy = vec![false; fabric.terminal_count()];
    let mut walk = plan.history.walk();
    let mut places: Option<Vec<(u32, u32)>> = None;
    let mut look = |index: usize| {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        let time = plan.from.saturating_add(index.saturating_mul(plan.every));
        walk.to(time);
        is_busy.fill(false);
        for (place, _) in walk.running() {
            for t in &plan.history.places()[place as usize] {
                is_busy[t.index()] = true;
            }
        }
        let busy = is_busy.iter().filter(|b| **b).count();
        let now: Vec<(u32, u32)> = walk.running().filter(|r| several[r.0 as usize]).collect();
        let alike = |old: &Vec<(u32, u32)>| {
            old.len() == now.len() && old.iter().zip(&now).all(|(a, b)| a.0 == b.0)
        };
        let changed = places.as_ref().is_some_and(|old| !alike(old));
        places = Some(now.clone());
        let busy_percent = 100.0 * busy as f64 / can as f64;
        RunningNodes { time, jobs: walk.jobs(), busy_percent, places: now, changed }
    };
    // The tables of the first wanted moment are compared with those of the moment before.
    let mut next = first.saturating_sub(1);
    while next < plan.moments {
        let moments: Vec<RunningNodes> =
            (next..plan.moments.min(next + BATCH)).map(&mut look).collect();
        let mut outcomes = Vec::new();
        for follower in &mut followers {
            let name = &follower.engine.name;
            let found = follower.follow(&moments);
            outcomes.push(found.map_err(|refusal| Failed { engine: name.clone(), refusal })?);
        }
        for (i, now) in moments.into_iter().enumerate() {
            let moment = Moment {
                time: now.time,
                jobs: now.jobs,
                multi_switch_jobs: now.places.iter().map(|p| p.1 as usize).sum(),
                busy_percent: now.busy_percent,
                changed: now.changed,
                engines: outcomes.iter().map(|of_engine| of_engine[i]).collect(),
            };
            if next + i >= first && !each(moment) {
                return Ok(());
            }
        }
        next += BATCH;
    }
    Ok(())
}
