//! Scheduling-aware routing: tables for the jobs that run.

use std::cmp::Reverse;

use darkfiber_fabric::{Fabric, Role, SwitchId};
use rayon::prelude::*;

use super::balance::{Balancer, shortest};
use super::dag::{Dag, require_routable};
use super::dfsssp::out_of_lanes;
use super::ftree::FTree;
use super::layers::{LONG, SHORT, assign_layers, only_by_pair};
use crate::{Deadlock, DestId, Engine, LayerBy, Layers, Needs, Refusal, Request, Routes};

const PAPER: &str =
    "Domke, Hoefler: Scheduling-Aware Routing for Supercomputers, SC'16, Algorithm 1";

/// Graphs are kept while they are this many bytes at most; beyond, each is made anew for every destination.
const KEPT: usize = 512 << 20;
/// Most passes that improve what is there.
const PASSES: usize = 4;

/// Algorithm 1, by one choice of paths or another.
pub(crate) struct Sar {
    name: &'static str,
    summary: &'static str,
    doc: &'static str,
    choice: Choice,
}

pub(crate) static SAR: Sar = Sar {
    name: "sar",
    summary: "dfsssp for the jobs that run: paths inside jobs are balanced, others add nothing",
    doc: "Compute terminals are routed by falling size of the largest job on them, each on shortest paths with \
          the least sum of weights so far; only paths between terminals of one job add to the weights, one \
          each, however many jobs the two share. Then storage terminals and all others, whose paths all add. \
          Virtual layers as in dfsssp, so hop counts are the same, too. Terminals without a job come last among \
          compute terminals; ties go to the lower terminal and the lower channel. Which jobs run is said with \
          --jobs; without jobs nothing is balanced.\n\n\
          A job in the place of another on the same terminals gives the same tables.\n\n\
          Known weakness: a sum of weights lets many small loads outweigh a large one, so that on uniformly \
          random placements the fullest channel is fuller than under D-mod-k. See sar-best.\n\n\
          Complexity: O(terminals x candidates), plus the pairs inside jobs.",
    choice: Choice::Sum,
};

pub(crate) static SAR_MINMAX: Sar = Sar {
    name: "sar-minmax",
    summary: "as sar, by the fullest channel of a path before its sum",
    doc: "As sar, but of the shortest paths the one whose fullest channel is least full is taken, and of these \
          the one with the least sum. Not in the paper.\n\nComplexity: as sar.",
    choice: Choice::Fullest,
};

/// See [`Engine::doc`].
pub(crate) struct SarBest;

impl Engine for Sar {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn doc(&self) -> &'static str {
        self.doc
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

    fn route(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name, fabric, request)?;
        let (routes, _) = Work::new(fabric, request).once(self.name, self.choice);
        layered(routes, fabric, request, self.name)
    }
}

impl Engine for SarBest {
    fn name(&self) -> &'static str {
        "sar-best"
    }

    fn summary(&self) -> &'static str {
        "the best of sar and of engines that know no jobs, improved for the jobs"
    }

    fn doc(&self) -> &'static str {
        "Makes the tables of sar, of sar-minmax, of sssp, and of ftree where the fabric is a tree and ftree's \
         paths are shortest; takes those with the least load of the fullest channel by paths inside jobs (then \
         the least sum of squares of loads); and routes each destination of a job anew among all others, \
         source by source, as long as that lessens the fullest channel. So it is never worse than these, by \
         the effective edge forwarding index's maximum. Virtual layers as in dfsssp. Not in the paper.\n\n\
         Complexity: as sar, times the four tables and up to four passes; measured 2 to 24 times sar."
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

    fn route(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        let mut work = Work::new(fabric, request);
        // Where all are alike (no job crosses a switch) the first is taken.
        let mut plain = Routes::empty(self.name(), fabric, request.paths());
        shortest(fabric, &mut plain);
        let load = work.loads(&plain);
        let mut tries = vec![(plain, load)];
        if let Ok(mut tree) = FTree.route(fabric, request)
            && tree.layer_count() == 1
            && work.are_shortest(&tree)
        {
            self.name().clone_into(&mut tree.engine);
            let load = work.loads(&tree);
            tries.push((tree, load));
        }
        for choice in [Choice::Sum, Choice::Fullest] {
            tries.push(work.once(self.name(), choice));
        }
        let score = |load: &[u64]| {
            let squares: u128 = load.iter().map(|&x| u128::from(x).pow(2)).sum();
            (load.iter().copied().max().unwrap_or(0), squares)
        };
        let (mut routes, load) =
            tries.into_iter().min_by_key(|(_, load)| score(load)).expect("there are three of them");
        let mut best = score(&load);
        work.balancer.load = load;
        for _ in 0..PASSES {
            let before = routes.clone();
            work.again(&mut routes);
            let now = score(&work.balancer.load);
            if now >= best {
                routes = before;
                break;
            }
            let gained = now.0 < best.0;
            best = now;
            if !gained {
                break;
            }
        }
        layered(routes, fabric, request, self.name())
    }
}

