//! Switches side by side and their terminals, tick after tick: a whole network, or a part of one.

use std::collections::VecDeque;
use std::hint::black_box;
use std::ops::Range;

use darkfiber_workload::state;
use serde::{Deserialize, Serialize};

use crate::away::{Away, Mail};
use crate::board::Board;
use crate::congestion::{Ack, End, Outbox, Terms, Turn};
use crate::deadlock::Waits;
use crate::net::Span;
use crate::packet::{NOBODY, Packet, Slab};
use crate::routing::Routing;
use crate::series::Series;
use crate::switch::{Hands, Left, SwitchState, Switches};
use crate::wheel::{Event, What, Wheel, WheelState};
use crate::{Arbitration, Congestion, Impossible, Micro, Net, Peer, Random, TILED_PORTS};

/// What a terminal has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// What its sender calls it.
    pub(crate) number: u32,
    /// Terminal that it goes to.
    pub(crate) to: u32,
    /// Bytes that are not sent yet.
    pub(crate) bytes: u64,
    /// The group that it is counted with.
    pub(crate) group: u16,
    /// Which of several ways tables have for it.
    pub(crate) path: u8,
    /// When its packets were created, in picoseconds; without, each when it leaves.
    pub(crate) born: Option<u64>,
}

/// A packet that is at its destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) packet: Packet,
    /// When its last byte is.
    pub(crate) when: u64,
}

/// A terminal.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Terminal {
    /// What it has to send; messages by turns, a packet each.
    queue: VecDeque<Message>,
    /// The same where sources are held back: pairs by turns.
    outbox: Outbox,
    /// When its channel is free.
    channel: u64,
    /// Its dice, for bits that are wrong behind its cable.
    random: Random,
    /// The lane of its next packet.
    lane: u8,
    /// Whether it will be woken when its channel is free.
    woken: bool,
    /// When it will be woken next because a pair may send then.
    wakes: u64,
    /// Whether it has room, or its channel, in this tick.
    touched: bool,
}

/// Bytes of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lengths {
    /// Data of one at most.
    pub(crate) most: u32,
    /// The same on a channel.
    pub(crate) wire: u32,
    /// What is shorter takes as long.
    pub(crate) least: u32,
}

impl Terminal {
    /// The message whose turn it is sends a packet with so many bytes of it.
    fn by_turns(&mut self, payload: u32) -> Option<Message> {
        let mut message = self.queue.pop_front()?;
        message.bytes -= u64::from(payload);
        if message.bytes > 0 {
            self.queue.push_back(message);
        }
        Some(message)
    }
}

impl Lengths {
    /// Packets of at most so many bytes, with a routing that needs so many lanes; what is shorter than a tick allows takes a
    /// tick.
    pub(crate) fn new(net: &Net, micro: &Micro, lanes: u8, most: u32) -> Result<Self, Impossible> {
        // Of packets as they are on channels.
        let most_data = most;
        let most = micro.framing.frame(most);
        micro.check(most)?;
        let ports = (0..net.port_count() as u32).map(|p| u32::from(net.port(p).number));
        if micro.arbitration == Arbitration::Tiles && ports.max() > Some(TILED_PORTS) {
            return Err(Impossible(format!(
                "tiles have {TILED_PORTS} ports, and this fabric has switches with more: take another arbitration"
            )));
        }
        if lanes > micro.lanes {
            return Err(Impossible(format!(
                "this routing needs {lanes} virtual lanes to be free of deadlock, and there are {}: give as many, or take another \
                 routing",
                micro.lanes
            )));
        }
        if net.quickest(most) < micro.tick {
            return Err(Impossible(format!(
                "a packet of {most} B passes a channel in less than a tick of {} ps: make it longer",
                micro.tick
            )));
        }
        let (mut below, mut least) = (0, most);
        while least - below > 1 {
            let middle = below + (least - below) / 2;
            if net.quickest(middle) < micro.tick { below = middle } else { least = middle }
        }
        if least > u16::MAX.into() {
            return Err(Impossible(format!(
                "{least} B pass a channel in a tick of {} ps: make ticks shorter",
                micro.tick
            )));
        }
        Ok(Self { most: most_data, wire: most, least })
    }
}

