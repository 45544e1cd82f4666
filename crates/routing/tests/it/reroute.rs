//! Repaired tables: proved by the checker, compared with routing from scratch, mixed by brute force.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{AtPort, ChannelId, Fabric, Faults, SwitchId, TerminalId, Topology, open};
use darkfiber_routing::check::check;
use darkfiber_routing::reroute::{Change, Coexistence, Prepared, RerouteError, changed_by_switch};
use darkfiber_routing::{DELIVER, DestId, Layers, Lids, NO_ROUTE, Request, Routes, find_engine};
use darkfiber_testkit::{connected_fabric, fabric};
use proptest::prelude::*;

const LANES: u8 = 15;
const NAMES: [&str; 5] = ["minhop", "updn", "dnup", "sssp", "dfsssp"];

fn route(fabric: &Fabric, engine: &str) -> Routes {
    let request = Request { lanes: LANES, ..Request::default() };
    find_engine(engine).expect("registered").route(fabric, &request).expect("connected")
}

/// Pairs of a switch with terminals and another whose own LID packets do not arrive at.
fn unmanaged(fabric: &Fabric, routes: &Routes) -> usize {
    let switches = || (0..fabric.switch_count()).map(SwitchId::new);
    let arrives = |from: SwitchId, to: SwitchId| {
        let ports = routes.ports(routes.row(DestId::switch(fabric, to), 0));
        let mut at = from;
        for _ in switches() {
            match fabric.at_port(at, ports[at.index()]) {
                _ if at == to => return true,
                AtPort::Switch(c, _) => at = fabric.head(c),
                _ => return false,
            }
        }
        at == to
    };
    let managers = || switches().filter(|&s| !fabric.terminals_on(s).is_empty());
    managers().map(|from| switches().filter(|&to| !arrives(from, to)).count()).sum()
}

/// Random faults: some cables that leave the fabric connected, a switch, a terminal.
fn any_faults(
    fabric: &Fabric,
    cables: usize,
    switch: Option<usize>,
    host: Option<usize>,
) -> Faults {
    let most = (0..=cables).rev().find_map(|n| Faults::random_links(fabric, n, 7).ok());
    let mut faults = most.unwrap_or_default();
    faults.switches.extend(switch.map(|s| SwitchId::new(s % fabric.switch_count())));
    faults.terminals.extend(host.map(|t| TerminalId::new(t % fabric.terminal_count())));
    faults
}

