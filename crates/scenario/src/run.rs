//! Running a scenario whose parts are all there: one loop for all depths at which time passes.

use std::collections::BTreeSet;

use darkfiber_analysis::heat::Flow;
use darkfiber_fabric::{ChannelId, Fabric, TerminalId, Topology};
use darkfiber_flowsim::{Choice, Flows, FlowsState, Grid, Network, NoRoute, Options};
use darkfiber_packetsim::{ConfigError, Measured, Observer, read, unlike, write};
use darkfiber_routing::{Demand, Routes};
use darkfiber_workload::CommMatrix;
use darkfiber_workload::demands::{Profile, Scale, demands};
use darkfiber_workload::play::{
    self, Host, JobRun, Player, PlayerState, Record, Repeat, Stuck, UnderWay, Wire, step,
};
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::pairs::Received;
use crate::planes::Rails;
use crate::striped::{Striped, StripedState};
use crate::{
    Effort, Job, LidsPart, Medium, Pairs, Sharing, UpdateCase, UpdateOutcome, count, packets,
};

/// What is simulated.
pub struct Setup<'a> {
    /// The network.
    pub topology: &'a Topology,
    /// Its tables.
    pub routes: &'a Routes,
    /// What hosts and switches cost.
    pub host: &'a Host,
    /// Who does what, where.
    pub jobs: Vec<Job>,
    /// What carries messages.
    pub medium: Medium,
    /// What cables between switches carry, in bytes a second, if not what the fabric says.
    pub link_rate: Option<f64>,
    /// Which LIDs messages take.
    pub lids: LidsPart,
    /// Seed of random choices.
    pub seed: u64,
    /// Count what channels carry in intervals of this many picoseconds.
    pub interval: Option<u64>,
    /// Count by interval, too, what channels could not pass on.
    pub held: bool,
    /// Keep all messages.
    pub messages: bool,
    /// An update of the tables while jobs run, at the depth of packets.
    pub update: Option<&'a UpdateCase>,
    /// Who keeps the run, to resume it another time.
    pub follow: Option<&'a dyn Observer>,
}

impl<'a> Setup<'a> {
    /// Jobs whose messages flow side by side, exactly, as the tables say, with seed 1; nothing is kept of the run.
    pub fn new(
        topology: &'a Topology,
        routes: &'a Routes,
        host: &'a Host,
        jobs: impl IntoIterator<Item: Into<Job>>,
    ) -> Self {
        Self {
            topology,
            routes,
            host,
            jobs: jobs.into_iter().map(Into::into).collect(),
            medium: Medium::Flow(Sharing::default()),
            link_rate: None,
            lids: LidsPart::Engine,
            seed: 1,
            interval: None,
            held: false,
            messages: false,
            update: None,
            follow: None,
        }
    }
}

/// Why a simulation has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimError {
    /// Ranks wait for what never comes.
    Stuck(Stuck),
    /// The tables lose a message.
    NoRoute(NoRoute),
    /// Switches, packets and routing do not go together.
    Config(ConfigError),
    /// Packets wait for each other for ever: in the buffers of these channels and lanes.
    Deadlock(Vec<(ChannelId, u8)>),
}

impl std::error::Error for SimError {}

impl std::fmt::Display for SimError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stuck(stuck) => stuck.fmt(f),
            Self::NoRoute(lost) => lost.fmt(f),
            Self::Config(why) => why.fmt(f),
            Self::Deadlock(cycle) => write!(f, "deadlock of {} channels", cycle.len()),
        }
    }
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// By job, its runs.
    pub runs: Vec<Vec<JobRun>>,
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
    /// What it took.
    pub effort: Effort,
    /// At the depth of packets, by job, what became of its packets from when they left their terminals.
    pub packets: Vec<Measured>,
    /// All messages that were received, in the order of time, if they were to be kept.
    pub messages: Vec<Record>,
    /// What an update of tables did, if there was one.
    pub update: Option<UpdateOutcome>,
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
pub fn simulate(setup: &Setup<'_>, each: &mut dyn FnMut(&Record)) -> Result<Simulated, SimError> {
    simulated(setup, each, None)
}

/// Simulates until it has gone on for long enough, or all jobs are over.
///
/// # Errors
/// As [`simulate`], and if no time passes at the depth asked for.
pub fn simulate_until(setup: &Setup<'_>, until: Until<'_>) -> Result<Simulated, SimError> {
    simulated(setup, &mut |_| (), Some(until))
}

