//! Packets as congestion control sees them.

use serde::{Deserialize, Serialize};

/// State of an output's queue, if its scheme needs it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct OutputQueueState {
    /// Bytes until the next packet that is sampled, and the queue length at the last one.
    pub(super) until: i64,
    pub(super) was: i64,
}

/// A packet that leaves an output, as schemes see it.
pub(crate) struct DepartingPacket {
    /// Bytes of its class that wait behind it, and its own.
    pub(crate) waits: u32,
    pub(crate) bytes: u32,
    /// Picoseconds that 2^16 bytes take on the output's channel.
    pub(crate) pace: u64,
    /// Whether the output lacked credits before.
    pub(crate) was_held: bool,
}

/// A packet that is about to be at its endpoint.
pub(crate) struct ArrivingPacket {
    /// When it leaves the last switch.
    pub(crate) now: u64,
    /// Source of the packet.
    pub(crate) source: u32,
    /// Its bytes on the channel, and those of its message.
    pub(crate) bytes: u32,
    pub(crate) payload: u32,
    /// Bytes of its class that wait for the endpoint in the last switch, and the time of 2^16 bytes on its channel.
    pub(crate) waits: u32,
    pub(crate) pace: u64,
    /// Bytes that the endpoint's channel has carried in all.
    pub(crate) carried: u64,
    /// Minimum time until a packet that is sent in response to this one can be at the same place.
    pub(crate) round: u64,
    /// Mark of the packet.
    pub(crate) mark: u8,
    /// Whether it does not arrive, but was dropped, and will come again.
    pub(crate) is_dropped: bool,
}
