//! Switches side by side and their terminals, tick after tick: a whole network, or a part of one.

use std::collections::VecDeque;
use std::hint::black_box;
use std::ops::Range;

use darkfiber_workload::state;
use serde::{Deserialize, Serialize};

use crate::away::{Away, Mail};
use crate::board::Board;
use crate::class::{Next, Shares, SharesState};
use crate::congestion::{Arriving, End, Note, Outbox, Sent, Terms, Turn};
use crate::deadlock::Waits;
use crate::net::Span;
use crate::packet::{NOBODY, Packet, Slab};
use crate::routing::Routing;
use crate::series::Series;
use crate::switch::{Hands, Left, SwitchState, Switches};
use crate::wheel::{Event, What, Wheel, WheelState};
use crate::{Arbitration, Congestion, Impossible, Micro, Net, Peer, Random, TILED_PORTS};

/// What a terminal has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// Its traffic class.
    pub(crate) class: u8,
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

/// The message whose turn it is sends a packet with so many bytes of it.
fn by_turns(queue: &mut VecDeque<Message>, payload: u32) -> Option<Sent> {
    let mut message = queue.pop_front()?;
    message.bytes -= u64::from(payload);
    if message.bytes > 0 {
        queue.push_back(message);
    }
    Some(Sent { message, flowlet: 0, mark: 0 })
}

/// A packet that a terminal could send.
#[derive(Clone, Copy, Debug)]
struct Could {
    payload: u32,
    /// Not before this time.
    after: u64,
    lane: u8,
}

/// What there is to send of a class.
#[derive(Clone, Copy, Debug)]
enum Ready {
    Now(Could),
    Later(u64),
    Nothing,
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
    /// By seat and class, what terminals have to send: messages by turns, a packet each; or pairs by turns, where packets are
    /// acknowledged.
    queues: Vec<VecDeque<Message>>,
    outboxes: Vec<Outbox>,
    /// By seat, what classes have had of its channel.
    shares: Shares<'n>,
    /// By seat and lane, room in its switch.
    credits: Vec<u32>,
    packets: Slab,
    wheel: Wheel,
    lengths: Lengths,
    now: u64,
    events: Vec<Event>,
    touched: Vec<u32>,
    left: Vec<Left>,
    /// What pairs go by, if packets are acknowledged; by seat and class, what is known of endpoints.
    terms: Option<Terms>,
    ends: Vec<End>,
    /// Notes that are under way, places of those that are gone, and those of this tick.
    notes: Vec<Note>,
    unused: Vec<u32>,
    heard: Vec<Note>,
    grants: Vec<(u32, u64)>,
    /// What switches tell sources, and when they hear it.
    told: Vec<(u64, Note)>,
    pub(crate) away: Away,
    event_count: u64,
}

