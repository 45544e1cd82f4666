//! Engines for the running jobs: paths inside jobs on the most loaded channel.

use std::cmp::Reverse;

use darkfiber_fabric::{ChannelId, Fabric, Faults, SwitchId, TerminalId, Topology, open};
use darkfiber_routing::check::check;
use darkfiber_routing::{Request, Routes, find_engine};
use darkfiber_testkit::oracle;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rayon::ThreadPoolBuilder;

type Jobs = Vec<Vec<TerminalId>>;

/// Placement of the jobs on the terminals.
#[derive(Clone, Copy, Debug)]
enum Placement {
    /// Contiguous, with holes.
    FirstFit,
    /// In pieces of a few terminals each.
    Fragmented,
    Random,
    /// Random, and some terminals run two jobs.
    Shared,
}

const PLACEMENTS: [Placement; 4] =
    [Placement::FirstFit, Placement::Fragmented, Placement::Random, Placement::Shared];

/// Jobs of two terminals up to half of them, on 90 % of the terminals.
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

/// Maximum number of paths inside jobs on a channel; a pair counts once, however many jobs it shares.
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

/// Duration of the shifts of each job, with ranks numbered by terminal: the sum over shifts of the paths on the most
/// loaded channel.
fn shifts(fabric: &Fabric, routes: &Routes, jobs: &Jobs) -> Vec<u64> {
    let length = |job: &Vec<TerminalId>| {
        let mut ranks = job.clone();
        ranks.sort_unstable();
        ranks.dedup();
        let shift = |k: usize| {
            let mut load = vec![0; fabric.channel_count()];
            for (r, &s) in ranks.iter().enumerate() {
                let d = ranks[(r + k) % ranks.len()];
                for c in oracle::path(fabric, routes, s, d).expect("reaches") {
                    load[c.index()] += 1;
                }
            }
            load.into_iter().max().unwrap_or(0)
        };
        (1..ranks.len()).map(shift).sum()
    };
    jobs.iter().map(length).collect()
}

/// Whether the shifts of no job take longer in `ours` than in `theirs`.
fn within(ours: &[u64], theirs: &[u64]) -> bool {
    ours.iter().zip(theirs).all(|(ours, theirs)| ours <= theirs)
}

/// The first of the jobs, together on at most `percent` percent of the terminals.
fn some(mut jobs: Jobs, fabric: &Fabric, percent: usize) -> Jobs {
    let mut left = fabric.terminal_count() * percent / 100;
    for job in &mut jobs {
        job.truncate(left);
        left -= job.len();
    }
    jobs.retain(|job| job.len() > 1);
    jobs
}

/// The paths of pairs inside jobs by an independent Algorithm 1: source, destination and channels.
fn algorithm_1(fabric: &Fabric, jobs: &Jobs) -> Vec<(TerminalId, TerminalId, Vec<ChannelId>)> {
    let n = fabric.terminal_count();
    let largest = |t: usize| {
        let with = |job: &&Vec<TerminalId>| job.contains(&TerminalId::new(t));
        jobs.iter().filter(with).map(Vec::len).max().unwrap_or(0)
    };
    let mut order: Vec<usize> = (0..n).filter(|&t| largest(t) > 0).collect();
    order.sort_by_key(|&t| (Reverse(largest(t)), t));
    let mut weight = vec![0u64; fabric.channel_count()];
    let mut paths = Vec::new();
    for d in order.into_iter().map(TerminalId::new) {
        // Switches by hops from the destination's; each sends on the channel with the smallest sum, of these the
        // lowest.
        let home = fabric.terminal(d).switch;
        let mut best = vec![None; fabric.switch_count()];
        best[home.index()] = Some((0, 0, None));
        let mut level = vec![home];
        for hops in 1.. {
            let mut next: Vec<SwitchId> = Vec::new();
            for v in level.iter().flat_map(|&v| fabric.channels_from(v)) {
                let s = SwitchId(fabric.heads()[v]);
                if best[s.index()].is_none() && !next.contains(&s) {
                    next.push(s);
                }
            }
            let choose = |s: &SwitchId| {
                let closer = fabric.channels_from(*s).filter_map(|c| {
                    let (far, sum, _) = best[fabric.heads()[c] as usize]?;
                    (far + 1 == hops).then_some((hops, sum + weight[c], Some(c)))
                });
                closer.min_by_key(|&(_, sum, c)| (sum, c))
            };
            let chosen: Vec<_> = next.iter().map(choose).collect();
            for (s, chosen) in next.iter().zip(chosen) {
                best[s.index()] = chosen;
            }
            level = next;
            if level.is_empty() {
                break;
            }
        }
        let mut mates: Vec<TerminalId> =
            jobs.iter().filter(|job| job.contains(&d)).flatten().copied().collect();
        mates.sort_unstable();
        mates.dedup();
        for s in mates.into_iter().filter(|&s| s != d) {
            let mut path = Vec::new();
            let mut at = fabric.terminal(s).switch;
            while let Some((.., Some(c))) = best[at.index()] {
                path.push(ChannelId::new(c));
                at = SwitchId(fabric.heads()[c]);
            }
            paths.push((s, d, path));
        }
        let first = paths.iter().rposition(|(_, to, _)| *to != d).map_or(0, |i| i + 1);
        for c in paths[first..].iter().flat_map(|(.., path)| path) {
            weight[c.index()] += 1;
        }
    }
    paths
}