proptest! {
    #[test]
    fn mended_tables_are_complete_and_as_free_of_deadlock_as_before(
        fabric in connected_fabric(),
        engine in 0..NAMES.len(),
        cables in 0usize..5,
        switch in prop::option::weighted(0.2, 0usize..24),
        host in prop::option::weighted(0.2, 0usize..48),
    ) {
        let old = route(&fabric, NAMES[engine]);
        let faults = any_faults(&fabric, cables, switch, host);
        let (damaged, map) = fabric.with_faults(&faults);
        let mut prepared = Prepared::new(&fabric, &old, LANES).expect("its own tables");
        let outcome = match prepared.reroute(&faults) {
            Ok(outcome) => outcome,
            Err(RerouteError::CutOff { .. }) => {
                prop_assert!(damaged.components().len() > 1);
                prop_assert_eq!(prepared.routes(), &old);
                return Ok(());
            }
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        };
        let new = prepared.tables(&damaged, &map);
        let report = check(&damaged, &new);
        prop_assert!(report.complete(), "{:?}", report.broken);
        prop_assert!(damaged.components().len() > 1 || unmanaged(&damaged, &new) == 0);
        let before = check(&fabric, &old);
        if before.deadlock_free() {
            prop_assert!(report.deadlock_free());
        }
        prop_assert_eq!(report.load.iter().max().copied().unwrap_or(0), outcome.load_after);
        prop_assert_eq!(before.load.iter().max().copied().unwrap_or(0), outcome.load_before);
        let lids = Lids::assign(&damaged, 0).expect("few LIDs");
        let changed = changed_by_switch((&fabric, &old), (&damaged, &new), &map, &lids);
        let entries: usize = changed.values().map(|c| c.entries).sum();
        prop_assert_eq!(entries, outcome.changes.len());
        for c in changed.values() {
            prop_assert!(c.blocks <= c.entries && c.entries <= 64 * c.blocks);
        }
        // Changed rows are rows that used something that failed.
        let cut = |row: usize| {
            (0..fabric.switch_count()).map(SwitchId::new).any(|s| {
                let port = old.ports(row)[s.index()];
                let dead = |c: ChannelId| {
                    faults.links.contains(&c) || faults.links.contains(&fabric.reverse(c))
                        || faults.switches.contains(&fabric.tail(c))
                        || faults.switches.contains(&fabric.head(c))
                };
                port != DELIVER && port != NO_ROUTE && !faults.switches.contains(&s)
                    && matches!(fabric.at_port(s, port), AtPort::Switch(c, _) if dead(c))
            })
        };
        let changed: BTreeSet<u32> = outcome.changes.iter().map(|c| c.row).collect();
        let spared = changed.iter().filter(|&&row| !cut(row as usize)).count();
        prop_assert_eq!(spared, outcome.rows_eased);
        if faults.is_empty() {
            prop_assert!(outcome.changes.is_empty() && new == old);
            prop_assert_eq!(outcome.coexistence, Coexistence::AnyOrder);
        }
        // The kept state is that of the new tables.
        let again = prepared.reroute(&Faults::default()).expect("nothing to do");
        prop_assert!(again.changes.is_empty() && again.rows == 0);
        prop_assert_eq!(again.load_before, outcome.load_after);
    }

    #[test]
    fn fault_after_fault(fabric in connected_fabric(), engine in 0..NAMES.len()) {
        let old = route(&fabric, NAMES[engine]);
        let mut prepared = Prepared::new(&fabric, &old, LANES).expect("its own tables");
        let all = any_faults(&fabric, 4, None, None);
        let free = check(&fabric, &old).deadlock_free();
        for n in 1..=all.links.len() {
            let one = Faults { links: vec![all.links[n - 1]], ..Faults::default() };
            let outcome = prepared.reroute(&one).expect("in one piece");
            let so_far = Faults { links: all.links[..n].to_vec(), ..Faults::default() };
            let (damaged, map) = fabric.with_faults(&so_far);
            let report = check(&damaged, &prepared.tables(&damaged, &map));
            prop_assert!(report.complete() && (report.deadlock_free() || !free));
            prop_assert_eq!(report.load.iter().max().copied().unwrap_or(0), outcome.load_after);
        }
    }

    #[test]
    fn updates_keep_their_promise(
        fabric in connected_fabric(),
        engine in 0..NAMES.len(),
        cables in 1usize..4,
    ) {
        let old = route(&fabric, NAMES[engine]);
        let faults = any_faults(&fabric, cables, None, None);
        let mut prepared = Prepared::new(&fabric, &old, LANES).expect("its own tables");
        let outcome = prepared.reroute(&faults).expect("in one piece");
        let new = prepared.routes();
        let tables = (&old, &old, new);
        keeps_its_promise(&fabric, &faults, tables, &outcome.changes, &outcome.coexistence)?;
    }
}

