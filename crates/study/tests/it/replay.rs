//! The replay of a machine's history, compared with recomputing everything at every moment.

use std::collections::BTreeMap;

use darkfiber_analysis::jobs::Effective;
use darkfiber_fabric::{TerminalId, Topology, parse_spec};
use darkfiber_routing::{Lids, Request, Routes};
use darkfiber_scenario::{Case, Chain};
use darkfiber_study::replay::{Moment, ReplayPlan, improvements, reconfigurations, replay};
use darkfiber_workload::{History, JobRequest, Machine, placement::allocator};

fn engines(names: &[&str]) -> Vec<Chain> {
    names.iter().map(|n| Chain::parse(n).expect("known")).collect()
}

/// Jobs of odd sizes on a machine for a day and more.
fn history(topology: &Topology) -> History {
    let mut seed = 12345u64;
    let mut draw = |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        i64::try_from((seed >> 33) % n).expect("small")
    };
    let mut requests: Vec<JobRequest> = (0..220)
        .map(|_| JobRequest {
            start: draw(100_000),
            seconds: 100 + draw(9000),
            processors: 1 + u32::try_from(draw(20)).expect("small"),
        })
        .collect();
    requests.sort_by_key(|w| w.start);
    let machine = Machine::new(topology, 2);
    let by = allocator("first-fit").expect("known");
    let (mut done, _) = History::scheduled(&machine, &requests, by, 1);
    // Two jobs on the same hosts, and one across them.
    let on = |ids: [u32; 3]| ids.map(TerminalId).to_vec();
    done.add(5000, 30_000, on([0, 7, 30]));
    done.add(9000, 40_000, on([0, 7, 30]));
    done.add(9000, 20_000, on([7, 8, 30]));
    done.sorted()
}

/// Moments by ten minutes.
fn plan<'a>(
    (case, lids, history): (&'a Case<()>, &'a Lids, &'a History),
    engines: &'a [Chain],
    from: i64,
    moments: usize,
) -> ReplayPlan<'a> {
    ReplayPlan { case, lids, history, engines, from, every: 600, moments }
}

fn all(plan: &ReplayPlan<'_>, first: usize) -> Vec<Moment> {
    let mut moments = Vec::new();
    replay(plan, first, &mut |m| {
        moments.push(m);
        true
    })
    .expect("no engine refuses");
    moments
}

