//! Simulation of messages as flows.

use darkfiber_fabric::TerminalId;
use darkfiber_workload::play::{
    Agenda, ChooserState, Connection, Connections, Delivery, Departure, Host, NetworkModel,
    PathChoice, PathChooser, Repeating,
};
use darkfiber_workload::state;
use serde::{Deserialize, Serialize};

mod pending;
mod repeating;

use crate::maxmin::ABREAST;
use crate::{FlowId, Grid, MaxMin, Network, NoRoute, Path};

/// Options of a flow simulation besides its network.
pub struct Options<'a> {
    /// Choice of the path of a message.
    pub choice: PathChoice<'a>,
    /// Messages of at most this number of bytes, all parts together, do not share: they take the latency and the time of the slowest
    /// channel of their path, and delay no others. 0 makes every message a flow.
    pub small: u64,
    /// No message shares: each takes the latency and the time of the slowest channel of its path, one after the other
    /// out of each adapter (LogGP).
    pub alone: bool,
    /// Seed of random choices.
    pub seed: u64,
    /// Weight of the flows of each job; 1 for those that are not named.
    pub weights: Vec<f64>,
    /// Maximum rate of a message of each job, in bytes a picosecond; unlimited for those that are not listed.
    pub limits: Vec<f64>,
    /// Count the load of channels in intervals of this number of picoseconds.
    pub interval: Option<u64>,
    /// Count by interval, too, the bytes that waited for channels.
    pub held: bool,
    /// A message may end late by this part of the time that it flows, and start late by this part of the time that it would
    /// flow with an equal share of its adapter, so that many start or end together and rates are recomputed once for all of
    /// them. [`EXACT`] is lost in rounding, and lets messages start in time.
    pub precision: f64,
}

/// The finest [`Options::precision`]: ends that differ by less do so by rounding only.
pub const EXACT: f64 = 1.0 / (1u64 << 30) as f64;

impl Default for Options<'_> {
    /// The paths of the routes, every message a flow, no counting by interval.
    fn default() -> Self {
        Self {
            choice: PathChoice::Routes,
            small: 0,
            alone: false,
            seed: 1,
            weights: Vec::new(),
            limits: Vec::new(),
            interval: None,
            held: false,
            precision: EXACT,
        }
    }
}

/// A message in flight.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Active {
    message: u32,
    /// Bytes of it in all, and those that were not sent at `since`.
    bytes: u64,
    left: f64,
    /// When it began, and since when it has this rate, in picoseconds.
    begin: u64,
    since: u64,
    /// Rate in bytes a picosecond.
    rate: f64,
    /// The channel that keeps it from more.
    held_by: Option<u32>,
    /// Time from the last byte sent to its arrival, in picoseconds.
    latency: u64,
    /// When it ends at this rate, in picoseconds.
    end: u64,
    /// When it is looked at next, which is not after its end.
    booked: u64,
    /// Number among all flows: flows that end at the same time end in this order.
    number: u64,
}

/// A message that has departed and is not sent yet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pending {
    departure: Departure,
    /// Number of its path, unless it goes in parts or where there is room.
    path: u32,
    /// When its adapter is ready for it, once it is its turn.
    begin: u64,
}

