//! Endpoints grant the data that may be sent to them. After B. Montazeri et al., Homa: A Receiver-Driven Low-Latency Transport
//! Protocol (SIGCOMM'18), section 3, and V. Olteanu et al., An edge-queued datagram service for all datacenter traffic
//! (NSDI'22). Without their priorities and trimming: packets here are not dropped. Grants are round robin (decision; Homa
//! prefers short messages).

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::congestion_message::CongestionMessage;
use super::parameter::{Parameter, Unit};
use super::params::CongestionParams;
use super::seen::ArrivingPacket;
use super::sides::{Control, Receiving, Sending};
use super::tuning::{ONE, Tuning, part};

/// Parameters that users can set.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "first",
        unit: Unit::Share,
        range: [0, 16 * ONE],
        meaning: "what a source sends unasked, as part of what its channel carries in a round trip",
        source: "Homa, section 3.2: RTTbytes",
        of: |t| &mut t.grants.first,
    },
    Parameter {
        name: "ahead",
        unit: Unit::Share,
        range: [ONE / 16, 16 * ONE],
        meaning: "what an endpoint has granted or waits for it at most, as part of what its channel carries in a round trip",
        source: "Homa, section 3.3: RTTbytes",
        of: |t| &mut t.grants.ahead,
    },
];

/// Grants of receivers, as in Homa.
pub(crate) struct Grants;

impl Control for Grants {
    type Sender = Sender;
    type Receiver = Receiver;

    /// What came unasked was never counted as granted.
    fn reports_lost(mark: u8) -> bool {
        mark == GRANTED
    }

    fn sender() -> Sender {
        Sender::default()
    }
}

/// State of an endpoint about its senders.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Receiver {
    /// By source, bytes that were requested and not granted; and the round-robin order.
    asked: BTreeMap<u32, u64>,
    turns: VecDeque<u32>,
    /// Bytes that were granted and have not arrived: below zero while some have that are granted only then.
    granted: i64,
    /// Bytes that waited in the last switch when the last packet left it.
    waits: u64,
}

impl Receiver {
    /// Grants a packet at a time, while less than a round trip's worth is in flight or waits.
    fn grant(&mut self, terms: CongestionParams<'_>, pace: u64, grants: &mut Vec<(u32, u64)>) {
        let most = part(terms.tuning.grants.ahead, terms.window(pace)).cast_signed();
        while self.granted + self.waits.cast_signed() < most
            && let Some(source) = self.turns.pop_front()
        {
            let Some(open) = self.asked.get_mut(&source) else { continue };
            let bytes = (*open).min(terms.most.into());
            *open -= bytes;
            self.granted += bytes.cast_signed();
            grants.push((source, bytes));
            if *open > 0 {
                self.turns.push_back(source);
            } else {
                self.asked.remove(&source);
            }
        }
    }
}

impl Receiving for Receiver {
    /// A source requests `bytes` more; `lost` bytes that were sent to the endpoint were lost.
    fn asked(
        &mut self,
        terms: CongestionParams<'_>,
        source: u32,
        [bytes, lost]: [u64; 2],
        pace: u64,
        grants: &mut Vec<(u32, u64)>,
    ) {
        self.granted -= lost.cast_signed();
        if bytes > 0 {
            let open = self.asked.entry(source).or_insert(0);
            if *open == 0 {
                self.turns.push_back(source);
            }
            *open += bytes;
        }
        self.grant(terms, pace, grants);
    }

    fn arrived(
        &mut self,
        terms: CongestionParams<'_>,
        a: &ArrivingPacket,
        grants: &mut Vec<(u32, u64)>,
    ) -> u64 {
        if a.mark == GRANTED {
            self.granted -= i64::from(a.payload);
        }
        self.waits = a.waits.into();
        self.grant(terms, a.pace, grants);
        0
    }
}

/// The mark of packets that were granted.
const GRANTED: u8 = 1;

/// A message that waits at its source.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Queued {
    /// Bytes of it that were not sent, and those of them that may go unsolicited: whole packets, or all.
    left: u64,
    unasked: u64,
}

/// State of a pair at its source. What waits beyond the unsolicited part of each message is `granted + asked`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sender {
    /// The messages of the pair, in the order in which they are sent.
    queue: VecDeque<Queued>,
    /// Bytes that were granted, and those that were requested and not granted.
    granted: u64,
    asked: u64,
    /// Bytes that were sent ahead of their grant, with a packet of which some were granted: they are among the next ones.
    ahead: u64,
    /// Bytes of further messages that it may send unsolicited.
    allowance: u64,
}

impl Sending for Sender {
    /// Adds bytes to send; returns the bytes to request. With nothing in flight a round trip's worth is sent
    /// unsolicited, in whole packets, so that each packet is either granted or not.
    fn add(&mut self, terms: CongestionParams<'_>, bytes: u64, under_way: u64, window: u64) -> u64 {
        if self.queue.is_empty() && under_way == 0 {
            self.allowance = part(terms.tuning.grants.first, window);
        }
        let unasked = if bytes <= self.allowance {
            bytes
        } else {
            self.allowance - self.allowance % u64::from(terms.most)
        };
        // What comes behind a message that asks is sent behind it.
        self.allowance = if unasked < bytes { 0 } else { self.allowance - bytes };
        self.queue.push_back(Queued { left: bytes, unasked });
        self.asked += bytes - unasked;
        bytes - unasked
    }

