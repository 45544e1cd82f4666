//! Tables for the running jobs that also serve all other pairs.
//!
//! An entry (switch, destination LID) is *held* if a path inside a job uses it; all others are free. Free entries
//! start as those of `dfsssp`, which balances all pairs of terminals. Where held entries overload a channel beyond
//! that, the LIDs behind it are routed again, source by source, around the held entries.

use darkfiber_fabric::{AtPort, Fabric, SwitchId};

use super::balance::{cut_bound, is_near, lid_groups};
use super::balancer::Balancer;
use super::dag::Dag;
use super::dfsssp::DfSssp;
use super::frugal::FrugalTrees;
use super::job_tables::{Choice, JobRoutingContext, Tables, layered};
use super::layers::one_layer_does;
use super::relief::{Destination, Relief};
use crate::{DestId, Engine, NO_ROUTE, Refusal, Request, Routes};

/// Most passes over the LIDs behind overloaded channels.
const PASSES: usize = 8;
/// Passes end with one that gains less than one in this many.
const GAIN: u64 = 50;

/// Then this many times each LID, and so often beside, paths to one are followed to move single entries.
const EFFORT: usize = 2;
const LEAST_EFFORT: usize = 5000;

/// The tables of `dfsssp`, which serve all pairs alike; every LID has a row of its own.
pub(super) fn for_all(
    engine: &str,
    fabric: &Fabric,
    request: &Request<'_>,
) -> Result<Routes, Refusal> {
    let mut routes = DfSssp.compute(fabric, &Request { jobs: &[], ..request.clone() })?;
    engine.clone_into(&mut routes.engine);
    Ok(routes)
}

/// Finished tables with virtual layers: the entries on paths inside jobs are those of `tables`, all others
/// serve all pairs.
///
/// Usually they are chosen as `sssp` does, around the held entries. Where there are several LIDs, and where
/// frugal trees promise a better balance in fewer layers, as on lattices, they are those of `dfsssp` overlaid
/// with the held ones, balanced again. Where the available layers do not suffice, fewer entries are changed;
/// where even that takes too many, other pairs follow the jobs' paths as far as they can.
pub(super) fn served(
    engine: &'static str,
    (fabric, request): (&Fabric, &Request<'_>),
    work: &JobRoutingContext<'_>,
    tables: Tables,
) -> Result<Routes, Refusal> {
    if work.job_peers.running.is_empty() {
        return for_all(engine, fabric, request);
    }
    let held = held(fabric, work, &tables.routes);
    let layers = |routes| layered(routes, fabric, request, engine);
    if request.lmc == 0 {
        let mut rest = Rest::new(fabric, work, &held, Routes::empty(engine, fabric, 1));
        rest.fill();
        let bound = cut_bound(fabric, 1).max(rest.forced());
        rest.balance(bound);
        rest.relieve(bound);
        let largest = rest.largest();
        if (one_layer_does(fabric, &rest.routes, &[]) || !frugal_is_near(fabric, largest))
            && let Ok(routes) = layers(rest.routes)
        {
            return Ok(routes);
        }
    }
    if let Ok(base) = for_all(engine, fabric, request) {
        let mut rest = Rest::new(fabric, work, &held, base);
        rest.count_all();
        let goal = rest.largest().max(rest.forced());
        rest.overlay();
        for goal in [goal, goal + goal / 15, u64::MAX] {
            let mut rest = rest.clone();
            rest.balance(goal);
            rest.relieve(goal);
            if let Ok(routes) = layers(rest.routes) {
                return Ok(routes);
            }
        }
    }
    layers(work.finish(tables, Choice::Sum))
}

/// Most paths of all pairs of terminals on a channel.
pub(super) fn largest_load(fabric: &Fabric, work: &JobRoutingContext<'_>, routes: &Routes) -> u64 {
    let none = Routes::empty("", fabric, routes.paths());
    let mut all = Rest::new(fabric, work, &none, routes.clone());
    all.count_all();
    all.largest()
}

/// Whether trees that make few dependencies come near this largest load, as on lattices.
fn frugal_is_near(fabric: &Fabric, largest: u64) -> bool {
    let trees = FrugalTrees::new(fabric, &mut Routes::empty("", fabric, 1));
    trees.largest * 20 <= largest * 21
}

/// The entries of these tables that paths inside jobs use, and no others.
fn held(fabric: &Fabric, work: &JobRoutingContext<'_>, routes: &Routes) -> Routes {
    let mut held = Routes::empty(&routes.engine, fabric, routes.paths());
    for (t, row) in work.lids() {
        let (ports, held) = (routes.ports(row), held.ports_mut(row));
        for &(source, _) in work.job_peers.sources(t) {
            let mut at = source as usize;
            while held[at] == NO_ROUTE {
                held[at] = ports[at];
                if let Some((_, head)) = step(fabric, ports, at as u32) {
                    at = head as usize;
                }
            }
        }
    }
    held
}

/// The channel that a switch sends on, and its head; `None` at the destination's own switch.
#[inline]
fn step(fabric: &Fabric, ports: &[u8], s: u32) -> Option<(u32, u32)> {
    match fabric.at_port(SwitchId(s), ports[s as usize]) {
        AtPort::Switch(c, head) => Some((c.0, head.0)),
        _ => None,
    }
}

/// Tables of all terminals with shortest paths, some of whose entries are held.
#[derive(Clone)]
struct Rest<'a> {
    fabric: &'a Fabric,
    work: &'a JobRoutingContext<'a>,
    held: &'a Routes,
    routes: Routes,
    balancer: Balancer,
    /// Per switch the paths to the LID at hand that pass it.
    through: Vec<u64>,
}

