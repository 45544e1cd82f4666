//! The messages that a terminal has to send, by endpoint.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::Sender;
use super::congestion_message::{CongestionMessage, Lost};
use super::params::CongestionParams;
use super::sides::Sending;
use crate::message::Message;
use crate::reorder::Numbers;

/// Messages to one endpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Pair {
    messages: VecDeque<Message>,
    /// Bytes of these messages.
    queued: u64,
    /// Bytes that are not acknowledged.
    under_way: u64,
    /// State of congestion control for the pair, and when the next packet may leave.
    source: Sender,
    next: u64,
    /// Packets stay in order as long as this is the same.
    flowlet: u8,
    /// With a reorder window, numbers of its packets.
    numbers: Numbers,
    /// Whether it is among those that take turns or wait for their time.
    is_open: bool,
}

/// The messages that a terminal has to send: pairs are served round robin, a packet each.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outbox {
    pairs: BTreeMap<u32, Pair>,
    /// Messages in the host, in order: the first one waits until the queue for its endpoint has space, and all behind it wait
    /// too.
    hosts: VecDeque<Message>,
    /// Endpoints of pairs that may send, in the order of their turns.
    ready: VecDeque<u32>,
    /// Pairs that may send from a time on.
    waiting: BTreeSet<(u64, u32)>,
    /// Number of the last flowlet.
    flowlet: u8,
}

/// The next transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A message of which this many bytes are not sent, not before a time.
    Send { bytes: u64, after: u64 },
    /// No pair may send before this time.
    Later(u64),
    /// No pair may send until something is acknowledged or there is more to send.
    Nobody,
}

/// A packet that an outbox sends.
pub(crate) struct Sent {
    /// The message that it is of.
    pub(crate) message: Message,
    pub(crate) flowlet: u8,
    /// Mark that its source gives it.
    pub(crate) mark: u8,
}

impl Outbox {
    /// There is another message, in the host.
    pub(crate) fn post(&mut self, message: Message) {
        self.hosts.push_back(message);
    }

    /// Whether messages wait in the host.
    #[inline]
    pub(crate) fn leaves_some(&self) -> bool {
        !self.hosts.is_empty()
    }

    /// The adapter takes the next message of its host, if there is one and its queue has space, on a channel that takes `pace`
    /// for 2^16 bytes: returns its endpoint, and the bytes to request from it, or 0.
    pub(crate) fn take(&mut self, terms: CongestionParams<'_>, pace: u64) -> Option<(u32, u64)> {
        let message = *self.hosts.front()?;
        let space = terms.tuning.notes.queue;
        let queued = self.pairs.get(&message.to).map_or(0, |pair| pair.queued);
        if space > 0 && queued >= space {
            return None;
        }
        self.hosts.pop_front();
        Some((message.to, self.add(terms, message, pace)))
    }

    fn add(&mut self, terms: CongestionParams<'_>, message: Message, pace: u64) -> u64 {
        let pair = self
            .pairs
            .entry(message.to)
            .or_insert_with(|| Pair { source: Sender::new(terms.congestion), ..Pair::default() });
        let request = pair.source.add(terms, message.bytes, pair.under_way, terms.window(pace));
        pair.messages.push_back(message);
        pair.queued += message.bytes;
        if !std::mem::replace(&mut pair.is_open, true) {
            self.ready.push_back(message.to);
        }
        request
    }

