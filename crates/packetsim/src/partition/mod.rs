//! Consecutive switches and their terminals, tick after tick: a whole network, or a part of one.

mod congestion_messages;
mod flits;
mod lengths;
mod note_paths;
mod pieces;
mod terminal;
mod terminals;

use std::collections::{BTreeMap, VecDeque};
use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;

use darkfiber_workload::play::Connections;
use darkfiber_workload::state;

pub(crate) use self::lengths::Lengths;
use self::pieces::{Piece, Rest};
use self::terminal::Terminal;
use crate::class::{Shares, SharesState};
use crate::congestion::{CongestionMessage, CongestionParams, Notification, Outbox, Receiver};
use crate::deadlock::Waits;
use crate::message::{Arrived, Message};
use crate::net::Span;
use crate::outbound::{Batch, Outbound};
use crate::packet::{Packet, Slab};
use crate::pause::{Pause, Paused};
use crate::queue_board::QueueBoard;
use crate::reorder::Arrivals;
use crate::routing::{Distances, Routing};
use crate::series::Series;
use crate::stop::Stop;
use crate::switch::{Delivered, Lane, SwitchContext, SwitchState, Switches};
use crate::wheel::{CAME_IN, Event, What, Wheel, WheelState, lane_and_bytes};
use crate::{Interleave, Net, Random, SwitchModel};

/// A partition of the network. Of each tick, first [`Partition::begin`] it, then let terminals send, then [`Partition::finish`] it.
pub(crate) struct Partition<'n, R> {
    net: &'n Net,
    micro: &'n SwitchModel,
    routing: R,
    span: Span,
    switches: Switches<'n>,
    /// Terminals of the partition, by seat.
    terminals: Vec<Terminal>,
    /// By seat and class, the messages to send: round robin, a packet each, and what waits behind them; or pairs round robin, where
    /// packets are acknowledged.
    queues: Vec<VecDeque<Message>>,
    connections: Vec<Connections<Message>>,
    outboxes: Vec<Outbox>,
    /// By seat, the use of its channel by classes.
    shares: Shares<'n>,
    /// By seat and lane, credits in its switch; and by seat, shared ones.
    rooms: Vec<Lane>,
    pools: Vec<u32>,
    /// With flits: by seat, the rest of the packet that is sent; by seat and lane, the part of one that has arrived; and packets whose
    /// heads left here minus those whose tails arrived here.
    rests: Vec<Rest>,
    pieces: Vec<Piece>,
    balance: i64,
    packets: Slab,
    wheel: Wheel,
    lengths: Lengths,
    now: u64,
    events: Vec<Event>,
    touched: Vec<u32>,
    left: Vec<Delivered>,
    /// Congestion parameters of pairs, if packets are acknowledged; by seat and class, the state of endpoints.
    terms: Option<CongestionParams<'n>>,
    ends: Vec<Receiver>,
    /// With a reorder window, by seat and class and then by source, the packets that have arrived.
    arrivals: Vec<BTreeMap<u32, Arrivals>>,
    /// With pauses, by seat and lane, their state at terminals.
    pauses: Vec<Pause>,
    /// Terminals of which some were noted in this tick, and the places of these.
    noted: Vec<(u32, u32)>,
    /// Notes that are in flight, indices of those that have arrived, and those of this tick.
    notes: Vec<CongestionMessage>,
    unused: Vec<u32>,
    heard: Vec<CongestionMessage>,
    /// Notes that pass in this tick, and where; which ports lead nearer, if notes take bytes on channels.
    passing: Vec<(Stop, CongestionMessage)>,
    note_paths: Option<Arc<Distances>>,
    grants: Vec<(u32, u64)>,
    /// Notifications from switches to sources, and when they arrive.
    notifications: Vec<Notification>,
    pub(crate) away: Outbound,
    event_count: u64,
}

