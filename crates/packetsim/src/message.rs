//! Messages that terminals send, and those that have arrived.

use darkfiber_workload::play::Connection;
use serde::{Deserialize, Serialize};

use crate::packet::Packet;

/// A message that a terminal has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Message {
    /// Number that its sender gave it.
    pub(crate) number: u32,
    /// Terminal that it goes to.
    pub(crate) to: u32,
    /// Bytes that are not sent yet.
    pub(crate) bytes: u64,
    /// The group that it is counted with.
    pub(crate) group: u16,
    /// Index of its path among several that tables have; without, the one that the routing has for its source.
    pub(crate) path: Option<u8>,
    /// Traffic class of the message.
    pub(crate) class: u8,
    /// The connection that sends it after what departed before; without, it waits for no other.
    pub(crate) connection: Option<Connection>,
    /// When its packets were created, in picoseconds; without, each when it leaves.
    pub(crate) born: Option<u64>,
}

/// A packet that is at its destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) packet: Packet,
    /// When its last byte is.
    pub(crate) when: u64,
    /// By how many packets it is ahead of the oldest one of its pair that was missing, if they are counted.
    pub(crate) ahead: Option<u8>,
}
