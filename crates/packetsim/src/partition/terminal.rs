//! State of a terminal in a partition.

use serde::{Deserialize, Serialize};

use crate::Random;

/// One terminal of the partition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Terminal {
    /// When its channel is free.
    pub(super) channel: u64,
    /// Its dice, for bits that are wrong behind its cable.
    pub(super) random: Random,
    /// The lane of its next packet.
    pub(super) lane: u8,
    /// Whether it will be woken when its channel is free.
    pub(super) woken: bool,
    /// When it will be woken next because a pair may send then.
    pub(super) wakes: u64,
    /// Whether it gets credits, or its channel becomes free, in this tick.
    pub(super) touched: bool,
}
