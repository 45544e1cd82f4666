//! Congestion parameters that all pairs of a network share.

use super::kind::Congestion;
use super::tuning::{Tuning, part};

/// Congestion parameters that all pairs of a network share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CongestionParams<'a> {
    /// The congestion control scheme.
    pub(crate) congestion: Congestion,
    /// Maximum unloaded latency of a path, and of a round trip with a packet, in picoseconds.
    pub(crate) one_way: u64,
    pub(crate) round: u64,
    /// Bytes that a pair may have in flight, as part ([`super::tuning::ONE`]) of the bytes that its channel carries
    /// in a round trip.
    pub(crate) window: u64,
    /// Bytes of a message in a packet at most, and those of a packet on a channel.
    pub(crate) most: u32,
    pub(crate) wire: u32,
    /// The number of terminals.
    pub(crate) terminals: usize,
    /// Packets of a pair that may be in flight, counted from the oldest one that its endpoint is missing.
    pub(crate) reorder: Option<u8>,
    /// Whether packets of an endpoint share its channel with those of other classes.
    pub(crate) shared: bool,
    /// Parameter values of the schemes.
    pub(crate) tuning: &'a Tuning,
}

impl CongestionParams<'_> {
    /// Serialization time of a packet at a pace, in picoseconds.
    pub(crate) fn long(&self, pace: u64) -> u64 {
        (u64::from(self.wire) * pace) >> 16
    }

    /// Bytes that a pair may have in flight on a channel of a pace: its scheme's part of the bytes that it carries in a round trip,
    /// and at least two packets.
    pub(crate) fn window(&self, pace: u64) -> u64 {
        part(self.window, (self.round << 16) / pace).max(2 * u64::from(self.wire))
    }
}
