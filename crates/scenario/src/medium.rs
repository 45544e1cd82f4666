//! The model of messages: the depth of a simulation, with its options.

use darkfiber_fabric::{ChannelId, Fabric, Shape, SwitchId, Topology};
use darkfiber_flowsim::EXACT;
use darkfiber_packetsim::routing::{Adaptive, RoutingKind};
use darkfiber_packetsim::{Pfc, SwitchModel, TrafficClass, draw_cables};
use schemars::JsonSchema;
use serde::Serialize;

use crate::lane_fault::lane_faults;
use crate::pause_storm::storms;
use crate::value::{Bytes, Degraded, Overhead};
use crate::{CostPart, Depth, Error, PacketsPart};

/// The model of messages.
#[derive(Clone, Debug)]
pub enum Medium {
    /// Channels count bytes; no time passes.
    Count,
    /// Messages share channels max-min fairly.
    Flow(Sharing),
    /// Messages never meet (LogGP).
    Formula,
    /// Packets in simulated switches.
    Packet(Box<PacketOptions>),
}

impl Medium {
    /// Depth of the simulation.
    pub fn depth(&self) -> Depth {
        match self {
            Self::Count => Depth::Count,
            Self::Flow(_) => Depth::Flow,
            Self::Formula => Depth::LogGp,
            Self::Packet(_) => Depth::Packet,
        }
    }

    /// What messages of this many bytes together cost to simulate: their packets, if all are equal, or one each where there are no
    /// packets.
    pub fn cost(&self, messages: f64, bytes: f64) -> f64 {
        let packet = self.packets().map_or(f64::INFINITY, |o| f64::from(o.bytes.max(1)));
        (bytes / packet).max(messages)
    }

    /// The options of packets, at that depth.
    pub fn packets(&self) -> Option<&PacketOptions> {
        match self {
            Self::Packet(options) => Some(options),
            _ => None,
        }
    }
}

/// Sharing of channels among messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sharing {
    /// Messages of at most this many bytes do not share.
    pub small: u64,
    /// A message may end late by this part of the time that it flows; [`EXACT`] or more.
    pub precision: f64,
}

impl Default for Sharing {
    /// Exact sharing among all flows.
    fn default() -> Self {
        Self { small: 0, precision: EXACT }
    }
}

/// Options of the packet depth.
#[derive(Clone, Debug)]
pub struct PacketOptions {
    /// Model of the switches.
    pub micro: SwitchModel,
    /// Virtual lanes; as many as the routing needs without.
    pub lanes: Option<u8>,
    /// Routing of packets.
    pub routing: &'static RoutingKind,
    /// Bytes of a packet at most.
    pub bytes: u32,
    /// Changes to the routing's comparison of paths.
    pub adaptive: Adaptive,
    /// Number of parts of the network that are simulated in parallel; no result depends on it; `None`: as many as suit the
    /// threads.
    pub parts: Option<usize>,
    /// Iterations of a single job that take the same time are multiplied, if the end of the run is wrong by no more than this part of
    /// it.
    pub precision: Option<f64>,
}

impl PacketOptions {
    /// Packets of at most this many bytes, by a routing with as many lanes as it needs.
    pub fn new(micro: SwitchModel, routing: &'static RoutingKind, bytes: u32) -> Self {
        let adaptive = Adaptive::default();
        Self { micro, lanes: None, routing, bytes, adaptive, parts: None, precision: None }
    }

