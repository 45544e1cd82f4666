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
    /// What the packet's class had of the input, and how far the output is behind the one whose turn it is.
    pub(super) rank: (Key, u32),
    pub(super) out: u32,
    pub(super) choice: Choice,
}
