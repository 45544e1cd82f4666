//! Metrics of jobs against hand counts and pair-by-pair counts; scheduling-aware engines by them.

use std::collections::BTreeMap;

use darkfiber_analysis::jobs::{Effective, JobLoad};
use darkfiber_analysis::sharing::Sharing;
use darkfiber_fabric::{Fabric, TerminalId, Topology, open};
use darkfiber_routing::check::check;
use darkfiber_routing::{Request, Routes, find_engine};
use darkfiber_testkit::{connected_fabric, oracle};
use darkfiber_workload::Stream;
use proptest::prelude::*;

type Jobs = Vec<Vec<TerminalId>>;

fn jobs(lists: &[&[u32]]) -> Jobs {
    lists.iter().map(|list| list.iter().map(|&t| TerminalId(t)).collect()).collect()
}

fn route(on: &Topology, engine: &str, jobs: &Jobs) -> Routes {
    let request = Request { shape: on.shape.as_ref(), lanes: 15, jobs, ..Request::default() };
    let engine = find_engine(engine).expect("known");
    engine.route(&on.fabric, &request).unwrap_or_else(|e| panic!("{e}"))
}

/// Random jobs of these sizes on different terminals.
fn scattered(fabric: &Fabric, sizes: &[usize], seed: u64) -> Jobs {
    let mut all: Vec<TerminalId> = (0..fabric.terminal_count()).map(TerminalId::new).collect();
    Stream::new(seed, 0).shuffle(&mut all);
    let mut rest = all.into_iter();
    sizes.iter().map(|&n| rest.by_ref().take(n).collect()).collect()
}

/// Pair by pair: loads of all jobs together, and of each its own.
fn by_hand(fabric: &Fabric, routes: &Routes, jobs: &Jobs) -> (Vec<u64>, Vec<BTreeMap<u32, u32>>) {
    let mut all = vec![0; fabric.channel_count()];
    let each = jobs
        .iter()
        .map(|job| {
            let mut own = BTreeMap::new();
            for &s in job {
                for &d in job.iter().filter(|&&d| d != s) {
                    for c in oracle::path(fabric, routes, s, d).expect("reaches") {
                        all[c.index()] += 1;
                        *own.entry(c.0).or_default() += 1;
                    }
                }
            }
            own
        })
        .collect();
    (all, each)
}

#[test]
fn numbers_by_hand() {
    // Two leaves with two hosts each, one top, one cable each.
    let on = open("fattree2:n=2,m=1,r=2").expect("valid");
    let running = jobs(&[&[0, 2], &[1, 2, 3], &[0, 1]]);
    let routes = route(&on, "dmodk", &running);
    let facts = Effective::of(&on.fabric, &routes, &running).facts();
    // Up from the left leaf: 0-2, 1-2, 1-3; down to it: 2-0, 2-1, 3-1; the same on the right.
    assert_eq!((facts.effective_efi.max, facts.effective_efi.min), (3, 3));
    assert_eq!(facts.multi_switch_jobs, 2, "0 and 1 hang on one switch");
    assert!((facts.gamma_max_mean - 1.5).abs() < 1e-12, "1 of the first, 2 of the second");
    assert!((facts.links_per_job_mean - 4.0).abs() < 1e-12);
    assert!(facts.effective_dark_fiber_percent.abs() < 1e-12);
    let idle = Effective::of(&on.fabric, &routes, &jobs(&[&[0, 1]])).facts();
    assert_eq!((idle.effective_efi.max, idle.multi_switch_jobs), (0, 0));
    assert!((idle.effective_dark_fiber_percent - 100.0).abs() < 1e-12);
}

#[test]
fn jobs_on_the_same_place_add_up() {
    let on = open("hyperx:dims=4x3,t=4").expect("valid");
    let running = scattered(&on.fabric, &[9, 5, 12, 3], 4);
    let routes = route(&on, "dfsssp", &running);
    let mut all = Effective::new(&on.fabric);
    for job in &running {
        all.add(&JobLoad::of(&on.fabric, &routes, job), 2);
    }
    let twice: Jobs = running.iter().chain(&running).cloned().collect();
    assert_eq!(all, Effective::of(&on.fabric, &routes, &twice));
}

#[test]
fn who_runs_does_not_matter_but_where() {
    for engine in ["sar", "sar-minmax", "sar-best"] {
        for spec in ["hyperx:dims=4x3,t=4", "kary:k=4,n=3"] {
            let on = open(spec).expect("valid");
            let running = scattered(&on.fabric, &[11, 7, 7, 4], 9);
            let routes = route(&on, engine, &running);
            // Other order of jobs, other order of nodes.
            let mut other: Jobs = running.iter().rev().cloned().collect();
            for job in &mut other {
                job.reverse();
            }
            assert_eq!(route(&on, engine, &other), routes, "{engine} on {spec}");
            let dfsssp = check(&on.fabric, &route(&on, "dfsssp", &running));
            let report = check(&on.fabric, &routes);
            assert!(report.complete() && report.deadlock_free(), "{engine} on {spec}");
            assert_eq!(report.hops, dfsssp.hops, "{engine} on {spec}: hops of dfsssp");
        }
    }
}

