//! Random bisections and worst permutations.
//!
//! `cargo bench -p darkfiber-analysis --bench count`

use darkfiber_analysis::count::{Paths, Precision, Wanted, measure, worst};
use darkfiber_fabric::{TerminalId, Topology};
use darkfiber_routing::{Request, Routes, find_engine};
use darkfiber_workload::{Among, pattern};
use divan::Bencher;
use divan::counter::ItemsCount;
use rayon::{ThreadPool, ThreadPoolBuilder};

const FABRICS: &[(&str, &str)] = &[
    ("fattree2:n=18,m=18,r=36", "dmodk"),
    ("@t2hx-hyperx", "dfsssp"),
    ("kary:k=12,n=3", "dmodk"),
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

/// A thousand bisections on one thread, paths in a table already.
#[divan::bench(args = FABRICS, sample_count = 20)]
fn bisections(bencher: Bencher<'_, '_>, (spec, engine): &(&str, &str)) {
    const SAMPLES: u64 = 1000;
    let (topology, routes) = routed(spec, engine);
    let who: Vec<TerminalId> = (0..topology.fabric.terminal_count()).map(TerminalId::new).collect();
    let paths = Paths::new(&topology.fabric, &routes, &who).expect("reaches");
    let bisect = pattern("bisect", &Among::all(who.len() as u32)).expect("even");
    let pool = one_thread();
    bencher.counter(ItemsCount::new(SAMPLES)).bench(|| {
        pool.install(|| {
            let precision = Precision::exactly(SAMPLES);
            measure(&paths, None, &*bisect, &Wanted::default(), &precision, 1)
        })
    });
}

/// The table of paths, on one thread.
#[divan::bench(args = FABRICS, sample_count = 5)]
fn tables(bencher: Bencher<'_, '_>, (spec, engine): &(&str, &str)) {
    let (topology, routes) = routed(spec, engine);
    let who: Vec<TerminalId> = (0..topology.fabric.terminal_count()).map(TerminalId::new).collect();
    let pool = one_thread();
    bencher
        .bench(|| pool.install(|| Paths::new(&topology.fabric, &routes, &who).expect("reaches")));
}

/// The worst permutation, on one thread, from tables.
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
