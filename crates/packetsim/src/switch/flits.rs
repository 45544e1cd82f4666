//! Flits of several packets on one channel: the lane of an output that a packet holds until its tail has left.
//!
//! A packet consists of as many entries of the slab as it has flits, which follow its head. The head waits at the front of its queue
//! until one of the lanes that it may take is free, and holds it until the tail has left; lanes that can send are served round robin,
//! flit by flit. Credits are for flits, so that a packet may lie in several buffers (wormhole switching with virtual channels).
//!
//! W. J. Dally, Virtual-Channel Flow Control (IEEE Trans. Parallel and Distributed Systems 3, 1992).

use super::flit_lanes::{HEAD, HeadOutput};
use super::{SwitchContext, Switches};
use crate::packet::{NOBODY, Slab};
use crate::routing::{Routing, SwitchView};
use crate::{Peer, Waits};

impl Switches<'_> {
    /// Queues a flit that has arrived: a head is routed, its body follows it.
    pub(super) fn enter_flit<R: Routing>(
        &mut self,
        s: u32,
        input: u32,
        routing: &R,
        context: &mut SwitchContext<'_>,
    ) {
        let packets = &mut *context.packets;
        let at = self.at(self.net.base(s));
        let id = std::mem::replace(&mut self.arriving[at + input as usize], NOBODY);
        let packet = packets.of_mut(id);
        let place = (at + input as usize) << self.bits | usize::from(packet.lane);
        if packet.mark & HEAD != 0 {
            let radix = self.net.radix(s) as usize;
            let mut here = SwitchView::new(
                self.net,
                (s, input),
                self.micro.lanes,
                &self.outputs[at..at + radix],
                &mut self.random[(s - self.span.switches.start) as usize],
                context.board,
            );
            let (out, lane) = routing.route(&mut here, packet);
            let to_terminal =
                matches!(self.net.port(self.net.base(s) + out).peer(), Peer::Terminal(_));
            let all = (0, self.micro.lanes);
            let (first, behind) =
                if to_terminal { all } else { here.alike.unwrap_or((lane, lane + 1)) };
            // A head without a lane: the lanes that it may continue in.
            (packet.next_lane, packet.flowlet) = (first, behind);
            self.flits.ways[place] = HeadOutput { out: out as u16, round: packet.round };
        }
        let sent = self.flits.ways[place];
        (packet.input, packet.out, packet.round) = (input as u16, sent.out, sent.round);
        packet.next = NOBODY;
        self.outputs[at + usize::from(sent.out)].queued += packet.bytes;
        let q = self.queue(s, input, sent.out.into(), packet.lane);
        if self.busy[q / 64] >> (q % 64) & 1 == 0 {
            self.busy[q / 64] |= 1 << (q % 64);
            self.come_to_front(s, id, packets);
        } else {
            packets.of_mut(self.tails[q]).next = id;
        }
        self.tails[q] = id;
    }

    /// A flit is the first of its queue: a head requests a lane, its body continues in that lane.
    pub(super) fn come_to_front(&mut self, s: u32, id: u32, packets: &mut Slab) {
        let base = self.net.base(s);
        let packet = packets.of_mut(id);
        let out = u32::from(packet.out);
        if packet.mark & HEAD == 0 {
            let input = self.at(base + u32::from(packet.input));
            packet.next_lane = self.flits.goes_on[input << self.bits | usize::from(packet.lane)];
            self.request(s, id, out, packets);
            return;
        }
        let port = self.at(base + out);
        self.flits.heads[port].push(id);
        let set = self.set(s) + out as usize / 64;
        self.dirty[set] |= 1 << (out % 64);
    }

    /// Heads take free lanes of an output.
    pub(super) fn take_lanes(&mut self, s: u32, out: u32, packets: &mut Slab) {
        let base = self.net.base(s);
        let port = self.at(base + out);
        if self.flits.heads[port].is_empty() {
            return;
        }
        let mut heads = std::mem::take(&mut self.flits.heads[port]);
        heads.retain(|&id| {
            let packet = packets.of_mut(id);
            let (first, behind) = (packet.next_lane, packet.flowlet);
            // From the round-robin pointer on, and then from the beginning.
            let turn = self.flits.turns[port].clamp(first, behind - 1);
            let free = (turn..behind)
                .chain(first..turn)
                .find(|&lane| self.flits.holders[port << self.bits | usize::from(lane)] == NOBODY);
            let Some(lane) = free else { return true };
            self.flits.turns[port] = if lane + 1 == self.micro.lanes { 0 } else { lane + 1 };
            let place = u32::from(packet.input) << self.bits | u32::from(packet.lane);
            self.flits.holders[port << self.bits | usize::from(lane)] = place;
            let input = self.at(base + u32::from(packet.input));
            self.flits.goes_on[input << self.bits | usize::from(packet.lane)] = lane;
            packet.next_lane = lane;
            self.request(s, id, out, packets);
            false
        });
        self.flits.heads[port] = heads;
    }

    /// The tail of a packet has left an output: its lane is free.
    #[inline]
    pub(super) fn let_go(&mut self, output: usize, lane: u8) {
        self.flits.holders[output << self.bits | usize::from(lane)] = NOBODY;
    }

    /// Adds the lanes that heads without a lane wait for: any of those that they may take, each of which is free when the packet that
    /// holds it is through.
    pub(super) fn lane_waits(&self, packets: &Slab, all: &mut Vec<Waits>) {
        for (i, heads) in self.flits.heads.iter().enumerate() {
            let base = self.net.base(self.net.port(self.span.ports.start + i as u32).switch);
            for &id in heads {
                let packet = packets.of(id);
                let at = (base + u32::from(packet.input), packet.lane);
                for lane in packet.next_lane..packet.flowlet {
                    let holder = self.flits.holders[i << self.bits | usize::from(lane)];
                    let mask = (1 << self.bits) - 1;
                    let wants = (holder != NOBODY)
                        .then(|| (base + (holder >> self.bits), (holder & mask) as u8));
                    all.push(Waits { at, wants, packet: id });
                }
            }
        }
    }
}
