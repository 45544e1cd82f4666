//! What ranks of a job do, or did: schedules, traces of MPI calls, and matrices of communication.
//!
//! | module | what | becomes |
//! |---|---|---|
//! | [`goal`], [`goal_binary`] | GOAL of LogGOPSim | [`Schedule`] |
//! | [`chakra`] | execution traces of Chakra | [`Schedule`], or [`MpiTrace`] if there are collectives |
//! | [`simgrid`] | time-independent traces of SimGrid | [`MpiTrace`] |
//! | [`dumpi`] | traces of DUMPI, binary or made text by dumpi2ascii | [`MpiTrace`] |
//! | [`matrix`] | graphs of mpiP, tables, lists | [`CommMatrix`] |
//! | [`mpip`] | reports of mpiP | [`mpip::Report`] |
//!
//! [`open`] knows them by their content, in files of their own, folders and tar archives.

mod bytes;
pub mod chakra;
pub mod dumpi;
pub mod goal;
pub mod goal_binary;
pub mod matrix;
pub mod mpip;
mod open;
pub mod simgrid;
mod tar;
mod wire;

use std::path::{Path, PathBuf};

use darkfiber_workload::CommMatrix;
use darkfiber_workload::schedule::{Schedule, ScheduleError};
use darkfiber_workload::trace::MpiTrace;

pub use open::{ScheduleKind, detect, open, read};

use crate::{Diagnostics, ReadError};

/// The most ranks of traces and matrices: more than any machine has cores in one job.
const MOST_RANKS: u32 = 1 << 22;

/// What traces do not say.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Speed of a rank, for traces that count operations instead of time.
    pub flops_per_second: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { flops_per_second: 1e9 }
    }
}

/// A file: its content after decompression, and what to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name; of a file in an archive, that of the archive and its own.
    pub path: PathBuf,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// Operations and what waits for what.
    Schedule(Schedule),
    /// Calls of MPI, collectives still whole.
    Trace(MpiTrace),
    /// Bytes between ranks.
    Matrix(CommMatrix),
    /// Times and sizes by rank and call site.
    Report(mpip::Report),
}

/// Operations that were read but do not make a schedule.
fn faulty(error: &ScheduleError, path: &Path, expected: &str) -> ReadError {
    let hint = match error {
        ScheduleError::Unmatched(_) => "is the file cut off, or are files of some ranks missing?",
        _ => "",
    };
    ReadError::not_such(path, error.to_string(), expected, hint)
}

/// Says that ranks have no calls.
fn tell_missing(trace: &MpiTrace, d: &mut Diagnostics) {
    let missing = trace.missing();
    if let Some(first) = missing.first() {
        let (count, ranks) = (missing.len(), trace.ranks.len());
        d.warn(
            0,
            format!(
                "the calls of {count} of {ranks} ranks are missing, such as those of rank {first}"
            ),
            "what is there is read, but does not make a schedule; give the files of all ranks",
        );
    }
}

/// A number that may have a fraction or an exponent, rounded; `None` below zero and beyond what fits.
#[expect(clippy::cast_sign_loss, reason = "it is not below zero")]
fn whole(word: &str) -> Option<u64> {
    word.parse().ok().or_else(|| {
        let number = word.parse::<f64>().ok()?.round();
        (0.0..1.8e19).contains(&number).then_some(number as u64)
    })
}

/// Seconds, not below zero, as picoseconds; what is longer than can be told is as long as can be told.
#[expect(clippy::cast_sign_loss, reason = "it is not below zero")]
fn picoseconds(seconds: f64) -> u64 {
    (seconds * 1e12).round().max(0.0) as u64
}
