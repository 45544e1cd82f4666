//! Number of virtual lanes that engines take, and their use of idle ones.

use std::collections::BTreeMap;

use darkfiber_fabric::{Faults, Topology, open};
use darkfiber_routing::check::{Report, check, check_groups};
use darkfiber_routing::{
    Deadlock, ENGINES, LayerBy, Layers, Refusal, Request, Routes, find_engine, route_first,
    spread_lanes,
};
use darkfiber_testkit::oracle;

fn topology(spec: &str) -> Topology {
    open(spec).unwrap_or_else(|e| panic!("{spec}: {e}"))
}

fn route(topology: &Topology, engine: &str, lanes: u8, layer_by: LayerBy) -> (Routes, Report) {
    let request = Request { shape: topology.shape.as_ref(), lanes, layer_by, ..Request::default() };
    let engine = find_engine(engine).expect("registered");
    let routes = engine.route(&topology.fabric, &request).unwrap_or_else(|e| panic!("{e}"));
    let report = check(&topology.fabric, &routes);
    assert!(report.complete() && report.deadlock_free());
    (routes, report)
}

#[test]
fn lattices_fit_into_eight_lanes_where_opensm_needs_nine() {
    for (spec, most) in
        [("torus:dims=4x4x4,t=2", 1), ("torus:dims=8x8x8,t=1", 6), ("hyperx:dims=8x8x8,t=2", 1)]
    {
        let topology = topology(spec);
        for engine in ["dfsssp", "lash"] {
            let (_, report) = route(&topology, engine, 8, LayerBy::Pair);
            assert!(report.layers.len() <= most, "{spec}: {engine} {}", report.layers.len());
            let hops = oracle::hops(&topology.fabric);
            let off = (report.hops().mean - hops).abs();
            assert!(off < 1e-9, "{spec}: {engine} takes shortest paths");
        }
    }
}

/// "[checked]: DFSSSP on perfect 12x8: 2 VLs; with 15 random missing links 2 or 3"; the HyperX of
/// Domke et al., "HyperX topology: first at-scale implementation and comparison to the fat-tree",
/// SC'19, section 4.4.3, took 3.
#[test]
fn the_hyperx_of_tsubame2_takes_at_most_the_lanes_published() {
    let whole = topology("hyperx:dims=12x8,t=7");
    assert!(route(&whole, "dfsssp", 8, LayerBy::Pair).1.layers.len() <= 2);
    for seed in 1..=4 {
        let faults = Faults::random_links(&whole.fabric, 15, seed).expect("connected");
        let damaged = whole.with_faults(&faults).0;
        assert!(route(&damaged, "dfsssp", 8, LayerBy::Pair).1.layers.len() <= 3, "seed {seed}");
    }
}

#[test]
fn nue_takes_the_lanes_there_are() {
    for spec in ["torus:dims=5x5,t=2", "dragonfly:p=2,a=4,h=2", "jellyfish:n=24,d=5,p=2"] {
        let topology = topology(spec);
        let mut hops = f64::INFINITY;
        for lanes in [1, 2, 4, 8] {
            let (routes, report) = route(&topology, "nue", lanes, LayerBy::Pair);
            assert!(report.layers.len() <= usize::from(lanes), "{spec}");
            assert!(matches!(routes.layers, Layers::One | Layers::ByRow(_)), "{spec}");
            assert!(report.hops().mean <= hops, "{spec}: more lanes, longer paths");
            hops = report.hops().mean;
        }
        let off = (hops - oracle::hops(&topology.fabric)).abs();
        assert!(off < 1e-9, "{spec}: shortest with 8 lanes");
        let (_, one) = route(&topology, "nue", 1, LayerBy::Pair);
        let (_, updn) = route(&topology, "updn", 1, LayerBy::Pair);
        assert!(one.hops().mean <= updn.hops().mean, "{spec}: no worse than updn");
    }
}

#[test]
fn layers_by_destination_depend_on_nothing_else() {
    for spec in ["torus:dims=5x5,t=2", "dragonfly:p=2,a=4,h=2"] {
        let topology = topology(spec);
        for engine in ["dfsssp", "lash"] {
            let (routes, report) = route(&topology, engine, 15, LayerBy::Destination);
            assert!(matches!(routes.layers, Layers::ByRow(_)), "{spec}: {engine}");
            let pair = route(&topology, engine, 15, LayerBy::Pair).1;
            assert_eq!(report.hops, pair.hops, "{spec}: {engine}");
        }
    }
}

