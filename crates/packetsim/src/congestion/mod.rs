//! Congestion control: what sources throttle so that no queue grows before an endpoint. One file for each scheme.
//!
//! A scheme has up to three sides: what switches note on packets that pass ([`Congestion::pass`]), what the endpoint's side makes
//! of packets that arrive ([`Receiver`]), and what a source does about a pair of endpoints ([`Sender`]).

mod ecn;
mod grants;
mod infiniband;
mod kind;
mod notes;
mod outbox;
mod pairs;
mod parameter;
mod qcn;
mod recovery;
mod registry;
mod tuned;
mod tuning;

pub use kind::Congestion;
pub(crate) use outbox::{Outbox, Sent, Turn};
pub(crate) use pairs::SPECULATIVE;
pub use parameter::{Parameter, TuningError, Unit};
pub use registry::{CONGESTIONS, Scheme};
pub use tuned::Tuned;
pub use tuning::Tuning;

use serde::{Deserialize, Serialize};

use crate::partition::Message;
use crate::{Net, Random, SwitchModel};

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

/// What all pairs of a network go by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CongestionParams<'a> {
    /// The scheme.
    pub(crate) congestion: Congestion,
    /// What a way takes at most where nothing waits, and there and back with a packet, in picoseconds.
    pub(crate) way: u64,
    pub(crate) round: u64,
    /// Bytes of a message in a packet at most, and those of a packet on a channel.
    pub(crate) most: u32,
    pub(crate) wire: u32,
    /// Terminals.
    pub(crate) terminals: usize,
    /// Whether packets of an endpoint share its channel with those of other classes.
    pub(crate) shared: bool,
    /// What can be set of schemes.
    pub(crate) tuning: &'a Tuning,
}

impl<'a> CongestionParams<'a> {
    /// Of a network: way there and back of five channels, and a packet with at most so many bytes of a message, on channels so many.
    pub(crate) fn new(net: &Net, micro: &'a SwitchModel, [most, wire]: [u32; 2]) -> Self {
        let way = 5 * (net.slowest(0) + micro.pipeline + micro.spread);
        Self {
            congestion: micro.congestion,
            way,
            round: 2 * way + net.slowest(wire),
            most,
            wire,
            terminals: net.terminal_count(),
            shared: micro.classes.len() > 1,
            tuning: &micro.tuning,
        }
    }

    /// What a packet takes at a pace, in picoseconds.
    pub(crate) fn long(&self, pace: u64) -> u64 {
        (u64::from(self.wire) * pace) >> 16
    }

    /// Bytes that a channel of a pace carries in a round trip, and two packets at least.
    pub(crate) fn window(&self, pace: u64) -> u64 {
        let window = (self.round << 16) / pace;
        let window = match self.congestion {
            Congestion::Pairs | Congestion::Reserve => {
                tuning::part(self.tuning.turns(self.congestion).window, window)
            }
            _ => window,
        };
        window.max(2 * u64::from(self.wire))
    }
}

/// What an output knows of its queue, if its scheme wants it to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Point(qcn::Point);

/// A packet that leaves an output, as schemes see it.
pub(crate) struct Passing {
    /// Bytes of its class that wait behind it, and its own.
    pub(crate) waits: u32,
    pub(crate) bytes: u32,
    /// Picoseconds that 2^16 bytes take on the output's channel.
    pub(crate) pace: u64,
    /// Whether the output lacked room behind it before.
    pub(crate) was_held: bool,
}

impl Congestion {
    /// Whether outputs keep something of their own for it.
    pub(crate) fn has_points(self) -> bool {
        self == Self::Qcn
    }

    /// Whether the last switch drops packets that nobody asked for.
    pub(crate) fn drops_speculative(self) -> bool {
        self == Self::Reserve
    }

    /// Whether switches look at packets that pass.
    #[inline]
    pub(crate) fn looks(self) -> bool {
        matches!(self, Self::Ecn | Self::InfiniBand | Self::Qcn)
    }

    /// A packet leaves an output: whether it is marked, and what the source is told at once, or 0.
    pub(crate) fn pass(
        self,
        tuning: &Tuning,
        point: Option<&mut Point>,
        p: &Passing,
        random: &mut Random,
    ) -> (bool, u64) {
        match (self, point) {
            (Self::Ecn, _) => (ecn::marks(&tuning.ecn, p, random), 0),
            (Self::InfiniBand, _) => (infiniband::marks(&tuning.infiniband, p), 0),
            (Self::Qcn, Some(point)) => (false, point.0.pass(&tuning.qcn, p, random)),
            _ => (false, 0),
        }
    }
}

/// What the endpoint's side knows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Receiver {
    /// Nothing that matters.
    #[default]
    Free,
    /// See [`pairs`].
    Pairs(pairs::Receiver),
    /// See [`ecn`].
    Ecn(ecn::Receiver),
    /// See [`infiniband`].
    InfiniBand,
    /// See [`grants`].
    Grants(grants::Receiver),
}

/// A packet that is about to be at its endpoint.
pub(crate) struct Arriving {
    /// When it leaves the last switch.
    pub(crate) now: u64,
    /// Where it is from.
    pub(crate) source: u32,
    /// Its bytes on the channel, and those of its message.
    pub(crate) bytes: u32,
    pub(crate) payload: u32,
    /// Bytes of its class that wait for the endpoint in the last switch, and what 2^16 bytes take on its channel.
    pub(crate) waits: u32,
    pub(crate) pace: u64,
    /// Bytes that the endpoint's channel has carried in all.
    pub(crate) carried: u64,
    /// How long it takes at least until a packet that is sent on hearing of this one can be where this one is.
    pub(crate) round: u64,
    /// What it was marked with.
    pub(crate) mark: u8,
    /// Whether it does not arrive, but was dropped, and will come again.
    pub(crate) is_dropped: bool,
}

