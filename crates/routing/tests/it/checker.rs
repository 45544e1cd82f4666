//! The checker against pair-by-pair tracing.

use darkfiber_fabric::{Fabric, SwitchId};
use darkfiber_routing::check::{Report, check};
use darkfiber_routing::{
    DestId, ENGINES, HopLanes, LEVELS, Layers, NO_ROUTE, Request, Routes, find_engine,
};
use darkfiber_testkit::{connected_fabric, fabric, oracle};
use proptest::prelude::*;

/// A ring of three switches with a host each: all entries lead round it. Every host's packets are dropped one switch before their
/// destination, or pass it for ever; both wait for each other.
#[test]
fn what_does_not_arrive_waits_as_well() {
    let topology = darkfiber_fabric::open("torus:dims=3,t=1").expect("a spec");
    let fabric = &topology.fabric;
    let mut routes = Routes::empty("round", fabric, 1);
    let forward = |s: SwitchId| {
        let to = SwitchId::new((s.index() + 1) % 3);
        let mut all = fabric.channels_from(s).map(darkfiber_fabric::ChannelId::new);
        fabric.tail_port(all.find(|&c| fabric.head(c) == to).expect("a ring"))
    };
    let port: Vec<u8> = (0..3).map(|s| forward(SwitchId::new(s))).collect();
    for ends in [NO_ROUTE, 0] {
        for t in (0..3).map(darkfiber_fabric::TerminalId::new) {
            let home = fabric.terminal(t).switch.index();
            let row = routes.row(DestId::terminal(t), 0);
            routes.ports_mut(row).copy_from_slice(&port);
            if ends == NO_ROUTE {
                routes.ports_mut(row)[home] = NO_ROUTE;
            }
        }
        let report = check(fabric, &routes);
        assert_eq!(report.unreachable + report.loops, 6);
        assert_eq!((report.unreachable > 0, report.loops > 0), (ends != 0, ends == 0));
        let cycle = report.layers[0].cycle.as_ref().expect("they wait in a ring");
        assert_eq!(cycle.channels.len(), 3);
    }
}

fn agree(fabric: &Fabric, routes: &Routes) -> Result<Report, TestCaseError> {
    let report = check(fabric, routes);
    let verdict = oracle::judge(fabric, routes);
    prop_assert_eq!(report.paths, verdict.paths);
    prop_assert_eq!(report.unreachable, verdict.lost - verdict.loops);
    prop_assert_eq!(report.loops, verdict.loops);
    prop_assert_eq!(report.complete(), verdict.lost == 0);
    prop_assert_eq!(report.deadlock_free(), verdict.cyclic.is_empty());
    let (pairs, sum) =
        verdict.hops.iter().fold((0, 0), |(pairs, sum), (&h, &n)| (pairs + n, sum + h as u64 * n));
    prop_assert_eq!(report.hops().max, verdict.hops.keys().next_back().copied().unwrap_or(0));
    prop_assert!((report.hops().mean * pairs as f64 - sum as f64).abs() <= 1e-9 * sum as f64);
    prop_assert_eq!(report.broken.is_empty(), verdict.lost == 0);
    for b in &report.broken {
        prop_assert!(b.source != b.dest);
        let found = (0..routes.paths()).filter(|&lid| routes.uses(b.source, lid)).any(|lid| {
            oracle::path_on(fabric, routes, b.source, b.dest, lid).is_none()
                && oracle::end(fabric, routes, b.source, b.dest, lid) == (b.at, b.loops)
        });
        prop_assert!(found, "{b:?} is not broken");
    }
    for layer in &report.layers {
        let found = verdict.dependencies.get(&layer.layer).copied().unwrap_or(0);
        prop_assert_eq!(layer.dependencies, found, "dependencies in layer {}", layer.layer);
    }
    for (h, &n) in report.hops.iter().enumerate() {
        prop_assert_eq!(n, verdict.hops.get(&h).copied().unwrap_or(0), "pairs with {} hops", h);
    }
    for (c, &n) in report.load.iter().enumerate() {
        let c = darkfiber_fabric::ChannelId::new(c);
        prop_assert_eq!(n, verdict.load.get(&c).copied().unwrap_or(0), "load of {:?}", c);
    }
    if routes.layers.by_hop().is_none() {
        let cyclic: Vec<u8> =
            report.layers.iter().filter(|l| l.cycle.is_some()).map(|l| l.layer).collect();
        prop_assert_eq!(cyclic, verdict.cyclic.iter().copied().collect::<Vec<_>>());
    }
    if fabric.terminal_count() > 1 {
        let layers: Vec<u8> = report.layers.iter().map(|l| l.layer).collect();
        prop_assert_eq!(layers, verdict.layers.iter().copied().collect::<Vec<_>>());
    }
    for cycle in report.layers.iter().filter_map(|l| l.cycle.as_ref()) {
        for (i, &(s, d)) in cycle.routes.iter().enumerate() {
            let next = (i + 1) % cycle.channels.len();
            let waits = [i, next].map(|i| (cycle.lanes[i], cycle.channels[i]));
            let found = (0..routes.paths()).filter(|&lid| routes.uses(s, lid)).any(|lid| {
                let path = oracle::path_on(fabric, routes, s, d, lid);
                let layer = routes.layer_on(fabric, s, routes.row(DestId::terminal(d), lid));
                let held = |path: Vec<_>| oracle::held(fabric, routes, s, layer, &path);
                let path = path.unwrap_or_else(|| oracle::way_of_lost(fabric, routes, s, d, lid));
                held(path).windows(2).any(|w| w == waits)
            });
            prop_assert!(found, "route {:?} -> {:?} closes the cycle", s, d);
        }
    }
    Ok(report)
}

