//! Planes, random graphs and fabrics without structure.

use std::collections::BTreeSet;
use std::mem::discriminant;

use darkfiber_fabric::{
    ChannelId, Fabric, FabricBuilder, Faults, LinkClass, PRESETS, RECOGNISERS, Shape, Switch,
    SwitchId, open, recognise,
};
use proptest::prelude::*;

use crate::damage::{Case, Damage, Random};
use crate::support::spec;

/// A random regular graph: `degree / 2` cycles through all switches in random order, in which no two
/// switches are neighbours twice.
fn regular(n: usize, degree: usize, seed: u64) -> Fabric {
    let mut random = Random(seed);
    let mut pairs = BTreeSet::new();
    for _ in 0..degree / 2 {
        loop {
            let order = random.order(n);
            let cycle: BTreeSet<(usize, usize)> = (0..n)
                .map(|i| (order[i], order[(i + 1) % n]))
                .map(|(a, b)| (a.min(b), a.max(b)))
                .collect();
            let twice = cycle.intersection(&pairs).count();
            if twice * 20 < n {
                pairs.extend(cycle);
                break;
            }
        }
    }
    let mut b = FabricBuilder::new("random");
    let class = b.class(LinkClass::unknown());
    let mut used = vec![0u8; n];
    for _ in 0..n {
        b.add_switch(Switch { ports: 64, ..Switch::default() });
    }
    let mut end = |s: usize| {
        used[s] += 1;
        (SwitchId::new(s), used[s])
    };
    for (s, v) in pairs {
        b.link_switches(end(s), end(v), class).expect("free ports");
    }
    for s in 0..n {
        let (s, port) = end(s);
        b.add_host_on(s, port, &format!("h{}", s.0), class).expect("free port");
    }
    b.finish().expect("valid")
}

#[test]
fn random_regular_graphs_have_a_degree() {
    for (n, degree, cables) in [(64, 6, 0), (200, 8, 3), (400, 16, 5)] {
        let full = regular(n, degree, n as u64);
        let lost = full.switch_link_count() * cables / 100;
        let faults = Faults::random_links(&full, lost, 1).expect("joined");
        let found = recognise(&full.with_faults(&faults).0).expect("regular");
        assert_eq!(found.text, format!("random-looking regular graph of degree {degree}"));
        // The draw itself may leave a few ends open.
        let left = full.switch_link_count() - lost;
        assert_eq!(found.missing_cables() as usize, n * degree / 2 - left, "{:?}", found.missing);
        let Shape::Expander(expander) = found.shape else { panic!("{:?}", found.shape) };
        assert_eq!(expander.degree as usize, degree);
    }
}

/// A few cables on spare ports make no larger graph that lacks many.
#[test]
fn added_cables_are_no_missing_ones() {
    for (n, degree, added) in [(20, 6, 1), (64, 8, 3), (100, 12, 5)] {
        let full = regular(n, degree, 7);
        let mut b = FabricBuilder::new("with more cables");
        let class = b.class(LinkClass::unknown());
        for s in full.switches() {
            b.add_switch(Switch { ports: s.ports + 1, ..s.clone() });
        }
        let ends =
            |c: ChannelId| ((full.tail(c), full.tail_port(c)), (full.head(c), full.head_port(c)));
        for c in (0..full.channel_count()).map(ChannelId::new).filter(|&c| c < full.reverse(c)) {
            let (tail, head) = ends(c);
            b.link_switches(tail, head, class).expect("as it was");
        }
        let spare = |s: u32| (SwitchId(s), full.switch(SwitchId(s)).ports + 1);
        for i in 0..added {
            b.link_switches(spare(4 * i), spare(4 * i + 2), class).expect("free ports");
        }
        let found = recognise(&b.finish().expect("valid")).expect("regular");
        assert_eq!(found.text, format!("random-looking regular graph of degree {degree}"));
        let left = n * degree / 2 - full.switch_link_count();
        assert!(found.missing_cables() as usize <= left, "{:?}", found.missing);
    }
}

#[test]
fn what_is_regular_but_loose_is_no_random_graph() {
    // A ring in which every switch also reaches the next but one.
    let mut b = FabricBuilder::new("circulant");
    let class = b.class(LinkClass::unknown());
    let n = 60;
    for _ in 0..n {
        b.add_switch(Switch { ports: 5, ..Switch::default() });
    }
    for s in 0..n {
        let id = |s: usize| SwitchId::new(s % n);
        b.link_switches((id(s), 1), (id(s + 1), 2), class).expect("free ports");
        b.link_switches((id(s), 3), (id(s + 2), 4), class).expect("free ports");
        b.add_host_on(id(s), 5, &format!("h{s}"), class).expect("free port");
    }
    let none = recognise(&b.finish().expect("valid")).expect_err("nothing known");
    let families: Vec<&str> = none.reasons.iter().map(|r| r.0).collect();
    assert_eq!(families, RECOGNISERS.iter().map(|r| r.name).collect::<Vec<_>>());
    assert!(none.to_string().contains("cables apart in the mean"), "{none}");
}

#[test]
fn nothing_is_recognised_in_nothing() {
    let empty = FabricBuilder::new("empty").finish().expect("valid");
    assert_eq!(recognise(&empty).expect_err("empty").to_string(), "any: there are no switches");
}

