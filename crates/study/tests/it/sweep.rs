//! Sweeps against closed forms, searches, and themselves.

use std::sync::Arc;

use darkfiber_fabric::{TerminalId, Topology, open};
use darkfiber_routing::{Engine, Request, find_engine};
use darkfiber_scenario::{Folder, Loaded, Scenario};
use darkfiber_study::grid::{Hooks, NullStore};
use darkfiber_study::{Chain, Pieces, Stat, SweepOutcome, SweepPlan, SweepRun, summarise, sweep};
use darkfiber_testkit::{any_fabric, oracle};
use proptest::prelude::*;

fn engine(name: &str) -> &'static dyn Engine {
    find_engine(name).expect("an engine")
}

fn chains(names: &[&str]) -> Vec<Chain> {
    let chain = |name: &&str| Chain {
        name: (*name).to_owned(),
        engines: name.split('+').map(engine).collect(),
    };
    names.iter().map(chain).collect()
}

/// A plan for fabrics that are there.
fn swept(fabrics: Vec<Topology>, plan: &SweepPlan<'_>, done: &(dyn Fn() + Sync)) -> Vec<SweepRun> {
    let loaded: Vec<Arc<Loaded>> = fabrics.into_iter().map(|t| Arc::new(t.into())).collect();
    let files = Folder::default();
    let hooks = Hooks { done, ..Hooks::of(&NullStore, &files) };
    sweep(plan, &loaded, &hooks).expect("runs are scenarios")
}

fn run(specs: &[&str], engines: &[&str], percents: &[f64], seeds: u64) -> Vec<SweepRun> {
    let names: Vec<String> = specs.iter().map(|&spec| spec.to_owned()).collect();
    let (scenario, chains) = (Scenario::default(), chains(engines));
    let plan = SweepPlan { scenario: &scenario, fabrics: &names, chains: &chains, percents, seeds };
    let steps = std::sync::atomic::AtomicUsize::new(0);
    let count = || {
        steps.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    };
    let fabrics = specs.iter().map(|spec| open(spec).expect("a spec")).collect();
    let runs = swept(fabrics, &plan, &count);
    assert_eq!(steps.into_inner(), plan.steps());
    assert_eq!(runs.len(), plan.steps());
    runs
}

/// In a ring of five with a host each, all shortest paths load each channel with 1 + 2. Without a
/// cable it is a row, with 2 x 3 on the channels in the middle.
#[test]
fn a_ring_that_loses_a_cable() {
    let runs = run(&["torus:dims=5,t=1"], &["minhop", "dfsssp", "updn"], &[1.0], 4);
    let summary = summarise(&runs);
    let all = |x: f64| Some(Stat { mean: x, min: x, max: x });
    assert_eq!(summary.len(), 6);
    for s in &summary[..2] {
        assert_eq!((s.percent, s.failed, s.runs, s.lost), (0.0, 0, 1, all(0.0)));
        assert_eq!((s.efi_max, s.efi_max_relative), (all(3.0), all(1.0)), "{}", s.engine);
    }
    // A cycle of five channels in the ring; dfsssp needs a second lane for it.
    assert_eq!([summary[0].deadlock_free, summary[1].deadlock_free], [0, 1]);
    assert_eq!([summary[0].layers, summary[1].layers], [all(1.0), all(2.0)]);
    for s in &summary[3..] {
        assert_eq!((s.percent, s.failed, s.runs, s.deadlock_free), (1.0, 1, 4, 4));
        assert_eq!((s.efi_max, s.layers, s.lost), (all(6.0), all(1.0), all(0.0)));
        // 4, 3, 2 and 1 pairs, in each direction, are 1, 2, 3 and 4 cables apart; hops are switches.
        assert_eq!(s.hops_mean, all((4.0 * 2.0 + 3.0 * 3.0 + 2.0 * 4.0 + 5.0) * 2.0 / 20.0));
    }
    assert_eq!(summary[3].efi_max_relative, all(2.0));
}

