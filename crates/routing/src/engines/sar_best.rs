//! Scheduling-aware routing that is never worse than routing that ignores jobs.

use std::cmp::Ordering;

use darkfiber_fabric::{AtPort, Fabric, SwitchId};
use rayon::join;
use rayon::prelude::*;

use super::balance::shortest;
use super::capacity::least_load;
use super::dag::require_routable;
use super::ftree::FTree;
use super::job_tables::{Choice, JobRoutingContext};
use super::order::distances;
use super::others::{largest_load, served};
use super::phases::{Length, Shifts};
use super::relief::{Destination, Relief};
use super::sar::PAPER;
use crate::{Deadlock, DestId, Engine, FabricRequirement, Refusal, Request, Routes};

/// Maximum number of tables equal by jobs from which the one that serves all pairs best is chosen.
const TIES: usize = 2;

/// The engine `sar-best`; see [`Engine::doc`].
pub(crate) struct SarBest;

impl Engine for SarBest {
    fn name(&self) -> &'static str {
        "sar-best"
    }

    fn summary(&self) -> &'static str {
        "the best of sar and of some engines that know no jobs, improved for the jobs"
    }

    fn doc(&self) -> &'static str {
        "Candidates are the tables of sar, of sar-minmax, paths chosen source by source, the tables of sssp, \
         and those of ftree where the fabric is a tree and ftree's paths are shortest; as long as a fullest \
         channel by paths inside jobs can be relieved, one switch is let send another way to one terminal. \
         The search ends where a lower bound says that no tables can be better: what jobs send out of a switch, \
         or out of a part of a tree, needs room on the channels that leave it.\n\n\
         The key by which candidates are compared: first, no job's shifts may take longer than by sar's tables; \
         then the least maximum of the effective edge forwarding index; then the least maximum of the \
         edge forwarding index over all pairs. In the k-th shift each rank sends to the one k further on, as \
         in an Alltoall; it takes as long as its fullest channel, and all shifts as long as their sum. Ranks \
         are numbered by terminal and as the job lists its terminals; in a few orders drawn besides, for jobs \
         of up to 512 terminals, shifts may take 5 % longer. Where a change would make shifts longer it is \
         not made. So jobs are never worse off than by sar, by count or by time; by count also never worse \
         than by the other candidates, unless these make shifts longer.\n\n\
         Entries that no path inside a job uses serve all pairs as in sar, also where all compute terminals run \
         jobs. Virtual layers as in dfsssp. Not in the paper.\n\n\
         Complexity: as sar where the bound is reached without longer shifts; else other tables and the \
         watching of shifts come on top, O(ranks of a job squared x hops) for each table. Measured on two \
         cores: mostly 1 to 4 times the time of dfsssp, 10 to 30 times where one job has most of the hosts."
    }

    fn paper(&self) -> &'static str {
        PAPER
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Any
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Layers
    }

    fn follows_jobs(&self) -> bool {
        true
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let work = JobRoutingContext::new(self.name(), fabric, request);
        let dist = work.distances(work.job_peers.running.iter().copied());
        let dests: Vec<Destination<'_>> = work
            .lids()
            .map(|(t, row)| Destination {
                row,
                dist: &dist[fabric.terminals()[t as usize].switch.index()],
                sources: work.job_peers.sources(t),
            })
            .collect();
        let shifts = Shifts::new(fabric, request.jobs);
        let (tables, bound) = join(
            || work.running(Choice::Sum),
            || least_load(fabric, &work.job_peers, request.paths()),
        );
        let sar = Relief::new(fabric, &dests, tables);
        let search = Search { bound, lengths: shifts.lengths(sar.routes()), shifts: &shifts };
        let mut best = vec![sar.clone()];
        search.add(&sar, &mut best);
        if best[0].largest() > bound {
            let (fullest, apart) = join(|| work.running(Choice::Fullest), || work.apart());
            for tables in [fullest, apart] {
                search.add(&Relief::new(fabric, &dests, tables), &mut best);
            }
        }
        // Engines that ignore jobs take their time, so they run only where they might be better.
        if best[0].largest() > bound {
            let (plain, tree) = join(
                || Some(balanced(self.name(), fabric, request)),
                || tree(self.name(), fabric, request),
            );
            for routes in [plain, tree].into_iter().flatten() {
                let other = Relief::counted(fabric, &dests, routes);
                if other.largest() < best[0].largest() {
                    search.add(&other, &mut best);
                }
            }
        }
        let best = search.finish(best);
        let serve = |relief: Relief<'_>| {
            let tables = relief.into_tables();
            let routes = served(self.name(), (fabric, request), &work, tables)?;
            Ok((largest_load(fabric, &work, &routes), routes))
        };
        let all: Result<Vec<(u64, Routes)>, Refusal> = best.into_iter().map(serve).collect();
        let least = all?.into_iter().min_by_key(|&(largest, _)| largest);
        least.map(|(_, routes)| routes).ok_or(Refusal::Empty { what: "terminals" })
    }
}