state! {
    pub(crate) struct PartState of(R) Part<'_, R> {
        terminals: Vec<Terminal>,
        queues: Vec<VecDeque<Message>>,
        outboxes: Vec<Outbox>,
        credits: Vec<u32>,
        packets: Slab,
        ends: Vec<End>,
        notes: Vec<Note>,
        unused: Vec<u32>,
        now: u64,
        event_count: u64,
        ;
        shares: SharesState,
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
        let is_free = micro.congestion == Congestion::None
            && !micro.classes.iter().any(|c| c.ordered || c.lossy);
        let all_terms = Terms::new(net, micro, [lengths.most, lengths.wire]);
        let terms = (!is_free).then_some(all_terms);
        let all = span.seats.len() * micro.class_count();
        let [free, held] = if is_free { [all, 0] } else { [0, all] };
        let terminal = |random| Terminal {
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
            switches: Switches::new(net, micro, span.clone(), seed, all_terms.round),
            terminals: dice.map(terminal).collect(),
            queues: vec![VecDeque::new(); free],
            outboxes: vec![Outbox::default(); held],
            shares: Shares::new(&micro.classes, span.seats.len()),
            credits: vec![micro.buffer; span.seats.len() << micro.all_lane_bits()],
            ends: vec![End::new(micro.congestion); held],
            span,
            packets: Slab::default(),
            wheel: Wheel::new(micro.tick),
            lengths,
            now: 0,
            events: Vec::new(),
            touched: Vec::new(),
            left: Vec::new(),
            terms,
            notes: Vec::new(),
            unused: Vec::new(),
            heard: Vec::new(),
            grants: Vec::new(),
            told: Vec::new(),
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
        for (tick, note) in mail.notes.drain(..) {
            self.note(tick, note);
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
                    let at = self.seat(place) << self.micro.all_lane_bits() | (with >> 24) as usize;
                    self.credits[at] += with & 0xff_ffff;
                    self.touch(place);
                }
                What::Terminal => {
                    let seat = self.seat(place);
                    self.terminals[seat].woken = false;
                    self.touch(place);
                }
                What::Birth => reminded.push(place),
                What::Note => {
                    self.heard.push(self.notes[with as usize]);
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

    /// Sources hear of their packets, and endpoints of sources, those of one tick in an order that does not depend on parts.
    fn hear(&mut self) {
        let mut heard = std::mem::take(&mut self.heard);
        heard.sort_unstable();
        for note in heard.drain(..) {
            let (seat, pace) = (self.seat(note.to()), self.net.port(self.net.home(note.to())).pace);
            let at = seat * self.micro.class_count() + usize::from(note.class);
            let Some(terms) = self.terms else { continue };
            if note.to_endpoint {
                let mut grants = std::mem::take(&mut self.grants);
                let bytes = [note.says, note.bytes.into()];
                self.ends[at].asked(terms, note.source, bytes, pace, &mut grants);
                self.grant(terms, &note, &mut grants);
                self.grants = grants;
            } else {
                let says = self.outboxes[at].hear(terms, &note, self.now, pace);
                let lost = note.lost.map_or(0, |lost| lost.bytes as u32);
                if says > 0 || (lost > 0 && terms.congestion == Congestion::Grants) {
                    self.ask(
                        terms,
                        Note { to_endpoint: true, bytes: lost, says, lost: None, ..note },
                        self.now,
                    );
                }
                self.touch(note.source);
            }
        }
        self.heard = heard;
    }

    /// A source asks an endpoint for bytes, by a note.
    fn ask(&mut self, terms: Terms, note: Note, now: u64) {
        self.tell_of(note, now + terms.way);
    }

    /// An endpoint has granted bytes to sources; `of` is a note of it.
    fn grant(&mut self, terms: Terms, of: &Note, grants: &mut Vec<(u32, u64)>) {
        for (source, says) in grants.drain(..) {
            let note = Note { source, to_endpoint: false, bytes: 0, says, lost: None, ..*of };
            self.tell_of(note, self.now + terms.way);
        }
    }

    /// A note is on its way to who hears it at a time.
    fn tell_of(&mut self, note: Note, when: u64) {
        let tick = self.wheel.tick_after(when);
        let home = self.net.home(note.to());
        if self.span.ports.contains(&home) {
            self.note(tick, note);
        } else {
            self.away.note(tick, home, note);
        }
    }

    /// A note is there in a tick.
    fn note(&mut self, tick: u64, note: Note) {
        let slot = self.unused.pop().unwrap_or_else(|| {
            self.notes.push(note);
            self.notes.len() as u32 - 1
        });
        self.notes[slot as usize] = note;
        self.wheel.push(tick, Event::new(What::Note, note.to(), slot));
    }

    /// A terminal has a message to send, at a time in this tick.
    pub(crate) fn send(&mut self, from: u32, message: Message, now: u64) {
        let at = self.seat(from) * self.micro.class_count() + usize::from(message.class);
        if let Some(terms) = self.terms {
            let pace = self.net.port(self.net.home(from)).pace;
            let says = self.outboxes[at].add(terms, message, pace);
            if says > 0 {
                let (endpoint, class) = (message.to, message.class);
                let note = Note {
                    source: from,
                    endpoint,
                    class,
                    to_endpoint: true,
                    bytes: 0,
                    says,
                    lost: None,
                };
                self.ask(terms, note, now);
            }
        } else {
            self.queues[at].push_back(message);
        }
        self.go_on(from, now);
    }

    /// What there is to send of a class of the terminal at a seat, before the end of this tick.
    #[inline]
    fn ready(&mut self, seat: usize, class: usize, pace: u64, now: u64) -> Ready {
        let at = seat * self.micro.class_count() + class;
        let (open, after) = match self.terms {
            None => match self.queues[at].front() {
                Some(message) => (message.bytes, now),
                None => return Ready::Nothing,
            },
            Some(terms) => match self.outboxes[at].turn(terms, pace, now + self.micro.tick) {
                Turn::Send { bytes, after } => (bytes, after.max(now)),
                Turn::Later(when) => return Ready::Later(when),
                Turn::Nobody => return Ready::Nothing,
            },
        };
        let payload = open.min(self.lengths.most.into()) as u32;
        let bytes = self.micro.framing.frame(payload).max(self.lengths.least);
        // Lanes into the first switch are all alike: nothing waits behind them.
        let lanes = usize::from(self.micro.lanes);
        let first = seat << self.micro.all_lane_bits() | class << self.micro.lane_bits();
        let credits = &self.credits[first..first + lanes];
        let by_turns = (0..lanes).map(|i| {
            let lane = usize::from(self.terminals[seat].lane) + i;
            if lane >= lanes { lane - lanes } else { lane }
        });
        match by_turns.into_iter().find(|&l| credits[l] >= bytes) {
            Some(lane) => Ready::Now(Could { payload, after, lane: lane as u8 }),
            None => Ready::Nothing,
        }
    }

    /// What a terminal sends next: of the class whose turn it is.
    #[inline]
    fn upcoming_packet(&mut self, seat: usize, pace: u64, now: u64) -> (usize, Ready) {
        if self.shares.is_plain() {
            return (0, self.ready(seat, 0, pace, now));
        }
        let (mut set, mut later) = (0u64, None::<u64>);
        for class in 0..self.micro.class_count() {
            match self.ready(seat, class, pace, now) {
                Ready::Now(_) => set |= 1 << class,
                Ready::Later(when) => later = Some(later.map_or(when, |l| l.min(when))),
                Ready::Nothing => {}
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
        (0, later.map_or(Ready::Nothing, Ready::Later))
    }

    /// Whether a terminal has anything to send, now or later.
    #[inline]
    fn is_idle(&self, seat: usize) -> bool {
        let all = seat * self.micro.class_count()..(seat + 1) * self.micro.class_count();
        match self.terms {
            None => self.queues[all].iter().all(VecDeque::is_empty),
            Some(_) => self.outboxes[all].iter().all(Outbox::is_idle),
        }
    }

    /// A terminal sends what it can in this tick.
    fn go_on(&mut self, from: u32, now: u64) {
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
                (class, Ready::Now(could)) => (class, could),
                (_, Ready::Later(when)) => {
                    // Unless it will be woken before.
                    let terminal = &mut self.terminals[seat];
                    if terminal.wakes < end || when < terminal.wakes {
                        terminal.wakes = when;
                        self.wheel.within(when, Event::new(What::Terminal, from, 0));
                    }
                    return;
                }
                (_, Ready::Nothing) => return,
            };
            let Could { payload, after, lane } = could;
            let bytes = self.micro.framing.frame(payload).max(self.lengths.least);
            let in_class = usize::from(lane) | class << micro.lane_bits();
            self.credits[seat << micro.all_lane_bits() | in_class] -= bytes;
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
                None => by_turns(&mut self.queues[at], payload),
                Some(_) => self.outboxes[at].send(payload, bytes, departs, port.pace),
            };
            let Some(Sent { message, flowlet, mark }) = sent else { return };
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
                path: message.path,
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

    /// Switches act; packets that leave the last one are told.
    pub(crate) fn finish(&mut self, board: &Board, arrived: &mut Vec<Arrived>) {
        let Self { packets, wheel, left, away, told, .. } = self;
        let mut hands = Hands { packets, wheel, left, away, board, told };
        self.switches.act(self.now, &self.routing, &mut hands);
        let mut told = std::mem::take(&mut self.told);
        for (when, note) in told.drain(..) {
            self.tell_of(note, when);
        }
        self.told = told;
        let mut left = std::mem::take(&mut self.left);
        for Left { packet, when, waits, carried } in left.drain(..) {
            let packet = self.packets.remove(packet);
            if let Some(terms) = self.terms {
                self.tell_source(terms, &packet, when, (waits, carried));
            }
            arrived.push(Arrived { packet, when });
        }
        self.left = left;
    }

    /// A packet is acknowledged, by a message that waits for nobody.
    fn tell_source(
        &mut self,
        terms: Terms,
        packet: &Packet,
        when: u64,
        (waits, carried): (u32, u64),
    ) {
        let class = packet.lane >> self.micro.lane_bits();
        let at = self.seat(packet.to) * self.micro.class_count() + usize::from(class);
        let arriving = Arriving {
            now: self.now,
            source: packet.from,
            bytes: packet.bytes,
            payload: packet.payload(),
            waits,
            carried,
            pace: self.net.port(self.net.home(packet.to)).pace,
            mark: packet.mark,
        };
        let mut grants = std::mem::take(&mut self.grants);
        let says = self.ends[at].arrived(terms, &arriving, &mut grants);
        let (source, endpoint, bytes) = (packet.from, packet.to, packet.bytes);
        let note = Note { source, endpoint, class, to_endpoint: false, bytes, says, lost: None };
        self.grant(terms, &note, &mut grants);
        self.grants = grants;
        self.tell_of(note, when + u64::from(packet.back));
    }

    /// Tells of all outputs.
    pub(crate) fn tell(&self, board: &Board) {
        let (outputs, classes) = (self.switches.outputs(), self.switches.of_classes());
        board.tell(self.net, self.span.ports.start, outputs, classes);
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