impl Receiver {
    /// As a scheme has it.
    pub(crate) fn new(congestion: Congestion) -> Self {
        match congestion {
            Congestion::None | Congestion::Qcn => Self::Free,
            Congestion::Pairs | Congestion::Reserve => Self::Pairs(pairs::Receiver::default()),
            Congestion::Ecn => Self::Ecn(ecn::Receiver::default()),
            Congestion::InfiniBand => Self::InfiniBand,
            Congestion::Grants => Self::Grants(grants::Receiver::default()),
        }
    }

    /// A packet arrives: what its acknowledgement says. `grants` are sources, and bytes that each may send from now on.
    pub(crate) fn arrived(
        &mut self,
        terms: CongestionParams<'_>,
        a: &Arriving,
        grants: &mut Vec<(u32, u64)>,
    ) -> u64 {
        match self {
            Self::Free => 0,
            Self::Pairs(end) => end.arrived(terms, a),
            Self::Ecn(end) => end.arrived(terms, a),
            Self::InfiniBand => u64::from(a.mark),
            Self::Grants(end) => {
                end.arrived(terms, a, grants);
                0
            }
        }
    }

    /// A source asks for so many bytes, and so many that were sent were lost; the endpoint's channel takes `pace` for 2^16.
    pub(crate) fn asked(
        &mut self,
        terms: CongestionParams<'_>,
        source: u32,
        bytes: [u64; 2],
        pace: u64,
        grants: &mut Vec<(u32, u64)>,
    ) {
        if let Self::Grants(end) = self {
            end.asked(terms, source, bytes, pace, grants);
        }
    }
}

/// What a source knows of a pair.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) enum Sender {
    /// Nothing that matters.
    #[default]
    Free,
    /// See [`pairs`].
    Pairs(pairs::Sender),
    /// See [`ecn`].
    Ecn(ecn::Sender),
    /// See [`infiniband`].
    InfiniBand(infiniband::Sender),
    /// See [`qcn`].
    Qcn(qcn::Sender),
    /// See [`grants`].
    Grants(grants::Sender),
}

impl Sender {
    fn new(congestion: Congestion) -> Self {
        match congestion {
            Congestion::None => Self::Free,
            Congestion::Pairs => Self::Pairs(pairs::Sender::default()),
            Congestion::Reserve => Self::Pairs(pairs::Sender::speculating()),
            Congestion::Ecn => Self::Ecn(ecn::Sender::default()),
            Congestion::InfiniBand => Self::InfiniBand(infiniband::Sender::default()),
            Congestion::Qcn => Self::Qcn(qcn::Sender::default()),
            Congestion::Grants => Self::Grants(grants::Sender::default()),
        }
    }

    /// There is another message, while so many bytes are under way: bytes that the endpoint is asked for, or 0.
    fn add(&mut self, tuning: &Tuning, bytes: u64, under_way: u64, window: u64) -> u64 {
        match self {
            Self::Grants(s) => s.add(&tuning.grants, bytes, under_way, window),
            _ => 0,
        }
    }

    /// Whether a packet with so many bytes may be sent now, while so many are under way.
    fn lets(&self, terms: CongestionParams<'_>, bytes: u64, under_way: u64, window: u64) -> bool {
        match self {
            Self::Pairs(s) => s.lets(terms, bytes, under_way, window),
            Self::Grants(s) => s.lets(bytes),
            _ => true,
        }
    }

    /// A packet with so many bytes is sent at a time: what it is marked with.
    fn sent(&mut self, tuning: &Tuning, bytes: u64, now: u64) -> u8 {
        match self {
            Self::Ecn(s) => s.sent(&tuning.ecn, bytes, now),
            Self::Qcn(s) => s.sent(&tuning.qcn, bytes, now),
            Self::Grants(s) => return s.sent(bytes),
            Self::Pairs(s) => return s.sent(),
            _ => {}
        }
        0
    }

    /// Picoseconds that 2^16 bytes are to take on a channel on which they take `pace`; 0: as long as they do.
    fn pace(&mut self, tuning: &Tuning, now: u64, pace: u64) -> u64 {
        match self {
            Self::Free | Self::Grants(_) | Self::Pairs(_) => 0,
            Self::Ecn(s) => s.pace(&tuning.ecn, now, pace),
            Self::InfiniBand(s) => s.pace(&tuning.infiniband, now, pace),
            Self::Qcn(s) => s.pace(&tuning.qcn, now, pace),
        }
    }

    /// Hears a note at a time. The next packet may leave at `next`, which may change.
    fn hear(&mut self, tuning: &Tuning, note: &CongestionMessage, now: u64, next: &mut u64) {
        match self {
            Self::Free => {}
            Self::Pairs(s) => s.hear(note, now, next),
            Self::Ecn(s) => s.hear(&tuning.ecn, note, now),
            Self::InfiniBand(s) => s.hear(&tuning.infiniband, note, now),
            Self::Qcn(s) => s.hear(&tuning.qcn, note, now),
            Self::Grants(s) => s.hear(note),
        }
    }

    /// Whether it knows no more than a new one.
    fn is_new(&mut self, tuning: &Tuning, now: u64, pace: u64) -> bool {
        match self {
            Self::Free => true,
            Self::Grants(s) => s.is_new(),
            Self::Ecn(s) => s.is_new(),
            Self::Pairs(s) => s.is_new(),
            Self::InfiniBand(_) | Self::Qcn(_) => self.pace(tuning, now, pace) == 0,
        }
    }
}
