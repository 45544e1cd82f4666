//! The adapters of all hosts: queue pairs that take turns, datagrams, acknowledgements, and changes of path.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use super::outcome::{LOST_KEPT, LossReason, LostPacket, UpdateOutcome};
use super::queue_pair::{PendingMessage, QueuePair, Segment, SendState};
use super::tables::{DEAD_CABLE, LOOPED, LiveTables, NEW, NO_ENTRY, OLD};
use super::{Generation, Hosts};
use crate::message::{Arrived, Message};
use crate::packet::Packet;
use crate::partition::Partition;
use crate::{Net, Random};

/// Number of packets in an adapter's channel queue: one is sent, one is ready.
const DEPTH: usize = 2;

/// An acknowledgement has LRH, BTH, AETH and both CRCs (InfiniBand Architecture Specification, volume 1, chapters 5 and 9).
const ACKNOWLEDGEMENT: u32 = 30;

/// Number of consecutive retries of InfiniBand before a connection is in error.
const RETRIES: u32 = 7;

/// The kind of a packet in flight.
#[derive(Clone, Copy, Debug)]
enum PacketKind {
    /// Data of a queue pair: sequence number and transmission number.
    Data(u32, u32, Segment),
    /// An acknowledgement: the other end has everything before this sequence number; whether the packet at it is
    /// missing.
    Answer(u32, bool),
    /// A packet without a connection.
    Datagram,
}

/// A packet in flight: the end that sent it, unless it is a datagram, and its kind.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    end: u32,
    kind: PacketKind,
}

/// A change of path that the manager requests from a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathChange {
    /// The generation whose paths connections use from then on.
    pub(crate) to: u8,
    /// Whether datagrams take them, too.
    pub(crate) datagrams: bool,
    /// When the host hears of it.
    pub(crate) at: u64,
}

/// The adapter of a terminal.
#[derive(Debug, Default)]
struct Adapter {
    /// By terminal at the other end, the end here.
    ends: BTreeMap<u32, u32>,
    /// Messages that its host will hand over, and when.
    waiting: VecDeque<(u64, u32, PendingMessage)>,
    /// Acknowledgements from other ends that arrive, and when.
    heard: VecDeque<(u64, u32, u32, bool)>,
    /// Acknowledgements to be sent, and from when on.
    answers: VecDeque<(u64, u32, u32, bool)>,
    /// Ends that are served round robin.
    turns: VecDeque<u32>,
    /// When an end wants to be looked at.
    timers: BinaryHeap<Reverse<(u64, u32)>>,
    orders: VecDeque<PathChange>,
    /// Ends that have not followed the order that is carried out, and the generation that it is about.
    open: usize,
    following: Option<u8>,
    /// When it creates its next datagram, and those that wait for the channel.
    next_datagram: u64,
    datagrams: VecDeque<u32>,
    datagram_generation: u8,
}

/// The adapters of all hosts.
pub(crate) struct Adapters<'a> {
    net: &'a Net,
    hosts: &'a Hosts,
    generations: Vec<Generation<'a>>,
    /// Generation that new connections take.
    pub(crate) published: u8,
    bytes: u32,
    answer_bytes: u32,
    tick: u64,
    of_host: Vec<Adapter>,
    /// Ends of connections: those of one are adjacent, the first one at an even index.
    ends: Vec<QueuePair>,
    flying: Vec<InFlight>,
    free: Vec<u32>,
    random: Random,
    /// Terminals that are to be looked at, and when.
    pub(crate) wakes: Vec<(u64, u32)>,
    /// Messages that are all there, and since when.
    pub(crate) delivered: Vec<(u32, u64)>,
    /// Hosts that have followed an order: the generation, the terminal, and when.
    pub(crate) followed: Vec<(u8, u32, u64)>,
    pub(crate) outcome: UpdateOutcome,
}

type LivePartition<'n> = Partition<'n, &'n LiveTables>;

