//! Every engine on random fabrics: complete tables or a typed refusal, proven by the oracle.

use darkfiber_fabric::{Fabric, Shape, SwitchId, TerminalId};
use darkfiber_routing::check::check;
use darkfiber_routing::{
    Deadlock, DestId, ENGINES, Engine, Layers, Refusal, Request, Routes, find_engine,
};
use darkfiber_testkit::{any_fabric, connected_fabric, fabric, families, oracle};
use proptest::prelude::*;

fn by_name(name: &str) -> &'static dyn Engine {
    find_engine(name).expect("registered")
}

/// Checks that everything is reached, that the engine keeps its promise, and that hop counts are possible.
fn conforms(
    engine: &dyn Engine,
    fabric: &Fabric,
    request: &Request<'_>,
) -> Result<(), TestCaseError> {
    let routes = match engine.route(fabric, request) {
        Ok(routes) => routes,
        Err(Refusal::WrongFabric { .. } | Refusal::Lanes { .. }) => return Ok(()),
        // These engines need as many LIDs as there are classes of sources.
        Err(Refusal::Parameter { .. }) if engine.by_source() && request.lmc > 0 => return Ok(()),
        Err(other) => return Err(TestCaseError::fail(format!("{}: {other}", engine.name()))),
    };
    let verdict = oracle::judge(fabric, &routes);
    prop_assert_eq!(verdict.lost, 0, "{} loses pairs", engine.name());
    prop_assert!(routes.layer_count() <= usize::from(request.lanes));
    if matches!(engine.deadlock(), Deadlock::Free | Deadlock::Layers) {
        prop_assert!(verdict.cyclic.is_empty(), "{} deadlocks", engine.name());
    }
    // Checks all LIDs of all ports, from all switches that have hosts.
    for d in 0..fabric.terminal_count() {
        for path in 0..routes.paths() {
            let row = routes.ports(routes.row(DestId::new(d), path));
            for s in (0..fabric.switch_count()).map(SwitchId::new) {
                if !fabric.terminals_on(s).is_empty() {
                    prop_assert!(follow(fabric, row, s, TerminalId::new(d)), "{}", engine.name());
                }
            }
        }
    }
    Ok(())
}

fn follow(fabric: &Fabric, row: &[u8], mut s: SwitchId, dest: TerminalId) -> bool {
    for _ in 0..=fabric.switch_count() {
        match row[s.index()] {
            0 => return fabric.terminal(dest).switch == s,
            port => match fabric.at_port(s, port) {
                darkfiber_fabric::AtPort::Switch(_, next) => s = next,
                _ => return false,
            },
        }
    }
    false
}

fn is_shortest(fabric: &Fabric, routes: &Routes) -> bool {
    (0..fabric.terminal_count()).map(TerminalId::new).all(|d| {
        let dist = oracle::distances(fabric, fabric.terminal(d).switch);
        (0..fabric.terminal_count()).map(TerminalId::new).filter(|&s| s != d).all(|s| {
            let hops = oracle::path(fabric, routes, s, d).map(|p| p.len());
            hops == dist[fabric.terminal(s).switch.index()]
        })
    })
}

fn with_threads<T: Send>(n: usize, f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool").install(f)
}

proptest! {
    #[test]
    fn every_engine_is_complete_or_refuses(fabric in connected_fabric(), lmc in 0u8..3) {
        for engine in &ENGINES {
            conforms(*engine, &fabric, &Request { lmc, lanes: 16, ..Request::default() })?;
        }
    }

    #[test]
    fn fabrics_in_pieces_or_without_hosts_are_refused(fabric in any_fabric()) {
        for engine in &ENGINES {
            let result = engine.route(&fabric, &Request::default());
            if fabric.terminal_count() == 0 {
                prop_assert!(matches!(result, Err(Refusal::Empty { .. })), "{}", engine.name());
            } else if fabric.components().len() > 1 {
                prop_assert!(
                    matches!(result, Err(Refusal::Disconnected { .. })), "{}", engine.name()
                );
            }
        }
    }

    #[test]
    fn shortest_path_engines_are_shortest(fabric in connected_fabric()) {
        for name in ["minhop", "sssp", "dfsssp", "dor"] {
            let request = Request { lanes: 16, ..Request::default() };
            let routes = by_name(name).route(&fabric, &request);
            prop_assert!(is_shortest(&fabric, &routes.expect("connected")), "{}", name);
        }
    }

    #[test]
    fn updn_takes_any_roots(fabric in connected_fabric(), root in any::<prop::sample::Index>()) {
        let roots = [SwitchId::new(root.index(fabric.switch_count()))];
        let request = Request { roots: &roots, ..Request::default() };
        let routes = by_name("updn").route(&fabric, &request);
        prop_assert!(routes.is_ok(), "a single root reaches everything: {:?}", routes.err());
        conforms(by_name("updn"), &fabric, &request)?;
    }

    #[test]
    fn threads_do_not_change_a_byte(fabric in connected_fabric()) {
        for engine in &ENGINES {
            let one = with_threads(1, || engine.route(&fabric, &Request::default()));
            let two = with_threads(2, || engine.route(&fabric, &Request::default()));
            prop_assert!(one == two, "{}", engine.name());
        }
    }

    #[test]
    fn dfsssp_is_no_longer_and_hardly_more_loaded_than_sssp(fabric in connected_fabric()) {
        let request = Request { lanes: 15, ..Request::default() };
        let a = by_name("dfsssp").route(&fabric, &request).expect("connected");
        let b = by_name("sssp").route(&fabric, &request).expect("connected");
        let (x, y) = (check(&fabric, &a), check(&fabric, &b));
        prop_assert_eq!(&x.hops, &y.hops);
        prop_assert!(x.load.iter().max() <= y.load.iter().max());
        prop_assert!(b.layers == Layers::One);
    }
}

