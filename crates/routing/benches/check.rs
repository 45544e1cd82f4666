//! Speed of the checker, in paths traced per second, with one path per ordered pair of terminals.
//!
//! `cargo bench -p darkfiber-routing --bench check`; on one thread the rate is that of one core.

use darkfiber_fabric::parse_spec;
use darkfiber_routing::check::check;
use darkfiber_routing::{Request, find_engine};
use divan::Bencher;
use divan::counter::ItemsCount;
use rayon::ThreadPoolBuilder;

fn main() {
    divan::main();
}

fn pairs(bencher: Bencher<'_, '_>, spec: &str, engine: &str, threads: usize) {
    let topology = parse_spec(spec).expect("a spec");
    let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
    let engine = find_engine(engine).expect("an engine");
    let routes = engine.route(&topology.fabric, &request).expect("routes");
    let terminals = topology.fabric.terminal_count();
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
    bencher
        .counter(ItemsCount::new(terminals * (terminals - 1)))
        .bench(|| pool.install(|| check(&topology.fabric, &routes)));
}

/// One layer: 3,888 hosts, 540 switches.
#[divan::bench(consts = [1, 2])]
fn fat_tree_updn<const THREADS: usize>(bencher: Bencher<'_, '_>) {
    pairs(bencher, "pgft:m=18x18x12,w=1x18x6,p=1x1x3", "updn", THREADS);
}

/// Several layers: 1,056 hosts, 264 switches.
#[divan::bench(consts = [1, 2])]
fn dragonfly_dfsssp<const THREADS: usize>(bencher: Bencher<'_, '_>) {
    pairs(bencher, "dragonfly:p=4,a=8,h=4", "dfsssp", THREADS);
}

/// Several layers: 2,550 hosts, 510 switches.
#[divan::bench(consts = [1, 2])]
fn large_dragonfly_dfsssp<const THREADS: usize>(bencher: Bencher<'_, '_>) {
    pairs(bencher, "dragonfly:p=5,a=10,h=5", "dfsssp", THREADS);
}
