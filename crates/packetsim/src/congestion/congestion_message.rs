//! Messages between sources, endpoints and switches.

use serde::{Deserialize, Serialize};

use crate::message::Message;

/// A message to a source, or to an endpoint: an acknowledgement with the data of a scheme, or the data alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct CongestionMessage {
    /// The source, and the endpoint that it sends to.
    pub(crate) source: u32,
    pub(crate) endpoint: u32,
    /// Traffic class of the packets.
    pub(crate) class: u8,
    /// Whether the endpoint hears it, not the source.
    pub(crate) to_endpoint: bool,
    /// Bytes that have arrived; to an endpoint: bytes that were lost on their way to it.
    pub(crate) bytes: u32,
    /// Data of the scheme; 0: none.
    pub(crate) says: u64,
    /// Set if bytes have not arrived, but were dropped.
    pub(crate) lost: Option<Lost>,
    /// With a reorder window, the oldest packet that the endpoint misses: it has all before that.
    pub(crate) in_order: Option<u8>,
}

/// A packet that was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Lost {
    /// The data to be sent again.
    pub(crate) message: Message,
    /// Mark of the packet.
    pub(crate) mark: u8,
}

/// A note that a switch sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notification {
    /// When it is heard.
    pub(crate) when: u64,
    pub(crate) note: CongestionMessage,
    /// Bytes that waited for the endpoint where an unsolicited packet was dropped: the reply of the endpoint's side to that is
    /// part of the note.
    pub(crate) waits: Option<u32>,
    /// A port of the switch that sends it.
    pub(crate) port: u32,
}

impl CongestionMessage {
    /// The terminal that receives the message.
    pub(crate) fn to(&self) -> u32 {
        if self.to_endpoint { self.endpoint } else { self.source }
    }
}