/// Virtual layers for shortest paths, or a refusal.
fn layered(
    mut routes: Routes,
    fabric: &Fabric,
    request: &Request<'_>,
    engine: &'static str,
) -> Result<Routes, Refusal> {
    if request.layer_by == LayerBy::Destination {
        // One layer asks for nothing.
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

/// How to choose among paths.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    Sum,
    Fullest,
}

/// What the engines here share.
struct Work<'a> {
    fabric: &'a Fabric,
    paths: usize,
    mates: Mates<'a>,
    /// Graphs by destination switch; empty if they are too many.
    dags: Vec<Dag>,
    made: Dag,
    balancer: Balancer,
}

impl<'a> Work<'a> {
    fn new(fabric: &'a Fabric, request: &'a Request<'_>) -> Self {
        let n = fabric.switch_count();
        let each = 8 * fabric.channel_count() / 2 + 12 * n;
        let dags = if n * each <= KEPT {
            (0..n)
                .into_par_iter()
                .map(|s| {
                    let mut dag = Dag::default();
                    dag.shortest(fabric, SwitchId::new(s));
                    dag
                })
                .collect()
        } else {
            Vec::new()
        };
        Self {
            fabric,
            paths: request.paths(),
            mates: Mates::new(fabric, request.jobs),
            dags,
            made: Dag::default(),
            balancer: Balancer::new(fabric),
        }
    }

    /// Calls `f` with the graph of every terminal in the order of Algorithm 1; the balancer's sources are those
    /// whose paths count.
    fn each(&mut self, mut f: impl FnMut(&mut Balancer, &Dag, u32)) {
        for t in self.mates.order() {
            let home = self.fabric.terminals()[t as usize].switch;
            let dag = if self.dags.is_empty() {
                self.made.shortest(self.fabric, home);
                &self.made
            } else {
                &self.dags[home.index()]
            };
            self.mates.sources(t, &mut self.balancer.sources);
            f(&mut self.balancer, dag, t);
        }
    }

    /// Every destination once; also the loads by paths inside jobs.
    fn once(&mut self, engine: &str, choice: Choice) -> (Routes, Vec<u64>) {
        let (fabric, paths) = (self.fabric, self.paths);
        let mut routes = Routes::empty(engine, fabric, paths);
        self.balancer.load.fill(0);
        self.each(|balancer, dag, t| {
            for path in 0..paths {
                let row = routes.row(DestId(t), path);
                match choice {
                    Choice::Sum => balancer.choose(fabric, dag, routes.ports_mut(row)),
                    Choice::Fullest => balancer.choose_fullest(fabric, dag, routes.ports_mut(row)),
                }
                balancer.add(dag);
            }
        });
        // LIDs of switches carry management traffic only and add no load.
        for s in (0..fabric.switch_count()).map(SwitchId::new) {
            let row = routes.row(DestId::switch(fabric, s), 0);
            if self.dags.is_empty() {
                self.made.shortest(fabric, s);
            }
            let dag = self.dags.get(s.index()).unwrap_or(&self.made);
            self.balancer.choose(fabric, dag, routes.ports_mut(row));
        }
        let load = self.loads(&routes);
        (routes, load)
    }