/// A part. Of each tick, first [`Part::begin`] it, then let terminals send, then [`Part::finish`] it.
pub(crate) struct Part<'n, R> {
    net: &'n Net,
    micro: &'n Micro,
    routing: R,
    span: Span,
    switches: Switches<'n>,
    /// By seat.
    terminals: Vec<Terminal>,
    /// By seat and lane, room in its switch.
    credits: Vec<u32>,
    packets: Slab,
    wheel: Wheel,
    lengths: Lengths,
    now: u64,
    events: Vec<Event>,
    touched: Vec<u32>,
    left: Vec<Left>,
    /// What pairs go by, if sources are held back; by seat, what is known of endpoints.
    terms: Option<Terms>,
    ends: Vec<End>,
    /// Acknowledgements that are under way, places of those that are gone, and those of this tick.
    acks: Vec<Ack>,
    unused: Vec<u32>,
    heard: Vec<Ack>,
    pub(crate) away: Away,
    event_count: u64,
}

state! {
    pub(crate) struct PartState of(R) Part<'_, R> {
        terminals: Vec<Terminal>,
        credits: Vec<u32>,
        packets: Slab,
        ends: Vec<End>,
        acks: Vec<Ack>,
        unused: Vec<u32>,
        now: u64,
        event_count: u64,
        ;
        switches: SwitchState,
        wheel: WheelState,
    }
}

impl<'n, R: Routing> Part<'n, R> {
    /// Some switches side by side; of the others, `away` knows where they begin.
    pub(crate) fn new(
        net: &'n Net,
        micro: &'n Micro,
        routing: R,
        lengths: Lengths,
        switches: Range<u32>,
        away: Away,
        seed: u64,
    ) -> Self {
        let span = net.span(switches);
        let is_free = micro.congestion == Congestion::None;
        let terms = (!is_free).then(|| Terms::new(net, micro, lengths.wire));
        let ends = if is_free { Vec::new() } else { vec![End::default(); span.seats.len()] };
        let terminal = |random| Terminal {
            queue: VecDeque::new(),
            outbox: Outbox::default(),
            channel: 0,
            random,
            lane: 0,
            woken: false,
            wakes: 0,
            touched: false,
        };
        let terminals = net.terminals_at(span.ports.clone());
        let dice = terminals.map(|t| Random::new(seed, u64::from(t) | 1 << 41));
        Self {
            net,
            micro,
            routing,
            switches: Switches::new(net, micro, span.clone(), seed),
            terminals: dice.map(terminal).collect(),
            credits: vec![micro.buffer; span.seats.len() * usize::from(micro.lanes)],
            span,
            packets: Slab::default(),
            wheel: Wheel::new(micro.tick),
            lengths,
            now: 0,
            events: Vec::new(),
            touched: Vec::new(),
            left: Vec::new(),
            terms,
            ends,
            acks: Vec::new(),
            unused: Vec::new(),
            heard: Vec::new(),
            away,
            event_count: 0,
        }
    }

    /// What it consists of.
    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// When the tick that was begun last began, in picoseconds.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// The next tick in which something happens.
    pub(crate) fn upcoming(&self) -> Option<u64> {
        self.wheel.upcoming()
    }

    /// Has [`Part::begin`] tell of a terminal at a tick.
    pub(crate) fn remind(&mut self, tick: u64, terminal: u32) {
        self.wheel.push(tick, Event::new(What::Birth, terminal, 0));
    }

    /// Takes what comes from another part.
    pub(crate) fn take(&mut self, mail: &mut Mail) {
        for (tick, port, packet) in mail.packets.drain(..) {
            let id = self.packets.add(packet);
            self.wheel.push(tick, Event::new(What::Arrival, port, id));
        }
        for (tick, event) in mail.events.drain(..) {
            self.wheel.push(tick, event);
        }
        for (tick, ack) in mail.acks.drain(..) {
            self.acknowledge(tick, ack);
        }
    }

