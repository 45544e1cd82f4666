//! The environment of experiments.

pub use darkfiber_scenario::job_log::Log;

use super::figure::Figure;
use crate::Clock;

/// The environment of an experiment.
pub struct Context<'a> {
    /// Seed of all random choices.
    pub seed: u64,
    /// Jobs of a real machine, for experiments with jobs; without, they make some up.
    pub log: Option<&'a Log>,
    /// Seconds since some fixed moment.
    pub clock: Clock<'a>,
    /// Called with a description of the current step.
    pub at: &'a (dyn Fn(&str) + Sync),
    /// Called with each figure to draw.
    pub draw: &'a (dyn Fn(Figure) + Sync),
}
