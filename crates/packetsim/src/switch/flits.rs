//! Flits of several packets on one channel: which lane of which output a packet has until its tail has left.
//!
//! A packet is as many entries of the slab as it has flits, that follow its head. The head waits at the front of its queue until one of
//! the lanes that it may go on in is nobody's, and has it until the tail has gone; what of several lanes may go takes turns flit by flit.
//! Room ahead is for flits, so that a packet may lie in several buffers (wormhole switching with virtual channels).
//!
//! W. J. Dally, Virtual-Channel Flow Control (IEEE Trans. Parallel and Distributed Systems 3, 1992).

use darkfiber_workload::state;
use serde::{Deserialize, Serialize};

use super::{SwitchContext, Switches};
use crate::packet::{NOBODY, Slab};
use crate::routing::{Routing, SwitchView};
use crate::{Peer, Waits};

/// The flit of a packet that is routed, and the one with which its lane is free again: bits of its mark. A packet of one flit has both.
pub(crate) const HEAD: u8 = 1;
pub(crate) const TAIL: u8 = 2;

/// What inputs and outputs know of packets whose flits are under way. Empty where packets go in one piece.
#[derive(Debug, Default)]
pub(super) struct Flits {
    /// By input and lane, what became of the head that arrived last.
    ways: Vec<Way>,
    /// By input and lane, the lane that the packet at the front goes on in.
    goes_on: Vec<u8>,
    /// By output and lane, the place of the packet that has it, as `input << bits | lane`.
    holders: Vec<u32>,
    /// By output, heads at the front of their queues that have no lane, in the order in which they came there.
    heads: Vec<Vec<u32>>,
    /// By output, the lane that is looked at first.
    turns: Vec<u8>,
}

/// Where a head was sent.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Way {
    out: u16,
    round: bool,
}

state! {
    pub(crate) struct FlitState of() Flits {
        ways: Vec<Way>,
        goes_on: Vec<u8>,
        holders: Vec<u32>,
        heads: Vec<Vec<u32>>,
        turns: Vec<u8>,
    }
}

impl Flits {
    /// Of so many ports, each with so many lanes.
    pub(super) fn new(ports: usize, lanes: usize) -> Self {
        Self {
            ways: vec![Way::default(); ports * lanes],
            goes_on: vec![0; ports * lanes],
            holders: vec![NOBODY; ports * lanes],
            heads: vec![Vec::new(); ports],
            turns: vec![0; ports],
        }
    }

    /// Whether packets go in one piece.
    pub(super) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Whether a state is of as many ports and lanes, and all that it names is there.
    pub(super) fn fits(&self, state: &FlitState, packets: usize, radix: u32) -> bool {
        let lanes = self.holders.len().checked_div(self.turns.len()).unwrap_or(0);
        state.ways.len() == self.ways.len()
            && state.goes_on.len() == self.goes_on.len()
            && state.holders.len() == self.holders.len()
            && state.heads.len() == self.heads.len()
            && state.turns.len() == self.turns.len()
            && state.ways.iter().all(|w| u32::from(w.out) < radix)
            && state.goes_on.iter().chain(&state.turns).all(|&lane| usize::from(lane) < lanes)
            && state.holders.iter().all(|&h| h == NOBODY || (h as usize) < radix as usize * lanes)
            && state.heads.iter().flatten().all(|&id| (id as usize) < packets)
    }
}

impl Switches<'_> {
    /// A flit that has arrived waits: a head is routed, what follows it goes the same way.
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
            // A head without a lane: those that it may go on in.
            (packet.next_lane, packet.flowlet) = (first, behind);
            self.flits.ways[place] = Way { out: out as u16, round: packet.round };
        }
        let way = self.flits.ways[place];
        (packet.input, packet.out, packet.round) = (input as u16, way.out, way.round);
        packet.next = NOBODY;
        self.outputs[at + usize::from(way.out)].queued += packet.bytes;
        let q = self.queue(s, input, way.out.into(), packet.lane);
        if self.busy[q / 64] >> (q % 64) & 1 == 0 {
            self.busy[q / 64] |= 1 << (q % 64);
            self.come_to_front(s, id, packets);
        } else {
            packets.of_mut(self.tails[q]).next = id;
        }
        self.tails[q] = id;
    }

    /// A flit is the first of its queue: a head asks for a lane, what follows it goes on in that lane.
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

    /// Heads take lanes of an output that nobody has.
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
            // From the turn on, and then from the beginning.
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

    /// The tail of a packet has left an output: its lane is nobody's.
    #[inline]
    pub(super) fn let_go(&mut self, output: usize, lane: u8) {
        self.flits.holders[output << self.bits | usize::from(lane)] = NOBODY;
    }

    /// Adds what heads wait for that have no lane: any of those that they may go on in, each of which is free when the packet that has
    /// it is through.
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