#[test]
fn too_few_lanes_are_refused_with_a_number_and_nue_steps_in() {
    let torus = topology("torus:dims=5x5,t=1");
    let request = |lanes| Request { lanes, ..Request::default() };
    let dfsssp = find_engine("dfsssp").expect("registered");
    let refusal = dfsssp.route(&torus.fabric, &request(1)).expect_err("rings close cycles");
    let Refusal::Lanes { needed, lanes: 1, .. } = refusal else { panic!("{refusal}") };
    assert!(refusal.to_string().contains("nue"), "{refusal}");
    // The reported number is exact: it is enough.
    assert!(needed > 1);
    dfsssp.route(&torus.fabric, &request(needed as u8)).expect("enough lanes");

    let chain = [dfsssp, find_engine("nue").expect("registered")];
    let (routes, refusals) = route_first(&chain, &torus.fabric, &request(1)).expect("nue does");
    assert_eq!((routes.engine.as_str(), refusals.len()), ("nue", 1));
    assert!(check(&torus.fabric, &routes).deadlock_free());
}

#[test]
fn idle_lanes_share_the_load() {
    for (spec, engine) in [
        ("hyperx:dims=4x4,t=3", "dfsssp"),
        ("torus:dims=5x5,t=2", "lash"),
        ("hyperx:dims=4x4,t=3", "nue"),
    ] {
        let topology = topology(spec);
        let (routes, before) = route(&topology, engine, 4, LayerBy::Pair);
        let mut spread = routes.clone();
        assert_eq!(spread_lanes(&topology.fabric, &mut spread, 4), 4, "{spec}");
        let after = check(&topology.fabric, &spread);
        assert!(after.deadlock_free() && after.layers.len() == 4, "{spec}");
        assert_eq!((after.load, after.hops), (before.load, before.hops), "{spec}");
        let share = |routes: &Routes| oracle::fullest_lane(&topology.fabric, routes);
        assert!(
            share(&spread) * 3 <= share(&routes) * 2,
            "{spec}: {} {}",
            share(&spread),
            share(&routes)
        );
    }
}

/// Engines that promise freedom with one lane keep to it on trees that have lost so many cables that leaves have no common root left,
/// whichever port of its group a switch picks; and reach everybody.
#[test]
fn one_lane_does_on_damaged_trees() {
    let mut routed: BTreeMap<&str, u32> = BTreeMap::new();
    for (spec, links) in [
        ("fattree2:n=8,m=4,r=8", 10),
        ("fattree2:n=8,m=2,r=8", 4),
        ("kary:k=4,n=3", 25),
        ("kary:k=5,n=3", 112),
        ("pgft:m=4x4x4,w=1x2x3,p=1x1x2", 20),
        ("clos3:k=8,pods=4", 25),
        ("rails:hosts_per_unit=4,units=6,nics=4,spines=3", 30),
    ] {
        let Ok(whole) = open(spec) else { panic!("{spec}") };
        // With 317 one order cannot serve some destinations of the 5-ary tree beside another one.
        for seed in (1..=6).chain([317]) {
            let Ok(faults) = Faults::random_links(&whole.fabric, links, seed) else { continue };
            let damaged = whole.with_faults(&faults).0;
            let shape = damaged.shape.as_ref();
            let request = Request { shape, lanes: 8, ..Request::default() };
            for engine in (&ENGINES).into_iter().filter(|e| e.deadlock() == Deadlock::Free) {
                let name = engine.name();
                let Ok(routes) = engine.route(&damaged.fabric, &request) else { continue };
                let report = check(&damaged.fabric, &routes);
                assert!(report.complete() && report.deadlock_free(), "{spec} {seed}: {name}");
                assert_eq!(report.layers.len(), 1, "{spec} {seed}: {name}");
                if let Some(groups) = check_groups(&damaged.fabric, &routes) {
                    let sets = groups.sets;
                    assert!(sets.complete() && sets.deadlock_free(), "{spec} {seed}: {name}");
                }
                *routed.entry(name).or_default() += 1;
            }
        }
    }
    for name in ["updn", "dnup", "ftree", "rails", "dmodk", "smodk", "ar_updn", "ar_ftree"] {
        assert!(routed[name] >= 20, "{name} routed {} fabrics", routed[name]);
    }
}
