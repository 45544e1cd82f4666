//! Virtual lanes chosen by switches from input and output port.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{ChannelId, Fabric, SwitchId, TerminalId};
use darkfiber_routing::check::check;
use darkfiber_routing::{
    ENGINES, HopLanes, Layers, NoLayersByHop, Request, Routes, find_engine, layers_by_hop,
};
use darkfiber_testkit::{connected_fabric, families, oracle};
use proptest::prelude::*;

const NAMES: [&str; 6] = ["minhop", "updn", "nue", "sssp", "dfsssp", "lash"];

/// All paths between terminals, on all LIDs.
fn paths(fabric: &Fabric, routes: &Routes) -> Vec<Vec<ChannelId>> {
    let all = || (0..fabric.terminal_count()).map(TerminalId::new);
    let lids = |s| (0..routes.paths()).filter(move |&lid| routes.uses(s, lid));
    all()
        .flat_map(|s| all().filter(move |&d| d != s).map(move |d| (s, d)))
        .flat_map(|(s, d)| lids(s).map(move |lid| (s, d, lid)))
        .filter_map(|(s, d, lid)| oracle::path_on(fabric, routes, s, d, lid))
        .collect()
}

/// Whether each channel of a cycle is taken between its neighbours by some path.
fn is_a_cycle(paths: &[Vec<ChannelId>], cycle: &[ChannelId]) -> bool {
    let n = cycle.len();
    (0..n).all(|i| {
        let three = [cycle[i], cycle[(i + 1) % n], cycle[(i + 2) % n]];
        paths.iter().any(|path| path.windows(3).any(|w| w == three))
    })
}

/// Whether consecutive turns of paths close a cycle: turns without a successor are removed repeatedly.
fn turns_go_round(paths: &[Vec<ChannelId>]) -> bool {
    let mut after: BTreeMap<[ChannelId; 2], BTreeSet<[ChannelId; 2]>> = BTreeMap::new();
    for path in paths {
        for w in path.windows(3) {
            after.entry([w[0], w[1]]).or_default().insert([w[1], w[2]]);
        }
    }
    loop {
        let before = after.len();
        let waiting: BTreeSet<[ChannelId; 2]> = after.keys().copied().collect();
        after.retain(|_, next| next.iter().any(|turn| waiting.contains(turn)));
        if after.len() == before {
            return !after.is_empty();
        }
    }
}

proptest! {
    #[test]
    fn no_lanes_deadlock_and_none_are_refused_that_there_are(
        fabric in connected_fabric(), engine in 0..NAMES.len(), lmc in 0u8..2
    ) {
        let request = Request { lanes: 15, lmc, ..Request::default() };
        let routes = find_engine(NAMES[engine]).expect("an engine").route(&fabric, &request);
        let Ok(routes) = routes else { return Ok(()) };
        let paths = paths(&fabric, &routes);
        let mut by_hop = routes.clone();
        match layers_by_hop(&fabric, &mut by_hop, 15) {
            Ok(()) => {
                prop_assert!(check(&fabric, &by_hop).deadlock_free());
                // The oracle judges pair by pair and has no notion of turns.
                prop_assert!(oracle::judge(&fabric, &by_hop).cyclic.is_empty());
                for row in 0..routes.row_count() {
                    prop_assert_eq!(routes.ports(row), by_hop.ports(row));
                }
                let needed = by_hop.layer_count() as u8;
                let mut again = routes.clone();
                prop_assert!(layers_by_hop(&fabric, &mut again, needed).is_ok());
                prop_assert_eq!(&again, &by_hop);
                if needed > 1 {
                    prop_assert!(!turns_go_round(&paths));
                    let mut less = routes.clone();
                    let refused = layers_by_hop(&fabric, &mut less, needed - 1);
                    let expected = NoLayersByHop::Lanes { needed: needed.into(), lanes: needed - 1 };
                    prop_assert_eq!(refused, Err(expected));
                    prop_assert_eq!(&less, &routes);
                }
            }
            Err(NoLayersByHop::Circle { cycle }) => {
                prop_assert!(is_a_cycle(&paths, &cycle), "{cycle:?}");
                prop_assert_eq!(routes, by_hop);
            }
            Err(NoLayersByHop::Lanes { needed, .. }) => prop_assert!(needed > 15),
        }
    }
}

