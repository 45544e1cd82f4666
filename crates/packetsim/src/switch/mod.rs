//! Switches: their queues, and the arbitration of outputs.

mod enter;
mod features;
mod flit_lanes;
mod flits;
mod offer;
mod ports;
mod turns;
mod unsent;

use std::collections::BTreeMap;

use darkfiber_workload::state;

use self::features::{ByFlits, Features, Plain, Whole, is_plain};
use self::flit_lanes::{FlitState, Flits};
pub(crate) use self::flit_lanes::{HEAD, TAIL};
use self::offer::{Choice, Offer};
pub use self::ports::OutPort;
use self::ports::{InPort, MOVES};
pub(crate) use self::ports::{Lane, Waiting};
use self::unsent::Unsent;
use crate::class::{Shares, SharesState};
use crate::congestion::{CongestionMessage, DepartingPacket, Notification, OutputQueueState};
use crate::flows::Flows;
use crate::link::Replay;
use crate::net::Span;
use crate::outbound::Outbound;
use crate::packet::{NOBODY, Packet, Slab};
use crate::pause::{Pause, Paused, after_storms};
use crate::queue_board::QueueBoard;
use crate::routing::Routing;
use crate::wheel::{CAME_IN, Event, What, Wheel, lane_and_bytes};
use crate::{Arbitration, Interleave, Net, Peer, Pfc, Port, Queues, Random, SwitchModel, Waits};

/// Consecutive switches: all of them, or those of a part. Ports and switches are called by their numbers in the network.
pub(crate) struct Switches<'n> {
    net: &'n Net,
    micro: &'n SwitchModel,
    span: Span,
    outputs: Vec<OutPort>,
    inputs: Vec<InPort>,
    /// Lanes by output.
    lanes: Vec<Lane>,
    /// By queue, its last packet, if there is one: which is in a table of bits, that is small.
    tails: Vec<u32>,
    busy: Vec<u64>,
    /// By switch, its first queue.
    first_queue: Vec<u32>,
    /// Bits of a lane's number: tables have space for as many lanes as those can number. Those of a lane of one class.
    bits: u32,
    class_bits: u32,
    /// By output, the use of traffic classes; and by output and class, the waiting bytes.
    shares: Shares<'n>,
    /// By input, the use of its side of the crossbar.
    in_shares: Shares<'n>,
    of_class: Vec<Waiting>,
    /// Paths of packets that stay in order.
    flows: Flows,
    /// State of packets whose flits are sent one by one, if they are.
    flits: Flits,
    /// See [`is_plain`].
    is_plain: bool,
    /// The crossbar's speed-up, if that is a power of two: its logarithm.
    speedup_bits: Option<u32>,
    /// By output and traffic class, the state of congestion control, if it needs any.
    points: Vec<OutputQueueState>,
    /// By output, the replay buffer, if it is limited.
    replays: Vec<Replay>,
    /// By output and lane, the state of pauses, if there are any; and outputs of which some were noted in this tick, with their
    /// indices.
    pauses: Vec<Pause>,
    noted: Vec<(u32, u32)>,
    /// By input, outputs that would have it but for its crossbar.
    blocked: Vec<u64>,
    unsent: Unsent,
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
    /// Round trip time, in picoseconds.
    round: u64,
    /// Packets that were dropped (see [`crate::routing::LOST`]) since the last call that took them.
    pub(crate) lost: Vec<Packet>,
    /// Packets that were dropped.
    pub(crate) dropped: u64,
    /// Packets that were sent again because of wrong bits.
    pub(crate) again: u64,
    /// Packets that crossed a switch.
    pub(crate) crossed: u64,
}

state! {
    pub(crate) struct SwitchState of() Switches<'_> {
        outputs: Vec<OutPort>,
        inputs: Vec<InPort>,
        lanes: Vec<Lane>,
        tails: Vec<u32>,
        busy: Vec<u64>,
        of_class: Vec<Waiting>,
        flows: Flows,
        points: Vec<OutputQueueState>,
        replays: Vec<Replay>,
        pauses: Vec<Pause>,
        blocked: Vec<u64>,
        unsent: Unsent,
        random: Vec<Random>,
        again: u64,
        dropped: u64,
        crossed: u64,
        ;
        shares: SharesState,
        in_shares: SharesState,
        flits: FlitState,
    }
}

