//! The engines made for one family: `torus`, `hyperx-min`, `dragonfly-min`.

use darkfiber_fabric::{
    DragonflyShape, Fabric, FabricBuilder, Faults, GroupKind, LinkClass, Shape, Switch, SwitchId,
    Topology, open,
};
use darkfiber_routing::check::{Report, check};
use darkfiber_routing::{Refusal, Request, Routes, find_engine};
use darkfiber_testkit::oracle;

fn topology(spec: &str) -> Topology {
    open(spec).unwrap_or_else(|e| panic!("{spec}: {e}"))
}

fn route(engine: &str, on: &Topology, lanes: u8) -> Result<(Routes, Report), Refusal> {
    let request = Request { shape: on.shape.as_ref(), lanes, ..Request::default() };
    let routes = find_engine(engine).expect("registered").route(&on.fabric, &request)?;
    let report = check(&on.fabric, &routes);
    Ok((routes, report))
}

/// Routes, and checks the guarantees of the engine.
fn proven(engine: &str, on: &Topology, what: &str) -> Report {
    let (_, report) = route(engine, on, 15).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(report.complete(), "{what}: {engine} loses pairs");
    assert!(report.deadlock_free(), "{what}: {engine} deadlocks");
    report
}

fn largest(report: &Report) -> u64 {
    report.load.iter().copied().max().unwrap_or(0)
}

/// The number of pairs by switches crossed if every path is as short as the graph allows.
fn shortest(fabric: &Fabric) -> Vec<u64> {
    let mut hops = Vec::new();
    let on = |s: usize| fabric.terminals_on(SwitchId::new(s)).len() as u64;
    for d in 0..fabric.switch_count() {
        for (s, dist) in oracle::distances(fabric, SwitchId::new(d)).into_iter().enumerate() {
            let dist = dist.expect("connected");
            hops.resize(hops.len().max(dist + 2), 0);
            hops[dist + 1] += on(s) * if s == d { on(s) - 1 } else { on(d) };
        }
    }
    hops
}

/// The fabric after some cables and switches fail, if it is still connected.
fn damaged(whole: &Topology, cables: usize, switches: usize, seed: u64) -> Option<Topology> {
    let mut faults = Faults::random_links(&whole.fabric, cables, seed).ok()?;
    let n = whole.fabric.switch_count();
    faults.switches =
        (0..switches).map(|i| SwitchId::new((seed as usize * 7 + i * 5) % n)).collect();
    let (left, _) = whole.with_faults(&faults);
    (left.fabric.components().len() == 1 && left.fabric.terminal_count() > 0).then_some(left)
}

#[test]
fn a_whole_torus_or_mesh_is_minimal_with_few_lanes() {
    for (spec, lanes) in [
        ("torus:dims=4,t=3", 1),
        ("torus:dims=5,t=1", 2),
        ("torus:dims=8,t=1", 2),
        ("torus:dims=2x3,t=2", 1),
        ("torus:dims=4x4,t=2", 1),
        ("torus:dims=5x4,t=1", 2),
        ("torus:dims=6x6,t=1", 3),
        ("torus:dims=8x8,t=1", 3),
        ("torus:dims=9x7,t=1", 3),
        ("torus:dims=4x4x4,t=2", 1),
        ("torus:dims=5x5x5,t=1", 4),
        ("torus:dims=6x3x2,t=2,trunk=2", 2),
        ("torus:dims=8x8x8,t=1", 4),
        ("mesh:dims=7,t=2", 1),
        ("mesh:dims=4x5,t=1", 1),
        ("mesh:dims=3x4x5,t=1", 1),
    ] {
        let on = topology(spec);
        let report = proven("torus", &on, spec);
        assert_eq!(report.hops, shortest(&on.fabric), "{spec}");
        assert_eq!(report.layers.len(), lanes, "{spec}");
    }
}

#[test]
fn rings_of_a_multiple_of_four_are_loaded_evenly_to_the_optimum() {
    // In a ring of n, every channel carries n^2 / 8 of the ordered pairs of switches.
    for (spec, optimum) in [
        ("torus:dims=4,t=1", 2),
        ("torus:dims=12,t=1", 18),
        ("torus:dims=4x4x4,t=2", 128),
        ("torus:dims=8x8,t=1", 64),
        ("torus:dims=8x8x8,t=1", 512),
    ] {
        let report = proven("torus", &topology(spec), spec);
        assert!(report.load.iter().all(|&load| load == optimum), "{spec}");
    }
    // In other even rings the load decides the direction; parallel cables share it.
    for (spec, mean) in [
        ("torus:dims=6x6,t=2", 108.0),
        ("torus:dims=10,t=3", 112.5),
        ("torus:dims=6x4,t=4,trunk=2", 144.0),
    ] {
        let report = proven("torus", &topology(spec), spec);
        assert!(largest(&report) as f64 <= 1.2 * mean, "{spec}: {}", largest(&report));
    }
}

