//! Properties of patterns: closed forms, invariants, uniformity.

use std::collections::BTreeMap;

use darkfiber_workload::{Extent, PATTERNS, Participants, Stream, listed_pairs, pattern};
use proptest::prelude::*;

fn pairs(spec: &str, n: u32, index: u64, seed: u64) -> Vec<[u32; 2]> {
    let made = pattern(spec, &Participants::all(n)).unwrap_or_else(|e| panic!("{spec}: {e}"));
    let mut out = vec![[9, 9]];
    made.fill(index, &mut Stream::new(seed, index), &mut out);
    out
}

fn refusal(spec: &str, among: &Participants) -> String {
    match pattern(spec, among) {
        Ok(_) => panic!("{spec} should not be"),
        Err(e) => e.to_string(),
    }
}

#[test]
fn closed_forms() {
    assert_eq!(pairs("shift:by=2", 5, 0, 1), [[0, 2], [1, 3], [2, 4], [3, 0], [4, 1]]);
    assert_eq!(pairs("ring", 3, 0, 1), [[0, 1], [1, 2], [2, 0]]);
    assert_eq!(pairs("tornado", 8, 0, 1)[0], [0, 3]);
    assert_eq!(pairs("tornado:dims=4x8", 32, 0, 1)[0], [0, 8 + 3]);
    assert_eq!(pairs("bit-complement", 8, 0, 1)[1], [1, 6]);
    assert_eq!(pairs("bit-reverse", 8, 0, 1), [[1, 4], [3, 6], [4, 1], [6, 3]]);
    assert_eq!(pairs("transpose", 9, 0, 1), [[1, 3], [2, 6], [3, 1], [5, 7], [6, 2], [7, 5]]);
    assert_eq!(pairs("incast:to=2", 4, 0, 1), [[0, 2], [1, 2], [3, 2]]);
    assert_eq!(pairs("recursive-doubling", 4, 1, 1), [[0, 2], [1, 3], [2, 0], [3, 1]]);
    assert_eq!(pairs("binomial", 6, 2, 1), [[0, 4], [1, 5]]);
    assert_eq!(pairs("binomial:root=5", 6, 0, 1), [[5, 0]]);
    assert_eq!(pairs("bruck", 5, 2, 1)[0], [4, 0]);
    assert_eq!(pairs("barrier", 5, 2, 1)[0], [0, 4]);
    assert_eq!(pairs("all-to-all", 5, 0, 1).len(), 20);
    let mut square = pairs("nn2d", 12, 0, 1);
    assert_eq!(square.len(), 48, "4x3, four neighbours each");
    square.sort_unstable();
    assert_eq!(square[..4], [[0, 1], [0, 2], [0, 3], [0, 9]]);
    assert_eq!(pairs("nn2d:dims=2x2", 4, 0, 1).len(), 8, "two in a row are neighbours once");
    assert_eq!(pairs("nn3d:dims=3x3x3,periodic=0", 27, 0, 1).len(), 2 * 3 * 9 * 2);
    assert_eq!(
        pairs("adversarial:group=2", 6, 0, 1),
        [[0, 2], [1, 3], [2, 4], [3, 5], [4, 0], [5, 1]]
    );
}

#[test]
fn binomial_reaches_everybody_once() {
    for n in 2..40 {
        let phases = match pattern("binomial", &Participants::all(n)).expect("fits").extent() {
            Extent::Phases(k) => k,
            Extent::Samples => panic!("not random"),
        };
        let all: Vec<[u32; 2]> = (0..phases).flat_map(|k| pairs("binomial", n, k, 1)).collect();
        let mut have = vec![false; n as usize];
        have[0] = true;
        for [s, d] in all {
            assert!(have[s as usize] && !have[d as usize]);
            have[d as usize] = true;
        }
        assert!(have.into_iter().all(|h| h), "{n}");
    }
}

