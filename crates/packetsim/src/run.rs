//! Runs with a given load: every terminal creates packets again and again.

use crate::deadlock::{Look, Stalled};
use crate::measure::{Counts, Measured, Measuring, Settled, Settling};
use crate::network::{Agent, Network};
use crate::part::{Arrived, Message, Part};
use crate::routing::Routing;
use crate::series::Series;
use crate::{Impossible, Micro, Net, Random, Targets};

/// What terminals create.
#[derive(Clone, Debug)]
pub struct Load {
    /// Whom they send to.
    pub targets: Targets,
    /// Bytes that they create, as a part of what their channel carries.
    pub load: f64,
    /// Bytes of a packet.
    pub bytes: u32,
    /// How long nothing counts, in picoseconds; without, until latencies have settled.
    pub warmup: Option<u64>,
    /// How long packets count then.
    pub measure: u64,
    /// How long to wait for those that count, at most.
    pub drain: u64,
    /// Keep what ports do, by intervals of so many picoseconds.
    pub interval: Option<u64>,
    /// Simulate so many parts of the network side by side; what comes out does not depend on it.
    pub parts: usize,
    /// Seed.
    pub seed: u64,
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Pulse {
    /// Simulated time, in picoseconds.
    pub now: u64,
    /// When it will be over, as far as is known; at the latest, while latencies have not settled.
    pub end: u64,
    /// Events so far.
    pub events: u64,
    /// Packets in the network and its sources.
    pub packets: usize,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was measured.
    pub measured: Measured,
    /// Bytes that arrived while it was measured, as a part of what channels of terminals carry.
    pub accepted: f64,
    /// Bytes that were created in that time, as a part of the same.
    pub created: f64,
    /// Packets that count and were created, but did not arrive in time.
    pub missing: u64,
    /// Packets times switches that they crossed, in all.
    pub crossed: u64,
    /// Packets that were sent again because of wrong bits.
    pub again: u64,
    /// Events.
    pub events: u64,
    /// Whether latencies had settled before packets counted.
    pub settled: bool,
    /// When packets began to count, in picoseconds.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// Packets that were in the network and its sources at most, as far as was looked.
    pub most: usize,
    /// Nothing moved any more.
    pub stalled: Option<Stalled>,
    /// What ports did, by interval.
    pub series: Option<Series>,
}

/// Beyond the end of all runs.
const NEVER: u64 = u64::MAX / 2;
/// Settling is looked at so many times in as long as packets will count. Intervals become twice as long after every so many of
/// them, since chance makes means of short ones differ; in all they take so many times as long as the first one at most.
const INTERVALS: u64 = 5;
const ALIKE_LONG: u32 = 4;
const MOST: u64 = 124;

/// Terminals of a part that create packets.
struct Sources<'a> {
    tick: u64,
    targets: &'a Targets,
    bytes: u32,
    /// Logarithm of the probability that no packet is created in a tick.
    quiet: f64,
    /// By terminal of the part, its dice; and the number of the first terminal's seat.
    random: Vec<Random>,
    net: &'a Net,
    first: u32,
    measuring: Measuring,
    measured: Measured,
    counts: Counts,
}

impl Sources<'_> {
    fn dice(&mut self, t: u32) -> &mut Random {
        &mut self.random[(self.net.seat(t) - self.first) as usize]
    }

    fn next(&mut self, t: u32, now: u64) -> u64 {
        let gap = self.dice(t).part().ln() / self.quiet;
        #[expect(clippy::cast_sign_loss, reason = "both logarithms are below zero")]
        let gap = gap as u64;
        now / self.tick + 1 + gap
    }
}

impl Agent for Sources<'_> {
    fn remind(&mut self, t: u32, now: u64) -> (Option<Message>, u64) {
        let again = self.next(t, now);
        let targets = self.targets;
        let Some(to) = targets.draw(t, self.dice(t)) else { return (None, again) };
        self.measured.created += u64::from(self.measuring.counts(now));
        self.counts.created += 1;
        let bytes = self.bytes.into();
        (Some(Message { number: 0, to, bytes, path: 0, born: now }), again)
    }

    fn arrived(&mut self, a: &Arrived) {
        self.measured.arrived(&a.packet, a.when, &self.measuring);
        self.counts.arrived(a.when - a.packet.born);
    }
}

struct Run<'n, R> {
    load: &'n Load,
    tick: u64,
    network: Network<'n, &'n R, Sources<'n>>,
    measuring: Measuring,
    settling: Settling,
    /// When the next interval of settling is over; never, if it has, or is not waited for.
    settles: u64,
    intervals: u32,
    settled: bool,
    /// When to look for deadlock, to tell how far it is, when an interval of the series is over, and when switches tell of
    /// themselves.
    looks: u64,
    beats: u64,
    keeps: u64,
    tells: u64,
    news: Option<u64>,
    series: Option<Series>,
    most: usize,
    /// Bytes that all terminals could send while it is measured.
    could: f64,
}

