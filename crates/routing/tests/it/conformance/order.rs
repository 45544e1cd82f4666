//! The order of switches, cables and ports in a fabric decides ties only.

use darkfiber_routing::check::Report;
use darkfiber_routing::{ENGINES, LayerBy};

use super::{Case, Result, SHORTEST};
use darkfiber_testkit::families::{badly_damaged, relabelled, small, topology};

/// Maximum factor between the largest loads of two orders of the same network, which break ties differently: the
/// factor measured with the first two other orders, rounded up.
fn tie_factor(engine: &str) -> f64 {
    match engine {
        // These depend on the shape alone, and on symmetry.
        "dmodk" | "smodk" | "opt" | "opt-rect" | "torus" | "hyperx-min" => 1.0,
        "dragonfly-min" => 1.04,
        "ftree" | "ar_ftree" => 1.1,
        "sssp" | "dfsssp" => 1.2,
        "updn" | "dnup" | "ar_updn" => 1.75,
        // Without jobs these balance nothing.
        "sar" | "sar-minmax" => 8.0,
        // `minhop` assigns destinations in the order in which they come.
        "minhop" => 2.2,
        // One pass over the destinations in their order, whereas sssp compares several.
        "parx-minimal" => 2.0,
        _ => 1.5,
    }
}

#[test]
fn the_order_of_switches_cables_and_ports_decides_ties_only() {
    ties_only(&[(2, true)], 1.0);
}

#[test]
#[ignore = "slow: more orders, in the nightly tier"]
fn more_orders_decide_ties_only() {
    ties_only(&[(1, false)], 1.0);
    // Orders that the factors were not measured with: `ftree` has 1.14 there, `dragonfly-min` 1.05.
    ties_only(&[(3, true), (4, true)], 1.5);
}

/// Other orders of switches and cables, and of ports if asked, by seed; loads may differ so many times as much as measured.
fn ties_only(orders: &[(u64, bool)], slack: f64) {
    for spec in small() {
        let whole = topology(spec);
        let mut bases = vec![("whole".to_owned(), whole.clone())];
        bases.extend(badly_damaged(&whole));
        for (damage, base) in &bases {
            for &(seed, ports) in orders {
                let other = relabelled(base, seed, ports);
                let name = format!("{spec} {damage}, order {seed}");
                let [one, two] =
                    [base, &other].map(|on| Case::new(on, damage == "whole", name.as_str()));
                for engine in &ENGINES {
                    let [a, b] = [&one, &two]
                        .map(|case| case.judged(*engine, &case.request(8, LayerBy::Pair)));
                    alike(engine.name(), &name, slack, a, b);
                }
            }
        }
    }
}

/// Checks for the same verdict on two orders of one network, and nearly the same quality.
fn alike(engine: &str, name: &str, slack: f64, a: Result, b: Result) {
    let (a, b) = match (a, b) {
        (Ok((_, a)), Ok((_, b))) => (a, b),
        (Err(a), Err(b)) => {
            let same = std::mem::discriminant(&a) == std::mem::discriminant(&b);
            return assert!(same, "{engine} on {name}: {a}, but then: {b}");
        }
        (a, b) => panic!("{engine} on {name}: {:?}, but then: {:?}", a.err(), b.err()),
    };
    let factor = |a: f64, b: f64| (a / b).max(b / a);
    let largest = |r: &Report| r.load.iter().copied().max().unwrap_or(0) as f64;
    let (x, y) = (largest(&a), largest(&b));
    let most = 1.0 + slack * (tie_factor(engine) - 1.0);
    assert!(factor(x, y) <= most, "{engine} on {name}: largest load {x}, then {y}");
    let (x, y) = (a.hops().mean, b.hops().mean);
    if SHORTEST.contains(&engine) {
        assert_eq!(a.hops, b.hops, "{engine} on {name}");
    } else {
        assert!(factor(x, y) <= 1.1, "{engine} on {name}: {x} hops, then {y}");
    }
    // Frugal paths find the order of dimensions where ports or ids show it, and otherwise take more layers.
    let (x, y) = (a.layers.len(), b.layers.len());
    assert!(x.abs_diff(y) <= 3, "{engine} on {name}: {x} layers, then {y}");
}
