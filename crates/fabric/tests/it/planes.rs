//! Planes: properties of every family with `planes=K`.

use std::collections::BTreeSet;

use darkfiber_fabric::{
    ChannelId, FAMILIES, Faults, Planes, Shape, SwitchId, TerminalId, Topology, parse_spec,
    recognise,
};

use crate::support::{cables, spec, switches};

/// Specs in one plane and in three.
fn pairs() -> impl Iterator<Item = (Topology, Topology)> {
    let extra = ["dragonfly:p=2,a=4,h=2,nics=2,hosts=20", "pgft:m=3x2,w=2x1,p=2x1,hosts=5"];
    FAMILIES
        .iter()
        .map(|f| f.example())
        .filter(|text| !text.starts_with("rails"))
        .chain(extra)
        .map(|text| (spec(text), spec(&format!("{text},planes=3"))))
}

#[test]
fn every_plane_is_the_fabric_without_planes() {
    for (one, three) in pairs() {
        let what = three.fabric.name();
        assert_eq!(three.plane_count(), 3, "{what}");
        // A tree whose hosts have two parents is planes already.
        assert_eq!(one.plane_count(), one.fabric.components().len(), "{what}");
        assert!(three.plane(3).is_none());
        for i in 0..3 {
            let (plane, map) = three.plane_and_map(i).expect("three planes");
            assert_eq!(plane.shape, one.shape, "{what}: plane {i}");
            let (a, b) = (&plane.fabric, &one.fabric);
            assert!(cables(a).eq(cables(b)));
            assert_eq!(a.channel_starts(), b.channel_starts());
            assert_eq!((a.tail_ports(), a.reverses()), (b.tail_ports(), b.reverses()));
            assert_eq!(a.terminal_count(), b.terminal_count());
            for t in (0..a.terminal_count()).map(TerminalId::new) {
                let at = |t: TerminalId, f: &darkfiber_fabric::Fabric| {
                    let terminal = f.terminal(t);
                    (terminal.switch, terminal.switch_port, terminal.port, f.host_of(t))
                };
                assert_eq!(at(t, a), at(t, b));
                assert_eq!(three.fabric.host_of(map.old_terminal[t.index()]), b.host_of(t));
            }
        }
    }
}

#[test]
fn hosts_are_shared_and_nothing_else_is() {
    for (one, three) in pairs() {
        let (f, g) = (&one.fabric, &three.fabric);
        assert_eq!(g.hosts(), f.hosts());
        assert_eq!(g.switch_count(), 3 * f.switch_count());
        assert_eq!(g.adapters().len(), 3 * f.adapters().len());
        assert_eq!(g.terminal_count(), 3 * f.terminal_count());
        assert_eq!(g.switch_link_count(), 3 * f.switch_link_count());
        let mut parts = f.components().repeat(3);
        parts.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(g.components(), parts);
        assert_eq!(g.classes(), f.classes());
        let names: BTreeSet<_> = g.switches().iter().map(|s| &s.description).collect();
        assert_eq!(names.len(), g.switch_count());
        let adapters: BTreeSet<_> = g.adapters().iter().map(|a| &a.description).collect();
        assert_eq!(adapters.len(), g.adapters().len());
        // As many terminals in each plane.
        let Some(Shape::Planes(planes)) = &three.shape else { panic!("planes") };
        let mut count = vec![[0; 3]; g.hosts().len()];
        for t in (0..g.terminal_count()).map(TerminalId::new) {
            let plane = planes.plane[g.terminal(t).switch.index()];
            count[g.host_of(t).index()][usize::from(plane)] += 1;
        }
        assert!(count.iter().all(|c| c[0] == c[1] && c[1] == c[2] && c[0] > 0));
    }
}

#[test]
fn names_and_guids() {
    let f = spec("dragonfly:p=1,a=2,h=1,nics=2,planes=2").fabric;
    assert_eq!(f.switch(SwitchId(0)).description, "pl1-g00r00");
    assert_eq!(f.switch(SwitchId(6)).description, "pl2-g00r00");
    assert_eq!(f.switch(SwitchId(0)).guid.0, 0x5000_0020_0001);
    assert_eq!(f.switch(SwitchId(6)).guid.0, 0x5001_0020_0001);
    assert_eq!(f.switch(SwitchId(6)).system_guid, f.switch(SwitchId(6)).guid);
    let of_first: Vec<&str> = f.adapters().iter().take(4).map(|a| a.description.as_str()).collect();
    assert_eq!(of_first, ["cn0001 HCA-1", "cn0001 HCA-2", "cn0001 HCA-3", "cn0001 HCA-4"]);
    let plane_of = |n: u32| f.terminals().iter().find(|t| t.adapter.0 == n).expect("linked").switch;
    assert_eq!([0, 1, 2, 3].map(|n| plane_of(n).0), [0, 1, 6, 7]);
}