#[test]
fn every_engine_on_every_family_is_free_or_shows_its_cycle() {
    let mut found = 0;
    for spec in families::small() {
        let on = families::topology(spec);
        for engine in &ENGINES {
            let request = Request { shape: on.shape.as_ref(), lanes: 15, ..Request::default() };
            let Ok(mut routes) = engine.route(&on.fabric, &request) else { continue };
            match layers_by_hop(&on.fabric, &mut routes, 15) {
                Ok(()) => {
                    assert!(check(&on.fabric, &routes).deadlock_free(), "{spec} {}", engine.name());
                    found += usize::from(matches!(routes.layers, Layers::ByHop(_)));
                }
                Err(NoLayersByHop::Circle { cycle }) => {
                    let paths = paths(&on.fabric, &routes);
                    assert!(is_a_cycle(&paths, &cycle), "{spec} {}: {cycle:?}", engine.name());
                }
                Err(other) => panic!("{spec} {}: {other}", engine.name()),
            }
        }
    }
    assert!(found > 5, "{found} tables took several lanes");
}

/// A rule that needs no search: VL 1 where a local channel follows a global one.
#[test]
fn local_after_global_in_lane_1_frees_minimal_paths_of_a_dragonfly() {
    let on = families::topology("dragonfly:p=2,a=4,h=2");
    let fabric = &on.fabric;
    let request = Request { shape: on.shape.as_ref(), ..Request::default() };
    let mut routes =
        find_engine("dragonfly-min").expect("an engine").route(fabric, &request).expect("routes");
    routes.layers = Layers::One;
    assert!(!check(fabric, &routes).deadlock_free(), "one lane does not do");
    let group = |s: SwitchId| s.index() / 4;
    let is_global = |c: ChannelId| group(fabric.tail(c)) != group(fabric.head(c));
    let mut lanes = HopLanes::new(fabric);
    for global in (0..fabric.channel_count()).map(ChannelId::new).filter(|&c| is_global(c)) {
        let s = fabric.head(global);
        for local in fabric.channels_from(s).map(ChannelId::new).filter(|&c| !is_global(c)) {
            lanes.set(0, s, fabric.head_port(global), fabric.tail_port(local), 1);
        }
    }
    routes.layers = Layers::ByHop(lanes);
    let report = check(fabric, &routes);
    assert!(report.complete() && report.deadlock_free());
    assert_eq!(report.layers.len(), 2);
    assert!(oracle::judge(fabric, &routes).cyclic.is_empty());
    // The search needs no more than these two lanes.
    layers_by_hop(fabric, &mut routes, 2).expect("two lanes");
    assert!(check(fabric, &routes).deadlock_free());
}

#[test]
fn a_ring_of_seven_has_none_and_one_of_five_has() {
    for (spec, fits) in [("torus:dims=5,t=1", true), ("torus:dims=7,t=1", false)] {
        let on = families::topology(spec);
        let route =
            find_engine("minhop").expect("an engine").route(&on.fabric, &Request::default());
        let mut routes = route.expect("routes");
        match layers_by_hop(&on.fabric, &mut routes, 15) {
            Ok(()) => {
                assert!(fits, "{spec}");
                assert_eq!(routes.layer_count(), 2, "{spec}");
                assert!(check(&on.fabric, &routes).deadlock_free(), "{spec}");
            }
            Err(NoLayersByHop::Circle { cycle }) => {
                assert!(!fits, "{spec}");
                assert_eq!(cycle.len(), 7, "{spec}");
            }
            Err(other) => panic!("{spec}: {other}"),
        }
    }
}
