//! Switches: what waits where, and what may go.

use crate::packet::{NOBODY, Slab};
use crate::routing::{Here, Routing};
use crate::wheel::{Event, What, Wheel};
use crate::{Arbitration, Micro, Net, Peer, Queues, Random, Waits};

/// An output of a switch.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutPort {
    /// When its channel is free, in picoseconds.
    channel: u64,
    /// When its side of the crossbar is.
    crossbar: u64,
    /// Bytes that were sent and whose room the next switch has not given back.
    pub used: u32,
    /// Packets that wait for it at the front of a queue.
    waiting: u16,
    /// The queue that is looked at first.
    turn: u16,
    /// Whether it will be woken.
    woken: bool,
}

/// An input.
#[derive(Clone, Copy, Debug, Default)]
struct InPort {
    /// When its side of the crossbar is free.
    crossbar: u64,
    /// Whether it will be woken.
    woken: bool,
}

/// A queue of packets.
#[derive(Clone, Copy, Debug)]
struct Queue {
    head: u32,
    tail: u32,
}

/// All switches.
pub(crate) struct Switches<'n> {
    net: &'n Net,
    micro: &'n Micro,
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
    /// Bytes that each port has sent.
    carried: Vec<u64>,
    /// Packets that crossed a switch.
    pub(crate) crossed: u64,
}

/// What switches work on beside themselves.
pub(crate) struct Hands<'a> {
    pub(crate) packets: &'a mut Slab,
    pub(crate) wheel: &'a mut Wheel,
    /// Packets that leave for their terminals.
    pub(crate) left: &'a mut Vec<Left>,
}

/// A packet that has left the last switch: its number, and when its last byte is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) packet: u32,
    pub(crate) when: u64,
}

impl<'n> Switches<'n> {
    pub(crate) fn new(net: &'n Net, micro: &'n Micro, seed: u64) -> Self {
        let ports = net.port_count();
        let n = net.switch_count();
        let bits = u32::from(micro.lanes).next_power_of_two().trailing_zeros();
        let lanes = 1usize << bits;
        let mut first_queue = Vec::with_capacity(n + 1);
        let mut queues = 0usize;
        let mut most = 0;
        for s in 0..n as u32 {
            first_queue.push(queues as u32);
            let radix = net.radix(s) as usize;
            most = radix.max(most);
            queues += radix * lanes * if micro.queues == Queues::Outputs { radix } else { 1 };
        }
        let request_words = (most * lanes).div_ceil(64).max(1);
        Self {
            net,
            micro,
            outputs: vec![OutPort::default(); ports],
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
            random: (0..n as u64).map(|s| Random::new(seed, s)).collect(),
            carried: vec![0; ports],
            crossed: 0,
        }
    }

    /// The head of a packet is at a port in this tick.
    #[inline]
    pub(crate) fn arrive(&mut self, port: u32, packet: u32) {
        let p = self.net.port(port);
        debug_assert_eq!(self.arriving[port as usize], NOBODY, "one packet of a channel a tick");
        self.arriving[port as usize] = packet;
        let at = p.switch as usize * self.net.words() + p.local as usize / 64;
        self.arrivals[at] |= 1 << (p.local % 64);
        self.activate(p.switch);
    }

    /// The switch behind a port has room again.
    #[inline]
    pub(crate) fn credit(&mut self, port: u32, lane: u8, bytes: u32) {
        self.credits[(port << self.bits | u32::from(lane)) as usize] += bytes;
        let out = &mut self.outputs[port as usize];
        out.used -= bytes;
        if out.waiting > 0 {
            self.touch(port);
        }
    }

    /// An output may send again.
    #[inline]
    pub(crate) fn wake_output(&mut self, port: u32) {
        self.outputs[port as usize].woken = false;
        self.touch(port);
    }

    /// An input may be read again.
    pub(crate) fn wake_input(&mut self, port: u32) {
        self.inputs[port as usize].woken = false;
        let words = self.net.words();
        let s = self.net.port(port).switch;
        for w in 0..words {
            let set = std::mem::take(&mut self.blocked[port as usize * words + w]);
            self.dirty[s as usize * words + w] |= set;
        }
        self.activate(s);
    }

    #[inline]
    fn touch(&mut self, port: u32) {
        let p = self.net.port(port);
        let at = p.switch as usize * self.net.words() + p.local as usize / 64;
        self.dirty[at] |= 1 << (p.local % 64);
        self.activate(p.switch);
    }

    #[inline]
    fn activate(&mut self, s: u32) {
        if !std::mem::replace(&mut self.is_active[s as usize], true) {
            self.active.push(s);
        }
    }

