//! State of the ports of a switch and their lanes.

use serde::{Deserialize, Serialize};

use crate::packet::NOBODY;
use crate::{Port, SwitchModel};

/// An output of a switch: a line of the cache.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(align(64))]
pub struct OutPort {
    /// When its channel is free, in picoseconds.
    pub(super) channel: u64,
    /// When its side of the crossbar is, in picoseconds.
    pub(super) crossbar: u64,
    /// Since when it has packets to send, but no credits, in picoseconds; [`MOVES`] if that is not so.
    pub(super) stuck: u64,
    /// Total time of that, in picoseconds.
    pub(crate) stalled: u64,
    /// Bytes that it has sent, or has granted to send next.
    pub(crate) carried: u64,
    /// Bytes that were sent and whose credits the next switch has not returned.
    pub used: u32,
    /// Bytes that wait for it in this switch.
    pub queued: u32,
    /// Bytes of shared buffer space at the next switch, which belongs to no lane.
    pub(super) pool: u32,
    /// Lanes in which packets wait for it at the front of their queues.
    pub(super) lanes: u64,
    /// The lane, or the queue that an offer is for, that is looked at first.
    pub(super) turn: u16,
    /// Whether it will be woken.
    pub(super) woken: bool,
    /// With tiles: the row that is granted next.
    pub(super) row: u8,
}

impl OutPort {
    /// See [`crate::routing::SwitchView::pressing`].
    #[inline]
    pub(crate) fn pressing(&self, port: &Port) -> u32 {
        self.queued + self.used.saturating_sub(port.in_flight_bytes)
    }
}

/// Bytes that wait for an output, of one class.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Waiting {
    /// Part of [`OutPort::queued`] of the class.
    pub(super) queued: u32,
    /// Part of [`OutPort::used`] of the class.
    pub(super) used: u32,
}

impl Waiting {
    /// See [`crate::routing::SwitchView::pressing`].
    #[inline]
    pub(crate) fn pressing(self, port: &Port) -> u32 {
        self.queued + self.used.saturating_sub(port.in_flight_bytes)
    }
}

/// A lane of an output.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Lane {
    /// Credits of the lane's dedicated buffer at the next switch; `borrowed` are those of the shared buffer that it
    /// uses.
    pub(crate) room: u32,
    pub(super) borrowed: u32,
    /// Packets that wait for it at the front of their queues, in the order in which they came there: the first and the last.
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Lane {
    /// The lanes of a port to a switch, or of a terminal to its first: each with the buffer of its traffic class.
    pub(crate) fn of_port(micro: &SwitchModel) -> impl Iterator<Item = Self> {
        let room = |lane: u32| micro.buffer_space(lane >> micro.lane_bits());
        (0..1u32 << micro.all_lane_bits()).map(move |lane| Self {
            room: room(lane),
            borrowed: 0,
            first: NOBODY,
            last: NOBODY,
        })
    }

    /// Takes credits: its own first. Returns the bytes taken from the shared buffer.
    #[inline]
    pub(crate) fn take(&mut self, bytes: u32) -> u32 {
        let shared = bytes.saturating_sub(self.room);
        self.room -= bytes - shared;
        self.borrowed += shared;
        shared
    }

    /// Returns credits: borrowed ones go back first, this number of bytes.
    #[inline]
    pub(crate) fn give(&mut self, bytes: u32) -> u32 {
        let shared = bytes.min(self.borrowed);
        self.borrowed -= shared;
        self.room += bytes - shared;
        shared
    }
}

/// An input: outputs look at many adjacent ones.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct InPort {
    /// When its side of the crossbar is free, in picoseconds.
    pub(super) crossbar: u64,
    /// The output whose offer it prefers.
    pub(super) turn: u16,
    /// Whether it will be woken.
    pub(super) woken: bool,
}

/// An output has nothing to send, or has credits.
pub(super) const MOVES: u64 = u64::MAX;