#[test]
fn names_are_unique_and_documented() {
    let mut names: Vec<&str> = ENGINES.iter().map(|e| e.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ENGINES.len());
    for engine in &ENGINES {
        assert!(engine.summary().len() <= 80, "{}", engine.name());
        assert!(!engine.doc().is_empty() && !engine.paper().is_empty(), "{}", engine.name());
    }
}

#[test]
fn parallel_cables_share_the_load() {
    let fabric = fabric("a-b x4; h@a x4; g@b x4");
    for name in ["minhop", "updn", "dnup", "dor", "sssp", "dfsssp", "lash", "nue"] {
        let routes = by_name(name).route(&fabric, &Request::default()).expect("connected");
        let report = check(&fabric, &routes);
        assert_eq!(report.load, [4; 8], "{name}: four sources to one destination a cable");
    }
}

#[test]
fn lids_of_one_port_take_different_cables() {
    let fabric = fabric("a-b x4; h@a; g@b");
    for name in ["minhop", "updn", "dnup", "dor", "sssp", "dfsssp", "lash", "nue"] {
        let request = Request { lmc: 2, ..Request::default() };
        let routes = by_name(name).route(&fabric, &request).expect("connected");
        let mut ports: Vec<u8> =
            (0..4).map(|i| routes.ports(routes.row(DestId(1), i))[0]).collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 4, "{name}");
    }
}

#[test]
fn too_few_lanes_are_refused_with_a_number() {
    // Six switches in a ring need two layers.
    let ring = fabric("a-b; b-c; c-d; d-e; e-f; f-a; h1@a; h2@b; h3@c; h4@d; h5@e; h6@f");
    let request = Request { lanes: 1, ..Request::default() };
    let refusal = by_name("dfsssp").route(&ring, &request).expect_err("cyclic with one lane");
    assert!(matches!(refusal, Refusal::Lanes { needed: 2, lanes: 1, .. }), "{refusal}");
    let routes = by_name("dfsssp").route(&ring, &Request::default()).expect("two lanes do");
    assert_eq!(routes.layer_count(), 2);
}

#[test]
fn ftree_says_why_it_refuses() {
    let ring = fabric("a-b; b-c; c-a; h1@a; h2@b; h3@c");
    let refusal = by_name("ftree").route(&ring, &Request::default()).expect_err("no tree");
    let text = refusal.to_string();
    assert!(text.contains("3 of 3 switch-to-switch cables join switches of one level"), "{text}");
}

/// A two-level tree with an aggregation node in every switch, top switches included.
fn tree_with_aggregation() -> Fabric {
    let text = "l1-t1; l1-t2; l2-t1; l2-t2; l3-t1; l3-t2; h1@l1; h2@l2; h3@l3; \
                a1@l1; a2@l2; a3@l3; b1@t1; b2@t2";
    let fabric = fabric(text);
    let aggregation: Vec<bool> = fabric
        .terminals()
        .iter()
        .map(|t| !fabric.adapter(t.adapter).description.starts_with('h'))
        .collect();
    fabric.with_roles(|t, _| {
        if aggregation[t.index()] {
            darkfiber_fabric::Role::Aggregation
        } else {
            darkfiber_fabric::Role::Compute
        }
    })
}

#[test]
fn aggregation_nodes_in_top_switches_are_reached_in_a_layer_of_their_own() {
    let fabric = tree_with_aggregation();
    for name in ["ftree", "updn", "dnup"] {
        let routes = by_name(name).route(&fabric, &Request::default()).expect(name);
        let verdict = oracle::judge(&fabric, &routes);
        assert_eq!((verdict.lost, verdict.cyclic.len()), (0, 0), "{name}");
        for s in (0..fabric.terminal_count()).map(TerminalId::new) {
            for d in (0..fabric.terminal_count()).map(TerminalId::new).filter(|&d| d != s) {
                let top = |t: TerminalId| {
                    fabric.switch(fabric.terminal(t).switch).description.starts_with('t')
                };
                let expected = u8::from(top(s) && top(d));
                assert_eq!(routes.layer(&fabric, s, d), expected, "{name} {s:?} {d:?}");
            }
        }
    }
}

