//! Packets that leave their terminals flit by flit, and are whole again where they arrive.

use super::Partition;
use super::pieces::{Piece, Rest};
use super::terminals::NextSend;
use crate::packet::{NOBODY, Packet};
use crate::routing::Routing;
use crate::switch::{HEAD, TAIL};
use crate::wheel::{Event, What};

impl<R: Routing> Partition<'_, R> {
    /// A terminal sends flits of its packets in this tick, packet by packet.
    pub(super) fn go_on_by_flits(&mut self, from: u32, now: u64) {
        let port = self.net.port(self.net.home(from));
        let seat = self.seat(from);
        let end = now + self.micro.tick;
        loop {
            let terminal = &mut self.terminals[seat];
            if terminal.channel >= end {
                let is_done = self.rests[seat].bytes == 0 && self.is_idle(seat);
                if !self.terminals[seat].woken && !is_done {
                    let terminal = &mut self.terminals[seat];
                    terminal.woken = true;
                    self.wheel.within(terminal.channel, Event::new(What::Terminal, from, 0));
                }
                return;
            }
            if self.rests[seat].bytes == 0 && !self.open(from, now) {
                return;
            }
            let Rest { bytes, pad, born, to, message, group, path, lane, begun } = self.rests[seat];
            // Nothing is shorter than a tick: the remainder is in the last flit.
            let flit = self.lengths.piece;
            let long = if bytes < 2 * flit { bytes } else { flit };
            let room = &mut self.rooms[seat << self.micro.all_lane_bits() | usize::from(lane)];
            if room.room + self.pools[seat] < long {
                return;
            }
            self.pools[seat] -= room.take(long);
            let terminal = &mut self.terminals[seat];
            let mut departs = terminal.channel.max(now);
            if self.micro.bit_errors > 0.0 {
                let again = self.micro.sent_again(long, &mut terminal.random);
                departs += again * (port.long(long) + 2 * u64::from(port.latency));
            }
            let is_tail = long == bytes;
            let gap = if is_tail { self.micro.framing.gap } else { 0 };
            terminal.channel = departs + port.long(long + gap);
            let padding = pad.min(u16::try_from(long).unwrap_or(u16::MAX));
            let mark = if begun { 0 } else { HEAD } | if is_tail { TAIL } else { 0 };
            let at = departs + u64::from(port.latency);
            let packet = Packet {
                born,
                at,
                from,
                to,
                message,
                via: NOBODY,
                bytes: long,
                back: port.latency,
                next: NOBODY,
                beside: NOBODY,
                input: 0,
                out: 0,
                group,
                pad: padding,
                path,
                flowlet: 0,
                mark,
                lane,
                next_lane: 0,
                hops: 0,
                phase: 0,
                round: false,
            };
            let rest = &mut self.rests[seat];
            (rest.bytes, rest.pad, rest.begun) = (bytes - long, pad - padding, true);
            self.balance += i64::from(!begun);
            let id = self.packets.add(packet);
            self.wheel.after(at, Event::new(What::Arrival, self.net.home(from), id));
        }
    }

    /// The packet that a terminal sends next, if it has one and credits for its head.
    fn open(&mut self, from: u32, now: u64) -> bool {
        let seat = self.seat(from);
        // With flits there is one class, and no source is throttled: there is something to send now, or nothing.
        let NextSend::Now(could) = self.ready(seat, 0, 0, now) else { return false };
        let bytes = self.micro.framing.frame(could.payload).max(self.lengths.least);
        let Some(sent) = self.by_turns(seat, could.payload) else {
            return false;
        };
        let next = could.lane + 1;
        let terminal = &mut self.terminals[seat];
        terminal.lane = if next == self.micro.lanes { 0 } else { next };
        let message = sent.message;
        self.rests[seat] = Rest {
            bytes,
            pad: (bytes - could.payload) as u16,
            born: message.born.unwrap_or(terminal.channel.max(now)),
            to: message.to,
            message: message.number,
            group: message.group,
            path: message.path.unwrap_or_else(|| self.routing.path_of(from)),
            lane: could.lane,
            begun: false,
        };
        true
    }

    /// A flit is at its destination: the whole packet, if it was the last one.
    pub(super) fn assemble(&mut self, flit: &Packet) -> Option<Packet> {
        let place = self.seat(flit.to) << self.micro.all_lane_bits() | usize::from(flit.lane);
        let piece = &mut self.pieces[place];
        debug_assert!(
            if flit.mark & HEAD != 0 { piece.bytes == 0 } else { piece.from == flit.from },
            "flits of two packets in one lane"
        );
        piece.from = flit.from;
        piece.bytes += flit.bytes;
        piece.pad += flit.pad;
        if flit.mark & TAIL == 0 {
            return None;
        }
        let Piece { bytes, pad, .. } = std::mem::take(piece);
        self.balance -= 1;
        Some(Packet { bytes, pad, mark: 0, flowlet: 0, ..*flit })
    }
}