#[test]
fn every_moment_is_as_if_made_anew() {
    let case = Case::of(parse_spec("kary:k=6,n=2").expect("valid"));
    let topology = case.topology();
    let lids = Lids::assign(&topology.fabric, 0).expect("few");
    let history = history(topology);
    let engines = engines(&["updn", "sar", "ftree", "sar-best"]);
    let site = (&case, &lids, &history);
    let plan = plan(site, &engines, -600, 190);
    let moments = all(&plan, 0);
    assert_eq!(moments.len(), 190);
    assert!(moments.iter().any(|m| m.multi_switch_jobs > 4));
    assert_eq!((moments[0].jobs, moments[0].changed), (0, false));

    let mut before: Option<(Vec<Vec<TerminalId>>, Vec<Routes>)> = None;
    for (i, moment) in moments.iter().enumerate() {
        let time = -600 + 600 * i64::try_from(i).expect("small");
        assert_eq!(moment.time, time);
        let running: Vec<Vec<TerminalId>> = history
            .stays()
            .iter()
            .filter(|s| s.start <= time && time < s.end)
            .map(|s| history.places()[s.place as usize].to_vec())
            .collect();
        assert_eq!(moment.jobs, running.len());
        let on = |t: &TerminalId| topology.fabric.terminal(*t).switch;
        let several: Vec<Vec<TerminalId>> =
            running.into_iter().filter(|j| j.iter().any(|t| on(t) != on(&j[0]))).collect();
        let mut places = several.clone();
        places.sort();
        places.dedup();
        let request =
            Request { shape: topology.shape.as_ref(), jobs: &several, ..Request::default() };
        let routes: Vec<Routes> =
            engines.iter().map(|e| e.route(&topology.fabric, &request).expect("routed")).collect();
        let changed = before.as_ref().is_some_and(|b| b.0 != places);
        assert_eq!(moment.changed, changed, "{i}");
        for (e, routes) in routes.iter().enumerate() {
            let facts = Effective::of(&topology.fabric, routes, &several).facts();
            let ours = moment.engines[e];
            assert_eq!(moment.multi_switch_jobs, facts.multi_switch_jobs);
            assert_eq!(ours.efi_max, facts.effective_efi.max, "{i}");
            assert!((ours.gamma_max_mean - facts.gamma_max_mean).abs() < 1e-12);
            assert!((ours.links_per_job_mean - facts.links_per_job_mean).abs() < 1e-12);
            assert!((ours.dark_fiber_percent - facts.effective_dark_fiber_percent).abs() < 1e-12);
            // Blocks by counting entry for entry.
            let mut blocks: BTreeMap<(usize, u16), usize> = BTreeMap::new();
            if let Some((_, old)) = before.as_ref() {
                for lid in 1..=lids.top() {
                    let Some((dest, path)) = lids.owner(lid) else { continue };
                    let entry = |r: &Routes, s: usize| r.ports(r.row(dest, path))[s];
                    for s in 0..topology.fabric.switch_count() {
                        if entry(&old[e], s) != entry(routes, s) {
                            *blocks.entry((s, lid / 64)).or_default() += 1;
                        }
                    }
                }
            }
            assert_eq!(ours.blocks, blocks.len(), "{i}");
            assert_eq!(ours.entries, blocks.values().sum::<usize>(), "{i}");
        }
        before = Some((places, routes));
    }

    // A replay that resumes where another one stopped gives the same results.
    for first in [1, 63, 64, 100, 189, 190] {
        assert_eq!(all(&plan, first), moments[first..], "{first}");
    }
    let mut seen = 0;
    replay(&plan, 3, &mut |_| {
        seen += 1;
        seen < 5
    })
    .expect("no engine refuses");
    assert_eq!(seen, 5);
}

#[test]
fn an_engine_that_refuses_is_named() {
    let case = Case::of(parse_spec("hyperx:dims=3x3,t=2").expect("valid"));
    let topology = case.topology();
    let lids = Lids::assign(&topology.fabric, 0).expect("few");
    let history = History::default().sorted();
    let engines = engines(&["sar", "ftree"]);
    let site = (&case, &lids, &history);
    let plan = plan(site, &engines, 0, 1);
    let failed = replay(&plan, 0, &mut |_| true).expect_err("a HyperX is no tree");
    assert_eq!(failed.engine, "ftree");
}

#[test]
fn improvements_and_days() {
    let case = Case::of(parse_spec("kary:k=6,n=2").expect("valid"));
    let topology = case.topology();
    let lids = Lids::assign(&topology.fabric, 0).expect("few");
    let history = history(topology);
    let engines = engines(&["sssp", "sar-best"]);
    let site = (&case, &lids, &history);
    let plan = plan(site, &engines, 0, 144 * 2);
    let moments = all(&plan, 0);
    let rows = improvements(&moments, &["sssp", "sar-best"], 1);
    assert_eq!(rows.len(), 4);
    let gains: Vec<f64> = moments
        .iter()
        .filter(|m| m.multi_switch_jobs > 0)
        .map(|m| m.engines[0].efi_max as f64 - m.engines[1].efi_max as f64)
        .collect();
    assert!((rows[0].mean - gains.iter().sum::<f64>() / gains.len() as f64).abs() < 1e-9);
    assert!(rows[0].min >= 0.0 && rows[0].max > 0.0 && rows[0].worse_percent == 0.0);
    assert!(rows[2].max_percent.is_none() && rows[3].max_percent.is_some());
    let often = reconfigurations(&moments, &[("sssp", false), ("sar-best", true)], 600);
    assert_eq!((often.days, often.engines.len()), (2, 1));
    assert_eq!(often.changes, moments.iter().filter(|m| m.changed).count());
    let sum: usize = moments.iter().map(|m| m.engines[1].blocks).sum();
    let mean = often.engines[0].blocks_mean;
    assert!((mean * often.changes as f64 - sum as f64).abs() < 1e-6);
    assert!((often.engines[0].seconds_mean - mean * 4.6e-6).abs() < 1e-12);
}