    /// Notes what happens in a tick, and tells which terminals asked for it.
    pub(crate) fn begin(&mut self, tick: u64, reminded: &mut Vec<u32>) {
        self.now = tick * self.micro.tick;
        let mut events = std::mem::take(&mut self.events);
        self.wheel.take(tick, &mut events);
        self.event_count += events.len() as u64;
        self.approach(&events);
        for event in &events {
            let (place, with) = (event.place(), event.with());
            match event.what() {
                What::Arrival => self.switches.arrive(place, with),
                What::Credit => self.switches.credit(place, (with >> 24) as u8, with & 0xff_ffff),
                What::Output => self.switches.wake_output(place),
                What::Input => self.switches.wake_input(place),
                What::TerminalCredit => {
                    let lanes = usize::from(self.micro.lanes);
                    let at = self.seat(place) * lanes + (with >> 24) as usize;
                    self.credits[at] += with & 0xff_ffff;
                    self.touch(place);
                }
                What::Terminal => {
                    let seat = self.seat(place);
                    self.terminals[seat].woken = false;
                    self.touch(place);
                }
                What::Birth => reminded.push(place),
                What::Ack => {
                    self.heard.push(self.acks[with as usize]);
                    self.unused.push(with);
                }
            }
        }
        self.events = events;
        self.hear();
        // Whatever has reached a terminal has done so before it acts: in which order does not matter.
        let mut touched = std::mem::take(&mut self.touched);
        for terminal in touched.drain(..) {
            let seat = self.seat(terminal);
            self.terminals[seat].touched = false;
            self.go_on(terminal, self.now);
        }
        self.touched = touched;
    }

    #[inline]
    fn seat(&self, terminal: u32) -> usize {
        (self.net.seat(terminal) - self.span.seats.start) as usize
    }

    fn touch(&mut self, terminal: u32) {
        let seat = self.seat(terminal);
        if !std::mem::replace(&mut self.terminals[seat].touched, true) {
            self.touched.push(terminal);
        }
    }

    /// Has the cache fetch packets that arrive, many at once: they are far from each other, and nobody looked at them since
    /// they left.
    #[inline]
    fn approach(&self, events: &[Event]) {
        let arrivals = events.iter().filter(|e| e.what() == What::Arrival);
        black_box(arrivals.fold(0, |all, e| all ^ self.packets.of(e.with()).to));
    }

    /// Sources hear of their packets, those of one tick in an order that does not depend on parts.
    fn hear(&mut self) {
        let mut heard = std::mem::take(&mut self.heard);
        heard.sort_unstable_by_key(|a| (a.source, a.endpoint, a.bytes, a.pace));
        for ack in heard.drain(..) {
            let seat = self.seat(ack.source);
            self.terminals[seat].outbox.acknowledged(&ack, self.now);
            self.touch(ack.source);
        }
        self.heard = heard;
    }

    /// An acknowledgement is at its source in a tick.
    fn acknowledge(&mut self, tick: u64, ack: Ack) {
        let slot = self.unused.pop().unwrap_or_else(|| {
            self.acks.push(ack);
            self.acks.len() as u32 - 1
        });
        self.acks[slot as usize] = ack;
        self.wheel.push(tick, Event::new(What::Ack, ack.source, slot));
    }

    /// A terminal has a message to send, at a time in this tick.
    pub(crate) fn send(&mut self, from: u32, message: Message, now: u64) {
        let seat = self.seat(from);
        if self.terms.is_some() {
            self.terminals[seat].outbox.add(message);
        } else {
            self.terminals[seat].queue.push_back(message);
        }
        self.go_on(from, now);
    }

