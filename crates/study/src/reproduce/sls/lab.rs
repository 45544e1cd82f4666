//! Slingshot systems, quiet or full.

use std::sync::Arc;

use darkfiber_fabric::{ChannelId, Shape, TerminalId, Topology, open};
use darkfiber_packetsim::routing::{Adaptive, RoutingContext, kind, make};
use darkfiber_packetsim::{Framing, Load, LoadOutcome, Net, SwitchModel, Targets, framing};
use darkfiber_routing::{Request, Routes, find_engine};
use darkfiber_workload::play::{Host, Job, Record, Repeat};
use darkfiber_workload::schedule::{Program, Script};

use crate::reproduce::machine::free;
use darkfiber_scenario::{Medium, PacketOptions, Setup, simulate};

/// Copper cables are up to 2.6 m long (section II-B), at 5 ns a metre.
pub(super) const COPPER: u32 = 13_000;
/// Optical ones are up to 100 m. Decision: 10 m between the four groups of Malbec, or the eight of Shandy.
pub(super) const OPTICAL: u32 = 50_000;

/// A system without other jobs: its switches are `rosetta`, its packets those of RoCEv2.
pub(super) struct Quiet {
    pub(super) topology: Topology,
    pub(super) micro: SwitchModel,
    pub(super) net: Net,
    routes: Routes,
}

impl Quiet {
    pub(super) fn new(fabric: &str) -> Self {
        let topology = open(fabric).expect("a preset");
        let f = &topology.fabric;
        let Some(Shape::Dragonfly(d)) = &topology.shape else { unreachable!("a dragonfly") };
        let local = |c: ChannelId| d.group[f.tail(c).index()] == d.group[f.head(c).index()];
        let latency = |c: usize| if local(ChannelId::new(c)) { COPPER } else { OPTICAL };
        let micro = SwitchModel {
            latencies: (0..f.channel_count()).map(latency).collect(),
            host_cable: Some(COPPER),
            framing: framing("roce").expect("registered"),
            ..free("rosetta")
        };
        let net = Net::new(f, &micro);
        let engine = find_engine("dragonfly-min").expect("registered");
        let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
        let routes = engine.route(f, &request).expect("it routes dragonflies");
        Self { topology, micro, net, routes }
    }

    /// Its tables, by shortest paths.
    pub(super) fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Packets with this number of data bytes, at random, for this number of picoseconds: arrivals after half of that
    /// time.
    pub(super) fn load(
        &self,
        routing: &str,
        targets: Targets,
        load: f64,
        bytes: u32,
        measure: u64,
        seed: u64,
    ) -> LoadOutcome {
        let what = Load {
            targets,
            load,
            bytes,
            message: bytes.into(),
            warmup: Some(measure / 2),
            measure,
            doublings: 0,
            drain: 0,
            interval: None,
            parts: self.net.parts(),
            processes: None,
            seed,
        };
        let given = RoutingContext {
            net: &self.net,
            fabric: &self.topology.fabric,
            shape: self.topology.shape.as_ref(),
            routes: None,
            bytes,
            adaptive: Adaptive::default(),
        };
        let made = make(kind(routing).expect("registered"), &given).expect("it suits a dragonfly");
        let micro = SwitchModel { lanes: made.lanes().max(1), ..self.micro.clone() };
        made.load(&self.net, &micro, &what, &|_| {}).expect("it goes together")
    }

    /// Runs a program on some terminals, packet by packet, and returns its messages.
    pub(super) fn run(
        &self,
        host: &Host,
        script: Script,
        terminals: &[TerminalId],
        each: &mut dyn FnMut(&Record),
    ) -> u64 {
        let program = Arc::new(Program::once(script.finish().expect("every send is received")));
        let jobs = [Job { program, terminals: terminals.to_vec(), start: 0, repeat: Repeat::Once }];
        let minimal = kind("minimal").expect("registered");
        let setup = Setup {
            medium: Medium::Packet(Box::new(PacketOptions::new(self.micro.clone(), minimal, 4096))),
            ..Setup::new(&self.topology, &self.routes, host, &jobs)
        };
        simulate(&setup, each).expect("everybody receives what is sent").end
    }
}

/// The part of the channel between two terminals of a switch that carries data, if packets of this size follow each other.
pub(super) fn full_channel(framing: &'static Framing, bytes: u32, seed: u64) -> f64 {
    let topology = open("hyperx:dims=1,t=2,gbps=200").expect("a spec");
    let micro = SwitchModel { framing, ..free("rosetta") };
    let net = Net::new(&topology.fabric, &micro);
    let what = Load {
        targets: Targets::pairs(2, &[[0, 1]]),
        load: 1.0,
        bytes,
        message: bytes.into(),
        // Long enough for sources that create at random to fall behind for good.
        warmup: Some(5_000_000_000),
        measure: 5_000_000_000,
        doublings: 0,
        drain: 0,
        interval: None,
        parts: 1,
        processes: None,
        seed,
    };
    let given = RoutingContext {
        net: &net,
        fabric: &topology.fabric,
        shape: topology.shape.as_ref(),
        routes: None,
        bytes,
        adaptive: Adaptive::default(),
    };
    let made = make(kind("minimal").expect("registered"), &given).expect("it suits any fabric");
    let found = made.load(&net, &micro, &what, &|_| {}).expect("it goes together");
    // One of the two sends.
    2.0 * found.accepted
}
