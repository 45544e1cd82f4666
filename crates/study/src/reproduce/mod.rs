//! Published experiments, run again: our numbers next to the printed ones.
//!
//! An experiment is one file and a line in [`EXPERIMENTS`]. It contains its set-up, the numbers as printed, the
//! tolerance, and known misprints.

mod afar;
mod all;
mod context;
mod engines;
mod figure;
mod machine;
mod nccl;
mod opt;
mod paper;
mod sar;
mod sls;
mod t2hx;

pub use crate::judged::{Allowed, Row};
pub use context::{Context, Log};
pub use figure::{Drawn, Figure, Group, Square, Table};
pub use paper::Paper;

use darkfiber_fabric::Registry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// An experiment of a paper.
#[derive(Clone, Copy)]
pub struct Experiment {
    /// Short name for users.
    pub id: &'static str,
    /// The result that it shows.
    pub title: &'static str,
    /// Publication: paper and section, table or figure.
    pub paper: &'static str,
    /// The set-up, and where the paper is silent or damaged.
    pub setup: &'static str,
    /// The class of agreement to expect.
    pub class: Class,
    /// About how many seconds it takes on two cores: short ones come first where all are run.
    pub seconds: f64,
    /// Whether it measures time, so that nothing may run concurrently.
    pub is_timed: bool,
    /// The studies that it is, if it is some; else it is a program.
    pub papers: &'static [Paper],
    /// Function that runs it.
    pub run: fn(&Context<'_>) -> Vec<Row>,
}

/// Defaults of an experiment: short, and not about time.
const USUAL: Experiment = Experiment {
    id: "",
    title: "",
    paper: "",
    setup: "",
    class: Class::Exact,
    seconds: 10.0,
    is_timed: false,
    papers: &[],
    run: |_| Vec::new(),
};

/// The registry of experiments.
pub static EXPERIMENTS: Registry<Experiment> = Registry::new(
    "experiment",
    &[
        opt::worst::EXPERIMENT,
        opt::averages::EXPERIMENT,
        opt::text::EXPERIMENT,
        opt::theorems::EXPERIMENT,
        opt::orcs::EXPERIMENT,
        sar::job_mix::EXPERIMENT,
        sar::small_tree::EXPERIMENT,
        sar::table::EXPERIMENT,
        sar::reconfigurations::EXPERIMENT,
        sar::tables_sent::EXPERIMENT,
        sar::filter::EXPERIMENT,
        sar::cost::EXPERIMENT,
        sar::alltoall::EXPERIMENT,
        sar::update::EXPERIMENT,
        t2hx::topology::EXPERIMENT,
        t2hx::cables::EXPERIMENT,
        t2hx::mpigraph::EXPERIMENT,
        t2hx::planes::EXPERIMENT,
        t2hx::quadrants::EXPERIMENT,
        t2hx::lanes::EXPERIMENT,
        t2hx::deadlock::EXPERIMENT,
        t2hx::collectives::BCAST,
        t2hx::collectives::GATHER,
        t2hx::collectives::SCATTER,
        t2hx::collectives::REDUCE,
        t2hx::collectives::ALLREDUCE,
        t2hx::collectives::ALLTOALL,
        t2hx::allreduce::EXPERIMENT,
        t2hx::barrier::EXPERIMENT,
        t2hx::bisection::EXPERIMENT,
        t2hx::capability::EXPERIMENT,
        t2hx::capacity::EXPERIMENT,
        afar::slowdowns::VARIATION,
        afar::slowdowns::SLOWDOWNS,
        afar::histogram::EXPERIMENT,
        afar::bottleneck::EXPERIMENT,
        #[cfg(feature = "explain")]
        afar::learned::EXPERIMENT,
        afar::sixteen::EXPERIMENT,
        afar::eight::EXPERIMENT,
        afar::overhead::EXPERIMENT,
        afar::quiet::EXPERIMENT,
        afar::update::EXPERIMENT,
        afar::production::EXPERIMENT,
        afar::counters::EXPERIMENT,
        afar::versus::EXPERIMENT,
        afar::seats::EXPERIMENT,
        sls::topology::EXPERIMENT,
        sls::headers::EXPERIMENT,
        sls::latency::EXPERIMENT,
        sls::distance::EXPERIMENT,
        sls::software::EXPERIMENT,
        sls::peak::EXPERIMENT,
        sls::services::EXPERIMENT,
        sls::impacts::EXPERIMENT,
        sls::distribution::ALLOCATIONS,
        sls::distribution::PER_NODE,
        sls::distribution::FEWER_NODES,
        sls::whole::EXPERIMENT,
        sls::bursty::EXPERIMENT,
        sls::isolation::EXPERIMENT,
        sls::shares::EXPERIMENT,
        all::EXPERIMENT,
        nccl::bus::EXPERIMENT,
    ],
);

impl darkfiber_fabric::Entry for Experiment {
    fn name(&self) -> &str {
        self.id
    }
}

/// The experiment of that id, in capitals or not.
pub fn experiment(id: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|e| e.id.eq_ignore_ascii_case(id))
}
