//! Dragonflies of all kinds are recognised from their cables alone.

use std::collections::BTreeMap;

use darkfiber_fabric::{
    DragonflyShape, FabricBuilder, GroupKind, LinkClass, Missing, Shape, Switch, SwitchId,
    Topology, open, recognise,
};
use proptest::prelude::*;

use crate::damage::{Case, Damage};
use crate::support::spec;

pub(crate) const DRAGONFLIES: &[(&str, &str)] = &[
    ("dragonfly:p=4,a=8,h=4", "dragonfly, 33 groups of 8 switches, 1 cable between any two"),
    (
        "dragonfly:p=16,a=16,h=7,g=8,per_pair=8,nics=2",
        "dragonfly, 8 groups of 16 switches, 8 cables between any two",
    ),
    ("dragonfly:p=2,a=12,h=4,g=9", "dragonfly, 9 groups of 12 switches, 6 cables between any two"),
    ("cascade:groups=6", "Cascade dragonfly, 6 groups of 6x16 switches, 24 cables between any two"),
    (
        "cascade:groups=7,rows=4,cols=8,p=2,blue=8",
        "Cascade dragonfly, 7 groups of 4x8 switches, 8 cables between any two",
    ),
];

fn dragonfly(shape: &Shape) -> &DragonflyShape {
    match shape {
        Shape::Dragonfly(dragonfly) => dragonfly,
        other => panic!("a dragonfly is expected, not {other:?}"),
    }
}

/// Map of the found groups to the true ones; fails if they partition the switches differently.
fn same_groups(found: &[u32], truth: &[u32], what: &str) -> BTreeMap<u32, u32> {
    let mut there = BTreeMap::new();
    let mut back = BTreeMap::new();
    for (f, t) in found.iter().zip(truth) {
        assert_eq!(there.entry(*f).or_insert(*t), t, "{what}");
        assert_eq!(back.entry(*t).or_insert(*f), f, "{what}");
    }
    there
}

/// Groups must be the true ones. Cables lost within groups must be named by their switches, cables lost
/// between groups at least by these; but where a switch is missing too, up to `slack` of those can be taken
/// for its own.
fn check(base: &Topology, expected: &str, damage: Damage, slack: u32) {
    let case = Case::new(base, damage);
    let what = format!("{} {damage:?}", base.fabric.name());
    let found = case.recognised(&what);
    assert_eq!(found.text, expected, "{what}");
    let (shape, truth) = (dragonfly(&found.shape), dragonfly(&case.truth));
    assert_eq!(shape.inside, truth.inside, "{what}");
    let groups = same_groups(&shape.group, &truth.group, &what);
    let group = |s: u32| truth.group[s as usize];
    let pair = |a: u32, b: u32| (a.min(b), a.max(b));

    let (mut inside, mut between) = (BTreeMap::new(), BTreeMap::new());
    let mut places = 0;
    for missing in &found.missing {
        match missing {
            Missing::Cables { ends: (s, v), count } if group(s.0) == group(v.0) => {
                *inside.entry(pair(s.0, v.0)).or_insert(0) += count;
            }
            Missing::Cables { ends: (s, v), count } => {
                *between.entry(pair(group(s.0), group(v.0))).or_insert(0) += count;
            }
            Missing::Between { groups: (a, b), count } => {
                *between.entry(pair(groups[a], groups[b])).or_insert(0) += count;
            }
            Missing::Somewhere { .. } => panic!("{missing:?}"),
            Missing::Switch { .. } => places += 1,
        }
    }
    let (mut lost_inside, mut lost_between) = (BTreeMap::new(), BTreeMap::new());
    for (&(s, v), &count) in &case.lost {
        if group(s) == group(v) {
            lost_inside.insert((s, v), count);
        } else {
            *lost_between.entry(pair(group(s), group(v))).or_insert(0) += count;
        }
    }
    assert_eq!(inside, lost_inside, "{what}");
    assert_eq!(places, usize::from(damage.switch), "{what}");
    if !damage.switch {
        assert_eq!(between, lost_between, "{what}");
    }
    let (named, lost): (u32, u32) = (between.values().sum(), lost_between.values().sum());
    assert!(named <= lost && lost - named <= slack, "{what}: {named} of {lost}");
}