    /// Loads by paths inside jobs.
    fn loads(&mut self, routes: &Routes) -> Vec<u64> {
        let (fabric, paths) = (self.fabric, self.paths);
        self.balancer.load.fill(0);
        let in_job = self.mates.in_jobs();
        self.each(|balancer, dag, t| {
            if in_job[t as usize] {
                for path in 0..paths {
                    balancer.count(fabric, dag, routes.ports(routes.row(DestId(t), path)));
                }
            }
        });
        self.balancer.load.clone()
    }

    /// Whether all paths are shortest.
    fn are_shortest(&mut self, routes: &Routes) -> bool {
        let (fabric, paths) = (self.fabric, self.paths);
        let mut all = true;
        self.each(|_, dag, t| {
            all &= (0..paths).all(|path| {
                let ports = routes.ports(routes.row(DestId(t), path));
                (1..dag.order.len()).all(|i| {
                    let port = ports[dag.order[i] as usize];
                    let leads = |c: u32| fabric.tail_ports()[c as usize] == port;
                    dag.candidates(i).iter().any(|c| leads(c.channel))
                })
            });
        });
        all
    }

    /// Routes every destination of a job anew among all others, source by source.
    fn again(&mut self, routes: &mut Routes) {
        let (fabric, paths) = (self.fabric, self.paths);
        let in_job = self.mates.in_jobs();
        self.each(|balancer, dag, t| {
            if in_job[t as usize] {
                for path in 0..paths {
                    let row = routes.row(DestId(t), path);
                    balancer.remove(fabric, dag, routes.ports(row));
                    balancer.choose_apart(fabric, dag, routes.ports_mut(row));
                }
            }
        });
    }
}

/// Who shares jobs with whom.
struct Mates<'a> {
    fabric: &'a Fabric,
    jobs: &'a [Vec<darkfiber_fabric::TerminalId>],
    /// Jobs of each terminal.
    of: Vec<Vec<u32>>,
    /// Terminals on each switch.
    all: Vec<u32>,
    seen: Vec<u32>,
}

impl<'a> Mates<'a> {
    fn new(fabric: &'a Fabric, jobs: &'a [Vec<darkfiber_fabric::TerminalId>]) -> Self {
        let mut of = vec![Vec::new(); fabric.terminal_count()];
        for (j, job) in (0..).zip(jobs) {
            for t in job {
                of[t.index()].push(j);
            }
        }
        let on = |s| fabric.terminals_on(SwitchId::new(s)).len() as u32;
        Self {
            fabric,
            jobs,
            of,
            all: (0..fabric.switch_count()).map(on).collect(),
            seen: vec![u32::MAX; fabric.terminal_count()],
        }
    }

    /// Which terminals run a job.
    fn in_jobs(&self) -> Vec<bool> {
        self.of.iter().map(|jobs| !jobs.is_empty()).collect()
    }

    /// All terminals in the order of Algorithm 1.
    fn order(&self) -> Vec<u32> {
        let terminals = self.fabric.terminals();
        let mut order: Vec<u32> = (0..terminals.len() as u32).collect();
        order.sort_by_key(|&t| {
            let jobs = &self.of[t as usize];
            let largest = jobs.iter().map(|&j| self.jobs[j as usize].len()).max().unwrap_or(0);
            match terminals[t as usize].role {
                // A job may well use what is told to be something else.
                _ if largest > 0 => (0, Reverse(largest), t),
                Role::Compute => (0, Reverse(0), t),
                Role::Storage => (1, Reverse(0), t),
                Role::Other | Role::Aggregation => (2, Reverse(0), t),
            }
        });
        order
    }

    /// Per switch the sources whose paths to `t` count.
    fn sources(&mut self, t: u32, sources: &mut [u32]) {
        let role = self.fabric.terminals()[t as usize].role;
        if self.of[t as usize].is_empty() && role != Role::Compute {
            sources.copy_from_slice(&self.all);
            return;
        }
        sources.fill(0);
        for &j in &self.of[t as usize] {
            for x in &self.jobs[j as usize] {
                if std::mem::replace(&mut self.seen[x.index()], t) != t {
                    sources[self.fabric.terminal(*x).switch.index()] += 1;
                }
            }
        }
    }
}
