//! Switches: what waits where, and what may go.

use crate::away::Away;
use crate::board::Board;
use crate::net::Span;
use crate::packet::{NOBODY, Slab};
use crate::routing::{Here, Routing};
use crate::wheel::{Event, What, Wheel};
use crate::{Arbitration, Micro, Net, Peer, Queues, Random, Waits};

/// An output of a switch: a line of the cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct OutPort {
    /// When its channel is free, in picoseconds.
    channel: u64,
    /// When its side of the crossbar is.
    crossbar: u64,
    /// Since when it has packets to send, and no room for them ahead; [`MOVES`] if that is not so.
    stuck: u64,
    /// How long it was so in all.
    pub(crate) stalled: u64,
    /// Bytes that it has sent.
    pub(crate) carried: u64,
    /// Bytes that were sent and whose room the next switch has not given back.
    pub used: u32,
    /// Bytes that wait for it in this switch.
    pub queued: u32,
    /// Packets that wait for it at the front of a queue.
    waiting: u16,
    /// The queue that is looked at first.
    turn: u16,
    /// Whether it will be woken.
    woken: bool,
}

/// An input: outputs look at many side by side.
#[derive(Clone, Copy, Debug, Default)]
struct InPort {
    /// When its side of the crossbar is free.
    crossbar: u64,
    /// The output whose offer it takes first.
    turn: u16,
    /// Whether it will be woken.
    woken: bool,
}

/// An output has nothing to send, or room.
const MOVES: u64 = u64::MAX;

/// A queue of packets.
#[derive(Clone, Copy, Debug)]
struct Queue {
    head: u32,
    tail: u32,
}

/// An output offers an input to take the first packet of one of its queues.
#[derive(Clone, Copy, Debug)]
struct Offer {
    input: u32,
    /// How far the output is behind the one whose turn it is.
    rank: u32,
    out: u32,
    slot: u32,
}

/// Switches side by side: all of them, or those of a part. Ports and switches are called by their numbers in the network.
pub(crate) struct Switches<'n> {
    net: &'n Net,
    micro: &'n Micro,
    span: Span,
    outputs: Vec<OutPort>,
    inputs: Vec<InPort>,
    /// By port and lane, bytes of room at the next switch.
    credits: Vec<u32>,
    queues: Vec<Queue>,
    /// By switch, its first queue.
    first_queue: Vec<u32>,
    /// By output, the queues whose first packet waits for it: a set of numbers of `input << bits | lane`.
    requests: Vec<u64>,
    /// Words of such a set.
    request_words: usize,
    /// Bits of a lane's number: tables have room for as many lanes as those can tell apart.
    bits: u32,
    /// By input, outputs that would have it but for its crossbar.
    blocked: Vec<u64>,
    /// By port, the packet that arrives there in this tick.
    arriving: Vec<u32>,
    /// By switch, ports where one does, and outputs that may have something to do.
    arrivals: Vec<u64>,
    dirty: Vec<u64>,
    /// Switches that have something to do.
    active: Vec<u32>,
    is_active: Vec<bool>,
    random: Vec<Random>,
    offers: Vec<Offer>,
    /// Packets that were sent again because of wrong bits.
    pub(crate) again: u64,
    /// Packets that crossed a switch.
    pub(crate) crossed: u64,
}

/// What switches work on beside themselves.
pub(crate) struct Hands<'a> {
    pub(crate) packets: &'a mut Slab,
    pub(crate) wheel: &'a mut Wheel,
    /// Packets that leave for their terminals.
    pub(crate) left: &'a mut Vec<Left>,
    /// What goes to switches of other parts.
    pub(crate) away: &'a mut Away,
    /// What was told of all switches.
    pub(crate) board: &'a Board,
}

/// A packet that has left the last switch: its number, and when its last byte is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) packet: u32,
    pub(crate) when: u64,
}