impl<'a> Rest<'a> {
    /// Starts from tables without loads.
    fn new(
        fabric: &'a Fabric,
        work: &'a JobRoutingContext<'a>,
        held: &'a Routes,
        routes: Routes,
    ) -> Self {
        let through = vec![0; fabric.switch_count()];
        Self { fabric, work, held, routes, balancer: Balancer::new(fabric), through }
    }

    /// Adds the loads of all pairs.
    fn count_all(&mut self) {
        self.each_row(|rest, row, dag| rest.count(row, dag, |load, paths| *load += paths));
    }

    /// Fills the rows of all terminals and switches, in the order of `sssp`, around the held
    /// entries.
    fn fill(&mut self) {
        let (fabric, work) = (self.fabric, self.work);
        let mut around = Dag::default();
        for (home, group) in lid_groups(fabric) {
            work.at(home, |dag| {
                for &t in &group.terminals {
                    let row = self.routes.row(DestId(t), 0);
                    let dag = self.around(row, dag, &mut around);
                    self.balancer.choose(fabric, dag, self.routes.ports_mut(row));
                    self.balancer.add(dag);
                }
                if group.itself {
                    let row = self.routes.row(DestId::switch(fabric, home), 0);
                    self.balancer.choose(fabric, dag, self.routes.ports_mut(row));
                }
            });
        }
    }

    /// The graph of a row without alternatives where it is held; `whole` if that is nowhere.
    fn around<'d>(&self, row: usize, whole: &'d Dag, made: &'d mut Dag) -> &'d Dag {
        let held = self.held.ports(row);
        if held[whole.order[0] as usize] == NO_ROUTE {
            return whole;
        }
        let ports = self.fabric.tail_ports();
        made.restrict(whole, |s, c| {
            let held = held[s as usize];
            held == NO_ROUTE || held == ports[c as usize]
        });
        made
    }

    /// Calls `f` for every LID of a terminal, with its row and the graph of its shortest paths.
    fn each_row(&mut self, mut f: impl FnMut(&mut Self, usize, &Dag) + Send) {
        let work = self.work;
        let all: Vec<u32> = (0..self.fabric.terminal_count() as u32).collect();
        work.each(&all, |t, dag| {
            for path in 0..self.routes.paths() {
                let row = self.routes.row(DestId(t), path);
                f(self, row, dag);
            }
        });
    }

    /// Changes the loads by the paths of all terminals to a LID.
    fn count(&mut self, row: usize, dag: &Dag, change: impl Fn(&mut u64, u64)) {
        for (through, &sources) in self.through.iter_mut().zip(&self.balancer.sources) {
            *through = u64::from(sources);
        }
        let ports = self.routes.ports(row);
        for &s in dag.order[1..].iter().rev() {
            if let Some((c, head)) = step(self.fabric, ports, s) {
                let paths = self.through[s as usize];
                change(&mut self.balancer.load[c as usize], paths);
                self.through[head as usize] += paths;
            }
        }
    }

