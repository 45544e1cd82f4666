//! Mended tables: proved by the checker, counted against routing anew, mixed by brute force.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{AtPort, ChannelId, Fabric, Faults, SwitchId, TerminalId, Topology, open};
use darkfiber_routing::check::check;
use darkfiber_routing::reroute::{Coexistence, Drain, Outcome, Prepared, RerouteError};
use darkfiber_routing::{DELIVER, DestId, Layers, NO_ROUTE, Request, Routes, find_engine};
use darkfiber_testkit::{connected_fabric, fabric};
use proptest::prelude::*;

const LANES: u8 = 15;
const NAMES: [&str; 5] = ["minhop", "updn", "dnup", "sssp", "dfsssp"];

fn route(fabric: &Fabric, engine: &str) -> Routes {
    let request = Request { lanes: LANES, ..Request::default() };
    find_engine(engine).expect("registered").route(fabric, &request).expect("connected")
}

/// Entries of surviving switches and rows that differ, the rows being those of surviving destinations.
fn difference(
    old: &Routes,
    new: &Routes,
    map: &darkfiber_fabric::Renumbering,
    whole: &Fabric,
    damaged: &Fabric,
) -> usize {
    let mut count = 0;
    for d in (0..new.dest_count()).map(DestId::new) {
        let before = match d.as_terminal(damaged) {
            Some(t) => DestId::terminal(map.old_terminal[t.index()]),
            None => DestId::switch(whole, map.old_switch[d.home(damaged).index()]),
        };
        let (was, is) = (old.ports(old.row(before, 0)), new.ports(new.row(d, 0)));
        count += (0..is.len()).filter(|&s| was[map.old_switch[s].index()] != is[s]).count();
    }
    count
}

/// Some cables that leave the fabric in one piece, a switch, a terminal.
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
        let before = check(&fabric, &old);
        if before.deadlock_free() {
            prop_assert!(report.deadlock_free());
        }
        prop_assert_eq!(report.load.iter().max().copied().unwrap_or(0), outcome.load_after);
        prop_assert_eq!(before.load.iter().max().copied().unwrap_or(0), outcome.load_before);
        prop_assert_eq!(difference(&old, &new, &map, &fabric, &damaged), outcome.changes.len());
        // Rows that changed are rows that used what failed.
        let cut = |row: usize| {
            (0..fabric.switch_count()).map(SwitchId::new).any(|s| {
                let port = old.ports(row)[s.index()];
                let dead = |c: ChannelId| {
                    faults.links.contains(&c) || faults.links.contains(&fabric.reverse(c))
                        || faults.switches.contains(&fabric.tail(c))
                        || faults.switches.contains(&fabric.head(c))
                };
                port != DELIVER && port != NO_ROUTE
                    && matches!(fabric.at_port(s, port), AtPort::Switch(c, _) if dead(c))
            })
        };
        for change in &outcome.changes {
            prop_assert!(cut(change.row as usize));
        }
        if faults.is_empty() {
            prop_assert!(outcome.changes.is_empty() && new == old);
            prop_assert_eq!(outcome.coexistence, Coexistence::AnyOrder);
        }
        // The state that is kept is that of the new tables.
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
        keeps_its_promise(&fabric, &faults, &old, prepared.routes(), &outcome)?;
    }
}

/// Plays all moments of an update that its verdict allows: every set of updated switches.
fn keeps_its_promise(
    fabric: &Fabric,
    faults: &Faults,
    old: &Routes,
    new: &Routes,
    outcome: &Outcome,
) -> Result<(), TestCaseError> {
    let changed: BTreeSet<SwitchId> = outcome.changes.iter().map(|c| c.switch).collect();
    let changed: Vec<SwitchId> = changed.into_iter().collect();
    if changed.len() > 10 {
        return Ok(());
    }
    let rank = match &outcome.coexistence {
        Coexistence::AnyOrder => vec![Some(0); fabric.switch_count()],
        Coexistence::Order(rank) => rank.clone(),
        Coexistence::Drain(_) => return Ok(()),
    };
    let of = |s: SwitchId| rank[s.index()].expect("a changed switch has a rank");
    let cyclic_before = cyclic_layers(&paths_of(fabric, &Faults::default(), &[old]));
    let mut all = Vec::new();
    for set in 0u32..1 << changed.len() {
        let is_in = |i: usize| set >> i & 1 != 0;
        let now: Vec<usize> = (0..changed.len()).filter(|&i| is_in(i)).collect();
        // Ranks before that of an updated switch are complete.
        let allowed = now
            .iter()
            .all(|&i| (0..changed.len()).all(|j| is_in(j) || of(changed[j]) >= of(changed[i])));
        if !allowed {
            continue;
        }
        let mut mixed = old.clone();
        for c in &outcome.changes {
            if now.iter().any(|&i| changed[i] == c.switch) {
                mixed.ports_mut(c.row as usize)[c.switch.index()] = c.new;
            }
        }
        all.push(mixed.clone());
        mixed.layers = new.layers.clone();
        all.push(mixed);
    }
    for mixed in &all {
        let report = check(fabric, mixed);
        prop_assert_eq!(report.loops, 0);
    }
    let all: Vec<&Routes> = all.iter().collect();
    let cyclic = cyclic_layers(&paths_of(fabric, faults, &all));
    prop_assert!(cyclic.is_subset(&cyclic_before), "{:?} {:?}", cyclic, outcome.coexistence);
    Ok(())
}

/// Dependencies by layer of all ways of packets in several tables, up to where they arrive or are
/// dropped.
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