#[test]
fn one_plane_is_no_plane() {
    let (plain, one) = (spec("torus:dims=3x3"), spec("torus:dims=3x3,planes=1"));
    assert_eq!(plain.fabric.digest(), one.fabric.digest());
    assert_eq!(plain.shape, one.shape);
    assert_eq!(plain.plane(0), Some(plain.clone()));
    assert_eq!(plain.plane(1), None);
}

#[test]
fn planes_lose_cables_and_switches_on_their_own() {
    let whole = spec("hyperx:dims=3x3,t=2,planes=2");
    let faults = Faults { switches: vec![SwitchId(9)], ..Faults::default() };
    let (left, _) = whole.with_faults(&faults);
    assert_eq!(left.plane(0), whole.plane(0).map(|p| p.with_faults(&Faults::default()).0));
    let second = left.plane(1).expect("still there");
    assert_eq!((second.fabric.switch_count(), second.fabric.terminal_count()), (8, 16));
    // Without any switch of the last plane there is one plane less.
    let all = Faults { switches: switches(&whole.fabric).skip(9).collect(), ..Faults::default() };
    assert_eq!(whole.with_faults(&all).0.plane_count(), 1);
}

#[test]
fn limits_hold_for_all_planes_together() {
    let refused = |text: &str| parse_spec(text).expect_err(text).to_string();
    assert_eq!(
        refused("torus:dims=2048x2048,planes=5"),
        "torus: 20971520 switches are more than 16777216, the most that are supported"
    );
    assert_eq!(
        refused("torus:dims=4,planes=65"),
        "torus: planes=65: expected a whole number from 1 to 64"
    );
}

#[test]
fn a_plane_in_pieces_is_still_one_plane() {
    // A leaf of the second plane that lost all of its cables belongs to that plane.
    let whole = spec("fattree2:n=4,m=4,r=8,planes=2");
    let (f, leaf) = (&whole.fabric, SwitchId::new(whole.fabric.switch_count() / 2));
    let cut = Faults {
        links: f.channels_from(leaf).map(darkfiber_fabric::ChannelId::new).collect(),
        ..Faults::default()
    };
    let left = f.with_faults(&cut).0;
    assert_eq!(left.components().len(), 3);
    let planes = Planes::of(&left);
    assert_eq!(planes.count(), 2);
    let Some(Shape::Planes(stated)) = &whole.shape else { panic!("planes") };
    for s in switches(&left) {
        assert_eq!(planes.of_switch(s), usize::from(stated.plane[s.index()]), "{s:?}");
    }
}

#[test]
fn pieces_are_no_planes_because_hosts_have_two_adapters() {
    // Hosts with an adapter on each of two neighbours: a switch without cables is no plane, though all of its hosts are
    // elsewhere, too.
    let whole = spec("dragonfly:p=2,a=4,h=2,nics=2");
    let cables = |s: SwitchId| whole.fabric.channels_from(s).map(darkfiber_fabric::ChannelId::new);
    let cut = Faults { links: cables(SwitchId::new(0)).collect(), ..Faults::default() };
    let left = whole.fabric.with_faults(&cut).0;
    assert_eq!(left.components().len(), 2);
    assert_eq!(Planes::of(&left).count(), 1);
    // Nor are halves of a fabric whose hosts have one adapter each.
    let torus = spec("torus:dims=4,t=1").fabric;
    let apart = Faults {
        links: [1usize, 3]
            .iter()
            .flat_map(|&s| torus.channels_from(SwitchId::new(s)).take(1))
            .map(darkfiber_fabric::ChannelId::new)
            .collect(),
        ..Faults::default()
    };
    let halves = torus.with_faults(&apart).0;
    assert!(halves.components().len() > 1);
    assert_eq!(Planes::of(&halves).count(), 1);
}

#[test]
fn a_plane_in_pieces_is_not_recognised() {
    // The first spine of the second plane has lost all cables: no host reaches it, and it counts to the first plane.
    let whole = spec("fattree2:n=2,m=2,r=2,planes=2");
    let f = &whole.fabric;
    let spine = switches(f)
        .filter(|&s| f.terminals_on(s).is_empty())
        .nth(2)
        .expect("two planes of two spines");
    let links = f.channels_from(spine).map(ChannelId::new).collect();
    let (left, _) = whole.with_faults(&Faults { links, ..Faults::default() });
    let no = recognise(&left.fabric).expect_err("in pieces");
    assert_eq!(no.reasons, [("planes", "in plane 1, the switches are in 2 pieces".to_owned())]);
}
