//! A study of the quality of repaired tables compared with tables routed from scratch, for one dead cable.
//!
//! `cargo test -p darkfiber-routing --test it reroute_quality -- --ignored --nocapture`

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use darkfiber_fabric::{Faults, open};
use darkfiber_routing::check::check;
use darkfiber_routing::reroute::Prepared;
use darkfiber_routing::{Request, find_engine};

const CABLES: u64 = 10;
const ENGINES: [&str; 6] = ["minhop", "updn", "ftree", "dfsssp", "lash", "nue"];
/// Limit of the largest load, relative to that of the old tables or of routing from scratch with the same engine,
/// whichever is larger: tables that were worse before the fault are not made better.
const GOAL: f64 = 1.06;

/// Compares on ten random cables, one at a time, with all engines that route the fabric.
#[allow(clippy::print_stdout, reason = "the table is what a study is for")]
fn compare(spec: &str) {
    let whole = open(spec).unwrap_or_else(|e| panic!("{spec}: {e}"));
    let mut too_much = String::new();
    for name in ENGINES {
        let engine = find_engine(name).expect("registered");
        let request = Request { shape: whole.shape.as_ref(), ..Request::default() };
        let Ok(old) = engine.route(&whole.fabric, &request) else { continue };
        let ready = Prepared::new(&whole.fabric, &old, request.lanes).expect("its own tables");
        let (mut ratios, mut entries, mut slowest) = (Vec::new(), 0, Duration::ZERO);
        let mut lines = String::new();
        for seed in 1..=CABLES {
            let faults = Faults::random_links(&whole.fabric, 1, seed).expect("one cable");
            let (damaged, map) = whole.with_faults(&faults);
            let mut prepared = ready.clone();
            let start = Instant::now();
            let mended = prepared.reroute(&faults).unwrap_or_else(|e| panic!("{spec} {name}: {e}"));
            slowest = slowest.max(start.elapsed());
            let report = check(&damaged.fabric, &prepared.tables(&damaged.fabric, &map));
            assert!(report.complete(), "{spec} {name}, cable {seed}");
            assert!(name == "minhop" || report.deadlock_free(), "{spec} {name}, cable {seed}");
            let load = report.load.iter().max().copied().unwrap_or(0);
            let request = Request { shape: damaged.shape.as_ref(), ..Request::default() };
            let Ok(anew) = engine.route(&damaged.fabric, &request) else { continue };
            let reference = check(&damaged.fabric, &anew).load.iter().max().copied().unwrap_or(0);
            let ratio = load as f64 / reference as f64;
            entries += mended.changes.len();
            let _infallible = writeln!(
                lines,
                "    cable {seed}: {} before, {load} mended, {reference} from scratch: {ratio:.3}; \
                 {} entries, {} rows eased, {} paths moved",
                mended.load_before,
                mended.changes.len(),
                mended.rows_eased,
                mended.moved.len()
            );
            ratios.push(ratio);
            let goal = GOAL * reference.max(mended.load_before) as f64;
            if load as f64 > goal {
                let _infallible = writeln!(too_much, "{spec} {name}, cable {seed}: {ratio:.3}");
            }
        }
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        let best = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        println!(
            "{spec:<32} {name:<7} ratio {best:.3} to {worst:.3}, mean {mean:.3}; {entries} entries, \
             {slowest:.1?} at most\n{lines}",
        );
    }
    assert!(too_much.is_empty(), "above {GOAL}:\n{too_much}");
}

macro_rules! study {
    ($($name:ident: $spec:literal,)*) => {$(
        #[test]
        #[ignore = "a study of a minute or so"]
        fn $name() {
            compare($spec);
        }
    )*};
}

study! {
    three_level_tree: "kary:k=8,n=3",
    two_level_tree: "fattree2:n=18,m=18,r=36",
    torus: "torus:dims=6x6x6,t=2",
    hyperx: "hyperx:dims=8x8,t=8",
    dragonfly: "dragonfly:p=4,a=8,h=4",
    dragonfly_plus: "dragonflyplus:p=8,leaves=8,spines=8,h=2",
    slimfly: "slimfly:q=7,p=5",
    jellyfish: "jellyfish:n=100,d=10,p=6",
}
