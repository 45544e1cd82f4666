//! Runs with a given load: every terminal creates packets again and again.

use std::collections::VecDeque;
use std::hint::black_box;

use crate::deadlock::{Stalled, Watch};
use crate::measure::{Measured, Measuring, Settled, Settling};
use crate::packet::{NOBODY, Packet, Slab};
use crate::routing::Routing;
use crate::switch::{Hands, Left, Switches};
use crate::wheel::{Event, What, Wheel};
use crate::{Impossible, Micro, Net, Peer, Random, Targets};

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
    /// Packets that were in the network and its sources at most.
    pub most: usize,
    /// Nothing moved any more.
    pub stalled: Option<Stalled>,
}

/// A terminal that sends.
#[derive(Clone, Debug)]
struct Sender {
    /// Packets that wait.
    queue: VecDeque<u32>,
    /// When its channel is free.
    channel: u64,
    /// The lane of its next packet.
    lane: u8,
    woken: bool,
    random: Random,
}

/// Beyond the end of all runs.
const NEVER: u64 = u64::MAX / 2;
/// Settling is looked at so many times in as long as packets will count, and so many times at most.
const INTERVALS: u64 = 5;
const MOST: u64 = 50;

struct Run<'n, R> {
    net: &'n Net,
    micro: &'n Micro,
    routing: &'n R,
    load: &'n Load,
    measuring: Measuring,
    settling: Settling,
    /// When the next interval of settling is over; never, if it has, or is not waited for.
    interval: u64,
    settled: bool,
    switches: Switches<'n>,
    senders: Vec<Sender>,
    /// By terminal and lane, room in its switch.
    credits: Vec<u32>,
    packets: Slab,
    wheel: Wheel,
    measured: Measured,
    left: Vec<Left>,
    events: u64,
    /// Logarithm of the probability that no packet is created in a tick, by terminal.
    quiet: f64,
    /// Who looks for deadlock, when, and how often: nothing that is under way takes longer.
    watch: Watch,
    looks: u64,
    patience: u64,
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
    micro.check(load.bytes)?;
    if routing.lanes() > micro.lanes {
        return Err(Impossible(format!(
            "this routing needs {} virtual lanes to be free of deadlock, and there are {}",
            routing.lanes(),
            micro.lanes
        )));
    }
    if net.quickest(load.bytes) < micro.tick {
        return Err(Impossible(format!(
            "a packet of {} B passes a channel in less than a tick of {} ps: make it longer",
            load.bytes, micro.tick
        )));
    }
    let terminals = net.terminal_count() as u32;
    let first = net.port(net.home(0));
    let chance = load.load * micro.tick as f64 / first.long(load.bytes) as f64;
    let sender = |t: u32| Sender {
        queue: VecDeque::new(),
        channel: 0,
        lane: 0,
        woken: false,
        random: Random::new(load.seed, u64::from(t) | 1 << 40),
    };
    let mut run = Run {
        net,
        micro,
        routing,
        load,
        measuring: match load.warmup {
            Some(long) => Measuring { from: long, to: long + load.measure },
            None => Measuring { from: NEVER, to: NEVER },
        },
        settling: Settling::default(),
        interval: if load.warmup.is_some() { NEVER } else { load.measure / INTERVALS },
        settled: load.warmup.is_some(),
        switches: Switches::new(net, micro, load.seed),
        senders: (0..terminals).map(sender).collect(),
        credits: vec![micro.buffer; terminals as usize * micro.lanes as usize],
        packets: Slab::default(),
        wheel: Wheel::new(micro.tick),
        measured: Measured::new(),
        left: Vec::new(),
        events: 0,
        quiet: (-chance.min(1.0)).ln_1p(),
        watch: Watch::default(),
        looks: 0,
        patience: net.slowest(load.bytes) * 4 + 4 * (micro.pipeline + micro.credit),
    };
    Ok(run.go())
}

