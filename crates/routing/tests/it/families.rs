//! Closed forms and published properties on regular families.

use darkfiber_fabric::{
    Fabric, FabricBuilder, Faults, LinkClass, Role, Switch, SwitchId, TerminalId, Topology, open,
    recognise,
};
use darkfiber_routing::check::{Report, check};
use darkfiber_routing::{Refusal, Request, Routes, find_engine};
use darkfiber_testkit::oracle;

fn topology(spec: &str) -> Topology {
    open(spec).unwrap_or_else(|e| panic!("{spec}: {e}"))
}

fn route(topology: &Topology, engine: &str) -> Result<(Routes, Report), Refusal> {
    let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
    let routes = find_engine(engine).expect("registered").route(&topology.fabric, &request)?;
    let report = check(&topology.fabric, &routes);
    Ok((routes, report))
}

#[test]
fn on_full_trees_every_balanced_engine_reaches_the_optimum() {
    // The optimum is the traffic of the hosts of a leaf to all others, over its up ports.
    for (spec, optimum) in [
        ("fattree2:n=12,m=12,r=18", 204),
        ("fattree2:n=18,m=18,r=36", 630),
        ("kary:k=4,n=3", 60),
        ("kary:k=3,n=4", 78),
        ("@cab", 1278),
        ("pgft:m=4x4x4,w=1x4x2,p=1x1x2", 60),
    ] {
        let topology = topology(spec);
        for engine in
            ["minhop", "ftree", "dmodk", "updn", "dnup", "sssp", "dfsssp", "smodk", "lash", "nue"]
        {
            let (_, report) = route(&topology, engine).unwrap_or_else(|e| panic!("{spec}: {e}"));
            let max = report.load.iter().max().copied();
            assert_eq!(max, Some(optimum), "{spec}: {engine}");
            assert!(report.deadlock_free() && report.layers.len() == 1, "{spec}: {engine}");
        }
    }
}

/// Largest load of a channel when terminal `i` sends to `i + by` for all `i`.
fn shift_load(topology: &Topology, routes: &Routes, by: usize) -> usize {
    let fabric = &topology.fabric;
    let n = fabric.terminal_count();
    let mut load = vec![0; fabric.channel_count()];
    for s in 0..n {
        let (s, d) = (s as u32, ((s + by) % n) as u32);
        let path = oracle::path(
            fabric,
            routes,
            darkfiber_fabric::TerminalId(s),
            darkfiber_fabric::TerminalId(d),
        );
        for c in path.expect("reaches") {
            load[c.index()] += 1;
        }
    }
    load.into_iter().max().unwrap_or(0)
}

#[test]
fn shift_permutations_on_full_trees_are_free_of_contention() {
    // Zahavi 2012: D-mod-k on a real-life fat-tree. ftree must be as good, and sssp too, by its order.
    for spec in ["fattree2:n=4,m=4,r=6", "kary:k=3,n=3", "pgft:m=4x4x4,w=1x4x2,p=1x1x2"] {
        let topology = topology(spec);
        for engine in ["dmodk", "ftree"] {
            let (routes, _) = route(&topology, engine).expect("a tree");
            for by in 1..topology.fabric.terminal_count() {
                assert_eq!(shift_load(&topology, &routes, by), 1, "{spec}: {engine}, shift {by}");
            }
        }
    }
}

#[test]
fn down_ports_of_leaves_serve_one_destination_each() {
    let topology = topology("kary:k=4,n=2");
    let fabric = &topology.fabric;
    for engine in ["dmodk", "ftree"] {
        let (routes, _) = route(&topology, engine).expect("a tree");
        let mut served = vec![std::collections::BTreeSet::new(); fabric.channel_count()];
        for d in (0..fabric.terminal_count()).map(darkfiber_fabric::TerminalId::new) {
            for s in (0..fabric.terminal_count()).map(darkfiber_fabric::TerminalId::new) {
                if fabric.terminal(s).switch != fabric.terminal(d).switch {
                    let path = oracle::path(fabric, &routes, s, d).expect("reaches");
                    served[path[path.len() - 1].index()].insert(d);
                }
            }
        }
        let most = served.iter().map(std::collections::BTreeSet::len).max();
        assert_eq!(most, Some(1), "{engine}");
    }
}

#[test]
fn dimension_order_on_a_whole_lattice_is_acyclic_and_even() {
    for (spec, optimum) in [("hyperx:dims=12x8,t=7", 588), ("hyperx:dims=4x4x4,t=1", 16)] {
        let (_, report) = route(&topology(spec), "dor").expect("a lattice");
        assert!(report.deadlock_free(), "{spec}");
        assert_eq!(report.load.iter().max(), Some(&optimum), "{spec}");
    }
    let (_, mesh) = route(&topology("mesh:dims=4x4,t=1"), "dor").expect("a lattice");
    assert!(mesh.deadlock_free());
    let (_, torus) = route(&topology("torus:dims=5x5,t=1"), "dor").expect("a lattice");
    let cycle = torus.layers[0].cycle.as_ref().expect("rings close cycles");
    assert_eq!(cycle.channels.len(), 5, "a shortest witness is one ring");
}

#[test]
fn smodk_spreads_sources_as_dmodk_spreads_destinations() {
    let topology = topology("fattree2:n=4,m=4,r=6");
    let (routes, report) = route(&topology, "smodk").expect("a tree");
    assert!(routes.source_chooses());
    let fabric = &topology.fabric;
    for s in 0..fabric.terminal_count() {
        let s = darkfiber_fabric::TerminalId::new(s);
        let tops: std::collections::BTreeSet<u32> = (0..fabric.terminal_count())
            .map(darkfiber_fabric::TerminalId::new)
            .filter(|&d| fabric.terminal(s).switch != fabric.terminal(d).switch)
            .map(|d| fabric.head(oracle::path(fabric, &routes, s, d).expect("reaches")[0]).0)
            .collect();
        assert_eq!(tops.len(), 1, "all that a source sends climbs to one top switch");
    }
    assert_eq!(report.load.iter().max(), Some(&20));
}

