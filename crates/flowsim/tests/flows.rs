//! Programs over fabrics whose channels are shared.

use std::sync::Arc;

use darkfiber_fabric::{TerminalId, Topology, parse_spec};
use darkfiber_flowsim::{EXACT, Flows, Network, Options};
use darkfiber_routing::{Request, Routes, find_engine};
use darkfiber_workload::play::{Host, Job, PathChoice, Player, Record, Repeat, SECOND, host, run};
use darkfiber_workload::schedule::{Program, Script};
use proptest::prelude::*;

fn fabric(spec: &str, engine: &str, lmc: u8) -> (Topology, Routes) {
    let topology = parse_spec(spec).expect("a spec");
    let request = Request { shape: topology.shape.as_ref(), lmc, ..Request::default() };
    let engine = find_engine(engine).expect("known");
    let routes = engine.route(&topology.fabric, &request).expect("routes");
    (topology, routes)
}

fn job(ranks: u32, messages: &[(u32, u32, u64)]) -> Job {
    let mut s = Script::new(ranks);
    for &(from, to, bytes) in messages {
        s.message(from, to, bytes, 0);
    }
    let program = Arc::new(Program::once(s.finish().expect("both ends")));
    let terminals = (0..ranks).map(TerminalId).collect();
    Job { program, terminals, start: 0, repeat: Repeat::Once }
}

struct Outcome {
    records: Vec<Record>,
    carried: Vec<u64>,
    solves: u64,
    grid: Option<Vec<f64>>,
}

fn simulated(
    topology: &Topology,
    routes: &Routes,
    host: &Host,
    jobs: &[Job],
    options: Options<'_>,
) -> Outcome {
    let network = Network::new(&topology.fabric, routes, host);
    let mut flows = Flows::new(network, host, options);
    let mut player = Player::new(jobs, host);
    let mut records = Vec::new();
    run(&mut player, &mut flows, &mut |r| records.push(*r)).expect("comes to its end");
    assert_eq!(flows.lost(), None);
    let sum = |g: &darkfiber_flowsim::Grid| {
        let mut all = vec![0.0; flows.carried().len()];
        for i in 0..g.len() {
            all.iter_mut().zip(g.at(i)).for_each(|(a, b)| *a += b);
        }
        all
    };
    let grid = flows.grid().map(sum);
    Outcome { records, carried: flows.carried().to_vec(), solves: flows.solve_count(), grid }
}

fn ideal() -> &'static Host {
    host("ideal").expect("known")
}

/// Data rate of 4xHDR, the cable of generated fabrics, in bytes a second.
const CABLE: u64 = 25_000_000_000;

#[test]
fn streams_through_one_cable_share_it() {
    // Two switches with four hosts each, and one cable between them.
    let (t, r) = fabric("hyperx:dims=2,t=4", "minhop", 0);
    assert_eq!(t.fabric.terminal_class(TerminalId(0)).bytes_per_second, CABLE);
    let jobs = [job(8, &[(0, 4, CABLE), (1, 5, CABLE), (2, 6, 2 * CABLE)])];
    let out = simulated(&t, &r, ideal(), &jobs, Options::default());
    let times: Vec<u64> = out.records.iter().map(|r| r.arrived).collect();
    // A third each until 3 s; then all that is left by the third alone.
    assert_eq!(times, [3 * SECOND, 3 * SECOND, 4 * SECOND]);
}

#[test]
fn weights_and_limits_of_jobs_count() {
    let (t, r) = fabric("hyperx:dims=2,t=4", "minhop", 0);
    let jobs = [job(8, &[(0, 4, 3 * CABLE)]), job(8, &[(1, 5, CABLE)])];
    let options = Options { weights: vec![3.0], ..Options::default() };
    let out = simulated(&t, &r, ideal(), &jobs, options);
    assert_eq!(out.records.iter().map(|r| r.arrived).collect::<Vec<_>>(), [4 * SECOND; 2]);
    let options =
        Options { limits: vec![f64::INFINITY, 0.1 * CABLE as f64 / 1e12], ..Options::default() };
    let out = simulated(&t, &r, ideal(), &jobs, options);
    let near = |a: u64, b: f64| (a as f64 / b - 1.0).abs() < 1e-9;
    assert!(near(out.records[0].arrived, 3e12 / 0.9) && near(out.records[1].arrived, 10e12));
}

