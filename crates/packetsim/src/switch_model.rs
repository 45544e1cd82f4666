//! Parameters of switches, hosts and cables.

use darkfiber_fabric::{ChannelId, Fabric, LinkClass, Registry, TerminalId, Unknown};

use crate::reorder::MOST_WINDOW;
use crate::{
    Congestion, FRAMINGS, Framing, LaneFault, PauseStorm, Pfc, Random, TrafficClass, Tuning, WHOLE,
};

/// Organization of the queues at the input of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// One queue for each lane: a packet that waits for its output delays those behind it.
    Lanes,
    /// One queue for each output and lane (virtual output queues): no packet waits for another's output.
    Outputs,
    /// One queue for each output and lane in a memory that all inputs write to at once: an output-queued switch. Packets of a
    /// queue leave in order of arrival; their buffer space belongs to their input until they have left.
    Memory,
}

/// Rule by which an output selects the next packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// Inputs and lanes by turns.
    RoundRobin,
    /// The packet that was created first.
    Age,
    /// Outputs make offers to inputs, inputs accept one offer, each round robin, repeated until no match is left. Pointers
    /// advance only where the first offer was accepted (N. McKeown, The iSLIP Scheduling Algorithm for Input-Queued
    /// Switches, IEEE/ACM Trans. Networking 7, 1999).
    Islip,
    /// Rows of tiles round robin, and first come, first served within a row, as in Rosetta (see [`crate::Tile`]).
    Tiles,
}

/// Mechanism that keeps packets of a pair on the path of those before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathPinning {
    /// Packets are independent of each other.
    Free,
    /// They follow packets that are in flight: they stay in order.
    UnderWay,
    /// They follow packets that have passed in the last N picoseconds.
    Flowlets(u64),
}

/// The unit of transmission on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interleave {
    /// Packets: the next one begins when the previous one is through, and has credits for its full length (virtual
    /// cut-through).
    Packets,
    /// Flits, of as many bytes as the quickest channel carries in a tick: packets in different lanes take turns flit by flit, and lie in
    /// as many buffers as they need. A lane of a channel is of one packet until its tail has left.
    Flits,
}

/// Names of the interleavings for users.
pub static INTERLEAVES: Registry<(&str, Interleave)> = Registry::new(
    "interleaving",
    &[("packets", Interleave::Packets), ("flits", Interleave::Flits)],
);

/// Names of the queue organisations for users.
pub static QUEUES: Registry<(&str, Queues)> = Registry::new(
    "kind of queues",
    &[("lanes", Queues::Lanes), ("outputs", Queues::Outputs), ("memory", Queues::Memory)],
);

/// Names of the arbitrations for users.
pub static ARBITRATIONS: Registry<(&str, Arbitration)> = Registry::new(
    "arbitration",
    &[
        ("round-robin", Arbitration::RoundRobin),
        ("age", Arbitration::Age),
        ("islip", Arbitration::Islip),
        ("tiles", Arbitration::Tiles),
    ],
);

