//! Jellyfish and Xpander: regular, simple, connected, seeded, and expanding.

use std::collections::BTreeSet;

use darkfiber_fabric::{Fabric, Shape, parse_spec};
use proptest::prelude::*;

use crate::support::{cables, degree, distances, spec, switches};

fn simple_and_regular(f: &Fabric, d: usize) {
    let all: Vec<_> = cables(f).collect();
    let distinct: BTreeSet<_> = all.iter().copied().collect();
    assert!(all.iter().all(|(a, b)| a != b));
    assert_eq!(distinct.len(), all.len(), "parallel cables");
    assert!(switches(f).all(|s| degree(f, s) == d));
    assert!(f.loopbacks().is_empty());
}

proptest! {
    #[test]
    fn jellyfish(n in 3usize..60, pick in 0usize..60, p in 0usize..3, seed: u32) {
        let d = 2 + pick % (n - 2);
        let d = if n % 2 == 1 && d % 2 == 1 { d - 1 } else { d };
        let made = spec(&format!("jellyfish:n={n},d={d},p={p},seed={seed}"));
        let f = &made.fabric;
        prop_assert_eq!((f.switch_count(), f.terminal_count()), (n, n * p));
        prop_assert_eq!(f.switch_link_count(), n * d / 2);
        prop_assert_eq!(f.components(), vec![n]);
        simple_and_regular(f, d);
    }

    #[test]
    fn xpander(d in 2usize..12, lift in 1usize..12, p in 0usize..3, seed: u32) {
        let made = spec(&format!("xpander:d={d},lift={lift},p={p},seed={seed}"));
        let (f, n) = (&made.fabric, (d + 1) * lift);
        prop_assert_eq!((f.switch_count(), f.terminal_count()), (n, n * p));
        prop_assert_eq!(f.components(), vec![n]);
        simple_and_regular(f, d);
        // One cable to each other metanode, on the port of its number.
        for s in switches(f) {
            let metanodes: Vec<usize> =
                f.channels_from(s).map(|c| f.heads()[c] as usize / lift).collect();
            let others: Vec<usize> = (0..=d).filter(|&m| m != s.index() / lift).collect();
            prop_assert_eq!(metanodes, others);
        }
    }
}

#[test]
fn seeds_decide() {
    for text in ["jellyfish:n=40,d=5", "xpander:d=5,lift=8"] {
        let digest = |seed: u32| spec(&format!("{text},seed={seed}")).fabric.digest();
        assert_eq!(digest(1), spec(text).fabric.digest());
        let digests: BTreeSet<u64> = (0..20).map(digest).collect();
        assert_eq!(digests.len(), 20, "{text}");
    }
}

#[test]
fn equal_seeds_give_equal_fabrics_on_every_machine() {
    let digest = |text| spec(text).fabric.digest();
    assert_eq!(digest("jellyfish:n=40,d=5,p=3"), 13_113_027_853_370_230_408);
    assert_eq!(digest("xpander:d=5,lift=8,p=3"), 913_433_145_242_800_762);
}

/// Mean distance between two switches.
fn mean_distance(f: &Fabric) -> f64 {
    let n = f.switch_count();
    let sum: usize = switches(f).flat_map(|s| distances(f, s)).sum();
    sum as f64 / (n * (n - 1)) as f64
}

#[test]
fn nothing_of_the_ring_lattice_is_left() {
    // 256 switches of degree 8. In the lattice neighbours share neighbours and the mean distance is
    // 16; in a random regular graph triangles are as rare as the expected (d-1)^3/6 = 57, and the mean
    // distance is that of the Graph Golf random graph of this size, found in the shared data.
    let mut triangles = 0;
    let mut means = Vec::new();
    for seed in 0..10 {
        let f = spec(&format!("jellyfish:n=256,d=8,seed={seed}")).fabric;
        let near: Vec<BTreeSet<u32>> =
            switches(&f).map(|s| f.channels_from(s).map(|c| f.heads()[c]).collect()).collect();
        triangles += cables(&f)
            .map(|(a, b)| near[a.index()].intersection(&near[b.index()]).count())
            .sum::<usize>()
            / 3;
        means.push(mean_distance(&f));
    }
    // Ten draws of a Poisson number: 572 with standard deviation 24.
    assert!((450..700).contains(&triangles), "{triangles}");
    let mean = means.iter().sum::<f64>() / 10.0;
    assert!((2.85..2.95).contains(&mean), "{mean}");
}

