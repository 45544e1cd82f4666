//! Congestion control: what sources hold back so that no queue grows before an endpoint. One file for each scheme.

mod outbox;
mod pairs;

pub(crate) use outbox::{Outbox, Turn};
pub(crate) use pairs::End;

use serde::{Deserialize, Serialize};

use crate::{Micro, Net};

/// What holds sources back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Congestion {
    /// Nothing but room in the first switch.
    #[default]
    None,
    /// Every pair of endpoints by itself, as the endpoint's last switch says in acknowledgements.
    Pairs,
}

/// A scheme, by name.
pub struct Scheme {
    /// What users write.
    pub name: &'static str,
    /// Which.
    pub congestion: Congestion,
    /// In half a line.
    pub summary: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Where it is from.
    pub paper: &'static str,
}

/// All of them.
pub static CONGESTIONS: [Scheme; 2] = [
    Scheme {
        name: "none",
        congestion: Congestion::None,
        summary: "nothing: sources send what the first switch has room for",
        doc: "Whoever waits for a slow endpoint fills the buffers before it, and those before them: a tree of congestion that \
              holds up whoever crosses it. As Aries does.",
        paper: "De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect (SC'20), section III",
    },
    Scheme {
        name: "pairs",
        congestion: Congestion::Pairs,
        summary: "every pair of endpoints by itself, within a round trip, as Slingshot's effect is described",
        doc: "A scheme of darkfiber's own that does what Slingshot is said to do. Every packet is acknowledged, by a message that waits \
              for nobody. A pair of endpoints has at most a round trip's worth of bytes under way. The last switch counts the sources \
              that send to an endpoint; when more than half a round trip's worth of bytes waits for the endpoint there, \
              acknowledgements tell each of these pairs its share of the endpoint's rate, and no other pair anything. \
              Shares are corrected once a round trip by what waits, up to what nobody else uses, and pairs are let go \
              when they would get all of it. docs/congestion.md has it step by step.",
        paper: "De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect (SC'20), section II-D, for what it must do",
    },
];

/// What an acknowledgement tells a source.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Ack {
    /// The source, and the endpoint that it sent to.
    pub(crate) source: u32,
    pub(crate) endpoint: u32,
    /// Bytes of the packet.
    pub(crate) bytes: u32,
    /// Picoseconds that 2^16 bytes of the pair are to take; 0: no matter.
    pub(crate) pace: u64,
}

/// What all pairs of a network go by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// What a round trip takes at most where nothing waits, in picoseconds.
    pub(crate) round: u64,
    /// Bytes of a packet at most.
    pub(crate) most: u32,
}

impl Terms {
    /// Of a network: way there and back of five channels, and a packet of so many bytes.
    pub(crate) fn new(net: &Net, micro: &Micro, bytes: u32) -> Self {
        let way = 5 * (net.slowest(0) + micro.pipeline + micro.spread);
        Self { round: 2 * way + net.slowest(bytes), most: bytes }
    }

    /// What a packet takes at a pace, in picoseconds.
    pub(crate) fn long(&self, pace: u64) -> u64 {
        (u64::from(self.most) * pace) >> 16
    }

    /// Bytes that a channel carries in a round trip, and two packets at least.
    pub(crate) fn window(&self, pace: u64, bytes: u32) -> u64 {
        ((self.round << 16) / pace).max(2 * u64::from(bytes))
    }
}
