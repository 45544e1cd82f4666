//! Results that are known without simulation.

use darkfiber_fabric::{FabricBuilder, LinkClass, Switch, SwitchId, Topology};
use darkfiber_packetsim::{Arbitration, Queues, Targets};

use crate::bench::{Bench, load};

/// BookSim2's formula: all cables, two cycles a router, the flits.
#[test]
fn a_lone_packet_takes_what_the_formula_says() {
    let bench = Bench::new("dragonfly:p=4,a=8,h=4", "booksim-iq");
    // Terminal 0 is on the first router; the places of others come from the network.
    let net = &bench.net;
    let mut seen = [0; 5];
    for to in [1u32, 5, 20, 31, 33, 40, 70, 300, 500, 700, 900, 1000, 1055] {
        for bytes in [1u32, 16] {
            let pair = Targets::pairs(bench.terminals(), &[[0, to]]);
            let found = bench.run("minimal", None, 1, &load(pair, 0.002, bytes, 60_000));
            let m = &found.measured;
            assert!(m.packets > 0 && found.missing == 0, "{to}");
            let routers = m.hops / m.packets;
            assert_eq!(m.hops, routers * m.packets);
            let same_group = net.switch_of(0) / 8 == net.switch_of(to) / 8;
            let cables = match (routers, same_group) {
                (1, _) => 0,
                (2, true) => 10,
                (2, false) => 100,
                (3, false) => 110,
                (4, false) => 120,
                other => panic!("{other:?}"),
            };
            seen[routers as usize] += 1;
            let cycles = 2 + cables + 2 * routers + u64::from(bytes);
            assert_eq!(m.latencies.min(), cycles, "to {to}, {bytes} flits");
        }
    }
    assert!(seen[1..].iter().all(|&n| n > 0), "{seen:?}");
}

/// One queue with random arrivals and equal packets: M/D/1 (Pollaczek, Khinchine).
#[test]
fn one_queue_is_as_long_as_queueing_theory_says() {
    // Arbitration changes which packets wait, not the total wait.
    for (queues, arbitration) in [
        (Queues::Lanes, Arbitration::RoundRobin),
        (Queues::Outputs, Arbitration::RoundRobin),
        (Queues::Outputs, Arbitration::Age),
    ] {
        let mut bench = Bench::new("hyperx:dims=1,t=60", "booksim-iq");
        (bench.micro.queues, bench.micro.arbitration) = (queues, arbitration);
        (bench.micro.buffer, bench.micro.speedup) = (4096, 64);
        for rho in [0.3f64, 0.6, 0.8] {
            let pairs: Vec<[u32; 2]> = (1..60).map(|t| [t, 0]).collect();
            let targets = Targets::pairs(60, &pairs);
            let found = bench.run("minimal", None, 1, &load(targets, rho / 59.0, 16, 2_000_000));
            let waits = 16.0 * rho / (2.0 * (1.0 - rho));
            // Two cables of a cycle, two cycles in the router, sixteen flits.
            let should = 20.0 + waits;
            let is = found.measured.mean() / 1000.0;
            // A source cannot send two packets at once, which takes a little of the queue.
            assert!((is - should).abs() < 0.03 * should, "{queues:?} {rho}: {is}, not {should}");
        }
    }
}

