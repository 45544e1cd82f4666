//! Cab, its workloads, and their traffic.

use std::sync::Arc;

use darkfiber_analysis::heat::Heat;
use darkfiber_fabric::{Topology, open};
use darkfiber_routing::reroute::{Goal, Policy, Prepared, Relief};
use darkfiber_routing::{Demand, Request, Routes, find_engine};
use darkfiber_workload::placement::{Free, allocator};
use darkfiber_workload::play::{Job, Repeat};
use darkfiber_workload::schedule::Program;
use darkfiber_workload::traffic::{Ranks, traffic};
use darkfiber_workload::{Machine, Stream};

use darkfiber_scenario::{rank_terminals, sent};

/// Nodes that all jobs of a workload have together (section IV-A).
const NODES: u32 = 1152;
/// Ranks of a node (section III).
pub(super) const RANKS: u32 = 16;
/// The benchmarks, as many jobs of each.
pub(super) const BENCHMARKS: [&str; 4] = ["bis", "nn", "pairs", "fft-proxy"];
/// A gigabyte in bytes.
pub(super) const GB: f64 = 1e9;
/// Load that is allowed: of 16 jobs (section V-D, figure 9), and of 8 (figure 10).
pub(super) const SIXTEEN: f64 = 61.5 * GB;
/// Threshold for eight jobs; see [`SIXTEEN`].
pub(super) const EIGHT: f64 = 65.0 * GB;

/// The machine and the tables that it starts from.
pub(super) struct Lab {
    topology: Topology,
    machine: Machine,
    routes: Routes,
    /// Ranks of a node.
    ranks: u32,
}

impl Lab {
    /// A lab with the machine Cab.
    pub(super) fn new() -> Self {
        Self::of("@cab", "ftree", 0, RANKS)
    }

    /// Another machine, with 2^lmc LIDs for every terminal.
    pub(super) fn of(fabric: &str, engine: &str, lmc: u8, ranks: u32) -> Self {
        let topology = open(fabric).expect("a fabric");
        let machine = Machine::new(&topology, ranks);
        let request = Request { shape: topology.shape.as_ref(), lmc, ..Request::default() };
        let engine = find_engine(engine).expect("registered");
        let routes = engine.route(&topology.fabric, &request).expect("it suits the fabric");
        Self { topology, machine, routes, ranks }
    }

    /// This number of jobs, those of one benchmark consecutively, on hosts drawn by a seed.
    pub(super) fn workload(&self, jobs: u32, seed: u64) -> Vec<Job> {
        let nodes = NODES / jobs;
        let one = |i: u32| (benchmark(i, jobs).to_owned(), nodes);
        self.placed(&(0..jobs).map(one).collect::<Vec<_>>(), seed)
    }

    /// Programs with this many nodes each, on hosts drawn by a seed.
    pub(super) fn placed(&self, programs: &[(String, u32)], seed: u64) -> Vec<Job> {
        let random = allocator("random").expect("registered");
        let mut is_free = vec![true; self.machine.len()];
        (0..)
            .zip(programs)
            .map(|(i, (spec, nodes))| {
                let program = Arc::new(program(spec, *nodes, self.ranks, seed + i));
                let free = Free { machine: &self.machine, is_free: &is_free };
                let hosts = random
                    .allocate(&free, *nodes as usize, &mut Stream::new(seed, i))
                    .expect("there are enough hosts");
                for &h in &hosts {
                    is_free[h as usize] = false;
                }
                let terminals =
                    rank_terminals(&hosts, self.ranks, |h| self.machine.terminals(h).to_vec());
                Job { program, terminals, start: 0, repeat: Repeat::Once }
            })
            .collect()
    }

    /// The tables that it starts from.
    pub(super) fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Hosts of the machine.
    pub(super) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Topology of the machine.
    pub(super) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Bytes on channels between switches.
    pub(super) fn loads(&self, jobs: &[Job]) -> Vec<u64> {
        Heat::of(&self.topology.fabric, &self.routes, &sent(jobs), jobs.len())
            .between_switches()
            .to_vec()
    }

    /// Changes entries until no channel carries more than `most`; the new tables, too.
    pub(super) fn relieved(
        &self,
        demands: &[Demand],
        most: f64,
        policy: Policy,
    ) -> (Relief, Routes) {
        let mut prepared = Prepared::with_demands(&self.topology.fabric, &self.routes, 1, demands)
            .expect("its own tables");
        let relief = prepared.relieve(&Goal { most, policy, ..Goal::default() });
        (relief, prepared.into_routes())
    }
}

/// The benchmark of a job.
pub(super) fn benchmark(job: u32, jobs: u32) -> &'static str {
    BENCHMARKS[(job * BENCHMARKS.len() as u32 / jobs) as usize]
}

/// A traffic on this many nodes.
pub(super) fn program(spec: &str, nodes: u32, ranks: u32, seed: u64) -> Program {
    let mut given = Ranks::new(nodes * ranks);
    (given.per_node, given.seed) = (ranks, seed);
    traffic(spec, &given).expect("it runs on this many")
}