    /// A terminal sends what it can in this tick.
    fn go_on(&mut self, from: u32, now: u64) {
        let (micro, lanes) = (self.micro, usize::from(self.micro.lanes));
        let home = self.net.home(from);
        let port = self.net.port(home);
        debug_assert_eq!(port.peer(), Peer::Terminal(from));
        let seat = self.seat(from);
        let most = u64::from(self.lengths.most);
        let window = self.terms.map(|t| t.window(port.pace, self.lengths.wire));
        let terminal = &mut self.terminals[seat];
        loop {
            let end = now + micro.tick;
            // What it is to send, and when at the earliest; or when to look again.
            let (open, after) = match window {
                None => match terminal.queue.front() {
                    Some(message) => (message.bytes, now),
                    None => return,
                },
                Some(_) if terminal.channel >= end && terminal.outbox.is_idle() => return,
                Some(window) => match terminal.outbox.turn(window, most, end) {
                    Turn::Send { bytes, after } => (bytes, after.max(now)),
                    Turn::Later(when) => {
                        // Unless it will be woken before.
                        if terminal.wakes < end || when < terminal.wakes {
                            terminal.wakes = when;
                            self.wheel.within(when, Event::new(What::Terminal, from, 0));
                        }
                        return;
                    }
                    Turn::Nobody => return,
                },
            };
            if terminal.channel >= end {
                if !std::mem::replace(&mut terminal.woken, true) {
                    self.wheel.within(terminal.channel, Event::new(What::Terminal, from, 0));
                }
                return;
            }
            let payload = open.min(most) as u32;
            let bytes = micro.framing.frame(payload).max(self.lengths.least);
            // Lanes into the first switch are all alike: nothing waits behind them.
            let credits = &mut self.credits[seat * lanes..(seat + 1) * lanes];
            let by_turns = (0..lanes).map(|i| (usize::from(terminal.lane) + i) % lanes);
            let Some(lane) = by_turns.into_iter().find(|&l| credits[l] >= bytes) else { return };
            credits[lane] -= bytes;
            terminal.lane = ((lane + 1) % lanes) as u8;
            let mut departs = terminal.channel.max(after);
            if micro.bit_errors > 0.0 {
                let again = micro.sent_again(bytes, &mut terminal.random);
                departs += again * (port.long(bytes) + 2 * u64::from(port.latency));
            }
            terminal.channel = departs + port.long(bytes + micro.framing.gap);
            let message = match window {
                None => terminal.by_turns(payload),
                Some(_) => terminal.outbox.send(payload, bytes, departs),
            };
            let Some(message) = message else { return };
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
                port: 0,
                out: 0,
                group: message.group,
                pad: (bytes - payload) as u16,
                path: message.path,
                lane: lane as u8,
                next_lane: 0,
                hops: 0,
                phase: 0,
                round: false,
            };
            let id = self.packets.add(packet);
            self.wheel.after(at, Event::new(What::Arrival, home, id));
        }
    }

    /// Switches act; packets that leave the last one are told.
    pub(crate) fn finish(&mut self, board: &Board, arrived: &mut Vec<Arrived>) {
        let Self { packets, wheel, left, away, .. } = self;
        let mut hands = Hands { packets, wheel, left, away, board };
        self.switches.act(self.now, &self.routing, &mut hands);
        let mut left = std::mem::take(&mut self.left);
        for Left { packet, when, waits } in left.drain(..) {
            let packet = self.packets.remove(packet);
            if let Some(terms) = self.terms {
                self.tell_source(terms, &packet, when, waits);
            }
            arrived.push(Arrived { packet, when });
        }
        self.left = left;
    }

    /// A packet is acknowledged, by a message that waits for nobody.
    fn tell_source(&mut self, terms: Terms, packet: &Packet, when: u64, waits: u32) {
        let seat = self.seat(packet.to);
        let pace = self.net.port(self.net.home(packet.to)).pace;
        let sources = self.net.terminal_count();
        let end = &mut self.ends[seat];
        let pace = end.arrived(terms, self.now, packet.from, waits, pace, sources);
        let (source, endpoint) = (packet.from, packet.to);
        let ack = Ack { source, endpoint, bytes: packet.bytes, pace };
        let tick = self.wheel.tick_after(when + u64::from(packet.back));
        let home = self.net.home(source);
        if self.span.ports.contains(&home) {
            self.acknowledge(tick, ack);
        } else {
            self.away.ack(tick, home, ack);
        }
    }

    /// Tells of all outputs.
    pub(crate) fn tell(&self, board: &Board) {
        board.tell(self.net, self.span.ports.start, self.switches.outputs());
    }

    /// Adds what the first packets of all queues wait for.
    pub(crate) fn waits(&self, all: &mut Vec<Waits>) {
        self.switches.waits(&self.packets, all);
    }

    /// An interval of a series is over.
    pub(crate) fn keep(&mut self, now: u64, series: &mut Series) {
        self.switches.settle(now);
        series.over(self.span.ports.start, self.switches.outputs());
    }

    /// Its switches.
    pub(crate) fn switches(&self) -> &Switches<'n> {
        &self.switches
    }

    /// Packets in it.
    pub(crate) fn packets(&self) -> usize {
        self.packets.count()
    }

    /// Events so far.
    pub(crate) fn event_count(&self) -> u64 {
        self.event_count
    }
}