#[test]
fn the_best_is_never_worse_than_what_it_knows() {
    let max = |on: &Topology, engine: &str, running: &Jobs| {
        let routes = route(on, engine, running);
        Effective::of(&on.fabric, &routes, running).facts().effective_efi.max
    };
    for (spec, sizes) in [
        ("fattree2:n=9,m=9,r=18", &[54, 54, 54][..]),
        ("kary:k=4,n=3", &[20, 20, 12, 8, 4]),
        ("hyperx:dims=5x4,t=3", &[25, 15, 10]),
        ("dragonfly:p=2,a=4,h=2", &[30, 20, 15, 5]),
    ] {
        let on = open(spec).expect("valid");
        for seed in 0..3 {
            let running = scattered(&on.fabric, sizes, seed);
            let best = max(&on, "sar-best", &running);
            for other in ["sar", "sar-minmax", "sssp", "dfsssp", "updn", "ftree", "dmodk"] {
                let request =
                    Request { shape: on.shape.as_ref(), jobs: &running, ..Request::default() };
                let engine = find_engine(other).expect("known");
                if engine.route(&on.fabric, &request).is_ok() {
                    let theirs = max(&on, other, &running);
                    assert!(best <= theirs, "{spec}, seed {seed}: {best}, {other} {theirs}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn loads_are_those_of_single_pairs(
        fabric in connected_fabric(),
        sizes in proptest::collection::vec(1usize..9, 1..5),
        seed in any::<u64>(),
    ) {
        let running = scattered(&fabric, &sizes, seed);
        let on = Topology { fabric, shape: None };
        for engine in ["updn", "sar", "sar-best"] {
            let request = Request { lanes: 15, jobs: &running, ..Request::default() };
            let Ok(routes) = find_engine(engine).expect("known").route(&on.fabric, &request) else {
                continue;
            };
            let (all, each) = by_hand(&on.fabric, &routes, &running);
            let found = Effective::of(&on.fabric, &routes, &running);
            prop_assert_eq!(&found.load, &all);
            let mut links = 0;
            for (job, own) in running.iter().zip(&each) {
                let load = JobLoad::of(&on.fabric, &routes, job);
                prop_assert_eq!(load.load.iter().copied().collect::<BTreeMap<_, _>>(), own.clone());
                prop_assert_eq!(load.max(), own.values().copied().max().unwrap_or(0));
                prop_assert_eq!(load.lost, 0);
                links += load.links();
            }
            let facts = found.facts();
            let mean = links as f64 / facts.multi_switch_jobs.max(1) as f64;
            prop_assert!((facts.links_per_job_mean - mean).abs() < 1e-9);
        }
    }
}

#[test]
fn who_shares_what_is_as_counted_pair_by_pair() {
    let on = open("kary:k=4,n=3").expect("valid");
    let running = scattered(&on.fabric, &[9, 5, 12, 3, 1, 16], 7);
    let routes = route(&on, "updn", &running);
    let sharing = Sharing::of(&on.fabric, &routes, &running);
    let (all, each) = by_hand(&on.fabric, &routes, &running);
    assert_eq!(sharing.all.load, all);
    for c in (0..on.fabric.channel_count()).map(darkfiber_fabric::ChannelId::new) {
        let who = (0..).zip(&each).filter_map(|(j, own)| Some((j, *own.get(&c.0)?)));
        assert_eq!(sharing.on(c), who.collect::<Vec<(u32, u32)>>());
    }
    for (j, own) in each.iter().enumerate() {
        let found = sharing.of_job(j);
        let others =
            |c: &u32| each.iter().enumerate().filter(|(k, o)| *k != j && o.contains_key(c)).count();
        assert_eq!(found.shared, own.keys().filter(|c| others(c) > 0).count());
        assert_eq!(
            found.with.iter().map(|w| w.1).sum::<usize>(),
            own.keys().map(others).sum::<usize>()
        );
        assert_eq!(found.fullest.map(|f| f.1), own.keys().map(|&c| all[c as usize]).max());
    }
    let dark = sharing.dark_cables(&on.fabric);
    assert!(!dark.is_empty());
    let is_dark = |c: usize| all[c] == 0 && all[on.fabric.reverses()[c] as usize] == 0;
    assert_eq!(2 * dark.len(), (0..all.len()).filter(|&c| is_dark(c)).count());
}
