//! Facts about a log of jobs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// What a log of jobs was found to say.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct LogFacts {
    /// Jobs that it tells of.
    pub jobs: usize,
    /// Of these, those that ran somewhere for a while: what all else is about.
    pub used: usize,
    /// Jobs that never ran: they wait, or were cancelled before.
    pub not_run: usize,
    /// Jobs whose beginning or end is not told.
    pub without_times: usize,
    /// Jobs that ended when they began, or before.
    pub without_duration: usize,
    /// Jobs that still ran when the log was written; taken to run to its end.
    pub still_running: usize,
    /// Jobs that do not say where they ran.
    pub nowhere: usize,
    /// Jobs of which no node, or not every node, is in the fabric.
    pub misplaced: usize,
    /// Nodes that are not in the fabric, and how many jobs were on each.
    pub unknown_nodes: BTreeMap<String, usize>,
    /// Jobs that had a terminal together with another job at the same time.
    pub overlapping: usize,
    /// Jobs that were handed in before the job above them in the log.
    pub out_of_order: usize,
    /// How jobs were placed, if the log does not say where they ran, or was not asked.
    pub placed: Option<PlacedFacts>,
}

/// How jobs were placed.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PlacedFacts {
    /// By which allocator.
    pub by: String,
    /// Hosts of the machine.
    pub hosts: usize,
    /// Processors of a host.
    pub processors_per_host: u32,
    /// What hosts of jobs were multiplied by.
    pub scale: f64,
    /// Jobs larger than the machine, which were left out.
    pub too_large: usize,
    /// Jobs that began later than in the log, for want of hosts.
    pub late: usize,
    /// The longest that one was late, in seconds.
    pub latest_seconds: i64,
}
