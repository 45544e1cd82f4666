//! Every routing: all packets arrive, once, within its bound of switches; at a low load by shortest paths.

use std::io::{Cursor, Read, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use darkfiber_packetsim::routing::ROUTINGS;
use darkfiber_packetsim::{Arbitration, Load, LoadOutcome, Observer, Pulse, Queues, Targets};
use darkfiber_routing::{Request, find_engine};

use crate::bench::{Bench, load};

const HYPERX: [&str; 4] = ["dal", "dimwar", "omniwar", "booksim-hyperx"];
const DRAGONFLY: [&str; 2] = ["aries", "ofar"];

/// Fabrics, and routings that do not suit them, in the order of the registry.
fn fabrics() -> [(&'static str, Vec<&'static str>); 12] {
    let no_grid = ["dal", "dor", "dimwar", "omniwar", "booksim-hyperx"].to_vec();
    let neither = [no_grid.as_slice(), &DRAGONFLY].concat();
    let but_ofar = [no_grid.as_slice(), &["ofar"]].concat();
    let no_hyperx = [HYPERX.as_slice(), &DRAGONFLY].concat();
    let no_dragonfly = DRAGONFLY.to_vec();
    [
        ("dragonfly:p=2,a=4,h=2", no_grid.clone()),
        ("dragonfly:p=2,a=3,h=1", no_grid.clone()),
        ("dragonfly:p=3,a=4,g=3,per_pair=4", no_grid),
        ("cascade:groups=4,rows=2,cols=4,p=2,blue=8", but_ofar.clone()),
        ("dragonflyplus:leaves=3,spines=3,p=2,h=2", but_ofar),
        ("hyperx:dims=4x3,t=3", no_dragonfly.clone()),
        ("hyperx:dims=3x2x4,t=2", no_dragonfly.clone()),
        ("hyperx:dims=4x4,t=3,trunk=2x1", no_dragonfly),
        ("kary:k=4,n=2", neither),
        ("torus:dims=4x4,t=2", no_hyperx.clone()),
        ("torus:dims=6x2x3,t=1", no_hyperx.clone()),
        ("mesh:dims=3x4,t=1", no_hyperx),
    ]
}

#[test]
fn packets_arrive() {
    all_arrive(2000);
}

#[test]
#[ignore = "slow: longer beyond saturation, in the nightly tier"]
fn packets_arrive_for_longer() {
    all_arrive(4000);
}

/// At a low load, and for so many cycles beyond saturation.
fn all_arrive(beyond: u64) {
    for (fabric, unsuited) in fabrics() {
        for queues in [Queues::Lanes, Queues::Outputs, Queues::Memory] {
            let mut bench = Bench::new(fabric, "booksim-iq");
            bench.micro.queues = queues;
            let engine = find_engine("dfsssp").expect("registered");
            let request = Request { lanes: 8, ..Request::default() };
            let routes = engine.route(&bench.topology.fabric, &request).expect("routes");
            let mut refused = Vec::new();
            for kind in &ROUTINGS {
                if let Err(why) = bench.make(kind.name, Some(&routes), 16) {
                    assert!(
                        why.0.starts_with(&format!("{} needs a ", kind.name)),
                        "{fabric}: {why}"
                    );
                    refused.push(kind.name);
                    continue;
                }
                let run = |rate: f64, cycles: u64| {
                    let uniform = Targets::uniform(bench.terminals());
                    bench.run(kind.name, Some(&routes), 1, &load(uniform, rate, 16, cycles))
                };
                let what = format!("{fabric} {queues:?} {}", kind.name);
                let low = run(0.02, 4000);
                let m = &low.measured;
                assert!(low.missing == 0 && m.packets == m.created && m.packets > 0, "{what}");
                if kind.name != "valiant" {
                    assert!(m.round * 20 < m.packets, "{what}: {} of {}", m.round, m.packets);
                }
                // Far beyond saturation packets still move, and no routing deadlocks.
                let high = run(1.0, beyond);
                assert!(high.stalled.is_none() && high.accepted > 0.2, "{what}: {}", high.accepted);
            }
            assert_eq!(refused, unsuited, "{fabric}");
        }
    }
}

/// The result is the same to the last bit for any number of parts, whatever packets wait for.
#[test]
fn parts_do_not_matter() {
    same_in_parts(&[3, 6]);
}

#[test]
#[ignore = "slow: in two parts, too, in the nightly tier"]
fn two_parts_do_not_matter() {
    same_in_parts(&[2]);
}

fn same_in_parts(all: &[usize]) {
    // Buffers that are small enough for packets to wait for credits.
    for (fabric, routing, buffer) in [
        ("dragonfly:p=2,a=4,h=2", "ugal", 128),
        ("hyperx:dims=4x3,t=3", "dal", 32),
        ("kary:k=4,n=2", "adaptive", 32),
        ("torus:dims=4x4,t=2", "tables", 32),
        ("dragonfly:p=2,a=4,h=2", "ugal-global", 128),
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
                // Some packets are shorter than others.
                what.message = if errors > 0.0 { 41 } else { 16 };
                let found = bench.run(routing, Some(&routes), 1, &what);
                assert_eq!(found.again > 0, errors > 0.0);
                let m = found.measured;
                let packets =
                    (m.packets, m.latency, m.longest, m.hops, m.round, m.bytes, m.created);
                let all = (found.crossed, found.events, found.begin, found.end, found.most);
                (packets, m.batches, m.latencies, all, found.series.expect("it was kept"))
            };
            let one = run(1);
            assert!(one.0.6 > 0 && one.3.0 > 10_000, "{fabric} {queues:?}");
            assert!(one.4.stalled.iter().any(|s| *s > 0), "{fabric} {queues:?}");
            for &parts in all {
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
    let given = darkfiber_packetsim::routing::RoutingContext {
        net: &bench.net,
        fabric: &bench.topology.fabric,
        shape: bench.topology.shape.as_ref(),
        routes: None,
        bytes: 16,
        adaptive: darkfiber_packetsim::routing::Adaptive::default(),
    };
    let make = |name: &str| {
        let kind = darkfiber_packetsim::routing::kind(name).expect("registered");
        darkfiber_packetsim::routing::make(kind, &given)
    };
    assert!(make("dal").expect_err("no HyperX").to_string().contains("HyperX"));
    assert!(make("tables").expect_err("no tables").to_string().contains("--routes"));
    let ugal = make("ugal").expect("it suits");
    let what = load(Targets::uniform(bench.terminals()), 0.5, 16, 100);
    let refused = |micro: &darkfiber_packetsim::SwitchModel| {
        ugal.load(&bench.net, micro, &what, &|_| {})
            .expect_err("it does not go together")
            .to_string()
    };
    assert!(refused(&bench.micro).contains("needs 6 virtual lanes"));
    let mut small = bench.micro.clone();
    (small.lanes, small.buffer) = (6, 8);
    assert!(refused(&small).contains("no room for a packet of 16 B"));
}

/// Every switch of a HyperX sends to one other: dimension-ordered paths carry the capacity of the cables between two
/// neighbours; adaptive routing takes non-minimal paths through other switches of the same lines.
#[test]
fn a_hyperx_goes_round() {
    for (fabric, hosts, further, cables) in [
        ("hyperx:dims=8x8,t=8", 8, 1, 1.0),
        ("hyperx:dims=8x8,t=8", 8, 9, 1.0),
        ("hyperx:dims=4x4x4,t=4", 4, 21, 1.0),
        ("hyperx:dims=6x4,t=8,trunk=3x2", 8, 1, 2.0),
    ] {
        let bench = Bench::new(fabric, "booksim-iq");
        let shift = Targets::blocks(bench.terminals(), hosts, further);
        let is = |name: &str| bench.run(name, None, 1, &load(shift.clone(), 0.45, 16, 3000));
        let (ordered, bound) = (is("dor"), cables / f64::from(hosts));
        assert_eq!(ordered.measured.round, 0);
        let straight = ordered.accepted;
        assert!(
            straight < 1.01 * bound && straight > 0.85 * bound,
            "{fabric} +{further}: {straight}"
        );
        for name in ["dimwar", "omniwar", "booksim-hyperx"] {
            let (accepted, what) = (is(name).accepted, format!("{fabric} +{further} {name}"));
            // BookSim's is weighed at the first switch only, by its first output.
            let least = if name == "booksim-hyperx" { 1.35 * straight } else { 0.44 };
            assert!(accepted > least, "{what}: {accepted}, {straight} straight");
        }
    }
}

/// Every group of a dragonfly sends to the next one: minimal paths carry the capacity of the cables between two
/// groups.
#[test]
fn a_dragonfly_goes_round() {
    for (fabric, group, least) in [
        ("dragonfly:p=4,a=8,h=4", 32, 0.4),
        ("dragonfly:p=2,a=4,h=2", 8, 0.4),
        ("cascade:groups=6,rows=3,cols=4,p=4,blue=8", 48, 0.35),
        ("dragonflyplus:leaves=4,spines=4,p=4,h=4,g=17", 16, 0.35),
    ] {
        let bench = Bench::new(fabric, "booksim-iq");
        let next = Targets::blocks(bench.terminals(), group, 1);
        let uniform = Targets::uniform(bench.terminals());
        let is = |name: &str, to: &Targets, rate: f64| {
            bench.run(name, None, 1, &load(to.clone(), rate, 16, 3000))
        };
        let straight = is("minimal", &next, 0.5).accepted;
        for name in DRAGONFLY {
            if bench.make(name, None, 16).is_err() {
                assert!(name == "ofar" && !fabric.starts_with("dragonfly:"), "{fabric} {name}");
                continue;
            }
            let accepted = is(name, &next, 0.5).accepted;
            assert!(accepted > least && accepted > 2.0 * straight, "{fabric} {name}: {accepted}");
            // Where shortest paths are enough, most packets take them.
            let even = is(name, &uniform, 0.5);
            let (round, packets) = (even.measured.round, even.measured.packets);
            assert!(
                even.accepted > 0.48 && round * 3 < packets,
                "{fabric} {name}: {round} of {packets}"
            );
        }
    }
}

#[test]
fn what_does_not_suit_is_named() {
    for (fabric, name, needs) in [
        ("kary:k=4,n=2", "dor", "dor needs a whole HyperX, torus or mesh"),
        ("torus:dims=4x4,t=1", "dimwar", "dimwar needs a whole HyperX"),
        ("mesh:dims=4x4,t=1", "omniwar", "omniwar needs a whole HyperX"),
        ("dragonfly:p=2,a=4,h=2", "booksim-hyperx", "booksim-hyperx needs a whole HyperX"),
        ("hyperx:dims=4x4,t=1", "aries", "aries needs a dragonfly"),
        ("kary:k=4,n=2", "ofar", "ofar needs a dragonfly"),
        ("cascade:groups=3,rows=2,cols=4,p=2,blue=8", "ofar", "groups are fully connected"),
    ] {
        let why =
            Bench::new(fabric, "booksim-iq").make(name, None, 16).expect_err("no suit").to_string();
        assert!(why.contains(needs), "{fabric} {name}: {why}");
    }
}

/// Saves a run repeatedly, and keeps only the first `times` states.
struct Keeper {
    /// Number of calls, and the maximum number of saves.
    asked: AtomicUsize,
    times: usize,
    state: Mutex<Vec<u8>>,
}

impl Observer for Keeper {
    fn pulse(&self, _: Pulse) {}

    fn is_due(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) < self.times
    }

    fn keep(&self, write: &dyn Fn(&mut dyn Write) -> std::io::Result<()>, _: bool) {
        // At its end a run is kept, too.
        if self.asked.load(Ordering::Relaxed) <= self.times {
            let mut state = self.state.lock().expect("nobody panicked");
            state.clear();
            write(&mut *state).expect("memory takes it");
        }
    }

    fn kept(&self) -> Option<Box<dyn Read + '_>> {
        let state = self.state.lock().expect("nobody panicked").clone();
        if state.is_empty() { None } else { Some(Box::new(Cursor::new(state))) }
    }
}

