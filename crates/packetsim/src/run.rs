//! Runs with a given load: every terminal creates packets again and again.

use std::collections::BTreeMap;
use std::sync::Arc;

use darkfiber_workload::state;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::deadlock::{Look, Stalled};
use crate::measure::{Counts, Measured, Measuring, Settled, Settling};
use crate::message::{Arrived, Message};
use crate::network::{Agent, NEVER, Network, NetworkState, read_share};
use crate::observer::{self, Observer, Pulse};
use crate::partition::Partition;
use crate::processes::{Parts, Processes, gather, several};
use crate::routing::Routing;
use crate::series::Series;
use crate::{ConfigError, Net, Random, SwitchModel, Targets};

/// The traffic that terminals create.
#[derive(Clone, Debug)]
pub struct Load {
    /// Destinations of each terminal.
    pub targets: Targets,
    /// Created bytes, as a part of the capacity of their channel.
    pub load: f64,
    /// Bytes of a packet at most.
    pub bytes: u32,
    /// Bytes of a message, all of whose packets are created at once.
    pub message: u64,
    /// Warm-up in which packets do not count, in picoseconds; `None`: until latencies have settled.
    pub warmup: Option<u64>,
    /// Duration of the measurement after that.
    pub measure: u64,
    /// How often it may be measured anew, for twice as long, while the means of its parts are alike, or it is open whether sources fall
    /// behind; what was before is warm-up then. 0: it lasts as long as it says.
    pub doublings: u32,
    /// Maximum time to wait for the measured packets.
    pub drain: u64,
    /// Record counters of ports, by intervals of this number of picoseconds.
    pub interval: Option<u64>,
    /// Number of parts of the network that are simulated in parallel; no result depends on it.
    pub parts: usize,
    /// Other processes that simulate the same load together with this one; no result depends on them. Each of them calls with the
    /// same arguments, and gets the same result.
    pub processes: Option<Arc<dyn Processes>>,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Load {
    /// The processes, if there are several.
    fn several(&self) -> Option<&dyn Processes> {
        several(self.processes.as_deref())
    }
}

/// The result of simulating a load.
#[derive(Clone, Debug)]
pub struct LoadOutcome {
    /// Latencies and counts of the packets that count.
    pub measured: Measured,
    /// Bytes that arrived while it was measured, as a part of the capacity of the channels of terminals.
    pub accepted: f64,
    /// Bytes that were created in that time, as a part of the same.
    pub created: f64,
    /// Packets that count and were created, but did not arrive in time.
    pub missing: u64,
    /// Packets times switches that they crossed, in all.
    pub crossed: u64,
    /// Packets that were sent again because of wrong bits.
    pub again: u64,
    /// Number of events.
    pub events: u64,
    /// Whether sources fell behind: fewer packets arrived than were created, interval after interval while latencies were waited for, or
    /// by more than chance in the measurement.
    pub fell_behind: bool,
    /// Whether the means of parts of the measurement are so alike that an interval made of them is too narrow.
    pub alike: bool,
    /// When packets began to count, in picoseconds.
    pub begin: u64,
    /// Duration of the measurement, in picoseconds.
    pub long: u64,
    /// End of the run, in picoseconds.
    pub end: u64,
    /// Packets that were in the network and its sources at most, as far as was looked.
    pub most: usize,
    /// Set if nothing could move any more.
    pub stalled: Option<Stalled>,
    /// Counters of ports, by interval.
    pub series: Option<Series>,
}

/// Settling is looked at this many times in as long as packets will count. Intervals become twice as long after every this many of
/// them, since chance makes means of short ones differ; in all they take this many times as long as the first one at most.
const INTERVALS: u64 = 5;
const ALIKE_LONG: u32 = 4;
const MOST: u64 = 124;

/// Terminals of a part that create packets.
struct Sources<'a> {
    tick: u64,
    targets: &'a Targets,
    /// Bytes of a message, and the packets that it is sent in.
    message: u64,
    packets: u64,
    /// By terminal of the part, the logarithm of the probability that it creates no message in a tick.
    quiet: Vec<f64>,
    /// By terminal of the part, its dice; and the number of the first terminal's seat.
    random: Vec<Random>,
    net: &'a Net,
    first: u32,
    measuring: Measuring,
    measured: Measured,
    counts: Counts,
}

impl Sources<'_> {
    fn place(&self, t: u32) -> usize {
        (self.net.seat(t) - self.first) as usize
    }

    fn dice(&mut self, t: u32) -> &mut Random {
        let place = self.place(t);
        &mut self.random[place]
    }

    fn next(&mut self, t: u32, now: u64) -> u64 {
        let gap = self.dice(t).part().ln() / self.quiet[self.place(t)];
        #[expect(clippy::cast_sign_loss, reason = "both logarithms are below zero")]
        let gap = (gap as u64).min(NEVER / self.tick);
        now / self.tick + 1 + gap
    }
}