/// A microarchitecture. Times are in picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchModel {
    /// Decisions are made at multiples of this; nothing in a switch is quicker.
    pub tick: u64,
    /// Virtual lanes of a channel.
    pub lanes: u8,
    /// Maximum data bytes of a packet, unless set otherwise.
    pub packet: u32,
    /// Buffer bytes of an input for each lane, unless its traffic class sets another value, and bytes shared by lanes that need more
    /// than their own: no lane waits for the buffer of another one as long as its own is free. Adapters have the same in their first
    /// switch.
    pub buffer: u32,
    /// The shared buffer bytes of an input; see [`SwitchModel::buffer`].
    pub shared_buffer: u32,
    /// Bytes that may wait behind the crossbar at each output, and at least as many as a channel takes while the pipeline takes its
    /// longest; none: as many as the next switch has buffer space for.
    pub output_buffer: Option<u32>,
    /// Organization of the queues.
    pub queues: Queues,
    /// Rule by which outputs select packets.
    pub arbitration: Arbitration,
    /// The unit of transmission on a channel.
    pub interleave: Interleave,
    /// The crossbar is this many times as fast as a channel.
    pub speedup: u32,
    /// Minimum time from the arrival of a head to its departure, without contention.
    pub pipeline: u64,
    /// By how much it may take longer: by the sum of two even draws of half of this, so that the mean and the median are in the
    /// middle.
    pub spread: u64,
    /// Latency of a credit in addition to that of the cable.
    pub credit: u64,
    /// Latency of every cable between switches, instead of that of its class.
    pub cable: Option<u32>,
    /// Latency of every cable to a host, instead of that of its class.
    pub host_cable: Option<u32>,
    /// Picoseconds that 2^16 bytes take on every cable, instead of those of its class.
    pub pace: Option<u64>,
    /// The part of a cable's data rate that carries packets.
    pub payload: f64,
    /// Overhead of packets on channels.
    pub framing: &'static Framing,
    /// Maximum rate at which a terminal sends and receives, in bytes a second.
    pub adapter: f64,
    /// Rate of cables between switches, in bytes a second, instead of that of their class.
    pub cable_rate: Option<f64>,
    /// Latencies of single channels, by id; empty, or one for each channel.
    pub latencies: Vec<u32>,
    /// Of single channels, by id, the part of their lanes that works; empty, or one for each channel.
    pub widths: Vec<f32>,
    /// Lanes that stop working during a run.
    pub lane_faults: Vec<LaneFault>,
    /// Latency of forward error correction behind every cable, in picoseconds; included in the latency of cables for which it is
    /// specified.
    pub fec: u32,
    /// Bytes that an output to another switch may have sent that are not acknowledged by the other end; it holds them to send them
    /// again; none: no limit. An acknowledgement has the latency of a credit.
    pub replay: Option<u32>,
    /// Congestion control scheme.
    pub congestion: Congestion,
    /// Parameter values of that scheme.
    pub tuning: Tuning,
    /// Whether packets of a pair of endpoints stay in order where their traffic class does not say otherwise.
    pub ordered: bool,
    /// Flowlet switching, where order is not kept: a switch sends packets of a pair on the path of those before them, until none has
    /// passed for this time, in picoseconds; without it each packet is routed separately.
    ///
    /// E. Vanini et al., Let It Flow: Resilient Asymmetric Load Balancing with Flowlet Switching (NSDI'17), section 3.
    pub flowlet: Option<u64>,
    /// Packets of a pair that may be in flight, counted from the oldest one that its endpoint is missing, where order is not kept: up
    /// to 128; `None`: no limit.
    pub reorder: Option<u8>,
    /// When inputs pause their senders; without, credits do: while there is no buffer space for a packet.
    pub pfc: Option<Pfc>,
    /// Adapters that pause their switches for a while.
    pub storms: Vec<PauseStorm>,
    /// Traffic classes, each with as many lanes; empty: all packets are alike.
    pub classes: Vec<TrafficClass>,
    /// Probability that a bit is wrong behind a cable. A packet with a wrong bit is sent again by the sender of the cable, and all
    /// packets behind it as well (go-back-N): it takes its own length and a round trip of the cable once more.
    pub bit_errors: f64,
}

/// A microarchitecture, by name.
pub struct Preset {
    /// Name that users write.
    pub name: &'static str,
    /// In half a line.
    pub summary: &'static str,
    /// Description, and the source of the parameters.
    pub doc: &'static str,
    micro: fn() -> SwitchModel,
}

impl Preset {
    /// With one lane; routings say how many they need.
    pub fn micro(&self) -> SwitchModel {
        (self.micro)()
    }
}

