//! The input of a simulation, and its results.

use darkfiber_fabric::{ChannelId, Topology};
use darkfiber_flowsim::{Grid, NoRoute};
use darkfiber_packetsim::{ConfigError, Measured, Observer, Paused, Processes};
use darkfiber_routing::Routes;
use darkfiber_workload::play::{BlockedRanks, Host, JobRun, Player, Record};

use crate::{
    ClassTotals, Effort, Job, LidsPart, Medium, Pairs, Sharing, UpdateCase, UpdateOutcome,
};

/// The input of a simulation.
pub struct Setup<'a> {
    /// Network with its shape.
    pub topology: &'a Topology,
    /// Tables of the network.
    pub routes: &'a Routes,
    /// Overheads of hosts and switches.
    pub host: &'a Host,
    /// Jobs with their programs and places.
    pub jobs: Vec<Job>,
    /// Model of messages.
    pub medium: Medium,
    /// Rate of cables between switches, in bytes a second, if it overrides the fabric's.
    pub link_rate: Option<f64>,
    /// Latencies of cables between switches and to hosts at the depths of flows and of the formula, in picoseconds, if they
    /// override the fabric's.
    pub latencies: [Option<u64>; 2],
    /// The LIDs that messages take.
    pub lids: LidsPart,
    /// Seed of random choices.
    pub seed: u64,
    /// Count the load of channels in intervals of this number of picoseconds.
    pub interval: Option<u64>,
    /// Count by interval, too, the bytes that waited for channels.
    pub held: bool,
    /// Keep the records of all messages.
    pub messages: bool,
    /// Exact repeats of a single job, at the depths of flows and of the formula, are run about twice and multiplied.
    pub multiplies: bool,
    /// An update of the tables while jobs run, at the depth of packets.
    pub update: Option<&'a UpdateCase>,
    /// The observer that saves the run, to resume it later.
    pub follow: Option<&'a dyn Observer>,
    /// Processes that simulate packets of this setup together: each of them calls with the same one, and gets the same result.
    pub processes: Option<&'a dyn Processes>,
}

impl<'a> Setup<'a> {
    /// Jobs whose messages share channels, exactly, on the paths of the tables, with seed 1; the run is not saved.
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
            processes: None,
        }
    }
}

impl<'a> Setup<'a> {
    /// Why its run cannot be kept and resumed, if it cannot. Observers are not asked to keep it then.
    pub fn cannot_be_kept(&self) -> Option<&'static str> {
        match &self.medium {
            Medium::Count => Some("counting is over before it could be kept"),
            _ if self.update.is_some() => Some("a run with [update] cannot be kept and resumed"),
            Medium::Packet(options) if options.precision.is_some() => {
                Some("a run of packets with `precision` in [cost] cannot be kept and resumed")
            }
            _ => None,
        }
    }

    /// Why several processes cannot share its run, if they cannot.
    pub fn cannot_be_shared(&self) -> Option<&'static str> {
        match &self.medium {
            Medium::Packet(_) if self.update.is_none() => None,
            Medium::Packet(_) => Some("a run with [update] is in one process"),
            _ => Some("processes share packets, and this depth has none: give --depth packet"),
        }
    }

    /// The observer that keeps its run, if it can be kept.
    pub(crate) fn keeper(&self) -> Option<&'a dyn Observer> {
        self.follow.filter(|_| self.cannot_be_kept().is_none())
    }
}

/// Why a simulation has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimError {
    /// Ranks wait for messages that never come.
    Stuck(BlockedRanks),
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

/// The results of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// By job, its runs.
    pub runs: Vec<Vec<JobRun>>,
    /// By job, its messages.
    pub pairs: Vec<Pairs>,
    /// Bytes that each channel carried, by its id.
    pub carried: Vec<u64>,
    /// Capacities of channels, in bytes a picosecond.
    pub capacity: Vec<f64>,
    /// Loads of channels by interval.
    pub grid: Option<Grid>,
    /// Bytes that waited for channels by interval (see [`Flows::held`](darkfiber_flowsim::Flows::held)).
    pub held: Option<Grid>,
    /// When the last run ended, in picoseconds.
    pub end: u64,
    /// Effort of the simulation.
    pub effort: Effort,
    /// At the packet depth, by job, results of its packets from when they left their terminals.
    pub packets: Vec<Measured>,
    /// Messages by the classes that jobs name.
    pub classes: Vec<ClassTotals>,
    /// With priority flow control, pauses: of adapters, and by channel, by its id.
    pub pauses: Option<(Paused, Vec<Paused>)>,
    /// All messages that were received, in the order of time, if they were to be kept.
    pub messages: Vec<Record>,
    /// Effects of an update of tables, if there was one.
    pub update: Option<UpdateOutcome>,
}

/// When a simulation ends before its jobs do.
pub struct Until<'a> {
    /// The job whose laps the player records, if any; repeats are not multiplied then.
    pub job: Option<u32>,
    /// Whether to stop: called after every step.
    pub enough: &'a mut dyn FnMut(&Player<'_>) -> bool,
}
