//! Fabrics that are large enough to route destinations in parallel: the same bytes for any number of threads,
//! complete, and deadlock-free where that is promised.

use darkfiber_fabric::Topology;
use darkfiber_routing::check::check;
use darkfiber_routing::{ENGINES, Engine, LayerBy, Refusal, Request, Routes, find_engine};
use darkfiber_testkit::families::{badly_damaged, topology};
use rayon::ThreadPoolBuilder;

const TREE: &str = "pgft:m=2x24x24,w=1x2x2";
const DRAGONFLY: &str = "dragonfly:p=1,a=11,h=5";
const TORUS: &str = "torus:dims=8x8x9,t=1";

fn route(on: &Topology, engine: &dyn Engine, layer_by: LayerBy, threads: usize) -> Routes {
    let request = Request { shape: on.shape.as_ref(), lanes: 15, layer_by, ..Request::default() };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let routes = pool.install(|| engine.route(&on.fabric, &request));
    routes.unwrap_or_else(|refusal| panic!("{} with {threads} threads: {refusal}", engine.name()))
}

/// Checks that the tables are the same for any number of threads, and proven.
fn same_and_proven(on: &Topology, name: &str, layer_by: LayerBy) {
    let engine = find_engine(name).expect("registered");
    let alone = route(on, engine, layer_by, 1);
    for threads in [2, 7, 64] {
        let routes = route(on, engine, layer_by, threads);
        assert!(routes == alone, "{name}: {threads} threads change the routes");
    }
    let report = check(&on.fabric, &alone);
    assert!(report.complete(), "{name} loses pairs");
    assert!(report.deadlock_free() || !engine.deadlock().promised(), "{name} deadlocks");
}

#[test]
fn a_tree() {
    let on = topology(TREE);
    for name in ["minhop", "updn", "ftree", "sssp", "dfsssp", "lash", "nue", "sar-best"] {
        same_and_proven(&on, name, LayerBy::Pair);
    }
}

#[test]
fn a_dragonfly() {
    let on = topology(DRAGONFLY);
    for name in ["minhop", "updn", "sssp", "dfsssp", "nue", "sar-best"] {
        same_and_proven(&on, name, LayerBy::Pair);
    }
    same_and_proven(&on, "dfsssp", LayerBy::Destination);
}

#[test]
fn a_torus() {
    let on = topology(TORUS);
    for name in ["minhop", "updn", "sssp", "dfsssp", "nue"] {
        same_and_proven(&on, name, LayerBy::Pair);
    }
}

#[test]
fn damaged_fabrics() {
    for (spec, names) in
        [(TREE, &["updn", "ftree", "dfsssp", "nue"][..]), (DRAGONFLY, &["minhop", "dfsssp", "nue"])]
    {
        let (_, on) = badly_damaged(&topology(spec)).into_iter().next().expect("it can be damaged");
        for name in names {
            same_and_proven(&on, name, LayerBy::Pair);
        }
    }
}

/// Every engine: a refusal does not depend on the number of threads.
#[test]
fn all_engines() {
    let on = topology("pgft:m=1x24x24,w=1x2x2");
    for engine in &ENGINES {
        let request = Request { shape: on.shape.as_ref(), ..Request::default() };
        let of = |threads: usize| -> Result<Routes, Refusal> {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| engine.route(&on.fabric, &request))
        };
        let alone = of(1);
        assert!(alone == of(7), "{}: threads change the routes", engine.name());
        if let Ok(routes) = alone {
            assert!(check(&on.fabric, &routes).complete(), "{}", engine.name());
        }
    }
}