state! {
    struct SourcesState of() Sources<'_> {
        random: Vec<Random>,
        measuring: Measuring,
        measured: Measured,
        counts: Counts,
    }
}

impl Agent for Sources<'_> {
    type State = SourcesState;

    fn swap(&mut self, state: &mut SourcesState) {
        Sources::swap(self, state);
    }

    fn fits(&self, state: &SourcesState) -> bool {
        state.random.len() == self.random.len()
    }

    fn remind(&mut self, t: u32, now: u64, sends: &mut Vec<(u64, Message)>) -> Option<u64> {
        let again = self.next(t, now);
        let targets = self.targets;
        if let Some(to) = targets.draw(t, self.dice(t)) {
            let bytes = self.message;
            if self.measuring.counts(now) {
                self.measured.created += self.packets;
                self.measured.created_bytes += bytes;
            }
            self.counts.created += self.packets;
            let message = Message {
                number: 0,
                to,
                bytes,
                group: 0,
                path: None,
                class: 0,
                connection: None,
                born: Some(now),
            };
            sends.push((now, message));
        }
        Some(again)
    }

    fn arrived(&mut self, a: &Arrived) {
        self.measured.arrived(a, &self.measuring);
        self.counts.arrived(a.when - a.packet.born);
    }
}

struct LoadRun<'n, R> {
    load: &'n Load,
    /// The requested number of parts, and that of the processes that the network is cut for.
    parts: (usize, usize),
    tick: u64,
    network: Network<'n, &'n R, Sources<'n>>,
    measuring: Measuring,
    settling: Settling,
    /// When the next interval of settling is over; never, if it has, or is not waited for.
    settles: u64,
    intervals: u32,
    fell_behind: bool,
    /// When to decide whether to measure anew, for twice as long; never, if not; and how often that was.
    closes: u64,
    doublings: u32,
    /// When to check for deadlock, and to report progress.
    looks: u64,
    beats: u64,
    most: usize,
    /// When it was over, and whether packets wait for each other for ever then.
    over: Option<(u64, Option<Stalled>)>,
    /// Bytes that all terminals could send while it is measured, before it was doubled.
    could: f64,
}

state! {
    struct OwnState of(R) LoadRun<'_, R> {
        measuring: Measuring,
        settling: Settling,
        settles: u64,
        intervals: u32,
        fell_behind: bool,
            closes: u64,
        doublings: u32,
        looks: u64,
        beats: u64,
        most: usize,
        over: Option<(u64, Option<Stalled>)>,
    }
}

/// The saved state of a run.
#[derive(Serialize, Deserialize)]
struct RunState {
    /// The requested number of parts, and that of the processes that the network was cut for.
    parts: usize,
    blocks: usize,
    own: OwnState,
    network: NetworkState<SourcesState>,
}

impl RunState {
    /// The state that was kept of a run, if any was.
    fn read(load: &Load, follow: &dyn Observer) -> Result<Option<Self>, ConfigError> {
        let Some(processes) = load.several() else { return observer::read(follow) };
        let shared = read_share(processes, follow)?;
        Ok(shared.map(|((parts, blocks, own), network)| Self { parts, blocks, own, network }))
    }

    /// Lets the observer save it, and says whether the run `ends` after that.
    fn keep(&self, load: &Load, follow: &dyn Observer, ends: bool) {
        match load.several() {
            None => follow.keep(&|out| observer::write(self, out), ends),
            Some(all) => {
                let head = (self.parts, self.blocks, &self.own);
                self.network.keep_shared(&head, all, (follow, ends));
            }
        }
    }
}

