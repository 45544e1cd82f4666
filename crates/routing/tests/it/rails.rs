//! The engine `rails`: pairs of one rail stay on it, evenly, whatever has failed.

use std::collections::BTreeSet;

use darkfiber_fabric::rails::{RailMap, rails};
use darkfiber_fabric::{ChannelId, Fabric, Faults, Role, SwitchId, Topology, open};
use darkfiber_routing::check::check;
use darkfiber_routing::{DestId, Request, Routes, find_engine, follow};
use proptest::prelude::*;

fn routed(topology: &Topology, engine: &str) -> Routes {
    let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
    let engine = find_engine(engine).expect("an engine");
    engine.route(&topology.fabric, &request).expect("routes")
}

/// Loads of channels by pairs of terminals on the first `hosts` hosts, of one rail or of different ones.
fn loads(fabric: &Fabric, routes: &Routes, map: &RailMap, hosts: u32, kept: bool) -> Vec<u64> {
    let mut load = vec![0; fabric.channel_count()];
    let who: Vec<_> = (0..fabric.terminal_count())
        .map(darkfiber_fabric::TerminalId::new)
        .filter(|&t| fabric.host_of(t).0 < hosts && fabric.terminal(t).role == Role::Compute)
        .collect();
    let rail = |t: darkfiber_fabric::TerminalId| map.rail_of[fabric.terminal(t).switch.index()];
    for &from in &who {
        for &to in who.iter().filter(|&&to| fabric.host_of(to) != fabric.host_of(from)) {
            if (rail(from) == rail(to)) != kept {
                continue;
            }
            let (mut way, row) = (Vec::new(), routes.row(DestId::terminal(to), 0));
            assert!(follow(fabric, routes.ports(row), to, fabric.terminal(from).switch, &mut way));
            for &c in &way {
                load[c as usize] += 1;
            }
        }
    }
    load
}

/// The largest load on any up channel of a leaf.
fn most_up(fabric: &Fabric, load: &[u64]) -> u64 {
    let up = |c: &usize| !fabric.terminals_on(fabric.tail(ChannelId::new(*c))).is_empty();
    (0..load.len()).filter(up).map(|c| load[c]).max().unwrap_or(0)
}

