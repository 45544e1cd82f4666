//! The transmissions of terminals and their times.

use std::collections::VecDeque;

use super::Partition;
use crate::Peer;
use crate::class::Next;
use crate::congestion::{CongestionMessage, Outbox, Sent, Turn};
use crate::message::Message;
use crate::packet::{NOBODY, Packet};
use crate::pause::Pause;
use crate::routing::Routing;
use crate::wheel::{CAME_IN, Event, What};

/// A packet that a terminal could send.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendablePacket {
    pub(super) payload: u32,
    /// Not before this time.
    after: u64,
    pub(super) lane: u8,
}

/// The next transmission of a class.
#[derive(Clone, Copy, Debug)]
pub(super) enum NextSend {
    Now(SendablePacket),
    Later(u64),
    Nothing,
}

impl<R: Routing> Partition<'_, R> {
    /// A terminal has a message to send, at a time in this tick.
    pub(crate) fn send(&mut self, from: u32, message: Message, now: u64) {
        let at = self.seat(from) * self.micro.class_count() + usize::from(message.class);
        if self.terms.is_some() {
            self.outboxes[at].post(message);
            self.take_messages(from, message.class, now);
        } else {
            match message.connection {
                Some(connection) if !self.connections[at].take(connection) => {
                    self.connections[at].wait(connection, message);
                }
                _ => self.queues[at].push_back(message),
            }
        }
        self.go_on(from, now);
    }

    /// The message that is scheduled next among those of a seat and class sends a packet of this size. Behind its last packet comes the
    /// next message of its connection, when it is its turn.
    pub(super) fn by_turns(&mut self, at: usize, payload: u32) -> Option<Sent> {
        let queue = &mut self.queues[at];
        let mut message = queue.pop_front()?;
        message.bytes -= u64::from(payload);
        if message.bytes > 0 {
            queue.push_back(message);
        } else if let Some(connection) = message.connection {
            queue.extend(self.connections[at].left(connection));
        }
        Some(Sent { message, flowlet: 0, mark: 0 })
    }

    /// An adapter takes messages of its host that it has space for, and sends requests to their endpoints if its
    /// scheme does.
    fn take_messages(&mut self, from: u32, class: u8, now: u64) {
        let Some(terms) = self.terms else { return };
        let at = self.seat(from) * self.micro.class_count() + usize::from(class);
        let pace = self.net.port(self.net.home(from)).pace;
        while let Some((endpoint, says)) = self.outboxes[at].take(terms, pace) {
            if says > 0 {
                let note = CongestionMessage {
                    source: from,
                    endpoint,
                    class,
                    to_endpoint: true,
                    bytes: 0,
                    says,
                    lost: None,
                    in_order: None,
                };
                self.ask(terms, note, now);
            }
        }
    }

    /// The next transmission of a class of the terminal at a seat, before the end of this tick.
    #[inline]
    pub(super) fn ready(&mut self, seat: usize, class: usize, pace: u64, now: u64) -> NextSend {
        let at = seat * self.micro.class_count() + class;
        let (open, after) = match self.terms {
            None => match self.queues[at].front() {
                Some(message) => (message.bytes, now),
                None => return NextSend::Nothing,
            },
            Some(terms) => match self.outboxes[at].turn(terms, pace, now + self.micro.tick) {
                Turn::Send { bytes, after } => (bytes, after.max(now)),
                Turn::Later(when) => return NextSend::Later(when),
                Turn::Nobody => return NextSend::Nothing,
            },
        };
        let payload = open.min(self.lengths.most.into()) as u32;
        let bytes = self.micro.framing.frame(payload).max(self.lengths.least);
        let bytes = bytes.min(self.lengths.piece);
        // Lanes into the first switch are all alike: nothing waits behind them.
        let lanes = usize::from(self.micro.lanes);
        let first = seat << self.micro.all_lane_bits() | class << self.micro.lane_bits();
        let (rooms, pool) = (&self.rooms[first..first + lanes], self.pools[seat]);
        let is_paused = |lane: usize| self.pauses.get(first + lane).is_some_and(Pause::is_on);
        if R::BY_SERVICE_LEVEL {
            let lane = self.queues[at].front().map_or(0, |message| message.path.unwrap_or(0) >> 4);
            if rooms[usize::from(lane)].room + pool < bytes || is_paused(lane.into()) {
                return NextSend::Nothing;
            }
            return NextSend::Now(SendablePacket { payload, after, lane });
        }
        let by_turns = (0..lanes).map(|i| {
            let lane = usize::from(self.terminals[seat].lane) + i;
            if lane >= lanes { lane - lanes } else { lane }
        });
        match by_turns.into_iter().find(|&l| rooms[l].room + pool >= bytes && !is_paused(l)) {
            Some(lane) => NextSend::Now(SendablePacket { payload, after, lane: lane as u8 }),
            None => NextSend::Nothing,
        }
    }

    /// The next packet of a terminal: of the class that is granted next.
    #[inline]
    fn upcoming_packet(&mut self, seat: usize, pace: u64, now: u64) -> (usize, NextSend) {
        if self.shares.is_plain() {
            return (0, self.ready(seat, 0, pace, now));
        }
        let (mut set, mut later) = (0u64, None::<u64>);
        for class in 0..self.micro.class_count() {
            match self.ready(seat, class, pace, now) {
                NextSend::Now(_) => set |= 1 << class,
                NextSend::Later(when) => later = Some(later.map_or(when, |l| l.min(when))),
                NextSend::Nothing => {}
            }
        }
        if set != 0 {
            match self.shares.next(seat, set, now) {
                Next::Class(c) => return (c as usize, self.ready(seat, c as usize, pace, now)),
                Next::Later(when) => {
                    let when = when.max(now + self.micro.tick);
                    later = Some(later.map_or(when, |l| l.min(when)));
                }
            }
        }
        (0, later.map_or(NextSend::Nothing, NextSend::Later))
    }

    /// Whether a terminal has anything to send, now or later.
    #[inline]
    pub(super) fn is_idle(&self, seat: usize) -> bool {
        let all = seat * self.micro.class_count()..(seat + 1) * self.micro.class_count();
        match self.terms {
            None => self.queues[all].iter().all(VecDeque::is_empty),
            Some(_) => self.outboxes[all].iter().all(Outbox::is_idle),
        }
    }

    /// A terminal sends all it can in this tick.
    pub(super) fn go_on(&mut self, from: u32, now: u64) {
        if !self.rests.is_empty() {
            self.go_on_by_flits(from, now);
            return;
        }
        let micro = self.micro;
        let home = self.net.home(from);
        let port = self.net.port(home);
        debug_assert_eq!(port.peer(), Peer::Terminal(from));
        let seat = self.seat(from);
        let end = now + micro.tick;
        loop {
            let terminal = &mut self.terminals[seat];
            if terminal.channel >= end {
                if !terminal.woken && !self.is_idle(seat) {
                    let terminal = &mut self.terminals[seat];
                    terminal.woken = true;
                    self.wheel.within(terminal.channel, Event::new(What::Terminal, from, 0));
                }
                return;
            }
            let (class, could) = match self.upcoming_packet(seat, port.pace, now) {
                (class, NextSend::Now(could)) => (class, could),
                (_, NextSend::Later(when)) => {
                    // Unless it will be woken before.
                    let terminal = &mut self.terminals[seat];
                    if terminal.wakes < end || when < terminal.wakes {
                        terminal.wakes = when;
                        self.wheel.within(when, Event::new(What::Terminal, from, 0));
                    }
                    return;
                }
                (_, NextSend::Nothing) => return,
            };
            let SendablePacket { payload, after, lane } = could;
            let bytes = self.micro.framing.frame(payload).max(self.lengths.least);
            let in_class = usize::from(lane) | class << micro.lane_bits();
            let room = &mut self.rooms[seat << micro.all_lane_bits() | in_class];
            self.pools[seat] -= room.take(bytes);
            let terminal = &mut self.terminals[seat];
            terminal.lane = if lane + 1 == micro.lanes { 0 } else { lane + 1 };
            let mut departs = terminal.channel.max(after);
            if micro.bit_errors > 0.0 {
                let again = micro.sent_again(bytes, &mut terminal.random);
                departs += again * (port.long(bytes) + 2 * u64::from(port.latency));
            }
            terminal.channel = departs + port.long(bytes + micro.framing.gap);
            self.shares.spend(seat, class as u32, now, port.long(bytes));
            let at = seat * micro.class_count() + class;
            let sent = match self.terms {
                None => self.by_turns(at, payload),
                Some(terms) => {
                    let sent = self.outboxes[at].send(terms, payload, bytes, departs, port.pace);
                    if self.outboxes[at].leaves_some() {
                        self.take_messages(from, class as u8, now);
                    }
                    sent
                }
            };
            let Some(Sent { message, flowlet, mark }) = sent else { return };
            if micro.pfc.is_some() {
                // Its switch has all of it, and says so by a pause if that is too much.
                let credit_at =
                    departs + port.long(bytes) + 2 * u64::from(port.latency) + micro.credit;
                let with = CAME_IN | (in_class as u32) << 24 | bytes;
                self.wheel.after(credit_at, Event::new(What::TerminalCredit, from, with));
            }
            let at = departs + u64::from(port.latency);
            let packet = Packet {
                born: message.born.unwrap_or(departs),
                at,
                from,
                to: message.to,
                message: message.number,
                via: NOBODY,
                bytes,
                back: port.latency,
                next: NOBODY,
                beside: NOBODY,
                input: 0,
                out: 0,
                group: message.group,
                pad: (bytes - payload) as u16,
                path: message.path.unwrap_or_else(|| self.routing.path_of(from)),
                flowlet,
                mark,
                lane: in_class as u8,
                next_lane: 0,
                hops: 0,
                phase: 0,
                round: false,
            };
            let id = self.packets.add(packet);
            self.wheel.after(at, Event::new(What::Arrival, home, id));
        }
    }
}