    /// The load of the fullest channel.
    fn largest(&self) -> u64 {
        self.balancer.load.iter().copied().max().unwrap_or(0)
    }

    /// The load of the fullest channel by paths whose entries are all held: no others can change it.
    fn forced(&self) -> u64 {
        let mut load = vec![0; self.fabric.channel_count()];
        for (_, row) in self.work.lids() {
            let held = self.held.ports(row);
            let sources = (0..).zip(&self.balancer.sources);
            for (mut at, &paths) in sources.filter(|&(s, _)| held[s as usize] != NO_ROUTE) {
                while let Some((c, head)) = step(self.fabric, held, at) {
                    load[c as usize] += u64::from(paths);
                    at = head;
                }
            }
        }
        load.into_iter().max().unwrap_or(0)
    }

    /// Restores the held entries.
    fn overlay(&mut self) {
        let work = self.work;
        work.each(&work.job_peers.running, |t, dag| {
            for path in 0..self.routes.paths() {
                let row = self.routes.row(DestId(t), path);
                self.count(row, dag, |load, paths| *load -= paths);
                let entries = self.routes.ports_mut(row).iter_mut().zip(self.held.ports(row));
                for (port, &held) in entries.filter(|(_, held)| **held != NO_ROUTE) {
                    *port = held;
                }
                self.count(row, dag, |load, paths| *load += paths);
            }
        });
    }

    /// Brings the largest load towards `goal`, as long as passes over the LIDs that cross a channel beyond
    /// it help.
    fn balance(&mut self, goal: u64) {
        let mut largest = self.largest();
        let mut around = Dag::default();
        for _ in 0..PASSES {
            if is_near(largest, goal) {
                return;
            }
            let before = (self.routes.clone(), self.balancer.load.clone());
            self.each_row(|rest, row, dag| rest.route_anew(row, dag, goal, &mut around));
            let now = self.largest();
            if now >= largest {
                (self.routes, self.balancer.load) = before;
                return;
            }
            if largest - now < largest / GAIN {
                return;
            }
            largest = now;
        }
    }

    /// Lowers the largest load further, at most to `bound`, by single entries.
    fn relieve(&mut self, bound: u64) {
        let (fabric, paths) = (self.fabric, self.routes.paths());
        if is_near(self.largest(), bound) {
            return;
        }
        let dist = self.work.distances(0..fabric.terminal_count() as u32);
        let sources: Vec<(u32, u32)> = (0..).zip(self.balancer.sources.iter().copied()).collect();
        let sources: Vec<(u32, u32)> =
            sources.into_iter().filter(|&(_, paths)| paths > 0).collect();
        let lids = (0..fabric.terminal_count()).flat_map(|t| (0..paths).map(move |path| (t, path)));
        let dests: Vec<Destination<'_>> = lids
            .map(|(t, path)| Destination {
                row: self.routes.row(DestId::new(t), path),
                dist: &dist[fabric.terminals()[t].switch.index()],
                sources: &sources,
            })
            .collect();
        let tables = Tables { routes: self.routes.clone(), load: self.balancer.load.clone() };
        let effort = LEAST_EFFORT + EFFORT * dests.len();
        let mut relief = Relief::around(fabric, &dests, tables, self.held, effort);
        relief.run(bound);
        let Tables { routes, load } = relief.into_tables();
        (self.routes, self.balancer.load) = (routes, load);
    }

    /// Routes a LID around its held entries, if its paths cross a channel that carries more than `goal`.
    fn route_anew(&mut self, row: usize, dag: &Dag, goal: u64, around: &mut Dag) {
        let ports = self.routes.ports(row);
        let is_full = |&s: &u32| {
            step(self.fabric, ports, s).is_some_and(|(c, _)| self.balancer.load[c as usize] > goal)
        };
        if dag.order[1..].iter().any(is_full) {
            self.count(row, dag, |load, paths| *load -= paths);
            let dag = self.around(row, dag, around);
            self.balancer.choose_apart(self.fabric, dag, self.routes.ports_mut(row));
        }
    }
}
