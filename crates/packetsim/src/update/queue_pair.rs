//! One end of a reliable connection: an InfiniBand queue pair, for order, loss and change of path.
//!
//! Packets carry sequence numbers; the receiver accepts them only in order, acknowledges each, and requests a missing one once
//! (go-back-N: InfiniBand Architecture Specification, volume 1, section 9.7). An end that drains (SQD, section 10.3.1.5) finishes
//! the message that it has started and starts no other; when all is acknowledged it may change its path and resume.

use std::collections::VecDeque;

/// Treatment of messages that an end has not started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendState {
    /// Sends them (RTS state).
    Ready,
    /// Waits until all that was started is acknowledged (SQD); then changes to the path of a generation.
    Draining(u8),
    /// Is drained, and changes its path.
    Migrating(u8),
    /// Went back too often in a row: in error, it sends nothing any more.
    Broken,
}

/// A message that is not wholly cut into packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingMessage {
    /// Number that its sender gave it.
    pub(crate) message: u32,
    /// The job that it is counted with.
    pub(crate) job: u16,
    /// Bytes that are in no packet yet.
    pub(crate) left: u64,
    /// Whether a packet of it was made.
    pub(crate) started: bool,
}

/// A packet that was sent and is not acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) message: u32,
    pub(crate) job: u16,
    pub(crate) payload: u32,
    /// Whether it is the last one of its message.
    pub(crate) last: bool,
}

/// One end: messages that it sends, and state of those it receives from the other.
#[derive(Clone, Debug)]
pub(crate) struct QueuePair {
    /// Its own terminal, and the one that it sends to.
    pub(crate) host: u32,
    pub(crate) peer: u32,
    /// The tables that its path is from, and that path: LID and service level (see [`super::tables::path`]).
    pub(crate) generation: u8,
    pub(crate) path: u8,
    pub(crate) state: SendState,
    pub(crate) messages: VecDeque<PendingMessage>,
    /// Packets from the oldest unacknowledged one on; its sequence number; the one to send next, which is before the end of
    /// `sent` after a loss.
    sent: VecDeque<Segment>,
    oldest: u32,
    cursor: u32,
    /// Packets that it has put on the channel, first and again: each carries its number, so that overtaking is seen.
    transmissions: u32,
    /// Of the other end: the expected sequence number, whether it was requested again, and the newest transmission received.
    expected: u32,
    asked: bool,
    newest: u32,
    /// Marks of the tables that packets of the message in flight followed.
    met: u8,
    /// Whether it is among those that take turns at its adapter; whether a timer runs for it.
    pub(crate) is_active: bool,
    pub(crate) has_timer: bool,
    /// Time of the last acknowledgement, or of the first packet sent while nothing was in flight.
    pub(crate) progress: u64,
    /// Since when messages wait only because the path changes.
    pub(crate) held: Option<u64>,
    /// Times that it went back since something was acknowledged.
    pub(crate) retries: u32,
}

/// The result of receiving a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceiveResult {
    /// It was overtaken by one that was sent after it.
    pub(crate) overtaken: bool,
    /// It was the expected one; marks of the tables that its message followed, if it was the last of it.
    pub(crate) in_order: bool,
    pub(crate) message_met: Option<u8>,
    /// The acknowledgement: the sequence number expected now, and whether something is missing; none where that was requested
    /// already.
    pub(crate) answer: Option<(u32, bool)>,
}

impl QueuePair {
    pub(crate) fn new(host: u32, peer: u32, generation: u8, path: u8) -> Self {
        Self {
            host,
            peer,
            generation,
            path,
            state: SendState::Ready,
            messages: VecDeque::new(),
            sent: VecDeque::new(),
            oldest: 0,
            cursor: 0,
            transmissions: 0,
            expected: 0,
            asked: false,
            newest: 0,
            met: 0,
            is_active: false,
            has_timer: false,
            progress: 0,
            held: None,
            retries: 0,
        }
    }

    fn next_new(&self) -> u32 {
        self.oldest + self.sent.len() as u32
    }

    /// Whether nothing is in flight.
    pub(crate) fn is_quiet(&self) -> bool {
        self.sent.is_empty()
    }

    /// Whether all that was started is acknowledged.
    pub(crate) fn is_drained(&self) -> bool {
        self.sent.is_empty() && !self.messages.front().is_some_and(|m| m.started)
    }

    /// Whether it may put a packet on the channel, with at most `window` packets in flight.
    pub(crate) fn can_send(&self, window: u32) -> bool {
        if self.state == SendState::Broken {
            return false;
        }
        if self.cursor < self.next_new() {
            return true;
        }
        let may_begin = match (self.messages.front(), self.state) {
            (None, _) | (_, SendState::Migrating(_) | SendState::Broken) => false,
            (Some(_), SendState::Ready) => true,
            (Some(first), SendState::Draining(_)) => first.started,
        };
        may_begin && (self.sent.len() as u32) < window
    }

