//! Every routing: all packets arrive, once, within its bound of switches; at a low load by shortest ways.

use darkfiber_packetsim::routing::ROUTINGS;
use darkfiber_packetsim::{Arbitration, Queues, Targets};
use darkfiber_routing::{Request, find_engine};

use crate::bench::{Bench, load};

const FABRICS: [&str; 4] =
    ["dragonfly:p=2,a=4,h=2", "hyperx:dims=4x3,t=3", "kary:k=4,n=2", "torus:dims=4x4,t=2"];

#[test]
fn packets_arrive() {
    for fabric in FABRICS {
        for queues in [Queues::Lanes, Queues::Outputs, Queues::Memory] {
            let mut bench = Bench::new(fabric, "booksim-iq");
            bench.micro.queues = queues;
            let engine = find_engine("dfsssp").expect("registered");
            let request = Request { lanes: 8, ..Request::default() };
            let routes = engine.route(&bench.topology.fabric, &request).expect("routes");
            for kind in &ROUTINGS {
                if kind.name == "dal" && !fabric.starts_with("hyperx") {
                    continue;
                }
                let run = |rate: f64| {
                    let uniform = Targets::uniform(bench.terminals());
                    bench.run(kind.name, Some(&routes), 1, &load(uniform, rate, 16, 4000))
                };
                let what = format!("{fabric} {queues:?} {}", kind.name);
                let low = run(0.02);
                let m = &low.measured;
                assert!(low.missing == 0 && m.packets == m.created && m.packets > 0, "{what}");
                if kind.name != "valiant" {
                    assert!(m.round * 20 < m.packets, "{what}: {} of {}", m.round, m.packets);
                }
                // Far beyond what any of them can carry packets go on, and none locks.
                let high = run(1.0);
                assert!(high.stalled.is_none() && high.accepted > 0.2, "{what}: {}", high.accepted);
            }
        }
    }
}

/// Whatever parts a network is simulated in, and whatever waits for what, the same comes out to the last bit.
#[test]
fn parts_do_not_matter() {
    // Buffers that are small enough for packets to wait for room in the next one.
    for (fabric, routing, buffer) in [
        ("dragonfly:p=2,a=4,h=2", "ugal", 128),
        ("hyperx:dims=4x3,t=3", "dal", 32),
        ("kary:k=4,n=2", "adaptive", 32),
        ("torus:dims=4x4,t=2", "tables", 32),
    ] {
        let mut bench = Bench::new(fabric, "booksim-iq");
        let engine = find_engine("dfsssp").expect("registered");
        let request = Request { lanes: 8, ..Request::default() };
        let routes = engine.route(&bench.topology.fabric, &request).expect("routes");
        for (queues, arbitration, errors) in [
            (Queues::Lanes, Arbitration::RoundRobin, 0.0),
            (Queues::Outputs, Arbitration::Islip, 1e-4),
            (Queues::Memory, Arbitration::Age, 0.0),
        ] {
            (bench.micro.queues, bench.micro.arbitration) = (queues, arbitration);
            (bench.micro.bit_errors, bench.micro.buffer) = (errors, buffer);
            let run = |parts: usize| {
                let mut what = load(Targets::uniform(bench.terminals()), 0.7, 16, 4000);
                (what.parts, what.warmup, what.interval) = (parts, None, Some(777_000));
                let found = bench.run(routing, Some(&routes), 1, &what);
                assert_eq!(found.again > 0, errors > 0.0);
                let m = found.measured;
                let packets =
                    (m.packets, m.latency, m.longest, m.hops, m.round, m.bytes, m.created);
                let all = (found.crossed, found.events, found.begin, found.end, found.most);
                (packets, m.batches, m.latencies, all, found.series.expect("it was kept"))
            };
            let one = run(1);
            assert!(one.0.0 > 0 && one.3.0 > 10_000, "{fabric} {queues:?}");
            assert!(one.4.stalled.iter().any(|s| *s > 0), "{fabric} {queues:?}");
            for parts in [2, 3, 6] {
                assert!(run(parts) == one, "{fabric} {queues:?} {parts}");
            }
        }
    }
}

#[test]
fn the_same_again_and_otherwise_with_another_seed() {
    let bench = Bench::new("dragonfly:p=2,a=4,h=2", "booksim-iq");
    let run = |seed: u64| {
        let mut what = load(Targets::uniform(bench.terminals()), 0.5, 16, 4000);
        what.seed = seed;
        let found = bench.run("ugal", None, 1, &what);
        (found.measured.latency, found.crossed, found.events)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let bench = Bench::new("dragonfly:p=2,a=4,h=2", "booksim-iq");
    let given = darkfiber_packetsim::routing::Given {
        net: &bench.net,
        fabric: &bench.topology.fabric,
        shape: bench.topology.shape.as_ref(),
        routes: None,
        bytes: 16,
    };
    let make = |name: &str| {
        let kind = darkfiber_packetsim::routing::kind(name).expect("registered");
        darkfiber_packetsim::routing::make(kind, &given)
    };
    assert!(make("dal").expect_err("no HyperX").to_string().contains("HyperX"));
    assert!(make("tables").expect_err("no tables").to_string().contains("--routes"));
    let ugal = make("ugal").expect("it suits");
    let what = load(Targets::uniform(bench.terminals()), 0.5, 16, 100);
    let refused = |micro: &darkfiber_packetsim::Micro| {
        ugal.load(&bench.net, micro, &what, &|_| {})
            .expect_err("it does not go together")
            .to_string()
    };
    assert!(refused(&bench.micro).contains("needs 6 virtual lanes"));
    let mut small = bench.micro.clone();
    (small.lanes, small.buffer) = (6, 8);
    assert!(refused(&small).contains("no room for a packet of 16 B"));
}
