//! The tables of one engine over time.

use std::collections::BTreeMap;

use darkfiber_analysis::jobs::{Effective, JobLoad};
use darkfiber_fabric::TerminalId;
use darkfiber_routing::reroute::difference;
use darkfiber_routing::{Request, Routes};
use darkfiber_scenario::{Chain, Error};
use rayon::prelude::*;

use super::moment::{EngineLoads, RunningNodes};
use super::plan::{ReplayPlan, loads};

/// An engine and its tables so far.
pub(super) struct Follower<'a> {
    pub(super) engine: &'a Chain,
    plan: &'a ReplayPlan<'a>,
    state: State,
}

enum State {
    /// The same tables for any jobs; loads of the places that ran in the last batch.
    Fixed { routes: Routes, known: BTreeMap<u32, JobLoad> },
    /// Tables for the jobs of the last moment, and loads of its places.
    Follows(Option<(Routes, Vec<JobLoad>)>),
}

impl<'a> Follower<'a> {
    pub(super) fn new(plan: &'a ReplayPlan<'a>, engine: &'a Chain) -> Result<Self, Error> {
        // This also detects early that an engine refuses the fabric.
        let routes = engine.route(plan.case.fabric(), &plan.case.request())?;
        let state = if engine.follows_jobs() {
            State::Follows(None)
        } else {
            State::Fixed { routes, known: BTreeMap::new() }
        };
        Ok(Self { engine, plan, state })
    }

    /// The loads at the next moments.
    pub(super) fn follow(&mut self, moments: &[RunningNodes]) -> Result<Vec<EngineLoads>, Error> {
        let plan = self.plan;
        match &mut self.state {
            State::Fixed { routes, known } => Ok(fixed(plan, routes, known, moments)),
            State::Follows(last) => follows(plan, self.engine, last, moments),
        }
    }
}

fn fixed(
    plan: &ReplayPlan<'_>,
    routes: &Routes,
    known: &mut BTreeMap<u32, JobLoad>,
    moments: &[RunningNodes],
) -> Vec<EngineLoads> {
    let mut wanted: Vec<u32> = moments.iter().flat_map(|m| m.places.iter().map(|p| p.0)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    known.retain(|place, _| wanted.binary_search(place).is_ok());
    wanted.retain(|place| !known.contains_key(place));
    let found = loads(plan, routes, wanted.par_iter().copied());
    known.extend(wanted.into_iter().zip(found));
    moments
        .par_iter()
        .map(|now| {
            let mut all = Effective::new(plan.case.fabric());
            for (place, times) in &now.places {
                all.add(&known[place], *times);
            }
            EngineLoads::new(&all.facts())
        })
        .collect()
}

fn follows(
    plan: &ReplayPlan<'_>,
    engine: &Chain,
    last: &mut Option<(Routes, Vec<JobLoad>)>,
    moments: &[RunningNodes],
) -> Result<Vec<EngineLoads>, Error> {
    let fabric = plan.case.fabric();
    // Moments that need new tables.
    let fresh: Vec<usize> =
        (0..moments.len()).filter(|&i| moments[i].changed || (i == 0 && last.is_none())).collect();
    let made = fresh
        .par_iter()
        .map(|&i| {
            let jobs: Vec<Vec<TerminalId>> = moments[i]
                .places
                .iter()
                .map(|p| plan.history.places()[p.0 as usize].to_vec())
                .collect();
            let routes = engine.route(fabric, &Request { jobs: &jobs, ..plan.case.request() })?;
            let loads = loads(plan, &routes, moments[i].places.par_iter().map(|p| p.0));
            Ok((routes, loads))
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let before = |k: usize| match k.checked_sub(1) {
        Some(k) => Some(&made[k].0),
        None => last.as_ref().map(|l| &l.0),
    };
    let changes: Vec<_> = (0..made.len())
        .into_par_iter()
        .map(|k| before(k).map(|old| difference(fabric, old, &made[k].0, plan.lids)))
        .collect();
    let outcomes = (0..moments.len())
        .into_par_iter()
        .map(|i| {
            let k = fresh.partition_point(|&f| f <= i);
            let tables = if k == 0 { last.as_ref() } else { made.get(k - 1) };
            let (_, loads) = tables.expect("the first moment of all has tables");
            let mut all = Effective::new(fabric);
            for (load, (_, times)) in loads.iter().zip(&moments[i].places) {
                all.add(load, *times);
            }
            let mut outcome = EngineLoads::new(&all.facts());
            if let Some(change) = k.checked_sub(1).filter(|&k| fresh[k] == i)
                && let Some(change) = changes[change]
            {
                outcome.entries = change.entries;
                outcome.blocks = change.blocks;
            }
            outcome
        })
        .collect();
    if let Some(newest) = made.into_iter().next_back() {
        *last = Some(newest);
    }
    Ok(outcomes)
}