    /// The next packet of at most `most` bytes of data: its sequence number, its transmission number, its segment, and whether
    /// it was sent before. Only after [`QueuePair::can_send`].
    pub(crate) fn send(&mut self, most: u32, now: u64) -> Option<(u32, u32, Segment, bool)> {
        let again = self.cursor < self.next_new();
        if !again {
            let work = self.messages.front_mut()?;
            let payload = work.left.min(u64::from(most)) as u32;
            work.left -= u64::from(payload);
            work.started = true;
            let last = work.left == 0;
            let segment = Segment { message: work.message, job: work.job, payload, last };
            if last {
                self.messages.pop_front();
            }
            if self.sent.is_empty() {
                self.progress = now;
            }
            self.sent.push_back(segment);
        }
        let number = self.cursor;
        self.cursor += 1;
        self.transmissions += 1;
        let segment = *self.sent.get((number - self.oldest) as usize)?;
        Some((number, self.transmissions, segment, again))
    }

    /// The other end has everything before a sequence number. Whether that is news.
    pub(crate) fn acknowledged(&mut self, upto: u32) -> bool {
        let count = (upto.saturating_sub(self.oldest) as usize).min(self.sent.len());
        self.sent.drain(..count);
        self.oldest += count as u32;
        self.cursor = self.cursor.max(self.oldest);
        count > 0
    }

    /// Sends everything again that is not acknowledged.
    pub(crate) fn go_back(&mut self) {
        self.cursor = self.oldest;
    }

    /// The job of the oldest packet that is not acknowledged, or of the first message that waits.
    pub(crate) fn job(&self) -> Option<u16> {
        self.sent.front().map(|s| s.job).or_else(|| self.messages.front().map(|m| m.job))
    }

    /// A packet of the other end arrives.
    pub(crate) fn receive(
        &mut self,
        number: u32,
        transmission: u32,
        last: bool,
        met: u8,
    ) -> ReceiveResult {
        let overtaken = transmission < self.newest;
        self.newest = self.newest.max(transmission);
        let mut accepted =
            ReceiveResult { overtaken, in_order: false, message_met: None, answer: None };
        if number == self.expected {
            self.expected += 1;
            self.asked = false;
            self.met |= met;
            accepted.in_order = true;
            if last {
                accepted.message_met = Some(std::mem::take(&mut self.met));
            }
            accepted.answer = Some((self.expected, false));
        } else if number < self.expected {
            accepted.answer = Some((self.expected, false));
        } else if !std::mem::replace(&mut self.asked, true) {
            accepted.answer = Some((self.expected, true));
        }
        accepted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_message(bytes: u64) -> QueuePair {
        let mut end = QueuePair::new(0, 1, 0, 0);
        end.messages.push_back(PendingMessage { message: 7, job: 0, left: bytes, started: false });
        end
    }

    #[test]
    fn what_is_lost_is_sent_again_in_order() {
        let mut sender = with_message(5000);
        let mut receiver = QueuePair::new(1, 0, 0, 0);
        let sent: Vec<_> = (0..3).filter_map(|_| sender.send(2000, 0)).collect();
        assert_eq!(sent.iter().map(|s| s.2.payload).collect::<Vec<_>>(), [2000, 2000, 1000]);
        assert!(!sender.can_send(8) && sent[2].2.last);
        // The first is lost: the second triggers a request for it, the third none.
        let second = receiver.receive(sent[1].0, sent[1].1, false, 0);
        assert_eq!((second.in_order, second.answer), (false, Some((0, true))));
        assert_eq!(receiver.receive(sent[2].0, sent[2].1, true, 0).answer, None);
        assert!(!sender.acknowledged(0));
        sender.go_back();
        for k in 0..3 {
            assert!(sender.can_send(8));
            let (number, transmission, segment, again) = sender.send(2000, 0).expect("again");
            assert!(again && number == k);
            let got = receiver.receive(number, transmission, segment.last, 0);
            assert!(got.in_order && !got.overtaken);
            assert!(sender.acknowledged(k + 1));
        }
        assert!(sender.is_drained() && !sender.can_send(8));
    }

    #[test]
    fn overtaking_is_seen_and_marks_are_of_messages() {
        let mut sender = with_message(4000);
        let mut receiver = QueuePair::new(1, 0, 0, 0);
        let a = sender.send(2000, 0).expect("a packet");
        let b = sender.send(2000, 0).expect("a packet");
        assert_eq!(receiver.receive(b.0, b.1, true, 2).answer, Some((0, true)));
        let late = receiver.receive(a.0, a.1, false, 1);
        assert!(late.overtaken && late.in_order);
        assert_eq!(receiver.receive(b.0, 3, true, 2).message_met, Some(3));
    }

    #[test]
    fn draining_ends_what_was_begun_and_begins_nothing() {
        let mut sender = with_message(4000);
        sender.messages.push_back(PendingMessage { message: 8, job: 0, left: 100, started: false });
        let first = sender.send(2000, 0);
        assert!(first.is_some());
        sender.state = SendState::Draining(1);
        assert!(sender.can_send(8) && !sender.is_drained(), "its message is half sent");
        assert!(sender.send(2000, 0).is_some_and(|s| s.2.last));
        assert!(!sender.can_send(8) && !sender.is_drained());
        assert!(sender.acknowledged(2) && sender.is_drained());
        sender.state = SendState::Ready;
        assert!(sender.can_send(8));
    }
}