/// All presets of switch models.
pub static MICROS: Registry<Preset> = Registry::new(
    "switch",
    &[
        Preset {
            name: "booksim-iq",
            summary: "BookSim2's input-queued router: a flit of 1 B a cycle of 1 ns",
            doc: "Packets of a flit. Queues by lane, 256 flits each, crossbar speed-up 2, two cycles from head to head, credits two cycles after the cable, one cycle to a host, unlimited output queues: as BookSim2 is configured with internal_speedup 2.0, routing_delay 0, vc_alloc_delay, sw_alloc_delay and st_final_delay 1, credit_delay 2. Packets are not cut into flits that mix on a channel. Cables between switches take a cycle, or what their class says. N. Jiang et al., A detailed and flexible cycle-accurate Network-on-Chip simulator (ISPASS'13).",
            micro: || cycles(SwitchModel { pipeline: 2000, credit: 2000, speedup: 2, ..QDR }),
        },
        Preset {
            name: "caminos-basic",
            summary: "CAMINOS' basic router: a phit of 1 B a cycle of 1 ns",
            doc: "Packets of a phit. Queues by lane, 256 phits each, virtual cut-through, output buffers of 32 phits, every channel of an input read at once (a speed-up of 8), no time in the router: the Basic router of CAMINOS 0.6.3.",
            micro: || {
                cycles(SwitchModel {
                    pipeline: 0,
                    credit: 0,
                    speedup: 8,
                    output_buffer: Some(32),
                    ..QDR
                })
            },
        },
        Preset {
            name: "qdr",
            summary: "InfiniBand switches of the QDR generation: 100 ns, virtual output queues",
            doc: "As on T2HX and Cab: 4 GB/s behind the coding, about 100 ns from port to port, MTU 2 KiB. Decisions, since nobody prints them: 16 KiB of buffer for each lane of a port, speed-up 1.5 rounded up to 2, round robin.",
            micro: || QDR,
        },
        Preset {
            name: "aries",
            summary: "Cray's Aries: 48 tiles, 100 ns, virtual output queues",
            doc: "Routers of Cascade, tiles as ports: packets of at most 64 B of data, 100 ns from port to port unloaded. Decisions: 8 KiB for each lane of a port, speed-up 1. B. Alverson et al., Cray XC Series Network (2012); Faanes et al., Cray Cascade (SC'12).",
            micro: || SwitchModel { packet: 64, buffer: 8 << 10, speedup: 1, ..QDR },
        },
        Preset {
            name: "rosetta",
            summary: "Slingshot's Rosetta: 64 ports of 200 Gbit/s, 350 ns, virtual output queues",
            doc: "Packets of 4 KiB, as RoCE's; 350 ns from port to port in the mean and the median, evenly 310 to 390 (De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect, SC'20, section II-A and figure 2); \
              that the lot is no wider is a decision: what figure 2 measures is of two switches. Decisions: 64 KiB for each lane of a port, speed-up 1 (its row buses and column channels), round robin.               Requests and grants take their time, but no room; congestion control is chosen by itself.",
            micro: rosetta,
        },
        Preset {
            name: "rosetta-tiles",
            summary: "Rosetta with its tiles: four rows of sixteen ports by turns",
            doc: "As rosetta; an output takes turns among the four rows of tiles, and of the sixteen ports of a row whichever asked \
              first, as crossbars of 16 inputs and 8 outputs a tile and four channels a port do (De Sensi et al., SC'20, section II-A and figure 1). \
              Port N of a switch is port N-1 there. Decision: data moves when the output has granted it, so that buses, \
              crossbars and column channels are taken with the output, and nothing else waits for them.",
            micro: || SwitchModel { arbitration: Arbitration::Tiles, ..rosetta() },
        },
    ],
);

darkfiber_fabric::named!(Preset);

/// The measured latency is that of two switches minus the mean of one: for at least 95 % of it to be within 300 to 400 ns each of
/// them must vary less than that.
fn rosetta() -> SwitchModel {
    SwitchModel {
        packet: 4096,
        ordered: true,
        buffer: 64 << 10,
        speedup: 1,
        pipeline: 310_000,
        spread: 80_000,
        ..QDR
    }
}