/// A message, or a part of one, that begins.
#[derive(Clone, Copy, Debug)]
struct Start {
    message: u32,
    job: u32,
    from: TerminalId,
    to: TerminalId,
    bytes: u64,
    /// Bytes of the whole message.
    of: u64,
    path: usize,
    /// Whether none of the message has left by this adapter before, and none does after it.
    is_first: bool,
    is_last: bool,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Event {
    /// A flow comes to its end, if that is not later now.
    End { flow: u32 },
    /// An adapter is ready for a message that waited.
    Begin { message: u32 },
}

/// A [`NetworkModel`] on which messages share channels max-min fairly, as fluids do.
///
/// A message begins to flow when it departs, unless an earlier one of its connection still flows, and has arrived its latency after its
/// last byte left. Messages between terminals of one host go through its memory.
pub struct Flows<'a> {
    network: Network<'a>,
    host: &'a Host,
    shares: MaxMin,
    chooser: PathChooser<'a>,
    small: u64,
    alone: bool,
    weights: Vec<f64>,
    limits: Vec<f64>,
    precision: f64,
    /// By number of flow.
    active: Vec<Active>,
    agenda: Agenda<Event>,
    /// When each adapter may send the next message.
    ready: Vec<u64>,
    /// Messages that wait for their adapter, by message.
    waiting: Vec<Pending>,
    /// By terminal, what it sends; by message, its terminal and its connection.
    connections: Vec<Connections<Pending>>,
    senders: Vec<(TerminalId, Connection)>,
    /// Parts of a message in flight, by message, and the latest arrival among those that have arrived.
    parts: Vec<(u32, u64)>,
    carried: Vec<u64>,
    grid: Option<Grid>,
    held: Option<Grid>,
    now: u64,
    count: u64,
    solves: u64,
    /// The longest step of picoseconds that an end was rounded to.
    coarsest: u64,
    /// Flows started or ended, and rates are not recomputed yet.
    changes: bool,
    lost: Option<NoRoute>,
    /// Messages, or parts of them, that start now, and the paths of some of them.
    starts: Vec<Start>,
    paths: Vec<Path>,
    changed: Vec<(FlowId, f64)>,
    ended: Vec<u32>,
    /// Periods that have started, each within the one before.
    marked: Vec<Marked>,
    /// When the part of a small message that began before this one has left.
    part_left: u64,
    /// Number of times that a message found its adapter busy.
    waits: u64,
}

/// Counts at the start of a period.
#[derive(Debug)]
struct Marked {
    carried: Vec<u64>,
    count: u64,
    solves: u64,
}

state! {
    struct OwnState of() Flows<'_> {
        shares: MaxMin,
        active: Vec<Active>,
        agenda: Agenda<Event>,
        ready: Vec<u64>,
        waiting: Vec<Pending>,
        connections: Vec<Connections<Pending>>,
        senders: Vec<(TerminalId, Connection)>,
        parts: Vec<(u32, u64)>,
        carried: Vec<u64>,
        grid: Option<Grid>,
        held: Option<Grid>,
        now: u64,
        count: u64,
        solves: u64,
        coarsest: u64,
        changes: bool,
        lost: Option<NoRoute>,
    }
}

/// The state that changes during simulation: a run is resumed from it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct FlowsState {
    own: OwnState,
    chooser: ChooserState,
}

impl<'a> Flows<'a> {
    /// Messages over a network between such hosts.
    pub fn new(network: Network<'a>, host: &'a Host, options: Options<'a>) -> Self {
        let n = network.capacities().len();
        let terminals = network.fabric().terminal_count();
        let paths = network.routes().paths();
        Self {
            shares: MaxMin::new(network.capacities()),
            chooser: PathChooser::new(options.choice, terminals, paths, options.seed),
            small: options.small,
            alone: options.alone,
            weights: options.weights,
            limits: options.limits,
            precision: options.precision.max(EXACT),
            active: Vec::new(),
            agenda: Agenda::default(),
            ready: vec![0; terminals],
            waiting: Vec::new(),
            connections: vec![Connections::default(); if options.alone { 0 } else { terminals }],
            senders: Vec::new(),
            parts: Vec::new(),
            carried: vec![0; n],
            grid: options.interval.map(|interval| Grid::new(n, interval)),
            held: options.interval.filter(|_| options.held).map(|interval| Grid::new(n, interval)),
            now: 0,
            count: 0,
            solves: 0,
            coarsest: 1,
            changes: false,
            lost: None,
            starts: Vec::new(),
            paths: (0..ABREAST).map(|_| Path::new(TerminalId(0), TerminalId(0), 0)).collect(),
            changed: Vec::new(),
            ended: Vec::new(),
            marked: Vec::new(),
            part_left: 0,
            waits: 0,
            network,
            host,
        }
    }

    /// Takes out the changing state; the flows must not be used until it is put back.
    pub fn take(&mut self) -> FlowsState {
        let mut state = FlowsState::default();
        Flows::swap(self, &mut state.own);
        self.chooser.swap(&mut state.chooser);
        state
    }

