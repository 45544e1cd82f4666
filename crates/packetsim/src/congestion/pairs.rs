//! Pairs of endpoints that are throttled individually: the last switch reserves when each may send next.
//!
//! A scheme of ours, for the effect that De Sensi et al. (An In-Depth Analysis of the Slingshot Interconnect, SC'20, section II-D)
//! describe. Reserving an endpoint's channel in the last switch is the idea of Jiang, Dennison and Dally (Network Endpoint Congestion
//! Control for Fine-Grained Communication, SC'15); their scheme drops packets without a reservation that find too much in front of them.
//! `pairs` drops nothing, and sends a quarter of a window unsolicited; `reserve` sends a window of speculative packets, and drops as
//! theirs does.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::congestion_message::CongestionMessage;
use super::parameter::{Parameter, Unit};
use super::params::CongestionParams;
use super::seen::ArrivingPacket;
use super::sides::{Control, Receiving, Sending};
use super::tuning::{ONE, Tuning, part};

/// Parameters of both schemes that users can set; `of` is the field of [`Tuning`].
macro_rules! parameters {
    ($name:ident, $of:ident) => {
        pub(super) const $name: &[Parameter] = &[
            Parameter {
                name: "window",
                unit: Unit::Share,
                range: [ONE / 16, 16 * ONE],
                meaning: "what a source has under way to an endpoint at most, as part of W, what its channel carries in a round trip R; \
                          two packets at least",
                source: OURS,
                of: |t| &mut t.$of.window,
            },
            Parameter {
                name: "first",
                unit: Unit::Share,
                range: [0, 16 * ONE],
                meaning: "what it has under way to an endpoint of which it heard nothing, as part of W; a packet at least",
                source: OURS,
                of: |t| &mut t.$of.first,
            },
            Parameter {
                name: "waits",
                unit: Unit::Share,
                range: [ONE / 64, 16 * ONE],
                meaning: "an endpoint is congested when more waits for it in its last switch, as part of W",
                source: OURS,
                of: |t| &mut t.$of.waits,
            },
            Parameter {
                name: "much",
                unit: Unit::Share,
                range: [0, 16 * ONE],
                meaning: "turns are further apart while more waits, as part of W",
                source: OURS,
                of: |t| &mut t.$of.much,
            },
            Parameter {
                name: "apart",
                unit: Unit::Share,
                range: [0, ONE],
                meaning: "how much further apart, as part of a packet",
                source: OURS,
                of: |t| &mut t.$of.apart,
            },
            Parameter {
                name: "turn",
                unit: Unit::Share,
                range: [0, 16 * ONE],
                meaning: "what all turns to come take together at least, as part of R",
                source: OURS,
                of: |t| &mut t.$of.turn,
            },
            Parameter {
                name: "ahead",
                unit: Unit::Share,
                range: [0, 16 * ONE],
                meaning: "an endpoint stays congested while its channel is booked further ahead, as part of R",
                source: OURS,
                of: |t| &mut t.$of.ahead,
            },
            Parameter {
                name: "free",
                unit: Unit::Share,
                range: [0, 1000 * ONE],
                meaning: "it is free again when that was not so for as long, as multiple of R",
                source: OURS,
                of: |t| &mut t.$of.free,
            },
        ];
    };
}

const OURS: &str = "ours";
parameters!(PAIRS, pairs);
parameters!(RESERVE, reserve);

/// Turns (reserved times to send) that are announced in advance.
pub(crate) struct Pairs;

impl Control for Pairs {
    type Sender = Sender;
    type Receiver = Receiver;

    fn sender() -> Sender {
        Sender::default()
    }

    fn window(tuning: &Tuning) -> u64 {
        tuning.pairs.window
    }
}

/// As [`Pairs`], but unsolicited packets that would wait are dropped.
pub(crate) struct Reserve;

impl Control for Reserve {
    type Sender = Sender;
    type Receiver = Receiver;

    const DROPS_SPECULATIVE: bool = true;

    fn sender() -> Sender {
        Sender { speculates: true, ..Sender::default() }
    }

    fn window(tuning: &Tuning) -> u64 {
        tuning.reserve.window
    }
}

/// The mark of packets that a source of [`Congestion::Reserve`](crate::Congestion::Reserve) sends unsolicited.
pub(crate) const SPECULATIVE: u8 = 1;

/// Data of an acknowledgement: the source is not throttled, ...
const FREE: u64 = 0;
/// ... the previous data holds, ...
const AS_TOLD: u64 = 1;

/// ... or the number of picoseconds until a turn, and its packets.
fn turn(after: u64, packets: u64) -> u64 {
    ((after + 1) << 16) | packets
}

/// The turn of a source: the reserved one, or the last.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Turn {
    /// Start of the turn.
    begins: u64,
    /// Bytes of it that the last switch has not seen yet.
    left: u64,
}

