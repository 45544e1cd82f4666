//! Repairs that keep service levels: the guarantee of each level of the ladder, checked pair by pair.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{AtPort, ChannelId, Fabric, Faults, TerminalId, open};
use darkfiber_routing::check::check;
use darkfiber_routing::reroute::{Book, Fault, Prepared, Repair, RerouteError, Rung};
use darkfiber_routing::{DestId, Request, Routes, find_engine};
use darkfiber_testkit::connected_fabric;
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;

use crate::reroute::keeps_its_promise;

const LANES: u8 = 8;
const NAMES: [&str; 6] = ["minhop", "updn", "nue", "sssp", "dfsssp", "lash"];

fn route(fabric: &Fabric, engine: &str) -> Routes {
    let request = Request { lanes: LANES, ..Request::default() };
    find_engine(engine).expect("registered").route(fabric, &request).expect("connected")
}

/// Service levels with a cycle of dependencies, if pairs send on the paths of `tables` with the levels of each of
/// `levels`: each pair is traced alone, entry by entry.
fn cyclic(fabric: &Fabric, tables: &Routes, levels: &[&Routes]) -> BTreeSet<u8> {
    let mut waits: BTreeMap<u8, BTreeMap<ChannelId, BTreeSet<ChannelId>>> = BTreeMap::new();
    let terminals = || (0..fabric.terminal_count()).map(TerminalId::new);
    for (source, dest) in terminals().flat_map(|s| terminals().map(move |d| (s, d))) {
        let ports = tables.ports(tables.row(DestId::terminal(dest), 0));
        let mut at = fabric.terminal(source).switch;
        let mut last: Option<ChannelId> = None;
        for _ in 0..fabric.switch_count() {
            let AtPort::Switch(c, next) = fabric.at_port(at, ports[at.index()]) else { break };
            for of in levels {
                let graph = waits.entry(of.layer(fabric, source, dest)).or_default();
                graph.entry(c).or_default();
                if let Some(last) = last {
                    graph.entry(last).or_default().insert(c);
                }
            }
            (at, last) = (next, Some(c));
        }
    }
    let is_cyclic = |mut graph: BTreeMap<ChannelId, BTreeSet<ChannelId>>| loop {
        let before = graph.len();
        let left: BTreeSet<ChannelId> = graph.keys().copied().collect();
        graph.retain(|_, next| next.iter().any(|c| left.contains(c)));
        if graph.len() == before {
            return before > 0;
        }
    };
    waits.into_iter().filter_map(|(level, graph)| is_cyclic(graph).then_some(level)).collect()
}

proptest! {
    #[test]
    fn connections_may_go_on_unless_the_rung_says_reconnect(
        fabric in connected_fabric(),
        engine in 0..NAMES.len(),
        cables in 1usize..3,
    ) {
        let old = route(&fabric, NAMES[engine]);
        let most = (0..=cables).rev().find_map(|n| Faults::random_links(&fabric, n, 7).ok());
        let faults = most.unwrap_or_default();
        let mut prepared = Prepared::new(&fabric, &old, LANES).expect("its own tables");
        let (outcome, rung) = match prepared.reroute_on_lowest_rung(&faults) {
            Ok(found) => found,
            Err(RerouteError::Lanes { .. }) => return Ok(()),
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        };
        let (damaged, map) = fabric.with_faults(&faults);
        let new = prepared.tables(&damaged, &map);
        let report = check(&damaged, &new);
        prop_assert!(report.complete());
        prop_assert_eq!(report.load.iter().max().copied().unwrap_or(0), outcome.load_after);
        let before = cyclic(&fabric, &old, &[&old]);
        // Only cables failed, so that ids are the same.
        let after = cyclic(&damaged, &new, &[&old, &new]);
        if rung == Rung::Reconnect {
            prop_assert!(!outcome.moved.is_empty());
            prop_assert!(!after.is_subset(&before), "a false alarm");
            return Ok(());
        }
        prop_assert!(after.is_subset(&before), "{after:?} {before:?}");
        for s in (0..fabric.terminal_count()).map(TerminalId::new) {
            for d in (0..fabric.terminal_count()).map(TerminalId::new) {
                prop_assert_eq!(old.layer(&fabric, s, d), new.layer(&damaged, s, d));
            }
        }
        if rung == Rung::DropDrain {
            prop_assert_eq!(outcome.rows_eased, 0);
        } else {
            let (tables, changes) = ((&old, &old, prepared.routes()), &outcome.changes);
            keeps_its_promise(&fabric, &faults, tables, changes, &outcome.coexistence)?;
        }
    }
}