    /// Does what there is to do in the tick that begins at `now`.
    pub(crate) fn act<R: Routing>(&mut self, now: u64, routing: &R, hands: &mut Hands<'_>) {
        let words = self.net.words();
        let mut active = std::mem::take(&mut self.active);
        for s in active.drain(..) {
            self.is_active[s as usize] = false;
            for w in 0..words {
                let mut set = std::mem::take(&mut self.arrivals[s as usize * words + w]);
                while set != 0 {
                    let input = w as u32 * 64 + set.trailing_zeros();
                    set &= set - 1;
                    self.enter(s, input, routing, hands.packets);
                }
            }
            // Outputs of queues whose first packet left may be before the one that it left by.
            loop {
                let mut any = false;
                for w in 0..words {
                    let mut set = std::mem::take(&mut self.dirty[s as usize * words + w]);
                    any |= set != 0;
                    while set != 0 {
                        let out = w as u32 * 64 + set.trailing_zeros();
                        set &= set - 1;
                        self.serve(now, s, out, hands);
                    }
                }
                if !any {
                    break;
                }
            }
        }
        self.active = active;
    }

    /// A packet that has arrived is routed, and waits.
    #[inline]
    fn enter<R: Routing>(&mut self, s: u32, input: u32, routing: &R, packets: &mut Slab) {
        let base = self.net.base(s);
        let id = std::mem::replace(&mut self.arriving[(base + input) as usize], NOBODY);
        let packet = packets.of_mut(id);
        let mut here = Here {
            net: self.net,
            switch: s,
            lanes: self.micro.lanes,
            outputs: &self.outputs[base as usize..self.net.base(s + 1) as usize],
            random: &mut self.random[s as usize],
        };
        let (out, lane) = routing.route(&mut here, packet);
        debug_assert!(lane < self.micro.lanes, "lane {lane} of {}", self.micro.lanes);
        (packet.out, packet.next_lane, packet.next) = (out as u16, lane, NOBODY);
        packet.port = base + input;
        let lane = match self.micro.queues {
            Queues::Lanes => packet.lane,
            Queues::Outputs => lane,
        };
        let q = self.queue(s, input, out, lane);
        let queue = &mut self.queues[q];
        if queue.head == NOBODY {
            *queue = Queue { head: id, tail: id };
            self.request(s, input, lane, out);
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
        };
        (self.first_queue[s as usize] + (place << self.bits | u32::from(lane))) as usize
    }

    /// The first packet of a queue waits for an output.
    #[inline]
    fn request(&mut self, s: u32, input: u32, lane: u8, out: u32) {
        let port = self.net.base(s) + out;
        let slot = input << self.bits | u32::from(lane);
        self.requests[port as usize * self.request_words + slot as usize / 64] |= 1 << (slot % 64);
        self.outputs[port as usize].waiting += 1;
        let words = self.net.words();
        self.dirty[s as usize * words + out as usize / 64] |= 1 << (out % 64);
    }

    /// An output sends what it can in the tick that begins at `now`.
    fn serve(&mut self, now: u64, s: u32, out: u32, hands: &mut Hands<'_>) {
        let port = self.net.base(s) + out;
        let tick = self.micro.tick;
        loop {
            let o = &self.outputs[port as usize];
            if o.waiting == 0 {
                return;
            }
            let mut ready = o.crossbar;
            if let Some(room) = self.micro.output_buffer {
                let drained = self.net.port(port).long(room) + self.micro.pipeline;
                ready = ready.max(o.channel.saturating_sub(drained));
            }
            if ready >= now + tick {
                if !o.woken {
                    self.outputs[port as usize].woken = true;
                    hands.wheel.within(ready, Event::new(What::Output, port, 0));
                }
                return;
            }
            let Some(slot) = self.choose(now, s, out, hands) else { return };
            self.grant(now, s, out, slot, hands);
        }
    }

