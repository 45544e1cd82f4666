//! Benefit of easing even tables for the running jobs, compared with routing by `sar-best` from scratch: the table of
//! docs/ease.md.
//!
//! For each fabric 50 job mixes on 90 % of the terminals follow each other, placed alternately contiguous with holes, in
//! pieces, and at random. Even tables are those of `ftree` on trees and of `dfsssp` elsewhere. Load is the maximum number of
//! paths inside jobs on a channel. Entries are those that the change from one mix to the next rewrites, from each scheme's
//! own tables of the previous mix.
//!
//! `cargo run --release -p darkfiber-routing --example ease_curve [MIXES [MOVES [FABRIC...]]]`

#![expect(clippy::print_stdout, reason = "a table for people")]

use std::time::Instant;

use darkfiber_fabric::{Fabric, TerminalId, open};
use darkfiber_routing::check::check;
use darkfiber_routing::reroute::{Goal, Prepared, difference};
use darkfiber_routing::{Demand, DestId, Lids, Request, Routes, find_engine, least_load_of_jobs};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const FABRICS: [&str; 8] = [
    "fattree2:n=18,m=6,r=36",
    "kary:k=6,n=3",
    "hyperx:dims=6x6,t=4",
    "hyperx:dims=8x6,t=7",
    "dragonfly:p=2,a=4,h=2",
    "dragonfly:p=3,a=6,h=3",
    "jellyfish:n=40,d=6,p=4",
    "jellyfish:n=72,d=9,p=3",
];

/// Maximum number of steps that the update to eased tables may take.
const MOST_STEPS: usize = 16;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mixes: u64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(50);
    let moves: usize = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(1_000);
    let named: Vec<String> = arguments.collect();
    let fabrics = if named.is_empty() { FABRICS.map(str::to_owned).to_vec() } else { named };
    println!(
        "| fabric | hosts | even | `sar-best` | eased | bound | eased / `sar-best` | worst | entries `sar-best` | entries eased | share | in any order | most steps | withheld | all pairs: even, `sar-best`, eased | time |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for spec in &fabrics {
        row(spec, mixes, moves);
    }
}

/// Measurements of one job mix.
struct Mix {
    even: u64,
    best: u64,
    eased: u64,
    bound: u64,
    entries: Option<(usize, usize)>,
    all_pairs: (u64, u64),
    steps: usize,
    withheld: usize,
    seconds: f64,
}

