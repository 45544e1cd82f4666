//! Two cables that have swapped an end are two that are missing and two too many.

use std::collections::BTreeSet;

use darkfiber_fabric::{ChannelId, Fabric, FabricBuilder, LinkClass, Missing, SwitchId, recognise};
use proptest::prelude::*;

use crate::damage::Random;
use crate::support::spec;

/// Families whose structure determines the switches of each cable.
pub(crate) const FAMILIES: &[(&str, &str)] = &[
    ("fattree2:n=18,m=18,r=36", "two-level fat-tree, 36 leaves, 18 spines"),
    ("fattree2:n=6,m=3,r=18,trunk=3", "two-level fat-tree, 18 leaves, 3 spines"),
    ("kary:k=4,n=3", "three-level fat-tree, 4 pods, 4 leaves each"),
    ("kary:k=8,n=3", "three-level fat-tree, 8 pods, 8 leaves each"),
    ("pgft:m=18x18x4,w=1x18x2,p=1x1x9", "three-level fat-tree, 4 pods, 18 leaves each"),
    ("clos3:k=16", "three-level fat-tree, 16 pods, 8 leaves each"),
    ("hyperx:dims=12x8,t=2", "12x8 HyperX"),
    ("hyperx:dims=4x4x4,t=1", "4x4x4 HyperX"),
    ("hyperx:dims=16,t=1", "full mesh of 16 switches"),
    ("hyperx:dims=2x2x2x2x2x2,t=1", "6-dimensional hypercube, the same as a 4x4x4 torus"),
    ("torus:dims=8x8x8,t=1", "8x8x8 torus"),
    ("torus:dims=7x7,t=1", "7x7 torus"),
    ("torus:dims=6x5x4,t=1", "6x5x4 torus"),
    ("mesh:dims=9x5x4,t=1", "9x5x4 mesh"),
    ("slimfly:q=11,p=1", "Slim Fly, q = 11"),
];

/// The same fabric, but two cables have swapped one end each.
fn swapped(fabric: &Fabric, one: ChannelId, two: ChannelId) -> Fabric {
    let mut b = FabricBuilder::new("swapped");
    let class = b.class(LinkClass::unknown());
    for s in 0..fabric.switch_count() {
        b.add_switch(fabric.switch(SwitchId::new(s)).clone());
    }
    for c in (0..fabric.channel_count()).map(ChannelId::new).filter(|&c| c < fabric.reverse(c)) {
        let far = if c == one {
            two
        } else if c == two {
            one
        } else {
            c
        };
        let near = (fabric.tail(c), fabric.tail_port(c));
        b.link_switches(near, (fabric.head(far), fabric.head_port(far)), class).expect("free");
    }
    for t in fabric.terminals() {
        b.add_host_on(t.switch, t.switch_port, "", class).expect("free");
    }
    b.finish().expect("valid")
}

/// Swaps two random cables between four switches, and compares with the findings.
pub(crate) fn check((text, expected): (&str, &str), seed: u64) {
    let full = spec(text).fabric;
    let what = format!("{text} {seed}");
    let pair = |a: SwitchId, b: SwitchId| (a.min(b), a.max(b));
    let ends = |f: &Fabric, c: ChannelId| pair(f.tail(c), f.head(c));
    let all: Vec<ChannelId> =
        (0..full.channel_count()).map(ChannelId::new).filter(|&c| c < full.reverse(c)).collect();
    let mut random = Random(seed);
    let (one, two) = (0..1000)
        .map(|_| (all[random.below(all.len())], all[random.below(all.len())]))
        .find(|&(one, two)| {
            let four = [full.tail(one), full.head(one), full.tail(two), full.head(two)];
            BTreeSet::from(four).len() == 4
        })
        .expect("many cables");
    let fabric = swapped(&full, one, two);
    let found = recognise(&fabric).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(found.text, expected, "{what}");
    assert_eq!((found.extra.len(), found.missing_cables()), (2, 2), "{what}");
    if expected.contains("torus") || expected.contains("mesh") && !expected.contains("full") {
        // Other two cables can explain as much in a small lattice.
        return;
    }
    let mut extra: Vec<_> = found.extra.iter().map(|&c| ends(&fabric, c)).collect();
    extra.sort_unstable();
    let mut new = [pair(full.tail(one), full.head(two)), pair(full.tail(two), full.head(one))];
    new.sort_unstable();
    assert_eq!(extra, new, "{what}");
    let mut missing: Vec<_> = (found.missing.iter())
        .map(|m| match m {
            Missing::Cables { ends: (a, b), count: 1 } => pair(*a, *b),
            other => panic!("{what}: {other:?}"),
        })
        .collect();
    missing.sort_unstable();
    let mut gone = [ends(&full, one), ends(&full, two)];
    gone.sort_unstable();
    assert_eq!(missing, gone, "{what}");
}

#[test]
fn swapped_cables_of_a_small_slim_fly() {
    for seed in 0..10 {
        check(("slimfly:q=5,p=1", "Slim Fly, q = 5"), seed);
        check(("slimfly:q=7,p=1", "Slim Fly, q = 7"), seed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn swapped_cables(which in 0..FAMILIES.len(), seed in any::<u64>()) {
        check(FAMILIES[which], seed);
    }
}
