//! Jobs that a player runs, and the records of their runs.

use std::fmt;
use std::sync::Arc;

use darkfiber_fabric::TerminalId;
use serde::{Deserialize, Serialize};

use crate::schedule::{Op, Program};

/// A program and where its ranks are.
#[derive(Clone, Debug)]
pub struct Job {
    /// Program of its ranks.
    pub program: Arc<Program>,
    /// The terminal of each rank; several ranks may share one.
    pub terminals: Vec<TerminalId>,
    /// When it begins, in picoseconds.
    pub start: u64,
    /// Number of runs of the job.
    pub repeat: Repeat,
}

impl AsRef<Job> for Job {
    fn as_ref(&self) -> &Job {
        self
    }
}

/// Number of runs of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The program runs once.
    Once,
    /// Again and again, as long as a run begins before this moment, in picoseconds.
    Until(u64),
}

/// A run of a job, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRun {
    /// Time of its start.
    pub begin: u64,
    /// When the last of its ranks was done.
    pub end: u64,
}

/// The time between a rank's start of a schedule of its program and the completion of its part of it, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lap {
    /// Number of the rank.
    pub rank: u32,
    /// Number of the schedule of the program, repetitions counted.
    pub epoch: u64,
    /// Time of its start.
    pub begin: u64,
    /// When it was done.
    pub end: u64,
}

/// A message that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Number of its job.
    pub job: u32,
    /// Number of the schedule of the program, repetitions counted.
    pub epoch: u64,
    /// The operation that sent it.
    pub op: u32,
    /// Rank that sends.
    pub from: u32,
    /// Rank that receives.
    pub to: u32,
    /// Payload in bytes.
    pub bytes: u64,
    /// When the sender passed it to its adapter, in picoseconds; for a large one, once the receiver was ready.
    pub departed: u64,
    /// When its last byte arrived.
    pub arrived: u64,
}

/// Jobs that wait for events that never come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedRanks {
    /// Number of operations that wait.
    pub waiting: u64,
    /// Examples: job, rank, number of the operation within the rank from 0, and the operation.
    pub examples: Vec<(u32, u32, u32, Op)>,
}

impl std::error::Error for BlockedRanks {}

impl fmt::Display for BlockedRanks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ranks wait for each other forever ({} operations)", self.waiting)?;
        for (i, (job, rank, op, what)) in self.examples.iter().enumerate() {
            f.write_str(if i == 0 { ": " } else { "; " })?;
            write!(f, "job {job} rank {rank} operation {op} ")?;
            match what {
                Op::Send { to, bytes, .. } => {
                    write!(f, "sends {bytes} bytes to rank {to}, which must ask first")?;
                }
                Op::Recv { from, tag, .. } => {
                    write!(f, "waits for rank {from} with tag {tag}")?;
                }
                Op::Put { to, bytes } => write!(f, "puts {bytes} bytes at rank {to}")?,
                Op::Compute { .. } => f.write_str("computes")?,
            }
        }
        Ok(())
    }
}
