//! Packets that arrive at a switch.

use super::features::Features;
use super::{SwitchContext, Switches};
use crate::class::EVEN;
use crate::congestion::{CongestionMessage, Lost, Notification, SPECULATIVE};
use crate::message::Message;
use crate::packet::NOBODY;
use crate::routing::{LOST, Routing, SwitchView};
use crate::switch_model::PathPinning;
use crate::{Peer, Queues};

impl Switches<'_> {
    /// A packet that has arrived is routed, and waits.
    #[inline]
    pub(super) fn enter<R: Routing, F: Features>(
        &mut self,
        now: u64,
        s: u32,
        input: u32,
        routing: &R,
        context: &mut SwitchContext<'_>,
    ) {
        let packets = &mut *context.packets;
        let base = self.net.base(s);
        let at = self.at(base);
        let id = std::mem::replace(&mut self.arriving[at + input as usize], NOBODY);
        let packet = packets.of_mut(id);
        let radix = self.net.radix(s) as usize;
        let classes = self.micro.classes.len();
        let mut here = SwitchView::new(
            self.net,
            (s, input),
            self.micro.lanes,
            &self.outputs[at..at + radix],
            &mut self.random[(s - self.span.switches.start) as usize],
            context.board,
        );
        // Routings see the lanes of one class.
        let was = packet.lane;
        let (mut class, mut kind) = (0, None);
        if !F::PLAIN {
            class = was >> self.class_bits;
            kind = self.micro.classes.get(usize::from(class));
            here.classes = &self.of_class[at * classes..(at + radix) * classes];
            packet.lane = was & ((1u8 << self.class_bits) - 1);
            (here.bias, here.class) = (kind.map_or(EVEN, |k| k.bias), class);
        }
        let order = if R::STEADY || F::PLAIN { PathPinning::Free } else { self.micro.order(kind) };
        let follows = order != PathPinning::Free;
        let before = if follows { self.flows.again(s, class, packet, (order, now)) } else { None };
        let (out, lane) = before.unwrap_or_else(|| routing.route(&mut here, packet));
        if R::LOSES && out == LOST {
            packet.lane = was;
            self.drop_packet(id, base + input, context);
            return;
        }
        // There is one path to a terminal.
        if follows && before.is_none() && matches!(self.net.port(base + out).peer(), Peer::Port(_))
        {
            self.flows.keep(s, class, packet, (out, lane), now);
        }
        debug_assert!(lane < self.micro.lanes, "lane {lane} of {}", self.micro.lanes);
        let lane = class << self.class_bits | lane;
        (packet.lane, packet.next_lane, packet.next) = (was, lane, NOBODY);
        (packet.input, packet.out) = (input as u16, out as u16);
        let of = if F::PLAIN { 0 } else { (at + out as usize) * classes + usize::from(class) };
        if !F::PLAIN && packet.mark == SPECULATIVE && self.micro.congestion.drops_speculative() {
            let to = self.net.port(base + out);
            let waits =
                self.of_class.get(of).map_or(self.outputs[at + out as usize].queued, |c| c.queued);
            // A packet before which nothing waits does not wait itself, however long it is.
            let follows_others = waits > 0;
            let waits = waits + packet.bytes;
            if follows_others
                && matches!(to.peer(), Peer::Terminal(_))
                && self.micro.tuning.reserve.is_too_much(waits.into(), self.round, to.pace)
            {
                let hears = now + u64::from(packet.back);
                self.lose(hears, Some(waits), id, base + input, context);
                return;
            }
        }
        if let Some(kind) = kind {
            let queued = &mut self.of_class[of].queued;
            if kind.lossy && *queued + packet.bytes > self.micro.buffer_space(class.into()) {
                // A source detects the loss without a message, after two round trips (decision).
                self.lose(now + 2 * self.round, None, id, base + input, context);
                return;
            }
            *queued += packet.bytes;
        }
        self.outputs[at + out as usize].queued += packet.bytes;
        let lane = match self.micro.queues {
            Queues::Lanes => packet.lane,
            Queues::Outputs | Queues::Memory => lane,
        };
        let q = self.queue(s, input, out, lane);
        if self.busy[q / 64] >> (q % 64) & 1 == 0 {
            self.busy[q / 64] |= 1 << (q % 64);
            self.request(s, id, out, packets);
        } else {
            packets.of_mut(self.tails[q]).next = id;
        }
        self.tails[q] = id;
    }

    /// Drops a packet that has arrived at a port: its credits are returned when it is through, and its source is not
    /// notified.
    #[cold]
    fn drop_packet(&mut self, id: u32, port: u32, context: &mut SwitchContext<'_>) {
        let packet = context.packets.remove(id);
        self.dropped += 1;
        let from = self.net.port(port);
        let through = packet.at + from.long(packet.bytes);
        self.give_back(from, packet.lane, packet.bytes, through, context);
        self.lost.push(packet);
    }

    /// Drops a packet that has arrived at a port. Its credits are returned when it is through; its source is notified at `when`, and
    /// sends it again.
    fn lose(
        &mut self,
        when: u64,
        waits: Option<u32>,
        id: u32,
        port: u32,
        context: &mut SwitchContext<'_>,
    ) {
        let packet = context.packets.remove(id);
        self.dropped += 1;
        let from = self.net.port(port);
        self.give_back(
            from,
            packet.lane,
            packet.bytes,
            packet.at + from.long(packet.bytes),
            context,
        );
        let note = CongestionMessage {
            source: packet.from,
            endpoint: packet.to,
            class: packet.lane >> self.class_bits,
            to_endpoint: false,
            bytes: packet.bytes,
            says: 0,
            in_order: None,
            lost: Some(Lost {
                message: Message {
                    number: packet.message,
                    to: packet.to,
                    bytes: packet.payload().into(),
                    group: packet.group,
                    path: Some(packet.path),
                    class: packet.lane >> self.class_bits,
                    connection: None,
                    born: Some(packet.born),
                },
                mark: packet.mark,
            }),
        };
        context.notifications.push(Notification { when, note, waits, port });
    }
}