/// Plays all moments of an update that its verdict allows: every set of units that are updated together, which are
/// switches or, where each row has its own order, entries. Layers in which the tables `at_first` have cycles may keep
/// them, or get them back: a step of several may open a cycle that the next closes.
pub(crate) fn keeps_its_promise(
    fabric: &Fabric,
    faults: &Faults,
    (at_first, old, new): (&Routes, &Routes, &Routes),
    changes: &[Change],
    coexistence: &Coexistence,
) -> Result<(), TestCaseError> {
    let rank_of = |c: &Change| match coexistence {
        Coexistence::AnyOrder => Some(0),
        Coexistence::Order(rank) => Some(rank[c.switch.index()].expect("a changed switch")),
        Coexistence::OrderOfEntries(rank) => Some(rank[&(c.switch, c.row)]),
        Coexistence::Drain(_) => None,
    };
    let by_entry = matches!(coexistence, Coexistence::OrderOfEntries(_));
    // Changes written at one moment, with their rank.
    let mut units: BTreeMap<(SwitchId, u32), (u32, Vec<Change>)> = BTreeMap::new();
    for c in changes {
        let Some(rank) = rank_of(c) else { return Ok(()) };
        let key = (c.switch, if by_entry { c.row } else { 0 });
        units.entry(key).or_insert((rank, Vec::new())).1.push(*c);
    }
    let units: Vec<(u32, Vec<Change>)> = units.into_values().collect();
    if units.len() > 10 {
        return Ok(());
    }
    let cyclic_before = cyclic_layers(&paths_of(fabric, &Faults::default(), &[at_first]));
    let mut all = Vec::new();
    for set in 0u32..1 << units.len() {
        let is_in = |i: usize| set >> i & 1 != 0;
        // Ranks before those of updated units are complete.
        let last = (0..units.len()).filter(|&i| is_in(i)).map(|i| units[i].0).max().unwrap_or(0);
        if !(0..units.len()).all(|i| is_in(i) || units[i].0 >= last) {
            continue;
        }
        let mut mixed = old.clone();
        for c in units.iter().enumerate().filter(|(i, _)| is_in(*i)).flat_map(|(_, (_, of))| of) {
            mixed.ports_mut(c.row as usize)[c.switch.index()] = c.new;
        }
        all.push(mixed.clone());
        mixed.layers = new.layers.clone();
        all.push(mixed);
    }
    // Cables do not change ids; packets to dead ones are dropped.
    let damaged = fabric.with_faults(faults).0;
    for mixed in &all {
        let report = check(&damaged, mixed);
        prop_assert_eq!(report.loops, 0);
    }
    let all: Vec<&Routes> = all.iter().collect();
    let cyclic = cyclic_layers(&paths_of(fabric, faults, &all));
    prop_assert!(cyclic.is_subset(&cyclic_before), "{:?} {:?}", cyclic, coexistence);
    Ok(())
}

/// Dependencies by layer of all paths of packets in several tables, up to where they arrive or are dropped.
fn paths_of(
    fabric: &Fabric,
    faults: &Faults,
    tables: &[&Routes],
) -> BTreeMap<u8, BTreeSet<(u32, u32)>> {
    let dead =
        |c: ChannelId| faults.links.contains(&c) || faults.links.contains(&fabric.reverse(c));
    let mut found: BTreeMap<u8, BTreeSet<(u32, u32)>> = BTreeMap::new();
    for routes in tables {
        for source in (0..fabric.terminal_count()).map(TerminalId::new) {
            for dest in (0..fabric.terminal_count()).map(TerminalId::new) {
                let ports = routes.ports(routes.row(DestId::terminal(dest), 0));
                let layer = routes.layer(fabric, source, dest);
                let mut at = fabric.terminal(source).switch;
                let mut last: Option<ChannelId> = None;
                for _ in 0..fabric.switch_count() {
                    let AtPort::Switch(c, v) = fabric.at_port(at, ports[at.index()]) else { break };
                    if dead(c) {
                        break;
                    }
                    if let Some(last) = last {
                        found.entry(layer).or_default().insert((last.0, c.0));
                    }
                    last = Some(c);
                    at = v;
                }
            }
        }
    }
    found
}

fn cyclic_layers(dependencies: &BTreeMap<u8, BTreeSet<(u32, u32)>>) -> BTreeSet<u8> {
    let is_cyclic = |edges: &BTreeSet<(u32, u32)>| {
        let mut left: Vec<(u32, u32)> = edges.iter().copied().collect();
        loop {
            let waiting: BTreeSet<u32> = left.iter().map(|e| e.1).collect();
            let before = left.len();
            left.retain(|e| waiting.contains(&e.0));
            if left.len() == before {
                return !left.is_empty();
            }
        }
    };
    dependencies.iter().filter(|(_, edges)| is_cyclic(edges)).map(|(&layer, _)| layer).collect()
}

fn topology(spec: &str) -> Topology {
    open(spec).unwrap_or_else(|e| panic!("{spec}: {e}"))
}