#[test]
fn planes_are_recognised_each_alone() {
    let text = "pgft:m=4x4x4,w=2x4x2,p=1x1x2";
    for (cables, switch) in [(0, false), (30, false), (30, true)] {
        let damage = Damage { cables, switch, hosts: 5, seed: 4 };
        let case = Case::new(&spec(text), damage);
        let found = case.exactly(text, usize::from(switch));
        assert_eq!(
            found.text, "2 planes, each: three-level fat-tree, 4 pods, 4 leaves each",
            "{damage:?}"
        );
        let Shape::Planes(planes) = found.shape else { panic!("{:?}", found.shape) };
        let Shape::Tree(truth) = &case.truth else { panic!("a tree is expected") };
        // Rows of the planes in the order of the switches.
        let mut levels = vec![Vec::new(); planes.each.len()];
        for (&plane, &level) in planes.plane.iter().zip(&truth.level) {
            levels[usize::from(plane)].push(level);
        }
        for (each, levels) in planes.each.iter().zip(levels) {
            let Some(Shape::Tree(each)) = each else { panic!("trees are expected") };
            assert_eq!(each.level, levels);
            let m = |p: &Option<darkfiber_fabric::Pgft>| p.as_ref().map(|p| p.m.clone());
            assert_eq!(m(&each.pgft), m(&truth.pgft));
        }
        // A plane is the switches that agree in the first digit.
        let digit = |s: usize| truth.pgft.as_ref().expect("made").label(SwitchId::new(s))[0];
        let pairs: BTreeSet<(u8, u16)> =
            planes.plane.iter().enumerate().map(|(s, p)| (*p, digit(s))).collect();
        assert_eq!(pairs.len(), 2);
    }
}

#[test]
fn pieces_without_a_common_host_are_no_planes() {
    let mut b = FabricBuilder::new("two");
    let class = b.class(LinkClass::unknown());
    for s in 0..2 {
        let s =
            b.add_switch(Switch { ports: 4, description: format!("s{s}"), ..Switch::default() });
        b.add_host_on(s, 1, &format!("h{}", s.0), class).expect("free port");
    }
    let none = recognise(&b.finish().expect("valid")).expect_err("two fabrics");
    assert_eq!(
        none.to_string(),
        "planes: the switches are in 2 pieces, and not each of these is in a plane with at least half of the hosts"
    );
}

#[test]
fn every_preset_of_moderate_size_is_recognised() {
    for preset in &PRESETS {
        let topology = preset.build().expect(preset.name);
        if topology.fabric.switch_count() > 2000 {
            continue;
        }
        let found = recognise(&topology.fabric).unwrap_or_else(|e| panic!("{}: {e}", preset.name));
        let truth = topology.shape.expect("stated");
        assert_eq!(discriminant(&found.shape), discriminant(&truth), "{}", preset.name);
    }
}

#[test]
fn a_summary_names_what_is_missing() {
    let tree = spec("fattree2:n=4,m=4,r=8").fabric;
    let one = Faults { links: vec![ChannelId(0), ChannelId(9)], ..Faults::default() };
    let damaged = tree.with_faults(&one).0;
    let found = recognise(&damaged).expect("a tree");
    assert_eq!(
        found.summary(&damaged),
        "two-level fat-tree, 8 leaves, 4 spines, 2 cables missing: \
         \"leaf001\" port 5 - \"spine001\" port 1, \"leaf003\" port 6 - \"spine002\" port 3"
    );
}

#[test]
fn the_largest_slingshot_is_recognised() {
    let full = open("@slingshot-max").expect("a preset");
    let gone = SwitchId(4711);
    let faults = Faults { switches: vec![gone], ..Faults::default() };
    let found = recognise(&full.with_faults(&faults).0.fabric).expect("a dragonfly");
    assert_eq!(found.text, "dragonfly, 545 groups of 32 switches, 1 cable between any two");
    assert_eq!((found.missing.len(), found.missing_cables()), (1, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_fabric_is_too_odd(
        n in 1usize..20,
        cables in prop::collection::vec((0usize..20, 0usize..20), 0..60),
        hosts in prop::collection::vec(0usize..20, 0..20),
    ) {
        let mut b = FabricBuilder::new("odd");
        let class = b.class(LinkClass::unknown());
        let mut used = vec![0u8; n];
        for _ in 0..n {
            b.add_switch(Switch { ports: 200, ..Switch::default() });
        }
        let mut end = |s: usize| {
            used[s % n] += 1;
            (SwitchId::new(s % n), used[s % n])
        };
        for (s, v) in cables {
            let (a, z) = (end(s), end(v));
            b.link_switches(a, z, class).expect("free ports");
        }
        for (i, s) in hosts.into_iter().enumerate() {
            let (s, port) = end(s);
            b.add_host_on(s, port, &format!("h{i}"), class).expect("free port");
        }
        let fabric = b.finish().expect("valid");
        if let Ok(found) = recognise(&fabric) {
            prop_assert!(found.shape.fits(&fabric), "{}", found.text);
            prop_assert!(!found.summary(&fabric).is_empty());
        }
    }
}