#[test]
fn paths_inside_jobs_are_those_of_algorithm_1() {
    for (name, on) in fabrics() {
        for placement in PLACEMENTS {
            for percent in [10, 25, 60, 100] {
                let jobs = some(jobs(&on.fabric, placement, 11), &on.fabric, percent);
                let routes = route(&on, "sar", &jobs).expect("routes");
                for (s, d, path) in algorithm_1(&on.fabric, &jobs) {
                    let ours = oracle::path(&on.fabric, &routes, s, d).expect("reaches");
                    assert_eq!(ours, path, "{name}, {placement:?}, {percent} %: {s:?} to {d:?}");
                }
            }
        }
    }
}

/// A digest of all tables (FNV-1a).
fn digest(routes: &Routes) -> u64 {
    let ports = (0..routes.row_count()).flat_map(|row| routes.ports(row));
    ports.fold(0xcbf2_9ce4_8422_2325, |hash, &port| {
        (hash ^ u64::from(port)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Jobs that cover every terminal: of this size, or one job of all; contiguous, or shuffled.
fn everywhere(fabric: &Fabric, size: Option<usize>, shuffled: bool) -> Jobs {
    let n = fabric.terminal_count();
    let mut all: Vec<TerminalId> = (0..n).map(TerminalId::new).collect();
    if shuffled {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
        for i in (1..n).rev() {
            all.swap(i, (random.next_u64() % (i as u64 + 1)) as usize);
        }
    }
    all.chunks(size.unwrap_or(n)).map(<[TerminalId]>::to_vec).collect()
}

#[test]
fn where_all_hosts_run_jobs_every_entry_is_that_of_algorithm_1() {
    // Digests of tables from when `sar` was Algorithm 1 alone.
    for (spec, eights, one, parts) in [
        ("@taurus", 0xbf1d_10b1_877d_ccec, 0x197a_e758_baa8_b315, 0x56ec_4368_c863_65e3),
        (
            "fattree2:n=12,m=12,r=18",
            0x1498_f065_145d_5b0f,
            0x4b4d_d52b_d627_7477,
            0xa396_1197_68ed_ff60,
        ),
        (
            "jellyfish:n=24,d=5,p=2",
            0xba9e_b77d_397d_fc27,
            0x1fb7_01ff_20d5_c1a9,
            0xe0dd_256f_a0fa_6a8c,
        ),
        (
            "hyperx:dims=4x3x3,t=6",
            0x456b_02e4_4937_6508,
            0xd033_5bdf_bc5e_a6d2,
            0x6632_89ab_a53a_85be,
        ),
        (
            "dragonfly:p=2,a=4,h=2",
            0xe046_dcdb_69f4_6c1a,
            0x8c6b_48fb_8a24_cafd,
            0xb4a6_8572_53f6_2871,
        ),
    ] {
        let on = open(spec).expect("valid");
        for (size, shuffled, expected) in
            [(Some(8), false, eights), (None, true, one), (Some(27), true, parts)]
        {
            let jobs = everywhere(&on.fabric, size, shuffled);
            let routes = route(&on, "sar", &jobs).expect("routes");
            assert_eq!(digest(&routes), expected, "{spec}, jobs of {size:?}");
        }
    }
}

/// Maximum number of paths on a channel, of all pairs of terminals.
fn efi(on: &Topology, routes: &Routes) -> u64 {
    check(&on.fabric, routes).load.into_iter().max().unwrap_or(0)
}

/// Maximum number of paths on a channel from all terminals of switches with a job to the terminals of that job: where
/// tables serve the job, the other terminals on these switches have no other path.
fn forced(fabric: &Fabric, routes: &Routes, jobs: &Jobs) -> u64 {
    let mut load = vec![0; fabric.channel_count()];
    for dest in (0..fabric.terminal_count()).map(TerminalId::new) {
        let mut sources: Vec<SwitchId> = jobs
            .iter()
            .filter(|job| job.contains(&dest))
            .flatten()
            .map(|&s| fabric.terminal(s).switch)
            .collect();
        sources.sort_unstable();
        sources.dedup();
        let sources = sources.into_iter().flat_map(|s| fabric.terminals_on(s)).map(TerminalId::new);
        for source in sources.filter(|&source| source != dest) {
            for c in oracle::path(fabric, routes, source, dest).expect("reaches") {
                load[c.index()] += 1;
            }
        }
    }
    load.into_iter().max().unwrap_or(0)
}

#[test]
fn all_pairs_are_served_where_jobs_have_a_quarter_of_the_hosts() {
    for spec in [
        "fattree2:n=12,m=12,r=18",
        "fattree2:n=18,m=9,r=12",
        "fattree3:k=8",
        "kary:k=6,n=3",
        "pgft:m=6x6x6,w=1x3x6,p=1x2x1",
        "hyperx:dims=6x6,t=6",
        "torus:dims=4x4x4,t=2",
        "dragonfly:p=3,a=6,h=3",
        "jellyfish:n=72,d=9,p=3",
    ] {
        let whole = open(spec).expect("valid");
        let faults = Faults::random_links(&whole.fabric, 9, 3).expect("connected");
        for on in [whole.with_faults(&faults).0, whole] {
            let usual = efi(&on, &route(&on, "dfsssp", &Jobs::new()).expect("routes"));
            for placement in PLACEMENTS {
                for seed in 0..2 {
                    for percent in [4, 25] {
                        let jobs = some(jobs(&on.fabric, placement, seed), &on.fabric, percent);
                        for engine in ["sar", "sar-minmax", "sar-best"] {
                            let routes = route(&on, engine, &jobs).expect("routes");
                            let ours = efi(&on, &routes);
                            // Ten percent, rounded; or the load that paths of jobs force, which is seldom more.
                            let forced = forced(&on.fabric, &routes, &jobs);
                            assert!(
                                ours * 200 <= usual * 221 || ours * 100 <= forced * 103,
                                "{spec}, {placement:?}, {seed}, {percent} %: {engine} {ours}, \
                                 dfsssp {usual}, forced {forced}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_next_job_finds_a_balanced_fabric() {
    // Two jobs of four hosts on a tree of 216.
    let on = open("fattree2:n=12,m=12,r=18").expect("valid");
    let jobs: Jobs =
        [[3, 40, 77, 114], [9, 82, 155, 201]].map(|job| job.map(TerminalId).to_vec()).to_vec();
    let next: Jobs = vec![(0..60).map(|i| TerminalId(2 + 3 * i)).collect()];
    let usual = route(&on, "ftree", &Jobs::new()).expect("routes");
    for engine in ["sar", "sar-minmax", "sar-best"] {
        let routes = route(&on, engine, &jobs).expect("routes");
        assert!(check(&on.fabric, &routes).load.iter().all(|&load| load > 0), "{engine}: dark");
        let (ours, theirs) =
            (fullest(&on.fabric, &routes, &next), fullest(&on.fabric, &usual, &next));
        assert!(ours <= 2 * theirs, "{engine}: {ours}, ftree {theirs}");
    }
}

#[test]
fn without_jobs_tables_are_those_of_dfsssp() {
    for (name, on) in fabrics() {
        let usual = route(&on, "dfsssp", &Jobs::new()).expect("routes");
        for engine in ["sar", "sar-minmax", "sar-best"] {
            let ours = route(&on, engine, &Jobs::new()).expect("routes");
            assert_eq!(digest(&ours), digest(&usual), "{name}, {engine}");
            assert_eq!(ours.layers, usual.layers, "{name}, {engine}");
        }
    }
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
                let sar = route(&on, "sar", &jobs).expect("routes");
                let time = shifts(&on.fabric, &sar, &jobs);
                assert!(
                    within(&shifts(&on.fabric, &best, &jobs), &time),
                    "{name}, {placement:?}, {seed}: shifts take longer than by sar"
                );
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

#[test]
fn any_number_of_lanes_is_enough_or_refused() {
    for spec in ["dragonfly:p=2,a=4,h=2", "hyperx:dims=6x6,t=1", "torus:dims=4x4,t=1"] {
        let on = open(spec).expect(spec);
        let jobs = jobs(&on.fabric, Placement::Random, 3);
        for engine in ["sar", "sar-minmax", "sar-best"] {
            let engine = find_engine(engine).expect("registered");
            for lanes in 1..=4 {
                let request =
                    Request { shape: on.shape.as_ref(), lanes, jobs: &jobs, ..Request::default() };
                // A refusal says how many there must be.
                if let Ok(routes) = engine.route(&on.fabric, &request) {
                    let report = check(&on.fabric, &routes);
                    assert!(report.complete() && report.deadlock_free(), "{spec}");
                    assert!(routes.layer_count() <= usize::from(lanes), "{spec}: {lanes} lanes");
                }
            }
        }
    }
}