/// A load is a part of each host's own cable, whichever host comes first: a slow one that sends to a fast one, and the other way round.
#[test]
fn hosts_of_several_rates_send_by_their_own() {
    for labels in [["4xSDR", "4xQDR"], ["4xQDR", "4xSDR"]] {
        let mut b = FabricBuilder::new("mixed");
        let classes = labels.map(|label| b.class(LinkClass::infiniband(label).expect("a label")));
        b.add_switch(Switch { ports: 8, ..Switch::default() });
        for i in 0..8u8 {
            let class = classes[usize::from(i % 2)];
            b.add_host_on(SwitchId(0), i + 1, &format!("h{i}"), class).expect("free");
        }
        let fabric = b.finish().expect("sound");
        let bench = Bench::of(Topology { fabric, shape: None }, "qdr");
        // Each host sends to another of the same rate.
        let pairs: Vec<[u32; 2]> = (0..8).map(|t| [t, (t + 2) % 8]).collect();
        for part in [0.2, 0.5] {
            let what = load(Targets::pairs(8, &pairs), part, 2048, 4_000_000);
            let found = bench.run("minimal", None, 1, &what);
            let (created, accepted) = (found.created, found.accepted);
            assert!((created / part - 1.0).abs() < 0.05, "{labels:?} {part}: created {created}");
            assert!((accepted / part - 1.0).abs() < 0.05, "{labels:?} {part}: accepted {accepted}");
            let sent = found.measured.created_bytes as f64 / 4e-3;
            // Four cables of 1 GB/s, and four of 4 GB/s.
            assert!((sent / (part * 20e9) - 1.0).abs() < 0.05, "{labels:?} {part}: {sent} B/s");
        }
    }
}

/// However long the warm-up, and however short the measurement: packets that count are waited for.
#[test]
fn what_counts_arrives_after_a_long_warm_up() {
    let bench = Bench::new("dragonfly:p=2,a=4,h=2", "booksim-iq");
    let mut what = load(Targets::uniform(bench.terminals()), 0.3, 16, 1000);
    what.warmup = Some(100_000_000);
    let found = bench.run("minimal", None, 1, &what);
    let m = &found.measured;
    assert!(m.packets > 500 && m.packets == m.created && found.missing == 0, "{}", found.missing);
}

/// A full fat-tree carries permutations and uniform traffic at full load; its channels bound what an oversubscribed one does.
/// Packets of a message that are created at once: the wait of M/D/1 whose customers are messages, and for the packets of their
/// own that are before them. In which order packets of several messages go does not matter, since all take as long.
#[test]
fn bursts_wait_for_themselves() {
    let bench = Bench::new("kary:k=2,n=1", "booksim-iq");
    let (long, k) = (16.0, 8u32);
    let run = |load_: f64| {
        let mut what = load(Targets::pairs(2, &[[0, 1], [1, 0]]), load_, 16, 4_000_000);
        what.message = u64::from(16 * k);
        bench.run("minimal", None, 1, &what)
    };
    let one = {
        let what = load(Targets::pairs(2, &[[0, 1], [1, 0]]), 0.01, 16, 400_000);
        bench.run("minimal", None, 1, &what).measured.mean() / 1000.0
    };
    for rho in [0.1, 0.3, 0.6] {
        let found = run(rho);
        assert!((found.accepted / rho - 1.0).abs() < 0.1 && found.missing == 0, "{rho}");
        let before = rho / (2.0 * (1.0 - rho)) * long * f64::from(k);
        let own = f64::from(k - 1) / 2.0 * long;
        let (is, should) = (found.measured.mean() / 1000.0, one + before + own);
        assert!((is / should - 1.0).abs() < 0.05, "{rho}: {is}, {should}");
    }
}

