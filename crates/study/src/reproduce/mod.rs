//! Published experiments, run again: ours beside what was printed.
//!
//! An experiment is one file and a line in [`EXPERIMENTS`]. It knows its set-up, the numbers as printed, how
//! far off is still the same, and what is known to be misprinted.

mod opt;
mod row;

pub use row::{Allowed, Row};

use schemars::JsonSchema;
use serde::Serialize;

/// What can be expected of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
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

/// What an experiment is given.
pub struct Context<'a> {
    /// Seed of all random choices.
    pub seed: u64,
    /// Told what is done now.
    pub at: &'a (dyn Fn(&str) + Sync),
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
    /// Runs it.
    fn run(&self, context: &Context<'_>) -> Vec<Row>;
}

/// All experiments.
pub static EXPERIMENTS: &[&dyn Experiment] =
    &[&opt::WorstTable, &opt::AverageTable, &opt::Text, &opt::Theorems];

/// The experiment of that id, in capitals or not.
pub fn experiment(id: &str) -> Option<&'static dyn Experiment> {
    EXPERIMENTS.iter().copied().find(|e| e.id().eq_ignore_ascii_case(id))
}
