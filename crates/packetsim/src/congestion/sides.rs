//! The sides of a scheme: the action of switches on passing packets, of an endpoint's side on arriving packets, and of a source on a
//! pair of endpoints. The defaults are those without any scheme.

use serde::{Deserialize, Serialize};

use super::congestion_message::CongestionMessage;
use super::params::CongestionParams;
use super::seen::{ArrivingPacket, DepartingPacket, OutputQueueState};
use super::tuning::{ONE, Tuning};
use crate::Random;

/// A congestion control scheme.
pub(crate) trait Control {
    /// State of a pair at its source.
    type Sender: Sending;
    /// State of the endpoint's side.
    type Receiver: Receiving + Default;

    /// Whether switches look at packets that pass ([`Control::pass`]).
    const LOOKS: bool = false;
    /// Whether outputs keep a [`OutputQueueState`] for it.
    const HAS_POINTS: bool = false;
    /// Whether the last switch drops unsolicited packets.
    const DROPS_SPECULATIVE: bool = false;

    /// Initial state of a pair at its source.
    fn sender() -> Self::Sender;

    /// Whether a source reports a packet with this mark to the endpoint if it was lost.
    fn reports_lost(_mark: u8) -> bool {
        false
    }

    /// Bytes that a pair may have in flight, as part ([`ONE`]) of the bytes that its channel carries in a round trip.
    fn window(_: &Tuning) -> u64 {
        ONE
    }

    /// Called when a packet leaves an output: returns whether it is marked, and the immediate notification to the
    /// source, or 0.
    fn pass(
        _: &Tuning,
        _: Option<&mut OutputQueueState>,
        _: &DepartingPacket,
        _: &mut Random,
    ) -> (bool, u64) {
        (false, 0)
    }
}

/// The source's side of a pair.
pub(crate) trait Sending {
    /// Called for another message, while `under_way` bytes are in flight: returns the bytes to request from the
    /// endpoint, or 0.
    fn add(&mut self, _: CongestionParams<'_>, _bytes: u64, _under_way: u64, _window: u64) -> u64 {
        0
    }

    /// Called for bytes that were lost and are to be sent again: returns the bytes to request from the endpoint, or 0.
    fn add_lost(&mut self, _bytes: u64) -> u64 {
        0
    }

    /// Whether a packet of this size may be sent now, while `under_way` bytes are in flight.
    fn lets(&self, _: CongestionParams<'_>, _bytes: u64, _under_way: u64, _window: u64) -> bool {
        true
    }

    /// Called when a packet of this size is sent at a time: returns its mark.
    fn sent(&mut self, _: &Tuning, _bytes: u64, _now: u64) -> u8 {
        0
    }

    /// Picoseconds that 2^16 bytes are to take on a channel on which they take `pace`; 0: as long as they do.
    fn pace(&mut self, _: &Tuning, _now: u64, _pace: u64) -> u64 {
        0
    }

    /// Hears a note at a time. The next packet may leave at `next`, which may change.
    fn hear(&mut self, _: &Tuning, _: &CongestionMessage, _now: u64, _next: &mut u64) {}

    /// Whether its state is that of a new pair.
    fn is_new(&mut self, tuning: &Tuning, now: u64, pace: u64) -> bool {
        self.pace(tuning, now, pace) == 0
    }
}

/// The endpoint's side of a scheme.
pub(crate) trait Receiving {
    /// Called when a packet arrives: returns the data of its acknowledgement. `grants` are sources, and bytes that each
    /// may send from now on.
    fn arrived(
        &mut self,
        _: CongestionParams<'_>,
        _: &ArrivingPacket,
        _grants: &mut Vec<(u32, u64)>,
    ) -> u64 {
        0
    }

    /// Called when a source requests bytes and reports lost ones; the endpoint's channel takes `pace` for 2^16.
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

/// A side without any state or action.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Unthrottled;

impl Sending for Unthrottled {}

impl Receiving for Unthrottled {}