/// Simulates a load; `follow` is called regularly with the progress, and may save the run to resume it later.
///
/// # Errors
/// If switches, packets and routing do not go together, or the saved state is damaged.
pub fn load<R: Routing>(
    net: &Net,
    micro: &SwitchModel,
    routing: &R,
    load: &Load,
    follow: &dyn Observer,
) -> Result<LoadOutcome, ConfigError> {
    let kept = RunState::read(load, follow)?;
    // A run resumes with the parts it was started with: no result depends on them.
    let size = load.several().map_or(1, Processes::size);
    let (count, blocks) = kept.as_ref().map_or((load.parts, size), |k| (k.parts, k.blocks));
    let shared = Parts { count, blocks, processes: load.several() };
    // A terminal's load is a part of its own channel.
    let quiet = |t: u32| {
        let long = load.message as f64 * net.port(net.home(t)).pace as f64 / 65536.0;
        let chance = load.load * micro.tick as f64 / long;
        (-chance.min(1.0)).ln_1p()
    };
    let measuring = match load.warmup {
        Some(long) => Measuring { from: long, to: long + load.measure },
        None => Measuring { from: NEVER, to: NEVER },
    };
    let sources = |part: &Partition<'_, &R>| {
        let terminals = || net.terminals_at(part.span().ports.clone());
        Sources {
            tick: micro.tick,
            targets: &load.targets,
            message: load.message,
            packets: load.message.div_ceil(load.bytes.into()),
            quiet: terminals().map(quiet).collect(),
            random: terminals().map(|t| Random::new(load.seed, u64::from(t) | 1 << 40)).collect(),
            net,
            first: part.span().seats.start,
            measuring,
            measured: Measured::new(),
            counts: Counts::default(),
        }
    };
    // The last packet of a message may be shorter.
    let rest = (load.message % u64::from(load.bytes)) as u32;
    let shortest = if rest == 0 { load.bytes } else { rest };
    let mut network =
        Network::new(net, micro, routing, [shortest, load.bytes], load.seed, shared, sources)?;
    let patience = network.patience();
    if let Some(interval) = load.interval {
        network.keep_series(interval);
    }
    let mut run = LoadRun {
        load,
        parts: (count, blocks),
        tick: micro.tick,
        network,
        measuring,
        settling: Settling::default(),
        settles: if load.warmup.is_some() { NEVER } else { (load.measure / INTERVALS).max(1) },
        intervals: 0,
        fell_behind: false,
        closes: measuring.to,
        doublings: 0,
        looks: patience,
        beats: patience,
        most: 0,
        over: None,
        could: sendable(net, load.measure),
    };
    match kept {
        None => run.begin(net),
        Some(mut kept) => {
            if !run.network.fits(&kept.network) {
                return Err(observer::unlike());
            }
            run.swap(&mut kept.own);
            run.network.restore(kept.network);
        }
    }
    while run.over.is_none() {
        run.step(follow);
        if run.over.is_some() || run.network.sum(follow.is_due().into()) > 0 {
            run.keep(follow);
        }
    }
    Ok(run.outcome())
}

