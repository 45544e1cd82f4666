//! What is simulated, and what comes out.

use darkfiber_fabric::{ChannelId, Topology};
use darkfiber_flowsim::{Grid, NoRoute};
use darkfiber_packetsim::{ConfigError, Measured, Observer, Paused};
use darkfiber_routing::Routes;
use darkfiber_workload::play::{Host, JobRun, Player, Record, Stuck};

use crate::{Effort, Job, LidsPart, Medium, Pairs, Sharing, UpdateCase, UpdateOutcome};

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
    /// Latencies of cables between switches and to hosts at the depths of flows and of the formula, in picoseconds, if not what the
    /// fabric says.
    pub latencies: [Option<u64>; 2],
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
    /// What one job alone repeats exactly, at the depths of flows and of the formula, is run twice or so and multiplied.
    pub multiplies: bool,
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
            latencies: [None; 2],
            lids: LidsPart::Engine,
            seed: 1,
            interval: None,
            held: false,
            messages: false,
            multiplies: true,
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
    /// What waited for channels by interval (see [`Flows::held`](darkfiber_flowsim::Flows::held)).
    pub held: Option<Grid>,
    /// When the last run ended, in picoseconds.
    pub end: u64,
    /// What it took.
    pub effort: Effort,
    /// At the depth of packets, by job, what became of its packets from when they left their terminals.
    pub packets: Vec<Measured>,
    /// With priority flow control, pauses: of adapters, and by channel, by its id.
    pub pauses: Option<(Paused, Vec<Paused>)>,
    /// All messages that were received, in the order of time, if they were to be kept.
    pub messages: Vec<Record>,
    /// What an update of tables did, if there was one.
    pub update: Option<UpdateOutcome>,
}

/// When a simulation ends before its jobs do.
pub struct Until<'a> {
    /// The job whose laps the player keeps, if any; what is repeated is not multiplied then.
    pub job: Option<u32>,
    /// Whether it has gone on for long enough: asked after every step.
    pub enough: &'a mut dyn FnMut(&Player<'_>) -> bool,
}