#[test]
fn the_random_graph_of_graph_golf_looks_the_same() {
    let Some(path) = darkfiber_testkit::shared("data/topologies/graphgolf-n256d8.random.edges")
    else {
        return;
    };
    let text = std::fs::read_to_string(path).expect("readable");
    let mut b = darkfiber_fabric::FabricBuilder::new("golf");
    let class = b.class(darkfiber_fabric::LinkClass::unknown());
    let ids: Vec<_> = (0..256)
        .map(|_| b.add_switch(darkfiber_fabric::Switch { ports: 20, ..Default::default() }))
        .collect();
    let mut used = [0u8; 256];
    for line in text.lines() {
        let ends: Vec<usize> = line.split_whitespace().map(|x| x.parse().expect("id")).collect();
        let port = |s: usize, used: &mut [u8; 256]| {
            used[s] += 1;
            (ids[s], used[s])
        };
        let (one, two) = (port(ends[0], &mut used), port(ends[1], &mut used));
        b.link_switches(one, two, class).expect("free ports");
    }
    let theirs = b.finish().expect("a fabric");
    assert_eq!(theirs.switch_link_count(), 1024);
    let ours = spec("jellyfish:n=256,d=8").fabric;
    assert!((mean_distance(&theirs) - mean_distance(&ours)).abs() < 0.05);
}

#[test]
fn the_xpander_that_netbench_ships() {
    for (file, d, lift) in [("xpander_n231_d10", 10, 21), ("xpander_n322_d13", 13, 23)] {
        let path = format!("data/topologies/netbench-{file}.topology");
        let Some(path) = darkfiber_testkit::shared(&path) else { continue };
        let text = std::fs::read_to_string(path).expect("readable");
        let edges: Vec<(u32, u32)> = text
            .lines()
            .filter(|l| !l.contains(['=', '#']))
            .filter_map(|l| l.trim().split_once(' '))
            .map(|(a, b)| (a.parse().expect("id"), b.trim().parse().expect("id")))
            .collect();
        let made = spec(&format!("xpander:d={d},lift={lift}"));
        let f = &made.fabric;
        // Listed from both ends.
        assert_eq!(f.channel_count(), edges.len());
        for s in switches(f) {
            let theirs = edges.iter().filter(|e| e.0 == s.0).count();
            assert_eq!(degree(f, s), theirs);
        }
        // Theirs is a lift with the same numbering of metanodes.
        let Some(Shape::Expander(shape)) = &made.shape else { panic!("an expander") };
        let metanode = shape.metanode.as_ref().expect("an Xpander");
        assert!(edges.iter().all(|&(a, b)| metanode[a as usize] != metanode[b as usize]));
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for (text, expected) in [
        ("jellyfish:n=9,d=5", "jellyfish: d=5: expected an even number, as n=9 is odd"),
        ("jellyfish:n=9,d=9", "jellyfish: d=9: expected a whole number from 2 to 8"),
        ("jellyfish:n=2,d=1", "jellyfish: n=2: expected a whole number from 3 to 16777216"),
        ("xpander:d=1,lift=4", "xpander: d=1: expected a whole number from 2 to 254"),
        (
            "xpander:d=254,lift=65535",
            "xpander: 255 ports a switch are more than 254, the most that are supported",
        ),
    ] {
        assert_eq!(parse_spec(text).expect_err(text).to_string(), expected);
    }
}
