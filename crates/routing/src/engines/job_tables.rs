//! Shared parts of the engines for jobs: tables in which the paths inside jobs come first.

use darkfiber_fabric::{Fabric, Role, SwitchId};
use rayon::prelude::*;

use super::balancer::Balancer;
use super::dag::{Dag, for_each_dag};
use super::dfsssp::out_of_lanes;
use super::job_peers::JobPeers;
use super::layers::{LONG, SHORT, assign_layers, only_by_pair};
use super::order::distances;
use crate::{DestId, LayerBy, Layers, NO_ROUTE, Refusal, Request, Routes};

/// Graphs are stored up to this number of bytes; beyond it, each is recomputed for every destination.
const KEPT: usize = 512 << 20;

/// Virtual layers for shortest paths, or a refusal.
pub(super) fn layered(
    mut routes: Routes,
    fabric: &Fabric,
    request: &Request<'_>,
    engine: &'static str,
) -> Result<Routes, Refusal> {
    if request.layer_by == LayerBy::Destination {
        // In a single layer nothing depends on the source.
        assign_layers(fabric, &mut routes, 1, SHORT).map_err(|_| only_by_pair(engine))?;
    } else {
        assign_layers(fabric, &mut routes, request.lanes, SHORT)
            .or_else(|_| assign_layers(fabric, &mut routes, request.lanes, LONG))
            .map_err(|out| out_of_lanes(engine, out.needed, request))?;
    }
    if routes.layer_count() == 1 {
        routes.layers = Layers::One;
    }
    Ok(routes)
}

/// Rule for the choice among paths.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Sum,
    Fullest,
}

impl Choice {
    fn choose(self, balancer: &mut Balancer, fabric: &Fabric, dag: &Dag, ports: &mut [u8]) {
        match self {
            Self::Sum => balancer.choose(fabric, dag, ports),
            Self::Fullest => balancer.choose_fullest(fabric, dag, ports),
        }
    }
}

/// Tables in which the rows of terminals that run jobs are filled, and the loads by paths inside jobs.
pub(super) struct Tables {
    pub(super) routes: Routes,
    pub(super) load: Vec<u64>,
}

/// Shared state of the engines for jobs.
pub(super) struct JobRoutingContext<'a> {
    fabric: &'a Fabric,
    engine: &'static str,
    paths: usize,
    pub(super) job_peers: JobPeers,
    /// Graphs by destination switch; empty if they are too many.
    dags: Vec<Dag>,
}

impl<'a> JobRoutingContext<'a> {
    pub(super) fn new(engine: &'static str, fabric: &'a Fabric, request: &Request<'_>) -> Self {
        let n = fabric.switch_count();
        let each = 8 * fabric.channel_count() / 2 + 12 * n;
        let make = |s| {
            let mut dag = Dag::default();
            dag.shortest(fabric, SwitchId::new(s));
            dag
        };
        let kept = if n * each <= KEPT { n } else { 0 };
        Self {
            fabric,
            engine,
            paths: request.paths(),
            job_peers: JobPeers::new(fabric, request.jobs),
            dags: (0..kept).into_par_iter().map(make).collect(),
        }
    }

    /// Routes every terminal that runs a job, one after the other.
    pub(super) fn running(&self, choice: Choice) -> Tables {
        self.run(|balancer, dag, sources, ports| {
            choice.choose(balancer, self.fabric, dag, ports);
            balancer.add_from(sources, dag);
        })
    }

    /// As [`Self::running`], source by source; only entries that paths inside jobs may pass are filled.
    pub(super) fn apart(&self) -> Tables {
        self.run(|balancer, dag, sources, ports| {
            balancer.choose_apart_from(self.fabric, dag, sources, ports);
        })
    }

    fn run(
        &self,
        mut route: impl FnMut(&mut Balancer, &Dag, &[(u32, u32)], &mut [u8]) + Send,
    ) -> Tables {
        let mut routes = Routes::empty(self.engine, self.fabric, self.paths);
        let mut balancer = Balancer::new(self.fabric);
        self.each(&self.job_peers.running, |t, dag| {
            for path in 0..self.paths {
                let row = routes.row(DestId(t), path);
                route(&mut balancer, dag, self.job_peers.sources(t), routes.ports_mut(row));
            }
        });
        Tables { routes, load: balancer.load }
    }