#[test]
fn updn_never_turns_up_after_down() {
    // A small version of the reference's irregular case: min-hop tables that ignore the direction would send d1 -> c
    // -> d2 -> ... up again.
    let fabric = fabric("r-a; r-b; a-c; b-d; c-d; c-e; d-e; h1@r; h2@a; h3@b; h4@c; h5@d; h6@e");
    let roots = [SwitchId(0)];
    let request = Request { roots: &roots, ..Request::default() };
    let routes = by_name("updn").route(&fabric, &request).expect("connected");
    // Rank by distance from r, ties by id: r a b c d e.
    let place = [0, 1, 2, 3, 4, 5];
    for s in (0..6).map(TerminalId::new) {
        for d in (0..6).map(TerminalId::new).filter(|&d| d != s) {
            let path = oracle::path(&fabric, &routes, s, d).expect("reaches");
            let ups: Vec<bool> = path
                .iter()
                .map(|&c| place[fabric.head(c).index()] < place[fabric.tail(c).index()])
                .collect();
            assert!(ups.windows(2).all(|w| w[0] || !w[1]), "{s:?} -> {d:?}: {ups:?}");
        }
    }
}

/// Roots that are given decide, also where the family of the fabric is known; engines without any say so.
#[test]
fn roots_go_before_the_shape() {
    let on = families::topology("kary:k=3,n=3");
    let (fabric, shape) = (&on.fabric, on.shape.as_ref());
    let tables = |engine: &str, roots: &[SwitchId]| {
        let routes = by_name(engine).route(fabric, &Request { shape, roots, ..Request::default() });
        routes.expect("it routes trees")
    };
    let level = |s: SwitchId| match shape {
        Some(Shape::Tree(tree)) => tree.level[s.index()],
        _ => panic!("a tree"),
    };
    let tops: Vec<SwitchId> =
        (0..fabric.switch_count()).map(SwitchId::new).filter(|&s| level(s) == 3).collect();
    let rows = |routes: &Routes| -> Vec<Vec<u8>> {
        (0..routes.row_count()).map(|row| routes.ports(row).to_vec()).collect()
    };
    for engine in ["ftree", "updn"] {
        let plain = tables(engine, &[]);
        let all = tables(engine, &tops);
        assert_eq!((rows(&all), all.notes), (rows(&plain), plain.notes.clone()), "{engine}");
        let one = tables(engine, &tops[..1]);
        assert!(one.notes.iter().any(|n| n.starts_with("8 of the 9 switches")), "{:?}", one.notes);
        // A leaf on top turns the tree over.
        let turned = tables(engine, &[SwitchId(0)]);
        assert!(level(SwitchId(0)) == 1 && rows(&turned) != rows(&plain), "{engine}");
    }
    for engine in ["dnup", "minhop"] {
        let told = tables(engine, &tops);
        assert!(told.notes.iter().any(|note| note.contains("roots")), "{:?}", told.notes);
        assert_eq!(rows(&told), rows(&tables(engine, &[])), "{engine}");
    }
}

/// `afar` begins with tables of an engine that has roots, or of one that has none, by the fabric.
#[test]
fn tables_know_whether_they_depend_on_roots() {
    let leaves = |spec: &str, engine: &str, lmc: u8| {
        let on = families::topology(spec);
        let (shape, roots) = (on.shape.as_ref(), [SwitchId(on.fabric.switch_count() as u32 - 1)]);
        let request = Request { shape, roots: &roots, lmc, ..Request::default() };
        by_name(engine).route(&on.fabric, &request).expect("it routes any fabric").leaves_roots
    };
    for lmc in [0, 1] {
        for spec in ["hyperx:dims=3x3,t=1", "hyperx:dims=3x3,t=1,planes=2"] {
            assert!(leaves(spec, "afar", lmc) && leaves(spec, "minhop", lmc), "{spec}");
            assert!(!leaves(spec, "updn", lmc), "{spec}");
        }
        assert!(!leaves("kary:k=3,n=2", "afar", lmc));
    }
}

/// Two roots in the middle of a mesh leave many pairs without a way up, then down: who gave them hears of it.
#[test]
fn roots_that_do_not_suffice_are_not_dropped_silently() {
    let mesh = darkfiber_fabric::open("mesh:dims=4x4,t=1").expect("a spec").fabric;
    let notes = |roots: &[usize]| {
        let roots: Vec<SwitchId> = roots.iter().map(|&s| SwitchId::new(s)).collect();
        let request = Request { roots: &roots, ..Request::default() };
        by_name("updn").route(&mesh, &request).expect("connected").notes
    };
    let said = notes(&[0, 10]);
    assert!(said.iter().any(|n| n.contains("the 2 root switches leave pairs")), "{said:?}");
    assert!(said[0].contains("16 of 16 LIDs"), "{said:?}");
    assert!(notes(&[0]).is_empty());
}

#[test]
fn the_order_of_records_does_not_matter_to_minhop() {
    // OpenSM 3.3.23 has 198 on the fullest channel.
    let torus = darkfiber_fabric::open("torus:dims=4x4x4,t=2").expect("a torus");
    for seed in 0..6 {
        let other = darkfiber_testkit::families::relabelled(&torus, seed, false).fabric;
        let routes = by_name("minhop").route(&other, &Request::default()).expect("connected");
        assert_eq!(check(&other, &routes).load.into_iter().max(), Some(198), "seed {seed}");
    }
}