/// Simulates a load; `pulse` is told now and then how far it is.
///
/// # Errors
/// If switches, packets and routing do not go together.
pub fn load<R: Routing>(
    net: &Net,
    micro: &Micro,
    routing: &R,
    load: &Load,
    pulse: &dyn Fn(Pulse),
) -> Result<Outcome, Impossible> {
    let first = net.port(net.home(0));
    let chance = load.load * micro.tick as f64 / first.long(load.bytes) as f64;
    let measuring = match load.warmup {
        Some(long) => Measuring { from: long, to: long + load.measure },
        None => Measuring { from: NEVER, to: NEVER },
    };
    let sources = |part: &Part<'_, &R>| {
        let terminals = net.terminals_at(part.span().ports.clone());
        Sources {
            tick: micro.tick,
            targets: &load.targets,
            bytes: load.bytes,
            quiet: (-chance.min(1.0)).ln_1p(),
            random: terminals.map(|t| Random::new(load.seed, u64::from(t) | 1 << 40)).collect(),
            net,
            first: part.span().seats.start,
            measuring,
            measured: Measured::new(),
            counts: Counts::default(),
        }
    };
    let network = Network::new(net, micro, routing, load.bytes, load.seed, load.parts, sources)?;
    let terminals = net.terminal_count() as f64;
    let patience = network.patience();
    let interval = load.interval.map(|i| i.max(micro.tick));
    let news = routing.news().map(|n| n.max(micro.tick));
    let mut run = Run {
        load,
        tick: micro.tick,
        network,
        measuring,
        settling: Settling::default(),
        settles: if load.warmup.is_some() { NEVER } else { (load.measure / INTERVALS).max(1) },
        intervals: 0,
        settled: load.warmup.is_some(),
        looks: patience,
        beats: patience,
        keeps: interval.unwrap_or(NEVER),
        tells: news.unwrap_or(NEVER),
        news,
        series: interval.map(|interval| Series::new(net, interval)),
        most: 0,
        could: terminals * load.measure as f64 * 65536.0 / first.long(65536) as f64,
    };
    Ok(run.go(net, pulse))
}

impl<R: Routing> Run<'_, R> {
    fn go(&mut self, net: &Net, pulse: &dyn Fn(Pulse)) -> Outcome {
        for worker in &mut self.network.workers {
            for t in net.terminals_at(worker.part.span().ports.clone()) {
                if self.load.targets.sends(t) && self.load.load > 0.0 {
                    let tick = worker.agent.next(t, 0);
                    worker.part.remind(tick, t);
                }
            }
        }
        loop {
            // Whatever is decided is decided between ticks, at times that do not depend on parts.
            let first = self.settles.min(self.looks).min(self.beats);
            let now = first.min(self.keeps).min(self.tells);
            let more = self.network.run(now.div_ceil(self.tick));
            self.most = self.network.packets().max(self.most);
            if now >= self.keeps {
                self.keep(now);
            }
            if now >= self.settles {
                self.settle(now);
            }
            if now >= self.tells {
                self.network.tell();
                self.tells = now + self.news.unwrap_or(NEVER);
            }
            if now >= self.looks {
                match self.network.look_for_deadlock(now) {
                    Look::Locked(stalled) => return self.outcome(now, Some(stalled)),
                    Look::Stuck => self.looks = now + self.network.patience(),
                    // What is not locked now may be later; an eighth of the time is not much to have waited for it.
                    Look::Moves => self.looks = now + self.network.patience().max(now / 8),
                }
            }
            if now >= self.beats {
                self.beats = now + self.network.patience();
                // What was created last need not arrive where sources fall behind.
                let drain = if self.settled { self.load.drain } else { 0 };
                // As long as latencies have not settled, it is known when they are not waited for any more.
                let latest = self.load.measure.saturating_mul(MOST / INTERVALS + 1);
                let is_known = self.measuring.from < NEVER;
                let end = if is_known { self.measuring.to } else { latest } + drain;
                let (events, packets) = (self.network.event_count(), self.network.packets());
                pulse(Pulse { now, end, events, packets });
                if now >= self.measuring.to && (now >= end || self.all_arrived()) {
                    return self.outcome(now, None);
                }
            }
            if !more {
                return self.outcome(now, None);
            }
        }
    }

    /// Whether packets that count and were created have all arrived.
    fn all_arrived(&self) -> bool {
        let sum = |of: fn(&Measured) -> u64| -> u64 {
            self.network.workers.iter().map(|w| of(&w.agent.measured)).sum()
        };
        sum(|m| m.created) == sum(|m| m.packets)
    }

    /// An interval of the series is over.
    fn keep(&mut self, now: u64) {
        let packets = self.network.packets() as u64;
        let Some(series) = &mut self.series else { return };
        for w in &mut self.network.workers {
            w.part.keep(now, series);
        }
        series.packets.push(packets);
        series.halve();
        self.keeps = now + series.interval;
    }

    /// An interval is over: packets count from now on, if latencies have settled, or never will.
    fn settle(&mut self, now: u64) {
        let mut counts = Counts::default();
        for w in &mut self.network.workers {
            counts.add(&std::mem::take(&mut w.agent.counts));
        }
        let first = (self.load.measure / INTERVALS).max(1);
        let settled = self.settling.over(&counts);
        self.settled = settled == Settled::Yes;
        self.intervals += 1;
        if self.intervals.is_multiple_of(ALIKE_LONG) {
            self.settling = Settling::default();
        }
        self.settles = now + (first << (self.intervals / ALIKE_LONG));
        if settled != Settled::NotYet || now >= MOST * first {
            self.settles = NEVER;
            self.measuring = Measuring { from: now, to: now + self.load.measure };
            for w in &mut self.network.workers {
                w.agent.measuring = self.measuring;
            }
        }
    }

    fn outcome(&mut self, end: u64, stalled: Option<Stalled>) -> Outcome {
        let mut measured = Measured::new();
        for w in &self.network.workers {
            measured.add(&w.agent.measured);
        }
        Outcome {
            accepted: measured.bytes as f64 / self.could,
            created: (measured.created * u64::from(self.load.bytes)) as f64 / self.could,
            missing: measured.created - measured.packets,
            measured,
            crossed: self.network.crossed(),
            again: self.network.again(),
            events: self.network.event_count(),
            settled: self.settled,
            begin: self.measuring.from.min(end),
            end,
            most: self.most,
            stalled,
            series: self.series.take(),
        }
    }
}
