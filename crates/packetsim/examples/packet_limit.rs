//! Hops a second of darkfiber, and of a kernel that carries the packets of the same run and decides nothing: the limit.
//!
//! `cargo run --release -p darkfiber-packetsim --example packet_limit -- FABRIC ROUTING LOAD BYTES CYCLES LANES BUFFER [CABLE GLOBAL]`
//!
//! A run of darkfiber is recorded: which output and lane each packet takes at each switch. The kernel repeats it, with the least that a
//! simulation by credits has to do: a hop is an arrival, a departure and a credit, each pushed to and taken from a wheel of time, and
//! touches five cache lines: the packet, its path, its output, the queue of its lane and that lane's credits. No choices, arbiters,
//! classes, statistics or checks. Its work must not change: docs/benchmarks.md has its rate on the day beside rates of darkfiber.
//!
//! CYCLES of 1 ns are simulated, a byte passes a channel in one; CABLE and GLOBAL are latencies of cables within and between groups of a
//! dragonfly, in cycles.

#![expect(clippy::print_stdout, reason = "this is what it is for")]

use std::error::Error;
use std::sync::Mutex;
use std::time::Instant;

use darkfiber_fabric::{ChannelId, Shape, open};
use darkfiber_packetsim::routing::{
    self, Adaptive, AnyRouting, Routing, RoutingContext, SwitchView, WithRouting,
};
use darkfiber_packetsim::{Load, Net, Packet, Peer, SwitchModel, Targets, load, preset};

/// Picoseconds of a cycle.
const CYCLE: u64 = 1_000;
/// Both run this often, in turn; the quickest run counts.
const RUNS: usize = 3;
/// Slots of the wheel of time, in cycles: no event is further ahead.
const SLOTS: usize = 4_096;
const NONE: u32 = u32::MAX;

fn main() -> Result<(), Box<dyn Error>> {
    // The kernel has one thread.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [spec, name, offered, bytes, cycles, lanes, buffer, cables @ ..] = args.as_slice() else {
        return Err("FABRIC ROUTING LOAD BYTES CYCLES LANES BUFFER [CABLE GLOBAL]".into());
    };
    let (bytes, cycles): (u32, u64) = (bytes.parse()?, cycles.parse()?);
    let topology = open(spec)?;
    let fabric = &topology.fabric;
    let mut switches = SwitchModel {
        lanes: lanes.parse()?,
        buffer: buffer.parse()?,
        ..preset("caminos-basic")?.micro()
    };
    if let ([cable, global], Some(Shape::Dragonfly(d))) = (cables, &topology.shape) {
        let (cable, global): (u32, u32) = (cable.parse()?, global.parse()?);
        let is_global = |c| d.group[fabric.tail(c).index()] != d.group[fabric.head(c).index()];
        let channels = (0..fabric.channel_count()).map(ChannelId::new);
        let cycles = channels.map(|c| if is_global(c) { global } else { cable });
        switches.latencies = cycles.map(|cycles| cycles * CYCLE as u32).collect();
    }
    let net = Net::new(fabric, &switches);
    let made = routing::make(
        routing::kind(name)?,
        &RoutingContext {
            net: &net,
            fabric,
            shape: topology.shape.as_ref(),
            routes: None,
            bytes,
            adaptive: Adaptive::default(),
        },
    )?;
    switches.lanes = switches.lanes.max(made.lanes());
    let what = Load {
        targets: Targets::uniform(net.terminal_count() as u32),
        load: offered.parse()?,
        bytes,
        message: bytes.into(),
        warmup: Some(cycles * CYCLE / 2),
        measure: cycles * CYCLE / 2,
        doublings: 0,
        drain: cycles * CYCLE,
        interval: None,
        // As many as `saturate` has on one thread.
        parts: net.parts(),
        processes: None,
        seed: 1,
    };
    let record = Recorded { inner: &made, hops: Mutex::new(Vec::new()) };
    load(&net, &switches, &record, &what, &|_| {})?;
    let paths = Paths::of(record.hops.into_inner().expect("no thread failed"), &net);

    let (mut ours, mut limit) = (0.0_f64, 0.0_f64);
    for _ in 0..RUNS {
        let begin = Instant::now();
        let outcome = made.load(&net, &switches, &what, &|_| {})?;
        ours = ours.max(outcome.crossed as f64 / begin.elapsed().as_secs_f64());
        let mut kernel = Kernel::new(&net, &switches, bytes);
        let begin = Instant::now();
        kernel.run(&paths)?;
        limit = limit.max(paths.hops.len() as f64 / begin.elapsed().as_secs_f64());
    }
    println!("darkfiber {ours:.0} hops/s, limit {limit:.0} hops/s, {:.2} of it", ours / limit);
    Ok(())
}

/// A routing whose decisions are written down.
struct Recorded<'a> {
    inner: &'a AnyRouting<'a>,
    hops: Mutex<Vec<Decision>>,
}