    /// Whether a state can be one of these flows: the same numbers of channels and terminals, and valid indices.
    pub fn fits(&self, state: &FlowsState) -> bool {
        let own = &state.own;
        let (flows, messages) = (own.active.len(), own.waiting.len());
        let has = |event: &Event| match *event {
            Event::End { flow } => (flow as usize) < flows,
            Event::Begin { message } => (message as usize) < messages,
        };
        let n = self.ready.len();
        let is_pending = |p: &Pending| p.departure.from.index().max(p.departure.to.index()) < n;
        let has_sender = |message: u32| (message as usize) < own.senders.len();
        let is_behind = |p: &Pending| is_pending(p) && has_sender(p.departure.message);
        let is_sent = |a: &Active| has_sender(a.message) || self.chooser.adapts();
        let mut behind = own.connections.iter().flat_map(Connections::waiting);
        let grid = |ours: &Option<Grid>, theirs: &Option<Grid>| match (ours, theirs) {
            (None, None) => true,
            (Some(a), Some(b)) => a.is_like(b),
            _ => false,
        };
        self.shares.fits(&own.shares)
            && own.agenda.fits(has)
            && own.ready.len() == self.ready.len()
            && own.waiting.iter().all(is_pending)
            && own.connections.len() == self.connections.len()
            && behind.all(|(_, messages)| messages.iter().all(is_behind))
            && own.senders.iter().all(|(from, _)| from.index() < n)
            && own.active.iter().all(is_sent)
            && own.carried.len() == self.carried.len()
            && grid(&self.grid, &own.grid)
            && grid(&self.held, &own.held)
            && self.chooser.fits(&state.chooser)
    }

    /// Resumes from a state that was taken.
    pub fn restore(&mut self, mut state: FlowsState) {
        Flows::swap(self, &mut state.own);
        self.chooser.swap(&mut state.chooser);
    }

    /// Bytes that each channel has carried for messages that are there.
    pub fn carried(&self) -> &[u64] {
        &self.carried
    }

    /// Loads of channels by interval, if requested.
    pub fn grid(&self) -> Option<&Grid> {
        self.grid.as_ref()
    }

    /// Bytes that waited for channels by interval, if requested: bytes that a message could have sent at the rate of the
    /// slowest channel of its path and did not, on all channels up to the one that limited it. A lossless network delays
    /// messages up to that far back, and its switches count it as stalls.
    pub fn held(&self) -> Option<&Grid> {
        self.held.as_ref()
    }

    /// Number of flows so far.
    pub fn flow_count(&self) -> u64 {
        self.count
    }

    /// Number of times that rates were recomputed.
    pub fn solve_count(&self) -> u64 {
        self.solves
    }

    /// A message that had no route; it and others like it were taken to need no time. Look at this after a run.
    pub fn lost(&self) -> Option<NoRoute> {
        self.lost
    }

    fn is_local(&self, from: TerminalId, to: TerminalId) -> bool {
        from == to || self.network.host_of(from) == self.network.host_of(to)
    }

    /// Has a message begin now, with [`Flows::start`].
    fn begin(&mut self, pending: &Pending) {
        let Departure { message, from, to, bytes, of, job, .. } = pending.departure;
        if self.chooser.splits() {
            let paths = self.network.routes().paths() as u64;
            if self.parts.len() <= message as usize {
                self.parts.resize(message as usize + 1, (0, 0));
            }
            self.parts[message as usize] = (paths as u32, 0);
            self.starts.extend((0..paths).map(|path| {
                let bytes = bytes * (path + 1) / paths - bytes * path / paths;
                let (is_first, is_last) = (path == 0, path + 1 == paths);
                Start { message, job, from, to, bytes, of, path: path as usize, is_first, is_last }
            }));
        } else {
            let path = pending.path as usize;
            let (is_first, is_last) = (true, true);
            self.starts.push(Start { message, job, from, to, bytes, of, path, is_first, is_last });
        }
    }

