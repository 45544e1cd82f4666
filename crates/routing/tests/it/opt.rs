//! OPT and the improvement by the search: bounds on regular, uneven and damaged trees.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{ChannelId, Fabric, Faults, Shape, TerminalId, Topology, TreeShape, open};
use darkfiber_routing::check::check;
use darkfiber_routing::optimise::{SearchEffort, SearchGoal, optimise};
use darkfiber_routing::{Refusal, Request, Routes, find_engine};
use darkfiber_testkit::{fabric, oracle};

fn routed(on: &Topology, engine: &str) -> Result<Routes, Refusal> {
    let request = Request { shape: on.shape.as_ref(), ..Request::default() };
    find_engine(engine).expect("known").route(&on.fabric, &request)
}

/// The smaller of the numbers of sources and destinations, for each channel.
fn narrow(fabric: &Fabric, routes: &Routes) -> BTreeMap<ChannelId, usize> {
    let mut ends: BTreeMap<ChannelId, (BTreeSet<u32>, BTreeSet<u32>)> = BTreeMap::new();
    let terminals = || (0..fabric.terminal_count()).map(TerminalId::new);
    for s in terminals() {
        for d in terminals().filter(|&d| d != s) {
            for c in oracle::path(fabric, routes, s, d).expect("reaches") {
                let (from, to) = ends.entry(c).or_default();
                from.insert(s.0);
                to.insert(d.0);
            }
        }
    }
    ends.into_iter().map(|(c, (from, to))| (c, from.len().min(to.len()))).collect()
}

fn most(on: &Topology, routes: &Routes) -> usize {
    let report = check(&on.fabric, routes);
    assert!(report.complete() && report.deadlock_free());
    narrow(&on.fabric, routes).into_values().max().unwrap_or(0)
}

#[test]
fn opt_keeps_its_bound() {
    for (n, m, r) in [(4usize, 4usize, 8), (6, 9, 7), (5, 7, 6), (9, 5, 10), (7, 1, 7), (3, 12, 5)]
    {
        let on = open(&format!("fattree2:n={n},m={m},r={r}")).expect("valid");
        let bound = |groups| n.div_ceil(groups);
        let opt = routed(&on, "opt").expect("two levels");
        assert!(most(&on, &opt) <= bound(m.isqrt()), "opt on T({n}+{m},{r})");
        assert_eq!(opt.paths(), m.isqrt().min(n), "a LID for each group of sources");
        let rect = routed(&on, "opt-rect").expect("two levels");
        assert!(most(&on, &rect) <= bound(m.isqrt()), "opt-rect on T({n}+{m},{r})");
        routed(&on, "opt-balanced").map(|routes| most(&on, &routes)).expect("two levels");
    }
}

#[test]
fn leaves_of_all_sizes_and_parallel_cables() {
    // Leaves with 1, 4 and 6 hosts; two tops with two cables each: four up links.
    let fabric = fabric("a-x x2; a-y x2; b-x x2; b-y x2; c-x x2; c-y x2; h@a; i@b x4; j@c x6");
    let level = fabric.switches().iter().map(|s| if *s.description < *"x" { 1 } else { 2 });
    let shape = Shape::Tree(TreeShape { level: level.collect(), pgft: None });
    let on = Topology { fabric, shape: Some(shape) };
    for engine in ["opt", "opt-rect"] {
        let routes = routed(&on, engine).expect("two levels");
        assert!(most(&on, &routes) <= 3, "{engine}: groups of 3 on the largest leaf");
    }
    routed(&on, "opt-balanced").map(|routes| most(&on, &routes)).expect("two levels");
}

#[test]
fn damaged_trees_still_reach_all() {
    let whole = open("fattree2:n=6,m=6,r=6").expect("valid");
    for seed in 0..8 {
        let faults = Faults::random_links(&whole.fabric, 4, seed).expect("stays connected");
        let on = whole.with_faults(&faults).0;
        for engine in ["opt", "opt-rect", "opt-balanced"] {
            let routes = routed(&on, engine).unwrap_or_else(|e| panic!("{e}"));
            let report = check(&on.fabric, &routes);
            assert!(report.complete() && report.deadlock_free(), "{engine}, seed {seed}");
        }
    }
}

#[test]
fn refusals_say_why() {
    let refusal = |spec: &str| {
        routed(&open(spec).expect("valid"), "opt").err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert_eq!(refusal("kary:k=2,n=3"), "opt needs a tree of two levels: this one has 3 levels");
    assert!(refusal("torus:dims=4x4,t=1").starts_with("opt needs a tree of two levels: "));
    let on = open("fattree2:n=9,m=16,r=9").expect("valid");
    let request = Request { shape: on.shape.as_ref(), lmc: 1, ..Request::default() };
    let few = find_engine("opt").expect("known").route(&on.fabric, &request);
    assert!(few.is_err_and(|e| e.to_string().contains("take --lmc 2")));
    let rect = find_engine("opt-rect").expect("known").route(&on.fabric, &request).expect("fits");
    assert_eq!(rect.paths(), 2, "no more groups of sources than LIDs");
}

#[test]
fn searches_keep_what_they_promise() {
    for (spec, goal, lids) in [
        ("fattree2:n=7,m=7,r=8", SearchGoal::Worst, 8),
        ("fattree2:n=5,m=5,r=6", SearchGoal::Average, 4),
        ("fattree2:n=4,m=2,r=5,trunk=2", SearchGoal::Worst, 2),
        ("kary:k=4,n=3", SearchGoal::Average, 4),
        ("pgft:m=3x4x2,w=1x3x2,p=1x1x2", SearchGoal::Worst, 4),
    ] {
        let on = open(spec).expect("valid");
        let request = Request { shape: on.shape.as_ref(), ..Request::default() };
        let effort = SearchEffort { lids, steps: 3000 };
        let found = optimise(&on.fabric, &request, goal, effort).unwrap_or_else(|e| panic!("{e}"));
        assert!(found.routes.paths() <= usize::from(lids), "{spec}");
        assert!(most(&on, &found.routes) <= found.bound as usize, "{spec}");
        let again = optimise(&on.fabric, &request, goal, effort).expect("as before");
        assert_eq!(again.routes, found.routes, "{spec}");
    }
    let fano = open("fattree2:n=7,m=7,r=8").expect("valid");
    let request = Request { shape: fano.shape.as_ref(), ..Request::default() };
    let found =
        optimise(&fano.fabric, &request, SearchGoal::Worst, SearchEffort { lids: 7, steps: 0 })
            .expect("a tree");
    assert_eq!(
        found.bound, 3,
        "lines of the Fano plane have three points, and a point is on three"
    );
}
