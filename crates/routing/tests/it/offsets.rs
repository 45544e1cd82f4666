//! Several LIDs per port do not make the load less even.

use darkfiber_fabric::{Shape, SwitchId, TerminalId, Topology, open};
use darkfiber_routing::check::check;
use darkfiber_routing::{DestId, ENGINES, Request, Routes, find_engine};
use darkfiber_testkit::families::{damaged, small, topology};

/// Loads of all channels where every terminal sends to LID `lid` of all others.
fn alone(on: &Topology, routes: &Routes, lid: usize) -> Vec<u64> {
    let mut alone = routes.clone();
    alone.set_select(vec![lid as u16; on.fabric.terminal_count()]);
    check(&on.fabric, &alone).load
}

fn largest(load: &[u64]) -> u64 {
    load.iter().copied().max().unwrap_or(0)
}

#[test]
fn each_lid_offset_alone_is_as_even_as_one_lid() {
    for spec in small() {
        let whole = topology(spec);
        let worse = damaged(&whole).into_iter().nth(1).map(|(_, on)| on);
        for on in std::iter::once(&whole).chain(&worse) {
            for engine in ENGINES.iter().filter(|e| e.lids_are_alike()) {
                let request = |lmc| Request { shape: on.shape.as_ref(), lmc, ..Request::default() };
                let Ok(one) = engine.route(&on.fabric, &request(0)) else { continue };
                let one = largest(&check(&on.fabric, &one).load);
                for lmc in 1..4 {
                    let what = format!("{} lmc {lmc} on {spec}", engine.name());
                    let routes = engine.route(&on.fabric, &request(lmc)).expect(&what);
                    assert_eq!(routes.paths(), 1 << lmc, "{what}");
                    let mut sum = vec![0; on.fabric.channel_count()];
                    for lid in 0..routes.paths() {
                        let load = alone(on, &routes, lid);
                        let most = largest(&load);
                        assert!(
                            most <= one + (one / 50).max(1),
                            "{what}, LID {lid}: {most}, {one}"
                        );
                        sum.iter_mut().zip(load).for_each(|(sum, x)| *sum += x);
                    }
                    let bound = routes.paths() as u64 * one;
                    assert!(largest(&sum) <= bound, "{what}: {} of {bound}", largest(&sum));
                }
            }
        }
    }
}

/// OpenSM's minhop on these fabrics, all LIDs of all ports together, at LMC 1, 2 and 3 (docs/benchmarks/lids.md).
#[test]
fn minhop_is_no_worse_than_opensm_with_all_lids_together() {
    for (spec, opensm) in [
        ("@t2hx-hyperx", [1323, 2884, 5943]),
        ("torus:dims=4x4x4,t=2", [382, 648, 1316]),
        ("dragonfly:p=2,a=4,h=2", [196, 372, 740]),
    ] {
        let on = open(spec).expect(spec);
        let engine = find_engine("minhop").expect("registered");
        for (lmc, theirs) in (1..).zip(opensm) {
            let request = Request { shape: on.shape.as_ref(), lmc, ..Request::default() };
            let routes = engine.route(&on.fabric, &request).expect(spec);
            let mut sum = vec![0; on.fabric.channel_count()];
            for lid in 0..routes.paths() {
                sum.iter_mut().zip(alone(&on, &routes, lid)).for_each(|(sum, x)| *sum += x);
            }
            assert!(largest(&sum) <= theirs, "{spec}, LMC {lmc}: {}, {theirs}", largest(&sum));
            assert_eq!(routes.engine, "minhop");
            assert!(routes.notes.iter().any(|note| note.contains("sssp")), "{:?}", routes.notes);
        }
    }
}

