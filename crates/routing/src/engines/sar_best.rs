//! Scheduling-aware routing that is never worse than routing that knows no jobs.

use darkfiber_fabric::{AtPort, Fabric, SwitchId};
use rayon::join;
use rayon::prelude::*;

use super::balance::shortest;
use super::capacity::least_load;
use super::dag::require_routable;
use super::ftree::FTree;
use super::order::distances;
use super::relief::{Relief, Stop};
use super::sar::{Choice, PAPER, Work, layered};
use crate::{Deadlock, DestId, Engine, Needs, Refusal, Request, Routes};

/// See [`Engine::doc`].
pub(crate) struct SarBest;

impl Engine for SarBest {
    fn name(&self) -> &'static str {
        "sar-best"
    }

    fn summary(&self) -> &'static str {
        "the best of sar and of engines that know no jobs, improved for the jobs"
    }

    fn doc(&self) -> &'static str {
        "Starts from the tables of sar and, as long as a fullest channel by paths inside jobs can be \
         relieved, lets one switch send another way to one terminal. Ends where a lower bound says that no \
         tables can be better: what jobs send out of a switch, or out of a part of a tree, needs room on the \
         channels that leave it. Where that is not reached it also tries the tables of sar-minmax, and paths \
         chosen source by source; where that does not help either, those of sssp, and of ftree where the \
         fabric is a tree and ftree's paths are shortest. So it is never worse than these, by the effective \
         edge forwarding index's maximum. Virtual layers as in dfsssp. Where no job crosses a switch, as \
         sssp. Not in the paper.\n\n\
         Complexity: as sar where the bound is reached, as on trees it mostly is; else the other tables come \
         on top. Measured on two cores: 1 to 3 times sar where the bound is reached, elsewhere 2 to 16 times."
    }

    fn paper(&self) -> &'static str {
        PAPER
    }

    fn needs(&self) -> Needs {
        Needs::Any
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Layers
    }

    fn follows_jobs(&self) -> bool {
        true
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let work = Work::new(self.name(), fabric, request);
        let dist = work.distances(work.mates.running.iter().copied());
        let stops: Vec<Stop<'_>> = work
            .lids()
            .map(|(t, row)| Stop {
                row,
                dist: &dist[fabric.terminals()[t as usize].switch.index()],
                sources: work.mates.sources(t),
            })
            .collect();
        let relief = |tables| Relief::new(fabric, &stops, tables);
        let (mut best, bound) = join(
            || relief(work.running(Choice::Sum)),
            || least_load(fabric, &work.mates, request.paths()),
        );
        if best.largest() == 0 {
            // No job crosses a switch: then the balance of everything is what is left to gain.
            return layered(balanced(self.name(), fabric, request), fabric, request, self.name());
        }
        best.run(bound);
        if best.largest() > bound {
            let run = |tables| {
                let mut relief = relief(tables);
                relief.run(bound);
                relief
            };
            let (fullest, apart) =
                join(|| run(work.running(Choice::Fullest)), || run(work.apart()));
            best = better(better(best, fullest), apart);
        }
        // What engines that know no jobs do decides only where it might be better, as it takes its time.
        if best.largest() > bound {
            let count = |routes| Relief::counted(fabric, &stops, routes);
            let (plain, tree) = join(
                || count(balanced(self.name(), fabric, request)),
                || tree(self.name(), fabric, request).map(count),
            );
            for mut other in [Some(plain), tree].into_iter().flatten() {
                if other.largest() < best.largest() {
                    other.run(bound);
                    best = other;
                }
            }
        }
        best.run_on(bound);
        layered(work.finish(best.into_tables(), Choice::Fullest), fabric, request, self.name())
    }
}

/// The one with less load on the fullest channel.
fn better<'a>(one: Relief<'a>, other: Relief<'a>) -> Relief<'a> {
    if other.largest() < one.largest() { other } else { one }
}

/// The tables of sssp.
fn balanced(engine: &str, fabric: &Fabric, request: &Request<'_>) -> Routes {
    let mut routes = Routes::empty(engine, fabric, request.paths());
    shortest(fabric, &mut routes);
    routes
}

/// The tables of ftree, if they need no layers and all paths are shortest.
fn tree(engine: &str, fabric: &Fabric, request: &Request<'_>) -> Option<Routes> {
    let mut routes = FTree.route(fabric, request).ok()?;
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
