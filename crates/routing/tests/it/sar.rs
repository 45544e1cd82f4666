//! Engines for the jobs that run: paths inside jobs on the fullest channel.

use darkfiber_fabric::{Fabric, Faults, TerminalId, Topology, open};
use darkfiber_routing::check::check;
use darkfiber_routing::{Request, Routes, find_engine};
use darkfiber_testkit::oracle;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rayon::ThreadPoolBuilder;

type Jobs = Vec<Vec<TerminalId>>;

/// Where jobs run.
#[derive(Clone, Copy, Debug)]
enum Placement {
    /// Side by side, with holes.
    FirstFit,
    /// In pieces of a few terminals each.
    Fragmented,
    Random,
    /// Random, and some terminals run two jobs.
    Shared,
}

const PLACEMENTS: [Placement; 4] =
    [Placement::FirstFit, Placement::Fragmented, Placement::Random, Placement::Shared];

/// Jobs of two terminals up to half of them, on nine of ten.
fn jobs(fabric: &Fabric, placement: Placement, seed: u64) -> Jobs {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut below = |n: usize| (random.next_u64() % n as u64) as usize;
    let mut free: Vec<TerminalId> = (0..fabric.terminal_count()).map(TerminalId::new).collect();
    let mut left = free.len() * 9 / 10;
    match placement {
        Placement::FirstFit => {
            while free.len() > left {
                free.remove(below(free.len()));
            }
        }
        Placement::Fragmented => {
            let mut pieces: Vec<Vec<TerminalId>> = Vec::new();
            while !free.is_empty() {
                pieces.push(free.drain(..(1 + below(5)).min(free.len())).collect());
            }
            while !pieces.is_empty() {
                free.extend(pieces.swap_remove(below(pieces.len())));
            }
        }
        Placement::Random | Placement::Shared => {
            for i in (1..free.len()).rev() {
                free.swap(i, below(i + 1));
            }
        }
    }
    let mut free = free.into_iter();
    let mut jobs = Jobs::new();
    while left > 1 {
        let size = (2 + below(left.min(fabric.terminal_count() / 2))).min(left);
        jobs.push(free.by_ref().take(size).collect());
        left -= size;
    }
    if let (Placement::Shared, [first, .., last]) = (placement, &mut jobs[..]) {
        last.extend(&first[..2]);
    }
    jobs
}

fn route(on: &Topology, engine: &str, jobs: &Jobs) -> Option<Routes> {
    let request = Request { shape: on.shape.as_ref(), lanes: 15, jobs, ..Request::default() };
    find_engine(engine).expect("known").route(&on.fabric, &request).ok()
}

/// Most paths inside jobs on a channel; a pair counts once, however many jobs it shares.
fn fullest(fabric: &Fabric, routes: &Routes, jobs: &Jobs) -> u64 {
    let each = |job: &Vec<TerminalId>| {
        let pairs = job.iter().flat_map(|&s| job.iter().map(move |&d| (s, d)));
        pairs.collect::<Vec<_>>()
    };
    let mut pairs: Vec<_> = jobs.iter().flat_map(each).filter(|(s, d)| s != d).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut load = vec![0; fabric.channel_count()];
    for (s, d) in pairs {
        for c in oracle::path(fabric, routes, s, d).expect("reaches") {
            load[c.index()] += 1;
        }
    }
    load.into_iter().max().unwrap_or(0)
}

fn fabrics() -> Vec<(String, Topology)> {
    let mut all = Vec::new();
    for spec in [
        "fattree2:n=6,m=6,r=12",
        "fattree2:n=6,m=3,r=8",
        "kary:k=3,n=3",
        "pgft:m=4x4x3,w=1x4x2,p=1x1x3",
        "hyperx:dims=5x4,t=3",
        "dragonfly:p=2,a=4,h=2",
        "torus:dims=4x4,t=2",
        "jellyfish:n=24,d=5,p=2",
    ] {
        let whole = open(spec).expect("valid");
        let faults = Faults::random_links(&whole.fabric, 4, 7).expect("connected");
        all.push((format!("{spec}, damaged"), whole.with_faults(&faults).0));
        all.push((spec.to_owned(), whole));
    }
    all
}

#[test]
fn the_best_is_never_worse_than_the_others_wherever_jobs_run() {
    for (name, on) in fabrics() {
        for placement in PLACEMENTS {
            for seed in 0..3 {
                let jobs = jobs(&on.fabric, placement, seed);
                let most = |routes: &Routes| fullest(&on.fabric, routes, &jobs);
                let best = route(&on, "sar-best", &jobs).expect("routes");
                let ours = most(&best);
                let sssp = route(&on, "sssp", &jobs).expect("routes");
                let shortest = check(&on.fabric, &sssp).hops;
                let report = check(&on.fabric, &best);
                assert!(
                    report.complete() && report.deadlock_free(),
                    "{name}, {placement:?}, {seed}"
                );
                assert_eq!(report.hops, shortest, "{name}, {placement:?}, {seed}: hops");
                for engine in ["sar", "sar-minmax", "sssp", "ftree"] {
                    let Some(other) = route(&on, engine, &jobs) else { continue };
                    if check(&on.fabric, &other).hops == shortest && other.layer_count() == 1
                        || engine != "ftree"
                    {
                        let theirs = most(&other);
                        assert!(
                            ours <= theirs,
                            "{name}, {placement:?}, {seed}: {ours}, {engine} {theirs}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn threads_change_nothing() {
    for (name, on) in fabrics() {
        for placement in PLACEMENTS {
            let jobs = jobs(&on.fabric, placement, 5);
            for engine in ["sar", "sar-minmax", "sar-best"] {
                let [one, three] = [1, 3].map(|threads| {
                    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
                    pool.expect("a thread pool").install(|| route(&on, engine, &jobs))
                });
                assert!(one == three, "{name}, {placement:?}: {engine}");
            }
        }
    }
}

#[test]
fn the_bound_is_reached_where_jobs_fill_leaves() {
    // Each job is two leaves of six hosts: 36 paths out of each over six cables.
    let on = open("fattree2:n=6,m=6,r=12").expect("valid");
    let jobs: Jobs = (0..6).map(|j| (12 * j..12 * j + 12).map(TerminalId).collect()).collect();
    let routes = route(&on, "sar-best", &jobs).expect("routes");
    assert_eq!(fullest(&on.fabric, &routes, &jobs), 6);
}