state! {
    pub(crate) struct PartitionState of(R) Partition<'_, R> {
        terminals: Vec<Terminal>,
        queues: Vec<VecDeque<Message>>,
        connections: Vec<Connections<Message>>,
        outboxes: Vec<Outbox>,
        rooms: Vec<Lane>,
        pools: Vec<u32>,
        rests: Vec<Rest>,
        pieces: Vec<Piece>,
        balance: i64,
        packets: Slab,
        ends: Vec<Receiver>,
        arrivals: Vec<BTreeMap<u32, Arrivals>>,
        pauses: Vec<Pause>,
        notes: Vec<CongestionMessage>,
        unused: Vec<u32>,
        now: u64,
        event_count: u64,
        ;
        shares: SharesState,
        switches: SwitchState,
        wheel: WheelState,
    }
}

impl<R: Routing> Partition<'_, R> {
    /// Whether a state is of this part: as many of everything, and all that it names is there.
    #[inline(never)]
    pub(crate) fn fits(&self, state: &PartitionState) -> bool {
        let net = self.net;
        let (terminals, switches) = (net.terminal_count() as u32, net.switch_count() as u32);
        let radix = (0..switches).map(|s| net.radix(s)).max().unwrap_or(0);
        let (packets, notes) = (state.packets.len() as u32, state.notes.len() as u32);
        let is_message =
            |m: &Message| m.to < terminals && usize::from(m.class) < self.micro.class_count();
        let is_mine = |t: u32| t < terminals && self.span.ports.contains(&net.home(t));
        let is_there = |e: Event| {
            let port = self.span.ports.contains(&e.place());
            match e.what() {
                What::Arrival => port && e.with() < packets,
                What::Credit => {
                    port && lane_and_bytes(e.with()).0 < 1 << self.micro.all_lane_bits()
                }
                What::Output | What::Input => port,
                What::TerminalCredit => {
                    is_mine(e.place())
                        && lane_and_bytes(e.with()).0 < 1 << self.micro.all_lane_bits()
                }
                What::Terminal | What::Birth => is_mine(e.place()),
                What::Note => {
                    let stop = Stop::of(e.place());
                    let is_here = match stop {
                        Stop::Passes(port) => self.span.ports.contains(&port),
                        Stop::Heard(t) | Stop::Sent(t) => is_mine(t),
                    };
                    e.with() < notes
                        && is_here
                        && (self.note_paths.is_some() || matches!(stop, Stop::Heard(_)))
                }
            }
        };
        let is_note = |n: &CongestionMessage| {
            n.source < terminals
                && n.endpoint < terminals
                && usize::from(n.class) < self.micro.class_count()
        };
        let mut behind = state.connections.iter().flat_map(Connections::waiting);
        state.terminals.len() == self.terminals.len()
            && state.queues.len() == self.queues.len()
            && state.connections.len() == self.connections.len()
            && state.outboxes.len() == self.outboxes.len()
            && state.rooms.len() == self.rooms.len()
            && state.pools.len() == self.pools.len()
            && state.rests.len() == self.rests.len()
            && state.pieces.len() == self.pieces.len()
            && state.rests.iter().all(|r| r.fits(terminals, self.micro.lanes))
            && state.ends.len() == self.ends.len()
            && state.arrivals.len() == self.arrivals.len()
            && state.pauses.len() == self.pauses.len()
            && self.shares.is_like(&state.shares)
            && state.terminals.iter().all(|t| t.lane < self.micro.lanes)
            && state.queues.iter().flatten().all(is_message)
            && behind.all(|(_, messages)| messages.iter().all(is_message))
            && state.unused.iter().all(|&n| n < notes)
            && state.notes.iter().all(is_note)
            && state.packets.fits(terminals, switches, radix, 1 << self.micro.all_lane_bits())
            && state.wheel.fits(is_there)
            && self.switches.fits(&state.switches, state.packets.len(), radix)
    }
}