const QDR: SwitchModel = SwitchModel {
    tick: 1000,
    lanes: 1,
    packet: 2048,
    buffer: 16 << 10,
    shared_buffer: 0,
    output_buffer: Some(4096),
    queues: Queues::Outputs,
    arbitration: Arbitration::RoundRobin,
    interleave: Interleave::Packets,
    speedup: 2,
    pipeline: 100_000,
    spread: 0,
    credit: 10_000,
    cable: None,
    host_cable: None,
    pace: None,
    payload: 1.0,
    framing: &FRAMINGS.entries()[0],
    adapter: f64::INFINITY,
    cable_rate: None,
    latencies: Vec::new(),
    widths: Vec::new(),
    lane_faults: Vec::new(),
    fec: 0,
    replay: None,
    congestion: Congestion::None,
    tuning: Tuning::DEFAULT,
    ordered: false,
    flowlet: None,
    reorder: None,
    pfc: None,
    storms: Vec::new(),
    classes: Vec::new(),
    bit_errors: 0.0,
};

/// With cycles of a nanosecond, in which a byte passes everywhere.
fn cycles(micro: SwitchModel) -> SwitchModel {
    SwitchModel {
        packet: 1,
        buffer: 256,
        shared_buffer: 0,
        queues: Queues::Lanes,
        cable: Some(1000),
        host_cable: Some(1000),
        pace: Some(1000 << 16),
        ..micro
    }
}

/// Finds the switch model of that name.
///
/// # Errors
/// If there is no such model.
pub fn preset(name: &str) -> Result<&'static Preset, Unknown> {
    MICROS.get(name)
}

/// A microarchitecture that does not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(pub String);

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

/// For cables whose class gives no latency: light takes 5 ns a metre; five of them.
const CABLE: u32 = 25_000;

/// Maximum latency of a switch.
const MOST_PIPELINE: u64 = 1_000_000_000;

/// Maximum bytes of a packet: returned credits are encoded in 24 bits.
const LONGEST: u32 = (1 << 24) - 1;

impl SwitchModel {
    /// Refuses a model that cannot be simulated with packets of this size.
    ///
    /// # Errors
    /// If there is no lane or buffer space, or something is quicker than a tick.
    pub fn check(&self, bytes: u32) -> Result<(), ConfigError> {
        let impossible = |why: String| Err(ConfigError(why));
        if self.lanes == 0 {
            return impossible("there must be a virtual lane".to_owned());
        }
        if self.all_lane_bits() > 6 {
            return impossible(format!(
                "{} traffic classes of {} virtual lanes are more than the 64 lanes that there is room for (those of a class are \
                 rounded up to a power of two): fewer classes, or a routing with fewer lanes",
                self.class_count(),
                self.lanes
            ));
        }
        let least: u64 = self.classes.iter().map(|c| u64::from(c.least)).sum();
        if least > u64::from(WHOLE) + self.classes.len() as u64 {
            return impossible(format!(
                "traffic classes are owed {:.0} % of each channel together: at most 100 % can be",
                100.0 * least as f64 / f64::from(WHOLE)
            ));
        }
        if let Some(c) = self.classes.iter().find(|c| c.most == 0 || c.most < c.least) {
            return impossible(format!(
                "traffic class {} may have {:.0} % of a channel at most, and is owed {:.0} %: its most must be above 0 and its least",
                c.name,
                100.0 * f64::from(c.most) / f64::from(WHOLE),
                100.0 * f64::from(c.least) / f64::from(WHOLE)
            ));
        }
        for class in 0..self.class_count() as u32 {
            let buffer = self.buffer_space(class);
            let of = self.classes.get(class as usize).filter(|c| c.buffer.is_some());
            let of = of.map_or_else(String::new, |c| format!("traffic class {}: ", c.name));
            if self.interleave == Interleave::Packets && buffer < bytes {
                return impossible(format!(
                    "{of}a buffer of {buffer} B has no room for a packet of {bytes} B: make it larger, or packets smaller"
                ));
            }
            if buffer.checked_add(self.shared_buffer).is_none() {
                return impossible(format!(
                    "{of}buffers of {buffer} B for each lane and {} B for all of them are too large: 4 GiB together is most",
                    self.shared_buffer
                ));
            }
        }
        self.check_ethernet()?;
        if bytes > LONGEST {
            return impossible(format!(
                "a packet of {bytes} B is longer than {LONGEST} B: messages may be longer, and are sent in several packets"
            ));
        }
        if !(2..1 << 20).contains(&self.tick) || self.speedup == 0 {
            return impossible(
                "a tick must take 2 ps to 1 us, and the speed-up be 1 or more".to_owned(),
            );
        }
        if let Some(replay) = self.replay.filter(|r| *r < bytes) {
            return impossible(format!(
                "{replay} B to send again from have no room for a packet of {bytes} B: make it more, or packets smaller"
            ));
        }
        let mut widths = self.widths.iter().copied().chain(self.lane_faults.iter().map(|f| f.part));
        if widths.any(|w| !(0.0..=1.0).contains(&w) || w == 0.0) {
            return impossible("of a cable's lanes a part above 0 and up to 1 works".to_owned());
        }
        if self.pipeline > MOST_PIPELINE || self.spread > MOST_PIPELINE {
            return impossible("packets take at most a millisecond through a switch".to_owned());
        }
        if !(0.0..1e-3).contains(&self.bit_errors) {
            return impossible(
                "a bit is wrong with a probability of 0 to 0.001: beyond it no packet gets through"
                    .to_owned(),
            );
        }
        let quickest =
            u64::from(self.cable.unwrap_or(CABLE)).min(self.host_cable.unwrap_or(CABLE).into());
        if quickest < self.tick {
            return impossible(format!(
                "a cable takes {quickest} ps, less than a tick of {} ps",
                self.tick
            ));
        }
        Ok(())
    }