    /// The options of packets and cables in a scenario, with its traffic classes.
    pub(crate) fn of(
        part: &PacketsPart,
        cost: &CostPart,
        classes: Vec<TrafficClass>,
    ) -> Result<Self, Error> {
        let mut micro = part.switches().micro();
        let latency = |time: Overhead| u32::try_from(time.0.0).unwrap_or(u32::MAX);
        micro.cable = cost.cable.map(latency).or(micro.cable);
        micro.host_cable = cost.host_cable.map(latency).or(micro.host_cable);
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
        micro.flowlet = part.flowlet.map(|gap| gap.0);
        micro.reorder = part.reorder_window.map(|window| window.0 as u8);
        micro.pfc = part.pfc.map(|pfc| Pfc { xoff: pfc.xoff.short(), xon: pfc.xon.short() });
        let reorders = micro.flowlet.is_some() || micro.reorder.is_some();
        micro.ordered = part.ordered.unwrap_or(micro.ordered && !reorders);
        if let Some(congestion) = &part.congestion {
            let tuned = congestion.tuned().map_err(|e| e.inside("congestion").inside("packets"))?;
            micro = tuned.on(micro);
        }
        if let Some(framing) = part.framing {
            micro.framing = framing.0;
        }
        if let Some(latency) = part.cable {
            micro.cable = Some(latency.short());
        }
        micro.bit_errors = part.bit_errors.0;
        micro.replay = part.replay.map(crate::value::Bytes::short);
        if let Some(fec) = part.fec {
            micro.fec = u32::try_from(fec.0.0).unwrap_or(u32::MAX);
        }
        micro.classes = classes;
        let a = &part.adaptive;
        let adaptive = Adaptive {
            minimal: a.minimal,
            round: a.round,
            bias: a.bias.map(Bytes::short),
            news: a.news.map(|time| time.0),
        };
        let bytes = part.size.map_or(micro.packet, Bytes::short);
        let precision = cost.precision.map(|part| part.0).filter(|&part| part > 0.0);
        let new = Self::new(micro, part.routing(), bytes);
        let options = Self { lanes: part.lanes, adaptive, precision, ..new };
        options.check()?;
        Ok(options)
    }

    /// Refuses values that no switch can have, whatever the fabric and the lanes that its routing needs.
    fn check(&self) -> Result<(), Error> {
        let lanes = self.lanes.unwrap_or(1);
        let micro = SwitchModel { lanes, ..self.micro.clone() };
        let checked = micro.check(micro.framing.frame(self.bytes));
        checked.map_err(|e| Error::usage(e).inside("packets"))
    }

    /// Gives the cables of this fabric their widths and latencies.
    pub(crate) fn wire(
        &mut self,
        part: &PacketsPart,
        topology: &Topology,
        seed: u64,
    ) -> Result<(), Error> {
        let fabric = &topology.fabric;
        self.micro.storms = storms(&part.pause_storm, fabric)?;
        self.micro.lane_faults = lane_faults(&part.lane_fault, fabric, seed)?;
        if let Some(degraded) = part.degraded {
            self.micro.widths = widths(degraded, fabric, seed);
        }
        if let Some(long) = part.global_cable {
            let Some(Shape::Dragonfly(d)) = &topology.shape else {
                return Err(Error::usage("there are groups on dragonflies only")
                    .inside("global-cable")
                    .inside("packets"));
            };
            let group = |s: SwitchId| d.group[s.index()];
            let latency = |c: ChannelId| {
                let global = group(fabric.tail(c)) != group(fabric.head(c));
                if global { long.short() } else { self.micro.link(fabric, c).0 }
            };
            self.micro.latencies =
                (0..fabric.channel_count()).map(ChannelId::new).map(latency).collect();
        }
        self.check()
    }
}

/// By channel, the part of its lanes that works.
fn widths(degraded: Degraded, fabric: &Fabric, seed: u64) -> Vec<f32> {
    let mut widths = vec![1.0; fabric.channel_count()];
    for cable in draw_cables(fabric, degraded.share.into(), seed) {
        for c in [cable, fabric.reverse(cable)] {
            widths[c.index()] = degraded.part;
        }
    }
    widths
}

/// What a simulation took, in the units of its depth.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Effort {
    /// Counting.
    Count {
        /// Pairs of terminals and paths whose bytes were counted.
        paths: u64,
        /// Whether messages were divided over several paths of which each takes one: times are no lower bounds then.
        divided: bool,
    },
    /// Sharing channels.
    Flow {
        /// Messages that shared channels.
        flows: u64,
        /// How often rates were recomputed.
        solves: u64,
        /// Events of ranks and messages.
        events: u64,
        /// Of these events, those that were multiplied: what a program repeats exactly is run twice or so.
        repeated: u64,
    },
    /// The formula.
    Formula {
        /// Events of ranks and messages.
        events: u64,
        /// Of these, those that were multiplied.
        repeated: u64,
    },
    /// Packets.
    Packet {
        /// Packets that arrived.
        packets: u64,
        /// Packets times switches that they crossed.
        hops: u64,
        /// Packets that switches dropped (in lossy traffic classes, and under `reserve`), and that were sent again.
        dropped: u64,
        /// Events of ranks, messages and switches.
        events: u64,
        /// Of these, those that were multiplied: iterations that take the same time within `precision` of `[cost]`.
        repeated: u64,
        /// By what part of it the end may be wrong because of that.
        error: f64,
    },
}