#[test]
fn ftree_on_a_damaged_tree_keeps_up_with_the_best() {
    for spec in ["fattree2:n=12,m=12,r=18", "kary:k=6,n=3"] {
        let whole = topology(spec);
        let spine = SwitchId::new(whole.fabric.switch_count() - 1);
        for seed in 1..=3 {
            let mut faults = Faults::random_links(&whole.fabric, 5, seed).expect("connected");
            faults.switches.push(spine);
            let damaged = whole.with_faults(&faults).0;
            let max = |engine: &str| -> u64 {
                let (_, report) = route(&damaged, engine).unwrap_or_else(|e| panic!("{spec}: {e}"));
                report.load.iter().max().copied().unwrap_or(0)
            };
            let best = ["minhop", "updn", "sssp", "dfsssp", "lash", "nue"].map(max);
            let best = best.into_iter().min().unwrap_or(0);
            assert!(max("ftree") * 20 <= best * 21, "{spec}, seed {seed}: {} {best}", max("ftree"));
        }
    }
}

/// The fabric, to which terminals called `name` are added at port 254 of some switches.
fn with_more(plain: &Fabric, on: impl Iterator<Item = usize>, name: &str) -> Fabric {
    let mut b = FabricBuilder::new(plain.name());
    let class = b.class(LinkClass::unknown());
    for _ in plain.switches() {
        b.add_switch(Switch { ports: 254, ..Switch::default() });
    }
    for (c, &back) in plain.reverses().iter().enumerate() {
        if c < back as usize {
            let end = |c: usize| (SwitchId(plain.tails()[c]), plain.tail_ports()[c]);
            b.link_switches(end(c), end(back as usize), class).expect("as in the plain one");
        }
    }
    for (i, t) in plain.terminals().iter().enumerate() {
        b.add_host_on(t.switch, t.switch_port, &format!("h{i}"), class).expect("free");
    }
    for s in on {
        b.add_host_on(SwitchId::new(s), 254, &format!("{name}{s}"), class).expect("free");
    }
    b.finish().expect("a fabric")
}

/// The few paths between top switches turn at one leaf; those of all others go up, then down, as evenly as without them.
#[test]
fn hosts_on_top_switches_do_not_spoil_a_tree() {
    for (spec, tops) in [
        ("fattree2:n=8,m=4,r=6", 2),
        ("fattree2:n=8,m=4,r=6", 4),
        ("fattree2:n=12,m=6,r=12", 6),
        ("fattree2:n=4,m=4,r=6", 2),
        ("fattree2:n=4,m=4,r=6", 4),
        ("fattree2:n=2,m=1,r=3", 1),
        ("kary:k=4,n=3", 3),
    ] {
        let plain = topology(spec).fabric;
        let without = route(&Topology { fabric: plain.clone(), shape: None }, "ftree");
        let without = without.expect("a tree").1.load.iter().max().copied().unwrap_or(0);
        // The last switches are top switches: they have a host for logins, say.
        let fabric = with_more(&plain, (0..plain.switch_count()).rev().take(tops), "login");
        let shape = recognise(&fabric).ok().map(|found| found.shape);
        assert!(plain.terminal_count() < 10 || shape.is_some(), "{spec}, {tops}");
        for shape in [None, shape] {
            let on = Topology { fabric: fabric.clone(), shape };
            for engine in ["ftree", "updn", "ar_ftree"] {
                let (routes, report) = route(&on, engine).unwrap_or_else(|e| panic!("{spec}: {e}"));
                let what = format!("{engine} on {spec}, {tops}");
                assert!(report.complete() && report.deadlock_free(), "{what}");
                assert_eq!(routes.layer_count(), 1, "{what}");
                let most = report.load.iter().max().copied().unwrap_or(0);
                // A top host adds itself to each of the channels that lead to it, and a little chance.
                assert!(most * 4 <= without * 5 + 20, "{what}: {most}, {without} without");
            }
        }
    }
}

/// The fabric with one more terminal on every switch, like InfiniBand switches with an aggregation node.
fn with_aggregation(plain: &Fabric) -> Fabric {
    let hosts = plain.terminal_count();
    let role =
        |t: TerminalId, _: &_| if t.index() < hosts { Role::Compute } else { Role::Aggregation };
    with_more(plain, 0..plain.switch_count(), "an").with_roles(role)
}

#[test]
fn a_terminal_on_every_switch_does_not_spoil_a_tree() {
    // The few paths between top switches turn from down to up; the paths of the hosts must not yield to them.
    for spec in ["kary:k=6,n=3", "fattree2:n=12,m=12,r=18"] {
        let plain = topology(spec).fabric;
        let fabric = with_aggregation(&plain);
        let topology = Topology { fabric, shape: None };
        let max = |engine: &str| -> u64 {
            let (_, report) = route(&topology, engine).unwrap_or_else(|e| panic!("{spec}: {e}"));
            assert!(report.complete() && report.deadlock_free(), "{spec}: {engine}");
            report.load.iter().max().copied().unwrap_or(0)
        };
        let best = max("dfsssp");
        for engine in ["lash", "nue", "updn"] {
            assert!(max(engine) * 3 <= best * 4, "{spec}: {engine} {} {best}", max(engine));
        }
    }
}