/// The spines of a leaf, and the cores of these.
fn above(fabric: &Fabric, leaf: usize) -> BTreeSet<u32> {
    let is_leaf = |s: u32| !fabric.terminals_on(SwitchId(s)).is_empty();
    let next = |s: u32| fabric.channels_from(SwitchId(s)).map(|c| fabric.heads()[c]);
    let is_spine = |s: u32| next(s).any(is_leaf);
    let spines: BTreeSet<u32> = next(leaf as u32).collect();
    let cores = spines.iter().flat_map(|&s| next(s)).filter(|&s| !is_leaf(s) && !is_spine(s));
    spines.iter().copied().chain(cores.collect::<Vec<_>>()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// No pair of one rail crosses a leaf of another rail, even with failed cables, as long as spines join the
    /// leaves.
    #[test]
    fn pairs_of_a_rail_stay_on_it(
        hosts in 1usize..5, units in 1usize..4, nics in 2usize..5, spines in 2usize..5,
        pods in 1usize..3, failed in proptest::collection::vec(0usize..1000, 0..3),
    ) {
        let spec = format!(
            "rails:hosts_per_unit={hosts},units={units},nics={nics},spines={spines}{}",
            if pods > 1 { format!(",pods={pods},cores=2") } else { String::new() }
        );
        let whole = open(&spec).expect("a spec");
        let links: Vec<ChannelId> =
            failed.iter().map(|f| ChannelId::new(f % whole.fabric.channel_count())).collect();
        let (topology, _) = whole.with_faults(&Faults { links, ..Faults::default() });
        let fabric = &topology.fabric;
        prop_assume!(fabric.components().len() == 1);
        let routes = routed(&topology, "rails");
        let report = check(fabric, &routes);
        prop_assert!(report.complete() && report.deadlock_free());
        prop_assert_eq!(routes.layer_count(), 1);
        let above: Vec<BTreeSet<u32>> =
            (0..units * nics * pods).map(|leaf| above(fabric, leaf)).collect();
        for t in (0..fabric.terminal_count()).map(darkfiber_fabric::TerminalId::new) {
            let home = fabric.terminal(t).switch;
            for from in (0..units * nics * pods).map(darkfiber_fabric::SwitchId::new) {
                let (mut way, row) = (Vec::new(), routes.row(DestId::terminal(t), 0));
                prop_assert!(follow(fabric, routes.ports(row), t, from, &mut way));
                let on_leaves = way.iter().filter(|&&c| {
                    !fabric.terminals_on(fabric.head(ChannelId(c))).is_empty()
                });
                // Where no spine or core is above both, another leaf is between.
                let is_joined = !above[from.index()].is_disjoint(&above[home.index()]);
                let most = if from == home { 0 } else { 2 - usize::from(is_joined) };
                prop_assert_eq!(on_leaves.count(), most, "{:?} {:?}", from, home);
            }
        }
    }

    /// Whole clusters with as many up links as hosts: all pairs of one rail load all channels alike, and in a shift
    /// within the rails no two flows share a channel.
    #[test]
    fn rails_are_even(spines in 1usize..4, trunk in 1usize..3, units in 2usize..4, nics in 2usize..5) {
        let hosts = spines * trunk;
        let cluster = open(&format!(
            "rails:hosts_per_unit={hosts},units={units},nics={nics},spines={spines},trunk={trunk}"
        )).expect("a spec");
        let fabric = &cluster.fabric;
        let routes = routed(&cluster, "rails");
        let map = rails(fabric);
        prop_assume!(map.is_some());
        let map = map.expect("rails");
        let all = (hosts * units) as u32;
        let load = loads(fabric, &routes, &map, all, true);
        prop_assert!(load.iter().all(|&l| l == load[0]), "{:?}", load);
        for shift in 1..all {
            let mut load = vec![0; fabric.channel_count()];
            for from in (0..fabric.terminal_count()).map(darkfiber_fabric::TerminalId::new) {
                let rail = |t: darkfiber_fabric::TerminalId| map.rail_of[fabric.terminal(t).switch.index()];
                let host = (fabric.host_of(from).0 + shift) % all;
                let to = (0..fabric.terminal_count())
                    .map(darkfiber_fabric::TerminalId::new)
                    .find(|&t| fabric.host_of(t).0 == host && rail(t) == rail(from))
                    .expect("a NIC of the rail");
                let (mut way, row) = (Vec::new(), routes.row(DestId::terminal(to), 0));
                follow(fabric, routes.ports(row), to, fabric.terminal(from).switch, &mut way);
                for &c in &way {
                    load[c as usize] += 1;
                }
            }
            prop_assert!(load.iter().all(|&l| l <= 1), "shift {}: {:?}", shift, load);
        }
    }
}

/// Between the NICs of four hosts, D-mod-k over all NICs takes four up ports of a leaf, as NICs with the same number share one;
/// with `rails`, the rails start at different ports.
#[test]
fn a_few_hosts_cross_rails_on_all_up_ports() {
    let cluster = open("rails:hosts_per_unit=16,units=2,nics=4,spines=8,trunk=2").expect("a spec");
    let fabric = &cluster.fabric;
    let map = rails(fabric).expect("rails");
    let crossing = |engine| {
        let routes = routed(&cluster, engine);
        most_up(fabric, &loads(fabric, &routes, &map, 4, false))
    };
    // Four sources on each leaf, three NICs of each other host on other leaves: 36 pairs on 4 ports, or on 12.
    assert_eq!((crossing("dmodk"), crossing("rails")), (9, 3));
}

/// Rails with separate spines, joined by cores: traffic within a rail stays below its spines, whatever cables have failed.
#[test]
fn spines_of_a_rail_are_kept_to() {
    use darkfiber_fabric::{FabricBuilder, LinkClass, Switch};
    // Leaves of 2 units and 2 rails (0..4), two spines of each rail (4..8), two cores (8, 9).
    let mut builder = FabricBuilder::new("rails with spines of their own");
    let class = builder.class(LinkClass::unknown());
    let switches: Vec<_> = (0..10u64)
        .map(|i| {
            let guid = darkfiber_fabric::Guid(0x100 + i);
            builder.add_switch(Switch { guid, ports: 16, ..Switch::default() })
        })
        .collect();
    for host in 0..8 {
        let id = builder.add_host(format!("cn{host}"));
        for rail in 0..2 {
            let leaf = switches[host / 4 * 2 + rail];
            let name = format!("cn{host} HCA-{}", rail + 1);
            builder.add_adapter_on(id, leaf, (host % 4 + 1) as u8, &name, class).expect("a port");
        }
    }
    for leaf in 0..4 {
        for k in 0..2 {
            let spine = switches[4 + leaf % 2 * 2 + k];
            let ends = ((switches[leaf], 9 + k as u8), (spine, 1 + (leaf / 2) as u8));
            builder.link_switches(ends.0, ends.1, class).expect("a cable");
        }
    }
    for spine in 0..4 {
        for core in 0..2 {
            let ends =
                ((switches[4 + spine], 9 + core as u8), (switches[8 + core], 1 + spine as u8));
            builder.link_switches(ends.0, ends.1, class).expect("a cable");
        }
    }
    let topology = Topology { fabric: builder.finish().expect("a fabric"), shape: None };
    let map = rails(&topology.fabric).expect("rails");
    assert_eq!((map.rails, map.rails_meet, map.units.len()), (2, true, 2));
    let routes = routed(&topology, "rails");
    let report = check(&topology.fabric, &routes);
    assert!(report.complete() && report.deadlock_free());
    let kept = loads(&topology.fabric, &routes, &map, 8, true);
    let crossing = loads(&topology.fabric, &routes, &map, 8, false);
    let on_core = |c: &usize| topology.fabric.head(ChannelId::new(*c)).0 >= 8;
    let over_cores = |load: &[u64]| (0..load.len()).filter(on_core).map(|c| load[c]).sum::<u64>();
    // 8 hosts, each with 7 others, from 2 NICs to the other rail.
    assert_eq!((over_cores(&kept), over_cores(&crossing)), (0, 8 * 7 * 2));
}
