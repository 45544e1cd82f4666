//! Port groups: promises of the engines, and the proof for groups compared with that for tables.

use std::sync::Arc;

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId, open};
use darkfiber_routing::check::{check, check_groups};
use darkfiber_routing::ecmp::{Ecmp, EcmpSpec};
use darkfiber_routing::next_hops::{Group, NextHops, NextHopsBuilder};
use darkfiber_routing::{DestId, Request, Routes, find_engine};
use darkfiber_testkit::families::{connected, damaged, small, topology};

/// Groups of one port each, which is the port of the tables.
fn of_tables(fabric: &Fabric, routes: &Routes) -> NextHops {
    let n = fabric.switch_count();
    let mut made = NextHopsBuilder::new(n, routes.row_count());
    for t in (0..fabric.terminal_count()).map(TerminalId::new) {
        for path in 0..routes.paths() {
            let row = routes.row(DestId::terminal(t), path);
            let sets = routes.ports(row).iter().enumerate().map(|(s, &port)| {
                match fabric.at_port(SwitchId::new(s), port) {
                    AtPort::Switch(c, _) => Group::even(vec![c.0]),
                    _ => Group::default(),
                }
            });
            made.push(fabric.terminal(t).switch, &[row], sets.collect());
        }
    }
    made.finish()
}

/// With one port per group the proof for groups agrees with the checker on the tables of every engine, in all of their
/// layers.
#[test]
fn groups_of_one_port_are_tables() {
    for spec in small() {
        let on = topology(spec);
        let request = Request { shape: on.shape.as_ref(), ..Request::default() };
        for engine in ["minhop", "updn", "dor", "dfsssp", "sssp", "smodk"] {
            let engine = find_engine(engine).expect("an engine");
            let Ok(mut routes) = engine.route(&on.fabric, &request) else { continue };
            // A source uses one LID, whereas here all LIDs of a port count.
            if routes.source_chooses() {
                continue;
            }
            routes.groups = Some(Arc::new(of_tables(&on.fabric, &routes)));
            let (table, sets) = (check(&on.fabric, &routes), check_groups(&on.fabric, &routes));
            let sets = sets.expect("groups");
            let what = format!("{} on {spec}", engine.name());
            assert!(sets.sets.complete(), "{what}");
            assert_eq!(sets.sets.deadlock_free(), table.deadlock_free(), "{what}");
            if table.hops().max > 1 {
                assert_eq!(sets.sets.hops, table.hops().max, "{what}");
            }
        }
    }
}

/// For any choice among the groups of `ar_updn` and `ar_ftree`, packets arrive and nothing deadlocks, damaged or not; the port of the
/// table is in its group.
#[test]
fn groups_of_engines_are_free() {
    for spec in small() {
        let whole = topology(spec);
        let cases = damaged(&whole).into_iter().map(|(_, on)| on).chain([whole.clone()]);
        for on in cases.filter(connected) {
            let request = Request { shape: on.shape.as_ref(), ..Request::default() };
            for engine in ["ar_updn", "ar_ftree"] {
                let engine = find_engine(engine).expect("an engine");
                let Ok(routes) = engine.route(&on.fabric, &request) else { continue };
                let found = check_groups(&on.fabric, &routes).expect("groups");
                let what = format!("{} on {spec}", engine.name());
                assert!(found.sets.complete() && found.sets.deadlock_free(), "{what}: {found:?}");
                let hops = routes.groups.as_ref().expect("groups");
                for row in routes.terminal_rows() {
                    let number = hops.number(row).expect("a row with sets");
                    for (s, &port) in routes.ports(row).iter().enumerate() {
                        if let AtPort::Switch(c, _) = on.fabric.at_port(SwitchId::new(s), port) {
                            let group = hops.towards(SwitchId::new(s), number).members();
                            assert!(group.contains(&c.0), "{what}");
                        }
                    }
                }
            }
        }
    }
}

/// The static tables of `ar_updn` and `ar_ftree` are those of `updn` and `ftree`, entry for entry, damaged or not.
#[test]
fn static_tables_are_those_without_groups() {
    for spec in small() {
        let whole = topology(spec);
        for (damage, on) in damaged(&whole).into_iter().chain([(String::new(), whole.clone())]) {
            let request = Request { shape: on.shape.as_ref(), ..Request::default() };
            for engines in [["ar_updn", "updn"], ["ar_ftree", "ftree"]] {
                let made = engines
                    .map(|name| find_engine(name).expect(name).route(&on.fabric, &request).ok());
                let [groups, without] = made.map(|routes| routes.map(|r| r.table().to_vec()));
                assert!(groups == without, "{} on {spec} {damage}", engines[0]);
            }
        }
    }
}

/// All shortest paths in a ring of five: every channel waits for the next one, for one destination, and each entry contributes as
/// much to the cycle as the others; without one of them the cycle is open.
#[test]
fn the_entry_that_closes_a_ring_is_named() {
    let fabric = open("torus:dims=5,t=1").expect("a spec").fabric;
    let routes = find_engine("minhop").expect("minhop").route(&fabric, &Request::default());
    let mut routes = routes.expect("routes");
    routes.groups = Some(Arc::new(of_tables(&fabric, &routes)));
    let found = check_groups(&fabric, &routes).expect("groups");
    let entry = found.entries[found.breaks.expect("a cycle")];
    assert_eq!((found.entries.len(), entry.destinations), (5, 1));
    assert_eq!(fabric.head(entry.comes_in), entry.switch);
    assert_eq!(fabric.tail(entry.waits_for), entry.switch);
    // There are two cycles, one in each direction.
    assert!(!found.alone);
}

/// Hashes choose ports inside of their groups, and packets arrive.
#[test]
fn hashes_pick_among_groups() {
    for spec in ["torus:dims=4x4,t=1", "kary:k=3,n=3"] {
        let on = topology(spec);
        let fabric = &on.fabric;
        let request = Request { shape: on.shape.as_ref(), ..Request::default() };
        let routes = find_engine("ar_updn").expect("ar_updn").route(fabric, &request);
        let routes = routes.expect("routes");
        let groups = routes.groups.as_ref().expect("groups");
        for text in ["crc32", "crc32:buckets=64"] {
            let spec = EcmpSpec::parse(text).expect("a hash");
            let hops = routes.groups_by_switch(fabric, spec.buckets.map(|b| b as usize));
            let hops = hops.expect("groups").expect("the same for all LIDs");
            let ecmp = Ecmp::over(fabric, &spec, 1, hops);
            for (from, to) in (0..fabric.terminal_count())
                .flat_map(|a| (0..fabric.terminal_count()).map(move |b| (a, b)))
                .map(|(a, b)| (TerminalId::new(a), TerminalId::new(b)))
            {
                let mut way = Vec::new();
                assert!(ecmp.follow(fabric, from, to, 0, &mut way));
                let number = groups.number(routes.row(DestId::terminal(to), 0)).expect("sets");
                for &c in &way {
                    let at = fabric.tail(darkfiber_fabric::ChannelId(c));
                    assert!(groups.towards(at, number).members().contains(&c));
                }
            }
        }
    }
}