/// State of an endpoint in the last switch.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Receiver {
    /// Whether sources are throttled.
    congested: bool,
    /// Until when the endpoint's channel is booked.
    booked: u64,
    /// When it was last booked for longer than a moment.
    busy: u64,
    /// Turns by source.
    turns: BTreeMap<u32, Turn>,
    /// Beginnings of turns that are to come.
    coming: VecDeque<u64>,
    /// Where other classes have a part of the channel: recent time for 2^16 bytes while packets waited continuously; the bytes
    /// the channel had carried when the last packet left, if others waited then; and bytes of all and of this class since.
    drain: u64,
    left: Option<u64>,
    all: u64,
    own: u64,
}

impl Receiver {
    /// Time of 2^16 bytes of its class on the channel, given its share among the classes.
    fn drains(&mut self, terms: CongestionParams<'_>, a: &ArrivingPacket, waits: u64) -> u64 {
        if let Some(left) = self.left {
            self.all += a.carried - left;
            self.own += u64::from(a.bytes);
        }
        self.left = (waits > 0).then_some(a.carried);
        if self.own > 8 * u64::from(terms.most) {
            self.drain = (u128::from(a.pace) * u128::from(self.all) / u128::from(self.own)) as u64;
            (self.all, self.own) = (0, 0);
        }
        self.drain.max(a.pace)
    }
}

impl Receiving for Receiver {
    /// Returns the data for the source of a packet that leaves for the endpoint.
    fn arrived(
        &mut self,
        terms: CongestionParams<'_>,
        a: &ArrivingPacket,
        _: &mut Vec<(u32, u64)>,
    ) -> u64 {
        let &ArrivingPacket { now, source, waits, bytes, .. } = a;
        let (waits, bytes) = (u64::from(waits), u64::from(bytes));
        // Bytes that the channel carries in a round trip.
        let window = (terms.round << 16) / a.pace;
        let p = terms.tuning.turns(terms.congestion);
        if !self.congested {
            if !p.is_too_much(waits, terms.round, a.pace) {
                return FREE;
            }
            *self = Self { congested: true, busy: now, drain: a.pace, ..Self::default() };
        }
        let pace = if terms.shared { self.drains(terms, a, waits) } else { a.pace };
        let takes = |bytes: u64| (bytes * pace) >> 16;
        while self.coming.front().is_some_and(|begins| *begins <= now) {
            self.coming.pop_front();
        }
        // Each source whose packet leaves is expected to send again. A little later if much waits, which is the only way to
        // reduce it.
        let apart = if waits > part(p.much, window) { part(p.apart, bytes) } else { 0 };
        let long = takes(bytes + apart);
        let turn_of = self.turns.entry(source).or_default();
        if turn_of.begins > now {
            // Packets that it sent before it heard of its turn, and beyond its turn, are not expected again.
            if turn_of.left >= bytes {
                turn_of.left -= bytes;
                self.booked += long;
            }
            return AS_TOLD;
        }
        if self.booked > now + part(p.ahead, terms.round) {
            self.busy = now;
        } else if now > self.busy + part(p.free, terms.round) && !a.is_dropped {
            *self = Self::default();
            return FREE;
        }
        // Waiting packets come first.
        let begins = self.booked.max(now + takes(waits));
        self.booked = begins + long;
        self.coming.push_back(begins);
        // All turns together are at least this part of a round trip.
        let one = terms.long(pace) * self.coming.len() as u64;
        let packets = part(p.turn, terms.round).div_ceil(one.max(1)).clamp(1, u16::MAX.into());
        *turn_of = Turn { begins, left: (packets * u64::from(terms.wire)).saturating_sub(bytes) };
        let after = (begins - now).saturating_sub(a.round);
        turn(terms.tuning.notes.quantized(after), packets)
    }
}

/// State of a pair at its source.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sender {
    /// Whether it has been assigned a turn.
    held: bool,
    /// Packets of a turn, and those of it that remain.
    turn: u64,
    left: u64,
    /// Bytes that were acknowledged without congestion.
    heard: u64,
    /// Whether it sends a whole window unsolicited, since excess packets will be dropped.
    speculates: bool,
}

impl Sending for Sender {
    /// Whether a packet of this size may be sent while this number of bytes is in flight, of at most `window`: a quarter of the
    /// window to an endpoint of which little is known, since the number of sources that start at the same time is unknown; the
    /// bytes of a turn to a congested one, so that data sent before turns were assigned is compensated.
    fn lets(&self, terms: CongestionParams<'_>, bytes: u64, under_way: u64, window: u64) -> bool {
        let most = if self.held {
            self.turn * u64::from(terms.wire)
        } else {
            let first = terms.tuning.turns(terms.congestion).first;
            window.min(part(first, window) + self.heard)
        };
        under_way == 0 || ((!self.held || self.left > 0) && under_way + bytes <= most)
    }

    /// Returns the mark of a packet that is sent.
    fn sent(&mut self, _: &Tuning, _: u64, _: u64) -> u8 {
        self.left = self.left.saturating_sub(1);
        if self.speculates && !self.held { SPECULATIVE } else { 0 }
    }