    /// Starts the messages that are due.
    fn start(&mut self, delivered: &mut Vec<Delivery>) {
        // Behind an empty message the next one of its connection starts at once.
        while !self.starts.is_empty() {
            let mut starts = std::mem::take(&mut self.starts);
            self.start_some(&starts, delivered);
            if self.starts.is_empty() {
                starts.clear();
                self.starts = starts;
            }
        }
    }

    fn start_some(&mut self, starts: &[Start], delivered: &mut Vec<Delivery>) {
        let mut paths = std::mem::take(&mut self.paths);
        self.shares.reserve(starts.len());
        self.active.reserve(starts.len().saturating_sub(self.active.len() - self.shares.len()));
        if self.chooser.adapts() {
            for start in starts {
                let path = self.roomiest(start, &mut paths);
                self.flow(start, &path, delivered);
            }
            self.paths = paths;
            return;
        }
        for some in starts.chunks(ABREAST) {
            for (path, s) in paths.iter_mut().zip(some) {
                (path.from, path.to, path.number) = (s.from, s.to, s.path);
            }
            self.network.follow(&mut paths[..some.len()]);
            self.shares
                .approach(paths[..some.len()].iter().flat_map(|p| p.channels.iter().copied()));
            for (path, start) in paths.iter().zip(some) {
                self.flow(start, path, delivered);
            }
        }
        self.paths = paths;
    }

    /// The path whose fullest channel between switches has the fewest flows relative to its capacity.
    fn roomiest(&mut self, start: &Start, paths: &mut [Path]) -> Path {
        let n = self.network.routes().paths();
        let first = self.chooser.first();
        let mut best: Option<(f64, Path)> = None;
        for at in (0..n).step_by(paths.len()) {
            let abreast = paths.len().min(n - at);
            let some = &mut paths[..abreast];
            for (path, i) in some.iter_mut().zip(at..) {
                let number = (first + i) % n;
                (path.from, path.to, path.number) = (start.from, start.to, number);
            }
            self.network.follow(some);
            for path in some {
                let inner = &path.channels[1..path.channels.len().max(2) - 1];
                let taken =
                    |&c: &u32| f64::from(self.shares.count(c) + 1) / self.shares.capacity(c);
                let fullest = if path.latency.is_none() {
                    f64::INFINITY
                } else {
                    inner.iter().map(taken).fold(0.0, f64::max)
                };
                if best.as_ref().is_none_or(|(least, _)| fullest < *least) {
                    best = Some((fullest, path.clone()));
                }
            }
        }
        best.expect("there is a path").1
    }

    /// The most that a message of a job takes, in bytes a picosecond.
    fn limit(&self, job: u32) -> f64 {
        self.limits.get(job as usize).copied().unwrap_or(f64::INFINITY)
    }

    fn flow(&mut self, start: &Start, path: &Path, delivered: &mut Vec<Delivery>) {
        let Start { message, job, from, to, bytes, of, is_first, is_last, .. } = *start;
        let Path { ref channels, latency, .. } = *path;
        let Some(latency) = latency else {
            self.lost.get_or_insert(NoRoute { from, to });
            if self.arrived(message, self.now, 0, delivered) && self.is_in_order(of) {
                self.next_of_connection(message);
            }
            return;
        };
        if bytes == 0 || self.is_apart(of) {
            let slowest = channels.iter().map(|&c| self.shares.capacity(c));
            // Without sharing, parts leave one after the other: each at the rate that the message may have.
            let limit = if self.alone { f64::INFINITY } else { self.limit(job) };
            let slowest = slowest.fold(limit, f64::min);
            for &c in channels {
                self.carried[c as usize] += bytes;
            }
            let long = duration(bytes as f64, slowest);
            let mut begin = self.now;
            if self.alone {
                let ready = &mut self.ready[from.index()];
                self.waits += u64::from(*ready > begin);
                begin = begin.max(*ready);
                let gap = if is_last { self.host.gap } else { 0 };
                *ready = begin.saturating_add(long).saturating_add(gap);
            } else {
                begin = if is_first { begin } else { self.part_left };
                self.part_left = begin.saturating_add(long);
            }
            if let Some(grid) = &mut self.grid
                && long > 0
            {
                let rate = bytes as f64 / long as f64;
                grid.add(&channels.iter().copied(), begin, begin.saturating_add(long), rate);
            }
            let left = begin.saturating_add(long);
            if self.arrived(message, left, latency, delivered) && self.is_in_order(of) {
                self.next_of_connection(message);
            }
            return;
        }
        let weight = self.weights.get(job as usize).copied().unwrap_or(1.0);
        // Parts of a message take no more together than it would.
        let limit = self.limit(job) * (bytes as f64 / of as f64);
        let id = self.shares.add(channels, weight, limit);
        self.count += 1;
        let i = id.0 as usize;
        let active = Active {
            message,
            bytes,
            left: bytes as f64,
            begin: self.now,
            since: self.now,
            rate: 0.0,
            held_by: None,
            latency,
            end: u64::MAX,
            booked: u64::MAX,
            number: self.count,
        };
        if i < self.active.len() {
            self.active[i] = active;
        } else {
            self.active.push(active);
        }
    }