fn simulated(
    setup: &Setup<'_>,
    each: &mut dyn FnMut(&Record),
    until: Option<Until<'_>>,
) -> Result<Simulated, SimError> {
    match &setup.medium {
        other if setup.update.is_some() && other.packets().is_none() => {
            Err(SimError::Config(ConfigError(format!(
                "[update] writes tables under packets, and the depth is {}: give depth packet",
                other.depth()
            ))))
        }
        Medium::Count if until.is_some() || setup.interval.is_some() => {
            Err(SimError::Config(ConfigError(
                "depth count has no time: intervals and steps need flow, loggp or packet"
                    .to_owned(),
            )))
        }
        Medium::Count => count::simulate(setup),
        Medium::Flow(sharing) => flows(setup, *sharing, false, each, until),
        Medium::Formula => flows(setup, Sharing::default(), true, each, until),
        Medium::Packet(options) => packets::simulate(setup, options, each, until),
    }
}

/// Messages as flows, or `alone`, each by itself.
fn flows(
    setup: &Setup<'_>,
    sharing: Sharing,
    alone: bool,
    each: &mut dyn FnMut(&Record),
    until: Option<Until<'_>>,
) -> Result<Simulated, SimError> {
    let Setup { topology, routes, host, seed, .. } = *setup;
    let jobs = &setup.jobs;
    let mut network = Network::new(&topology.fabric, routes, host);
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
        small: sharing.small,
        alone,
        seed,
        weights: jobs.iter().map(|job| job.weight).collect(),
        limits: jobs.iter().map(|job| job.limit * 1e-12).collect(),
        interval: setup.interval,
        held: setup.held,
        precision: sharing.precision,
    };
    let mut flows = Flows::new(network, host, options);
    let driven = if jobs.iter().any(|job| job.striped) {
        let mut striped =
            Striped::new(flows, &topology.fabric, jobs.iter().map(|job| job.striped).collect());
        let driven = drive(setup, &mut striped, self::kept(setup)?, 1, each, until)?;
        flows = striped.inner;
        driven
    } else {
        drive(setup, &mut flows, self::kept(setup)?, 1, each, until)?
    };
    if let Some(lost) = flows.lost() {
        return Err(SimError::NoRoute(lost));
    }
    driven.ended.map_err(SimError::Stuck)?;
    Ok(Simulated {
        end: driven.end,
        runs: driven.runs,
        pairs: driven.received.pairs,
        messages: driven.received.messages,
        carried: flows.carried().to_vec(),
        capacity,
        grid: flows.grid().cloned(),
        held: flows.held().cloned(),
        effort: if alone {
            Effort::Formula { events: driven.events }
        } else {
            Effort::Flow {
                flows: flows.flow_count(),
                solves: flows.solve_count(),
                events: driven.events,
            }
        },
        packets: Vec::new(),
        update: None,
    })
}

/// A [`Wire`] that can be written down between two steps, and go on from there.
pub(crate) trait Resumable: Wire {
    /// All of it that changes.
    type State: Default + Serialize + DeserializeOwned;

    /// Whether a state can be one of this wire.
    fn fits(&self, state: &Self::State) -> bool;

    /// Takes the state out; the wire is not to be used until it is put back.
    fn take(&mut self) -> Self::State;

    /// Puts a state in.
    fn restore(&mut self, state: Self::State);
}

impl Resumable for Flows<'_> {
    type State = FlowsState;

    fn fits(&self, state: &FlowsState) -> bool {
        Flows::fits(self, state)
    }

    fn take(&mut self) -> FlowsState {
        Flows::take(self)
    }

    fn restore(&mut self, state: FlowsState) {
        Flows::restore(self, state);
    }
}

impl<W: Resumable> Resumable for Striped<'_, W> {
    type State = StripedState<W::State>;

    fn fits(&self, state: &Self::State) -> bool {
        let planes = self.planes() as u32;
        self.inner.fits(&state.inner) && state.parts.iter().all(|(open, ..)| *open <= planes)
    }

    fn take(&mut self) -> Self::State {
        StripedState { inner: self.inner.take(), parts: std::mem::take(&mut self.parts) }
    }

    fn restore(&mut self, state: Self::State) {
        self.inner.restore(state.inner);
        self.parts = state.parts;
    }
}

/// What is kept of a run.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Checkpoint<S> {
    /// In how many parts the network is simulated: a run goes on in those in which it began.
    pub(crate) parts: usize,
    player: PlayerState,
    wire: S,
    received: Received,
}

/// What was kept of this run before, if anything.
pub(crate) fn kept<S: DeserializeOwned>(
    setup: &Setup<'_>,
) -> Result<Option<Checkpoint<S>>, SimError> {
    match setup.follow {
        Some(follow) => read(follow).map_err(SimError::Config),
        None => Ok(None),
    }
}