impl<'n, R: Routing> Partition<'n, R> {
    /// Some consecutive switches; of the others, `away` has the boundaries.
    // Once a run, and once for each routing in the program: small rather than fast.
    #[cold]
    #[inline(never)]
    pub(crate) fn new(
        net: &'n Net,
        micro: &'n SwitchModel,
        routing: R,
        lengths: Lengths,
        switches: Range<u32>,
        (away, note_paths): (Outbound, Option<Arc<Distances>>),
        seed: u64,
    ) -> Self {
        let span = net.span(switches);
        let is_free = !micro.acknowledges(R::STEADY);
        let all_terms = CongestionParams::new(net, micro, [lengths.most, lengths.wire]);
        let terms = (!is_free).then_some(all_terms);
        let is_whole = micro.interleave == Interleave::Packets;
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
            connections: vec![Connections::default(); free],
            outboxes: vec![Outbox::default(); held],
            shares: Shares::new(&micro.classes, span.seats.len()),
            rooms: (0..span.seats.len()).flat_map(|_| Lane::of_port(micro)).collect(),
            pools: vec![micro.shared_buffer; span.seats.len()],
            rests: vec![Rest::default(); if is_whole { 0 } else { span.seats.len() }],
            pieces: vec![
                Piece::default();
                if is_whole { 0 } else { span.seats.len() << micro.all_lane_bits() }
            ],
            balance: 0,
            ends: vec![Receiver::new(micro.congestion); held],
            arrivals: vec![BTreeMap::new(); if micro.reorder.is_some() { all } else { 0 }],
            noted: Vec::new(),
            pauses: vec![
                Pause::default();
                if micro.pfc.is_some() {
                    span.seats.len() << micro.all_lane_bits()
                } else {
                    0
                }
            ],
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
            passing: Vec::new(),
            note_paths,
            grants: Vec::new(),
            notifications: Vec::new(),
            away,
            event_count: 0,
        }
    }

    /// The switches, ports and seats that it consists of.
    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// When the tick that was started last began, in picoseconds.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// The next tick in which something happens.
    pub(crate) fn upcoming(&self) -> Option<u64> {
        self.wheel.upcoming()
    }

    /// Schedules a reminder for a terminal at a tick, reported by [`Partition::begin`].
    pub(crate) fn remind(&mut self, tick: u64, terminal: u32) {
        self.wheel.push(tick, Event::new(What::Birth, terminal, 0));
    }

    /// Takes the batch from another part.
    pub(crate) fn take(&mut self, mail: &mut Batch) {
        for (tick, port, packet) in mail.packets.drain(..) {
            let id = self.packets.add(packet);
            self.wheel.push(tick, Event::new(What::Arrival, port, id));
        }
        for (tick, event) in mail.events.drain(..) {
            self.wheel.push(tick, event);
        }
        for (tick, stop, note) in mail.notes.drain(..) {
            self.note(tick, stop, note);
        }
    }

    /// Records the events of a tick, and reports the terminals with a reminder.
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
                What::Credit => self.switches.credit(place, with),
                What::Output => self.switches.wake_output(place),
                What::Input => self.switches.wake_input(place),
                What::TerminalCredit => {
                    let seat = self.seat(place);
                    let (lane, bytes) = lane_and_bytes(with);
                    let at = seat << self.micro.all_lane_bits() | lane as usize;
                    if with & CAME_IN == 0 {
                        self.pools[seat] += self.rooms[at].give(bytes);
                    }
                    if let Some(pause) = self.pauses.get_mut(at) {
                        let came_in = with & CAME_IN != 0;
                        pause.note(if came_in { bytes.into() } else { -i64::from(bytes) });
                        self.noted.push((place, at as u32));
                    }
                    self.touch(place);
                }
                What::Terminal => {
                    let seat = self.seat(place);
                    self.terminals[seat].woken = false;
                    self.touch(place);
                }
                What::Birth => reminded.push(place),
                What::Note => {
                    let note = self.notes[with as usize];
                    match Stop::of(place) {
                        Stop::Heard(_) => self.heard.push(note),
                        stop => self.passing.push((stop, note)),
                    }
                    self.unused.push(with);
                }
            }
        }
        self.events = events;
        if let Some(pfc) = self.micro.pfc {
            self.switches.decide_pauses(pfc, self.now);
            let mut noted = std::mem::take(&mut self.noted);
            for (terminal, at) in noted.drain(..) {
                if self.pauses[at as usize].decide(pfc, self.now) {
                    self.touch(terminal);
                }
            }
            self.noted = noted;
        }
        if !self.passing.is_empty() {
            self.pass_notes();
        }
        self.hear();
        // All arrivals at a terminal are recorded before it acts: their order does not matter.
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

    /// Reads what the events of a tick are about, so that the processor fetches much of it at once: in a large network it is far
    /// apart in memory, and was not accessed for long.
    #[inline]
    fn approach(&self, events: &[Event]) {
        let read = |event: &Event| match event.what() {
            What::Arrival => self.packets.of(event.with()).to,
            What::Credit => self.switches.approach_output(event.place(), event.with()),
            _ => 0,
        };
        black_box(events.iter().fold(0, |all, event| all ^ read(event)));
    }

    /// Switches act; packets that leave the last one are reported.
    pub(crate) fn finish(&mut self, board: &QueueBoard, arrived: &mut Vec<Arrived>) {
        let Self { packets, wheel, left, away, notifications, .. } = self;
        let mut context = SwitchContext { packets, wheel, left, away, board, notifications };
        self.switches.act(self.now, &self.routing, &mut context);
        let mut notifications = std::mem::take(&mut self.notifications);
        for notification in notifications.drain(..) {
            self.tell_dropped(notification);
        }
        self.notifications = notifications;
        let mut left = std::mem::take(&mut self.left);
        for Delivered { packet, when, waits, carried } in left.drain(..) {
            let mut packet = self.packets.remove(packet);
            if !self.pieces.is_empty() {
                let Some(whole) = self.assemble(&packet) else { continue };
                packet = whole;
            }
            let class = usize::from(packet.lane >> self.micro.lane_bits());
            let at = self.seat(packet.to) * self.micro.class_count() + class;
            let heard = self
                .arrivals
                .get_mut(at)
                .map(|sources| sources.entry(packet.from).or_default().arrived(packet.flowlet));
            if let Some(terms) = self.terms {
                let in_order = heard.map(|(_, oldest)| oldest);
                self.tell_source(terms, &packet, when, (waits, carried, in_order));
            }
            arrived.push(Arrived { packet, when, ahead: heard.map(|(ahead, _)| ahead) });
        }
        self.left = left;
    }

    /// Reports the queues of all outputs.
    pub(crate) fn tell(&self, board: &QueueBoard) {
        let (outputs, classes) = (self.switches.outputs(), self.switches.of_classes());
        board.tell(self.net, self.span.ports.start, outputs, classes);
    }

    /// Adds the resources that the first packets of all queues wait for.
    pub(crate) fn waits(&self, all: &mut Vec<Waits>) {
        self.switches.waits(&self.packets, all);
    }

    /// An interval of a series begins, and is over at this time, in picoseconds.
    pub(crate) fn begin_interval(&mut self, until: u64) {
        self.switches.begin_interval(until);
    }

    /// An interval of a series is over.
    pub(crate) fn keep(&mut self, now: u64, series: &mut Series) {
        self.switches.settle(now);
        let unsent = self.switches.unsent(now);
        series.over(self.span.ports.start, self.switches.outputs(), &unsent);
        self.begin_interval(now + series.interval);
    }

    /// Switches of the part.
    pub(crate) fn switches(&self) -> &Switches<'n> {
        &self.switches
    }

    /// Pauses up to a time, in picoseconds: of all its terminals, and by port.
    pub(crate) fn pauses(&self, now: u64) -> (Paused, Vec<Paused>) {
        (Paused::sum(&self.pauses, now), self.switches.pauses(now))
    }

    /// Takes the packets that were dropped since the last call.
    pub(crate) fn take_lost(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.switches.lost)
    }

    /// Messages that the adapter of a terminal holds and has not sent whole, where all packets are of one class.
    pub(crate) fn backlog(&self, terminal: u32) -> usize {
        self.queues[self.seat(terminal)].len()
    }

    /// Packets in it; with flits, those whose heads left here minus those whose tails arrived here, which over all parts is the
    /// number of packets in them and between them.
    pub(crate) fn packets(&self) -> isize {
        if self.counts_between() {
            self.packets.count().cast_signed()
        } else {
            self.balance as isize
        }
    }

    /// Whether packets between parts are whole ones, that count.
    pub(crate) fn counts_between(&self) -> bool {
        self.lengths.piece == u32::MAX
    }

    /// Number of events so far.
    pub(crate) fn event_count(&self) -> u64 {
        self.event_count
    }
}