/// A dragonfly+ with one cable between any two groups.
fn plus(leaves: u32, spines: u32, groups: u32, hosts: u32) -> Topology {
    let mut b = FabricBuilder::new(format!("dragonfly+ {leaves} {spines} {groups}"));
    let class = b.class(LinkClass::unknown());
    let all = leaves + spines;
    for _ in 0..groups * all {
        b.add_switch(Switch { ports: 64, ..Switch::default() });
    }
    let mut used = vec![0u8; (groups * all) as usize];
    let mut end = |s: u32| {
        used[s as usize] += 1;
        (SwitchId(s), used[s as usize])
    };
    for g in 0..groups {
        for l in 0..leaves {
            for s in leaves..all {
                b.link_switches(end(g * all + l), end(g * all + s), class).expect("free ports");
            }
        }
        for other in g + 1..groups {
            let spine = |g: u32, far: u32| g * all + leaves + (far + g) % spines;
            b.link_switches(end(spine(g, other)), end(spine(other, g)), class).expect("free ports");
        }
    }
    for g in 0..groups {
        for (l, h) in (0..leaves).flat_map(|l| (0..hosts).map(move |h| (l, h))) {
            let (s, port) = end(g * all + l);
            b.add_host_on(s, port, &format!("h{g}.{l}.{h}"), class).expect("free port");
        }
    }
    let switches = 0..groups * all;
    let shape = Shape::Dragonfly(DragonflyShape {
        group: switches.clone().map(|s| s / all).collect(),
        member: switches.map(|s| s % all).collect(),
        inside: GroupKind::LeafSpine { leaves },
    });
    Topology { fabric: b.finish().expect("valid"), shape: Some(shape) }
}

pub(crate) fn case(which: usize, damage: Damage) {
    let (text, expected) = DRAGONFLIES[which];
    check(&spec(text), expected, damage, 8);
}

pub(crate) fn plus_case(damage: Damage) {
    let expected = "dragonfly+, 17 groups of 8 leaves and 8 spines, 1 cable between any two";
    check(&plus(8, 8, 17, 4), expected, damage, 3);
}

#[test]
fn dragonflies_without_damage() {
    for (text, expected) in DRAGONFLIES {
        check(&spec(text), expected, Damage { seed: 1, ..Damage::default() }, 0);
    }
    let expected = "dragonfly+, 9 groups of 4 leaves and 3 spines, 1 cable between any two";
    check(&plus(4, 3, 9, 2), expected, Damage { seed: 1, ..Damage::default() }, 0);
}

#[test]
fn presets_are_what_they_are() {
    for (name, expected) in [
        ("@shandy", "dragonfly, 8 groups of 16 switches, 8 cables between any two"),
        ("@malbec", "dragonfly, 4 groups of 8 switches, 16 cables between any two"),
        ("@edison", "Cascade dragonfly, 15 groups of 6x16 switches, 24 cables between any two"),
        ("@crystal", "Cascade dragonfly, 2 groups of 6x16 switches, 24 cables between any two"),
    ] {
        let topology = open(name).expect(name);
        let found = recognise(&topology.fabric).expect(name);
        assert_eq!((found.text.as_str(), found.missing.len()), (expected, 0), "{name}");
        let truth = topology.shape.expect("stated");
        let (found, truth) = (dragonfly(&found.shape), dragonfly(&truth));
        same_groups(&found.group, &truth.group, name);
        if let GroupKind::Grid { columns, .. } = truth.inside {
            // Switches of one row are of one row.
            let row = |shape: &DragonflyShape| -> Vec<u32> {
                let rows = shape.group.iter().zip(&shape.member);
                rows.map(|(g, m)| g * 1000 + m / columns).collect()
            };
            same_groups(&row(found), &row(truth), name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn damaged_dragonflies(
        which in 0..DRAGONFLIES.len(),
        cables in 0usize..=50,
        switch in any::<bool>(),
        seed in any::<u64>(),
    ) {
        case(which, Damage { cables, switch, hosts: 5, seed });
    }

    #[test]
    fn damaged_dragonfly_plus(
        cables in 0usize..=50,
        switch in any::<bool>(),
        seed in any::<u64>(),
    ) {
        plus_case(Damage { cables, switch, hosts: 5, seed });
    }
}