/// What was decided for a packet at a switch.
#[derive(Clone, Copy)]
struct Decision {
    /// When the packet was created, in picoseconds, and the terminal: they tell packets apart.
    born: u64,
    from: u32,
    /// The lane that it came in.
    entered: u8,
    /// The output, by number of the network, and the lane.
    out: u32,
    lane: u8,
}

/// A call of [`Routing::route`].
struct Route<'c, 'v> {
    here: &'c mut SwitchView<'v>,
    packet: &'c mut Packet,
}

impl WithRouting<'_> for Route<'_, '_> {
    type Out = (u32, u8);

    fn with<R: Routing>(self, routing: &R) -> Self::Out {
        routing.route(self.here, self.packet)
    }
}

impl Routing for Recorded<'_> {
    fn lanes(&self) -> u8 {
        self.inner.lanes()
    }

    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        let Packet { born, from, lane: entered, .. } = *packet;
        let (out, lane) = self.inner.with(Route { here, packet });
        let out_of_all = here.net.base(here.switch) + out;
        let decision = Decision { born, from, entered, out: out_of_all, lane };
        self.hops.lock().expect("no thread failed").push(decision);
        (out, lane)
    }
}

/// The paths of all packets, those created first in front.
struct Paths {
    packets: Vec<Created>,
    /// Outputs and lanes, those of a packet together: eight bits of lane, the output above.
    hops: Vec<u32>,
}

/// A packet, its path by the range of its hops.
struct Created {
    cycle: u64,
    from: u32,
    lane: u8,
    first: u32,
}

impl Paths {
    /// Those of packets that arrived before the run ended.
    fn of(mut decisions: Vec<Decision>, net: &Net) -> Self {
        // Decisions for a packet stay in their order.
        decisions.sort_by_key(|d| (d.born, d.from));
        let mut paths = Self { packets: Vec::new(), hops: Vec::new() };
        for packet in decisions.chunk_by(|a, b| (a.born, a.from) == (b.born, b.from)) {
            if net.next(packet[packet.len() - 1].out).is_some() {
                continue;
            }
            let Decision { born, from, entered, .. } = packet[0];
            let first = paths.hops.len() as u32;
            paths.packets.push(Created { cycle: born / CYCLE, from, lane: entered, first });
            paths.hops.extend(packet.iter().map(|d| d.out << 8 | u32::from(d.lane)));
        }
        paths
    }
}

/// A packet under way: four are in a cache line.
#[repr(align(16))]
#[derive(Clone, Copy)]
struct Line {
    /// The next one of its queue.
    next: u32,
    /// Its next hop.
    hop: u32,
    /// The output that it came from and the lane, whose credit it has: eight bits of lane, the output above.
    back: u32,
}

/// An output of a switch or a terminal: two are in a cache line.
#[repr(align(32))]
#[derive(Clone, Copy, Default)]
struct Output {
    /// Lanes with packets.
    waiting: u64,
    /// The cycle from which it may send.
    free: u64,
    /// Cycles of its cable.
    latency: u32,
    /// Whether a departure is in the wheel.
    departs: bool,
    /// The lane that was served last.
    served: u8,
    /// Whether a terminal is behind it.
    ends: bool,
}

/// The queue of a lane.
#[derive(Clone, Copy)]
struct Queue {
    first: u32,
    last: u32,
}

/// What happens in a cycle.
#[derive(Clone, Default)]
struct Events {
    /// Packets that arrive at switches.
    arrivals: Vec<u32>,
    /// Outputs that may send.
    departures: Vec<u32>,
    /// Lanes that have room again, as [`Line::back`].
    credits: Vec<u32>,
}

/// The kernel. Outputs are those of switches, then those of terminals.
struct Kernel {
    bytes: u32,
    outputs: Vec<Output>,
    /// By output and lane.
    queues: Vec<Queue>,
    credits: Vec<u32>,
    /// Bits of a lane in the indices of queues and credits.
    bits: u32,
    packets: Vec<Line>,
    free: Vec<u32>,
    wheel: Vec<Events>,
    now: u64,
    first_terminal: u32,
}

impl Kernel {
    fn new(net: &Net, switches: &SwitchModel, bytes: u32) -> Self {
        let ports = (0..net.port_count() as u32).map(|p| {
            let port = net.port(p);
            (port.latency, matches!(port.peer(), Peer::Terminal(_)))
        });
        let terminals =
            (0..net.terminal_count() as u32).map(|t| (net.port(net.home(t)).latency, false));
        let outputs: Vec<Output> = ports
            .chain(terminals)
            .map(|(latency, ends)| {
                let latency = (latency / CYCLE as u32).max(1);
                Output { latency, ends, ..Output::default() }
            })
            .collect();
        let bits = switches.lanes.next_power_of_two().ilog2();
        let lanes = outputs.len() << bits;
        Self {
            bytes,
            queues: vec![Queue { first: NONE, last: NONE }; lanes],
            credits: vec![switches.buffer; lanes],
            outputs,
            bits,
            packets: Vec::new(),
            free: Vec::new(),
            wheel: vec![Events::default(); SLOTS],
            now: 0,
            first_terminal: net.port_count() as u32,
        }
    }