impl<'n> Switches<'n> {
    pub(crate) fn new(net: &'n Net, micro: &'n Micro, span: Span, seed: u64) -> Self {
        let ports = span.ports.len();
        let n = span.switches.len();
        let bits = u32::from(micro.lanes).next_power_of_two().trailing_zeros();
        let lanes = 1usize << bits;
        let mut first_queue = Vec::with_capacity(n + 1);
        let mut queues = 0usize;
        let mut most = 0;
        for s in span.switches.clone() {
            first_queue.push(queues as u32);
            let radix = net.radix(s) as usize;
            most = radix.max(most);
            queues += radix * lanes * if micro.queues == Queues::Outputs { radix } else { 1 };
        }
        first_queue.push(queues as u32);
        let places = if micro.queues == Queues::Memory { 1 } else { most };
        let request_words = (places * lanes).div_ceil(64).max(1);
        Self {
            net,
            micro,
            outputs: vec![OutPort { stuck: MOVES, ..OutPort::default() }; ports],
            inputs: vec![InPort::default(); ports],
            credits: vec![micro.buffer; ports * lanes],
            queues: vec![Queue { head: NOBODY, tail: NOBODY }; queues],
            first_queue,
            requests: vec![0; ports * request_words],
            request_words,
            bits,
            blocked: vec![0; ports * net.words()],
            arriving: vec![NOBODY; ports],
            arrivals: vec![0; n * net.words()],
            dirty: vec![0; n * net.words()],
            active: Vec::new(),
            is_active: vec![false; n],
            random: span.switches.clone().map(|s| Random::new(seed, s.into())).collect(),
            offers: Vec::new(),
            again: 0,
            crossed: 0,
            span,
        }
    }

    /// A port by its number in the network, as a place in tables.
    #[inline]
    fn at(&self, port: u32) -> usize {
        (port - self.span.ports.start) as usize
    }

    /// Where the set of ports of a switch begins, by its number in the network.
    #[inline]
    fn set(&self, s: u32) -> usize {
        (s - self.span.switches.start) as usize * self.net.words()
    }

    /// The head of a packet is at a port in this tick.
    #[inline]
    pub(crate) fn arrive(&mut self, port: u32, packet: u32) {
        let p = self.net.port(port);
        let at = self.at(port);
        debug_assert_eq!(self.arriving[at], NOBODY, "one packet of a channel a tick");
        self.arriving[at] = packet;
        let set = self.set(p.switch) + p.local as usize / 64;
        self.arrivals[set] |= 1 << (p.local % 64);
        self.activate(p.switch);
    }

    /// The switch behind a port has room again.
    #[inline]
    pub(crate) fn credit(&mut self, port: u32, lane: u8, bytes: u32) {
        let at = self.at(port);
        self.credits[at << self.bits | usize::from(lane)] += bytes;
        let out = &mut self.outputs[at];
        out.used -= bytes;
        if out.waiting > 0 {
            self.touch(port);
        }
    }

    /// An output may send again.
    #[inline]
    pub(crate) fn wake_output(&mut self, port: u32) {
        let at = self.at(port);
        self.outputs[at].woken = false;
        self.touch(port);
    }

    /// An input may be read again.
    pub(crate) fn wake_input(&mut self, port: u32) {
        let at = self.at(port);
        self.inputs[at].woken = false;
        let words = self.net.words();
        let s = self.net.port(port).switch;
        let dirty = self.set(s);
        for w in 0..words {
            let set = std::mem::take(&mut self.blocked[at * words + w]);
            self.dirty[dirty + w] |= set;
        }
        self.activate(s);
    }

    #[inline]
    fn touch(&mut self, port: u32) {
        let p = self.net.port(port);
        let set = self.set(p.switch) + p.local as usize / 64;
        self.dirty[set] |= 1 << (p.local % 64);
        self.activate(p.switch);
    }

    #[inline]
    fn activate(&mut self, s: u32) {
        let at = (s - self.span.switches.start) as usize;
        if !std::mem::replace(&mut self.is_active[at], true) {
            self.active.push(s);
        }
    }

    /// Does what there is to do in the tick that begins at `now`.
    pub(crate) fn act<R: Routing>(&mut self, now: u64, routing: &R, hands: &mut Hands<'_>) {
        let words = self.net.words();
        let mut active = std::mem::take(&mut self.active);
        for s in active.drain(..) {
            self.is_active[(s - self.span.switches.start) as usize] = false;
            let first = self.set(s);
            for w in 0..words {
                let mut set = std::mem::take(&mut self.arrivals[first + w]);
                while set != 0 {
                    let input = w as u32 * 64 + set.trailing_zeros();
                    set &= set - 1;
                    self.enter(s, input, routing, hands);
                }
            }
            match self.micro.arbitration {
                Arbitration::Islip => self.match_up(now, s, hands),
                Arbitration::RoundRobin | Arbitration::Age => self.by_turns(now, s, hands),
            }
        }
        self.active = active;
    }

    /// Outputs that may have something to do send what they can, one after the other.
    #[inline]
    fn by_turns(&mut self, now: u64, s: u32, hands: &mut Hands<'_>) {
        let first = self.set(s);
        // Outputs of queues whose first packet left may be before the one that it left by.
        loop {
            let mut any = false;
            for w in 0..self.net.words() {
                let mut set = std::mem::take(&mut self.dirty[first + w]);
                any |= set != 0;
                while set != 0 {
                    let out = w as u32 * 64 + set.trailing_zeros();
                    set &= set - 1;
                    while let Some(slot) = self.next(now, s, out, hands) {
                        self.grant(now, s, out, slot, true, hands);
                    }
                }
            }
            if !any {
                break;
            }
        }
    }

