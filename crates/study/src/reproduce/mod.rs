//! Published experiments, run again: ours beside what was printed.
//!
//! An experiment is one file and a line in [`EXPERIMENTS`]. It knows its set-up, the numbers as printed, how
//! far off is still the same, and what is known to be misprinted.

mod afar;
mod all;
mod engines;
mod figure;
mod opt;
mod row;
mod sar;
mod sls;
mod t2hx;

pub use figure::{Drawn, Figure, Group, Square, Table};
pub use row::{Allowed, Row};

use darkfiber_fabric::Registry;
use darkfiber_workload::Wish;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Clock;

/// What can be expected of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// It can be computed: the same numbers come out, but for sampling and rounding.
    Exact,
    /// It can be simulated: who wins, and by about how much.
    Shape,
    /// It needs machines or data that are not public: the nearest that can be had.
    Substitute,
}

impl Class {
    /// A word for tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Shape => "shape",
            Self::Substitute => "substitute",
        }
    }
}

/// Jobs of a real machine.
#[derive(Clone, Debug)]
pub struct Log {
    /// What it is called.
    pub name: String,
    /// Its jobs, by rising start.
    pub jobs: Vec<Wish>,
    /// Processors of a host.
    pub processors_per_host: u32,
    /// Hosts of the machine.
    pub hosts: u32,
}

/// What an experiment is given.
pub struct Context<'a> {
    /// Seed of all random choices.
    pub seed: u64,
    /// Jobs of a real machine, for experiments with jobs; without, they make some up.
    pub log: Option<&'a Log>,
    /// Seconds since some fixed moment.
    pub clock: Clock<'a>,
    /// Told what is done now.
    pub at: &'a (dyn Fn(&str) + Sync),
    /// Given what there is to be drawn.
    pub draw: &'a (dyn Fn(Figure) + Sync),
}

/// A published experiment.
pub trait Experiment: Sync {
    /// Short name.
    fn id(&self) -> &'static str;
    /// What it shows.
    fn title(&self) -> &'static str;
    /// Where it was published: paper and section, table or figure.
    fn paper(&self) -> &'static str;
    /// What is run, and where the paper is silent or damaged.
    fn setup(&self) -> &'static str;
    /// What can be expected.
    fn class(&self) -> Class;
    /// About how many seconds it takes on two cores: short ones come first where all are run.
    fn seconds(&self) -> f64 {
        10.0
    }
    /// Whether what it measures is time, so that nothing may run beside it.
    fn is_timed(&self) -> bool {
        false
    }
    /// Runs it.
    fn run(&self, context: &Context<'_>) -> Vec<Row>;
}

/// All experiments.
pub static EXPERIMENTS: Registry<&dyn Experiment> = Registry::new(
    "experiment",
    &[
        &opt::WorstTable,
        &opt::AverageTable,
        &opt::Text,
        &opt::Theorems,
        &opt::Orcs,
        &sar::JobMix,
        &sar::SmallTree,
        &sar::Table,
        &sar::Reconfigurations,
        &sar::TablesSent,
        &sar::Filter,
        &sar::Cost,
        &sar::Alltoall,
        &sar::FivePhases,
        &t2hx::Machine,
        &t2hx::Cables,
        &t2hx::MpiGraph,
        &t2hx::BothPlanes,
        &t2hx::Quadrants,
        &t2hx::Lanes,
        &t2hx::Deadlocks,
        &t2hx::BCAST,
        &t2hx::GATHER,
        &t2hx::SCATTER,
        &t2hx::REDUCE,
        &t2hx::ALLREDUCE,
        &t2hx::ALLTOALL,
        &t2hx::RingAllreduce,
        &t2hx::Barriers,
        &t2hx::Bisection,
        &t2hx::Capability,
        &t2hx::Capacity,
        &afar::Variation,
        &afar::Slowdowns,
        &afar::Histogram,
        &afar::Bottleneck,
        #[cfg(feature = "explain")]
        &afar::LearnedSteps,
        &afar::Sixteen,
        &afar::Eight,
        &afar::Overhead,
        &afar::Quiet,
        &afar::Update,
        &afar::Production,
        &afar::Counters,
        &afar::Versus,
        &afar::Seats,
        &sls::Systems,
        &sls::Headers,
        &sls::SwitchLatency,
        &sls::Distances,
        &sls::Layers,
        &sls::Peak,
        &sls::Services,
        &sls::Impacts,
        &sls::Allocations,
        &sls::PerNode,
        &sls::FewerNodes,
        &sls::Whole,
        &sls::Bursty,
        &sls::Isolation,
        &sls::Shares,
        &all::Versus,
    ],
);

impl darkfiber_fabric::Entry for &dyn Experiment {
    fn name(&self) -> &str {
        (**self).id()
    }
}

/// The experiment of that id, in capitals or not.
pub fn experiment(id: &str) -> Option<&'static dyn Experiment> {
    EXPERIMENTS.iter().copied().find(|e| e.id().eq_ignore_ascii_case(id))
}
