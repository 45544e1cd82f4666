//! Deadlock occurs, is detected, and is the one that the checker predicted.

use std::collections::BTreeSet;

use darkfiber_fabric::{ChannelId, TerminalId};
use darkfiber_packetsim::{Peer, Queues, Targets};
use darkfiber_routing::check::check;
use darkfiber_routing::{HopLanes, Layers, Request, Routes, find_engine, layers_by_hop};

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
        // Channels would allow 0.39; buffers of two packets leave less.
        assert!(found.stalled.is_none() && found.accepted > 0.1, "{}", found.accepted);
    };
    for queues in [Queues::Lanes, Queues::Outputs] {
        // On a whole HyperX its paths need no second layer, other than those of sssp.
        on("hyperx:dims=4x4,t=4", queues, 1);
        on("torus:dims=8,t=2", queues, 2);
    }
}

#[test]
fn lanes_by_hop_are_those_that_packets_wait_in() {
    let run = |spec: &str, lanes: &dyn Fn(&Bench, &mut Routes)| {
        let mut bench = Bench::new(spec, "booksim-iq");
        bench.micro.buffer = 32;
        let uniform = Targets::uniform(bench.terminals());
        let mut tables = routes(&bench, "sssp");
        lanes(&bench, &mut tables);
        bench.run("tables", Some(&tables), 1, &load(uniform, 0.9, 16, 20_000))
    };
    let ring = "torus:dims=5,t=4";
    assert!(run(ring, &|_, _| {}).stalled.is_some(), "one lane locks");
    let found = run(ring, &|bench, tables| {
        layers_by_hop(&bench.topology.fabric, tables, 2).expect("two lanes");
        assert_eq!(tables.layer_count(), 2);
    });
    // Channels would allow 0.39; buffers of two packets leave less.
    assert!(found.stalled.is_none() && found.accepted > 0.1, "{}", found.accepted);
    // A packet that continues around the ring is in lane 1, and one that enters it in lane 0: the cycle is in lane 1.
    let found = run("torus:dims=8,t=4", &|bench, tables| {
        let fabric = &bench.topology.fabric;
        let mut lanes = HopLanes::new(fabric);
        for c in (0..fabric.channel_count()).map(ChannelId::new) {
            for next in fabric.channels_from(fabric.head(c)).map(ChannelId::new) {
                lanes.set(0, fabric.head(c), fabric.head_port(c), fabric.tail_port(next), 1);
            }
        }
        tables.layers = Layers::ByHop(lanes);
        let report = check(fabric, tables);
        assert!(!report.deadlock_free());
    });
    let stalled = found.stalled.expect("it locks");
    assert!(
        stalled.cycle.len() == 8 && stalled.cycle.iter().all(|&(_, lane)| lane == 1),
        "{stalled:?}"
    );
}
