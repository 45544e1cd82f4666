//! Running a scenario whose parts are all there.

use std::collections::BTreeSet;

use darkfiber_analysis::heat::Flow;
use darkfiber_fabric::{ChannelId, TerminalId, Topology};
use darkfiber_flowsim::{Choice, EXACT, Flows, Grid, Network, NoRoute, Options};
use darkfiber_packetsim::{Follow, Impossible, Measured};
use darkfiber_routing::{Demand, Routes};
use darkfiber_workload::CommMatrix;
use darkfiber_workload::demands::{Profile, Scale, demands};
use darkfiber_workload::play::{Host, Job, Player, Record, Repeat, Run, Stuck, UnderWay, step};
use rayon::prelude::*;

use super::packets::{self, Inside};
use super::pairs::Received;
use super::{Depth, LidsPart, Pairs};

/// What is simulated.
pub struct Setup<'a> {
    /// The network.
    pub topology: &'a Topology,
    /// Its tables.
    pub routes: &'a Routes,
    /// How deep to look.
    pub depth: Depth,
    /// What hosts and switches cost.
    pub host: &'a Host,
    /// What cables between switches carry, in bytes a second, if not what the fabric says.
    pub link_rate: Option<f64>,
    /// Messages of at most so many bytes do not share.
    pub small: u64,
    /// A message may end late by so much of the time that it flows; [`darkfiber_flowsim::EXACT`] or more.
    pub precision: f64,
    /// Who does what, where.
    pub jobs: &'a [Job],
    /// Weight of the flows of each job.
    pub weights: Vec<f64>,
    /// Most that a flow of each job takes, in bytes a second.
    pub limits: Vec<f64>,
    /// Which LIDs messages take.
    pub lids: LidsPart,
    /// Seed of random choices.
    pub seed: u64,
    /// Count what channels carry in intervals of so many picoseconds.
    pub interval: Option<u64>,
    /// Count by interval, too, what channels could not pass on.
    pub held: bool,
    /// What switches are like, and where packets go: at that depth.
    pub inside: Option<Inside>,
    /// Keep all messages.
    pub messages: bool,
    /// Who keeps the run, to go on from there another time: at the depth of packets.
    pub follow: Option<&'a dyn Follow>,
}

impl<'a> Setup<'a> {
    /// Jobs whose messages flow side by side, exactly, as the tables say, with seed 1; nothing is kept of the run.
    pub fn new(
        topology: &'a Topology,
        routes: &'a Routes,
        host: &'a Host,
        jobs: &'a [Job],
    ) -> Self {
        Self {
            topology,
            routes,
            depth: Depth::Flow,
            host,
            link_rate: None,
            small: 0,
            precision: EXACT,
            jobs,
            weights: Vec::new(),
            limits: Vec::new(),
            lids: LidsPart::Engine,
            seed: 1,
            interval: None,
            held: false,
            inside: None,
            messages: false,
            follow: None,
        }
    }
}

/// Why a simulation has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Ranks wait for what never comes.
    Stuck(Stuck),
    /// The tables lose a message.
    NoRoute(NoRoute),
    /// Switches, packets and routing do not go together.
    Impossible(Impossible),
    /// Packets wait for each other for ever: in the buffers of these channels and lanes.
    Deadlock(Vec<(ChannelId, u8)>),
}

impl std::error::Error for Trouble {}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stuck(stuck) => stuck.fmt(f),
            Self::NoRoute(lost) => lost.fmt(f),
            Self::Impossible(why) => why.fmt(f),
            Self::Deadlock(cycle) => write!(f, "deadlock of {} channels", cycle.len()),
        }
    }
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// By job, its runs.
    pub runs: Vec<Vec<Run>>,
    /// By job, its messages.
    pub pairs: Vec<Pairs>,
    /// Bytes that each channel carried, by its id.
    pub carried: Vec<u64>,
    /// What channels can carry, in bytes a picosecond.
    pub capacity: Vec<f64>,
    /// What channels carried by interval.
    pub grid: Option<Grid>,
    /// What waited for channels by interval (see [`Flows::held`]).
    pub held: Option<Grid>,
    /// When the last run ended, in picoseconds.
    pub end: u64,
    /// Messages that shared channels; at the depth of packets, packets.
    pub flows: u64,
    /// How often shares were found anew; at the depth of packets, packets times switches that they crossed.
    pub solves: u64,
    /// Events of ranks and messages.
    pub events: u64,
    /// At the depth of packets, by job, what became of its packets from when they left their terminals.
    pub packets: Vec<Measured>,
    /// All messages that were received, in the order of time, if they were to be kept.
    pub messages: Vec<Record>,
}

/// When a simulation ends before its jobs do.
pub struct Until<'a> {
    /// The job whose laps the player keeps.
    pub job: u32,
    /// Whether it has gone on for long enough: asked after every step.
    pub enough: &'a mut dyn FnMut(&Player<'_>) -> bool,
}

/// Simulates. `each` is told of every message that is received, in the order of time.
///
/// # Errors
/// If ranks wait for what never comes, the tables lose a message, or what was kept of the run is damaged.
pub fn simulate(setup: Setup<'_>, each: &mut dyn FnMut(&Record)) -> Result<Simulated, Trouble> {
    simulated(setup, each, None)
}

/// Simulates until it has gone on for long enough, or all jobs are over.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_until(setup: Setup<'_>, until: Until<'_>) -> Result<Simulated, Trouble> {
    simulated(setup, &mut |_| (), Some(until))
}

