//! Deadlock happens, is seen, and is the one that the checker told of.

use std::collections::BTreeSet;

use darkfiber_fabric::TerminalId;
use darkfiber_packetsim::{Peer, Queues, Targets};
use darkfiber_routing::{Request, Routes, find_engine};

use crate::bench::{Bench, load};

fn routes(bench: &Bench, engine: &str) -> Routes {
    let request = Request { shape: bench.topology.shape.as_ref(), lanes: 8, ..Request::default() };
    find_engine(engine)
        .expect("registered")
        .route(&bench.topology.fabric, &request)
        .expect("routes")
}

/// Pairs of channels that some path takes one behind the other, by walking every pair of terminals.
fn dependencies(bench: &Bench, routes: &Routes) -> BTreeSet<(u32, u32)> {
    let (fabric, net) = (&bench.topology.fabric, &bench.net);
    let mut all = BTreeSet::new();
    for from in 0..bench.terminals() {
        for to in 0..bench.terminals() {
            let mut at = net.switch_of(from);
            let mut before = None;
            while at != net.switch_of(to) {
                let dest = darkfiber_routing::DestId::terminal(TerminalId(to));
                let s = darkfiber_fabric::SwitchId(at);
                let port = routes.lft_entry(fabric, s, dest, 0).expect("a route");
                let channels = fabric.channels_from(s);
                let c = channels.clone().find(|&c| fabric.tail_ports()[c] == port).expect("a port");
                let here = net.base(at) + (c - channels.start) as u32;
                let Peer::Port(input) = net.port(here).peer() else { panic!("a channel") };
                all.extend(before.map(|b| (b, input)));
                before = Some(input);
                at = fabric.heads()[c];
            }
        }
    }
    all
}

#[test]
fn one_lane_locks_and_layers_do_not() {
    let on = |fabric: &str, queues: Queues, layers: usize| {
        let mut bench = Bench::new(fabric, "booksim-iq");
        (bench.micro.queues, bench.micro.buffer) = (queues, 32);
        let uniform = Targets::uniform(bench.terminals());
        let what = load(uniform, 0.9, 16, 20_000);

        let sssp = routes(&bench, "sssp");
        assert_eq!(sssp.layer_count(), 1);
        let found = bench.run("tables", Some(&sssp), 1, &what);
        let stalled = found.stalled.expect("it locks");
        assert!(stalled.cycle.len() > 2 && found.end < 40_000_000, "{stalled:?}");
        // Every step of the cycle is one that paths take, so it is a cycle of the channel dependency graph.
        let known = dependencies(&bench, &sssp);
        for (i, &(port, lane)) in stalled.cycle.iter().enumerate() {
            let (next, _) = stalled.cycle[(i + 1) % stalled.cycle.len()];
            assert!(lane == 0 && known.contains(&(port, next)), "{port} -> {next}");
        }

        let dfsssp = routes(&bench, "dfsssp");
        assert_eq!(dfsssp.layer_count(), layers);
        let found = bench.run("tables", Some(&dfsssp), 1, &what);
        assert!(found.stalled.is_none() && found.accepted > 0.2, "{}", found.accepted);
    };
    for queues in [Queues::Lanes, Queues::Outputs] {
        // On a whole HyperX its paths need no second layer, other than those of sssp.
        on("hyperx:dims=4x4,t=4", queues, 1);
        on("torus:dims=8,t=2", queues, 2);
    }
}