    /// Bytes that an input keeps for each lane of a class.
    pub(crate) fn buffer_space(&self, class: u32) -> u32 {
        self.classes.get(class as usize).and_then(|c| c.buffer).unwrap_or(self.buffer)
    }

    /// The rule that keeps packets of a class on one path.
    #[inline]
    pub(crate) fn order(&self, class: Option<&TrafficClass>) -> PathPinning {
        match self.flowlet {
            _ if class.and_then(|c| c.ordered).unwrap_or(self.ordered) => PathPinning::UnderWay,
            Some(gap) => PathPinning::Flowlets(gap),
            None => PathPinning::Free,
        }
    }

    /// Whether packets of any class stay in order.
    pub(crate) fn keeps_any_order(&self) -> bool {
        match &self.classes[..] {
            [] => self.ordered,
            all => all.iter().any(|c| self.order(Some(c)) == PathPinning::UnderWay),
        }
    }

    /// Whether sources hear of packets that arrive.
    pub(crate) fn acknowledges(&self, is_steady: bool) -> bool {
        self.congestion != Congestion::None
            || (!is_steady && self.keeps_any_order())
            || self.reorder.is_some()
            || self.classes.iter().any(|c| c.lossy)
    }

    /// Refuses windows, flowlets, pauses and storms that do not go with the rest.
    fn check_ethernet(&self) -> Result<(), ConfigError> {
        let impossible = |why: &str| Err(ConfigError(why.to_owned()));
        if self.flowlet.is_some() && self.ordered {
            return impossible(
                "packets either stay in order (ordered) or change their way between flowlets: one of both",
            );
        }
        if let Some(window) = self.reorder {
            if !(1..=MOST_WINDOW).contains(&window) {
                return impossible("a reorder window has 1 to 128 packets");
            }
            if self.keeps_any_order() {
                return impossible(
                    "packets that stay in order (ordered) need no reorder window: one of both",
                );
            }
            if self.classes.iter().any(|c| c.lossy) || self.congestion.drops_speculative() {
                return impossible(
                    "a reorder window counts packets that all arrive: lossy classes, and congestion control that drops packets, do not \
                     go with it",
                );
            }
        }
        if self.interleave == Interleave::Flits && (self.reorder.is_some() || self.pfc.is_some()) {
            return impossible("reorder windows and pauses are of whole packets, not of flits");
        }
        if let Some(pfc) = self.pfc {
            if self.shared_buffer > 0 {
                return impossible(
                    "pauses are by what a lane's own buffer holds: a shared buffer does not go with them",
                );
            }
            (0..self.class_count() as u32)
                .try_for_each(|class| pfc.check(self.buffer_space(class)).map_err(ConfigError))?;
        }
        if !self.storms.is_empty() && self.output_buffer.is_none() {
            return impossible(
                "these switches have output buffers without end, which a pause storm never fills: choose others",
            );
        }
        Ok(())
    }