#[test]
fn latency_is_that_of_switches_and_adapters() {
    let (t, r) = fabric("kary:k=2,n=3", "dmodk", 0);
    let host = Host { switch: 100, adapters: 7_000, send: 11, receive: 13, ..ideal().clone() };
    let jobs = [job(8, &[(0, 7, 4_000)])];
    let out = simulated(&t, &r, &host, &jobs, Options::default());
    // Up two levels and down again: five switches; 4,000 bytes take 160 ns.
    assert_eq!(out.records[0].arrived, 11 + 160_000 + 5 * 100 + 7_000);
}

#[test]
fn parts_go_all_ways_at_once() {
    // 2x2 switches: two paths between opposite corners. Routes of two LIDs take both.
    let (t, r) = fabric("hyperx:dims=2x2,t=2", "updn", 1);
    let jobs = [job(8, &[(0, 6, CABLE), (1, 7, CABLE)])];
    let slow = simulated(&t, &r, ideal(), &jobs, Options::default());
    let split = Options { choice: PathChoice::Split, ..Options::default() };
    let fast = simulated(&t, &r, ideal(), &jobs, split);
    let end = |o: &Outcome| o.records.iter().map(|r| r.arrived).max();
    assert_eq!(end(&fast), Some(SECOND));
    assert!(end(&slow) >= end(&fast));
}

/// Size, limit and gap are of messages, not of their parts.
#[test]
fn parts_are_of_a_message() {
    let (t, r) = fabric("hyperx:dims=2x2,t=2", "updn", 1);
    let jobs = [job(8, &[(0, 6, CABLE), (0, 7, CABLE)])];
    let ends = |host: &Host, options| {
        let out = simulated(&t, &r, host, &jobs, options);
        out.records.iter().map(|r| r.arrived).collect::<Vec<_>>()
    };
    let split = || Options { choice: PathChoice::Split, ..Options::default() };
    // Parts are no smaller than the message: both share the adapter.
    let small = Options { small: CABLE / 2, ..split() };
    assert_eq!(ends(ideal(), small), [2 * SECOND; 2]);
    // Neither do parts of a small message leave side by side, nor faster than its limit.
    let small = || Options { small: CABLE, ..split() };
    assert_eq!(ends(ideal(), small()), [SECOND; 2]);
    let limits = vec![CABLE as f64 / 4e12];
    let slow = ends(ideal(), Options { limits, ..small() });
    assert!(slow.iter().all(|end| end.abs_diff(4 * SECOND) < 10), "{slow:?}");
    // A quarter of the cable for both parts together.
    let limit = Options { limits: vec![CABLE as f64 / 4e12], ..split() };
    assert_eq!(ends(ideal(), limit), [4 * SECOND; 2]);
    // One gap, after the first message.
    let host = Host { gap: SECOND / 2, ..ideal().clone() };
    let alone = Options { alone: true, ..split() };
    assert_eq!(ends(&host, alone), [SECOND, 2 * SECOND + SECOND / 2]);
}

#[test]
fn adaptive_messages_look_for_room() {
    // Four flows of two cables between two switches: two on each, whatever the tables, one after the other as well.
    let (t, r) = fabric("hyperx:dims=2,t=4,trunk=2", "minhop", 1);
    for seed in 1..20 {
        let jobs = [job(8, &[(0, 4, CABLE), (1, 5, CABLE), (2, 6, CABLE), (3, 7, CABLE)])];
        let options = Options { choice: PathChoice::Adaptive, seed, ..Options::default() };
        let out = simulated(&t, &r, ideal(), &jobs, options);
        assert!(out.records.iter().all(|m| m.arrived == 2 * SECOND), "{seed}");
    }
}

#[test]
fn alone_messages_only_wait_for_their_adapter() {
    let (t, r) = fabric("hyperx:dims=2,t=4", "minhop", 0);
    let jobs = [job(8, &[(0, 4, CABLE), (1, 5, CABLE), (0, 6, CABLE)])];
    let options = Options { alone: true, ..Options::default() };
    let out = simulated(&t, &r, ideal(), &jobs, options);
    let times: Vec<u64> = out.records.iter().map(|r| r.arrived).collect();
    assert_eq!(times, [SECOND, SECOND, 2 * SECOND]);
}