    /// Whose turn it is among the queues that wait for an output and have room ahead.
    fn choose(&mut self, now: u64, s: u32, out: u32, hands: &mut Hands<'_>) -> Option<u32> {
        let base = self.net.base(s);
        let port = (base + out) as usize;
        let (bits, lanes) = (self.bits, (1 << self.bits) - 1);
        let to_terminal = matches!(self.net.port(port as u32).peer(), Peer::Terminal(_));
        let turn = u32::from(self.outputs[port].turn);
        let mut best: Option<(u64, u32)> = None;
        // From the turn on to the end, and then from the beginning up to it.
        let words = self.request_words;
        for step in 0..=words {
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
                if self.inputs[(base + input) as usize].crossbar >= now + self.micro.tick {
                    self.wait_for_input(base + input, out, hands.wheel);
                    continue;
                }
                let head = self.queues[self.queue(s, input, out, lane as u8)].head;
                let packet = hands.packets.of(head);
                let credit = port << bits | packet.next_lane as usize;
                if !to_terminal && self.credits[credit] < packet.bytes {
                    continue;
                }
                match self.micro.arbitration {
                    Arbitration::RoundRobin => return Some(slot),
                    Arbitration::Age => {
                        if best.is_none_or(|b| packet.born < b.0) {
                            best = Some((packet.born, slot));
                        }
                    }
                }
            }
        }
        best.map(|b| b.1)
    }

    /// An output waits for an input's crossbar.
    fn wait_for_input(&mut self, port: u32, out: u32, wheel: &mut Wheel) {
        let words = self.net.words();
        self.blocked[port as usize * words + out as usize / 64] |= 1 << (out % 64);
        let input = &mut self.inputs[port as usize];
        if !std::mem::replace(&mut input.woken, true) {
            wheel.within(input.crossbar, Event::new(What::Input, port, 0));
        }
    }

    /// The first packet of a queue goes.
    fn grant(&mut self, now: u64, s: u32, out: u32, slot: u32, hands: &mut Hands<'_>) {
        let Hands { packets, wheel, left } = hands;
        let (micro, net) = (self.micro, self.net);
        let base = net.base(s);
        let (input, lane) = (slot >> self.bits, slot & ((1 << self.bits) - 1));
        let (from, to) = (net.port(base + input), net.port(base + out));
        let q = self.queue(s, input, out, lane as u8);
        let id = self.queues[q].head;
        let packet = packets.of_mut(id);
        let (bytes, next) = (packet.bytes, packet.next);
        let (was, next_lane) = (packet.lane, packet.next_lane);

        let o = &mut self.outputs[(base + out) as usize];
        let i = &mut self.inputs[(base + input) as usize];
        let start = now.max(packet.at).max(o.crossbar).max(i.crossbar);
        o.crossbar = start + to.long(bytes) / u64::from(micro.speedup);
        i.crossbar = start + from.long(bytes) / u64::from(micro.speedup);
        let through = i.crossbar.max(packet.at + from.long(bytes));
        let departs = o.channel.max(start + micro.pipeline);
        o.channel = departs + to.long(bytes);
        o.turn = if slot + 1 == net.radix(s) << self.bits { 0 } else { slot as u16 + 1 };
        o.waiting -= 1;
        self.crossed += 1;
        self.carried[(base + out) as usize] += u64::from(bytes);
        packet.at = departs + u64::from(to.latency);
        packet.lane = next_lane;
        packet.hops += 1;
        match to.peer() {
            Peer::Port(peer) => {
                o.used += bytes;
                self.credits[((base + out) << self.bits | u32::from(next_lane)) as usize] -= bytes;
                wheel.after(packet.at, Event::new(What::Arrival, peer, id));
            }
            Peer::Terminal(_) => left.push(Left { packet: id, when: packet.at + to.long(bytes) }),
        }

        // Room for the switch or the terminal before.
        let back = through + u64::from(from.latency) + micro.credit;
        let with = u32::from(was) << 24 | bytes;
        let event = match from.peer() {
            Peer::Port(peer) => Event::new(What::Credit, peer, with),
            Peer::Terminal(t) => Event::new(What::TerminalCredit, t, with),
        };
        wheel.after(back, event);

        // The next one of the queue.
        let word = (base + out) as usize * self.request_words + slot as usize / 64;
        self.queues[q].head = next;
        if next == NOBODY {
            self.requests[word] &= !(1 << (slot % 64));
        } else {
            let next_out = u32::from(packets.of(next).out);
            if next_out == out {
                self.outputs[(base + out) as usize].waiting += 1;
            } else {
                self.requests[word] &= !(1 << (slot % 64));
                self.request(s, input, lane as u8, next_out);
            }
        }
    }

    /// Bytes that each port has sent.
    pub(crate) fn carried(&self) -> &[u64] {
        &self.carried
    }

    /// What the first packet of each queue waits for.
    pub(crate) fn waits(&self, packets: &Slab) -> Vec<Waits> {
        let mut all = Vec::new();
        for s in 0..self.net.switch_count() {
            let end = self.first_queue.get(s + 1).map_or(self.queues.len(), |&q| q as usize);
            for queue in &self.queues[self.first_queue[s] as usize..end] {
                if queue.head == NOBODY {
                    continue;
                }
                let packet = packets.of(queue.head);
                let out = self.net.base(s as u32) + u32::from(packet.out);
                let room = self.credits[(out << self.bits | u32::from(packet.next_lane)) as usize];
                let wants = match self.net.port(out).peer() {
                    Peer::Port(next) if room < packet.bytes => Some((next, packet.next_lane)),
                    _ => None,
                };
                let at = (packet.port, packet.lane);
                all.push(Waits { at, wants, packet: queue.head });
            }
        }
        all
    }
}
