//! Every routing: all packets arrive, once, within its bound of switches; at a low load by shortest ways.

use darkfiber_packetsim::routing::ROUTINGS;
use darkfiber_packetsim::{Queues, Targets};
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
    for (fabric, unsuited) in fabrics() {
        for queues in [Queues::Lanes, Queues::Outputs] {
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
                eprintln!("{what}: {:.3} {}", high.accepted, m.round as f64 / m.packets as f64);
                assert!(high.stalled.is_none() && high.accepted > 0.2, "{what}: {}", high.accepted);
            }
            assert_eq!(refused, unsuited, "{fabric}");
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
        ugal.load(&bench.net, micro, &what).expect_err("it does not go together").to_string()
    };
    assert!(refused(&bench.micro).contains("needs 6 virtual lanes"));
    let mut small = bench.micro.clone();
    (small.lanes, small.buffer) = (6, 8);
    assert!(refused(&small).contains("no room for a packet of 16 B"));
}
