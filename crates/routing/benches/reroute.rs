//! Time to reroute around one dead cable in fabrics of about ten thousand hosts, on one thread; five cables each.
//!
//! `cargo bench -p darkfiber-routing --bench reroute`

use darkfiber_fabric::{Faults, parse_spec};
use darkfiber_routing::reroute::Prepared;
use darkfiber_routing::{Request, find_engine};
use divan::Bencher;

const CABLES: [u64; 5] = [1, 2, 3, 4, 5];
const DRAGONFLY: &str = "dragonfly:p=7,a=14,h=7";
const FAT_TREE: &str = "pgft:m=18x18x36,w=1x18x18";
const HYPERX: &str = "hyperx:dims=12x12x8,t=10";

fn main() {
    divan::main();
}

fn mend(bencher: Bencher<'_, '_>, spec: &str, engine: &str, cable: u64) {
    let topology = parse_spec(spec).expect("a spec");
    let request = Request { shape: topology.shape.as_ref(), lanes: 15, ..Request::default() };
    let engine = find_engine(engine).expect("an engine");
    let routes = engine.route(&topology.fabric, &request).expect("routes");
    let faults = Faults::random_links(&topology.fabric, 1, cable).expect("one cable");
    let prepared = Prepared::new(&topology.fabric, &routes, 15).expect("its own tables");
    bencher.with_inputs(|| prepared.clone()).bench_values(|mut prepared| {
        let outcome = prepared.reroute(&faults).expect("in one piece");
        (prepared, outcome)
    });
}

/// 11,664 hosts, 1,620 switches on three levels.
#[divan::bench(args = CABLES, consts = [true, false], sample_count = 10, sample_size = 1)]
fn fat_tree<const DMODK: bool>(bencher: Bencher<'_, '_>, cable: u64) {
    mend(bencher, FAT_TREE, if DMODK { "dmodk" } else { "updn" }, cable);
}

/// 9,702 hosts, 1,386 switches.
#[divan::bench(args = CABLES, sample_count = 10, sample_size = 1)]
fn dragonfly_dfsssp(bencher: Bencher<'_, '_>, cable: u64) {
    mend(bencher, DRAGONFLY, "dfsssp", cable);
}

/// 11,520 hosts, 1,152 switches.
#[divan::bench(args = CABLES, sample_count = 10, sample_size = 1)]
fn hyperx_dfsssp(bencher: Bencher<'_, '_>, cable: u64) {
    mend(bencher, HYPERX, "dfsssp", cable);
}

/// 11,520 hosts, 1,152 switches, one lane.
#[divan::bench(args = CABLES, sample_count = 10, sample_size = 1)]
fn hyperx_updn(bencher: Bencher<'_, '_>, cable: u64) {
    mend(bencher, HYPERX, "updn", cable);
}

/// Preparation of the tables of the fat tree, before any fault.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn prepare_fat_tree(bencher: Bencher<'_, '_>) {
    let topology = parse_spec(FAT_TREE).expect("a spec");
    let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
    let routes = find_engine("dmodk").expect("an engine").route(&topology.fabric, &request);
    let routes = routes.expect("routes");
    bencher.bench(|| Prepared::new(&topology.fabric, &routes, 15).expect("its own tables"));
}