fn row(spec: &str, mixes: u64, moves: usize) {
    let Ok(on) = open(spec) else {
        println!("{spec}: no such fabric");
        return;
    };
    let fabric = &on.fabric;
    let route = |engine: &str, jobs: &[Vec<TerminalId>]| {
        let request = Request { shape: on.shape.as_ref(), jobs, ..Request::default() };
        find_engine(engine).ok()?.route(fabric, &request).ok()
    };
    let Some(even) = route("ftree", &[]).or_else(|| route("dfsssp", &[])) else {
        println!("{spec}: no even tables");
        return;
    };
    let Ok(lids) = Lids::assign(fabric, 0) else { return };
    let Ok(prepared) = Prepared::new(fabric, &even, 1) else { return };
    let all_pairs = |routes: &Routes| check(fabric, routes).load.into_iter().max().unwrap_or(0);
    let mut found: Vec<Mix> = Vec::new();
    let mut before: Option<(Routes, Routes)> = None;
    for seed in 0..mixes {
        let jobs = jobs(fabric, seed);
        let Some(best) = route("sar-best", &jobs) else { continue };
        let demands = demands(&jobs);
        let start = Instant::now();
        let mut tables = prepared.clone().serving(&demands);
        let eased = tables.ease_for(&Goal { moves, ..Goal::default() }, MOST_STEPS);
        let seconds = start.elapsed().as_secs_f64();
        let routes = tables.into_routes();
        found.push(Mix {
            even: within(fabric, &even, &jobs),
            best: within(fabric, &best, &jobs),
            eased: within(fabric, &routes, &jobs),
            bound: least_load_of_jobs(fabric, &jobs),
            entries: before.as_ref().map(|(b, e)| {
                let changed =
                    |old: &Routes, new: &Routes| difference(fabric, old, new, &lids).entries;
                (changed(b, &best), changed(e, &routes))
            }),
            all_pairs: (all_pairs(&best), all_pairs(&routes)),
            steps: eased.steps.len(),
            withheld: eased.withheld,
            seconds,
        });
        before = Some((best, routes));
    }
    let of = |value: &dyn Fn(&Mix) -> f64| median(found.iter().map(value).collect());
    let entries = |which: &dyn Fn(&(usize, usize)) -> usize| {
        median(found.iter().filter_map(|m| m.entries.as_ref()).map(|e| which(e) as f64).collect())
    };
    let (sar, ours) = (entries(&|e| e.0), entries(&|e| e.1));
    let ratio = |m: &Mix| m.eased as f64 / m.best.max(1) as f64;
    let any_order = found.iter().filter(|m| m.steps < 2).count();
    let most_steps = found.iter().map(|m| m.steps).max().unwrap_or(0);
    println!(
        "| `{spec}` | {} | {} | {} | {} | {} | {:.3} | {:.3} | {sar} | {ours} | {:.2} % | {any_order} | {most_steps} | {} | {}, {}, {} | {:.1} ms |",
        fabric.terminal_count(),
        of(&|m| m.even as f64),
        of(&|m| m.best as f64),
        of(&|m| m.eased as f64),
        of(&|m| m.bound as f64),
        of(&ratio),
        found.iter().map(ratio).fold(0.0, f64::max),
        ours * 100.0 / sar,
        found.iter().map(|m| m.withheld).sum::<usize>(),
        all_pairs(&even),
        of(&|m| m.all_pairs.0 as f64),
        of(&|m| m.all_pairs.1 as f64),
        of(&|m| m.seconds) * 1e3,
    );
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The demands of every ordered pair inside a job.
fn demands(jobs: &[Vec<TerminalId>]) -> Vec<Demand> {
    let of = |job: &Vec<TerminalId>| {
        let pairs = job.iter().flat_map(|&from| job.iter().map(move |&to| (from, to)));
        let far = pairs.filter(|(from, to)| from != to);
        far.map(|(from, to)| Demand { from, to, weight: 1 }).collect::<Vec<_>>()
    };
    jobs.iter().flat_map(of).collect()
}

/// Maximum number of paths inside jobs on a channel.
fn within(fabric: &Fabric, routes: &Routes, jobs: &[Vec<TerminalId>]) -> u64 {
    let mut load = vec![0u64; fabric.channel_count()];
    let mut crossed = Vec::new();
    for d in demands(jobs) {
        crossed.clear();
        let ports = routes.ports(routes.row(DestId::terminal(d.to), routes.path_of(d.from)));
        let at = fabric.terminal(d.from).switch;
        if darkfiber_routing::follow(fabric, ports, d.to, at, &mut crossed) {
            for &c in &crossed {
                load[c as usize] += 1;
            }
        }
    }
    load.into_iter().max().unwrap_or(0)
}

/// Jobs of two terminals up to half of them, on 90 % of the terminals.
fn jobs(fabric: &Fabric, seed: u64) -> Vec<Vec<TerminalId>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut below = |n: usize| (random.next_u64() % n as u64) as usize;
    let mut free: Vec<TerminalId> = (0..fabric.terminal_count()).map(TerminalId::new).collect();
    let mut left = free.len() * 9 / 10;
    match seed % 3 {
        0 => {
            while free.len() > left {
                free.remove(below(free.len()));
            }
        }
        1 => {
            let mut pieces: Vec<Vec<TerminalId>> = Vec::new();
            while !free.is_empty() {
                pieces.push(free.drain(..(1 + below(5)).min(free.len())).collect());
            }
            while !pieces.is_empty() {
                free.extend(pieces.swap_remove(below(pieces.len())));
            }
        }
        _ => {
            for i in (1..free.len()).rev() {
                free.swap(i, below(i + 1));
            }
        }
    }
    let mut free = free.into_iter();
    let mut jobs = Vec::new();
    while left > 1 {
        let size = (2 + below(left.min(fabric.terminal_count() / 2))).min(left);
        jobs.push(free.by_ref().take(size).collect());
        left -= size;
    }
    jobs
}
