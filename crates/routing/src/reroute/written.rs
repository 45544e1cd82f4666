//! The changes that a repair wrote.

use super::outcome::Change;

/// The changes that a repair wrote, besides those that layers record themselves.
#[derive(Default)]
pub(super) struct Written {
    /// Entries of the tables.
    pub(super) entries: Vec<Change>,
    /// Whether paths changed their layer.
    pub(super) labels: bool,
    /// Whether destinations or senders failed.
    pub(super) traffic: bool,
}
