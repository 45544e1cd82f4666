//! Properties of cables and buffers other than their speed: replay windows, error correction, lanes that stop working, buffers of
//! adapters and classes.

use darkfiber_fabric::ChannelId;
use darkfiber_packetsim::{LaneFault, LoadOutcome, Net, SwitchModel, Targets, TrafficClass};

use crate::bench::{Bench, load};

/// Traffic of two hosts to each other, with modified Rosetta-like switches.
fn exchange(
    fabric: &str,
    bytes: u32,
    part: f64,
    change: impl FnOnce(&mut SwitchModel),
) -> LoadOutcome {
    let mut bench = Bench::new(fabric, "rosetta");
    change(&mut bench.micro);
    let net = Net::new(&bench.topology.fabric, &bench.micro);
    let bench = Bench { net, ..bench };
    let pairs = Targets::pairs(2, &[[0, 1], [1, 0]]);
    bench.run("minimal", None, 1, &load(pairs, part, bytes, 400_000))
}

/// Two switches, a host each, and a cable of 2 us between them.
fn across(part: f64, change: impl FnOnce(&mut SwitchModel)) -> LoadOutcome {
    exchange("hyperx:dims=2,t=1,gbps=100", 1024, part, |micro| {
        micro.latencies = vec![2_000_000; 2];
        micro.buffer = 1 << 20;
        change(micro);
    })
}

/// Unacknowledged bytes are at most the window: this number is sent in the time of a packet, two cables and an acknowledgement.
#[test]
fn a_window_of_what_may_be_sent_again_bounds_long_cables() {
    for packets in [2u32, 8, 20] {
        let found = across(0.95, |micro| micro.replay = Some(packets * 1024));
        let long = 1024.0 / 12.5;
        let should = f64::from(packets) * long / (long + 2.0 * 2000.0 + 10.0);
        assert!((found.accepted / should - 1.0).abs() < 0.01, "{}: {should}", found.accepted);
    }
    // A window that is never full changes nothing.
    let [free, wide] = [None, Some(1 << 20)].map(|replay| across(0.5, |m| m.replay = replay));
    assert_eq!(free.measured.mean().to_bits(), wide.measured.mean().to_bits());
    assert_eq!(free.events, wide.events);
}

/// After wrong bits the packets behind are sent again, too, and everything still arrives.
#[test]
fn windows_and_wrong_bits_go_together() {
    let run = |bit_errors: f64| {
        let found = across(0.1, |micro| {
            (micro.replay, micro.bit_errors) = (Some(64 << 10), bit_errors);
        });
        assert_eq!(found.missing, 0);
        (found.again, found.measured.mean())
    };
    let (clean, noisy) = (run(0.0), run(1e-6));
    assert!(clean.0 == 0 && noisy.0 > 10 && noisy.1 > clean.1 + 10_000.0, "{clean:?} {noisy:?}");
}

/// Three cables, each with its error correction.
#[test]
fn error_correction_takes_its_time_behind_each_cable() {
    let least = |fec: u32| across(0.01, |micro| micro.fec = fec).measured.latencies.min();
    assert_eq!(least(50_000) - least(0), 150);
}

/// Half of the lanes from a time on carry half from then on: the throughput of a channel of fewer lanes, and full throughput
/// before.
#[test]
fn lanes_stop_working_at_a_time() {
    // It is measured from 400 us to 800 us; the lanes go at `at`.
    let accepted = |at: u64| {
        let both = [0, 1].map(|c| LaneFault { at, channel: ChannelId::new(c), part: 0.5 });
        across(0.9, |micro| micro.lane_faults = both.to_vec()).accepted
    };
    for (at, should) in [(0, 0.5), (600_000_000, 0.7), (900_000_000, 0.9)] {
        let is = accepted(at);
        assert!((is - should).abs() < 0.02, "from {at} on: {is}, not {should}");
    }
    let half = across(0.9, |micro| micro.widths = vec![0.5; 2]).accepted;
    assert!((accepted(0) - half).abs() < 0.005, "{half}");
}

/// An adapter also has the shared buffer in its first switch: with one lane it is as good as its own. So is the buffer of a
/// class.
#[test]
fn adapters_share_the_room_of_their_first_switch() {
    let run = |own: u32, shared: u32, of_class: Option<Option<u32>>| {
        let found = exchange("hyperx:dims=1,t=2,gbps=100", 1024, 0.8, |micro| {
            micro.host_cable = Some(2_000_000);
            (micro.buffer, micro.shared_buffer) = (own, shared);
            let class = |buffer| TrafficClass { buffer, ..TrafficClass::plain("only") };
            micro.classes = of_class.map(class).into_iter().collect();
        });
        (found.accepted, found.measured.mean().to_bits())
    };
    let (little, ample) = (run(4 << 10, 0, None), run(128 << 10, 0, None));
    assert!(little.0 < 0.2 && ample.0 > 0.75, "{little:?} {ample:?}");
    assert_eq!(run(4 << 10, 124 << 10, None), ample);
    assert_eq!(run(4 << 10, 0, Some(Some(128 << 10))), run(128 << 10, 0, Some(None)));
    assert_eq!(run(128 << 10, 0, Some(Some(4 << 10))), run(4 << 10, 0, Some(None)));
}

/// Buffers that are too small, or zero, are refused.
#[test]
fn rooms_have_bounds() {
    let micro = Bench::new("hyperx:dims=2,t=1", "rosetta").micro;
    let why = |change: fn(&mut SwitchModel)| {
        let mut micro = micro.clone();
        change(&mut micro);
        micro.check(4096).expect_err("it is refused").to_string()
    };
    assert!(why(|m| m.replay = Some(4095)).contains("no room for a packet of 4096 B"));
    let none = why(|m| {
        m.lane_faults = vec![LaneFault { at: 1, channel: ChannelId::new(0), part: 0.0 }];
    });
    assert!(none.contains("a part above 0"), "{none}");
    let small = why(|m| {
        m.classes = vec![TrafficClass { buffer: Some(64), ..TrafficClass::plain("tiny") }];
    });
    assert!(small.starts_with("traffic class tiny: a buffer of 64 B"), "{small}");
}
