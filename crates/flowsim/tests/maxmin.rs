//! Shares compared with an independent progressive filling, and with their definition.

use darkfiber_flowsim::{FlowId, MaxMin};
use darkfiber_workload::Stream;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Wanted {
    path: Vec<u32>,
    weight: f64,
    limit: f64,
}

/// All rates grow in proportion to their weights until a channel is full or a limit reached; those that it holds stay,
/// the others grow on.
fn filling(capacity: &[f64], flows: &[Wanted]) -> Vec<f64> {
    let mut rate = vec![0.0; flows.len()];
    let mut grows = vec![true; flows.len()];
    while grows.iter().any(|g| *g) {
        let mut step = f64::INFINITY;
        for (c, room) in capacity.iter().enumerate() {
            let on = |f: &(usize, &Wanted)| f.1.path.contains(&(c as u32));
            let used: f64 = flows.iter().enumerate().filter(on).map(|(i, _)| rate[i]).sum();
            let growing: f64 = flows
                .iter()
                .enumerate()
                .filter(on)
                .filter(|(i, _)| grows[*i])
                .map(|(_, f)| f.weight)
                .sum();
            if growing > 0.0 {
                step = step.min((room - used).max(0.0) / growing);
            }
        }
        for (i, f) in flows.iter().enumerate().filter(|(i, _)| grows[*i]) {
            step = step.min((f.limit - rate[i]) / f.weight);
        }
        if step == f64::INFINITY {
            grows.iter().zip(&mut rate).filter(|(g, _)| **g).for_each(|(_, r)| *r = f64::INFINITY);
            break;
        }
        for (i, f) in flows.iter().enumerate().filter(|(i, _)| grows[*i]) {
            rate[i] += step * f.weight;
        }
        let full: Vec<bool> = (0..capacity.len())
            .map(|c| {
                let on = flows.iter().zip(&rate).filter(|(f, _)| f.path.contains(&(c as u32)));
                on.map(|(_, r)| *r).sum::<f64>() >= capacity[c] * (1.0 - 1e-12)
            })
            .collect();
        for (i, f) in flows.iter().enumerate() {
            let held =
                f.path.iter().any(|&c| full[c as usize]) || rate[i] >= f.limit * (1.0 - 1e-12);
            grows[i] &= !held;
        }
    }
    rate
}

/// No channel is overloaded, and every flow has its limit, or a full channel on which none has a higher level.
fn certified(capacity: &[f64], flows: &[Wanted], rate: &[f64]) -> Result<(), TestCaseError> {
    let used = |c: u32| -> f64 {
        flows.iter().zip(rate).filter(|(f, _)| f.path.contains(&c)).map(|(_, r)| *r).sum()
    };
    for (c, room) in capacity.iter().enumerate() {
        prop_assert!(used(c as u32) <= room * (1.0 + 1e-9), "channel {c}");
    }
    for (f, &r) in flows.iter().zip(rate) {
        let held = |&c: &u32| {
            used(c) >= capacity[c as usize] * (1.0 - 1e-8)
                && flows.iter().zip(rate).all(|(g, &s)| {
                    !g.path.contains(&c) || s / g.weight <= r / f.weight * (1.0 + 1e-8)
                })
        };
        prop_assert!(r >= f.limit * (1.0 - 1e-9) || f.path.iter().any(held), "{f:?} at {r}");
    }
    Ok(())
}