fn request(topology: &Topology) -> Request<'_> {
    Request { shape: topology.shape.as_ref(), lanes: LANES, ..Request::default() }
}

fn largest(load: &[u64]) -> u64 {
    load.iter().copied().max().unwrap_or(0)
}

#[test]
fn few_entries_change_and_the_load_is_that_of_routing_anew() {
    for (spec, engine) in [
        ("kary:k=4,n=3", "ftree"),
        ("kary:k=4,n=3", "dmodk"),
        ("pgft:m=6x6x6,w=1x6x6", "updn"),
        ("hyperx:dims=6x6,t=4", "dfsssp"),
        ("hyperx:dims=6x6,t=4", "updn"),
        ("dragonfly:p=3,a=6,h=3", "updn"),
        ("dragonfly:p=3,a=6,h=3", "dfsssp"),
        ("torus:dims=6x6,t=2", "dfsssp"),
    ] {
        let whole = topology(spec);
        let engine = find_engine(engine).expect("registered");
        let old = engine.route(&whole.fabric, &request(&whole)).expect("routes");
        let before = largest(&check(&whole.fabric, &old).load);
        for seed in 1..=5 {
            let faults = Faults::random_links(&whole.fabric, 1, seed).expect("one cable");
            let (damaged, map) = whole.with_faults(&faults);
            let mut prepared = Prepared::new(&whole.fabric, &old, LANES).expect("its own");
            let outcome = prepared.reroute(&faults).expect("in one piece");
            let mended = prepared.tables(&damaged.fabric, &map);
            let anew = engine.route(&damaged.fabric, &request(&damaged)).expect("routes");
            let (a, b) = (check(&damaged.fabric, &mended), check(&damaged.fabric, &anew));
            assert!(a.complete() && a.deadlock_free(), "{spec}");
            // Tables that were worse than new ones before the fault are not made better.
            let reference = largest(&b.load).max(before) as f64;
            let load = largest(&a.load) as f64;
            assert!(load <= 1.1 * reference, "{spec}, seed {seed}: {load} for {reference}");
            assert!(a.hops().mean <= 1.02 * b.hops().mean, "{spec}, seed {seed}");
            let lids = Lids::assign(&damaged.fabric, 0).expect("few LIDs");
            let entries = |routes: &Routes| -> usize {
                let new = (&damaged.fabric, routes);
                changed_by_switch((&whole.fabric, &old), new, &map, &lids)
                    .values()
                    .map(|c| c.entries)
                    .sum()
            };
            assert_eq!(entries(&mended), outcome.changes.len());
            // D-mod-k from scratch changes little, too, but moves all load of a dead cable to one neighbour.
            assert!(
                entries(&mended) <= entries(&anew) || largest(&a.load) < largest(&b.load),
                "{spec}, seed {seed}: {} for {}",
                entries(&mended),
                entries(&anew)
            );
        }
    }
}

#[test]
fn a_dead_cable_of_a_two_level_tree_in_closed_form() {
    // Four leaves with four hosts each, four top switches; by D-mod-k each of these serves one host of every leaf.
    // Up: the leaf sends three hosts' rows elsewhere. Down: the three other leaves send the row of one host
    // elsewhere, and the top switch those of all four.
    let whole = topology("kary:k=4,n=2");
    let fabric = &whole.fabric;
    let engine = find_engine("dmodk").expect("registered");
    let old = engine.route(fabric, &request(&whole)).expect("a tree");
    for c in (0..fabric.channel_count()).map(ChannelId::new) {
        let faults = Faults { links: vec![c], ..Faults::default() };
        let mut prepared = Prepared::new(fabric, &old, 1).expect("its own");
        let outcome = prepared.reroute(&faults).expect("in one piece");
        let of_hosts = |c: &&darkfiber_routing::reroute::Change| (c.row as usize) < 16;
        let changes = outcome.changes.iter().filter(of_hosts).count() - outcome.rows_eased;
        assert_eq!(changes, 3 + 3 + 4, "{c:?}");
        // The top switch goes back down, so a leaf that it uses must not send up to it any more.
        assert_eq!(outcome.coexistence.steps(), Some(2));
        assert!(outcome.moved.is_empty());
        // Three other up ports share the load of one: 3 rows of 4 hosts; before 3 x 4 each.
        assert_eq!((outcome.load_before, outcome.load_after), (12, 16));
    }
}