    fn hear(&mut self, _: &Tuning, note: &CongestionMessage, now: u64, next: &mut u64) {
        match note.says {
            FREE if note.lost.is_none() => {
                self.held = false;
                self.heard += u64::from(note.bytes);
                *next = now.min(*next);
            }
            // Lost packets carry no data of the endpoint.
            FREE | AS_TOLD => {}
            says => {
                let turn = says & 0xffff;
                *self =
                    Self { held: true, turn, left: turn, heard: 0, speculates: self.speculates };
                *next = now + (says >> 16) - 1;
            }
        }
    }

    fn is_new(&mut self, _: &Tuning, _: u64, _: u64) -> bool {
        !self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Congestion;

    /// 100 Gbit/s, packets of 4 KiB, a round trip of 4 us.
    const PACE: u64 = (1 << 16) * 80;
    const LONG: u64 = 4096 * 80;

    fn terms() -> CongestionParams<'static> {
        let [one_way, round] = [1_800_000, 4_000_000];
        CongestionParams {
            congestion: Congestion::Pairs,
            one_way,
            round,
            window: ONE,
            most: 4096,
            wire: 4096,
            terminals: 1000,
            reorder: None,
            shared: false,
            tuning: &crate::Tuning::DEFAULT,
        }
    }

    fn packet(now: u64, source: u32, waits: u32) -> ArrivingPacket {
        ArrivingPacket {
            now,
            source,
            bytes: 4096,
            payload: 4096,
            waits,
            pace: PACE,
            carried: 0,
            round: 1_500_000,
            mark: 0,
            is_dropped: false,
        }
    }

    /// Turns follow each other, a packet's time apart, whichever source has them; no source has a second one before
    /// the first.
    #[test]
    fn turns_are_booked_one_after_the_other() {
        let mut end = Receiver::default();
        let mut sent_notes = Vec::new();
        for i in 0..200u32 {
            let now = u64::from(i) * LONG;
            // Two packets of each of 100 sources wait.
            let says =
                end.arrived(terms(), &packet(now, i % 100, (199 - i) * 4096), &mut Vec::new());
            sent_notes.push((now, says));
        }
        let begins: Vec<u64> = sent_notes[..100]
            .iter()
            .map(|&(now, says)| {
                assert!(says > AS_TOLD, "a turn");
                // The first ones are sent before the number of the following packets is known.
                let packets = says & 0xffff;
                assert!(packets == 1 || now < 10 * LONG, "{packets} packets at {now}");
                now + (says >> 16) - 1 + 1_500_000
            })
            .collect();
        // The first ones follow the waiting bytes; these stay many, so that turns are a 32nd further apart.
        assert!(begins[0] >= 199 * LONG, "{}", begins[0]);
        for pair in begins.windows(2) {
            assert_eq!(pair[1] - pair[0], LONG + LONG / 32);
        }
        // Their second packets were sent before they heard of turns.
        assert!(sent_notes[100..].iter().all(|t| t.1 == AS_TOLD), "{sent_notes:?}");
    }

    /// An endpoint with a short queue throttles no source, and one with nothing to reserve releases all after a
    /// while.
    #[test]
    fn endpoints_are_free_again() {
        let mut end = Receiver::default();
        assert_eq!(end.arrived(terms(), &packet(0, 1, 20_000), &mut Vec::new()), FREE);
        assert!(end.arrived(terms(), &packet(0, 1, 60_000), &mut Vec::new()) > AS_TOLD);
        let says = end.arrived(terms(), &packet(100_000_000, 1, 0), &mut Vec::new());
        assert_eq!(says, FREE);
        let mut source = Sender::default();
        let (window, mut next) = (50_000, 0);
        let note = |says| CongestionMessage {
            source: 1,
            endpoint: 2,
            class: 0,
            to_endpoint: false,
            bytes: 4096,
            says,
            lost: None,
            in_order: None,
        };
        let most = |s: &Sender| (0..20).rfind(|n| s.lets(terms(), 4096, n * 4096, window));
        assert_eq!(most(&source), Some(2), "a quarter");
        source.hear(&Tuning::DEFAULT, &note(turn(1000, 2)), 500, &mut next);
        assert_eq!(
            (next, most(&source), source.is_new(&Tuning::DEFAULT, 0, 0)),
            (1500, Some(1), false)
        );
        source.sent(&Tuning::DEFAULT, 0, 0);
        source.sent(&Tuning::DEFAULT, 0, 0);
        assert_eq!(
            most(&source),
            Some(0),
            "its turn is over, but for a packet if nothing is under way"
        );
        source.hear(&Tuning::DEFAULT, &note(AS_TOLD), 600, &mut next);
        assert_eq!(next, 1500);
        for _ in 0..20 {
            source.hear(&Tuning::DEFAULT, &note(FREE), 700, &mut next);
        }
        assert_eq!((next, most(&source)), (700, Some(11)), "all of the window");
    }
}