#[test]
fn ranks_of_one_host_use_its_memory() {
    let (t, r) = fabric("hyperx:dims=2,t=1", "minhop", 0);
    let host = Host { memory_latency: 5, memory_bytes_per_second: 1e12, ..ideal().clone() };
    let mut both = job(2, &[(0, 1, 1_000)]);
    both.terminals = vec![TerminalId(1), TerminalId(1)];
    let out = simulated(&t, &r, &host, &[both], Options::default());
    assert_eq!(out.records[0].arrived, 1_005);
    assert!(out.carried.iter().all(|&b| b == 0));
}

#[test]
fn a_coarser_grid_of_time_needs_fewer_solves_and_is_late_by_little() {
    let (t, r) = fabric("hyperx:dims=3x3,t=2", "sssp", 0);
    let all = (0..18).flat_map(|a| (0..18).map(move |b| (a, b))).filter(|(a, b)| a != b);
    let messages: Vec<_> =
        all.map(|(a, b)| (a, b, 1_000_000 + u64::from(a * 37 + b * 101) * 5_000)).collect();
    let host = Host { send: 1_000_000, ..ideal().clone() };
    let with = |precision| {
        let options = Options { precision, ..Options::default() };
        simulated(&t, &r, &host, &[job(18, &messages)], options)
    };
    let (exact, coarse) = (with(EXACT), with(0.05));
    assert!(coarse.solves * 2 < exact.solves, "{} {}", coarse.solves, exact.solves);
    assert_eq!(coarse.carried, exact.carried);
    let end = |o: &Outcome| o.records.iter().map(|r| r.arrived).max().expect("some") as f64;
    let late = end(&coarse) / end(&exact) - 1.0;
    // A begin and an end, each by a twentieth.
    assert!((-0.1..0.1).contains(&late), "{late}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every byte crosses each channel of its path once, counted in total and by interval; nothing arrives before the
    /// slowest channel could have carried it; messages to missing terminals do no harm.
    #[test]
    fn bytes_are_conserved(
        messages in prop::collection::vec((0u32..18, 0u32..18, 1u64..1 << 34), 1..60),
        how in 0u8..3, interval in 1u64..1 << 42, precision in prop::sample::select(vec![0.0, 0.001, 0.1]),
    ) {
        let messages: Vec<_> = messages.into_iter().filter(|m| m.0 != m.1).collect();
        let (t, r) = fabric("hyperx:dims=3x3,t=2", "sssp", 1);
        let jobs = [job(18, &messages)];
        let options = || Options {
            choice: match how { 0 => PathChoice::Routes, 1 => PathChoice::Turns, _ => PathChoice::Random },
            interval: Some(interval),
            precision,
            ..Options::default()
        };
        let out = simulated(&t, &r, ideal(), &jobs, options());
        prop_assert_eq!(out.records.len(), messages.len());
        let (m, n) = (t.fabric.channel_count(), t.fabric.terminal_count());
        for i in 0..n {
            let into: u64 = messages.iter().filter(|x| x.1 as usize == i).map(|x| x.2).sum();
            let from: u64 = messages.iter().filter(|x| x.0 as usize == i).map(|x| x.2).sum();
            prop_assert_eq!((out.carried[m + i], out.carried[m + n + i]), (into, from));
        }
        let grid = out.grid.expect("asked for");
        for (a, b) in out.carried.iter().zip(&grid) {
            prop_assert!((*a as f64 - b).abs() <= 1e-6 * b.max(1.0) + 1.0, "{} {}", a, b);
        }
        let end = out.records.iter().map(|r| r.arrived).max().unwrap_or(0);
        let fullest = out.carried.iter().max().copied().unwrap_or(0);
        prop_assert!(end as f64 >= fullest as f64 / CABLE as f64 * 1e12 * (1.0 - 1e-9));
        prop_assert!(out.records.iter().all(|r| r.arrived as f64 >= r.bytes as f64 * 40.0 * (1.0 - 1e-9)));
        // Again, the same to the picosecond.
        prop_assert_eq!(simulated(&t, &r, ideal(), &jobs, options()).records, out.records);
    }
}