fn simulated(
    setup: Setup<'_>,
    each: &mut dyn FnMut(&Record),
    mut until: Option<Until<'_>>,
) -> Result<Simulated, Trouble> {
    if setup.depth == Depth::Packet {
        let nothing =
            || Trouble::Impossible(Impossible("nobody says what switches are like".to_owned()));
        let inside = setup.inside.clone().ok_or_else(nothing)?;
        return packets::simulate(&setup, &inside, each, until);
    }
    let Setup { topology, routes, host, jobs, seed, .. } = setup;
    let fabric = &topology.fabric;
    let mut network = Network::new(fabric, routes, host);
    if let Some(rate) = setup.link_rate {
        network = network.with_link_rate(rate);
    }
    let capacity = network.capacities().to_vec();
    let table = routes.choice.as_ref();
    let by_table = |from: TerminalId, to: TerminalId, bytes: u64, draw: u32| {
        table.map_or(0, |t| t.path(from, to, bytes, draw.into()))
    };
    let options = Options {
        choice: match setup.lids {
            LidsPart::Engine if table.is_some() => Choice::By(&by_table),
            LidsPart::Engine => Choice::Routes,
            LidsPart::Turns => Choice::Turns,
            LidsPart::Random => Choice::Random,
            LidsPart::Split => Choice::Split,
            LidsPart::Adaptive => Choice::Adaptive,
        },
        small: setup.small,
        alone: setup.depth == Depth::LogGp,
        seed,
        weights: setup.weights,
        limits: setup.limits.iter().map(|bytes| bytes * 1e-12).collect(),
        interval: setup.interval,
        held: setup.held,
        precision: setup.precision,
    };
    let mut flows = Flows::new(network, host, options);
    let mut player = Player::new(jobs, host).with_seed(seed);
    let mut received = Received::new(jobs, setup.messages);
    if let Some(until) = &until {
        player = player.with_laps(until.job);
    }
    let mut under_way = UnderWay::default();
    let mut is_enough = false;
    while !is_enough
        && step(&mut player, &mut flows, &mut under_way, &mut |record| {
            received.add(record);
            each(record);
        })
    {
        is_enough = until.as_mut().is_some_and(|until| (until.enough)(&player));
    }
    if !is_enough {
        player.finished().map_err(Trouble::Stuck)?;
    }
    if let Some(lost) = flows.lost() {
        return Err(Trouble::NoRoute(lost));
    }
    let runs: Vec<Vec<Run>> = (0..jobs.len()).map(|j| player.runs(j).to_vec()).collect();
    Ok(Simulated {
        end: runs.iter().flatten().map(|r| r.end).max().unwrap_or(0),
        runs,
        pairs: received.pairs,
        messages: received.messages,
        carried: flows.carried().to_vec(),
        capacity,
        grid: flows.grid().cloned(),
        held: flows.held().cloned(),
        flows: flows.flow_count(),
        solves: flows.solve_count(),
        events: player.events(),
        packets: Vec::new(),
    })
}

/// What one run of each job takes on its hosts and its tables with nobody else there, in picoseconds.
///
/// # Errors
/// If ranks wait for what never comes, or the tables lose a message.
pub fn isolated(setup: &Setup<'_>) -> Result<Vec<u64>, Trouble> {
    (0..setup.jobs.len())
        .into_par_iter()
        .with_max_len(1)
        .map(|j| {
            let job = Job { start: 0, repeat: Repeat::Once, ..setup.jobs[j].clone() };
            let of = |all: &[f64]| all.get(j).copied().into_iter().collect();
            let alone = Setup {
                jobs: &[job],
                weights: of(&setup.weights),
                limits: of(&setup.limits),
                interval: None,
                held: false,
                inside: setup.inside.as_ref().map(|inside| inside.of_job(j)),
                messages: false,
                follow: None,
                ..*setup
            };
            Ok(simulate(alone, &mut |_| {})?.end)
        })
        .collect()
}

/// The terminals of each job, each once, in the order of its ranks.
pub fn places(jobs: &[Job]) -> Vec<Vec<TerminalId>> {
    let place = |job: &Job| {
        let mut seen = BTreeSet::new();
        job.terminals.iter().copied().filter(|&t| seen.insert(t)).collect()
    };
    jobs.iter().map(place).collect()
}

/// What one run of each job sends from terminal to terminal, by rising (job, source, destination).
///
/// # Panics
/// If a job has not a terminal for each rank.
pub fn sent(jobs: &[Job]) -> Vec<Flow> {
    let mut all = Vec::new();
    for (job, j) in (0..).zip(jobs) {
        let sent = CommMatrix::of_program(&j.program);
        let profile = Profile { bytes: sent.entries(), nodes: &j.terminals };
        let found = demands(&[profile], Scale::Bytes).expect("a terminal for each rank");
        all.extend(found.iter().map(|d| Flow { job, from: d.from, to: d.to, bytes: d.weight }));
    }
    all
}

/// Flows of all jobs together, by rising (source, destination), as demands in bytes.
pub fn demanded(flows: &[Flow]) -> Vec<Demand> {
    let mut all: Vec<Demand> =
        flows.iter().map(|f| Demand { from: f.from, to: f.to, weight: f.bytes }).collect();
    all.sort_unstable_by_key(|d| (d.from, d.to));
    all.dedup_by(|d, kept| {
        let same = (d.from, d.to) == (kept.from, kept.to);
        if same {
            kept.weight = kept.weight.saturating_add(d.weight);
        }
        same
    });
    all
}

/// The terminals of ranks on some hosts, `per_node` side by side on each; ranks of a host with several adapters use
/// them in turn.
pub fn seated(
    hosts: &[u32],
    per_node: u32,
    terminals: impl Fn(u32) -> Vec<TerminalId>,
) -> Vec<TerminalId> {
    let mut all = Vec::with_capacity(hosts.len() * per_node as usize);
    for &host in hosts {
        let of = terminals(host);
        all.extend((0..per_node as usize).map(|i| of[i % of.len()]));
    }
    all
}
