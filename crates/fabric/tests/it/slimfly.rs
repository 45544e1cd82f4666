//! Slim Fly: closed forms and the diameter for every small q, and the sets that others print.

use std::collections::BTreeSet;

use darkfiber_fabric::{Shape, SlimFlyShape, Topology, parse_spec};
use darkfiber_testkit::oracle::diameter;

use crate::support::{cables, degree, distances, spec, switches};

fn shape(t: &Topology) -> &SlimFlyShape {
    let Some(Shape::SlimFly(shape)) = &t.shape else { panic!("a Slim Fly") };
    shape
}

#[test]
fn order_degree_and_diameter() {
    // (3q - delta) / 2 with q = 4w + delta.
    for (q, expected) in [
        (3, 5),
        (4, 6),
        (5, 7),
        (7, 11),
        (8, 12),
        (9, 13),
        (11, 17),
        (13, 19),
        (16, 24),
        (17, 25),
        (19, 29),
        (23, 35),
        (25, 37),
        (27, 41),
    ] {
        let made = spec(&format!("slimfly:q={q},p=1"));
        let f = &made.fabric;
        assert_eq!(f.switch_count(), 2 * q * q);
        for s in switches(f) {
            assert_eq!(degree(f, s), expected, "q = {q}");
            let mut near: Vec<u32> = f.channels_from(s).map(|c| f.heads()[c]).collect();
            near.sort_unstable();
            near.dedup();
            assert_eq!(near.len(), expected, "q = {q}: parallel cables");
        }
        assert_eq!(diameter(f), 2, "q = {q}");
        assert_eq!(shape(&made).q, q as u32);
    }
}

#[test]
fn half_of_the_degree_hosts_a_switch_by_default() {
    // Degree 7 and 4 hosts: the 200 servers of the first one that was built.
    let f = spec("slimfly:q=5").fabric;
    assert_eq!((f.switch_count(), f.terminal_count(), f.switch_link_count()), (50, 200, 175));
    assert!(f.switches().iter().all(|s| s.ports == 11));
    assert_eq!(spec("slimfly:q=4").fabric.terminal_count(), 32 * 3);
}

#[test]
fn mms_5_is_the_hoffman_singleton_graph() {
    // The Moore graph of degree 7: neighbours have no common neighbour, others have exactly one.
    let f = spec("slimfly:q=5").fabric;
    let near = |s| f.channels_from(s).map(|c| f.heads()[c]).collect::<BTreeSet<u32>>();
    for a in switches(&f) {
        let distance = distances(&f, a);
        for b in switches(&f).filter(|&b| b != a) {
            let common = near(a).intersection(&near(b)).count();
            assert_eq!(common, distance[b.index()] - 1, "{a:?} {b:?}");
        }
    }
}

#[test]
fn cables_follow_the_definition() {
    // Over a prime field the definition can be read off: q = 13, CODES's sfly_3k.
    let Some(path) = darkfiber_testkit::shared("data/topologies/codes-sfly_3k.conf") else {
        return;
    };
    let conf = std::fs::read_to_string(path).expect("readable");
    let values = |key: &str| -> BTreeSet<u32> {
        let line = (conf.lines()).find(|l| l.contains(&format!("{key}="))).expect("a known key");
        (line.split('"').filter_map(|word| word.parse().ok())).collect()
    };
    let sets = ["generator_set_X", "generator_set_X_prime"].map(values);
    let value = |key: &str| *values(key).first().expect("a number") as usize;

    let made = spec("slimfly:q=13,p=9");
    let (f, shape) = (&made.fabric, shape(&made));
    assert_eq!(f.switch_count(), value("repetitions"));
    assert_eq!(f.terminal_count(), value("repetitions") * value("num_terminals"));
    let mut local = [BTreeSet::new(), BTreeSet::new()];
    let mut counts = vec![(0, 0); f.switch_count()];
    for (a, b) in cables(f) {
        let at = |s: darkfiber_fabric::SwitchId| {
            let c = &shape.coords[s.index() * 3..s.index() * 3 + 3];
            (c[0] as usize, u32::from(c[1]), u32::from(c[2]))
        };
        let ((half, x, y), (other, m, c)) = (at(a).min(at(b)), at(a).max(at(b)));
        if half == other {
            assert_eq!(x, m, "local cables stay in a column");
            local[half].extend([(13 + y - c) % 13, (13 + c - y) % 13]);
            counts[a.index()].0 += 1;
            counts[b.index()].0 += 1;
        } else {
            assert_eq!((m * x + c) % 13, y);
            counts[a.index()].1 += 1;
            counts[b.index()].1 += 1;
        }
    }
    assert_eq!(local, sets);
    assert!(counts.iter().all(|&c| c == (value("local_channels"), value("global_channels"))));
}

#[test]
fn other_numbers_are_refused() {
    let refused = |text: &str| parse_spec(text).expect_err(text).to_string();
    for q in [6, 10, 12, 14, 15, 18, 20, 21, 100] {
        let expected =
            format!("slimfly: q={q}: expected a power of a prime, e.g. 5, 7, 8, 9, 11, 13");
        assert_eq!(refused(&format!("slimfly:q={q}")), expected);
    }
    assert_eq!(refused("slimfly:q=2"), "slimfly: q=2: expected a whole number from 3 to 169");
    assert!(refused("slimfly:q=169,p=5").contains("ports a switch"));
}
