//! A fabric, switches and a routing put together.

use darkfiber_fabric::{ChannelId, Shape, Topology, open};
use darkfiber_packetsim::routing::{self, AnyRouting, RoutingContext};
use darkfiber_packetsim::{
    ConfigError, Load, LoadOutcome, Net, Observer, SwitchModel, Targets, preset,
};
use darkfiber_routing::Routes;

pub(crate) struct Bench {
    pub(crate) topology: Topology,
    pub(crate) micro: SwitchModel,
    pub(crate) net: Net,
}

impl Bench {
    pub(crate) fn new(fabric: &str, switches: &str) -> Self {
        Self::of(open(fabric).expect("a fabric"), switches)
    }

    pub(crate) fn of(topology: Topology, switches: &str) -> Self {
        let mut micro = preset(switches).expect("a preset").micro();
        // The reference runs: 10 cycles in a group of a dragonfly, 100 between groups.
        if let Some(Shape::Dragonfly(d)) = &topology.shape {
            let fabric = &topology.fabric;
            let group = |s: usize| d.group[s];
            micro.latencies = (0..fabric.channel_count())
                .map(ChannelId::new)
                .map(|c| (group(fabric.tail(c).index()), group(fabric.head(c).index())))
                .map(|(a, b)| if a == b { 10_000 } else { 100_000 })
                .collect();
        }
        let net = Net::new(&topology.fabric, &micro);
        Self { topology, micro, net }
    }

    pub(crate) fn terminals(&self) -> u32 {
        self.net.terminal_count() as u32
    }

    /// A routing for packets of this size, if it suits the fabric.
    pub(crate) fn make<'a>(
        &'a self,
        name: &str,
        routes: Option<&'a Routes>,
        bytes: u32,
    ) -> Result<AnyRouting<'a>, ConfigError> {
        let kind = routing::kind(name).expect("registered");
        let given = RoutingContext {
            net: &self.net,
            fabric: &self.topology.fabric,
            shape: self.topology.shape.as_ref(),
            routes,
            bytes,
            adaptive: routing::Adaptive::default(),
        };
        routing::make(kind, &given)
    }

    /// Runs a load with a routing, the lanes that it needs, and an observer.
    pub(crate) fn follow(&self, name: &str, what: &Load, follow: &dyn Observer) -> LoadOutcome {
        let made = self.make(name, None, what.bytes).expect("it suits");
        let micro = SwitchModel { lanes: made.lanes(), ..self.micro.clone() };
        made.load(&self.net, &micro, what, follow).expect("it goes together")
    }

    /// Runs a load with a routing, with as many lanes as it needs, or these.
    pub(crate) fn run(
        &self,
        name: &str,
        routes: Option<&Routes>,
        lanes: u8,
        what: &Load,
    ) -> LoadOutcome {
        let made = self.make(name, routes, what.bytes).expect("it suits");
        let micro = SwitchModel { lanes: lanes.max(made.lanes()), ..self.micro.clone() };
        made.load(&self.net, &micro, what, &|_| {}).expect("it goes together")
    }
}

/// A load of this amount, in cycles of a nanosecond: warm-up is as long as the measurement.
pub(crate) fn load(targets: Targets, load: f64, bytes: u32, cycles: u64) -> Load {
    let long = cycles * 1000;
    Load {
        targets,
        load,
        bytes,
        message: bytes.into(),
        warmup: Some(long),
        measure: long,
        doublings: 0,
        drain: 4 * long,
        interval: None,
        parts: 1,
        processes: None,
        seed: 1,
    }
}

/// Pairs of hosts send to a third each, whose channel carries half of what each could send: less is carried, more is not.
#[test]
fn loads_beside_what_is_carried_are_told_apart() {
    let bench = Bench::new("fattree2:n=24,m=1,r=1", "booksim-iq");
    let pairs: Vec<[u32; 2]> =
        (0..8).flat_map(|k| [0, 1].map(|i| [3 * k + i, 3 * k + 2])).collect();
    let is_behind = |at: f64, seed: u64| {
        let what = load(Targets::pairs(24, &pairs), at, 16, 1600);
        let what = Load { warmup: None, doublings: 4, seed, ..what };
        let found = bench.run("minimal", None, 1, &what);
        found.fell_behind || found.missing > 0
    };
    for seed in 1..=16 {
        assert!(!is_behind(0.45, seed), "{seed}: 90 % of what is carried");
        assert!(is_behind(0.53, seed), "{seed}: 6 % more than is carried");
    }
}