/// Three switches with 2, 3 and 4 hosts; without cables only pairs on one switch can talk.
#[test]
fn all_cables_fail() {
    let fabric = darkfiber_testkit::fabric("a-b; b-c; x@a x2; y@b x3; z@c x4");
    let (names, chains) = (["three".to_owned()], chains(&["minhop"]));
    let scenario = Scenario { seed: Some(7), ..Scenario::default() };
    let (fabrics, percents) = (&names[..], &[100.0][..]);
    let plan = SweepPlan { scenario: &scenario, fabrics, chains: &chains, percents, seeds: 1 };
    let runs = swept(vec![Topology { fabric, shape: None }], &plan, &|| ());
    let last = &runs[1];
    assert_eq!((last.failed, last.pieces, last.seed), (2, 3, 7));
    let m = last.measured().expect("nothing is left to refuse");
    assert_eq!((m.pairs, m.lost, m.unrouted), (72, 72 - (2 + 6 + 12), 0));
    assert_eq!((m.efi_max, m.efi_max_relative, m.layers), (0, Some(0.0), 1));
    assert!((m.hops_mean - 1.0).abs() < 1e-12);
}

#[test]
fn pieces_are_routed_one_by_one() {
    let fabric = darkfiber_testkit::fabric("a-b; c-d; e-f; h@a x2; i@b; j@c; k@d x3");
    let pieces = Pieces::of(Topology { fabric, shape: None });
    assert_eq!(pieces.count(), 3);
    let m = pieces.route(&[engine("sssp")], &Request::default(), &|| 0.0).expect("routable");
    // Three hosts in one piece, four in the other, none in the third.
    assert_eq!((m.pairs, m.lost, m.unrouted), (42, 42 - 6 - 12, 0));
    assert_eq!(m.efi_max, 3);
    assert!((m.hops_mean - 28.0 / 18.0).abs() < 1e-12, "{}", m.hops_mean);
    assert!(m.deadlock_free);
}

#[test]
fn refusals_are_rows_and_chains_fall_back() {
    let runs = run(&["torus:dims=5,t=1"], &["dmodk", "dmodk+minhop"], &[50.0], 2);
    for pair in runs.chunks(2) {
        let SweepOutcome::Refused { refused } = &pair[0].outcome else { panic!("{:?}", pair[0]) };
        assert!(refused.starts_with("needs "), "{refused}");
        assert!(pair[1].measured().is_some());
    }
    let summary = summarise(&runs);
    assert_eq!((summary[2].refused, summary[2].runs, summary[2].lost), (2, 2, None));
    assert!(summary[2].reason.is_some());
}

#[test]
fn shares_are_sorted_and_seeds_nest() {
    let runs = run(&["hyperx:dims=4x4,t=1"], &["minhop"], &[20.0, 5.0, 0.0, 20.0], 3);
    let got: Vec<(f64, usize, u64)> = runs.iter().map(|r| (r.percent, r.failed, r.seed)).collect();
    let mut expected = vec![(0.0, 0, 1)];
    expected.extend((1..=3).map(|seed| (5.0, 2, seed)));
    expected.extend((1..=3).map(|seed| (20.0, 10, seed)));
    assert_eq!(got, expected);
}

#[test]
fn threads_do_not_change_a_row() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let specs = ["hyperx:dims=4x4,t=2", "kary:k=4,n=2", "torus:dims=4x4,t=1"];
            run(&specs, &["minhop", "updn", "dfsssp", "dmodk"], &[3.0, 30.0, 70.0], 3)
        })
    };
    let one = with(1);
    assert!(one.iter().any(|r| r.pieces > 1) && one.iter().any(|r| r.measured().is_none()));
    assert_eq!(one, with(2));
}

proptest! {
    #[test]
    fn lost_are_those_that_no_search_finds(fabric in any_fabric()) {
        let terminals = || (0..fabric.terminal_count()).map(TerminalId::new);
        let mut apart = 0;
        for d in terminals() {
            let near = oracle::distances(&fabric, fabric.terminal(d).switch);
            apart += terminals()
                .filter(|&s| near[fabric.terminal(s).switch.index()].is_none())
                .count() as u64;
        }
        let n = fabric.terminal_count() as u64;
        let pieces = Pieces::of(Topology { fabric, shape: None });
        if let Ok(m) = pieces.route(&[engine("minhop")], &Request::default(), &|| 0.0) {
            prop_assert_eq!((m.pairs, m.lost, m.unrouted), (n * n.saturating_sub(1), apart, 0));
        } else {
            prop_assert!(n < 2, "only a fabric without hosts is refused");
        }
    }
}
