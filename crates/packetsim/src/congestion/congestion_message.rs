//! What sources, endpoints and switches tell each other.

use serde::{Deserialize, Serialize};

use crate::message::Message;

/// What a source, or an endpoint, hears of the other: an acknowledgement and what a scheme says with it, or that alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct CongestionMessage {
    /// The source, and the endpoint that it sends to.
    pub(crate) source: u32,
    pub(crate) endpoint: u32,
    /// The traffic class.
    pub(crate) class: u8,
    /// Whether the endpoint hears it, not the source.
    pub(crate) to_endpoint: bool,
    /// Bytes that have arrived; to an endpoint: that were lost on their way to it.
    pub(crate) bytes: u32,
    /// What a scheme says; 0: nothing.
    pub(crate) says: u64,
    /// Bytes have not arrived, but were dropped: what is to be sent again.
    pub(crate) lost: Option<Message>,
    /// With a reorder window, the oldest packet that the endpoint misses: it has all before that.
    pub(crate) in_order: Option<u8>,
}

/// A note that a switch sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notification {
    /// When it is heard.
    pub(crate) when: u64,
    pub(crate) note: CongestionMessage,
    /// Bytes that waited for the endpoint where a packet was dropped unasked: what the endpoint's side makes of that is said with
    /// the note.
    pub(crate) waits: Option<u32>,
    /// A port of the switch that sends it.
    pub(crate) port: u32,
}

impl CongestionMessage {
    /// Who hears it.
    pub(crate) fn to(&self) -> u32 {
        if self.to_endpoint { self.endpoint } else { self.source }
    }
}
