//! The job mix on a network, packet by packet: in isolation and together, and the measurements on the way.

use std::sync::Arc;

use darkfiber_analysis::jobs::Effective;
use darkfiber_fabric::{TerminalId, Topology, open};
use darkfiber_packetsim::{Congestion, routing};
use darkfiber_routing::{Demand, Routes};
use darkfiber_scenario::{
    Medium, PacketOptions, Setup, Simulated, demanded, isolated, places, sent, simulate,
};
use darkfiber_workload::placement::{Free, allocator};
use darkfiber_workload::play::{Job, Repeat, host};
use darkfiber_workload::traffic::{Ranks, traffic};
use darkfiber_workload::{Machine, Stream};

use super::axes::{ALLREDUCE, Condition, IN_THE_NETWORK, MIX, Network};
use crate::reproduce::engines::{EngineInput, tables};
use crate::reproduce::machine;

/// Bytes of a packet.
const PACKET: u32 = 4096;

/// A mechanism on a network.
pub(super) struct Mechanism {
    /// Name in rows.
    pub(super) name: &'static str,
    /// Engine that computes the tables.
    engine: &'static str,
    /// Routing of packets.
    routing: &'static str,
    /// Congestion control scheme.
    congestion: Congestion,
}

/// The mechanisms that suit a network, its baseline first.
pub(super) fn mechanisms(network: &Network) -> Vec<Mechanism> {
    let of_tables = |engine| Mechanism {
        name: engine,
        engine,
        routing: "tables",
        congestion: Congestion::None,
    };
    let mut all = vec![of_tables(network.baseline)];
    all.extend(network.engines.iter().map(|e| of_tables(e)));
    all.extend(IN_THE_NETWORK.iter().map(|&(name, routing, congestion)| Mechanism {
        name,
        engine: network.baseline,
        routing,
        congestion,
    }));
    all
}

/// Results of the mix under a mechanism.
#[derive(Clone, Debug)]
pub(super) struct MixResult {
    /// By job, its time over that in isolation with the baseline.
    pub(super) slowdowns: Vec<f64>,
    /// Bytes on the fullest channel between switches over those that each would carry of an even spread.
    pub(super) fullest: f64,
    /// Channels between switches that carried nothing, in percent.
    pub(super) dark: f64,
    /// Most routes of jobs on a channel, where packets follow tables with a LID for each terminal.
    pub(super) efi: Option<u64>,
    /// Packets that switches sent on a non-minimal path, in percent.
    pub(super) nonminimal: f64,
    /// Channels between switches that a packet crosses, in the mean.
    pub(super) hops: f64,
    /// 99 % of the packets of the job of small messages took at most this many microseconds.
    pub(super) tail: f64,
}

impl MixResult {
    /// Geometric mean of the slowdowns.
    pub(super) fn mean(&self) -> f64 {
        let n = self.slowdowns.len() as f64;
        (self.slowdowns.iter().map(|s| s.ln()).sum::<f64>() / n).exp()
    }

    /// The largest of them.
    pub(super) fn worst(&self) -> f64 {
        self.slowdowns.iter().copied().fold(0.0, f64::max)
    }
}

/// All mechanisms that suit a network, under one condition by one seed.
pub(super) fn compare(network: &Network, condition: &Condition, seed: u64) -> Vec<MixResult> {
    let topology = open(network.spec).expect("a specification");
    let mut jobs = placed(&topology, condition.placement, seed);
    jobs.truncate(condition.jobs);
    let (hosts, demands) = (places(&jobs), demanded(&sent(&jobs)));
    let trial = Trial { topology: &topology, jobs: &jobs, hosts: &hosts, demands: &demands, seed };
    let all = mechanisms(network);
    // In isolation with the baseline, which is the first.
    let routes = trial.routes(&all[0]);
    let alone = isolated(&trial.setup(&routes, &all[0])).expect("whole tables and programs");
    all.iter()
        .map(|mechanism| {
            let routes = trial.routes(mechanism);
            let setup = trial.setup(&routes, mechanism);
            let found = simulate(&setup, &mut |_| ()).expect("whole tables and programs");
            trial.fared(mechanism, &routes, &found, &alone)
        })
        .collect()
}

