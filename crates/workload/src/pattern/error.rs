//! Why a pattern cannot be had.

use darkfiber_fabric::SpecError;
use thiserror::Error;

/// Why a pattern cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PatternError {
    /// No pattern of that name.
    #[error("no pattern is called \"{name}\"{}", if nearest.is_empty() { String::new() } else { format!("; did you mean {}?", nearest.join(" or ")) })]
    Unknown {
        /// Name that was not found.
        name: String,
        /// Names that are close.
        nearest: Vec<String>,
    },
    /// A wrong key or value.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// This many participants cannot do it.
    #[error("{pattern} needs {needs}; there are {count} terminals: {hint}")]
    Count {
        /// Name of the pattern.
        pattern: &'static str,
        /// Requirement of the pattern.
        needs: &'static str,
        /// Number of terminals.
        count: u32,
        /// A value that would work.
        hint: String,
        /// The largest smaller number that can, if there is one.
        fits: Option<u32>,
    },
    /// The fabric has no groups.
    #[error(
        "{pattern} needs groups: say how many terminals are one (group=16), or give measure or saturate a dragonfly"
    )]
    NoGroups {
        /// Name of the pattern.
        pattern: &'static str,
    },
    /// A pair names a participant that does not exist.
    #[error("pair {number}: {index} is not below {count}, the number of terminals")]
    Nobody {
        /// Number of the pair, from 1.
        number: usize,
        /// Index of the participant.
        index: u32,
        /// Number of participants.
        count: u32,
    },
}
