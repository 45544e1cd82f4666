//! The search for parts of a run that need not be run each time.

use super::{NetworkModel, Player};

/// Instructions for the counts of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountStep {
    /// Count received messages separately from here on: they may form a period. This may be nested in another one.
    Apart,
    /// The last separate count is to be taken this number of times, once if it is no period.
    Times(u64),
}

/// Looks for parts of a run that need not be run each time, and multiplies them.
pub trait Search: std::fmt::Debug {
    /// Examines a run after a step of it; returns what to do, in order.
    fn look(&mut self, player: &mut Player<'_>, wire: &mut dyn NetworkModel) -> &[CountStep];

    /// Number of events of ranks that were multiplied.
    fn skipped(&self) -> u64;

    /// Whether what is multiplied is not exactly the same each time.
    fn is_estimate(&self) -> bool {
        false
    }

    /// By how many picoseconds the end of the run may be wrong.
    fn error(&self) -> f64 {
        0.0
    }
}
