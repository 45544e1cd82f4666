//! What experiments are given.

pub use darkfiber_scenario::job_log::Log;

use super::figure::Figure;
use crate::Clock;

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
