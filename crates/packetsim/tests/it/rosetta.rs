//! Slingshot's switch and frames, compared with De Sensi et al. (SC'20).

use darkfiber_packetsim::{Arbitration, FRAMINGS, Load, Queues, Targets};

use crate::bench::{Bench, load};

/// One terminal sends to another one of the same switch at the full rate of its channel: the throughput is what the frames
/// leave.
#[test]
fn a_full_channel_carries_what_its_frames_leave() {
    for framing in &FRAMINGS {
        for bytes in [24u32, 512, 4096] {
            let mut bench = Bench::new("hyperx:dims=1,t=2,gbps=200", "rosetta");
            bench.micro.framing = framing;
            // A packet shorter than a tick takes one: 25 B.
            bench.micro.tick = 500;
            let mut what = load(Targets::pairs(2, &[[0, 1]]), 1.0, bytes, 1000 * u64::from(bytes));
            what.drain = 0;
            let found = bench.run("minimal", None, 1, &what);
            // One of two terminals sends; random arrivals leave a channel that nothing else fills idle at times.
            let (is, should) = (2.0 * found.accepted, framing.efficiency(bytes.into(), 4096));
            let least = if framing.name == "none" { 0.95 } else { 0.998 };
            assert!(
                is <= 1.002 * should && is >= least * should,
                "{} {bytes}: {is}, not {should}",
                framing.name
            );
        }
    }
}

/// So it is on channels that carry a full output's bytes in less time than one packet takes longer in the switch than another one.
#[test]
fn fast_channels_are_full_as_well() {
    for (gbps, tick) in [(400, 500), (500, 500), (800, 200), (1600, 100)] {
        for bytes in [256u32, 4096] {
            let mut bench = Bench::new(&format!("hyperx:dims=1,t=2,gbps={gbps}"), "rosetta");
            bench.micro.tick = tick;
            let mut what = load(Targets::pairs(2, &[[0, 1]]), 1.0, bytes, 1000 * u64::from(bytes));
            what.drain = 0;
            let is = 2.0 * bench.run("minimal", None, 1, &what).accepted;
            assert!((0.95..=1.002).contains(&is), "{gbps} Gbit/s, {bytes} B: {is}");
        }
    }
}

/// A message of several packets takes the headers of each.
#[test]
fn long_messages_have_the_headers_of_all_their_packets() {
    let mut bench = Bench::new("hyperx:dims=1,t=2,gbps=200", "rosetta");
    bench.micro.framing = &FRAMINGS[2];
    let mut what = load(Targets::pairs(2, &[[0, 1]]), 1.0, 4096, 200_000);
    (what.message, what.drain) = (10_000, 0);
    let is = 2.0 * bench.run("minimal", None, 1, &what).accepted;
    let should = FRAMINGS[2].efficiency(10_000, 4096);
    assert!((is / should - 1.0).abs() < 0.005, "{is}, not {should}");
}

fn quiet(to: u32, n: u32) -> Load {
    load(Targets::pairs(n, &[[0, to]]), 0.0002, 8, 4_000_000)
}

/// Mean and median 350 ns, and all between 300 and 400 (figure 2), of one switch; of two switches less the mean of one, which
/// is how it was measured, at least 95 %.
#[test]
fn a_switch_takes_350_ns_more_or_less() {
    let mut bench = Bench::new("hyperx:dims=2,t=2,gbps=200", "rosetta");
    bench.micro.framing = &FRAMINGS[2];
    let net = &bench.net;
    let one = bench.run("minimal", None, 1, &quiet(1, 4)).measured;
    let two = bench.run("minimal", None, 1, &quiet(2, 4)).measured;
    assert!(one.packets > 2000 && (one.hops, two.hops) == (one.packets, 2 * two.packets));
    // Two cables and a frame.
    let port = net.port(net.home(0));
    let outside = 2 * u64::from(port.latency) + port.long(80);
    let (mean, at) = (one.latency as u64 / one.packets - outside, |q| {
        one.latencies.value_at_quantile(q) * 1000 - outside
    });
    assert!(mean.abs_diff(350_000) < 2000 && at(0.5).abs_diff(350_000) < 2000, "{mean}");
    assert!(at(0.0) >= 309_000 && at(1.0) <= 391_000 && at(1.0) - at(0.0) > 70_000);
    let cable = (0..net.port_count() as u32).find(|&p| net.next(p).is_some()).expect("one");
    let more = one.mean() / 1000.0 + f64::from(net.port(cable).latency) / 1000.0;
    let inside: u64 = (two.latencies.iter_recorded())
        .filter(|v| (300.0..=400.0).contains(&(v.value_iterated_to() as f64 - more)))
        .map(|v| v.count_at_value())
        .sum();
    let share = inside as f64 / two.packets as f64;
    assert!((0.95..1.0).contains(&share), "{share}");
}

