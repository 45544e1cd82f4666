//! What a terminal has to send, by endpoint.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::Ack;
use crate::part::Message;

/// Messages to one endpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Pair {
    messages: VecDeque<Message>,
    /// Bytes that are not acknowledged.
    under_way: u64,
    /// Picoseconds that 2^16 bytes take, or 0, and when the next packet may leave.
    pace: u64,
    next: u64,
    /// Whether it is among those that take turns or wait for their time.
    is_open: bool,
}

/// What a terminal has to send: pairs take turns, a packet each.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outbox {
    pairs: BTreeMap<u32, Pair>,
    /// Endpoints of pairs that may send, in the order of their turns.
    ready: VecDeque<u32>,
    /// Pairs that may send from a time on.
    waiting: BTreeSet<(u64, u32)>,
}

/// Who may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A message of which so many bytes are not sent, not before a time.
    Send { bytes: u64, after: u64 },
    /// Nobody before this time.
    Later(u64),
    /// Nobody, until something is acknowledged or there is more to send.
    Nobody,
}

impl Outbox {
    /// There is another message.
    pub(crate) fn add(&mut self, message: Message) {
        let pair = self.pairs.entry(message.to).or_default();
        pair.messages.push_back(message);
        if !std::mem::replace(&mut pair.is_open, true) {
            self.ready.push_back(message.to);
        }
    }

    /// Whether nobody takes turns, or waits for a time.
    pub(crate) fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.waiting.is_empty()
    }

    /// Whose turn it is, of pairs that have at most so many bytes under way, to send packets of so many bytes before a time.
    pub(crate) fn turn(&mut self, window: u64, most: u64, end: u64) -> Turn {
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
            let bytes = message.bytes.min(most);
            if pair.under_way > 0 && pair.under_way + bytes > window {
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

    /// The pair whose turn it is sends a packet of so many bytes, on the channel as many as `bytes`, at a time. The message
    /// that it is of.
    pub(crate) fn send(&mut self, payload: u32, bytes: u32, departs: u64) -> Option<Message> {
        let to = self.ready.pop_front()?;
        let pair = self.pairs.get_mut(&to)?;
        let message = pair.messages.front_mut()?;
        message.bytes -= u64::from(payload);
        let sent = *message;
        if message.bytes == 0 {
            pair.messages.pop_front();
        }
        pair.under_way += u64::from(bytes);
        pair.next = departs + ((u64::from(bytes) * pair.pace) >> 16);
        pair.is_open = !pair.messages.is_empty();
        if pair.is_open {
            self.ready.push_back(to);
        }
        Some(sent)
    }

    /// A packet was acknowledged at a time.
    pub(crate) fn acknowledged(&mut self, ack: &Ack, now: u64) {
        let Some(pair) = self.pairs.get_mut(&ack.endpoint) else { return };
        pair.under_way -= u64::from(ack.bytes);
        if pair.pace == 0 && ack.pace > 0 {
            // What it has sent already is more than its share. Sources that hear at once do not go on at once.
            let lot = u64::from(ack.source.wrapping_mul(0x9e37_79b9) >> 16);
            pair.next = now + ((((u64::from(ack.bytes) * ack.pace) >> 16) * lot) >> 16);
        }
        pair.pace = ack.pace;
        if ack.pace == 0 {
            pair.next = pair.next.min(now);
        }
        if !pair.messages.is_empty() && !pair.is_open {
            pair.is_open = true;
            self.ready.push_back(ack.endpoint);
        }
        // Nothing is left to remember.
        if pair.messages.is_empty() && pair.under_way == 0 && pair.pace == 0 && !pair.is_open {
            self.pairs.remove(&ack.endpoint);
        }
    }
}