#[test]
fn a_split_is_an_error_and_changes_nothing() {
    let fabric = fabric("a-b; b-c; c-a; c-d; h1@a; h2@b; h3@c; h4@d");
    let old = route(&fabric, "updn");
    let mut prepared = Prepared::new(&fabric, &old, 1).expect("its own");
    let bridge = (0..fabric.channel_count())
        .map(ChannelId::new)
        .find(|&c| fabric.head(c) == SwitchId(3))
        .expect("c-d");
    let split = Faults { links: vec![bridge], ..Faults::default() };
    let error = prepared.reroute(&split).expect_err("d is cut off");
    assert!(matches!(error, RerouteError::CutOff { .. }), "{error}");
    assert_eq!(prepared.routes(), &old);
    // If the switch behind the bridge has failed as well, the fabric is not split.
    let gone = Faults { switches: vec![SwitchId(3)], ..Faults::default() };
    let outcome = prepared.reroute(&gone).expect("a triangle is left");
    assert_eq!((outcome.changes.len(), outcome.rows_lost), (0, 2));
    let (damaged, map) = fabric.with_faults(&gone);
    let new = prepared.tables(&damaged, &map);
    assert_eq!((new.switch_count(), new.terminal_count(), new.row_count()), (3, 3, 6));
    assert!(check(&damaged, &new).complete());
}

#[test]
fn a_broken_ring_fits_into_the_layers_that_it_has() {
    // A ring of six needs two layers; without a cable it is a chain, which has no cycle of channels.
    let ring = fabric("a-b; b-c; c-d; d-e; e-f; f-a; h1@a; h2@b; h3@c; h4@d; h5@e; h6@f");
    let old = route(&ring, "dfsssp");
    assert_eq!(old.layer_count(), 2);
    let bridge = Faults { links: vec![ChannelId(0)], ..Faults::default() };
    let mut prepared = Prepared::new(&ring, &old, 2).expect("its own");
    let outcome = prepared.reroute(&bridge).expect("a chain takes any path");
    let (damaged, map) = ring.with_faults(&bridge);
    let report = check(&damaged, &prepared.tables(&damaged, &map));
    assert!(report.complete() && report.deadlock_free(), "{outcome:?}");
}

#[test]
fn every_kind_of_layers_and_rows_is_mended() {
    let whole = topology("torus:dims=4x4,t=2");
    let fabric = &whole.fabric;
    let faults = Faults::random_links(fabric, 2, 3).expect("two cables");
    let (damaged, map) = fabric.with_faults(&faults);
    let by_switch = route(fabric, "dfsssp");
    let mut by_source = by_switch.clone();
    by_source.layers = Layers::BySource(
        (0..by_switch.row_count())
            .flat_map(|row| (0..fabric.terminal_count()).map(move |s| (row, TerminalId::new(s))))
            .map(|(row, s)| by_switch.layer_on(fabric, s, row))
            .collect(),
    );
    // One layer per row is deadlock-free with enough of them: here one for each switch.
    let mut by_row = route(fabric, "minhop");
    by_row.layers = Layers::ByRow(
        (0..by_row.row_count())
            .map(|row| (0..by_row.dest_count()).map(DestId::new).nth(row).expect("own rows"))
            .map(|d| d.home(fabric).0 as u8)
            .collect(),
    );
    for old in [by_switch, by_source, by_row] {
        assert!(check(fabric, &old).deadlock_free());
        let mut prepared = Prepared::new(fabric, &old, 4).expect("its own");
        prepared.reroute(&faults).expect("in one piece");
        let report = check(&damaged, &prepared.tables(&damaged, &map));
        assert!(report.complete() && report.deadlock_free());
    }
    // Shared rows, sources that choose, and several LIDs per port.
    let tree = topology("kary:k=3,n=3");
    let faults = Faults {
        switches: vec![SwitchId::new(tree.fabric.switch_count() - 1)],
        ..Faults::random_links(&tree.fabric, 1, 5).expect("one cable")
    };
    let (damaged, map) = tree.with_faults(&faults);
    for (engine, lmc) in [("smodk", 0), ("ftree", 1), ("updn", 2)] {
        let request = Request { lmc, ..request(&tree) };
        let engine = find_engine(engine).expect("registered");
        let old = engine.route(&tree.fabric, &request).expect("a tree");
        let mut prepared = Prepared::new(&tree.fabric, &old, 1).expect("its own");
        let outcome = prepared.reroute(&faults).expect("in one piece");
        let new = prepared.tables(&damaged.fabric, &map);
        assert_eq!(new.source_chooses(), old.source_chooses());
        let report = check(&damaged.fabric, &new);
        assert!(report.complete() && report.deadlock_free());
        // Loads are those of all LIDs in use.
        let mut load = report.load;
        if !new.source_chooses() {
            load.fill(0);
            for lid in 0..new.paths() {
                let mut alone = new.clone();
                alone.set_select(vec![lid as u16; damaged.fabric.terminal_count()]);
                let of_lid = check(&damaged.fabric, &alone).load;
                load.iter_mut().zip(of_lid).for_each(|(sum, x)| *sum += x);
            }
        }
        assert_eq!(largest(&load), outcome.load_after);
    }
}