    /// A message, or a part of one, has left, and arrives its latency later. Whether all of the message has.
    fn arrived(
        &mut self,
        message: u32,
        left: u64,
        latency: u64,
        delivered: &mut Vec<Delivery>,
    ) -> bool {
        let mut arrives = left.saturating_add(latency);
        if let Some((parts, latest)) = self.parts.get_mut(message as usize)
            && *parts > 0
        {
            *parts -= 1;
            *latest = arrives.max(*latest);
            if *parts > 0 {
                return false;
            }
            arrives = *latest;
        }
        delivered.push(Delivery { message, left, arrives });
        true
    }

    /// Recomputes rates, and schedules the ends of all flows whose rates changed.
    fn share(&mut self) {
        let mut changed = std::mem::take(&mut self.changed);
        self.shares.share(&mut changed);
        self.solves += u64::from(!changed.is_empty());
        for &(id, _) in &changed {
            self.account(id);
            let a = &mut self.active[id.0 as usize];
            a.rate = self.shares.rate(id);
            a.held_by = self.shares.bottleneck(id);
            let end = self.now.saturating_add(duration(a.left, a.rate));
            let step = step(end - a.begin, self.precision);
            a.end = end.saturating_add(step - 1) & !(step - 1);
            self.coarsest = self.coarsest.max(step);
            if a.end < a.booked {
                a.booked = a.end;
                self.agenda.push(a.end, Event::End { flow: id.0 });
            }
        }
        self.changed = changed;
    }

    /// Accounts for the bytes that have flowed since the last change.
    fn account(&mut self, id: FlowId) {
        let a = &mut self.active[id.0 as usize];
        let flown = a.rate * (self.now - a.since) as f64;
        if let Some(grid) = &mut self.grid {
            // The last bytes of a message may need less than the time that was rounded up.
            let flown = flown.min(a.left);
            if self.now > a.since {
                let rate = flown / (self.now - a.since) as f64;
                grid.add(&self.shares.path(id), a.since, self.now, rate);
            }
        }
        if let (Some(held), Some(by)) = (&mut self.held, a.held_by) {
            let most =
                self.shares.path(id).map(|c| self.shares.capacity(c)).fold(f64::MAX, f64::min);
            // Everything before the channel that is full, and that one.
            let hops = 1 + self.shares.path(id).take_while(|&c| c != by).count();
            let lacking = (most - a.rate).max(0.0);
            held.add(&self.shares.path(id).take(hops), a.since, self.now, lacking);
        }
        a.left = (a.left - flown).max(0.0);
        a.since = self.now;
    }
}

/// Time of `bytes` at a rate, in whole picoseconds, rounded up.
#[expect(clippy::cast_sign_loss, reason = "neither is below zero")]
fn duration(bytes: f64, rate: f64) -> u64 {
    let long = bytes / rate;
    // The error of rounding is not worth a picosecond.
    (long * (1.0 - 1e-12)).ceil() as u64
}

