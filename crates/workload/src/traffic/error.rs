//! Why traffic cannot be had.

use darkfiber_fabric::SpecError;
use thiserror::Error;

use crate::PatternError;
use crate::schedule::ScheduleError;

/// Why traffic cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TrafficError {
    /// No traffic of that name.
    #[error("no traffic is called \"{name}\"{}", if nearest.is_empty() { String::new() } else { format!("; did you mean {}?", nearest.join(" or ")) })]
    Unknown {
        /// Name that was not found.
        name: String,
        /// Names that are close.
        nearest: Vec<String>,
    },
    /// A wrong key or value.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The pattern is invalid.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// This many ranks cannot do it.
    #[error("{traffic} needs {needs}; there are {ranks} ranks: {hint}")]
    Ranks {
        /// Name of the traffic.
        traffic: &'static str,
        /// Requirement of the traffic.
        needs: &'static str,
        /// Number of ranks.
        ranks: u32,
        /// A value that would work.
        hint: String,
    },
    /// It would not fit.
    #[error("{traffic} among {ranks} ranks: {fault}")]
    TooLarge {
        /// Name of the traffic.
        traffic: &'static str,
        /// Number of ranks.
        ranks: u32,
        /// Kind of the excess.
        fault: ScheduleError,
    },
}
