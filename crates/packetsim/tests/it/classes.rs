//! Traffic classes.

use darkfiber_fabric::TerminalId;
use darkfiber_packetsim::routing::AnyRouting;
use darkfiber_packetsim::{PacketsFor, Parts, TrafficClass};
use darkfiber_workload::play::{Departure, HOSTS, NetworkModel, PathChoice};

use crate::bench::Bench;

/// Sends this number of messages of a packet each from every terminal to one in another group, and counts those that overtake
/// one of the same pair.
fn overtaken(bench: &Bench, routing: &AnyRouting<'_>, messages: u32) -> usize {
    let mut micro = bench.micro.clone();
    micro.lanes = routing.lanes();
    let what = PacketsFor {
        net: &bench.net,
        micro: &micro,
        fabric: &bench.topology.fabric,
        host: &HOSTS[0],
        bytes: 256,
        parts: Parts::alone(1),
        seed: 1,
        choice: PathChoice::Routes,
        paths: 1,
        class: None,
    };
    let mut wire = routing.packets(what).expect("they go together");
    let n = bench.terminals();
    let depart = |message: u32| {
        let (from, to) = (message % n, (message % n + n / 2 + 1) % n);
        let [from, to] = [from, to].map(|t| TerminalId::new(t as usize));
        // A connection for each: nothing holds messages in order but switches.
        let ranks = [message, message];
        Departure { message, job: 0, from, to, ranks, bytes: 256, of: 256 }
    };
    let all: Vec<Departure> = (0..n * messages).map(depart).collect();
    let mut delivered = Vec::new();
    wire.depart(0, &all, &mut delivered);
    while let Some(now) = wire.upcoming() {
        wire.advance(now, &mut delivered);
    }
    assert_eq!(delivered.len(), all.len(), "every message arrives");
    delivered.sort_by_key(|d| d.arrives);
    let mut last = vec![0; n as usize];
    let overtakes = |&d: &u32| {
        let last = &mut last[(d % n) as usize];
        *last = d.max(*last);
        d < *last
    };
    delivered.iter().map(|d| d.message).filter(overtakes).count()
}

/// With adaptive routing packets overtake each other, except those that stay in order, which still take non-minimal paths: by
/// default, or as their class sets.
#[test]
fn packets_stay_in_order_where_they_are_to() {
    for name in ["four-ways", "slingshot", "aries"] {
        let run = |of_switches: bool, of_class: Option<Option<bool>>| {
            let mut bench = Bench::new("dragonfly:p=2,a=4,h=2", "rosetta");
            assert!(bench.micro.ordered, "Rosetta keeps order");
            bench.micro.ordered = of_switches;
            let class = |ordered| TrafficClass { ordered, ..TrafficClass::plain("only") };
            bench.micro.classes = of_class.map(class).into_iter().collect();
            let made = bench.make(name, None, 256).expect("it suits");
            overtaken(&bench, &made, 300)
        };
        for (of_switches, of_class, stays) in [
            (false, None, false),
            (true, None, true),
            (true, Some(None), true),
            (true, Some(Some(false)), false),
            (false, Some(Some(true)), true),
        ] {
            let overtaken = run(of_switches, of_class);
            let is = if stays { overtaken == 0 } else { overtaken > 100 };
            assert!(is, "{name}, {of_switches}, {of_class:?}: {overtaken}");
        }
    }
}
