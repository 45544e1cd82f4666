//! Packets that may go, and offers of outputs to take them.

use crate::class::Key;

/// A packet that may go, and the one before it among those that wait for the same lane of an output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) packet: u32,
    pub(super) before: u32,
}

/// An output offers an input to take the first packet of one of its queues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) input: u32,
    /// Use of the input by the packet's class, and the distance of the output from the round-robin pointer.
    pub(super) rank: (Key, u32),
    pub(super) out: u32,
    pub(super) choice: Choice,
}