    /// Number of classes of packets.
    pub(crate) fn class_count(&self) -> usize {
        self.classes.len().max(1)
    }

    /// Bits of the number of a lane among those of its class.
    pub(crate) fn lane_bits(&self) -> u32 {
        u32::from(self.lanes).next_power_of_two().trailing_zeros()
    }

    /// Bits of the number of a lane among all.
    pub(crate) fn all_lane_bits(&self) -> u32 {
        self.lane_bits() + self.class_count().next_power_of_two().trailing_zeros()
    }

    /// Latency of a channel in picoseconds, and the picoseconds that 2^16 bytes take.
    pub fn link(&self, fabric: &Fabric, c: ChannelId) -> (u32, u64) {
        let (latency, pace) = self.whole_link(fabric, c);
        let width = self.widths.get(c.index()).copied().unwrap_or(1.0);
        (latency, slower(pace, width))
    }

    /// The same if all lanes of the cable work.
    pub(crate) fn whole_link(&self, fabric: &Fabric, c: ChannelId) -> (u32, u64) {
        let stated = self.latencies.get(c.index()).copied().or(self.cable);
        let class = fabric.class_of(c);
        let rate = self.cable_rate.unwrap_or(class.bytes_per_second as f64 * self.payload);
        self.of_class(class, stated, rate)
    }

    /// Mean latency of a switch from head to head, in picoseconds.
    pub fn mean_pipeline(&self) -> u64 {
        self.pipeline + self.spread / 2
    }

    /// Latency of a switch from head to head, at random.
    #[inline]
    pub(crate) fn through(&self, random: &mut Random) -> u64 {
        if self.spread == 0 {
            return self.pipeline;
        }
        let half = (self.spread / 2) as u32 + 1;
        self.pipeline + u64::from(random.below(half)) + u64::from(random.below(half))
    }

    /// Number of retransmissions of a packet over a cable until all its bits are right.
    pub(crate) fn sent_again(&self, bytes: u32, random: &mut Random) -> u64 {
        let right = (8.0 * f64::from(bytes) * (-self.bit_errors).ln_1p()).exp();
        std::iter::repeat_with(|| random.part()).take_while(|part| *part > right).count() as u64
    }

    pub(crate) fn host_link(&self, fabric: &Fabric, t: TerminalId) -> (u32, u64) {
        let class = fabric.terminal_class(t);
        let rate = (class.bytes_per_second as f64 * self.payload).min(self.adapter);
        self.of_class(class, self.host_cable, rate)
    }

    #[expect(clippy::cast_sign_loss, reason = "rates are above zero")]
    fn of_class(&self, class: &LinkClass, latency: Option<u32>, rate: f64) -> (u32, u64) {
        // What does not fit is refused when the network is made.
        let short = |latency: u64| u32::try_from(latency).unwrap_or(u32::MAX);
        let of_class = if class.latency_ps == 0 { CABLE } else { short(class.latency_ps) };
        let pace = self.pace.unwrap_or_else(|| (65536.0 * 1e12 / rate).round() as u64);
        (latency.unwrap_or(of_class).saturating_add(self.fec), pace)
    }
}

/// A pace with only a part of the lanes.
pub(crate) fn slower(pace: u64, part: f32) -> u64 {
    #[expect(clippy::cast_sign_loss, reason = "parts are above zero")]
    let long = |pace: u64| (pace as f64 / f64::from(part)).round() as u64;
    if part < 1.0 { long(pace) } else { pace }
}
