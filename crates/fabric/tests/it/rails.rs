//! Rail-optimised clusters, with spines and without.

use std::collections::BTreeSet;

use darkfiber_fabric::{Pgft, Shape, SwitchId, TerminalId, Topology, TreeShape, parse_spec};
use darkfiber_testkit::oracle::diameter;
use proptest::prelude::*;

use crate::support::{degree, distances, spec, switches};

fn pgft(t: &Topology) -> &Pgft {
    let Some(Shape::Tree(TreeShape { pgft: Some(pgft), .. })) = &t.shape else { panic!("a PGFT") };
    pgft
}

proptest! {
    #[test]
    fn closed_forms(
        hosts in 1usize..6, units in 1usize..4, nics in 1usize..6, spines in 1usize..5, trunk in 1usize..3,
    ) {
        let made = spec(&format!(
            "rails:hosts_per_unit={hosts},units={units},nics={nics},spines={spines},trunk={trunk}"
        ));
        let (f, leaves) = (&made.fabric, nics * units);
        prop_assert_eq!(f.switch_count(), leaves + spines);
        prop_assert_eq!((f.hosts().len(), f.terminal_count()), (hosts * units, hosts * leaves));
        prop_assert_eq!(f.switch_link_count(), leaves * spines * trunk);
        prop_assert_eq!(f.components().len(), 1);
        for s in switches(f) {
            let leaf = s.index() < leaves;
            prop_assert_eq!(f.terminals_on(s).len(), if leaf { hosts } else { 0 });
            prop_assert_eq!(degree(f, s), if leaf { spines } else { leaves } * trunk);
        }
        // Rail i of unit u takes NIC i of all hosts of unit u.
        for t in (0..f.terminal_count()).map(TerminalId::new) {
            let (adapter, switch) = (f.terminal(t).adapter.index(), f.terminal(t).switch.index());
            let host = f.host_of(t).index();
            prop_assert_eq!((switch / nics, switch % nics), (host / hosts, adapter % nics));
            prop_assert_eq!(usize::from(f.terminal(t).switch_port), host % hosts + 1);
        }
        let index: BTreeSet<u32> = pgft(&made).index.iter().copied().collect();
        prop_assert!(index.into_iter().eq(0..(hosts * leaves) as u32));
    }

    #[test]
    fn with_pods(units in 1usize..3, nics in 1usize..4, spines in 1usize..4, pods in 2usize..4, cores in 1usize..3) {
        let made = spec(&format!(
            "rails:hosts_per_unit=2,units={units},nics={nics},spines={spines},pods={pods},cores={cores},core_trunk=2"
        ));
        let (f, leaves) = (&made.fabric, nics * units * pods);
        prop_assert_eq!(f.switch_count(), leaves + spines * pods + spines * cores);
        prop_assert_eq!(f.hosts().len(), 2 * units * pods);
        prop_assert_eq!(f.switch_link_count(), leaves * spines + pods * spines * cores * 2);
        prop_assert!(diameter(f) <= 4);
        prop_assert!(f.terminals().iter().all(|t| t.switch.index() < leaves));
    }
}

#[test]
fn equal_ranks_are_one_switch_apart_and_others_three() {
    let f = spec("rails:hosts_per_unit=3,units=2,nics=4,spines=2").fabric;
    let home = f.terminal(TerminalId(0)).switch;
    let distance = distances(&f, home);
    for t in f.terminals() {
        assert_eq!(distance[t.switch.index()], if t.switch == home { 0 } else { 2 });
    }
    // The eight NICs of a host are on eight leaves.
    let f = spec("rails:hosts_per_unit=2,spines=1").fabric;
    let of_first: BTreeSet<SwitchId> =
        f.terminals().iter().filter(|t| t.adapter.0 < 8).map(|t| t.switch).collect();
    assert_eq!(of_first.len(), 8);
}

#[test]
fn without_the_hosts_it_is_a_two_level_tree() {
    let (rails, tree) = (
        spec("rails:hosts_per_unit=3,units=2,nics=2,spines=5,trunk=2"),
        spec("fattree2:n=3,m=5,r=4,trunk=2"),
    );
    let (a, b) = (pgft(&rails), pgft(&tree));
    assert_eq!((&a.m, &a.w, &a.p, &a.digits), (&b.m, &b.w, &b.p, &b.digits));
    // Terminals in the same places have the same numbers, whosever they are.
    assert_eq!(a.index, b.index);
    assert_eq!(rails.fabric.heads(), tree.fabric.heads());
    assert_eq!(rails.fabric.tail_ports(), tree.fabric.tail_ports());
}

#[test]
fn one_nic_is_a_plain_tree() {
    let digest = |text| spec(text).fabric.digest();
    assert_eq!(
        digest("rails:hosts_per_unit=4,units=3,nics=1,spines=2"),
        digest("fattree2:n=4,m=2,r=3")
    );
    assert_eq!(
        digest("rails:hosts_per_unit=4,units=3,nics=1,spines=2,pods=2,cores=3"),
        digest("pgft:m=4x3x2,w=1x2x3")
    );
}

#[test]
fn names() {
    let f = spec("rails:hosts_per_unit=2,units=2,nics=2,spines=1").fabric;
    let names: Vec<&str> = f.switches().iter().map(|s| s.description.as_str()).collect();
    assert_eq!(names, ["su01-rail1", "su01-rail2", "su02-rail1", "su02-rail2", "spine001"]);
    let first = f.terminals_on(SwitchId(1)).start;
    assert_eq!(f.adapter(f.terminals()[first].adapter).description, "cn0001 HCA-2");
}

#[test]
fn without_spines_the_rails_are_planes() {
    let made = spec("rails:hosts_per_unit=32,spines=0,hosts=31");
    let f = &made.fabric;
    assert_eq!((f.switch_count(), f.hosts().len(), f.terminal_count()), (8, 31, 8 * 31));
    assert_eq!((f.switch_link_count(), made.plane_count()), (0, 8));
    for i in 0..8 {
        let rail = made.plane(i).expect("a rail").fabric;
        assert_eq!((rail.switch_count(), rail.terminal_count()), (1, 31));
    }
    assert_eq!(spec("rails:hosts_per_unit=4,spines=0,nics=1").plane_count(), 1);
}

#[test]
fn fewer_hosts_are_missing_on_all_of_their_rails() {
    let f = spec("rails:hosts_per_unit=4,units=2,nics=3,spines=2,hosts=6").fabric;
    let on: Vec<usize> = switches(&f).map(|s| f.terminals_on(s).len()).collect();
    assert_eq!(on, [4, 4, 4, 2, 2, 2, 0, 0]);
}

#[test]
fn what_cannot_be_is_refused() {
    for (text, expected) in [
        ("spines=0,units=2", "units=2: expected 1 with spines=0, as nothing would join them"),
        ("spines=0,trunk=2", "trunk=2: expected no trunk with spines=0"),
        ("spines=0,planes=2", "planes=2: expected no planes with spines=0"),
        ("spines=2,cores=2", "cores=2: expected no cores without pods"),
        ("spines=2,nics=65", "nics=65: expected a whole number from 1 to 64"),
    ] {
        let text = format!("rails:hosts_per_unit=4,{text}");
        assert_eq!(parse_spec(&text).expect_err(&text).to_string(), format!("rails: {expected}"));
    }
    let text = "rails:hosts_per_unit=4,units=64,spines=2";
    let error = parse_spec(text).expect_err("512 leaves on a spine").to_string();
    assert_eq!(error, "rails: 512 ports a switch are more than 254, the most that are supported");
}
