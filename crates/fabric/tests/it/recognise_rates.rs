//! Rate of failed recognitions where 5 % of the cables and a switch are missing.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::damage::{Damage, Random};
use crate::{
    recognise_flies, recognise_grids, recognise_groups, recognise_swapped, recognise_trees,
};

/// A family: how many fabrics it has, and the check of one of them.
type Family = (&'static str, usize, fn(usize, Damage));

const FAMILIES: &[Family] = &[
    ("hyperx", recognise_grids::HYPERX.len(), recognise_grids::hyperx),
    ("lattices", recognise_grids::LATTICES.len(), recognise_grids::lattice),
    ("trees", recognise_trees::TREES.len(), recognise_trees::case),
    ("dragonflies", recognise_groups::DRAGONFLIES.len(), recognise_groups::case),
    ("dragonfly+", 1, |_, damage| recognise_groups::plus_case(damage)),
    ("swapped", recognise_swapped::FAMILIES.len(), |which, damage| {
        recognise_swapped::check(recognise_swapped::FAMILIES[which], damage.seed);
    }),
    ("flies", recognise_flies::DAMAGED.len(), recognise_flies::case),
];

/// Takes hours; `RATES=cases`, `FAMILY=name`, `FIRST=seed` and `WHICH=number` choose.
#[test]
#[ignore = "measures, with very many cases"]
#[expect(clippy::print_stdout, reason = "it is run for what it prints")]
fn rates() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<usize>().ok());
    let cases = number("RATES").unwrap_or(10_000);
    let first = number("FIRST").unwrap_or(0);
    let chosen = std::env::var("FAMILY").ok();
    std::panic::set_hook(Box::new(|_| {}));
    let mut bad = BTreeMap::new();
    for &(name, count, check) in FAMILIES {
        if chosen.as_ref().is_some_and(|c| c != name) {
            continue;
        }
        let next = AtomicUsize::new(0);
        let failures = Mutex::new(BTreeMap::new());
        let start = std::time::Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        if i >= cases {
                            break;
                        }
                        let seed = Random((first + i) as u64).below(usize::MAX) as u64;
                        let which = number("WHICH").unwrap_or(i % count);
                        let damage = Damage {
                            cables: 50,
                            switch: !(i / count).is_multiple_of(4),
                            hosts: 5,
                            seed,
                        };
                        if let Err(why) = catch_unwind(AssertUnwindSafe(|| check(which, damage))) {
                            let why = why.downcast_ref::<String>().cloned().unwrap_or_default();
                            failures.lock().expect("no panic").insert((which, seed), why);
                        }
                    }
                });
            }
        });
        let failures = failures.into_inner().expect("no panic");
        println!("{name}: {} of {cases} fail, {:?}", failures.len(), start.elapsed());
        for ((which, _), why) in &failures {
            println!("  {which}: {}", why.chars().take(1500).collect::<String>());
        }
        bad.insert(name, failures.len());
    }
    let _ = std::panic::take_hook();
    assert!(bad.values().all(|&n| n * 10_000 < cases.max(10_001)), "{bad:?}");
}