/// The mix on all hosts of a network.
fn placed(topology: &Topology, placement: &str, seed: u64) -> Vec<Job> {
    let machine = Machine::new(topology, 1);
    let by = allocator(placement).expect("registered");
    let mut is_free = vec![true; machine.len()];
    // Which hosts a job has must not depend on the place of its line in the table.
    let mut order: Vec<usize> = (0..MIX.len()).collect();
    Stream::new(seed, u64::MAX).shuffle(&mut order);
    let mut jobs: Vec<Option<Job>> = vec![None; MIX.len()];
    for i in order {
        let (_, nodes, spec) = MIX[i];
        let free = Free { machine: &machine, is_free: &is_free };
        let hosts = by
            .allocate(&free, nodes as usize, &mut Stream::new(seed, i as u64))
            .expect("as many hosts as all jobs have nodes");
        for &h in &hosts {
            is_free[h as usize] = false;
        }
        let mut given = Ranks::new(nodes);
        given.seed = seed + i as u64;
        let program = Arc::new(traffic(spec, &given).expect("it runs on this many"));
        let terminals: Vec<TerminalId> = hosts.iter().map(|&h| machine.terminals(h)[0]).collect();
        jobs[i] = Some(Job { program, terminals, start: 0, repeat: Repeat::Once });
    }
    jobs.into_iter().flatten().collect()
}

/// The mix where it runs.
struct Trial<'a> {
    topology: &'a Topology,
    jobs: &'a [Job],
    hosts: &'a [Vec<TerminalId>],
    demands: &'a [Demand],
    seed: u64,
}

impl Trial<'_> {
    fn routes(&self, mechanism: &Mechanism) -> Routes {
        let input = EngineInput { places: self.hosts, demands: self.demands, seed: self.seed };
        tables(self.topology, mechanism.engine, 0, input)
    }

    fn setup<'s>(&'s self, routes: &'s Routes, mechanism: &Mechanism) -> Setup<'s> {
        let mut micro = machine::free("rosetta");
        micro.congestion = mechanism.congestion;
        let kind = routing::kind(mechanism.routing).expect("registered");
        let host = host("slingshot").expect("registered");
        Setup {
            medium: Medium::Packet(Box::new(PacketOptions::new(micro, kind, PACKET))),
            seed: self.seed,
            ..Setup::new(self.topology, routes, host, self.jobs)
        }
    }

    fn fared(
        &self,
        mechanism: &Mechanism,
        routes: &Routes,
        found: &Simulated,
        alone: &[u64],
    ) -> MixResult {
        let between = &found.carried[..self.topology.fabric.channel_count()];
        let all = between.len() as f64;
        let mean = between.iter().sum::<u64>() as f64 / all;
        let fullest = between.iter().copied().max().unwrap_or(0) as f64;
        let dark = between.iter().filter(|bytes| **bytes == 0).count() as f64;
        let packets: u64 = found.packets.iter().map(|p| p.packets).sum();
        let per = |n: u64| n as f64 / packets.max(1) as f64;
        let by_tables = mechanism.routing == "tables" && routes.choice.is_none();
        let effective = || Effective::of(&self.topology.fabric, routes, self.hosts).facts();
        let times = found.runs.iter().zip(alone);
        MixResult {
            slowdowns: times
                .map(|(runs, &alone)| {
                    let end = runs.iter().map(|r| r.end).max().unwrap_or(0);
                    end as f64 / alone.max(1) as f64
                })
                .collect(),
            fullest: fullest / mean.max(1.0),
            dark: 100.0 * dark / all,
            efi: by_tables.then(|| effective().effective_efi.max),
            nonminimal: 100.0 * per(found.packets.iter().map(|p| p.round).sum()),
            hops: per(found.packets.iter().map(|p| p.hops).sum()) - 1.0,
            tail: found.packets[ALLREDUCE].latencies.value_at_quantile(0.99) as f64 / 1000.0,
        }
    }
}