/// A run that is resumed from a saved state, with any number of parts, has the same result.
#[test]
fn a_run_goes_on() {
    let mut bench = Bench::new("dragonfly:p=2,a=4,h=2", "booksim-iq");
    bench.micro.buffer = 128;
    for (routing, parts) in [("ugal", 1), ("ugal-global", 3)] {
        let mut what = load(Targets::uniform(bench.terminals()), 0.7, 16, 4000);
        (what.parts, what.warmup, what.interval) = (parts, None, Some(777_000));
        let all = |found: LoadOutcome| {
            let m = found.measured;
            let series = found.series.expect("it was kept");
            assert!(m.packets > 1000 && series.len() > 10);
            (m, found.crossed, found.events, found.begin, found.end, found.most, series)
        };
        let whole = all(bench.run(routing, None, 1, &what));
        for times in [1, 7, 1 << 30] {
            let asked = AtomicUsize::new(0);
            let keeper = Keeper { asked, times, state: Mutex::default() };
            assert!(all(bench.follow(routing, &what, &keeper)) == whole, "{routing}: followed");
            assert!(!keeper.state.lock().expect("nobody panicked").is_empty());
            let again = Load { parts: 5, ..what.clone() };
            assert!(all(bench.follow(routing, &again, &keeper)) == whole, "{routing} {times}");
        }
    }
    let state = Mutex::new(vec![7; 99]);
    let keeper = Keeper { asked: AtomicUsize::new(0), times: 0, state };
    let made = bench.make("ugal", None, 16).expect("it suits");
    let what = load(Targets::uniform(bench.terminals()), 0.1, 16, 100);
    let damaged = made.load(&bench.net, &bench.micro, &what, &keeper).expect_err("no run");
    assert!(damaged.0.contains("damaged"), "{damaged}");
}