    /// Outputs offer, inputs take, until there is no offer any more.
    fn match_up(&mut self, now: u64, s: u32, hands: &mut Hands<'_>) {
        let first = self.set(s);
        let radix = self.net.radix(s);
        let base = self.at(self.net.base(s));
        let mut offers = std::mem::take(&mut self.offers);
        let mut is_first = true;
        loop {
            for w in 0..self.net.words() {
                let mut set = std::mem::take(&mut self.dirty[first + w]);
                while set != 0 {
                    let out = w as u32 * 64 + set.trailing_zeros();
                    set &= set - 1;
                    if let Some(slot) = self.next(now, s, out, hands) {
                        let input = match self.micro.queues {
                            Queues::Memory => out,
                            _ => slot >> self.bits,
                        };
                        let turn = u32::from(self.inputs[base + input as usize].turn);
                        let rank = (out + radix - turn) % radix;
                        offers.push(Offer { input, rank, out, slot });
                    }
                }
            }
            if offers.is_empty() {
                break;
            }
            offers.sort_unstable_by_key(|o| (o.input, o.rank));
            let mut taken = None;
            for o in offers.drain(..) {
                if taken != Some(o.input) {
                    taken = Some(o.input);
                    if is_first {
                        let next = if o.out + 1 == radix { 0 } else { o.out + 1 };
                        self.inputs[base + o.input as usize].turn = next as u16;
                    }
                    self.grant(now, s, o.out, o.slot, is_first, hands);
                }
                // Whoever was not taken offers again, and whoever was may have more.
                self.dirty[first + o.out as usize / 64] |= 1 << (o.out % 64);
            }
            is_first = false;
        }
        self.offers = offers;
    }

    /// A packet that has arrived is routed, and waits.
    #[inline]
    fn enter<R: Routing>(&mut self, s: u32, input: u32, routing: &R, hands: &mut Hands<'_>) {
        let packets = &mut *hands.packets;
        let base = self.net.base(s);
        let at = self.at(base);
        let id = std::mem::replace(&mut self.arriving[at + input as usize], NOBODY);
        let packet = packets.of_mut(id);
        let radix = self.net.radix(s) as usize;
        let mut here = Here {
            net: self.net,
            switch: s,
            lanes: self.micro.lanes,
            outputs: &self.outputs[at..at + radix],
            random: &mut self.random[(s - self.span.switches.start) as usize],
            board: hands.board,
        };
        let (out, lane) = routing.route(&mut here, packet);
        debug_assert!(lane < self.micro.lanes, "lane {lane} of {}", self.micro.lanes);
        (packet.out, packet.next_lane, packet.next) = (out as u16, lane, NOBODY);
        packet.port = base + input;
        self.outputs[at + out as usize].queued += packet.bytes;
        let lane = match self.micro.queues {
            Queues::Lanes => packet.lane,
            Queues::Outputs | Queues::Memory => lane,
        };
        let q = self.queue(s, input, out, lane);
        let queue = &mut self.queues[q];
        if queue.head == NOBODY {
            *queue = Queue { head: id, tail: id };
            self.request(s, self.slot(input, lane), out);
        } else {
            packets.of_mut(queue.tail).next = id;
            queue.tail = id;
        }
    }

    /// The queue of an input for an output and a lane: the lane that packets are in, or go on in.
    #[inline]
    fn queue(&self, s: u32, input: u32, out: u32, lane: u8) -> usize {
        let place = match self.micro.queues {
            Queues::Lanes => input,
            // Those that one output looks at are side by side.
            Queues::Outputs => out * self.net.radix(s) + input,
            Queues::Memory => out,
        };
        let first = self.first_queue[(s - self.span.switches.start) as usize];
        (first + (place << self.bits | u32::from(lane))) as usize
    }

    /// The number of a queue among those that an output chooses from.
    #[inline]
    fn slot(&self, input: u32, lane: u8) -> u32 {
        let place = if self.micro.queues == Queues::Memory { 0 } else { input };
        place << self.bits | u32::from(lane)
    }

    /// The first packet of a queue waits for an output.
    #[inline]
    fn request(&mut self, s: u32, slot: u32, out: u32) {
        let port = self.at(self.net.base(s) + out);
        self.requests[port * self.request_words + slot as usize / 64] |= 1 << (slot % 64);
        self.outputs[port].waiting += 1;
        let set = self.set(s) + out as usize / 64;
        self.dirty[set] |= 1 << (out % 64);
    }

