//! Fat-trees are recognised from their cables alone.

use darkfiber_fabric::{Shape, TreeShape, open, recognise};
use proptest::prelude::*;

use crate::damage::{Case, Damage};
use crate::support::spec;

pub(crate) const TREES: &[(&str, &str)] = &[
    ("fattree2:n=4,m=4,r=8", "two-level fat-tree, 8 leaves, 4 spines"),
    ("fattree2:n=18,m=18,r=36", "two-level fat-tree, 36 leaves, 18 spines"),
    ("fattree2:n=6,m=3,r=9,trunk=3", "two-level fat-tree, 9 leaves, 3 spines"),
    ("kary:k=4,n=3", "three-level fat-tree, 4 pods, 4 leaves each"),
    ("kary:k=8,n=3", "three-level fat-tree, 8 pods, 8 leaves each"),
    ("kary:k=4,n=4", "four-level fat-tree, PGFT(4; 4,4,4,4; 1,4,4,4; 1,1,1,1)"),
    ("pgft:m=4x4x4,w=1x4x2,p=1x1x2", "three-level fat-tree, 4 pods, 4 leaves each"),
    ("pgft:m=18x18x4,w=1x18x2,p=1x1x9", "three-level fat-tree, 4 pods, 18 leaves each"),
    ("pgft:m=6x8x6,w=1x4x4,p=1x2x1", "three-level fat-tree, 6 pods, 8 leaves each"),
    ("clos3:k=8,pods=4", "three-level fat-tree, 4 pods, 4 leaves each"),
    ("clos3:k=16", "three-level fat-tree, 16 pods, 8 leaves each"),
];

fn tree(shape: &Shape) -> &TreeShape {
    match shape {
        Shape::Tree(tree) => tree,
        other => panic!("a tree is expected, not {other:?}"),
    }
}

fn check(text: &str, expected: &str, damage: Damage) {
    let case = Case::new(&spec(text), damage);
    let what = format!("{text} {damage:?}");
    // A two-level tree without a leaf or a spine is a smaller two-level tree.
    let smaller = damage.switch && expected.starts_with("two");
    let found = case.exactly(&what, usize::from(damage.switch && !smaller));
    let text = found.text;
    let (found, truth) = (tree(&found.shape), tree(&case.truth));
    assert_eq!(found.level, truth.level, "{what}");
    if smaller {
        return;
    }
    assert_eq!(text, expected, "{what}");
    let (found, truth) = (found.pgft.as_ref().expect(&what), truth.pgft.as_ref().expect("made"));
    assert_eq!((&found.w, &found.p), (&truth.w, &truth.p), "{what}");
    assert_eq!(found.m[1..], truth.m[1..], "{what}");
    let mut index = found.index.clone();
    index.sort_unstable();
    index.dedup();
    assert_eq!(index.len(), case.fabric.terminal_count(), "{what}: hosts share a number");
    assert!(index.iter().all(|&i| u64::from(i) < found.m.iter().map(|&m| u64::from(m)).product()));
}

pub(crate) fn case(which: usize, damage: Damage) {
    let (text, expected) = TREES[which];
    check(text, expected, damage);
}

#[test]
fn trees_without_damage() {
    for (text, expected) in TREES {
        check(text, expected, Damage { seed: 1, ..Damage::default() });
    }
}

#[test]
fn a_pod_without_hosts_is_a_pod() {
    for hosts in [30, 33, 41, 64] {
        check(
            &format!("kary:k=4,n=3,hosts={hosts}"),
            "three-level fat-tree, 4 pods, 4 leaves each",
            Damage { seed: 3, cables: 20, ..Damage::default() },
        );
    }
}

#[test]
fn presets_that_are_fat_trees_and_presets_that_are_not() {
    let text = |name: &str| recognise(&open(name).expect(name).fabric).map(|r| r.text);
    assert_eq!(text("@cab").as_deref(), Ok("three-level fat-tree, 4 pods, 18 leaves each"));
    for (name, levels) in [("@t2hx-fattree", 3), ("@tsubame25", 3), ("@taurus", 4)] {
        let topology = open(name).expect(name);
        let found = recognise(&topology.fabric).expect(name);
        let truth = topology.shape.expect("stated");
        assert_eq!(tree(&found.shape).level, tree(&truth).level, "{name}");
        assert_eq!(tree(&truth).level.iter().max(), Some(&levels), "{name}");
        assert!(found.text.starts_with("irregular"), "{name}: {}", found.text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_trees(
        which in 0..TREES.len(),
        cables in 0usize..=50,
        switch in any::<bool>(),
        hosts in 0usize..=20,
        seed in any::<u64>(),
    ) {
        case(which, Damage { cables, switch, hosts, seed });
    }
}