/// The shared buffer of lanes is as good as their own: all of it if there is one lane, so that a long cable is full; and with
/// more lanes the bytes that each sends in turn. A lane that borrows all of it takes nothing from the others' own buffers.
#[test]
fn lanes_share_what_is_not_their_own() {
    let run = |lanes: u8, own: u32, shared: u32| {
        let mut bench = Bench::new("hyperx:dims=2,t=2,gbps=100", "rosetta");
        // There and back, a cable carries about 50 KB.
        bench.micro.latencies.fill(2_000_000);
        bench.micro.latencies.resize(bench.topology.fabric.channel_count(), 2_000_000);
        (bench.micro.buffer, bench.micro.shared_buffer) = (own, shared);
        let net = darkfiber_packetsim::Net::new(&bench.topology.fabric, &bench.micro);
        let bench = Bench { net, ..bench };
        let what = load(Targets::pairs(4, &[[0, 2], [1, 3]]), 0.8, 1024, 50_000);
        let found = bench.run("minimal", None, lanes, &what);
        (found.accepted, found.measured.mean())
    };
    let alone = run(1, 16 << 10, 0);
    assert_eq!(run(1, 4 << 10, 12 << 10), alone);
    let ample = run(1, 128 << 10, 0);
    assert!(alone.0 < 0.6 * ample.0, "{alone:?} {ample:?}");
    assert_eq!(run(1, 4 << 10, 124 << 10), ample);
    let shared = run(4, 2 << 10, 120 << 10);
    assert!(shared.0 > 0.95 * ample.0 && run(4, 2 << 10, 0).0 < 0.6 * ample.0, "{shared:?}");
}

#[test]
fn a_tree_carries_what_its_channels_do() {
    let accepted = |tree: &str, rate: f64| {
        let mut bench = Bench::new(tree, "booksim-iq");
        (bench.micro.queues, bench.micro.buffer) = (Queues::Outputs, 64);
        let uniform = Targets::uniform(bench.terminals());
        bench.run("adaptive", None, 4, &load(uniform, rate, 1, 3000)).accepted
    };
    assert!(accepted("kary:k=4,n=3", 0.95) > 0.93);
    // Half the channels up: 15 of 16 packets leave the leaf of eight hosts, on four channels.
    let bound = 0.5 / (1.0 - 8.0 / 64.0);
    let is = accepted("pgft:m=8x8,w=1x4,p=1x1", 1.0);
    assert!(is < bound * 1.005 && is > 0.93 * bound, "{is} of {bound}");
}

/// To the next group there is one channel for 32 hosts: minimal paths carry a 32nd, random ones half.
#[test]
fn the_worst_case_of_a_dragonfly() {
    let bench = Bench::new("dragonfly:p=4,a=8,h=4", "booksim-iq");
    let next = Targets::blocks(bench.terminals(), 32, 1);
    let is = |name: &str, rate: f64| {
        bench.run(name, None, 1, &load(next.clone(), rate, 16, 3000)).accepted
    };
    let minimal = is("minimal", 0.2);
    assert!((minimal - 1.0 / 32.0).abs() < 0.004, "{minimal}");
    let valiant = is("valiant", 0.6);
    assert!(valiant > 0.38 && valiant < 0.51, "{valiant}");
}

/// Outputs grant packets ahead of their channels; by interval these carry what they can, and in all what was sent.
#[test]
fn no_channel_carries_more_in_an_interval_than_it_can() {
    for (switches, bytes, interval) in [("booksim-iq", 16, 100_000), ("qdr", 2048, 1_000_000)] {
        let bench = Bench::new("dragonfly:p=2,a=4,h=2", switches);
        let mut what = load(Targets::uniform(bench.terminals()), 0.9, bytes, 40_000);
        what.interval = Some(interval);
        let found = bench.run("minimal", None, 1, &what);
        let series = found.series.expect("it was kept");
        let (mut most, mut all) = (0.0f64, 0);
        for i in 0..series.len() {
            for (port, &sent) in (0..).zip(series.at(&series.bytes, i)) {
                let full = (interval << 16) as f64 / bench.net.port(port).pace as f64;
                most = most.max(f64::from(sent) / full);
                // A part of a byte is rounded at either end.
                assert!(f64::from(sent) <= full + 1.0, "{switches}: {sent} B of {full:.0}");
                all += u64::from(sent);
            }
        }
        assert!(most > 0.95, "{switches}: {most}");
        // What crossed a switch was sent, but for what was under way.
        let sent = found.crossed * u64::from(bytes);
        assert!(all <= sent && all > sent - sent / 50, "{switches}: {all} of {sent}");
    }
}