    /// Carries all packets to their ends.
    fn run(&mut self, paths: &Paths) -> Result<(), String> {
        let mut created = paths.packets.iter().peekable();
        let (mut left, mut hops) = (paths.packets.len(), 0);
        let mut events = Events::default();
        while left > 0 {
            while let Some(packet) = created.next_if(|p| p.cycle <= self.now) {
                let at = self.add(Line { hop: packet.first, back: NONE, next: NONE });
                self.queue(at, self.first_terminal + packet.from, packet.lane);
            }
            std::mem::swap(&mut events, self.after(0));
            hops += events.arrivals.len();
            for packet in events.arrivals.drain(..) {
                let line = &mut self.packets[packet as usize];
                let hop = paths.hops[line.hop as usize];
                line.hop += 1;
                self.queue(packet, hop >> 8, hop as u8);
            }
            for out in events.departures.drain(..) {
                left -= usize::from(self.depart(out));
            }
            for lane in events.credits.drain(..) {
                self.credit(lane >> 8, lane as u8);
            }
            self.now += 1;
            if self.now > 1 << 40 {
                return Err("packets wait for each other".to_owned());
            }
        }
        if hops != paths.hops.len() {
            return Err(format!("{hops} hops instead of {}", paths.hops.len()));
        }
        Ok(())
    }

    fn add(&mut self, line: Line) -> u32 {
        if let Some(at) = self.free.pop() {
            self.packets[at as usize] = line;
            return at;
        }
        self.packets.push(line);
        self.packets.len() as u32 - 1
    }

    /// What happens this many cycles from now.
    fn after(&mut self, cycles: u32) -> &mut Events {
        &mut self.wheel[(self.now as usize + cycles as usize) % SLOTS]
    }

    /// A packet joins the queue of an output.
    fn queue(&mut self, packet: u32, out: u32, lane: u8) {
        self.packets[packet as usize].next = NONE;
        let queue = &mut self.queues[(out as usize) << self.bits | usize::from(lane)];
        let last = std::mem::replace(&mut queue.last, packet);
        if last == NONE {
            queue.first = packet;
        } else {
            self.packets[last as usize].next = packet;
        }
        self.outputs[out as usize].waiting |= 1 << lane;
        self.wake(out);
    }

    /// An output that may have something to send departs as soon as it is free.
    fn wake(&mut self, out: u32) {
        let output = &mut self.outputs[out as usize];
        if !output.departs {
            output.departs = true;
            let after = output.free.saturating_sub(self.now).max(1);
            self.after(after as u32).departures.push(out);
        }
    }

    /// The first packet of the next lane with credits leaves. Returns whether it is at its end.
    fn depart(&mut self, out: u32) -> bool {
        let output = &mut self.outputs[out as usize];
        output.departs = false;
        let mut lanes = output.waiting;
        let lanes_from = (out as usize) << self.bits;
        let at = |lane: u32| lanes_from | lane as usize;
        let lane = loop {
            if lanes == 0 {
                return false;
            }
            // Lanes behind the one that was served last, then those before it.
            let behind = lanes & (!1 << output.served);
            let lane = (if behind == 0 { lanes } else { behind }).trailing_zeros();
            if output.ends || self.credits[at(lane)] >= self.bytes {
                break lane;
            }
            lanes &= !(1 << lane);
        };
        output.served = lane as u8;
        output.free = self.now + u64::from(self.bytes);
        let (latency, ends) = (output.latency, output.ends);
        let queue = &mut self.queues[at(lane)];
        let packet = queue.first;
        let line = &mut self.packets[packet as usize];
        queue.first = line.next;
        if queue.first == NONE {
            queue.last = NONE;
            output.waiting &= !(1 << lane);
        }
        let back = std::mem::replace(&mut line.back, out << 8 | lane);
        if output.waiting != 0 {
            self.wake(out);
        }
        if back != NONE {
            let cycles = self.bytes + self.outputs[(back >> 8) as usize].latency;
            self.after(cycles).credits.push(back);
        }
        if ends {
            self.free.push(packet);
            return true;
        }
        self.credits[at(lane)] -= self.bytes;
        self.after(latency).arrivals.push(packet);
        false
    }

    /// Room for a packet is back.
    fn credit(&mut self, out: u32, lane: u8) {
        self.credits[(out as usize) << self.bits | usize::from(lane)] += self.bytes;
        if self.outputs[out as usize].waiting >> lane & 1 == 1 {
            self.wake(out);
        }
    }
}
