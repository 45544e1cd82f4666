//! What experiments are given.

use darkfiber_workload::Wish;

use super::figure::Figure;
use crate::Clock;

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
