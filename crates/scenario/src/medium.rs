//! What carries messages: the depth of a simulation, with its options.

use darkfiber_flowsim::EXACT;
use darkfiber_packetsim::routing::{Adaptive, Kind};
use darkfiber_packetsim::{SwitchModel, TrafficClass};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Depth, Error, PacketsPart};

/// What carries messages.
#[derive(Clone, Debug)]
pub enum Medium {
    /// Channels count bytes; no time passes.
    Count,
    /// Messages share channels max-min fairly.
    Flow(Sharing),
    /// Messages never meet (LogGP).
    Formula,
    /// Packets in switches.
    Packet(Box<PacketOptions>),
}

impl Medium {
    /// How deep it looks.
    pub fn depth(&self) -> Depth {
        match self {
            Self::Count => Depth::Count,
            Self::Flow(_) => Depth::Flow,
            Self::Formula => Depth::LogGp,
            Self::Packet(_) => Depth::Packet,
        }
    }

    /// What is asked of packets, at that depth.
    pub fn packets(&self) -> Option<&PacketOptions> {
        match self {
            Self::Packet(options) => Some(options),
            _ => None,
        }
    }
}

/// How messages share channels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sharing {
    /// Messages of at most this many bytes do not share.
    pub small: u64,
    /// A message may end late by this part of the time that it flows; [`EXACT`] or more.
    pub precision: f64,
}

impl Default for Sharing {
    /// All share, exactly.
    fn default() -> Self {
        Self { small: 0, precision: EXACT }
    }
}

/// What is asked of packets.
#[derive(Clone, Debug)]
pub struct PacketOptions {
    /// What switches are like.
    pub micro: SwitchModel,
    /// Virtual lanes; as many as the routing needs without.
    pub lanes: Option<u8>,
    /// Where packets go.
    pub routing: &'static Kind,
    /// Bytes of a packet at most.
    pub bytes: u32,
    /// What of the routing's comparison of paths is to be different.
    pub adaptive: Adaptive,
    /// In how many parts the network is simulated side by side, which nothing that comes out depends on; as many as suit the
    /// threads without.
    pub parts: Option<usize>,
}

impl PacketOptions {
    /// Packets of at most this many bytes, by a routing with as many lanes as it needs.
    pub fn new(micro: SwitchModel, routing: &'static Kind, bytes: u32) -> Self {
        let adaptive = Adaptive::default();
        Self { micro, lanes: None, routing, bytes, adaptive, parts: None }
    }

    /// What a scenario says of packets, with its traffic classes.
    pub(crate) fn of(part: &PacketsPart, classes: Vec<TrafficClass>) -> Result<Self, Error> {
        let mut micro = part.switches().micro();
        if let Some(bytes) = part.shared_buffer {
            micro.shared_buffer = bytes.short();
        }
        if let Some(bytes) = part.buffer {
            micro.buffer = bytes.short();
        }
        if let Some(queues) = part.queues {
            micro.queues = queues.0.1;
        }
        if let Some(arbitration) = part.arbitration {
            micro.arbitration = arbitration.0.1;
        }
        if let Some(interleave) = part.interleave {
            micro.interleave = interleave.0.1;
        }
        if let Some(congestion) = &part.congestion {
            let tuned = congestion.tuned().map_err(|e| e.inside("congestion").inside("packets"))?;
            micro = tuned.on(micro);
        }
        if let Some(framing) = part.framing {
            micro.framing = framing.0;
        }
        micro.bit_errors = part.bit_errors.0;
        micro.classes = classes;
        let a = &part.adaptive;
        let adaptive = Adaptive {
            minimal: a.minimal,
            round: a.round,
            bias: a.bias.map(crate::value::Bytes::short),
            news: a.news.map(|time| time.0),
        };
        let bytes = part.size.map_or(2048, crate::value::Bytes::short);
        Ok(Self { lanes: part.lanes, adaptive, ..Self::new(micro, part.routing(), bytes) })
    }
}

/// What a simulation took, in the units of its depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Effort {
    /// Counting.
    Count {
        /// Pairs of terminals and paths whose bytes were counted.
        paths: u64,
    },
    /// Sharing channels.
    Flow {
        /// Messages that shared channels.
        flows: u64,
        /// How often rates were recomputed.
        solves: u64,
        /// Events of ranks and messages.
        events: u64,
    },
    /// The formula.
    Formula {
        /// Events of ranks and messages.
        events: u64,
    },
    /// Packets.
    Packet {
        /// Packets that arrived.
        packets: u64,
        /// Packets times switches that they crossed.
        hops: u64,
        /// Events of ranks, messages and switches.
        events: u64,
    },
}
