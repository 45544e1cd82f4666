//! Time of random bisections and of worst permutations.
//!
//! `cargo bench -p darkfiber-analysis --bench count`

use std::collections::BTreeMap;

use darkfiber_analysis::count::{Paths, Precision, Quantities, measure, worst};
use darkfiber_fabric::{AtPort, Fabric, TerminalId, Topology};
use darkfiber_routing::{DestId, Request, Routes, find_engine};
use darkfiber_workload::{Participants, Stream, pattern};
use divan::Bencher;
use divan::counter::ItemsCount;
use rayon::{ThreadPool, ThreadPoolBuilder};

const FABRICS: &[(&str, &str)] = &[
    ("fattree2:n=18,m=18,r=36", "dmodk"),
    ("@t2hx-hyperx", "dfsssp"),
    ("pgft:m=12x12x9,w=1x12x12", "dmodk"),
    ("pgft:m=18x18x36,w=1x18x18", "dmodk"),
];

fn main() {
    divan::main();
}

fn routed(spec: &str, engine: &str) -> (Topology, Routes) {
    let topology = darkfiber_fabric::open(spec).expect("a spec");
    let engine = find_engine(engine).expect("an engine");
    let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
    let routes = engine.route(&topology.fabric, &request).expect("routes");
    (topology, routes)
}

fn one_thread() -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(1).build().expect("a thread pool")
}

/// A thousand bisections on one thread, with the paths already in a table.
#[divan::bench(args = FABRICS, sample_count = 20)]
fn bisections(bencher: Bencher<'_, '_>, (spec, engine): &(&str, &str)) {
    const SAMPLES: u64 = 1000;
    let (topology, routes) = routed(spec, engine);
    let who: Vec<TerminalId> = (0..topology.fabric.terminal_count()).map(TerminalId::new).collect();
    let paths = Paths::new(&topology.fabric, &routes, &who).expect("reaches");
    let bisect = pattern("bisect", &Participants::all(who.len() as u32)).expect("even");
    let pool = one_thread();
    bencher.counter(ItemsCount::new(SAMPLES)).bench(|| {
        pool.install(|| {
            let precision = Precision::exactly(SAMPLES);
            measure(&paths, None, &*bisect, &Quantities::default(), &precision, 1)
        })
    });
}

/// The same by the published method of ORCS (Schneider, Hoefler, Lumsdaine, "ORCS: an oblivious routing
/// congestion simulator", 2009), plainly: for every pattern shuffle the hosts, trace the route of every pair
/// through the tables, count in a map by cable, trace again to find the worst of each route.
#[divan::bench(args = FABRICS, sample_count = 3)]
fn bisections_traced_anew(bencher: Bencher<'_, '_>, (spec, engine): &(&str, &str)) {
    const SAMPLES: u64 = 20;
    let (topology, routes) = routed(spec, engine);
    let fabric = &topology.fabric;
    let mut hosts: Vec<TerminalId> = (0..fabric.terminal_count()).map(TerminalId::new).collect();
    let mut random = Stream::new(1, 0);
    bencher.counter(ItemsCount::new(SAMPLES)).bench_local(|| {
        let mut sum = 0.0;
        for _ in 0..SAMPLES {
            random.shuffle(&mut hosts);
            let mut congestion: BTreeMap<u32, u32> = BTreeMap::new();
            for pair in hosts.chunks_exact(2) {
                for c in traced(fabric, &routes, pair[0], pair[1]) {
                    *congestion.entry(c).or_default() += 1;
                }
            }
            let mut worst = 1;
            for pair in hosts.chunks_exact(2) {
                let route = traced(fabric, &routes, pair[0], pair[1]);
                worst = worst.max(route.iter().map(|c| congestion[c]).max().unwrap_or(1));
            }
            sum += 1.0 / f64::from(worst);
        }
        sum
    });
}

/// The cables of a route, entry by entry.
fn traced(fabric: &Fabric, routes: &Routes, source: TerminalId, dest: TerminalId) -> Vec<u32> {
    let mut at = fabric.terminal(source).switch;
    let mut cables = Vec::new();
    let to = DestId::terminal(dest);
    while let Some(port) = routes.lft_entry(fabric, at, to, routes.path_of(source)) {
        match fabric.at_port(at, port) {
            AtPort::Switch(c, next) => {
                cables.push(c.0);
                at = next;
            }
            _ => break,
        }
    }
    cables
}

/// Computation of the table of paths, on one thread.
#[divan::bench(args = FABRICS, sample_count = 5)]
fn tables(bencher: Bencher<'_, '_>, (spec, engine): &(&str, &str)) {
    let (topology, routes) = routed(spec, engine);
    let who: Vec<TerminalId> = (0..topology.fabric.terminal_count()).map(TerminalId::new).collect();
    let pool = one_thread();
    bencher
        .bench(|| pool.install(|| Paths::new(&topology.fabric, &routes, &who).expect("reaches")));
}

/// Computation of the worst permutation, on one thread, from tables.
#[divan::bench(
    args = [
        ("fattree2:n=24,m=24,r=48", "dmodk"),
        ("fattree2:n=24,m=24,r=48", "opt"),
        ("pgft:m=12x12x9,w=1x12x12", "dmodk"),
        ("pgft:m=12x12x9,w=1x12x12", "minhop"),
        ("@t2hx-hyperx", "dfsssp"),
    ],
    sample_count = 5
)]
fn worst_permutation(bencher: Bencher<'_, '_>, (spec, engine): (&str, &str)) {
    let (topology, routes) = routed(spec, engine);
    let who: Vec<TerminalId> = (0..topology.fabric.terminal_count()).map(TerminalId::new).collect();
    let pool = one_thread();
    bencher.bench(|| {
        pool.install(|| {
            let paths = Paths::new(&topology.fabric, &routes, &who).expect("reaches");
            worst(&paths, None).expect("small")
        })
    });
}