impl<'a> Adapters<'a> {
    pub(crate) fn new(
        net: &'a Net,
        hosts: &'a Hosts,
        generations: Vec<Generation<'a>>,
        [bytes, overhead]: [u32; 2],
        tick: u64,
        seed: u64,
    ) -> Self {
        let mut random = Random::new(seed, 1 << 42);
        let mut adapters: Vec<Adapter> = Vec::new();
        adapters.resize_with(net.terminal_count(), Adapter::default);
        let mut wakes = Vec::new();
        for (t, adapter) in (0..).zip(&mut adapters) {
            adapter.next_datagram = u64::MAX;
            if let Some(datagrams) = hosts.datagrams {
                adapter.next_datagram = draw(&mut random, datagrams.interval);
                wakes.push((adapter.next_datagram, t));
            }
        }
        Self {
            net,
            hosts,
            generations,
            published: 0,
            bytes,
            answer_bytes: ACKNOWLEDGEMENT.saturating_sub(overhead).max(1),
            tick,
            of_host: adapters,
            ends: Vec::new(),
            flying: Vec::new(),
            free: Vec::new(),
            random,
            wakes,
            delivered: Vec::new(),
            followed: Vec::new(),
            outcome: UpdateOutcome { interval: hosts.interval.max(1), ..UpdateOutcome::default() },
        }
    }

    /// A host will hand over a message at a time.
    pub(crate) fn post(&mut self, from: u32, to: u32, when: u64, work: PendingMessage) {
        self.of_host[from as usize].waiting.push_back((when, to, work));
        self.wakes.push((when, from));
    }

    /// A host hears at a time that its connections are to change their paths.
    pub(crate) fn order(&mut self, host: u32, order: PathChange) {
        self.of_host[host as usize].orders.push_back(order);
        self.wakes.push((order.at, host));
    }

    /// The end at a terminal of its connection to another, which is made if it is the first message.
    fn end(&mut self, host: u32, peer: u32) -> u32 {
        if let Some(&end) = self.of_host[host as usize].ends.get(&peer) {
            return end;
        }
        let first = self.ends.len() as u32;
        for (end, (a, b)) in (first..).zip([(host, peer), (peer, host)]) {
            let generation = self.published;
            let path = self.generations[usize::from(generation)].path(a, b);
            self.ends.push(QueuePair::new(a, b, generation, path));
            self.of_host[a as usize].ends.insert(b, end);
        }
        self.outcome.ends += 2;
        first
    }

