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
