//! Flits of several packets on one channel.

use darkfiber_packetsim::{Arbitration, Congestion, Interleave, Queues, SwitchModel, Targets};
use darkfiber_routing::{Request, find_engine};

use crate::bench::{Bench, load};

fn flits(fabric: &str, buffer: u32) -> Bench {
    let mut bench = Bench::new(fabric, "booksim-iq");
    (bench.micro.interleave, bench.micro.buffer) = (Interleave::Flits, buffer);
    bench
}

/// A lone packet is not delayed: it takes the same time as without flits, also in buffers that it does not fit into.
#[test]
fn a_lone_packet_takes_as_long_in_flits() {
    for buffer in [4, 256] {
        let bench = flits("dragonfly:p=2,a=4,h=2", buffer);
        for (bytes, to) in [(1u32, 1u32), (16, 1), (16, 3), (16, 70), (33, 70)] {
            let what = load(Targets::pairs(bench.terminals(), &[[0, to]]), 0.01, bytes, 20_000);
            let found = bench.run("minimal", None, 1, &what);
            let m = &found.measured;
            assert!(m.packets > 0 && found.missing == 0);
            assert!(
                m.bytes > 0 && m.bytes.is_multiple_of(u64::from(bytes)),
                "whole packets arrive"
            );
            let (routers, group) = (m.hops / m.packets, |t: u32| bench.net.switch_of(t) / 4);
            let cables = match (routers, group(0) == group(to)) {
                (1, _) => 0,
                (2, true) => 10,
                (n, _) => 100 + 10 * (n - 2),
            };
            // Credits of a buffer of four flits come back too late for a channel that never rests.
            let least = 2 + cables + 2 * routers + u64::from(bytes);
            assert!(m.latencies.min() == least || buffer == 4 && m.latencies.min() > least, "{to}");
        }
    }
}

/// An output to which many send at once, with a lane for each: packets share it as a processor that all jobs take turns on, where a
/// packet in one piece waits until those before it are through (M/D/1 processor sharing; L. Kleinrock, Time-Shared Systems, J. ACM 14, 1967).
#[test]
fn packets_in_flits_share_a_channel() {
    let mut bench = flits("hyperx:dims=1,t=60", 4096);
    // Waiting packets wait at the inputs.
    (bench.micro.speedup, bench.micro.output_buffer) = (1, Some(1));
    for rho in [0.3f64, 0.6] {
        let pairs: Vec<[u32; 2]> = (1..60).map(|t| [t, 0]).collect();
        let what = load(Targets::pairs(60, &pairs), rho / 59.0, 16, 600_000);
        let mean = |lanes: u8| bench.run("minimal", None, lanes, &what).measured.mean() / 1000.0;
        // Two cables of a cycle and two cycles in the router; a lane for everybody, or one for all.
        let shared = 4.0 + 16.0 / (1.0 - rho);
        let queued = 20.0 + 16.0 * rho / (2.0 * (1.0 - rho));
        let (many, one) = (mean(32), mean(1));
        assert!((many / shared - 1.0).abs() < 0.04, "{rho}: {many}, not {shared}");
        assert!((one / queued - 1.0).abs() < 0.04, "{rho}: {one}, not {queued}");
    }
}

/// The result is the same to the last bit for any number of parts.
#[test]
fn parts_do_not_matter() {
    for (fabric, routing, buffer) in [
        ("dragonfly:p=2,a=4,h=2", "ugal", 24),
        ("hyperx:dims=4x3,t=3", "dor", 8),
        ("kary:k=4,n=2", "adaptive", 16),
    ] {
        let mut bench = flits(fabric, buffer);
        bench.micro.bit_errors = 1e-4;
        let run = |parts: usize| {
            let mut what = load(Targets::uniform(bench.terminals()), 0.5, 16, 800);
            // Some packets are shorter than others.
            (what.parts, what.message) = (parts, 41);
            let found = bench.run(routing, None, 4, &what);
            assert!(found.stalled.is_none() && found.again > 0);
            let m = found.measured;
            let packets = (m.packets, m.latency, m.longest, m.hops, m.round, m.bytes, m.created);
            (packets, m.batches, found.crossed, found.events, found.begin, found.end, found.most)
        };
        let one = run(1);
        assert!(one.0.6 > 0 && one.2 > 1000, "{fabric}");
        for parts in [2, 5] {
            assert_eq!(run(parts), one, "{fabric} {parts}");
        }
    }
}

/// Tables with cycles on one lane deadlock, and those whose layers have none do not, however short buffers are.
#[test]
fn one_lane_locks_and_layers_do_not() {
    for (fabric, buffer) in [("hyperx:dims=4x4,t=4", 8), ("torus:dims=5x5,t=3", 32)] {
        let bench = flits(fabric, buffer);
        let what = load(Targets::uniform(bench.terminals()), 0.9, 16, 10_000);
        for (engine, locks) in [("sssp", true), ("dfsssp", false)] {
            let request = Request { lanes: 8, ..Request::default() };
            let made = find_engine(engine).expect("registered");
            let routes = made.route(&bench.topology.fabric, &request).expect("routes");
            let found = bench.run("tables", Some(&routes), 1, &what);
            assert_eq!(found.stalled.is_some(), locks, "{fabric} {engine}");
            assert!(locks || found.accepted > 0.1, "{fabric}: {}", found.accepted);
        }
    }
}

/// BookSim2 with packets of 16 flits (runs of one seed): a HyperX of 64 hosts, eight channels of 32 flits, and a torus of 64, four of 64.
/// Within 4 %: theirs and ours are short.
#[test]
fn booksim_with_sixteen_flits() {
    for (fabric, routing, lanes, buffer, rate, latency) in [
        ("hyperx:dims=4x4,t=4", "booksim-hyperx", 8, 32, 0.5, 56.45),
        ("hyperx:dims=4x4,t=4", "dor", 8, 64, 0.5, 54.03),
        ("torus:dims=8x8,t=1", "dor", 4, 64, 0.6, 87.99),
    ] {
        let mut bench = flits(fabric, buffer);
        bench.micro.cable = Some(1000);
        bench.net = darkfiber_packetsim::Net::new(&bench.topology.fabric, &bench.micro);
        let what = load(Targets::uniform(64), rate, 16, 8000);
        let is = bench.run(routing, None, lanes, &what).measured.mean() / 1000.0;
        assert!((is / latency - 1.0).abs() < 0.04, "{fabric} {rate}: {is}, not {latency}");
    }
}

#[test]
fn what_flits_cannot_do_is_refused() {
    let bench = flits("kary:k=4,n=2", 64);
    let made = bench.make("minimal", None, 16).expect("it suits");
    let what = load(Targets::uniform(bench.terminals()), 0.5, 16, 100);
    for (micro, why) in [
        (SwitchModel { queues: Queues::Outputs, ..bench.micro.clone() }, "--queues lanes"),
        (
            SwitchModel { arbitration: Arbitration::Islip, ..bench.micro.clone() },
            "round-robin or age",
        ),
        (SwitchModel { congestion: Congestion::Ecn, ..bench.micro.clone() }, "congestion control"),
        (SwitchModel { buffer: 1, ..bench.micro.clone() }, "room for two"),
        (SwitchModel { ordered: true, ..bench.micro.clone() }, "ordered = false"),
    ] {
        let refused = made.load(&bench.net, &micro, &what, &|_| {}).expect_err(why).to_string();
        assert!(refused.contains(why), "{refused}");
    }
}
