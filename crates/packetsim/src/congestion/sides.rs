//! The sides of a scheme: what switches do about packets that pass, what an endpoint's side makes of packets that arrive, and what a
//! source does about a pair of endpoints. What a scheme does not say is what happens without any.

use serde::{Deserialize, Serialize};

use super::congestion_message::CongestionMessage;
use super::params::CongestionParams;
use super::seen::{Arriving, Passing, Point};
use super::tuning::{ONE, Tuning};
use crate::Random;

/// A scheme.
pub(crate) trait Control {
    /// What a source knows of a pair.
    type Sender: Sending;
    /// What the endpoint's side knows.
    type Receiver: Receiving + Default;

    /// Whether switches look at packets that pass ([`Control::pass`]).
    const LOOKS: bool = false;
    /// Whether outputs keep a [`Point`] for it.
    const HAS_POINTS: bool = false;
    /// Whether the last switch drops packets that nobody asked for.
    const DROPS_SPECULATIVE: bool = false;
    /// Whether a source tells the endpoint of bytes that were lost.
    const TELLS_LOSSES: bool = false;

    /// A new pair.
    fn sender() -> Self::Sender;

    /// What a pair may have under way, as part ([`ONE`]) of what its channel carries in a round trip.
    fn window(_: &Tuning) -> u64 {
        ONE
    }

    /// A packet leaves an output: whether it is marked, and what the source is told at once, or 0.
    fn pass(_: &Tuning, _: Option<&mut Point>, _: &Passing, _: &mut Random) -> (bool, u64) {
        (false, 0)
    }
}

/// What a source does about a pair.
pub(crate) trait Sending {
    /// There is another message, while this many bytes are under way: bytes that the endpoint is asked for, or 0.
    fn add(&mut self, _: &Tuning, _bytes: u64, _under_way: u64, _window: u64) -> u64 {
        0
    }

    /// Whether a packet with this many bytes may be sent now, while this many are under way.
    fn lets(&self, _: CongestionParams<'_>, _bytes: u64, _under_way: u64, _window: u64) -> bool {
        true
    }

    /// A packet with this many bytes is sent at a time: what it is marked with.
    fn sent(&mut self, _: &Tuning, _bytes: u64, _now: u64) -> u8 {
        0
    }

    /// Picoseconds that 2^16 bytes are to take on a channel on which they take `pace`; 0: as long as they do.
    fn pace(&mut self, _: &Tuning, _now: u64, _pace: u64) -> u64 {
        0
    }

    /// Hears a note at a time. The next packet may leave at `next`, which may change.
    fn hear(&mut self, _: &Tuning, _: &CongestionMessage, _now: u64, _next: &mut u64) {}

    /// Whether it knows no more than a new one.
    fn is_new(&mut self, tuning: &Tuning, now: u64, pace: u64) -> bool {
        self.pace(tuning, now, pace) == 0
    }
}

/// What the endpoint's side does.
pub(crate) trait Receiving {
    /// A packet arrives: what its acknowledgement says. `grants` are sources, and bytes that each may send from now on.
    fn arrived(
        &mut self,
        _: CongestionParams<'_>,
        _: &Arriving,
        _grants: &mut Vec<(u32, u64)>,
    ) -> u64 {
        0
    }

    /// A source asks for this many bytes, and reports this many that were lost; the endpoint's channel takes `pace` for 2^16.
    fn asked(
        &mut self,
        _: CongestionParams<'_>,
        _source: u32,
        _bytes: [u64; 2],
        _pace: u64,
        _grants: &mut Vec<(u32, u64)>,
    ) {
    }
}

/// A side that does nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Free;

impl Sending for Free {}

impl Receiving for Free {}