impl<R: Routing> LoadRun<'_, R> {
    /// Terminals begin to create packets.
    #[inline(never)]
    fn begin(&mut self, net: &Net) {
        for worker in &mut self.network.workers {
            for t in net.terminals_at(worker.part.span().ports.clone()) {
                if self.load.targets.sends(t) && self.load.load > 0.0 {
                    let tick = worker.agent.next(t, 0);
                    worker.part.remind(tick, t);
                }
            }
        }
    }

    /// Advances to the next decision: between ticks, at times that do not depend on parts.
    fn step(&mut self, follow: &dyn Observer) {
        let now = self.settles.min(self.closes).min(self.looks).min(self.beats);
        let more = self.network.run(now.div_ceil(self.tick));
        self.most = self.network.packets().max(self.most);
        if now >= self.settles {
            self.settle(now);
        }
        if now >= self.closes {
            self.close();
        }
        if now >= self.looks {
            match self.network.look_for_deadlock(now) {
                Look::Locked(stalled) => {
                    self.over = Some((now, Some(stalled)));
                    return;
                }
                Look::Stuck => self.looks = now + self.network.patience(),
                // A network that moves may deadlock later; an eighth of the time is an acceptable delay of the check.
                Look::Moves => self.looks = now + self.network.patience().max(now / 8),
            }
        }
        if now >= self.beats {
            self.beats = now + self.network.patience();
            // The last packets created need not arrive where sources fall behind.
            let drain = self.load.drain.saturating_mul(1 << self.doublings);
            let drain = if self.fell_behind { 0 } else { drain };
            // While latencies have not settled, the latest end of waiting for them is known.
            let latest = self.load.measure.saturating_mul(MOST / INTERVALS + 1);
            let is_known = self.measuring.from < NEVER;
            let end = if is_known { self.measuring.to } else { latest } + drain;
            let (events, packets) = (self.network.event_count(), self.network.packets());
            follow.pulse(Pulse { now, end, events, packets });
            if now >= self.measuring.to && (now >= end || self.all_arrived()) {
                self.over = Some((now, None));
            }
        }
        if !more {
            self.over = Some((now, None));
        }
    }

    /// Lets the observer save the run.
    #[inline(never)]
    fn keep(&mut self, follow: &dyn Observer) {
        let mut own = OwnState::default();
        self.swap(&mut own);
        let (parts, blocks) = self.parts;
        // A signal reaches processes at different times: all end after this save, or none.
        let ends = self.network.sum(follow.is_asked_to_end().into()) > 0;
        let state = RunState { parts, blocks, own, network: self.network.take() };
        state.keep(self.load, follow, ends);
        follow.after_keep(ends);
        let RunState { mut own, network, .. } = state;
        self.swap(&mut own);
        self.network.restore(network);
    }

    /// Whether packets that count and were created have all arrived.
    #[inline(never)]
    fn all_arrived(&self) -> bool {
        let sum = |of: fn(&Measured) -> u64| -> u64 {
            self.network.sum(self.network.workers.iter().map(|w| of(&w.agent.measured)).sum())
        };
        sum(|m| m.created) == sum(|m| m.packets)
    }

    /// An interval is over: packets count from now on, if latencies have settled, or never will. Where packets are so few that
    /// chance keeps them from it, the longest wait is enough.
    #[inline(never)]
    fn settle(&mut self, now: u64) {
        let mut counts = Counts::default();
        for w in &mut self.network.workers {
            counts.add(&std::mem::take(&mut w.agent.counts));
        }
        let counts = of_all(self.load, counts, Counts::add);
        let first = (self.load.measure / INTERVALS).max(1);
        let settled = self.settling.over(&counts);
        self.fell_behind = settled == Settled::Saturated;
        self.intervals += 1;
        if self.intervals.is_multiple_of(ALIKE_LONG) {
            self.settling = Settling::default();
        }
        self.settles = now + (first << (self.intervals / ALIKE_LONG));
        if settled != Settled::NotYet || now >= MOST * first {
            self.settles = NEVER;
            self.measure_until(now, now + self.load.measure);
        }
    }

    fn measure_until(&mut self, from: u64, to: u64) {
        self.measuring = Measuring { from, to };
        self.closes = to;
        for w in &mut self.network.workers {
            w.agent.measuring = self.measuring;
        }
    }

    /// The measurement would be over: one of twice the time begins if it says too little. What it had is warm-up then, which was too
    /// short where latencies rise slowly.
    #[inline(never)]
    fn close(&mut self) {
        let Measuring { from, to } = self.measuring;
        let long = to - from;
        if self.doublings == self.load.doublings
            || !self.measured().is_short(long, self.doublings, self.fell_behind)
        {
            self.closes = NEVER;
            return;
        }
        self.doublings += 1;
        // Whether they do is for the longer measurement to say.
        self.fell_behind = false;
        for w in &mut self.network.workers {
            w.agent.measured = Measured::new();
        }
        self.measure_until(to, to + 2 * long);
    }

    /// What has been measured, by all processes.
    fn measured(&self) -> Measured {
        let mut measured = Measured::new();
        for w in &self.network.workers {
            measured.add(&w.agent.measured);
        }
        of_all(self.load, measured, Measured::add)
    }

    #[inline(never)]
    fn outcome(&mut self) -> LoadOutcome {
        let (end, stalled) = self.over.take().unwrap_or_default();
        let measured = self.measured();
        // Of a run that ended before it was measured, as long as was meant.
        let Measuring { from, to } = self.measuring;
        let long = if from < NEVER { to - from } else { self.load.measure };
        let could = self.could * (1_u64 << self.doublings) as f64;
        let is_behind = measured.is_behind(long, self.doublings);
        let alike = measured.are_parts_alike();
        LoadOutcome {
            accepted: measured.bytes as f64 / could,
            created: measured.created_bytes as f64 / could,
            missing: measured.created - measured.packets,
            measured,
            crossed: self.network.crossed(),
            again: self.network.again(),
            events: self.network.event_count(),
            fell_behind: self.fell_behind || is_behind,
            alike,
            begin: from.min(end),
            long,
            end,
            most: self.most,
            stalled,
            series: self.network.series().take(),
        }
    }
}

/// Bytes that all terminals could send in this number of picoseconds, each at the rate of its channel.
fn sendable(net: &Net, long: u64) -> f64 {
    let mut by_rate = BTreeMap::<u64, u64>::new();
    for t in 0..net.terminal_count() as u32 {
        *by_rate.entry(net.port(net.home(t)).long(65536)).or_default() += 1;
    }
    let bytes = |(pace, count): (u64, u64)| count as f64 * long as f64 * 65536.0 / pace as f64;
    by_rate.into_iter().map(bytes).sum()
}

/// What this process has counted, together with what the others have.
fn of_all<T: Serialize + DeserializeOwned>(load: &Load, mut here: T, add: fn(&mut T, &T)) -> T {
    let Some(processes) = load.several() else { return here };
    let rank = processes.rank();
    for (_, other) in (0..).zip(gather(processes, &here)).filter(|(k, _)| *k != rank) {
        add(&mut here, &other);
    }
    here
}
