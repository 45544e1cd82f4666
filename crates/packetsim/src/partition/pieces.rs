//! Packets that are sent and received flit by flit, and their progress.

use serde::{Deserialize, Serialize};

/// The rest of the packet that a terminal is sending.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rest {
    /// Bytes of it, none if it sends none, and those of them that do not belong to its message.
    pub(super) bytes: u32,
    pub(super) pad: u16,
    /// When it was created, in picoseconds.
    pub(super) born: u64,
    /// Terminal that it goes to, and its message.
    pub(super) to: u32,
    pub(super) message: u32,
    pub(super) group: u16,
    pub(super) path: u8,
    pub(super) lane: u8,
    /// Whether its head has left.
    pub(super) begun: bool,
}

impl Rest {
    /// Whether all that it names is there.
    pub(super) fn fits(&self, terminals: u32, lanes: u8) -> bool {
        self.to < terminals && self.lane < lanes && u32::from(self.pad) <= self.bytes
    }
}

/// The part of a packet that has arrived.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Piece {
    pub(super) bytes: u32,
    pub(super) pad: u16,
    /// Terminal that it comes from.
    pub(super) from: u32,
}