/// Switches have separate random numbers: the number of parts of a network changes nothing.
#[test]
fn lots_do_not_depend_on_parts() {
    lots_are_the_same(2000, &[5, 33]);
}

#[test]
#[ignore = "slow: longer and in more parts, in the nightly tier"]
fn lots_do_not_depend_on_more_parts() {
    lots_are_the_same(3000, &[2, 5, 33]);
}

fn lots_are_the_same(cycles: u64, all: &[usize]) {
    for switches in ["rosetta", "rosetta-tiles"] {
        let mut bench = Bench::new("dragonfly:p=4,a=8,h=4,gbps=200", switches);
        bench.micro.framing = &FRAMINGS[2];
        let run = |parts: usize| {
            let mut what = load(Targets::uniform(bench.terminals()), 0.5, 512, cycles);
            what.parts = parts;
            let found = bench.run("ugal", None, 1, &what);
            (found.measured, found.crossed, found.events)
        };
        let one = run(1);
        for &parts in all {
            assert_eq!(run(parts), one, "{switches}, {parts} parts");
        }
    }
}

/// Many inputs of one row and one of another request one output: with tiles the single one gets half, otherwise an equal
/// share. If it is in their row, it gets an equal share either way.
#[test]
fn rows_take_turns_and_so_do_the_inputs_of_a_row() {
    let share = |switches: &str, terminals: u32| {
        // Terminals are on ports 1 to 15 or 16, of the first row; the cable to the other switch is on the port behind them.
        let bench = Bench::new(&format!("hyperx:dims=2,t={terminals},gbps=200,radix=64"), switches);
        let pairs: Vec<[u32; 2]> = (1..=terminals).map(|t| [t, 0]).collect();
        let what = Load {
            warmup: Some(0),
            drain: 0,
            ..load(Targets::pairs(2 * terminals, &pairs), 0.9, 1024, 100_000)
        };
        let found = bench.run("minimal", None, 1, &what);
        // Those from the other switch cross two.
        found.measured.mean_hops() - 1.0
    };
    for (switches, terminals, should) in [
        ("rosetta-tiles", 16, 1.0 / 2.0),
        ("rosetta", 16, 1.0 / 16.0),
        ("rosetta-tiles", 15, 1.0 / 15.0),
        ("rosetta", 15, 1.0 / 15.0),
    ] {
        let is = share(switches, terminals);
        assert!((is - should).abs() < 0.02, "{switches}, {terminals}: {is}, not {should}");
    }
}

/// Fifteen inputs fill one output, and a sixteenth sends every 32nd packet there and all others to idle ones: these are not
/// delayed. With one queue for each lane they are.
#[test]
fn a_full_output_does_not_slow_down_idle_ones() {
    let mut pairs: Vec<[u32; 2]> = (2..17).map(|t| [t, 56]).collect();
    pairs.push([1, 56]);
    pairs.extend((17..48).map(|t| [1, t]));
    for switches in ["rosetta", "rosetta-tiles"] {
        let carried = |queues: Queues| {
            let mut bench = Bench::new("hyperx:dims=1,t=64,gbps=200", switches);
            bench.micro.queues = queues;
            let targets = Targets::pairs(64, &pairs);
            64.0 * bench.run("minimal", None, 1, &load(targets, 0.9, 1024, 200_000)).accepted
        };
        // One of the full output, and 0.9 x 31/32.
        let should = 1.0 + 0.9 * 31.0 / 32.0;
        let is = carried(Queues::Outputs);
        assert!(is > 0.98 * should, "{switches}: {is} of {should}");
        let held_up = carried(Queues::Lanes);
        assert!(held_up < 0.93 * should, "{switches}: {held_up} of {should}");
    }
}

#[test]
fn tiles_have_64_ports() {
    let mut bench = Bench::new("hyperx:dims=1,t=65,gbps=200", "rosetta");
    bench.micro.arbitration = Arbitration::Tiles;
    let made = bench.make("minimal", None, 512).expect("it suits");
    let what = load(Targets::uniform(65), 0.1, 512, 10);
    let refused = made.load(&bench.net, &bench.micro, &what, &|_| {}).expect_err("65 ports");
    assert!(refused.to_string().contains("64 ports"), "{refused}");
}