/// Flows that last so long end at multiples of this many picoseconds, a power of two.
#[expect(clippy::cast_sign_loss, reason = "neither is below zero")]
fn step(long: u64, precision: f64) -> u64 {
    let most = (long as f64 * precision) as u64;
    1 << most.max(1).ilog2().min(62)
}

impl NetworkModel for Flows<'_> {
    fn latency(&self, from: TerminalId, to: TerminalId) -> u64 {
        if self.is_local(from, to) {
            return self.host.memory_latency;
        }
        // A request or a reply is short; its time differs little from path to path.
        self.network.latency(from, to)
    }

    fn is_within_host(&self, from: TerminalId, to: TerminalId) -> bool {
        self.is_local(from, to)
    }

    fn depart(&mut self, now: u64, departures: &[Departure], delivered: &mut Vec<Delivery>) {
        self.now = now;
        for d in departures {
            if self.is_local(d.from, d.to) {
                let long = duration(d.bytes as f64, self.host.memory_bytes_per_second * 1e-12);
                let left = now.saturating_add(long);
                let arrives = left.saturating_add(self.host.memory_latency);
                delivered.push(Delivery { message: d.message, left, arrives });
                continue;
            }
            let path = self.path_number(d);
            if self.alone {
                // Such messages find their own place.
                self.begin(&Pending { departure: *d, path, begin: now });
                continue;
            }
            if !self.is_in_order(d.of) {
                let begin = self.reserve(d);
                self.launch(&Pending { departure: *d, path, begin });
                continue;
            }
            let connection = d.connection(path);
            if self.senders.len() <= d.message as usize {
                self.senders.resize(d.message as usize + 1, (d.from, connection));
            }
            self.senders[d.message as usize] = (d.from, connection);
            if self.connections[d.from.index()].take(connection) {
                let begin = self.reserve(d);
                self.launch(&Pending { departure: *d, path, begin });
            } else {
                let pending = Pending { departure: *d, path, begin: now };
                self.connections[d.from.index()].wait(connection, pending);
                self.waits += 1;
            }
        }
        self.start(delivered);
        self.changes = true;
    }

    fn upcoming(&mut self) -> Option<u64> {
        // Once for all that came and went at one time.
        if std::mem::take(&mut self.changes) {
            self.share();
        }
        self.agenda.upcoming()
    }

    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        self.now = now;
        let mut ended = std::mem::take(&mut self.ended);
        ended.clear();
        while let Some((time, event)) = self.agenda.pop(now) {
            match event {
                Event::End { flow } => {
                    let a = &mut self.active[flow as usize];
                    if a.booked != time {
                        continue;
                    }
                    if a.end > time {
                        a.booked = a.end;
                        self.agenda.push(a.end, event);
                    } else {
                        a.booked = u64::MAX;
                        ended.push(flow);
                    }
                }
                Event::Begin { message } => {
                    let pending = self.waiting[message as usize];
                    self.begin(&pending);
                    self.changes = true;
                }
            }
        }
        self.start(delivered);
        ended.sort_unstable_by_key(|&flow| self.active[flow as usize].number);
        for some in ended.chunks(ABREAST) {
            self.shares.approach(some.iter().flat_map(|&flow| self.shares.path(FlowId(flow))));
            for &flow in some {
                let id = FlowId(flow);
                self.account(id);
                let a = self.active[flow as usize];
                for c in self.shares.path(id) {
                    self.carried[c as usize] += a.bytes;
                }
                self.shares.remove(id);
                if self.arrived(a.message, now, a.latency, delivered) && !self.chooser.adapts() {
                    self.next_of_connection(a.message);
                }
            }
        }
        self.start(delivered);
        self.changes |= !ended.is_empty();
        self.ended = ended;
    }

    fn repeating(&mut self) -> Option<&mut dyn Repeating> {
        let counts_intervals = self.grid.is_some() || self.held.is_some();
        // Rounded ends hide the rest of a flow.
        let is_exact = self.precision <= EXACT;
        (self.chooser.is_even() && is_exact && !counts_intervals).then_some(self)
    }
}