#[test]
fn a_whole_hyperx_is_minimal_with_one_lane() {
    // By symmetry the channels of a dimension of n switches carry t^2 N / n pairs each.
    for (spec, optimum) in [
        ("hyperx:dims=5,t=3", 9),
        ("hyperx:dims=2x2x2x2,t=1", 8),
        ("hyperx:dims=4x3,t=2", 16),
        ("hyperx:dims=3x4x5,t=2", 80),
        ("hyperx:dims=12x8,t=7", 588),
        ("hyperx:dims=4x4,t=4,trunk=2", 32),
        ("hyperx:dims=5x3,t=4,trunk=4", 20),
    ] {
        let on = topology(spec);
        let report = proven("hyperx-min", &on, spec);
        assert_eq!(report.hops, shortest(&on.fabric), "{spec}");
        assert_eq!((report.layers.len(), largest(&report)), (1, optimum), "{spec}");
    }
}

#[test]
fn a_hyperx_without_some_cables_still_needs_one_lane() {
    for (spec, cables, factor) in
        [("hyperx:dims=12x8,t=7", 15, 1.1), ("hyperx:dims=5x5x5,t=1", 20, 2.2)]
    {
        for seed in 1..=5 {
            let on = damaged(&topology(spec), cables, 0, seed).expect("connected");
            let what = format!("{spec}, seed {seed}");
            let report = proven("hyperx-min", &on, &what);
            assert_eq!(report.layers.len(), 1, "{what}");
            // dfsssp takes any shortest path, and two lanes.
            let other = proven("dfsssp", &on, &what);
            let (one, two) = (largest(&report) as f64, largest(&other) as f64);
            assert!(one <= factor * two, "{what}: {one} against {two}");
        }
    }
}

/// Dragonfly+: `groups` of `a` leaves with two hosts each and `a` spines; spine `i` has a cable to
/// every other group that is `i` modulo `a` places further, and back.
fn dragonfly_plus(groups: usize, a: usize) -> Topology {
    let mut b = FabricBuilder::new("dragonfly+");
    let class = b.class(LinkClass::infiniband("4xHDR").expect("known"));
    let n = groups * 2 * a;
    for s in 0..n {
        let description = format!("s{s}");
        b.add_switch(Switch { ports: 40, description, ..Switch::default() });
    }
    let mut used = vec![0u8; n];
    let mut end = |s: usize| {
        used[s] += 1;
        (SwitchId::new(s), used[s])
    };
    for g in 0..groups {
        for leaf in g * 2 * a..g * 2 * a + a {
            for host in 0..2 {
                let (s, port) = end(leaf);
                b.add_host_on(s, port, &format!("h{leaf}-{host}"), class).expect("a free port");
            }
            for spine in g * 2 * a + a..(g + 1) * 2 * a {
                b.link_switches(end(leaf), end(spine), class).expect("free ports");
            }
        }
        for other in g + 1..groups {
            let spine =
                |from: usize, to: usize| from * 2 * a + a + (to + groups - from) % groups % a;
            b.link_switches(end(spine(g, other)), end(spine(other, g)), class).expect("free ports");
        }
    }
    let shape = Shape::Dragonfly(DragonflyShape {
        group: (0..n).map(|s| (s / (2 * a)) as u32).collect(),
        member: (0..n).map(|s| (s % (2 * a)) as u32).collect(),
        inside: GroupKind::LeafSpine { leaves: a as u32 },
    });
    Topology { fabric: b.finish().expect("a fabric"), shape: Some(shape) }
}

/// Number of pairs by switches crossed if every path is the shortest one with one cable between groups.
fn local_global_local(on: &Topology) -> Vec<u64> {
    let Some(Shape::Dragonfly(shape)) = &on.shape else { panic!("no groups") };
    let fabric = &on.fabric;
    let n = fabric.switch_count();
    let local = |s: usize, v: usize| usize::from(s != v);
    let terminals = |s: usize| fabric.terminals_on(SwitchId::new(s)).len() as u64;
    let mut hops = vec![0; 5];
    for (s, d) in (0..n).flat_map(|s| (0..n).map(move |d| (s, d))) {
        let dist = if shape.group[s] == shape.group[d] {
            local(s, d)
        } else {
            (0..fabric.channel_count())
                .map(|c| (fabric.tails()[c] as usize, fabric.heads()[c] as usize))
                .filter(|(a, b)| {
                    shape.group[*a] == shape.group[s] && shape.group[*b] == shape.group[d]
                })
                .map(|(a, b)| local(s, a) + 1 + local(b, d))
                .min()
                .expect("joined")
        };
        hops[dist + 1] += terminals(s) * (terminals(d) - u64::from(s == d));
    }
    hops.truncate(hops.iter().rposition(|&h| h > 0).map_or(0, |h| h + 1));
    hops
}