fn wanted(channels: u32) -> impl Strategy<Value = Wanted> {
    let weight = prop_oneof![3 => Just(1.0), 1 => 0.1f64..10.0];
    let limit = prop_oneof![3 => Just(f64::INFINITY), 1 => 0.01f64..3.0];
    (prop::collection::btree_set(0..channels, 1..5), weight, limit).prop_map(
        |(path, weight, limit)| Wanted { path: path.into_iter().collect(), weight, limit },
    )
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-8 * a.abs().max(b.abs())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Flows come and go; after each change all rates equal those of filling from scratch.
    #[test]
    fn shares_are_fair_after_every_change(
        capacity in prop::collection::vec(prop_oneof![Just(1.0), 0.1f64..4.0], 12),
        steps in prop::collection::vec((wanted(12), any::<u16>(), 0u8..3), 1..40),
    ) {
        let mut shares = MaxMin::new(&capacity);
        let (mut flows, mut ids): (Vec<Wanted>, Vec<FlowId>) = (Vec::new(), Vec::new());
        let mut rates = std::collections::BTreeMap::new();
        let mut changed = Vec::new();
        for (flow, pick, what) in steps {
            if what > 0 || ids.is_empty() {
                ids.push(shares.add(&flow.path, flow.weight, flow.limit));
                flows.push(flow);
            }
            // Now and then one goes that has only just come.
            if what == 0 || pick % 5 == 0 {
                let i = pick as usize % ids.len();
                shares.remove(ids.swap_remove(i));
                flows.swap_remove(i);
            }
            if pick % 3 == 0 {
                continue;
            }
            // Whether changes are applied or everything is recomputed.
            if pick % 7 == 0 {
                shares.share_from_nothing(&mut changed);
            } else {
                shares.share(&mut changed);
            }
            for (id, _) in &changed {
                rates.insert(*id, shares.rate(*id));
            }
            let now: Vec<f64> = ids.iter().map(|id| shares.rate(*id)).collect();
            // A flow that is not reported as changed has its last reported rate.
            prop_assert!(ids.iter().zip(&now).all(|(id, r)| near(rates[id], *r)));
            prop_assert_eq!(shares.len(), flows.len());
            certified(&capacity, &flows, &now)?;
            for (a, b) in now.iter().zip(filling(&capacity, &flows)) {
                prop_assert!(near(*a, b), "{} {}", a, b);
            }
        }
    }

    /// More capacity takes nothing from the smallest share.
    #[test]
    fn room_never_hurts_the_least(
        capacity in prop::collection::vec(0.1f64..4.0, 8),
        flows in prop::collection::vec(wanted(8), 1..30),
        grown in 0usize..8,
    ) {
        let least = |capacity: &[f64]| {
            let mut shares = MaxMin::new(capacity);
            let ids: Vec<FlowId> = flows.iter().map(|f| shares.add(&f.path, f.weight, f.limit)).collect();
            shares.share(&mut Vec::new());
            let level = ids.iter().zip(&flows).map(|(id, f)| shares.rate(*id) / f.weight);
            level.fold(f64::INFINITY, f64::min)
        };
        let mut more = capacity.clone();
        more[grown] *= 2.0;
        prop_assert!(least(&more) >= least(&capacity) * (1.0 - 1e-9));
    }
}

#[test]
fn one_bottleneck_is_shared_by_weight() {
    let mut shares = MaxMin::new(&[6.0, 100.0]);
    let a = shares.add(&[0, 1], 1.0, f64::INFINITY);
    let b = shares.add(&[0], 2.0, f64::INFINITY);
    let free = shares.add(&[1], 1.0, f64::INFINITY);
    let mut changed = Vec::new();
    shares.share(&mut changed);
    assert_eq!((shares.rate(a), shares.rate(b), shares.rate(free)), (2.0, 4.0, 98.0));
    assert_eq!(changed.len(), 3);
    shares.remove(b);
    shares.share(&mut changed);
    assert_eq!((shares.rate(a), shares.rate(free)), (6.0, 94.0));
    assert_eq!(changed, [(a, 2.0), (free, 98.0)]);
    shares.remove(free);
    shares.share(&mut changed);
    assert!(changed.is_empty(), "a is held by the other channel");
}

/// A thousand flows that end one after the other, over channels drawn at random: changes go from channel to channel for long.
#[test]
fn shares_stay_fair_where_changes_cascade() {
    let mut stream = Stream::new(7, 0);
    let n = 120u32;
    let capacity: Vec<f64> = (0..n).map(|i| 1.0 + f64::from(i % 7) / 8.0).collect();
    let flows: Vec<Wanted> = (0..1_000)
        .map(|_| {
            let mut path: Vec<u32> = (0..5).map(|_| stream.below(n)).collect();
            path.sort_unstable();
            path.dedup();
            Wanted { path, weight: 1.0, limit: f64::INFINITY }
        })
        .collect();
    let mut shares = MaxMin::new(&capacity);
    let mut ids: Vec<FlowId> =
        flows.iter().map(|f| shares.add(&f.path, f.weight, f.limit)).collect();
    for gone in 0..ids.len() - 1 {
        shares.share(&mut Vec::new());
        if gone % 50 == 0 {
            for (id, fair) in ids.iter().zip(filling(&capacity, &flows[gone..])) {
                assert!(near(shares.rate(*id), fair), "{} {fair}", shares.rate(*id));
            }
        }
        shares.remove(ids.remove(0));
    }
}

#[test]
fn flows_without_channels_have_their_limits() {
    let mut shares = MaxMin::new(&[1.0]);
    let a = shares.add(&[], 1.0, 7.0);
    let b = shares.add(&[], 2.0, f64::INFINITY);
    shares.share(&mut Vec::new());
    assert_eq!((shares.rate(a), shares.rate(b)), (7.0, f64::INFINITY));
}