/// The state that switches work on besides their own.
pub(crate) struct SwitchContext<'a> {
    pub(crate) packets: &'a mut Slab,
    pub(crate) wheel: &'a mut Wheel,
    /// Packets that leave for their terminals.
    pub(crate) left: &'a mut Vec<Delivered>,
    /// Packets and events for switches of other parts.
    pub(crate) away: &'a mut Outbound,
    /// Last reported queues of all switches.
    pub(crate) board: &'a QueueBoard,
    /// Notifications to sources, and when they arrive.
    pub(crate) notifications: &'a mut Vec<Notification>,
}

/// A packet that has left the last switch: its number, and when its last byte is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivered {
    pub(crate) packet: u32,
    pub(crate) when: u64,
    /// Bytes of its class that wait for its terminal behind it, in the last switch.
    pub(crate) waits: u32,
    /// Bytes that its channel has carried in all.
    pub(crate) carried: u64,
}

impl<'n> Switches<'n> {
    pub(crate) fn new(
        net: &'n Net,
        micro: &'n SwitchModel,
        span: Span,
        seed: u64,
        round: u64,
    ) -> Self {
        let ports = span.ports.len();
        let n = span.switches.len();
        let (bits, class_bits) = (micro.all_lane_bits(), micro.lane_bits());
        let lanes = 1usize << bits;
        let mut first_queue = Vec::with_capacity(n + 1);
        let mut queues = 0usize;
        for s in span.switches.clone() {
            first_queue.push(queues as u32);
            let radix = net.radix(s) as usize;
            queues += radix * lanes * if micro.queues == Queues::Outputs { radix } else { 1 };
        }
        let idle = OutPort { stuck: MOVES, pool: micro.shared_buffer, ..OutPort::default() };
        Self {
            net,
            micro,
            outputs: vec![idle; ports],
            inputs: vec![InPort::default(); ports],
            lanes: (0..ports).flat_map(|_| Lane::of_port(micro)).collect(),
            tails: vec![0; queues],
            busy: vec![0; queues.div_ceil(64)],
            first_queue,
            bits,
            class_bits,
            shares: Shares::new(&micro.classes, ports),
            in_shares: Shares::new(&micro.classes, ports),
            of_class: vec![Waiting::default(); ports * micro.classes.len()],
            flows: Flows::default(),
            is_plain: is_plain(net, micro),
            speedup_bits: micro.speedup.is_power_of_two().then_some(micro.speedup.trailing_zeros()),
            flits: match micro.interleave {
                Interleave::Packets => Flits::default(),
                Interleave::Flits => Flits::new(ports, lanes),
            },
            points: vec![
                OutputQueueState::default();
                if micro.congestion.has_points() { ports * micro.class_count() } else { 0 }
            ],
            replays: vec![Replay::default(); if micro.replay.is_some() { ports } else { 0 }],
            pauses: vec![Pause::default(); if micro.pfc.is_some() { ports << bits } else { 0 }],
            noted: Vec::new(),
            blocked: vec![0; ports * net.words()],
            unsent: Unsent::default(),
            arriving: vec![NOBODY; ports],
            arrivals: vec![0; n * net.words()],
            dirty: vec![0; n * net.words()],
            active: Vec::new(),
            is_active: vec![false; n],
            random: span.switches.clone().map(|s| Random::new(seed, s.into())).collect(),
            offers: Vec::new(),
            round,
            lost: Vec::new(),
            dropped: 0,
            again: 0,
            crossed: 0,
            span,
        }
    }

    /// Whether a state is of these switches, with packets of which there are this many places.
    pub(crate) fn fits(&self, state: &SwitchState, packets: usize, radix: u32) -> bool {
        let is_packet = |i: u32| i == NOBODY || (i as usize) < packets;
        state.outputs.len() == self.outputs.len()
            && state.inputs.len() == self.inputs.len()
            && state.lanes.len() == self.lanes.len()
            && state.tails.len() == self.tails.len()
            && state.busy.len() == self.busy.len()
            && state.of_class.len() == self.of_class.len()
            && state.points.len() == self.points.len()
            && state.replays.len() == self.replays.len()
            && state.pauses.len() == self.pauses.len()
            && state.blocked.len() == self.blocked.len()
            && state.unsent.fits(self.outputs.len())
            && state.random.len() == self.random.len()
            && self.shares.is_like(&state.shares)
            && self.in_shares.is_like(&state.in_shares)
            && self.flits.fits(&state.flits, packets, radix)
            && state.lanes.iter().all(|l| is_packet(l.first) && is_packet(l.last))
            // The last packet of a queue counts where there is one.
            && (0..state.tails.len()).all(|q| {
                state.busy[q / 64] >> (q % 64) & 1 == 0 || is_packet(state.tails[q])
            })
    }

