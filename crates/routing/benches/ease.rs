//! Time of easing even tables for another job mix, after preparation, on one thread.
//!
//! `cargo bench -p darkfiber-routing --bench ease`

use darkfiber_fabric::{TerminalId, Topology, parse_spec};
use darkfiber_routing::reroute::{Goal, Prepared};
use darkfiber_routing::{Demand, Request, find_engine};
use divan::Bencher;

/// Maximum number of entries that may change, and of steps.
const MOVES: usize = 64;
const STEPS: usize = 8;

fn main() {
    divan::main();
}

/// Every pair inside jobs of `size` hosts, which take 90 % of the hosts in a fixed shuffle of runs of five.
fn demands(topology: &Topology, size: usize) -> Vec<Demand> {
    let n = topology.fabric.terminal_count();
    let runs = n / 5;
    // A step that is coprime to the number of runs visits every run once.
    let step = (runs * 3 / 5..=runs * 2).find(|s| gcd(*s, runs) == 1).expect("some number");
    let hosts: Vec<TerminalId> = (0..runs)
        .flat_map(|i| (0..5).map(move |k| TerminalId::new(i * step % runs * 5 + k)))
        .take(n * 9 / 10)
        .collect();
    let pairs = hosts
        .chunks(size)
        .flat_map(|job| job.iter().flat_map(move |&from| job.iter().map(move |&to| (from, to))));
    pairs.filter(|(from, to)| from != to).map(|(from, to)| Demand { from, to, weight: 1 }).collect()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn ease(bencher: Bencher<'_, '_>, spec: &str, engine: &str, size: usize) {
    let topology = parse_spec(spec).expect("a spec");
    let request = Request { shape: topology.shape.as_ref(), lanes: 15, ..Request::default() };
    let engine = find_engine(engine).expect("an engine");
    let routes = engine.route(&topology.fabric, &request).expect("routes");
    let even = Prepared::new(&topology.fabric, &routes, 15).expect("its own tables");
    let demands = demands(&topology, size);
    bencher.with_inputs(|| even.clone()).bench_values(|even| {
        let mut serving = even.serving(&demands);
        let eased = serving.ease_for(&Goal { moves: MOVES, ..Goal::default() }, STEPS);
        (serving, eased)
    });
}

/// 2,550 hosts.
#[divan::bench(args = [16, 128], sample_count = 10, sample_size = 1)]
fn dragonfly_2550(bencher: Bencher<'_, '_>, size: usize) {
    ease(bencher, "dragonfly:p=5,a=10,h=5", "dfsssp", size);
}

/// 11,664 hosts.
#[divan::bench(args = [16, 128], sample_count = 10, sample_size = 1)]
fn fat_tree_11664(bencher: Bencher<'_, '_>, size: usize) {
    ease(bencher, "pgft:m=18x18x36,w=1x18x18", "ftree", size);
}