    fn flying(&mut self, flying: InFlight) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.flying[slot as usize] = flying;
            return slot;
        }
        self.flying.push(flying);
        self.flying.len() as u32 - 1
    }

    /// A packet is, or will be, at its terminal.
    pub(crate) fn arrived(&mut self, arrived: &Arrived) {
        let Arrived { packet, when, .. } = *arrived;
        let InFlight { end, kind } = self.flying[packet.message as usize];
        self.free.push(packet.message);
        let mixed = packet.phase & (OLD | NEW) == OLD | NEW;
        match kind {
            PacketKind::Datagram => self.outcome.datagrams.met_both += u64::from(mixed),
            PacketKind::Answer(number, missing) => {
                self.outcome.acknowledgements_met_both += u64::from(mixed);
                let to = end ^ 1;
                let host = self.ends[to as usize].host;
                self.of_host[host as usize].heard.push_back((when, to, number, missing));
                self.wakes.push((when, host));
            }
            PacketKind::Data(number, transmission, segment) => {
                let here = end ^ 1;
                let met = packet.phase & (OLD | NEW);
                let found = &mut self.ends[here as usize];
                let got = found.receive(number, transmission, segment.last, met);
                let host = found.host;
                let counted = &mut self.outcome.reliable;
                counted.met_both += u64::from(mixed);
                counted.out_of_order += u64::from(got.overtaken);
                if got.in_order {
                    self.outcome.delivered(segment.job, segment.payload, when);
                }
                if let Some(met) = got.message_met {
                    self.outcome.messages_met_both += u64::from(met == OLD | NEW);
                    self.delivered.push((segment.message, when));
                }
                if let Some((awaited, missing)) = got.answer {
                    self.of_host[host as usize].answers.push_back((when, here, awaited, missing));
                    self.wakes.push((when, host));
                }
            }
        }
    }

    /// A packet was lost at a time.
    pub(crate) fn lost(&mut self, packet: &Packet, when: u64) {
        let InFlight { kind, .. } = self.flying[packet.message as usize];
        self.free.push(packet.message);
        let mixed = u64::from(packet.phase & (OLD | NEW) == OLD | NEW);
        let outcome = &mut self.outcome;
        match kind {
            PacketKind::Datagram => {
                outcome.datagrams.lost += 1;
                outcome.datagrams.met_both += mixed;
            }
            PacketKind::Answer(..) => {
                outcome.acknowledgements_lost += 1;
                outcome.acknowledgements_met_both += mixed;
            }
            PacketKind::Data(..) => {
                outcome.reliable.lost += 1;
                outcome.reliable.met_both += mixed;
            }
        }
        let why = match packet.phase {
            p if p & DEAD_CABLE != 0 => LossReason::DeadCable,
            p if p & NO_ENTRY != 0 => LossReason::NoRoute,
            p => {
                debug_assert!(p & LOOPED != 0, "a packet is lost for a reason");
                LossReason::Loop
            }
        };
        match why {
            LossReason::DeadCable => outcome.lost_on_cable += 1,
            LossReason::NoRoute => outcome.lost_without_route += 1,
            LossReason::Loop => outcome.lost_in_loops += 1,
        }
        if outcome.lost.len() < LOST_KEPT {
            let plane = packet.path & 15;
            outcome.lost.push(LostPacket { from: packet.from, to: packet.to, plane, why, when });
        }
    }

    /// Processes a host in the tick that begins at `now`.
    pub(crate) fn act(&mut self, host: u32, now: u64, part: &mut LivePartition<'_>) {
        let end_of_tick = now + self.tick;
        self.hear(host, end_of_tick);
        self.take_over(host, end_of_tick);
        self.obey(host, end_of_tick);
        self.look_at_timers(host, end_of_tick);
        self.create_datagrams(host, end_of_tick);
        let mut waits_for_channel = false;
        while part.backlog(host) < DEPTH {
            let Some(message) = self.next_packet(host, now) else { break };
            part.send(host, message, now);
        }
        if part.backlog(host) >= DEPTH {
            let adapter = &self.of_host[host as usize];
            waits_for_channel = !adapter.turns.is_empty()
                || !adapter.datagrams.is_empty()
                || adapter.answers.front().is_some_and(|a| a.0 < end_of_tick);
        }
        if waits_for_channel {
            let packet = self.net.port(self.net.home(host)).long(self.bytes);
            self.wakes.push((end_of_tick.max(now + packet), host));
        }
    }

    /// Handles acknowledgements from other ends.
    fn hear(&mut self, host: u32, until: u64) {
        while let Some(&(when, end, number, missing)) =
            self.of_host[host as usize].heard.front().filter(|h| h.0 < until)
        {
            self.of_host[host as usize].heard.pop_front();
            let found = &mut self.ends[end as usize];
            let job = found.job();
            if found.acknowledged(number) {
                if let Some(job) = job {
                    let silence = when.saturating_sub(found.progress);
                    let longest = &mut self.outcome.job(job).silence;
                    *longest = silence.max(*longest);
                }
                found.progress = when;
                found.retries = 0;
            }
            if missing {
                self.outcome.asked_again += 1;
                found.go_back();
            }
            self.drained(end, when);
            self.activate(end);
        }
    }

    /// Messages that the host hands over.
    fn take_over(&mut self, host: u32, until: u64) {
        while let Some(&(when, to, work)) =
            self.of_host[host as usize].waiting.front().filter(|w| w.0 < until)
        {
            self.of_host[host as usize].waiting.pop_front();
            let end = self.end(host, to);
            let found = &mut self.ends[end as usize];
            found.messages.push_back(work);
            if found.state != SendState::Ready {
                found.held.get_or_insert(when);
            }
            self.activate(end);
        }
    }

    /// Orders of the manager.
    fn obey(&mut self, host: u32, until: u64) {
        while let Some(&order) = self.of_host[host as usize].orders.front().filter(|o| o.at < until)
        {
            let adapter = &mut self.of_host[host as usize];
            adapter.orders.pop_front();
            if order.datagrams {
                adapter.datagram_generation = order.to;
            }
            adapter.following = Some(order.to);
            let ends: Vec<u32> = adapter.ends.values().copied().collect();
            let mut open = 0;
            for &end in &ends {
                let found = &mut self.ends[end as usize];
                let is_there = found.generation == order.to && found.state == SendState::Ready;
                if is_there || found.state == SendState::Broken {
                    continue;
                }
                open += 1;
                found.state = SendState::Draining(order.to);
                if found.messages.iter().any(|m| !m.started) {
                    found.held.get_or_insert(order.at);
                }
            }
            self.of_host[host as usize].open = open;
            if open == 0 {
                self.followed.push((order.to, host, order.at));
            }
            for end in ends {
                self.drained(end, order.at);
            }
        }
    }

    /// An end that drains may be drained: then it changes its path, which takes a time.
    fn drained(&mut self, end: u32, now: u64) {
        let found = &mut self.ends[end as usize];
        let SendState::Draining(to) = found.state else { return };
        if found.is_drained() {
            found.state = SendState::Migrating(to);
            let (host, ready) = (found.host, now + self.hosts.migrate);
            // Timers of an end that changes its path and those of one that waits for acknowledgements check its
            // state.
            self.of_host[host as usize].timers.push(Reverse((ready, end)));
            self.wakes.push((ready, host));
        }
    }

    fn look_at_timers(&mut self, host: u32, until: u64) {
        while let Some(&Reverse((when, end))) =
            self.of_host[host as usize].timers.peek().filter(|t| t.0.0 < until)
        {
            self.of_host[host as usize].timers.pop();
            let found = &mut self.ends[end as usize];
            if let SendState::Migrating(to) = found.state {
                self.migrate(end, to, when);
                continue;
            }
            found.has_timer = false;
            if found.is_quiet() {
                continue;
            }
            if found.progress + self.hosts.timeout <= when {
                self.outcome.timeouts += 1;
                found.retries += 1;
                if found.retries > RETRIES {
                    self.fail(end, when);
                    continue;
                }
                found.go_back();
                // The next one runs from now on; silence counts from the last progress all the same.
                if let Some(job) = found.job() {
                    let silence = when.saturating_sub(found.progress);
                    let longest = &mut self.outcome.job(job).silence;
                    *longest = silence.max(*longest);
                }
                self.start_timer(end, when + self.hosts.timeout);
            } else {
                let next = found.progress + self.hosts.timeout;
                self.start_timer(end, next);
            }
            self.activate(end);
        }
    }

    /// An end has gone back too often: its connection is in error. No path change waits for it any longer.
    fn fail(&mut self, end: u32, when: u64) {
        let found = &mut self.ends[end as usize];
        let was = std::mem::replace(&mut found.state, SendState::Broken);
        let host = found.host;
        self.outcome.broken += 1;
        if let SendState::Draining(to) | SendState::Migrating(to) = was {
            self.has_followed(host, to, when);
        }
    }

    /// An end of a host has followed an order, or never will.
    fn has_followed(&mut self, host: u32, to: u8, now: u64) {
        let adapter = &mut self.of_host[host as usize];
        if adapter.following == Some(to) && adapter.open > 0 {
            adapter.open -= 1;
            if adapter.open == 0 {
                self.followed.push((to, host, now));
            }
        }
    }

    fn start_timer(&mut self, end: u32, when: u64) {
        let found = &mut self.ends[end as usize];
        if !std::mem::replace(&mut found.has_timer, true) {
            let host = found.host;
            self.of_host[host as usize].timers.push(Reverse((when, end)));
            self.wakes.push((when, host));
        }
    }

    /// An end takes another path.
    fn migrate(&mut self, end: u32, to: u8, now: u64) {
        let found = &mut self.ends[end as usize];
        let host = found.host;
        found.path = self.generations[usize::from(to)].path(host, found.peer);
        found.generation = to;
        found.state = SendState::Ready;
        self.outcome.migrations += 1;
        if let Some(since) = found.held.take()
            && let Some(job) = found.job()
        {
            let pause = now.saturating_sub(since);
            let job = self.outcome.job(job);
            job.longest = pause.max(job.longest);
            job.held += pause;
        }
        self.activate(end);
        self.has_followed(host, to, now);
    }

    fn activate(&mut self, end: u32) {
        let window = self.hosts.window;
        let found = &mut self.ends[end as usize];
        if !found.is_active && found.can_send(window) {
            found.is_active = true;
            self.of_host[found.host as usize].turns.push_back(end);
        }
    }

    fn create_datagrams(&mut self, host: u32, until: u64) {
        let Some(datagrams) = self.hosts.datagrams else { return };
        let others = self.of_host.len() as u32 - 1;
        let adapter = &mut self.of_host[host as usize];
        let before = adapter.next_datagram;
        while adapter.next_datagram < until.min(datagrams.until) {
            if others > 0 {
                let to = self.random.below(others);
                adapter.datagrams.push_back(if to >= host { to + 1 } else { to });
            }
            adapter.next_datagram += draw(&mut self.random, datagrams.interval);
        }
        if adapter.next_datagram != before && adapter.next_datagram < datagrams.until {
            let next = adapter.next_datagram;
            self.wakes.push((next, host));
        }
    }

    /// The next packet of a host: acknowledgements first, then datagrams and connections round robin.
    fn next_packet(&mut self, host: u32, now: u64) -> Option<Message> {
        let end_of_tick = now + self.tick;
        let adapter = &mut self.of_host[host as usize];
        let packet = |number, to, bytes: u32, group, path| Message {
            number,
            to,
            bytes: u64::from(bytes),
            group,
            path: Some(path),
            class: 0,
            connection: None,
            born: None,
        };
        if adapter.answers.front().is_some_and(|a| a.0 < end_of_tick)
            && let Some((_, end, number, missing)) = adapter.answers.pop_front()
        {
            let (peer, path) = (self.ends[end as usize].peer, self.ends[end as usize].path);
            let slot = self.flying(InFlight { end, kind: PacketKind::Answer(number, missing) });
            return Some(packet(slot, peer, self.answer_bytes, u16::MAX, path));
        }
        if let Some(to) = adapter.datagrams.pop_front() {
            let path = self.generations[usize::from(adapter.datagram_generation)].path(host, to);
            let bytes = self.hosts.datagrams.map_or(1, |d| d.bytes).min(self.bytes);
            let slot = self.flying(InFlight { end: u32::MAX, kind: PacketKind::Datagram });
            self.outcome.datagrams.sent += 1;
            return Some(packet(slot, to, bytes, u16::MAX, path));
        }
        loop {
            let end = self.of_host[host as usize].turns.pop_front()?;
            let found = &mut self.ends[end as usize];
            found.is_active = false;
            if !found.can_send(self.hosts.window) {
                continue;
            }
            let Some((number, transmission, segment, again)) = found.send(self.bytes, now) else {
                continue;
            };
            let (peer, path) = (found.peer, found.path);
            self.outcome.reliable.sent += 1;
            self.outcome.sent_again += u64::from(again);
            self.start_timer(end, now + self.hosts.timeout);
            self.activate(end);
            let kind = PacketKind::Data(number, transmission, segment);
            let slot = self.flying(InFlight { end, kind });
            return Some(packet(slot, peer, segment.payload, segment.job, path));
        }
    }
}

/// A time with a mean, never 0: exponentially distributed.
fn draw(random: &mut Random, mean: u64) -> u64 {
    #[expect(clippy::cast_sign_loss, reason = "logarithms of parts are not above zero")]
    let time = (-random.part().ln() * mean as f64) as u64;
    time.max(1)
}
