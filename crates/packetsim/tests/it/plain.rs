//! Switches that need no more have code of their own: it must do what the code of all features does.

use darkfiber_fabric::ChannelId;
use darkfiber_packetsim::{LaneFault, Net, Queues, Targets};

use crate::bench::{Bench, load};

/// A lane fault after the end of a run, which takes no lane, changes nothing but the code that runs.
#[test]
fn code_of_plain_switches_does_the_same() {
    let mut ran = 0;
    for (fabric, routing) in [
        ("dragonfly:p=2,a=4,h=2", "ugal"),
        ("hyperx:dims=4x4,t=4", "omniwar"),
        ("kary:k=4,n=3", "adaptive"),
        ("torus:dims=4x4,t=2", "dor"),
    ] {
        for switches in ["booksim-iq", "caminos-basic", "qdr", "aries"] {
            for (queues, speedup, shared) in [
                (None, None, 0),
                (Some(Queues::Lanes), Some(3), 64),
                (Some(Queues::Outputs), Some(1), 0),
            ] {
                let mut bench = Bench::new(fabric, switches);
                bench.micro.queues = queues.unwrap_or(bench.micro.queues);
                bench.micro.speedup = speedup.unwrap_or(bench.micro.speedup);
                bench.micro.shared_buffer = shared * bench.micro.packet;
                bench.micro.buffer = bench.micro.buffer.min(4 * bench.micro.packet.max(16));
                let bytes = bench.micro.packet.max(16);
                for offered in [0.3, 0.95] {
                    let mut what = load(Targets::uniform(bench.terminals()), offered, bytes, 2_000);
                    what.interval = Some(500_000);
                    let found = |bench: &Bench| format!("{:?}", bench.run(routing, None, 1, &what));
                    bench.micro.lane_faults = Vec::new();
                    bench.net = Net::new(&bench.topology.fabric, &bench.micro);
                    let plain = found(&bench);
                    let never = LaneFault { at: 1 << 60, channel: ChannelId::new(0), part: 1.0 };
                    bench.micro.lane_faults = vec![never];
                    bench.net = Net::new(&bench.topology.fabric, &bench.micro);
                    let what = format!("{fabric} {routing} {switches} {queues:?} {offered}");
                    assert!(found(&bench) == plain, "{what}");
                    ran += 1;
                }
            }
        }
    }
    assert_eq!(ran, 96);
}
