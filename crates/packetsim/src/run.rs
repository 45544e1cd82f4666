//! Runs with a given load: every terminal creates packets again and again.

use crate::deadlock::Stalled;
use crate::measure::{Measured, Measuring, Settled, Settling};
use crate::network::{Message, Network};
use crate::routing::Routing;
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
    /// Seed.
    pub seed: u64,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was measured.
    pub measured: Measured,
    /// Bytes that arrived while it was measured, as a part of what channels of terminals carry.
    pub accepted: f64,
    /// Packets that count and were created, but did not arrive in time.
    pub missing: u64,
    /// Packets times switches that they crossed, in all.
    pub crossed: u64,
    /// Events.
    pub events: u64,
    /// Whether latencies had settled before packets counted.
    pub settled: bool,
    /// When packets began to count, in picoseconds.
    pub begin: u64,
    /// When it ended.
    pub end: u64,
    /// Packets that were in the network at most.
    pub most: usize,
    /// Nothing moved any more.
    pub stalled: Option<Stalled>,
}

/// Beyond the end of all runs.
const NEVER: u64 = u64::MAX / 2;
/// Settling is looked at so many times in as long as packets will count, and so many times at most.
const INTERVALS: u64 = 5;
const MOST: u64 = 50;

struct Run<'n, R> {
    micro: &'n Micro,
    load: &'n Load,
    network: Network<'n, &'n R>,
    /// By terminal, its dice.
    random: Vec<Random>,
    measuring: Measuring,
    settling: Settling,
    /// When the next interval of settling is over; never, if it has, or is not waited for.
    interval: u64,
    settled: bool,
    measured: Measured,
    /// Logarithm of the probability that no packet is created in a tick.
    quiet: f64,
    /// Bytes that all terminals could send while it is measured.
    could: f64,
}

/// Simulates a load.
///
/// # Errors
/// If switches, packets and routing do not go together.
pub fn load<R: Routing>(
    net: &Net,
    micro: &Micro,
    routing: &R,
    load: &Load,
) -> Result<Outcome, Impossible> {
    let network = Network::new(net, micro, routing, load.bytes, load.seed)?;
    let terminals = net.terminal_count() as u32;
    let first = net.port(net.home(0));
    let chance = load.load * micro.tick as f64 / first.long(load.bytes) as f64;
    let mut run = Run {
        micro,
        load,
        network,
        random: (0..terminals).map(|t| Random::new(load.seed, u64::from(t) | 1 << 40)).collect(),
        measuring: match load.warmup {
            Some(long) => Measuring { from: long, to: long + load.measure },
            None => Measuring { from: NEVER, to: NEVER },
        },
        settling: Settling::default(),
        interval: if load.warmup.is_some() { NEVER } else { load.measure / INTERVALS },
        settled: load.warmup.is_some(),
        measured: Measured::new(),
        quiet: (-chance.min(1.0)).ln_1p(),
        could: f64::from(terminals) * load.measure as f64 * 65536.0 / first.long(65536) as f64,
    };
    Ok(run.go())
}

impl<R: Routing> Run<'_, R> {
    fn go(&mut self) -> Outcome {
        for t in 0..self.random.len() as u32 {
            if self.load.targets.sends(t) && self.load.load > 0.0 {
                self.next_birth(t, 0);
            }
        }
        let (mut births, mut sent, mut arrived) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = 0;
        while let Some(tick) = self.network.upcoming() {
            let now = tick * self.micro.tick;
            if now >= self.interval {
                self.settle(now);
            }
            let to = self.measuring.to;
            let over = now >= to && self.measured.packets == self.measured.created;
            // What was created last need not arrive where sources fall behind.
            let drain = if self.settled { self.load.drain } else { 0 };
            if over || now >= to + drain {
                break;
            }
            end = now;
            self.network.begin(tick, &mut births, &mut sent);
            for t in births.drain(..) {
                let Some(message) = self.birth(t, now) else { continue };
                self.network.send(t, message, now, &mut sent);
            }
            sent.clear();
            if let Some(stalled) = self.network.look_for_deadlock() {
                return self.outcome(end, Some(stalled));
            }
            self.network.finish(&mut arrived);
            for a in arrived.drain(..) {
                self.measured.arrived(&a.packet, a.when, &self.measuring);
                self.settling.arrived(a.when - a.packet.born);
            }
        }
        self.outcome(end, None)
    }

    /// An interval is over: packets count from now on, if latencies have settled, or never will.
    fn settle(&mut self, now: u64) {
        let long = self.load.measure / INTERVALS;
        let settled = self.settling.over();
        self.settled = settled == Settled::Yes;
        self.interval = now - now % long + long;
        if settled != Settled::NotYet || now >= MOST * long {
            self.interval = NEVER;
            self.measuring = Measuring { from: now, to: now + self.load.measure };
        }
    }

    fn outcome(&mut self, end: u64, stalled: Option<Stalled>) -> Outcome {
        let measured = std::mem::replace(&mut self.measured, Measured::new());
        Outcome {
            accepted: measured.bytes as f64 / self.could,
            missing: measured.created - measured.packets,
            measured,
            crossed: self.network.crossed(),
            events: self.network.event_count(),
            settled: self.settled,
            begin: self.measuring.from.min(end),
            end,
            most: self.network.most_packets(),
            stalled,
        }
    }

    /// A terminal creates a packet, and another one later.
    fn birth(&mut self, t: u32, now: u64) -> Option<Message> {
        self.next_birth(t, now);
        let to = self.load.targets.draw(t, &mut self.random[t as usize])?;
        self.measured.created += u64::from(self.measuring.counts(now));
        self.settling.created();
        Some(Message { number: 0, to, bytes: self.load.bytes.into(), path: 0, born: now })
    }

    fn next_birth(&mut self, t: u32, now: u64) {
        let gap = self.random[t as usize].part().ln() / self.quiet;
        #[expect(clippy::cast_sign_loss, reason = "both logarithms are below zero")]
        let tick = now / self.micro.tick + 1 + gap as u64;
        self.network.remind(tick, t);
    }
}
