//! Even tables eased for jobs: each step is safe in any order, service levels stay, and the load decreases.

use darkfiber_fabric::{Faults, TerminalId, open};
use darkfiber_routing::check::check;
use darkfiber_routing::reroute::{Coexistence, Goal, Prepared};
use darkfiber_routing::{Demand, Request, Routes, find_engine, least_load_of_jobs};
use darkfiber_testkit::{connected_fabric, oracle};
use proptest::prelude::*;

use crate::reroute::keeps_its_promise;

const NAMES: [&str; 5] = ["minhop", "updn", "nue", "sssp", "dfsssp"];

fn route(on: &darkfiber_fabric::Fabric, engine: &str) -> Routes {
    let request = Request::default();
    find_engine(engine).expect("registered").route(on, &request).expect("connected")
}

proptest! {
    #[test]
    fn every_step_is_safe_in_any_order(
        fabric in connected_fabric(),
        engine in 0..NAMES.len(),
        pairs in prop::collection::vec((0u32..64, 0u32..64, 1u64..100), 1..160),
        moves in prop::sample::select(vec![0, 2, usize::MAX]),
        most in prop::sample::select(vec![1usize, 2, 3, 100]),
    ) {
        let old = route(&fabric, NAMES[engine]);
        let n = fabric.terminal_count() as u32;
        let of = |&(a, b, weight): &(u32, u32, u64)| {
            Demand { from: TerminalId(a % n), to: TerminalId(b % n), weight }
        };
        let demands: Vec<Demand> = pairs.iter().map(of).collect();
        let plain = Prepared::new(&fabric, &old, 1).expect("its own").serving(&demands);
        let mut prepared = plain.clone();
        let eased = prepared.ease_for(&Goal { moves, ..Goal::default() }, most);
        prop_assert!(eased.steps.len() <= most);
        prop_assert!(eased.relief.after <= eased.relief.before);
        // Without a limit of steps the largest load is that of `relieve`, and the last move lowers it.
        let mut freely = plain.clone();
        let all = freely.relieve(&Goal { moves, ..Goal::default() });
        prop_assert!(eased.relief.moves.len() + eased.withheld <= all.moves.len());
        if most == 100 {
            prop_assert_eq!(eased.withheld, 0);
            prop_assert_eq!(eased.relief.after.to_bits(), all.after.to_bits());
        }
        if let [.., last] = &eased.relief.moves[..] {
            prop_assert!(last.fullest < eased.relief.before);
            let rest = &eased.relief.moves[..eased.relief.moves.len() - 1];
            prop_assert!(rest.iter().all(|m| m.fullest > last.fullest));
        }
        let mut now = old.clone();
        for step in &eased.steps {
            let before = now.clone();
            for change in step {
                let entry = &mut now.ports_mut(change.row as usize)[change.switch.index()];
                prop_assert_eq!(*entry, change.old);
                *entry = change.new;
            }
            keeps_its_promise(
                &fabric, &Faults::default(), (&old, &before, &now), step, &Coexistence::AnyOrder,
            )?;
        }
        let new = prepared.routes();
        for row in 0..old.row_count() {
            prop_assert_eq!(now.ports(row), new.ports(row));
        }
        for s in (0..n).map(TerminalId) {
            for d in (0..n).map(TerminalId) {
                prop_assert_eq!(old.layer(&fabric, s, d), new.layer(&fabric, s, d));
            }
        }
        let (was, is) = (check(&fabric, &old), check(&fabric, new));
        prop_assert!(is.complete() && (is.deadlock_free() || !was.deadlock_free()));
    }

    #[test]
    fn demands_may_change_without_preparing_anew(
        fabric in connected_fabric(),
        first in prop::collection::vec((0u32..64, 0u32..64, 1u64..100), 0..60),
        second in prop::collection::vec((0u32..64, 0u32..64, 1u64..100), 0..60),
    ) {
        let old = route(&fabric, "dfsssp");
        let n = fabric.terminal_count() as u32;
        let demands = |pairs: &[(u32, u32, u64)]| -> Vec<Demand> {
            let of = |&(a, b, weight): &(u32, u32, u64)| {
                Demand { from: TerminalId(a % n), to: TerminalId(b % n), weight }
            };
            pairs.iter().map(of).collect()
        };
        let (first, second) = (demands(&first), demands(&second));
        let base = Prepared::new(&fabric, &old, 1).expect("its own");
        let mut again = base.serving(&first).serving(&second);
        let mut anew = Prepared::with_demands(&fabric, &old, 1, &second).expect("its own");
        let goal = Goal::default();
        prop_assert_eq!(again.ease_for(&goal, 9), anew.ease_for(&goal, 9));
    }
}

/// Jobs placed contiguously across the switches of two fabrics: eased tables are as good as those of `sar-best`, and no
/// tables are better than the bound.
#[test]
fn as_good_as_scheduling_aware_routing() {
    for (spec, even) in [("kary:k=4,n=3", "ftree"), ("dragonfly:p=2,a=4,h=2", "dfsssp")] {
        let on = open(spec).expect("valid");
        let n = on.fabric.terminal_count();
        let job = |k: usize| (0..n).filter(|t| t % 3 == k).map(TerminalId::new).collect();
        let jobs: Vec<Vec<TerminalId>> = (0..3).map(job).collect();
        let request = Request { shape: on.shape.as_ref(), jobs: &jobs, ..Request::default() };
        let tables = |engine: &str| {
            find_engine(engine).expect("known").route(&on.fabric, &request).expect("routes")
        };
        let pairs = jobs.iter().flat_map(|job| {
            job.iter().flat_map(move |&from| job.iter().map(move |&to| (from, to)))
        });
        let demands: Vec<Demand> = pairs
            .filter(|(from, to)| from != to)
            .map(|(from, to)| Demand { from, to, weight: 1 })
            .collect();
        let fullest = |routes: &Routes| {
            let mut load = vec![0u64; on.fabric.channel_count()];
            for d in &demands {
                let path = oracle::path(&on.fabric, routes, d.from, d.to).expect("reaches");
                for c in path {
                    load[c.index()] += 1;
                }
            }
            load.into_iter().max().expect("channels")
        };
        let mut prepared =
            Prepared::new(&on.fabric, &tables(even), 1).expect("tables").serving(&demands);
        let eased = prepared.ease_for(&Goal::default(), 16);
        let counted = fullest(prepared.routes()) as f64;
        assert_eq!(eased.relief.after.to_bits(), counted.to_bits());
        let (best, ours) = (fullest(&tables("sar-best")), fullest(prepared.routes()));
        assert!(ours * 100 <= best * 105, "{spec}: {ours} {best}");
        assert!(ours >= least_load_of_jobs(&on.fabric, &jobs), "{spec}");
    }
}
