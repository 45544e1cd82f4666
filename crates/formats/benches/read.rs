//! Time to read a real machine's `ibnetdiscover` dump, and the forwarding tables of a large fabric.
//!
//! `cargo bench -p darkfiber-formats --bench read`

use std::path::Path;

use darkfiber_fabric::parse_spec;
use darkfiber_formats::{edges, input, lft, read_fabric};
use darkfiber_routing::{Lids, Request, find_engine};
use divan::Bencher;
use divan::counter::BytesCount;

const SELENE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/selene-compute.topo.gz");

fn main() {
    divan::main();
}

/// Selene's compute fabric, 666 switches and 12,852 links in 2.8 MB: from the compressed file to a
/// fabric.
#[divan::bench]
fn selene(bencher: Bencher<'_, '_>) {
    let path = Path::new(SELENE);
    let Ok(text) = input::read_text(path) else {
        eprintln!("skipped: {SELENE} cannot be read");
        return;
    };
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| read_fabric(path, &edges::Options::default()).expect("a fabric"));
}

/// `opensm-lfts.dump` of 1,296 hosts and 180 switches.
#[divan::bench]
fn forwarding_tables(bencher: Bencher<'_, '_>) {
    let topology = parse_spec("pgft:m=18x18x4,w=1x18x2,p=1x1x9").expect("a spec");
    let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
    let engine = find_engine("minhop").expect("an engine");
    let routes = engine.route(&topology.fabric, &request).expect("routes");
    let lids = Lids::assign(&topology.fabric, 0).expect("few LIDs");
    let mut dump = Vec::new();
    lft::write(&mut dump, &topology.fabric, &routes, &lids).expect("memory does not fail");
    let text = String::from_utf8(dump).expect("text");
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| lft::read(&text, Path::new("lfts.dump")).expect("a dump"));
}