#[test]
fn a_whole_dragonfly_is_minimal_with_two_lanes() {
    for spec in [
        "dragonfly:p=1,a=2,h=1",
        "dragonfly:p=2,a=4,h=2",
        "dragonfly:p=2,a=4,h=4,g=5",
        "dragonfly:p=1,a=6,h=3,g=4,per_pair=5",
        "dragonfly:p=4,a=8,h=4",
    ] {
        let on = topology(spec);
        let report = proven("dragonfly-min", &on, spec);
        assert_eq!(report.hops, local_global_local(&on), "{spec}");
        assert_eq!(report.layers.len(), 2, "{spec}");
        let other = proven("dfsssp", &on, spec);
        let (one, any) = (largest(&report) as f64, largest(&other) as f64);
        assert!(one <= 1.15 * any, "{spec}: {one} against {any}");
    }
    let alone = proven("dragonfly-min", &topology("dragonfly:p=2,a=6,h=0,g=1"), "one group");
    assert_eq!(alone.layers.len(), 1, "one group needs one lane");
}

#[test]
fn a_whole_cascade_has_two_local_hops_at_either_end() {
    for spec in
        ["cascade:groups=3,rows=2,cols=4,p=2,blue=8", "cascade:groups=5,rows=3,cols=4,p=1,blue=4"]
    {
        let report = proven("dragonfly-min", &topology(spec), spec);
        assert!(report.hops().max <= 6, "{spec}");
        assert_eq!(report.layers.len(), 2, "{spec}");
    }
}

#[test]
fn a_whole_dragonfly_plus_needs_one_lane() {
    for (groups, a) in [(1, 3), (2, 2), (5, 4), (9, 4)] {
        let on = dragonfly_plus(groups, a);
        let report = proven("dragonfly-min", &on, "dragonfly+");
        assert_eq!(report.layers.len(), 1, "{groups} groups");
        assert_eq!(report.hops().max, if groups > 1 { 4 } else { 3 }, "{groups} groups");
    }
}

#[test]
fn damage_costs_lanes_but_no_pair() {
    let mut left = 0;
    for (engine, whole) in [
        ("torus", topology("torus:dims=4x4x4,t=1")),
        ("torus", topology("torus:dims=6x5,t=2")),
        ("torus", topology("torus:dims=9,t=2")),
        ("torus", topology("mesh:dims=4x5,t=1")),
        ("torus", topology("torus:dims=4x3x2,t=1,trunk=2")),
        ("hyperx-min", topology("hyperx:dims=6x4,t=2")),
        ("hyperx-min", topology("hyperx:dims=3x3x3,t=1")),
        ("hyperx-min", topology("hyperx:dims=7,t=2")),
        ("dragonfly-min", topology("dragonfly:p=2,a=4,h=2")),
        ("dragonfly-min", topology("dragonfly:p=1,a=6,h=3,g=4,per_pair=5")),
        ("dragonfly-min", topology("cascade:groups=3,rows=2,cols=4,p=2,blue=8")),
        ("dragonfly-min", dragonfly_plus(5, 4)),
    ] {
        let all = whole.fabric.switch_link_count();
        for seed in 1..=12 {
            for (cables, switches) in [(1, 0), (3, 0), (all / 6, 0), (0, 1), (2, 2), (all / 3, 0)] {
                let Some(on) = damaged(&whole, cables, switches, seed) else { continue };
                let what =
                    format!("{} less {cables} and {switches}, seed {seed}", whole.fabric.name());
                let report = proven(engine, &on, &what);
                assert!(report.layers.len() <= 8, "{what}: {} lanes", report.layers.len());
                left += 1;
            }
        }
    }
    assert!(left > 500, "only {left} damaged fabrics hang together");
}

#[test]
fn a_ring_without_a_cable_is_a_mesh() {
    for spec in ["torus:dims=9,t=1", "torus:dims=8,t=2"] {
        let on = damaged(&topology(spec), 1, 0, 3).expect("connected");
        let report = proven("torus", &on, spec);
        assert_eq!(report.hops, shortest(&on.fabric), "{spec}");
        // No ring is left to cut.
        assert!(route("torus", &on, 1).is_ok(), "{spec}");
    }
    // One of two rings is.
    let on = damaged(&topology("torus:dims=7x2,t=1"), 1, 0, 3).expect("connected");
    assert!(route("torus", &on, 1).is_err());
}

#[test]
fn too_few_lanes_are_refused_with_their_number() {
    for (engine, spec, needed) in [
        ("torus", "torus:dims=8x8x8,t=1", 4),
        ("torus", "torus:dims=7x7,t=1", 3),
        ("dragonfly-min", "dragonfly:p=2,a=4,h=2", 2),
    ] {
        let on = topology(spec);
        let refusal = route(engine, &on, needed as u8 - 1).expect_err("too few");
        assert!(matches!(refusal, Refusal::Lanes { needed: n, .. } if n == needed), "{refusal}");
        assert!(route(engine, &on, needed as u8).is_ok(), "{spec}");
    }
    // Paths outside of the rule use layers above its lanes.
    let on = damaged(&topology("dragonfly:p=2,a=4,h=2"), 12, 0, 1).expect("connected");
    let (routes, _) = route("dragonfly-min", &on, 15).expect("enough");
    let needed = routes.layer_count();
    assert!(needed > 2, "nothing strays");
    let refusal = route("dragonfly-min", &on, 2).expect_err("too few");
    assert!(matches!(refusal, Refusal::Lanes { needed: n, .. } if n == needed), "{refusal}");
}