/// Chi-square of samples over all outcomes, whose number is known; `limit` is exceeded once in a thousand.
fn uniform(spec: &str, n: u32, outcomes: usize, limit: f64) {
    const SAMPLES: u32 = 36_000;
    let mut count: BTreeMap<Vec<[u32; 2]>, f64> = BTreeMap::new();
    for i in 0..SAMPLES {
        let mut drawn = pairs(spec, n, u64::from(i), 11);
        drawn.sort_unstable();
        *count.entry(drawn).or_default() += 1.0;
    }
    assert_eq!(count.len(), outcomes, "{spec} among {n}");
    let expected = f64::from(SAMPLES) / outcomes as f64;
    let chi: f64 = count.values().map(|c| (c - expected) * (c - expected) / expected).sum();
    assert!(chi < limit, "{spec} among {n}: {chi}");
}

#[test]
fn samples_are_uniform() {
    // 4!/2! bisections, derangements of 4 and of 5, perfect matchings of 4 and of 6.
    uniform("bisect", 4, 12, 31.3);
    uniform("permutation", 4, 9, 26.2);
    uniform("permutation", 5, 44, 77.5);
    uniform("dissemination", 4, 3, 13.9);
    uniform("dissemination", 6, 15, 36.2);
}

#[test]
fn groups_of_the_fabric_count() {
    let among = Participants::grouped(vec![4, 4, 9, 9, 9]);
    let made = pattern("adversarial", &among).expect("two groups");
    let mut out = Vec::new();
    made.fill(0, &mut Stream::new(1, 0), &mut out);
    assert_eq!(out, [[0, 2], [1, 3], [2, 0], [3, 1], [4, 0]]);
}

#[test]
fn refusals_say_what_would_work() {
    let all = |spec, n| refusal(spec, &Participants::all(n));
    assert_eq!(
        all("bisect", 7),
        "bisect needs an even number of terminals; there are 7 terminals: leave one out, or take permutation"
    );
    assert_eq!(
        all("bit-reverse", 12),
        "bit-reverse needs a power of two; there are 12 terminals: take 8 of them, or shift, tornado or permutation"
    );
    assert_eq!(
        all("permutation", 1),
        "permutation needs two terminals or more; there are 1 terminals: a single node has no destination"
    );
    assert_eq!(all("bisekt", 8), "no pattern is called \"bisekt\"; did you mean bisect?");
    assert_eq!(all("shift:by=9", 8), "shift: by=9: expected a whole number from 1 to 7");
    assert_eq!(all("shift:buy=9", 8), "shift has no key \"buy\"; did you mean by?");
    assert!(all("transpose", 12).contains("take 9 of them"));
    assert!(all("adversarial", 8).contains("group=16"));
    assert!(
        listed_pairs(vec![[0, 1], [1, 5]], 4).is_err_and(|e| e.to_string().contains("pair 2: 5"))
    );
}

proptest! {
    /// No participant sends to itself, all take part, permutations are permutations, and a sample does not depend on
    /// the other draws.
    #[test]
    fn all_patterns_are_sound(n in 2u32..70, seed in any::<u64>(), index in 0u64..50) {
        for kind in &PATTERNS {
            let group = (0..n).map(|s| s / 3).collect();
            let Ok(made) = pattern(kind.name(), &Participants::grouped(group)) else { continue };
            let index = match made.extent() {
                Extent::Phases(k) => index % k,
                Extent::Samples => index,
            };
            let (mut a, mut b) = (Vec::new(), vec![[0, 0]; 3]);
            made.fill(index, &mut Stream::new(seed, index), &mut a);
            made.fill(index, &mut Stream::new(seed, index), &mut b);
            prop_assert_eq!(&a, &b);
            prop_assert!(a.iter().all(|&[s, d]| s != d && s < n && d < n), "{}", kind.name());
            let (mut from, mut to) = (vec![0; n as usize], vec![0; n as usize]);
            for &[s, d] in &a {
                from[s as usize] += 1;
                to[d as usize] += 1;
            }
            let once = |c: &[i32]| c.iter().all(|&c| c == 1);
            match kind.name() {
                "permutation" | "shift" | "ring" | "bit-complement" | "recursive-doubling" | "bruck"
                | "barrier" => prop_assert!(once(&from) && once(&to), "{}", kind.name()),
                "dissemination" => {
                    prop_assert!(once(&from) && a.iter().all(|&[s, d]| a.contains(&[d, s])));
                }
                "bisect" => {
                    let sum: Vec<i32> = from.iter().zip(&to).map(|(a, b)| a + b).collect();
                    prop_assert!(once(&sum));
                }
                _ => {}
            }
        }
    }
}