/// Lanes by input and output port without any scheme.
fn random_lanes(fabric: &Fabric, lanes: &[u8]) -> HopLanes {
    drawn_lanes(fabric, HopLanes::new(fabric), 1, lanes)
}

/// The same, of each service level by itself; pairs have these.
fn random_lanes_by_level(fabric: &Fabric, levels: Layers, lanes: &[u8]) -> HopLanes {
    drawn_lanes(fabric, HopLanes::with_levels(fabric, levels), LEVELS, lanes)
}

fn drawn_lanes(fabric: &Fabric, mut tables: HopLanes, levels: u8, lanes: &[u8]) -> HopLanes {
    let mut drawn = lanes.iter().cycle();
    for level in 0..levels {
        for s in (0..fabric.switch_count()).map(SwitchId::new) {
            for input in 0..=fabric.switch(s).ports {
                for output in 0..=fabric.switch(s).ports {
                    tables.set(level, s, input, output, *drawn.next().expect("at least one"));
                }
            }
        }
    }
    tables
}

proptest! {
    #[test]
    fn agrees_with_the_oracle_on_every_engine(fabric in connected_fabric()) {
        for engine in &ENGINES {
            for lmc in 0..2 {
                if let Ok(routes) = engine.route(&fabric, &Request { lmc, ..Request::default() }) {
                    agree(&fabric, &routes)?;
                }
            }
        }
    }

    #[test]
    fn agrees_with_the_oracle_on_random_tables_with_several_lids(
        fabric in connected_fabric(),
        noise in prop::collection::vec((any::<prop::sample::Index>(), 0u8..30), 0..40),
        layer in prop::collection::vec(0u8..3, 1..20),
        select in prop::option::of(prop::collection::vec(0u16..2, 1..20)),
    ) {
        let minhop = find_engine("minhop").expect("registered");
        let request = Request { lmc: 1, ..Request::default() };
        let mut routes = minhop.route(&fabric, &request).expect("connected, with hosts");
        let size = routes.table_mut().len();
        for (at, port) in noise {
            routes.table_mut()[at.index(size)] = if port == 29 { NO_ROUTE } else { port };
        }
        if let Some(select) = select {
            routes.set_select((0..fabric.terminal_count()).map(|t| select[t % select.len()]).collect());
        }
        let cycle = |len: usize| (0..len).map(|i| layer[i * 7 % layer.len()]).collect::<Vec<u8>>();
        routes.layers = Layers::BySource(cycle(routes.row_count() * fabric.terminal_count()));
        agree(&fabric, &routes)?;
        routes.layers = Layers::BySourceSwitch(cycle(routes.row_count() * fabric.switch_count()));
        agree(&fabric, &routes)?;
        routes.layers = Layers::ByHop(random_lanes(&fabric, &layer));
        agree(&fabric, &routes)?;
        let levels = cycle(routes.row_count() * fabric.terminal_count());
        let lanes = random_lanes_by_level(&fabric, Layers::BySource(levels), &layer);
        routes.layers = Layers::ByHop(lanes);
        agree(&fabric, &routes)?;
    }

    #[test]
    fn agrees_with_the_oracle_on_random_tables(
        fabric in connected_fabric(),
        noise in prop::collection::vec((any::<prop::sample::Index>(), 0u8..30), 0..40),
        layer in prop::collection::vec(0u8..3, 1..20),
    ) {
        let minhop = find_engine("minhop").expect("registered");
        let mut routes = minhop.route(&fabric, &Request::default()).expect("connected, with hosts");
        let size = routes.table_mut().len();
        for (at, port) in noise {
            routes.table_mut()[at.index(size)] = if port == 29 { NO_ROUTE } else { port };
        }
        agree(&fabric, &routes)?;
        let cycle = |len: usize| (0..len).map(|i| layer[i * 7 % layer.len()]).collect::<Vec<u8>>();
        routes.layers = Layers::BySource(cycle(routes.row_count() * fabric.terminal_count()));
        agree(&fabric, &routes)?;
        routes.condense(&fabric);
        agree(&fabric, &routes)?;
        routes.layers = Layers::ByRow(cycle(routes.row_count()));
        agree(&fabric, &routes)?;
        routes.layers = Layers::BySourceSwitch(cycle(routes.row_count() * fabric.switch_count()));
        agree(&fabric, &routes)?;
        routes.layers = Layers::ByHop(random_lanes(&fabric, &layer));
        agree(&fabric, &routes)?;
        let levels = cycle(routes.row_count() * fabric.terminal_count());
        let lanes = random_lanes_by_level(&fabric, Layers::BySource(levels), &layer);
        routes.layers = Layers::ByHop(lanes);
        agree(&fabric, &routes)?;
    }

    #[test]
    fn agrees_with_the_oracle_on_shared_rows(
        fabric in connected_fabric(),
        noise in prop::collection::vec((any::<prop::sample::Index>(), 0u8..30), 0..10),
        layer in prop::collection::vec(0u8..3, 1..20),
    ) {
        // All terminals of a switch share the row of its own LID, which delivers at first.
        let minhop = find_engine("minhop").expect("registered");
        let single = minhop.route(&fabric, &Request::default()).expect("connected, with hosts");
        let n = fabric.switch_count();
        let homes = fabric.terminals().iter().map(|t| t.switch.0);
        let row_of = homes.chain(0..n as u32).collect();
        let mut routes = Routes::with_shared_rows("shared", &fabric, 1, row_of, n);
        for s in (0..n).map(darkfiber_fabric::SwitchId::new) {
            let own = single.row(DestId::switch(&fabric, s), 0);
            routes.ports_mut(s.index()).copy_from_slice(single.ports(own));
        }
        agree(&fabric, &routes)?;
        let cycle = |len: usize| (0..len).map(|i| layer[i * 7 % layer.len()]).collect::<Vec<u8>>();
        routes.layers = Layers::BySourceSwitch(cycle(n * n));
        agree(&fabric, &routes)?;
        // Entries that lose some pairs, or name the port of one of the terminals.
        for (at, port) in noise {
            routes.table_mut()[at.index(n * n)] = if port == 29 { NO_ROUTE } else { port };
        }
        agree(&fabric, &routes)?;
        routes.layers = Layers::ByRow(cycle(n));
        agree(&fabric, &routes)?;
        routes.layers = Layers::BySource(cycle(n * fabric.terminal_count()));
        agree(&fabric, &routes)?;
    }
}