#[test]
fn what_did_not_reach_before_is_mended_without_a_fault() {
    let whole = topology("kary:k=3,n=2");
    let fabric = &whole.fabric;
    let mut old = route(fabric, "updn");
    let sound = old.clone();
    // A missing entry, the port of a wrong host, and two switches that send to each other.
    let row = |d: u32| d as usize;
    let leaf = |t: u32| fabric.terminal(TerminalId(t)).switch;
    old.ports_mut(row(0))[leaf(8).index()] = NO_ROUTE;
    old.ports_mut(row(1))[leaf(8).index()] = fabric.terminal(TerminalId(8)).switch_port;
    let AtPort::Switch(up, top) = fabric.at_port(leaf(8), sound.ports(row(2))[leaf(8).index()])
    else {
        panic!("leaves send up");
    };
    old.ports_mut(row(2))[top.index()] = fabric.head_port(up);
    assert!(!check(fabric, &old).complete());
    let mut prepared = Prepared::new(fabric, &old, 1).expect("its own");
    let outcome = prepared.reroute(&Faults::default()).expect("in one piece");
    assert_eq!(outcome.rows, 3);
    let report = check(fabric, prepared.routes());
    assert!(report.complete() && report.deadlock_free());
}

/// A fabric that is read after the fault names none: entries to ports without a cable are all that is left of it.
#[test]
fn switches_stay_manageable_whether_faults_are_named_or_not() {
    for (spec, engine) in [
        ("torus:dims=5x3,t=1", "nue"),
        ("hyperx:dims=4x3,t=2", "dfsssp"),
        ("kary:k=3,n=3", "updn"),
        ("jellyfish:n=14,d=4,p=2", "minhop"),
    ] {
        let on = topology(spec);
        let fabric = &on.fabric;
        let old = route(fabric, engine);
        assert_eq!(unmanaged(fabric, &old), 0, "{spec}");
        let mut cut = 0;
        for link in (0..fabric.channel_count()).map(ChannelId::new).step_by(3) {
            let faults = Faults { links: vec![link], ..Faults::default() };
            let (damaged, map) = fabric.with_faults(&faults);
            cut += unmanaged(&damaged, &old);
            let mut named = Prepared::new(fabric, &old, LANES).expect("its own tables");
            named.reroute(&faults).expect("in one piece");
            assert_eq!(unmanaged(&damaged, &named.tables(&damaged, &map)), 0, "{spec} {link:?}");
            let mut read = Prepared::new(&damaged, &old, LANES).expect("as many switches");
            read.reroute(&Faults::default()).expect("in one piece");
            assert_eq!(unmanaged(&damaged, read.routes()), 0, "{spec} {link:?}");
            // Nor is an entry left that nobody follows now: it would, once the cable is back.
            assert!(!read.routes().has_unconnected(&damaged), "{spec} {link:?}");
        }
        assert!(cut > 0, "{spec}");
    }
}