impl<R: Routing> Run<'_, R> {
    fn go(&mut self) -> Outcome {
        for t in 0..self.senders.len() as u32 {
            if self.load.targets.sends(t) && self.load.load > 0.0 {
                self.next_birth(t, 0);
            }
        }
        let mut events = Vec::new();
        let mut end = 0;
        while let Some(tick) = self.wheel.upcoming() {
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
            self.wheel.take(tick, &mut events);
            self.events += events.len() as u64;
            self.approach(&events);
            for &event in &events {
                self.happens(event, now);
            }
            if let Some(stalled) = self.look_for_deadlock(now) {
                return self.outcome(end, Some(stalled));
            }
            let Self { packets, wheel, left, .. } = self;
            self.switches.act(now, self.routing, &mut Hands { packets, wheel, left });
            for Left { packet, when } in self.left.drain(..) {
                let packet = self.packets.remove(packet);
                self.measured.arrived(&packet, when, &self.measuring);
                self.settling.arrived(when - packet.born);
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
        let terminals = self.senders.len() as f64;
        let could = terminals * self.load.measure as f64 * 65536.0
            / self.net.port(self.net.home(0)).long(65536) as f64;
        let measured = std::mem::replace(&mut self.measured, Measured::new());
        Outcome {
            accepted: measured.bytes as f64 / could,
            missing: measured.created - measured.packets,
            measured,
            crossed: self.switches.crossed,
            events: self.events,
            settled: self.settled,
            begin: self.measuring.from.min(end),
            end,
            most: self.packets.most(),
            stalled,
        }
    }

    /// Whether packets wait for each other for ever; looked at now and then.
    fn look_for_deadlock(&mut self, now: u64) -> Option<Stalled> {
        if now < self.looks {
            return None;
        }
        self.looks = now + self.patience;
        let cycle = self.watch.look(&self.switches.waits(&self.packets))?;
        Some(Stalled { when: now, packets: self.packets.count(), cycle })
    }

    /// Has the cache fetch packets that arrive, many at once: they are far from each other, and nobody looked at them since
    /// they left.
    #[inline]
    fn approach(&self, events: &[Event]) {
        let arrivals = events.iter().filter(|e| e.what() == What::Arrival);
        black_box(arrivals.fold(0, |all, e| all ^ self.packets.of(e.with()).to));
    }

    #[inline]
    fn happens(&mut self, event: Event, now: u64) {
        let (place, with) = (event.place(), event.with());
        match event.what() {
            What::Arrival => self.switches.arrive(place, with),
            What::Credit => self.switches.credit(place, (with >> 24) as u8, with & 0xff_ffff),
            What::Output => self.switches.wake_output(place),
            What::Input => self.switches.wake_input(place),
            What::TerminalCredit => {
                let lane = (with >> 24) as usize;
                self.credits[place as usize * self.micro.lanes as usize + lane] += with & 0xff_ffff;
                self.send(place, now);
            }
            What::Terminal => {
                self.senders[place as usize].woken = false;
                self.send(place, now);
            }
            What::Birth => self.birth(place, now),
        }
    }

    /// A terminal creates a packet, and another one later.
    fn birth(&mut self, t: u32, now: u64) {
        self.next_birth(t, now);
        let sender = &mut self.senders[t as usize];
        let Some(to) = self.load.targets.draw(t, &mut sender.random) else { return };
        let counts = self.measuring.counts(now);
        self.measured.created += u64::from(counts);
        self.settling.created();
        let packet = Packet {
            born: now,
            at: now,
            from: t,
            to,
            via: NOBODY,
            bytes: self.load.bytes,
            next: NOBODY,
            out: 0,
            port: 0,
            lane: 0,
            next_lane: 0,
            hops: 0,
            phase: 0,
            round: false,
        };
        sender.queue.push_back(self.packets.add(packet));
        self.send(t, now);
    }

    fn next_birth(&mut self, t: u32, now: u64) {
        let sender = &mut self.senders[t as usize];
        let gap = sender.random.part().ln() / self.quiet;
        #[expect(clippy::cast_sign_loss, reason = "both logarithms are below zero")]
        let tick = now / self.micro.tick + 1 + gap as u64;
        self.wheel.push(tick, Event::new(What::Birth, t, 0));
    }

    /// A terminal sends what it can in this tick.
    fn send(&mut self, t: u32, now: u64) {
        let (micro, lanes) = (self.micro, usize::from(self.micro.lanes));
        let home = self.net.home(t);
        let port = self.net.port(home);
        debug_assert_eq!(port.peer(), Peer::Terminal(t));
        let sender = &mut self.senders[t as usize];
        while let Some(&id) = sender.queue.front() {
            if sender.channel >= now + micro.tick {
                if !std::mem::replace(&mut sender.woken, true) {
                    self.wheel.within(sender.channel, Event::new(What::Terminal, t, 0));
                }
                return;
            }
            let bytes = self.load.bytes;
            // Lanes into the first switch are all alike: nothing waits behind them.
            let credits = &mut self.credits[t as usize * lanes..(t as usize + 1) * lanes];
            let by_turns = (0..lanes).map(|i| (usize::from(sender.lane) + i) % lanes);
            let Some(lane) = by_turns.into_iter().find(|&l| credits[l] >= bytes) else { return };
            credits[lane] -= bytes;
            sender.lane = ((lane + 1) % lanes) as u8;
            sender.queue.pop_front();
            let packet = self.packets.of_mut(id);
            let departs = sender.channel.max(now);
            sender.channel = departs + port.long(bytes);
            packet.at = departs + u64::from(port.latency);
            packet.lane = lane as u8;
            self.wheel.after(packet.at, Event::new(What::Arrival, home, id));
        }
    }
}
