//! BookSim2's results on the dragonfly of 1,056 hosts, four a router, links of 1, 10 and 100 cycles (peer runs of one seed).

use darkfiber_packetsim::Targets;

use crate::bench::{Bench, load};

#[test]
fn the_dragonfly_of_booksim() {
    let bench = Bench::new("dragonfly:p=4,a=8,h=4", "booksim-iq");
    // Load, flits, latency, routers a packet, and how near: flits of several packets mix on a channel there and wait for each
    // other, packets go in one piece here, which shows in the last row.
    for (rate, flits, latency, routers, near) in [
        (0.2, 1, 132.59, 3.902, 0.03),
        (0.5, 1, 141.57, 4.078, 0.03),
        (0.2, 16, 158.98, 3.923, 0.03),
        (0.5, 16, 210.06, 4.119, 0.04),
    ] {
        let uniform = Targets::uniform(bench.terminals());
        let found = bench.run("booksim-ugal", None, 1, &load(uniform, rate, flits, 1500));
        let is = found.measured.mean() / 1000.0;
        assert!((is / latency - 1.0).abs() < near, "{rate} {flits}: {is}, not {latency}");
        let hops = found.measured.mean_hops();
        assert!((hops / routers - 1.0).abs() < 0.03, "{rate} {flits}: {hops}, not {routers}");
        assert!((found.accepted - rate).abs() < 0.01 && found.missing == 0);
    }
}

/// BookSim2's flattened butterfly of 900 hosts (eight channels of 32 flits) and its tree of 1,000 (four of 16), one flit a packet:
/// latency, routers a packet, and accepted throughput at a load of 1.
#[test]
fn the_hyperx_and_the_tree_of_booksim() {
    for (fabric, routing, lanes, buffer, rows, most) in [
        (
            "hyperx:dims=10x10,t=9",
            "booksim-hyperx",
            8,
            32,
            [(0.2, 11.20, 2.953), (0.5, 12.13, 2.935), (0.8, 15.20, 2.898)],
            0.990,
        ),
        (
            "kary:k=10,n=3",
            "minimal",
            4,
            16,
            [(0.2, 16.86, 4.782), (0.5, 18.40, 4.780), (0.8, 24.09, 4.780)],
            0.972,
        ),
    ] {
        let mut bench = Bench::new(fabric, "booksim-iq");
        bench.micro.buffer = buffer;
        let uniform = Targets::uniform(bench.terminals());
        for (rate, latency, routers) in rows {
            let found = bench.run(routing, None, lanes, &load(uniform.clone(), rate, 1, 1500));
            let (is, hops) = (found.measured.mean() / 1000.0, found.measured.mean_hops());
            assert!((is / latency - 1.0).abs() < 0.03, "{fabric} {rate}: {is}, not {latency}");
            assert!((hops / routers - 1.0).abs() < 0.02, "{fabric} {rate}: {hops}, not {routers}");
        }
        let found = bench.run(routing, None, lanes, &load(uniform, 1.0, 1, 900));
        assert!((found.accepted / most - 1.0).abs() < 0.05, "{fabric}: {}", found.accepted);
    }
}

/// CAMINOS 0.6.3: a tree of 1,000 hosts with adaptive up paths and one of 672 on a HyperX with two deroutes, four channels of
/// 64 phits.
#[test]
fn the_tree_and_the_hyperx_of_caminos() {
    let is = |fabric: &str, routing: &str, rate: f64, phits: u32| {
        let mut bench = Bench::new(fabric, "caminos-basic");
        bench.micro.buffer = 64;
        let what = load(Targets::uniform(bench.terminals()), rate, phits, 2000);
        let found = bench.run(routing, None, 4, &what);
        (found.measured.mean() / 1000.0, found.accepted)
    };
    let near = |is: f64, should: f64, by: f64| {
        assert!((is / should - 1.0).abs() < by, "{is}, not {should}");
    };
    near(is("kary:k=10,n=3", "adaptive", 0.5, 1).0, 8.19, 0.03);
    near(is("kary:k=10,n=3", "adaptive", 1.0, 16).1, 0.866, 0.05);
    near(is("hyperx:dims=12x8,t=7", "omniwar", 0.5, 16).0, 37.9, 0.03);
    near(is("hyperx:dims=12x8,t=7", "omniwar", 1.0, 16).1, 0.840, 0.05);
}

/// BookSim2's dragonfly and ours where every group sends to the next one: latency is a multiple of that under uniform
/// traffic, and its source routing carries less than Valiant's half; routing with more knowledge carries more.
#[test]
fn adversarial_trends() {
    let bench = Bench::new("dragonfly:p=4,a=8,h=4", "booksim-iq");
    let next = Targets::blocks(bench.terminals(), 32, 1);
    let run =
        |routing: &str, rate: f64| bench.run(routing, None, 1, &load(next.clone(), rate, 1, 2000));
    let low = run("booksim-ugal", 0.15);
    let latency = low.measured.mean() / 1000.0;
    assert!(latency > 2.0 * 132.59 && low.measured.mean_hops() > 5.5, "{latency}");
    let accepted = |routing: &str| run(routing, 0.45).accepted;
    let (source, all) = (accepted("booksim-ugal"), accepted("ugal-global"));
    assert!(source < 0.4 && all > source + 0.02, "{source} {all}");
}