#[test]
fn a_ring_sent_one_way_round_deadlocks_and_the_witness_is_the_ring() {
    let fabric = fabric("a-b; b-c; c-d; d-a; h1@a; h2@b; h3@c; h4@d");
    let mut routes = Routes::empty("clockwise", &fabric, 1);
    for t in 0..4 {
        let row = routes.row(DestId::new(t), 0);
        let home = fabric.terminals()[t].switch.index();
        for s in 0..4 {
            // Port 2 of a leads to d; port 2 of the others leads to the next switch.
            let next = fabric
                .channels_from(darkfiber_fabric::SwitchId::new(s))
                .find(|&c| fabric.heads()[c] as usize == (s + 1) % 4)
                .expect("a ring");
            routes.ports_mut(row)[s] = if s == home { 0 } else { fabric.tail_ports()[next] };
        }
    }
    let report = check(&fabric, &routes);
    assert!(report.complete());
    assert!(!report.deadlock_free());
    let cycle = report.layers[0].cycle.as_ref().expect("cyclic");
    assert_eq!(cycle.channels.len(), 4);
    assert_eq!(cycle.routes.len(), 4);
    // Every pair sends clockwise: 1 to 3 channels, 2 to 4 switches.
    assert_eq!(report.hops, [0, 0, 4, 4, 4]);
    assert_eq!(report.load.iter().filter(|&&l| l == 6).count(), 4);
}

#[test]
fn loops_and_dead_ends_are_told_apart() {
    let fabric = fabric("a-b; b-c; h1@a; h2@c");
    let mut routes = Routes::empty("broken", &fabric, 1);
    // To h2: a and b send to each other. To h1: no switch has an entry.
    let row = routes.row(DestId(1), 0);
    routes.ports_mut(row).copy_from_slice(&[1, 1, 0]);
    let report = check(&fabric, &routes);
    assert_eq!((report.pairs, report.loops, report.unreachable), (2, 1, 1));
    assert_eq!(report.broken.len(), 2);
    assert!(report.broken.iter().any(|b| b.loops) && report.broken.iter().any(|b| !b.loops));
}
