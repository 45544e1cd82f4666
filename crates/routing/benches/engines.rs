//! Time of tables and layers of every engine on fabrics of about a thousand hosts, on one thread and on two.
//!
//! `cargo bench -p darkfiber-routing --bench engines`

use darkfiber_fabric::parse_spec;
use darkfiber_routing::{Request, find_engine};
use divan::Bencher;
use rayon::ThreadPoolBuilder;

const DRAGONFLY: &str = "dragonfly:p=4,a=8,h=4";
const FAT_TREE: &str = "pgft:m=12x12x7,w=1x12x4,p=1x1x3";
const HYPERX: &str = "hyperx:dims=12x8,t=10";

fn main() {
    divan::main();
}

fn route(bencher: Bencher<'_, '_>, spec: &str, engine: &str, threads: usize) {
    let topology = parse_spec(spec).expect("a spec");
    let engine = find_engine(engine).expect("an engine");
    let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
    bencher.bench(|| pool.install(|| engine.route(&topology.fabric, &request).expect("routes")));
}

/// 1,056 hosts, 264 switches.
#[divan::bench(args = ["minhop", "updn", "dnup", "sssp", "dfsssp"], consts = [1, 2])]
fn dragonfly<const THREADS: usize>(bencher: Bencher<'_, '_>, engine: &str) {
    route(bencher, DRAGONFLY, engine, THREADS);
}

/// 1,008 hosts, 216 switches on three levels.
#[divan::bench(args = ["minhop", "updn", "ftree", "dmodk", "sssp", "dfsssp"], consts = [1, 2])]
fn fat_tree<const THREADS: usize>(bencher: Bencher<'_, '_>, engine: &str) {
    route(bencher, FAT_TREE, engine, THREADS);
}

/// 960 hosts, 96 switches.
#[divan::bench(args = ["minhop", "updn", "dor", "sssp", "dfsssp"], consts = [1, 2])]
fn hyperx<const THREADS: usize>(bencher: Bencher<'_, '_>, engine: &str) {
    route(bencher, HYPERX, engine, THREADS);
}

/// 5,256 hosts, 876 switches: destinations are routed in parallel.
#[divan::bench(
    args = ["minhop", "updn", "sssp", "dfsssp", "nue"],
    consts = [1, 2],
    sample_count = 5
)]
fn large_dragonfly<const THREADS: usize>(bencher: Bencher<'_, '_>, engine: &str) {
    route(bencher, "dragonfly:p=6,a=12,h=6", engine, THREADS);
}

/// 11,664 hosts, 1,620 switches on three levels.
#[divan::bench(
    args = ["minhop", "updn", "ftree", "dfsssp", "nue"],
    consts = [1, 2],
    sample_count = 5
)]
fn large_fat_tree<const THREADS: usize>(bencher: Bencher<'_, '_>, engine: &str) {
    route(bencher, "pgft:m=18x18x36,w=1x18x18", engine, THREADS);
}