#[test]
fn the_book_is_the_same_for_any_number_of_threads() {
    for (spec, engine) in [("dragonfly:p=2,a=4,h=2", "dfsssp"), ("jellyfish:n=24,d=5,p=2", "nue")] {
        let on = open(spec).expect("valid");
        let routes = route(&on.fabric, engine);
        let prepared = Prepared::new(&on.fabric, &routes, LANES).expect("its own tables");
        let faults = [Fault::cables(&on.fabric), Fault::switches(&on.fabric)].concat();
        let books = [1, 2, 5].map(|threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| prepared.book(&faults, || ()))
        });
        assert!(books.windows(2).all(|two| two[0] == two[1]), "{spec}");
        // A page equals the repair of that fault alone.
        for (i, page) in books[0].iter().enumerate().step_by(7) {
            assert_eq!(page.fault, faults[i]);
            let mut alone = Prepared::new(&on.fabric, &routes, LANES).expect("its own tables");
            let found = alone.reroute_on_lowest_rung(&faults[i].faults()).expect("in one piece");
            let Repair::Mended { rung, entries, load, .. } = page.repair else {
                panic!("{spec}: {page:?}")
            };
            assert_eq!((rung, load), (found.1, found.0.load_after));
            assert!(
                entries >= found.0.changes.len() && found.0.changes.is_empty() == (entries == 0)
            );
        }
    }
}

/// Without keeping service levels, every cable of these had to be drained, or its pairs moved.
#[test]
fn keeping_levels_spares_connections() {
    let share = |spec: &str, engine: &str| {
        let on = open(spec).expect("valid");
        let routes = route(&on.fabric, engine);
        let prepared = Prepared::new(&on.fabric, &routes, LANES).expect("its own tables");
        let plain = Fault::cables(&on.fabric).into_iter().filter(|fault| {
            let outcome = prepared.clone().reroute(&fault.faults()).expect("in one piece");
            outcome.coexistence.steps().is_some() && outcome.old_levels.is_none()
        });
        let plain = plain.count();
        let book = Book::of(&prepared.book(&Fault::cables(&on.fabric), || ()));
        assert_eq!(book.splits + book.anew, 0);
        (plain, book.any_order + book.steps)
    };
    for (spec, engine) in [("dragonfly:p=2,a=4,h=2", "dfsssp"), ("dragonfly:p=2,a=4,h=2", "nue")] {
        let (plain, kept) = share(spec, engine);
        assert!(kept >= plain + 10, "{spec} {engine}: {plain} {kept}");
    }
}

proptest! {
    #[test]
    fn protected_layers_hold_the_same_paths_without_cycles(
        fabric in connected_fabric(),
        engine in 0..NAMES.len(),
        lanes in 1u8..10,
    ) {
        let old = route(&fabric, NAMES[engine]);
        let prepared = Prepared::new(&fabric, &old, LANES).expect("its own tables");
        let (new, protection) = prepared.protected(lanes);
        for row in 0..prepared.routes().row_count() {
            prop_assert_eq!(prepared.routes().ports(row), new.ports(row));
        }
        let most = usize::from(lanes).max(old.layer_count());
        prop_assert!(new.layer_count() <= most && protection.protected <= protection.detours);
        let (was, is) = (check(&fabric, &old), check(&fabric, &new));
        prop_assert!(is.complete());
        prop_assert_eq!(is.deadlock_free(), was.deadlock_free());
        // Where all detours fit, every cable is repaired while connections run.
        if was.deadlock_free() && protection.protected == protection.detours {
            let prepared = Prepared::new(&fabric, &new, most as u8).expect("its own tables");
            let book = Book::of(&prepared.book(&Fault::cables(&fabric), || ()));
            prop_assert_eq!(book.drop_drain + book.reconnect + book.anew, 0);
        }
    }
}

#[test]
fn every_cable_of_a_protected_random_graph_may_fail() {
    let on = open("jellyfish:n=24,d=5,p=2").expect("valid");
    let routes = route(&on.fabric, "dfsssp");
    let share = |routes: &Routes| {
        let prepared = Prepared::new(&on.fabric, routes, LANES).expect("its own tables");
        let book = Book::of(&prepared.book(&Fault::cables(&on.fabric), || ()));
        book.untouched_percent().expect("it has cables")
    };
    let prepared = Prepared::new(&on.fabric, &routes, LANES).expect("its own tables");
    let protected = prepared.protected(LANES).0;
    assert!(share(&routes) < 10.0 && share(&protected) > 99.9);
}

/// Dimension order has no turn to an earlier dimension, and a ring with a missing cable has no cycle: the rest of the ring
/// takes all of its paths, in any lane.
#[test]
fn a_ring_without_a_cable_is_passed_the_other_way() {
    let on = open("torus:dims=6x6,t=1").expect("a spec");
    let request = Request { shape: on.shape.as_ref(), lanes: LANES, ..Request::default() };
    let routes = find_engine("torus").expect("registered").route(&on.fabric, &request);
    let routes = routes.expect("routes");
    assert!(routes.layer_count() > 1);
    let prepared = Prepared::new(&on.fabric, &routes, LANES).expect("its own tables");
    let book = Book::of(&prepared.book(&Fault::cables(&on.fabric), || ()));
    assert_eq!((book.faults, book.reconnect, book.anew, book.splits), (72, 0, 0, 0), "{book:?}");
}