/// On a tree whose leaves have more hosts than a port has LIDs, every LID of a port leaves over another channel.
#[test]
fn lids_of_a_port_take_different_paths() {
    let on = topology("fattree2:n=8,m=8,r=16");
    for engine in ["minhop", "updn", "ftree", "sssp", "dfsssp"] {
        let engine = ENGINES.iter().find(|e| e.name() == engine).expect("registered");
        let request = Request { shape: on.shape.as_ref(), lmc: 2, ..Request::default() };
        let routes = engine.route(&on.fabric, &request).expect("a tree");
        let last = on.fabric.terminal_count() - 1;
        let first_leaf = on.fabric.terminals()[0].switch;
        let mut ports: Vec<u8> = (0..4)
            .map(|lid| routes.ports(routes.row(DestId::new(last), lid))[first_leaf.index()])
            .collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 4, "{}", engine.name());
    }
}

/// On a whole lattice all terminals of a switch have the same paths, so that further LIDs take the dimensions in another order: where
/// two switches differ in two dimensions, first and last hops of two LIDs differ. In one lane there is no space for that.
#[test]
fn lids_on_lattices_take_dimensions_in_other_orders() {
    for spec in ["hyperx:dims=4x3,t=2", "torus:dims=4x4x4", "mesh:dims=3x4,t=2"] {
        let on = topology(spec);
        let grid = match &on.shape {
            Some(Shape::Grid(grid)) => grid,
            other => panic!("{spec}: {other:?}"),
        };
        for engine in ["dfsssp", "nue", "lash"] {
            let engine = find_engine(engine).expect("registered");
            let what = format!("{} on {spec}", engine.name());
            let request = Request { shape: on.shape.as_ref(), lmc: 1, ..Request::default() };
            let routes = engine.route(&on.fabric, &request).expect(&what);
            assert!(routes.notes.is_empty(), "{what}: {:?}", routes.notes);
            for lid in 0..2 {
                let mut alone = routes.clone();
                alone.set_select(vec![lid; on.fabric.terminal_count()]);
                let report = check(&on.fabric, &alone);
                assert!(report.complete() && report.deadlock_free(), "{what}, LID {lid}");
            }
            for t in (0..on.fabric.terminal_count()).map(DestId::new) {
                let home = t.home(&on.fabric);
                let [first, second] = [0, 1].map(|lid| routes.ports(routes.row(t, lid)));
                for s in (0..on.fabric.switch_count()).map(SwitchId::new) {
                    let apart =
                        grid.at(s).iter().zip(grid.at(home)).filter(|(a, b)| a != b).count();
                    let same = first[s.index()] == second[s.index()];
                    assert_eq!(same, apart < 2, "{what}: from {s:?} to {home:?}");
                }
            }
            let one_lane = Request { lanes: 1, ..request };
            if let Ok(routes) = engine.route(&on.fabric, &one_lane) {
                assert!(routes.notes[0].contains("different paths"), "{what}: {:?}", routes.notes);
            }
        }
    }
}

/// Engines that do not follow jobs make the same tables whatever runs; those that do reach everybody, also where a port has more LIDs
/// than a switch has hosts of a job.
#[test]
fn jobs_matter_to_engines_that_follow_them() {
    for spec in [
        "fattree2:n=4,m=3,r=4",
        "kary:k=3,n=2",
        "hyperx:dims=4x4,t=2",
        "mesh:dims=3x3,t=3",
        "dragonfly:p=2,a=4,h=2",
    ] {
        let on = topology(spec);
        let n = on.fabric.terminal_count();
        let jobs: Vec<Vec<TerminalId>> =
            (0..2).map(|job| (job..n).step_by(3).take(4).map(TerminalId::new).collect()).collect();
        for engine in ENGINES.iter().filter(|e| !e.follows_demands()) {
            for lmc in 1..4 {
                let idle = Request { shape: on.shape.as_ref(), lmc, ..Request::default() };
                let busy = Request { jobs: &jobs, ..idle.clone() };
                let Ok(routes) = engine.route(&on.fabric, &busy) else { continue };
                let what = format!("{} lmc {lmc} on {spec}", engine.name());
                if engine.follows_jobs() {
                    let report = check(&on.fabric, &routes);
                    assert!(report.complete() && report.deadlock_free(), "{what}");
                } else {
                    let without = engine.route(&on.fabric, &idle).expect(&what);
                    assert!(routes == without, "{what}");
                }
            }
        }
    }
}
