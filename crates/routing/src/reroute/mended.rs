//! State of the repair of rows, in addition to the tables.

use super::outcome::Moved;

/// A dependency of an old path that still counts, so that additions must be compatible with it.
pub(super) struct Held {
    pub(super) layer: u8,
    pub(super) from: u32,
    pub(super) to: u32,
}

/// State of a repair in addition to the tables.
#[derive(Default)]
pub(super) struct Mended {
    pub(super) moved: Vec<Moved>,
    /// Old dependencies, to be released.
    pub(super) held: Vec<Held>,
    /// Whether old dependencies had to go already.
    pub(super) released: bool,
    pub(super) dead_ends: usize,
}
