//! What a repair wrote.

use super::outcome::Change;

/// What a repair wrote, beside what layers note themselves.
#[derive(Default)]
pub(super) struct Written {
    /// Entries of the tables.
    pub(super) entries: Vec<Change>,
    /// Whether paths changed their layer.
    pub(super) labels: bool,
    /// Whether destinations or senders failed.
    pub(super) traffic: bool,
}