    /// The queue that an output may take a packet of in the tick that begins at `now`; whatever it waits for will wake it.
    #[inline]
    fn next(&mut self, now: u64, s: u32, out: u32, hands: &mut Hands<'_>) -> Option<u32> {
        let port = self.net.base(s) + out;
        let at = self.at(port);
        let o = &self.outputs[at];
        if o.waiting == 0 {
            return None;
        }
        let mut ready = o.crossbar;
        if let Some(room) = self.micro.output_buffer {
            let drained = self.net.port(port).long(room) + self.micro.pipeline;
            ready = ready.max(o.channel.saturating_sub(drained));
        }
        if ready >= now + self.micro.tick {
            if !o.woken {
                self.outputs[at].woken = true;
                hands.wheel.within(ready, Event::new(What::Output, port, 0));
            }
            return None;
        }
        self.choose(now, s, out, hands)
    }

    /// Whose turn it is among the queues that wait for an output and have room ahead.
    fn choose(&mut self, now: u64, s: u32, out: u32, hands: &mut Hands<'_>) -> Option<u32> {
        let base = self.net.base(s);
        let port = self.at(base + out);
        let (bits, lanes) = (self.bits, (1 << self.bits) - 1);
        let to_terminal = matches!(self.net.port(base + out).peer(), Peer::Terminal(_));
        let turn = u32::from(self.outputs[port].turn);
        let (mut best, mut full): (Option<(u64, u32)>, bool) = (None, false);
        // From the turn on to the end, and then from the beginning up to it.
        let words = self.request_words;
        'found: for step in 0..=words {
            let w = (turn as usize / 64 + step) % words;
            let mut set = self.requests[port * words + w];
            if step == 0 {
                set &= !0 << (turn % 64);
            } else if step == words {
                set &= !(!0 << (turn % 64));
            }
            while set != 0 {
                let slot = w as u32 * 64 + set.trailing_zeros();
                set &= set - 1;
                let (input, lane) = (slot >> bits, slot & lanes);
                if self.micro.queues != Queues::Memory
                    && self.inputs[self.at(base + input)].crossbar >= now + self.micro.tick
                {
                    self.wait_for_input(base + input, out, hands.wheel);
                    continue;
                }
                let head = self.queues[self.queue(s, input, out, lane as u8)].head;
                let packet = hands.packets.of(head);
                let credit = port << bits | packet.next_lane as usize;
                if !to_terminal && self.credits[credit] < packet.bytes {
                    full = true;
                    continue;
                }
                match self.micro.arbitration {
                    Arbitration::RoundRobin | Arbitration::Islip => {
                        best = Some((0, slot));
                        break 'found;
                    }
                    Arbitration::Age => {
                        if best.is_none_or(|b| packet.born < b.0) {
                            best = Some((packet.born, slot));
                        }
                    }
                }
            }
        }
        if full && best.is_none() && self.outputs[port].stuck == MOVES {
            self.outputs[port].stuck = now;
        }
        best.map(|b| b.1)
    }

    /// An output waits for an input's crossbar.
    fn wait_for_input(&mut self, port: u32, out: u32, wheel: &mut Wheel) {
        let words = self.net.words();
        let at = self.at(port);
        self.blocked[at * words + out as usize / 64] |= 1 << (out % 64);
        let input = &mut self.inputs[at];
        if !std::mem::replace(&mut input.woken, true) {
            wheel.within(input.crossbar, Event::new(What::Input, port, 0));
        }
    }

    /// The first packet of a queue goes; the turn moves on behind it, or stays.
    fn grant(&mut self, now: u64, s: u32, out: u32, slot: u32, turns: bool, hands: &mut Hands<'_>) {
        let Hands { packets, wheel, left, away, .. } = hands;
        let (micro, net) = (self.micro, self.net);
        let base = net.base(s);
        let lane = (slot & ((1 << self.bits) - 1)) as u8;
        let q = self.queue(s, slot >> self.bits, out, lane);
        let id = self.queues[q].head;
        let packet = packets.of_mut(id);
        let (from, to) = (net.port(packet.port), net.port(base + out));
        let (bytes, next, source) = (packet.bytes, packet.next, packet.port);
        let (was, next_lane) = (packet.lane, packet.next_lane);
        let (input, output) = (self.at(source), self.at(base + out));

        let shared = micro.queues == Queues::Memory;
        let speedup = if shared { 1 } else { u64::from(micro.speedup) };
        let (o, i) = (&mut self.outputs[output], &mut self.inputs[input]);
        let start = now.max(packet.at).max(o.crossbar).max(if shared { 0 } else { i.crossbar });
        o.crossbar = start + to.long(bytes) / speedup;
        i.crossbar = start + from.long(bytes) / speedup;
        let mut departs = o.channel.max(start + micro.pipeline);
        if micro.bit_errors > 0.0 {
            let random = &mut self.random[(s - self.span.switches.start) as usize];
            let again = micro.sent_again(bytes, random);
            self.again += again;
            departs += again * (to.long(bytes) + 2 * u64::from(to.latency));
        }
        o.channel = departs + to.long(bytes);
        let through = if shared { o.channel } else { i.crossbar };
        let through = through.max(packet.at + from.long(bytes));
        if turns {
            let last = slot + 1 == if shared { 1 } else { net.radix(s) } << self.bits;
            o.turn = if last { 0 } else { slot as u16 + 1 };
        }
        o.waiting -= 1;
        o.queued -= bytes;
        if o.stuck != MOVES {
            o.stalled += now - o.stuck;
            o.stuck = MOVES;
        }
        self.crossed += 1;
        o.carried += u64::from(bytes);
        packet.at = departs + u64::from(to.latency);
        packet.lane = next_lane;
        packet.hops += 1;
        match to.peer() {
            Peer::Port(peer) => {
                o.used += bytes;
                self.credits[output << self.bits | usize::from(next_lane)] -= bytes;
                if self.span.ports.contains(&peer) {
                    wheel.after(packet.at, Event::new(What::Arrival, peer, id));
                } else {
                    let tick = wheel.tick_after(packet.at);
                    away.packet(tick, peer, packets.remove(id));
                }
            }
            Peer::Terminal(_) => left.push(Left { packet: id, when: packet.at + to.long(bytes) }),
        }

        // Room for the switch or the terminal before.
        let back = through + u64::from(from.latency) + micro.credit;
        let with = u32::from(was) << 24 | bytes;
        match from.peer() {
            Peer::Port(peer) if self.span.ports.contains(&peer) => {
                wheel.after(back, Event::new(What::Credit, peer, with));
            }
            Peer::Port(peer) => {
                away.event(wheel.tick_after(back), Event::new(What::Credit, peer, with));
            }
            Peer::Terminal(t) => wheel.after(back, Event::new(What::TerminalCredit, t, with)),
        }

        // The next one of the queue.
        let word = output * self.request_words + slot as usize / 64;
        self.queues[q].head = next;
        if next == NOBODY {
            self.requests[word] &= !(1 << (slot % 64));
        } else {
            let next_out = u32::from(packets.of(next).out);
            if next_out == out {
                self.outputs[output].waiting += 1;
            } else {
                self.requests[word] &= !(1 << (slot % 64));
                self.request(s, slot, next_out);
            }
        }
    }

    /// Ports that are stuck have been so up to now.
    pub(crate) fn settle(&mut self, now: u64) {
        for o in self.outputs.iter_mut().filter(|o| o.stuck < now) {
            o.stalled += now - o.stuck;
            o.stuck = now;
        }
    }

    /// Its outputs, as they are.
    pub(crate) fn outputs(&self) -> &[OutPort] {
        &self.outputs
    }

    /// Adds what the first packet of each queue waits for.
    pub(crate) fn waits(&self, packets: &Slab, all: &mut Vec<Waits>) {
        for s in self.span.switches.clone() {
            let base = self.net.base(s);
            for out in 0..self.net.radix(s) {
                let port = self.at(base + out);
                if self.outputs[port].waiting == 0 {
                    continue;
                }
                for w in 0..self.request_words {
                    let mut set = self.requests[port * self.request_words + w];
                    while set != 0 {
                        let slot = w as u32 * 64 + set.trailing_zeros();
                        set &= set - 1;
                        all.push(self.wait(s, out, slot, packets));
                    }
                }
            }
        }
    }

    fn wait(&self, s: u32, out: u32, slot: u32, packets: &Slab) -> Waits {
        let lane = (slot & ((1 << self.bits) - 1)) as u8;
        let head = self.queues[self.queue(s, slot >> self.bits, out, lane)].head;
        let packet = packets.of(head);
        let port = self.net.base(s) + out;
        let room = self.credits[self.at(port) << self.bits | usize::from(packet.next_lane)];
        let wants = match self.net.port(port).peer() {
            Peer::Port(next) if room < packet.bytes => Some((next, packet.next_lane)),
            _ => None,
        };
        Waits { at: (packet.port, packet.lane), wants, packet: head }
    }
}