    fn add_lost(&mut self, bytes: u64) -> u64 {
        self.queue.push_front(Queued { left: bytes, unasked: 0 });
        self.asked += bytes;
        bytes
    }

    /// A packet goes as soon as a byte of it is granted: grants are cut as packets were asked for, and packets that were lost go ahead
    /// of them. A source that held a part of one for long would keep the endpoint from granting to others.
    fn lets(&self, _: CongestionParams<'_>, bytes: u64, _: u64, _: u64) -> bool {
        self.granted > 0 || self.queue.front().is_some_and(|first| first.unasked >= bytes)
    }

    fn sent(&mut self, _: &Tuning, bytes: u64, _: u64) -> u8 {
        let Some(first) = self.queue.front_mut() else { return 0 };
        let is_unasked = first.unasked >= bytes;
        first.left -= bytes;
        first.unasked -= if is_unasked { bytes } else { 0 };
        if first.left == 0 {
            self.queue.pop_front();
        }
        if is_unasked {
            return 0;
        }
        let granted = bytes.min(self.granted);
        self.granted -= granted;
        self.asked -= bytes - granted;
        self.ahead += bytes - granted;
        GRANTED
    }

    fn hear(&mut self, _: &Tuning, note: &CongestionMessage, _: u64, _: &mut u64) {
        let sent = note.says.min(self.ahead);
        self.ahead -= sent;
        self.granted += note.says - sent;
        self.asked -= note.says - sent;
    }

    fn is_new(&mut self, _: &Tuning, _: u64, _: u64) -> bool {
        self.queue.is_empty() && self.ahead == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: u64 = (1 << 16) * 80;

    fn terms() -> CongestionParams<'static> {
        CongestionParams {
            congestion: crate::Congestion::Grants,
            one_way: 1_800_000,
            round: 4_000_000,
            window: ONE,
            most: 4096,
            wire: 4096,
            terminals: 10,
            reorder: None,
            shared: false,
            tuning: &crate::Tuning::DEFAULT,
        }
    }

    fn arriving(payload: u64, mark: u8) -> ArrivingPacket {
        ArrivingPacket {
            now: 0,
            source: 0,
            bytes: payload as u32,
            payload: payload as u32,
            waits: 0,
            pace: PACE,
            carried: 0,
            round: 0,
            mark,
            is_dropped: false,
        }
    }

    /// A pair that begins anew, with messages of any sizes: what was granted has arrived in the end, to the byte, and each packet was
    /// either granted or not. Packets that were not are no loss of what was granted.
    #[test]
    fn grants_are_counted_to_the_byte() {
        let terms = terms();
        let window = terms.window(PACE);
        let sizes = [
            [131_072, 1, 4096],
            [window, 5000, 4097],
            [window + 1, 9000, 3],
            [100, 60_000, 70_000],
        ];
        for messages in sizes {
            let (mut end, mut source) = (Receiver::default(), Sender::default());
            let (mut grants, mut under_way) = (Vec::new(), 0);
            let mut first = 0;
            for bytes in messages {
                let ask = source.add(terms, bytes, under_way, window);
                first += bytes - ask;
                end.asked(terms, 0, [ask, 0], PACE, &mut grants);
                under_way = 1;
            }
            assert!(first <= window && (first + 4096 > window || first == messages.iter().sum()));
            let packets = messages.iter().flat_map(|&bytes| {
                (0..bytes.div_ceil(4096)).map(move |i| (bytes - 4096 * i).min(4096))
            });
            let mut unasked = 0;
            for bytes in packets {
                for (_, says) in grants.drain(..) {
                    (source.granted, source.asked) = (source.granted + says, source.asked - says);
                }
                assert!(source.lets(terms, bytes, 0, window), "{messages:?}");
                let mark = source.sent(terms.tuning, bytes, 0);
                unasked += if mark == GRANTED { 0 } else { bytes };
                assert_eq!(Grants::reports_lost(mark), mark == GRANTED);
                end.arrived(terms, &arriving(bytes, mark), &mut grants);
            }
            assert_eq!((unasked, end.granted, source.queue.len()), (first, 0, 0), "{messages:?}");
            assert_eq!((source.ahead, source.granted, source.asked), (0, 0, 0), "{messages:?}");
        }
    }

    /// Bytes that are granted and have not arrived never exceed a round trip's worth and a packet; all requested bytes are granted in
    /// the end, round robin.
    #[test]
    fn grants_are_a_round_trips_worth() {
        let (terms, pace) = (terms(), PACE);
        let (mut end, mut grants) = (Receiver::default(), Vec::new());
        for source in 0..5 {
            end.asked(terms, source, [100_000, 0], pace, &mut grants);
        }
        let window = terms.window(pace);
        let mut waiting: VecDeque<(u32, u64)> = grants.drain(..).collect();
        let mut got = [0u64; 5];
        while let Some((source, bytes)) = waiting.pop_front() {
            let under_way: u64 = bytes + waiting.iter().map(|g| g.1).sum::<u64>();
            assert!(under_way < window + 4096, "{under_way} of {window}");
            got[source as usize] += bytes;
            let a = ArrivingPacket { source, ..arriving(bytes, GRANTED) };
            end.arrived(terms, &a, &mut grants);
            waiting.extend(grants.drain(..));
            let [least, most] = [got.iter().min(), got.iter().max()].map(|g| *g.expect("five"));
            // The first one has all of the first window to itself; from then on they take turns.
            assert!(most - least <= window + 2 * 4096, "{got:?}");
        }
        assert_eq!(got, [100_000; 5]);
    }
}