/// What came of the jobs, whatever carried their messages.
pub(crate) struct Driven {
    pub(crate) runs: Vec<Vec<JobRun>>,
    pub(crate) end: u64,
    pub(crate) received: Received,
    pub(crate) events: u64,
    /// Whether all jobs came to their ends, or it was enough.
    pub(crate) ended: Result<(), Stuck>,
}

/// Steps from one look at the clock to the next.
const STEPS: u64 = 1 << 10;

/// Runs the jobs over a wire until they are over, or it is enough; keeps the run now and then, if somebody wants it kept.
pub(crate) fn drive<W: Resumable>(
    setup: &Setup<'_>,
    wire: &mut W,
    kept: Option<Checkpoint<W::State>>,
    parts: usize,
    each: &mut dyn FnMut(&Record),
    mut until: Option<Until<'_>>,
) -> Result<Driven, SimError> {
    let jobs: Vec<play::Job> = setup.jobs.iter().map(|job| job.play.clone()).collect();
    let mut player = Player::new(&jobs, setup.host).with_seed(setup.seed);
    if let Some(until) = &until {
        player = player.with_laps(until.job);
    }
    let mut received = Received::new(&jobs, setup.messages);
    // Where it stopped before.
    if let Some(mut kept) = kept {
        if !(player.fits(&kept.player) && wire.fits(&kept.wire)) {
            return Err(SimError::Config(unlike()));
        }
        player.swap(&mut kept.player);
        wire.restore(kept.wire);
        received = kept.received;
    }
    let mut under_way = UnderWay::default();
    let mut is_enough = false;
    for steps in 1u64.. {
        let more = step(&mut player, wire, &mut under_way, &mut |record| {
            received.add(record);
            each(record);
        });
        // Between two steps nothing is under way but what player and wire know.
        if let Some(follow) = setup.follow
            && (!more || steps.is_multiple_of(STEPS) && follow.is_due())
        {
            let mut kept =
                Checkpoint { parts, wire: wire.take(), received, player: PlayerState::default() };
            player.swap(&mut kept.player);
            follow.keep(&|out| write(&kept, out));
            player.swap(&mut kept.player);
            wire.restore(kept.wire);
            received = kept.received;
        }
        is_enough = more && until.as_mut().is_some_and(|until| (until.enough)(&player));
        if !more || is_enough {
            break;
        }
    }
    let ended = if is_enough { Ok(()) } else { player.finished() };
    let runs: Vec<_> = (0..jobs.len()).map(|j| player.runs(j).to_vec()).collect();
    let end = runs.iter().flatten().map(|r| r.end).max().unwrap_or(0);
    Ok(Driven { runs, end, received, events: player.events(), ended })
}

/// What one run of each job takes on its hosts and its tables with nobody else there, in picoseconds.
///
/// # Errors
/// If ranks wait for what never comes, or the tables lose a message.
pub fn isolated(setup: &Setup<'_>) -> Result<Vec<u64>, SimError> {
    setup
        .jobs
        .par_iter()
        .with_max_len(1)
        .map(|job| {
            let play = play::Job { start: 0, repeat: Repeat::Once, ..job.play.clone() };
            let alone = Setup {
                jobs: vec![Job { play, ..job.clone() }],
                medium: setup.medium.clone(),
                interval: None,
                held: false,
                messages: false,
                update: None,
                follow: None,
                ..*setup
            };
            Ok(simulate(&alone, &mut |_| {})?.end)
        })
        .collect()
}

/// The jobs as each plane sees them: one that is divided over the planes is a job in each of them.
pub(crate) fn in_each_plane(jobs: &[Job], fabric: &Fabric) -> Vec<play::Job> {
    let rails = Rails::new(fabric);
    let mut all = Vec::with_capacity(jobs.len());
    for job in jobs {
        if !job.striped {
            all.push(job.play.clone());
            continue;
        }
        for plane in 0..rails.count() {
            let terminals = job.play.terminals.iter().map(|&t| rails.peers(t)[plane]).collect();
            all.push(play::Job { terminals, ..job.play.clone() });
        }
    }
    all
}

/// The terminals of each job, each once, in the order of its ranks.
pub fn places<J: AsRef<play::Job>>(jobs: &[J]) -> Vec<Vec<TerminalId>> {
    let place = |job: &J| {
        let mut seen = BTreeSet::new();
        job.as_ref().terminals.iter().copied().filter(|&t| seen.insert(t)).collect()
    };
    jobs.iter().map(place).collect()
}

/// What one run of each job sends from terminal to terminal, by rising (job, source, destination).
///
/// # Panics
/// If a job has not a terminal for each rank.
pub fn sent<J: AsRef<play::Job>>(jobs: &[J]) -> Vec<Flow> {
    let mut all = Vec::new();
    for (job, j) in (0..).zip(jobs.iter().map(AsRef::as_ref)) {
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