    /// A port by its number in the network, as a place in tables.
    #[inline]
    fn at(&self, port: u32) -> usize {
        (port - self.span.ports.start) as usize
    }

    /// Start of the port set of a switch, by its number in the network.
    #[inline]
    fn set(&self, s: u32) -> usize {
        (s - self.span.switches.start) as usize * self.net.words()
    }

    /// Bytes that an output has sent.
    pub(crate) fn carried(&self, port: u32) -> u64 {
        self.outputs[self.at(port)].carried
    }

    /// When the channel of an output is free, as far as is known.
    pub(crate) fn free_at(&self, port: u32) -> u64 {
        self.outputs[self.at(port)].channel
    }

    /// A note of this size passes an output, behind what that has granted: returns its departure time.
    pub(crate) fn carry(&mut self, port: u32, now: u64, bytes: u32) -> u64 {
        let (at, to) = (self.at(port), self.net.port(port));
        let o = &mut self.outputs[at];
        let departs = o.channel.max(now + self.micro.mean_pipeline());
        o.channel = departs + to.long(bytes + self.micro.framing.gap);
        o.carried += u64::from(bytes);
        self.unsent.add(at, bytes, departs, to.long(bytes));
        departs
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

    /// Reads what a credit changes; the result is of no meaning.
    #[inline]
    pub(crate) fn approach_output(&self, port: u32, with: u32) -> u32 {
        let (at, lane) = (self.at(port), lane_and_bytes(with).0);
        self.outputs[at].used ^ self.lanes[at << self.bits | lane as usize].room
    }

    /// The switch behind a port has returned credits.
    #[inline]
    pub(crate) fn credit(&mut self, port: u32, with: u32) {
        let (lane, bytes) = lane_and_bytes(with);
        let at = self.at(port);
        let i = at << self.bits | lane as usize;
        if let Some(pause) = self.pauses.get_mut(i) {
            let came_in = with & CAME_IN != 0;
            pause.note(if came_in { bytes.into() } else { -i64::from(bytes) });
            self.noted.push((port, i as u32));
            if came_in {
                return;
            }
        }
        let out = &mut self.outputs[at];
        let shared = self.lanes[i].give(bytes);
        out.pool += shared;
        out.used -= bytes;
        if !self.of_class.is_empty() {
            let class = (lane >> self.class_bits) as usize;
            self.of_class[at * self.micro.classes.len() + class].used -= bytes;
        }
        if out.lanes >> lane & 1 != 0 || (shared > 0 && out.lanes != 0) {
            self.touch(port);
        }
    }

    /// All of a tick was noted: pauses begin and end.
    pub(crate) fn decide_pauses(&mut self, pfc: Pfc, now: u64) {
        let mut noted = std::mem::take(&mut self.noted);
        for (port, i) in noted.drain(..) {
            if self.pauses[i as usize].decide(pfc, now) {
                self.touch(port);
            }
        }
        self.noted = noted;
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

    /// Processes the tick that begins at `now`.
    pub(crate) fn act<R: Routing>(
        &mut self,
        now: u64,
        routing: &R,
        context: &mut SwitchContext<'_>,
    ) {
        if self.is_plain {
            self.act_with::<R, Plain>(now, routing, context);
        } else if self.flits.is_empty() {
            self.act_with::<R, Whole>(now, routing, context);
        } else {
            self.act_with::<R, ByFlits>(now, routing, context);
        }
    }

    /// As [`Switches::act`], of switches with these features.
    #[inline]
    fn act_with<R: Routing, F: Features>(
        &mut self,
        now: u64,
        routing: &R,
        context: &mut SwitchContext<'_>,
    ) {
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
                    if F::FLITS {
                        self.enter_flit(s, input, routing, context);
                    } else {
                        self.enter::<R, F>(now, s, input, routing, context);
                    }
                }
            }
            match self.micro.arbitration {
                _ if F::FLITS || F::PLAIN => self.by_turns::<F>(now, s, context),
                Arbitration::Islip => self.match_up(now, s, context),
                // Inputs are shared by classes, too.
                _ if !self.shares.is_plain() => self.match_up(now, s, context),
                _ => self.by_turns::<F>(now, s, context),
            }
        }
        self.active = active;
    }

    /// Returns the credits of a lane to the switch or the terminal before a port, when the last of it is through.
    #[inline]
    fn give_back(
        &self,
        from: &Port,
        lane: u8,
        bytes: u32,
        through: u64,
        context: &mut SwitchContext<'_>,
    ) {
        let SwitchContext { wheel, away, .. } = context;
        let back = through + u64::from(from.latency) + self.micro.credit;
        let with = u32::from(lane) << 24 | bytes;
        match from.peer() {
            Peer::Port(peer) if self.span.ports.contains(&peer) => {
                wheel.after(back, Event::new(What::Credit, peer, with));
            }
            Peer::Port(peer) => {
                away.event(wheel.tick_after(back), Event::new(What::Credit, peer, with));
            }
            Peer::Terminal(t) => wheel.after(back, Event::new(What::TerminalCredit, t, with)),
        }
    }

    /// The queue of an input for an output and a lane: the lane that packets are in, or the one that they continue
    /// in.
    #[inline]
    fn queue(&self, s: u32, input: u32, out: u32, lane: u8) -> usize {
        let place = match self.micro.queues {
            Queues::Lanes => input,
            // Queues that one output examines are adjacent.
            Queues::Outputs => out * self.net.radix(s) + input,
            Queues::Memory => out,
        };
        let first = self.first_queue[(s - self.span.switches.start) as usize];
        (first + (place << self.bits | u32::from(lane))) as usize
    }

    /// The number of a packet's queue among those that an output chooses from.
    #[inline]
    fn slot(&self, packet: &Packet) -> u32 {
        match self.micro.queues {
            Queues::Lanes => u32::from(packet.input) << self.bits | u32::from(packet.lane),
            Queues::Outputs => u32::from(packet.input) << self.bits | u32::from(packet.next_lane),
            Queues::Memory => packet.next_lane.into(),
        }
    }

    /// A packet that is the first of its queue waits for an output, behind those that do already.
    #[inline]
    fn request(&mut self, s: u32, id: u32, out: u32, packets: &mut Slab) {
        let port = self.at(self.net.base(s) + out);
        let packet = packets.of_mut(id);
        packet.beside = NOBODY;
        let lane = usize::from(packet.next_lane);
        self.outputs[port].lanes |= 1 << lane;
        let list = &mut self.lanes[port << self.bits | lane];
        if list.first == NOBODY {
            list.first = id;
        } else {
            packets.of_mut(list.last).beside = id;
        }
        list.last = id;
        let set = self.set(s) + out as usize / 64;
        self.dirty[set] |= 1 << (out % 64);
    }

    /// The first packet of a queue goes, or its first flit.
    fn grant<F: Features>(
        &mut self,
        now: u64,
        s: u32,
        out: u32,
        choice: Choice,
        context: &mut SwitchContext<'_>,
    ) {
        // Takes the packet out of the list of those that wait for the output.
        let SwitchContext { packets, wheel, left, away, notifications, .. } = context;
        let (micro, net) = (self.micro, self.net);
        let base = net.base(s);
        let Choice { packet: id, before } = choice;
        let beside = packets.of(id).beside;
        if before != NOBODY {
            packets.of_mut(before).beside = beside;
        }
        let packet = packets.of_mut(id);
        let source = base + u32::from(packet.input);
        let (from, to) = (net.port(source), net.port(base + out));
        let (bytes, next) = (packet.bytes, packet.next);
        let (was, next_lane) = (packet.lane, packet.next_lane);
        let is_tail = !F::FLITS || packet.mark & TAIL != 0;
        let (input, output) = (self.at(source), self.at(base + out));

        // Through the crossbar, once input and output are free, and onto the channel, as often as bit errors make it.
        let shared = !F::PLAIN && micro.queues == Queues::Memory;
        // A division takes longer than all around it.
        let through_crossbar = |long: u64| match self.speedup_bits {
            _ if shared => long,
            Some(bits) => long >> bits,
            None => long / u64::from(micro.speedup),
        };
        let is_steady = F::PLAIN || net.is_steady();
        let (in_long, out_long) = (from.long(bytes), to.long(bytes));
        let out_long_at =
            |when: u64| if is_steady { out_long } else { net.long_at(base + out, bytes, when) };
        let (o, i) = (&mut self.outputs[output], &mut self.inputs[input]);
        let start = now.max(packet.at).max(o.crossbar).max(if shared { 0 } else { i.crossbar });
        o.crossbar = start + through_crossbar(out_long);
        i.crossbar = start + through_crossbar(in_long);
        let random_of = (s - self.span.switches.start) as usize;
        let pipeline = match micro.spread {
            0 => micro.pipeline,
            _ => micro.through(&mut self.random[random_of]),
        };
        // The last byte is here once it came over the channel before: a faster one has to wait for it.
        let began = packet.at.saturating_sub(from.latency.into());
        let whole = packet.at + if is_steady { in_long } else { net.long_at(source, bytes, began) };
        let mut departs = o.channel.max(start + pipeline);
        let long = out_long_at(departs);
        departs = departs.max((whole + pipeline).saturating_sub(long));
        let replay = match (micro.replay, self.replays.get_mut(output)) {
            _ if F::PLAIN => None,
            (Some(window), Some(replay)) if matches!(to.peer(), Peer::Port(_)) => {
                departs = replay.wait_for_space(window, bytes, departs);
                Some(replay)
            }
            _ => None,
        };
        if !F::PLAIN
            && !micro.storms.is_empty()
            && let Peer::Terminal(t) = to.peer()
        {
            departs = after_storms(&micro.storms, t, departs);
        }
        let there_and_back = 2 * u64::from(to.latency);
        if !F::PLAIN && micro.bit_errors > 0.0 {
            let again = micro.sent_again(bytes, &mut self.random[random_of]);
            self.again += again;
            departs += again * (out_long_at(departs) + there_and_back);
        }
        let gap = if is_tail { micro.framing.gap } else { 0 };
        let long = out_long_at(departs);
        if let Some(replay) = replay {
            replay.hold(bytes, departs + long + there_and_back + micro.credit);
        }
        o.channel = departs
            + match gap {
                0 => long,
                _ if is_steady => to.long(bytes + gap),
                _ => net.long_at(base + out, bytes + gap, departs),
            };
        let through = if shared { departs + long } else { i.crossbar };
        let through = through.max(whole);
        // The bytes that wait for this lane, output and traffic class decrease by this packet.
        let list = &mut self.lanes[output << self.bits | usize::from(next_lane)];
        if before == NOBODY {
            list.first = beside;
        }
        if beside == NOBODY {
            list.last = before;
        }
        if list.first == NOBODY {
            o.lanes &= !(1 << next_lane);
        }
        o.queued -= bytes;
        let mut waits = o.queued;
        let class = next_lane >> self.class_bits;
        if !F::PLAIN && !self.shares.is_plain() {
            let of = &mut self.of_class[output * micro.classes.len() + usize::from(class)];
            of.queued -= bytes;
            if matches!(to.peer(), Peer::Port(_)) {
                of.used += bytes;
            }
            waits = of.queued;
            self.shares.spend(output, class.into(), now, long);
            self.in_shares.spend(input, class.into(), now, in_long);
        }
        let was_held = o.stuck != MOVES;
        if was_held {
            o.stalled += now - o.stuck;
            o.stuck = MOVES;
        }
        // The packet as it leaves: lane, hops, and its latency back to the source.
        self.crossed += u64::from(is_tail);
        o.carried += u64::from(bytes);
        self.unsent.add(output, bytes, departs, long);
        packet.at = departs + u64::from(to.latency);
        packet.lane = next_lane;
        packet.hops += 1;
        packet.back = packet.back.saturating_add(to.latency).saturating_add(pipeline as u32);
        // Congestion control examines passing packets, and may send a note to the source.
        if !F::PLAIN && micro.congestion.looks() {
            let passing = DepartingPacket { waits, bytes, pace: to.pace, was_held };
            let random = &mut self.random[random_of];
            let point = self.points.get_mut(output * micro.class_count() + usize::from(class));
            let (mark, says) = micro.congestion.pass(&micro.tuning, point, &passing, random);
            packet.mark |= u8::from(mark);
            if says > 0 {
                let (source, endpoint) = (packet.from, packet.to);
                let note = CongestionMessage {
                    source,
                    endpoint,
                    class,
                    to_endpoint: false,
                    bytes: 0,
                    says,
                    lost: None,
                    in_order: None,
                };
                let return_latency = packet.back - to.latency;
                notifications.push(Notification {
                    when: departs + u64::from(return_latency),
                    note,
                    waits: None,
                    port: base + out,
                });
            }
        }
        // It arrives at the next switch, in this partition or another one, or at its terminal.
        match to.peer() {
            Peer::Port(peer) => {
                o.used += bytes;
                o.pool -= list.take(bytes);
                if !F::PLAIN && micro.pfc.is_some() {
                    // The other end has all of it, and says so by a pause if that is too much.
                    let credit_at = departs + long + there_and_back + micro.credit;
                    let with = CAME_IN | u32::from(next_lane) << 24 | bytes;
                    wheel.after(credit_at, Event::new(What::Credit, base + out, with));
                }
                if self.span.ports.contains(&peer) {
                    wheel.after(packet.at, Event::new(What::Arrival, peer, id));
                } else {
                    let tick = wheel.tick_after(packet.at);
                    away.packet(tick, peer, packets.remove(id));
                }
            }
            Peer::Terminal(_) => {
                let when = packet.at + out_long;
                left.push(Delivered { packet: id, when, waits, carried: o.carried });
            }
        }

        // Credits for the buffer that it left.
        self.give_back(from, was, bytes, through, context);
        if F::FLITS && is_tail {
            self.let_go(output, next_lane);
        }

        // The next one of the queue.
        if next == NOBODY {
            let lane = if micro.queues == Queues::Lanes { was } else { next_lane };
            let q = self.queue(s, source - base, out, lane);
            self.busy[q / 64] &= !(1 << (q % 64));
        } else if F::FLITS {
            self.come_to_front(s, next, context.packets);
        } else {
            let next_out = u32::from(context.packets.of(next).out);
            self.request(s, next, next_out, context.packets);
        }
    }

    /// Ports that are stuck have been so up to now.
    pub(crate) fn settle(&mut self, now: u64) {
        for o in self.outputs.iter_mut().filter(|o| o.stuck < now) {
            o.stalled += now - o.stuck;
            o.stuck = now;
        }
    }

    /// By output, its pauses up to a time, in picoseconds; empty if there are none.
    pub(crate) fn pauses(&self, now: u64) -> Vec<Paused> {
        self.pauses.chunks(1 << self.bits).map(|lanes| Paused::sum(lanes, now)).collect()
    }

    /// Bytes that wait for its outputs, by output and class; empty if there are no classes.
    pub(crate) fn of_classes(&self) -> &[Waiting] {
        &self.of_class
    }

    /// An interval of a series begins, and is over at this time, in picoseconds.
    pub(crate) fn begin_interval(&mut self, until: u64) {
        self.unsent.begin(until);
    }

    /// By output, bytes of [`OutPort::carried`] that have not left when an interval is over.
    pub(crate) fn unsent(&self, now: u64) -> BTreeMap<usize, u64> {
        self.unsent.at(now)
    }

    /// The current state of its outputs.
    pub(crate) fn outputs(&self) -> &[OutPort] {
        &self.outputs
    }

    /// Adds the resource that the first packet of each queue waits for.
    pub(crate) fn waits(&self, packets: &Slab, all: &mut Vec<Waits>) {
        for (i, lane) in self.lanes.iter().enumerate() {
            let port = self.span.ports.start + (i >> self.bits) as u32;
            let is_paused = self.pauses.get(i).is_some_and(Pause::is_on);
            let space = if is_paused { 0 } else { lane.room + self.outputs[i >> self.bits].pool };
            let mut id = lane.first;
            // Credits go to the packet that came first: a shorter one behind it waits for credits, too.
            let is_short = id != NOBODY && space < packets.of(id).bytes;
            while id != NOBODY {
                let packet = packets.of(id);
                let wants = match self.net.port(port).peer() {
                    Peer::Port(next) if is_short || space < packet.bytes => {
                        Some((next, packet.next_lane))
                    }
                    _ => None,
                };
                let input = self.net.base(self.net.port(port).switch) + u32::from(packet.input);
                all.push(Waits { at: (input, packet.lane), wants, packet: id });
                id = packet.beside;
            }
        }
        self.lane_waits(packets, all);
    }
}