    /// Whether no pair is ready or waits for a time.
    pub(crate) fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.waiting.is_empty()
    }

    /// The pair that is scheduled next on a channel that takes `pace` for 2^16 bytes, before a time.
    pub(crate) fn turn(&mut self, terms: CongestionParams<'_>, pace: u64, end: u64) -> Turn {
        while let Some(&(when, to)) = self.waiting.first()
            && when < end
        {
            self.waiting.pop_first();
            self.ready.push_back(to);
        }
        while let Some(&to) = self.ready.front() {
            let Some(pair) = self.pairs.get_mut(&to) else {
                self.ready.pop_front();
                continue;
            };
            let Some(message) = pair.messages.front() else {
                pair.is_open = false;
                self.ready.pop_front();
                continue;
            };
            let bytes = message.bytes.min(terms.most.into());
            let is_ahead = terms.reorder.is_some_and(|window| !pair.numbers.lets(window));
            if is_ahead || !pair.source.lets(terms, bytes, pair.under_way, terms.window(pace)) {
                pair.is_open = false;
                self.ready.pop_front();
            } else if pair.next >= end {
                self.ready.pop_front();
                self.waiting.insert((pair.next, to));
            } else {
                return Turn::Send { bytes: message.bytes, after: pair.next };
            }
        }
        self.waiting.first().map_or(Turn::Nobody, |w| Turn::Later(w.0))
    }

    /// The scheduled pair sends a packet with `payload` bytes of its message, `bytes` on the channel, at a time.
    pub(crate) fn send(
        &mut self,
        terms: CongestionParams<'_>,
        payload: u32,
        bytes: u32,
        departs: u64,
        pace: u64,
    ) -> Option<Sent> {
        let to = self.ready.pop_front()?;
        let pair = self.pairs.get_mut(&to)?;
        let message = pair.messages.front_mut()?;
        message.bytes -= u64::from(payload);
        pair.queued -= u64::from(payload);
        let sent = *message;
        if message.bytes == 0 {
            pair.messages.pop_front();
        }
        if pair.under_way == 0 {
            self.flowlet = self.flowlet.wrapping_add(1);
            pair.flowlet = self.flowlet;
        }
        pair.under_way += u64::from(bytes);
        let mark = pair.source.sent(terms.tuning, payload.into(), departs);
        pair.next =
            departs + ((u64::from(bytes) * pair.source.pace(terms.tuning, departs, pace)) >> 16);
        pair.is_open = !pair.messages.is_empty();
        if pair.is_open {
            self.ready.push_back(to);
        }
        let flowlet = if terms.reorder.is_some() { pair.numbers.take() } else { pair.flowlet };
        Some(Sent { message: sent, flowlet, mark })
    }

    /// Handles a message about a pair at a time. Returns the bytes to request from the endpoint, or 0.
    pub(crate) fn hear(
        &mut self,
        terms: CongestionParams<'_>,
        note: &CongestionMessage,
        now: u64,
        pace: u64,
    ) -> u64 {
        let Some(pair) = self.pairs.get_mut(&note.endpoint) else { return 0 };
        pair.under_way -= u64::from(note.bytes);
        if let Some(oldest) = note.in_order {
            pair.numbers.has_all_before(oldest);
        }
        let mut request = 0;
        if let Some(Lost { message, .. }) = note.lost {
            request = pair.source.add_lost(message.bytes);
            pair.queued += message.bytes;
            pair.messages.push_front(message);
        }
        pair.source.hear(terms.tuning, note, now, &mut pair.next);
        if !pair.messages.is_empty() && !pair.is_open {
            pair.is_open = true;
            self.ready.push_back(note.endpoint);
        }
        // No state remains, unless packets are numbered: their endpoint keeps state, too.
        if terms.reorder.is_none()
            && pair.messages.is_empty()
            && pair.under_way == 0
            && !pair.is_open
            && pair.source.is_new(terms.tuning, now, pace)
        {
            self.pairs.remove(&note.endpoint);
        }
        request
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Congestion, Tuning};

    /// A message waits in its host while more than the queue holds waits for its endpoint, and those behind it do, too.
    #[test]
    fn queues_of_endpoints_end() {
        let mut tuning = Tuning::DEFAULT;
        tuning.notes.queue = 1000;
        let terms = CongestionParams {
            congestion: Congestion::Ecn,
            one_way: 1,
            round: 2,
            window: crate::congestion::tuning::ONE,
            most: 1000,
            wire: 1000,
            terminals: 4,
            reorder: None,
            shared: false,
            tuning: &tuning,
        };
        let mut outbox = Outbox::default();
        for (number, to, bytes) in [(0, 1, 1500), (1, 1, 100), (2, 2, 100)] {
            let (group, path, class, connection, born) = (0, None, 0, None, None);
            let message = Message { number, to, bytes, group, path, class, connection, born };
            outbox.post(message);
        }
        let taken = |outbox: &mut Outbox| -> Vec<u32> {
            std::iter::from_fn(|| outbox.take(terms, 1)).map(|(to, _)| to).collect()
        };
        assert_eq!(taken(&mut outbox), [1]);
        assert_eq!(outbox.turn(terms, 1, 10), Turn::Send { bytes: 1500, after: 0 });
        assert_eq!(outbox.send(terms, 1000, 1000, 0, 1).map(|s| s.message.number), Some(0));
        assert_eq!(taken(&mut outbox), [1, 2]);
        assert_eq!(taken(&mut outbox), [0; 0]);
    }
}