    /// Fills all remaining entries.
    pub(super) fn finish(&self, tables: Tables, choice: Choice) -> Routes {
        let Tables { mut routes, load } = tables;
        let fabric = self.fabric;
        let mut balancer = Balancer::new(fabric);
        balancer.load = load;
        let first_switch = fabric.terminal_count() * self.paths;
        // Paths to idle compute terminals add no load, nor do those that no path inside a job can meet, nor
        // those to LIDs of switches, which carry management traffic only: each is routed separately.
        let n = fabric.switch_count();
        let lids = &mut routes.table_mut()[..first_switch * n];
        lids.par_chunks_mut(n).enumerate().for_each_init(
            || OneHome::new(self, &balancer, choice),
            |common, (row, ports)| {
                let t = (row / self.paths) as u32;
                let computes = fabric.terminals()[t as usize].role == Role::Compute;
                if (self.job_peers.runs(t) || computes) && ports.contains(&NO_ROUTE) {
                    let home = fabric.terminals()[t as usize].switch;
                    for (port, usual) in ports.iter_mut().zip(common.ports(home)) {
                        if *port == NO_ROUTE {
                            *port = *usual;
                        }
                    }
                }
            },
        );
        self.each(&self.job_peers.idle_servers(fabric), |t, dag| {
            for path in 0..self.paths {
                let row = routes.row(DestId(t), path);
                choice.choose(&mut balancer, fabric, dag, routes.ports_mut(row));
                balancer.add(dag);
            }
        });
        let switches = &mut routes.table_mut()[first_switch * n..];
        switches.par_chunks_mut(n).enumerate().for_each_init(
            || OneHome::new(self, &balancer, Choice::Sum),
            |common, (s, ports)| ports.copy_from_slice(common.ports(SwitchId::new(s))),
        );
        routes
    }

    /// Whether there are jobs, and every compute terminal runs one.
    pub(super) fn all_run(&self) -> bool {
        let mut terminals = (0..).zip(self.fabric.terminals());
        !self.job_peers.running.is_empty()
            && terminals
                .all(|(t, terminal)| terminal.role != Role::Compute || self.job_peers.runs(t))
    }

    /// Calls `f` with the graph of a destination switch.
    pub(super) fn at(&self, home: SwitchId, f: impl FnOnce(&Dag)) {
        if let Some(dag) = self.dags.get(home.index()) {
            f(dag);
        } else {
            let mut dag = Dag::default();
            dag.shortest(self.fabric, home);
            f(&dag);
        }
    }

    /// Calls `f` with each of these terminals and its graph.
    pub(super) fn each(&self, terminals: &[u32], mut f: impl FnMut(u32, &Dag) + Send) {
        let home = |t: u32| self.fabric.terminals()[t as usize].switch;
        if self.dags.is_empty() {
            let homes: Vec<(SwitchId, u32)> = terminals.iter().map(|&t| (home(t), t)).collect();
            let make = |dag: &mut Dag, home| dag.shortest(self.fabric, home);
            for_each_dag(&homes, make, |&(_, t), dag| f(t, dag));
        } else {
            for &t in terminals {
                f(t, &self.dags[home(t).index()]);
            }
        }
    }

    /// The LIDs of terminals that run a job, each with its row.
    pub(super) fn lids(&self) -> impl Iterator<Item = (u32, usize)> {
        let paths = self.paths;
        let rows = move |&t: &u32| (0..paths).map(move |path| (t, t as usize * paths + path));
        self.job_peers.running.iter().flat_map(rows)
    }

    /// Per switch the hops from everywhere, if any of these terminals is on it.
    pub(super) fn distances(&self, of: impl Iterator<Item = u32>) -> Vec<Vec<u32>> {
        let mut homes = vec![false; self.fabric.switch_count()];
        for t in of {
            homes[self.fabric.terminals()[t as usize].switch.index()] = true;
        }
        let hops = |(s, &busy): (usize, &bool)| match self.dags.get(s) {
            _ if !busy => Vec::new(),
            Some(dag) => dag.dist.clone(),
            None => distances(self.fabric, &[SwitchId::new(s)]),
        };
        homes.par_iter().enumerate().map(hops).collect()
    }
}

/// Entries towards the switch at hand, by loads that stay as they are: all its LIDs share them.
struct OneHome<'a> {
    work: &'a JobRoutingContext<'a>,
    balancer: Balancer,
    choice: Choice,
    home: Option<SwitchId>,
    made: Dag,
    ports: Vec<u8>,
}

impl<'a> OneHome<'a> {
    fn new(work: &'a JobRoutingContext<'a>, balancer: &Balancer, choice: Choice) -> Self {
        let ports = vec![NO_ROUTE; work.fabric.switch_count()];
        Self { work, balancer: balancer.clone(), choice, home: None, made: Dag::default(), ports }
    }

    fn ports(&mut self, home: SwitchId) -> &[u8] {
        if self.home.replace(home) != Some(home) {
            let fabric = self.work.fabric;
            if self.work.dags.is_empty() {
                self.made.shortest(fabric, home);
            }
            let dag = self.work.dags.get(home.index()).unwrap_or(&self.made);
            self.choice.choose(&mut self.balancer, fabric, dag, &mut self.ports);
        }
        &self.ports
    }
}