/// Criteria by which candidates are measured.
struct Search<'a> {
    /// No tables load the fullest channel less by paths inside jobs.
    bound: u64,
    shifts: &'a Shifts<'a>,
    /// Duration of the shifts with the tables of `sar`.
    lengths: Vec<Length>,
}

impl<'a> Search<'a> {
    /// Whether no job's shifts take longer than by the tables of `sar`.
    fn takes(&self, routes: &Routes) -> bool {
        self.shifts.lengths(routes).iter().zip(&self.lengths).all(|(ours, sar)| ours.is_within(sar))
    }

    /// Relieves tables, watching shifts where they would otherwise take too long; `None` if they do
    /// even so.
    fn relieved(
        &self,
        start: &Relief<'a>,
        run: impl Fn(&mut Relief<'a>, u64),
    ) -> Option<Relief<'a>> {
        let mut freely = start.clone();
        run(&mut freely, self.bound);
        if self.takes(freely.routes()) {
            return Some(freely);
        }
        if !self.takes(start.routes()) {
            return None;
        }
        [false, true].into_iter().find_map(|strict| {
            let mut guarded = start.clone().guarded(self.shifts, strict)?;
            run(&mut guarded, self.bound);
            let relieved = guarded.unguarded();
            self.takes(relieved.routes()).then_some(relieved)
        })
    }

    /// Adds these tables, relieved, to the best so far if they are no worse.
    fn add(&self, start: &Relief<'a>, best: &mut Vec<Relief<'a>>) {
        if let Some(new) = self.relieved(start, Relief::run) {
            keep(new, best);
        }
    }

    /// Relieves the best further.
    fn finish(&self, mut best: Vec<Relief<'a>>) -> Vec<Relief<'a>> {
        if best[0].largest() > self.bound
            && let Some(new) = self.relieved(&best[0], Relief::run_on)
        {
            keep(new, &mut best);
        }
        best
    }
}

/// Keeps tables whose fullest channel has the least load, the first few of them.
fn keep<'a>(new: Relief<'a>, best: &mut Vec<Relief<'a>>) {
    let least = best.first().map_or(u64::MAX, Relief::largest);
    match new.largest().cmp(&least) {
        Ordering::Less => *best = vec![new],
        Ordering::Equal
            if best.len() < TIES && best.iter().all(|old| old.routes() != new.routes()) =>
        {
            best.push(new);
        }
        _ => {}
    }
}

/// The tables of sssp.
fn balanced(engine: &str, fabric: &Fabric, request: &Request<'_>) -> Routes {
    let mut routes = Routes::empty(engine, fabric, request.paths());
    shortest(fabric, &mut routes);
    routes
}

/// The tables of ftree, if they need no layers and all paths are shortest.
fn tree(engine: &str, fabric: &Fabric, request: &Request<'_>) -> Option<Routes> {
    // Every LID has a row of its own, since each is relieved by itself.
    let mut routes = FTree.compute(fabric, request).ok()?;
    engine.clone_into(&mut routes.engine);
    let is_shortest = |home: SwitchId| {
        let dist = distances(fabric, &[home]);
        let lids = fabric.terminals_on(home).flat_map(|t| (0..routes.paths()).map(move |p| (t, p)));
        lids.map(|(t, path)| routes.ports(routes.row(DestId::new(t), path))).all(|ports| {
            (0..ports.len()).all(|s| match fabric.at_port(SwitchId::new(s), ports[s]) {
                AtPort::Switch(_, v) => dist[v.index()] + 1 == dist[s],
                _ => s == home.index(),
            })
        })
    };
    let homes = (0..fabric.switch_count()).into_par_iter().map(SwitchId::new);
    (routes.layer_count() == 1 && homes.all(is_shortest)).then_some(routes)
}
