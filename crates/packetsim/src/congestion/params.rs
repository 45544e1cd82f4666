//! What all pairs of a network go by.

use super::kind::Congestion;
use super::tuning::{Tuning, part};

/// What all pairs of a network go by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CongestionParams<'a> {
    /// The scheme.
    pub(crate) congestion: Congestion,
    /// What a way takes at most where nothing waits, and there and back with a packet, in picoseconds.
    pub(crate) way: u64,
    pub(crate) round: u64,
    /// What a pair may have under way, as part ([`super::tuning::ONE`]) of what its channel carries in a round trip.
    pub(crate) window: u64,
    /// Bytes of a message in a packet at most, and those of a packet on a channel.
    pub(crate) most: u32,
    pub(crate) wire: u32,
    /// Terminals.
    pub(crate) terminals: usize,
    /// Packets of a pair that may be under way from the oldest one on that its endpoint misses.
    pub(crate) reorder: Option<u8>,
    /// Whether packets of an endpoint share its channel with those of other classes.
    pub(crate) shared: bool,
    /// What can be set of schemes.
    pub(crate) tuning: &'a Tuning,
}

impl CongestionParams<'_> {
    /// What a packet takes at a pace, in picoseconds.
    pub(crate) fn long(&self, pace: u64) -> u64 {
        (u64::from(self.wire) * pace) >> 16
    }

    /// Bytes that a pair may have under way on a channel of a pace: its scheme's part of what that carries in a round trip, and two
    /// packets at least.
    pub(crate) fn window(&self, pace: u64) -> u64 {
        part(self.window, (self.round << 16) / pace).max(2 * u64::from(self.wire))
    }
}
