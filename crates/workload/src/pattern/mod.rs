//! Patterns: sets of ordered pairs.
//!
//! A pattern is one file: a [`PatternKind`] that reads its parameters and makes a [`Pattern`] for a number of participants,
//! and a line in [`PATTERNS`]. No participant sends to itself: such pairs are left out.

mod adversarial;
mod bits;
mod collectives;
mod error;
mod listed;
mod neighbours;
mod participants;
mod random;
mod registry;
mod shift;

pub use error::PatternError;
pub use listed::listed_pairs;
pub use participants::Participants;
pub use registry::{PATTERNS, PatternKind, kind, pattern};

use crate::Stream;

/// Number of phases or samples of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// This many phases, one after the other; each is a set of pairs that send at once.
    Phases(u64),
    /// As many independent random samples as wanted.
    Samples,
}

/// Pairs of participants, who are numbered from 0.
pub trait Pattern: Send + Sync {
    /// Number of phases, or that it is drawn at random.
    fn extent(&self) -> Extent;

    /// Writes the pairs [source, destination] of a phase, or of a sample that `stream` draws. Existing pairs are
    /// removed.
    fn fill(&self, index: u64, stream: &mut Stream, pairs: &mut Vec<[u32; 2]>);

    /// Whether it is known that no participant sends or receives twice in a phase or sample.
    fn is_permutation(&self) -> bool {
        false
    }
}
