//! Errors in a plan of congestion runs.

use std::fmt;

use darkfiber_workload::traffic::TrafficError;

/// Why a plan cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// A spec that is no traffic.
    Traffic(TrafficError),
    /// Hosts that are not there.
    Hosts(String),
}

impl std::error::Error for PlanError {}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Traffic(e) => e.fmt(f),
            Self::Hosts(text) => f.write_str(text),
        }
    }
}