/// Tables of Up*/Down* need no way from one top switch to another. Where a cable fails it is the only one.
#[test]
fn a_switch_is_reached_over_one_that_did_not_reach_it() {
    let on = topology("fattree2:n=2,m=2,r=3");
    let fabric = &on.fabric;
    let mut old = route(fabric, "updn");
    let tops: Vec<SwitchId> = (0..fabric.switch_count())
        .map(SwitchId::new)
        .filter(|&s| fabric.terminals_on(s).is_empty())
        .collect();
    let row = |s: SwitchId| old.row(DestId::switch(fabric, s), 0);
    let [first, second] = [row(tops[0]), row(tops[1])];
    old.ports_mut(first)[tops[1].index()] = NO_ROUTE;
    old.ports_mut(second)[tops[0].index()] = NO_ROUTE;
    assert_eq!(unmanaged(fabric, &old), 0);
    let link = ChannelId::new(fabric.channels_from(tops[0]).next().expect("a cable"));
    let faults = Faults { links: vec![link], ..Faults::default() };
    let (damaged, map) = fabric.with_faults(&faults);
    let mut prepared = Prepared::new(fabric, &old, 1).expect("its own tables");
    prepared.reroute(&faults).expect("in one piece");
    assert_eq!(unmanaged(&damaged, &prepared.tables(&damaged, &map)), 0);
}

#[test]
fn tables_of_another_fabric_are_refused() {
    let (a, b) = (topology("kary:k=3,n=2"), topology("kary:k=3,n=3"));
    let routes = route(&a.fabric, "updn");
    let error = Prepared::new(&b.fabric, &routes, 1).err().expect("another fabric");
    assert!(matches!(error, RerouteError::OtherFabric { switches: 6, terminals: 9 }), "{error}");
}

#[test]
fn results_do_not_depend_on_what_came_before() {
    // The same fault on a copy of the same state gives the same outcome.
    let whole = topology("dragonfly:p=2,a=4,h=2");
    let old = route(&whole.fabric, "dfsssp");
    let prepared = Prepared::new(&whole.fabric, &old, LANES).expect("its own");
    for seed in 1..=4 {
        let faults = Faults::random_links(&whole.fabric, 2, seed).expect("two cables");
        let (mut a, mut b) = (prepared.clone(), prepared.clone());
        assert_eq!(a.reroute(&faults), b.reroute(&faults));
        assert_eq!(a.routes(), b.routes());
    }
}

#[test]
fn too_few_lanes_are_an_error_and_change_nothing() {
    // Nue fills one lane of a torus; the paths that two dead cables divert do not always fit into the same lane.
    let whole = topology("torus:dims=5x5,t=1");
    let fabric = &whole.fabric;
    let request = Request { lanes: 1, ..request(&whole) };
    let old = find_engine("nue").expect("registered").route(fabric, &request).expect("one lane");
    let narrow = Prepared::new(fabric, &old, 1).expect("its own");
    let wide = Prepared::new(fabric, &old, LANES).expect("its own");
    let mut refused = 0;
    for seed in 1..=12 {
        let faults = Faults::random_links(fabric, 2, seed).expect("two cables");
        let (damaged, map) = fabric.with_faults(&faults);
        let mut prepared = narrow.clone();
        if let Err(error) = prepared.reroute(&faults) {
            refused += 1;
            assert_eq!(error, RerouteError::Lanes { lanes: 1 });
            assert_eq!(prepared.routes(), &old);
            let other = Faults::random_links(fabric, 1, seed).expect("one cable");
            assert_eq!(prepared.reroute(&other), narrow.clone().reroute(&other));
            prepared = wide.clone();
            prepared.reroute(&faults).expect("more lanes take any path");
        } else {
            assert_eq!(prepared.routes().layer_count(), 1);
        }
        if prepared.routes() != &old {
            let report = check(&damaged, &prepared.tables(&damaged, &map));
            assert!(report.complete() && report.deadlock_free(), "seed {seed}");
        }
    }
    assert!(refused > 0);
}
