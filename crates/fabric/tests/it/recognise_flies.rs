//! Slim Flies are recognised from their cables alone.

use darkfiber_fabric::{Shape, SlimFlyShape, SwitchId, open, recognise};
use proptest::prelude::*;

use crate::damage::{Case, Damage};
use crate::support::spec;

const PRIMES: &[u32] = &[5, 7, 11, 13, 17, 19];

pub(crate) const DAMAGED: &[u32] = &[5, 7, 8, 9, 11, 13, 16, 17, 19, 25, 27];

fn fly(shape: &Shape) -> &SlimFlyShape {
    match shape {
        Shape::SlimFly(fly) => fly,
        other => panic!("a Slim Fly is expected, not {other:?}"),
    }
}

fn check(q: u32, damage: Damage) {
    let case = Case::new(&spec(&format!("slimfly:q={q},p=1")), damage);
    let what = format!("q = {q} {damage:?}");
    let found = case.exactly(&what, usize::from(damage.switch));
    assert_eq!(found.text, format!("Slim Fly, q = {q}"), "{what}");
    assert_eq!(fly(&found.shape).q, q);
    if PRIMES.contains(&q) {
        cross(&case, fly(&found.shape), &what);
    }
}

/// Cables between halves must join (0, x, y) and (1, m, c) with y = m x + c modulo the prime `q`, and
/// others two of one column.
fn cross(case: &Case, fly: &SlimFlyShape, what: &str) {
    let q = fly.q;
    let at = |s: SwitchId| {
        let row = &fly.coords[3 * s.index()..3 * s.index() + 3];
        [u32::from(row[0]), u32::from(row[1]), u32::from(row[2])]
    };
    for (s, v) in crate::support::cables(&case.fabric) {
        let (a, b) = (at(s).min(at(v)), at(s).max(at(v)));
        if a[0] == b[0] {
            assert_eq!(a[1], b[1], "{what}");
        } else {
            assert_eq!(a[2], (b[1] * a[1] + b[2]) % q, "{what}");
        }
    }
}

pub(crate) fn case(which: usize, damage: Damage) {
    check(DAMAGED[which], damage);
}

#[test]
fn slim_flies_without_damage() {
    for &q in PRIMES {
        check(q, Damage { seed: q.into(), ..Damage::default() });
    }
}

#[test]
fn slim_flies_of_prime_powers_without_damage() {
    for q in [3, 4, 8, 9, 16, 25, 27, 32] {
        check(q, Damage { seed: q.into(), ..Damage::default() });
    }
}

#[test]
fn halves_are_told_apart_where_they_nearly_look_alike() {
    // Here less than 2 % of the cables distinguish the halves.
    check(43, Damage { seed: 2, cables: 20, switch: true, hosts: 5 });
}

#[test]
fn the_preset_is_one() {
    let fabric = open("@slimfly-eth").expect("a preset").fabric;
    let found = recognise(&fabric).expect("a Slim Fly");
    assert_eq!((found.text.as_str(), found.missing.len()), ("Slim Fly, q = 5", 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn damaged_slim_flies(
        which in 0..DAMAGED.len(),
        cables in 10usize..=50,
        switch in any::<bool>(),
        seed in any::<u64>(),
    ) {
        case(which, Damage { cables, switch, hosts: 5, seed });
    }
}
