//! What ranks of a job do, or did: schedules, traces of MPI calls, and matrices of communication.
//!
//! | module | what | becomes |
//! |---|---|---|
//! | [`goal`], [`goal_binary`] | GOAL of LogGOPSim | [`Schedule`] |

mod bytes;
pub mod goal;
pub mod goal_binary;

use std::path::Path;

use darkfiber_workload::schedule::Faulty;

use crate::ReadError;

/// Operations that were read but do not make a schedule.
fn faulty(error: &Faulty, path: &Path, expected: &str) -> ReadError {
    let hint = match error {
        Faulty::Unmatched(_) => "is the file cut off, or are files of some ranks missing?",
        _ => "",
    };
    ReadError::not_such(path, error.to_string(), expected, hint)
}
