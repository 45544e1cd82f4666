//! Degraded fabrics: the parts that stay, those that are removed, and the reverse map.

use darkfiber_fabric::{AtPort, ChannelId, Fabric, FaultError, Faults, SwitchId, TerminalId, open};
use proptest::prelude::*;

use crate::support::spec;

const SPECS: [&str; 4] = [
    "hyperx:dims=4x3,t=2,trunk=2",
    "kary:k=3,n=3",
    "dragonfly:p=2,a=4,h=2,nics=2",
    "pgft:m=3x4,w=2x3,p=2x1",
];

/// Every cable of `part` is one of `whole`, at the same ports of the same nodes.
fn is_part(part: &Fabric, whole: &Fabric, map: &darkfiber_fabric::Renumbering) {
    let old = |s: SwitchId| map.old_switch[s.index()];
    for c in (0..part.channel_count()).map(ChannelId::new) {
        let AtPort::Switch(d, head) = whole.at_port(old(part.tail(c)), part.tail_port(c)) else {
            panic!("no cable there")
        };
        assert_eq!((head, whole.head_port(d)), (old(part.head(c)), part.head_port(c)));
        assert_eq!(part.class_of(c), whole.class_of(d));
    }
    for (new, &s) in map.old_switch.iter().enumerate() {
        assert_eq!(part.switch(SwitchId::new(new)), whole.switch(s));
        assert_eq!(map.switch[s.index()], Some(SwitchId::new(new)));
    }
    for (new, &t) in map.old_terminal.iter().enumerate() {
        let (a, b) = (part.terminal(TerminalId::new(new)), whole.terminal(t));
        assert_eq!(map.terminal[t.index()], Some(TerminalId::new(new)));
        assert_eq!((a.guid, a.switch_port, old(a.switch)), (b.guid, b.switch_port, b.switch));
        assert_eq!(part.host_of(TerminalId::new(new)), whole.host_of(t));
    }
    assert_eq!(map.old_switch.len(), part.switch_count());
    assert_eq!(map.old_terminal.len(), part.terminal_count());
}

proptest! {
    #[test]
    fn what_is_left_keeps_guids_ports_and_hosts(
        which in 0..SPECS.len(),
        links in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        switches in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        terminals in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let t = spec(SPECS[which]);
        let f = &t.fabric;
        let faults = Faults {
            links: links.iter().map(|i| ChannelId::new(i.index(f.channel_count()))).collect(),
            switches: switches.iter().map(|i| SwitchId::new(i.index(f.switch_count()))).collect(),
            terminals: terminals.iter().map(|i| TerminalId::new(i.index(f.terminal_count()))).collect(),
        };
        let (left, map) = t.with_faults(&faults);
        is_part(&left.fabric, f, &map);
        // Counted independently: the parts that had to be removed.
        let gone = |s: SwitchId| faults.switches.contains(&s);
        let cut = |c: ChannelId| faults.links.contains(&c) || faults.links.contains(&f.reverse(c));
        let channels = (0..f.channel_count()).map(ChannelId::new)
            .filter(|&c| !cut(c) && !gone(f.tail(c)) && !gone(f.head(c)))
            .count();
        prop_assert_eq!(left.fabric.channel_count(), channels);
        let stay = (0..f.terminal_count()).map(TerminalId::new)
            .filter(|t| !faults.terminals.contains(t) && !gone(f.terminal(*t).switch))
            .count();
        prop_assert_eq!(left.fabric.terminal_count(), stay);
        prop_assert_eq!(&left.shape, &t.shape.as_ref().map(|s| s.restricted(&map)));
    }

    #[test]
    fn random_links_are_seeded_distinct_and_do_not_split(
        which in 0..SPECS.len(), count in 0usize..10, seed: u64,
    ) {
        let f = spec(SPECS[which]).fabric;
        let faults = Faults::random_links(&f, count, seed).expect("enough cables");
        prop_assert_eq!(&faults, &Faults::random_links(&f, count, seed).expect("as before"));
        prop_assert_eq!(faults.links.len(), count);
        let (left, _) = f.with_faults(&faults);
        prop_assert_eq!(left.switch_link_count() + count, f.switch_link_count());
        prop_assert_eq!(left.components().len(), f.components().len());
        prop_assert_eq!(left.terminal_count(), f.terminal_count());
    }
}

#[test]
fn any_links_nest_and_may_split() {
    let f = spec("hyperx:dims=4x3").fabric;
    let cables = f.switch_link_count();
    let all = Faults::any_links(&f, cables + 5, 9);
    assert_eq!(all.links.len(), cables);
    assert_eq!(f.with_faults(&all).0.components(), [1; 12]);
    for count in 0..=cables {
        let some = Faults::any_links(&f, count, 9);
        assert_eq!(some.links.len(), count);
        let more = Faults::any_links(&f, count + 1, 9);
        assert!(some.links.iter().all(|c| more.links.contains(c)));
    }
    assert_ne!(Faults::any_links(&f, 5, 1), Faults::any_links(&f, 5, 2));
}

#[test]
fn nothing_failed_changes_nothing() {
    for name in ["@t2hx-fattree-full", "@shandy", "@edison", "@cab"] {
        let t = open(name).expect(name);
        assert!(Faults::default().is_empty());
        let (same, _) = t.with_faults(&Faults::default());
        assert_eq!(same, t);
    }
}

#[test]
fn one_channel_or_both_are_one_cable() {
    let f = spec("hyperx:dims=4").fabric;
    let c = ChannelId(0);
    for links in [vec![c], vec![f.reverse(c)], vec![c, f.reverse(c), c]] {
        let faults = Faults { links, ..Faults::default() };
        assert_eq!(f.with_faults(&faults).0.switch_link_count(), 5);
    }
}

#[test]
fn as_many_cables_as_a_spanning_tree_leaves() {
    let f = spec("hyperx:dims=4x3").fabric;
    let spare = f.switch_link_count() - (f.switch_count() - 1);
    let faults = Faults::random_links(&f, spare, 3).expect("all but a tree");
    assert_eq!(f.with_faults(&faults).0.components(), [12]);
    assert_eq!(
        Faults::random_links(&f, spare + 1, 3),
        Err(FaultError::WouldSplit { wanted: spare + 1, drawn: spare })
    );
}

#[test]
fn seeds_differ() {
    let f = spec("hyperx:dims=12x8").fabric;
    let draw = |seed| Faults::random_links(&f, 15, seed).expect("enough");
    assert_ne!(draw(1), draw(2));
}

#[test]
fn loopbacks_go_with_their_switch() {
    use darkfiber_fabric::{FabricBuilder, LinkClass, Switch};
    let mut b = FabricBuilder::new("loop");
    let class = b.class(LinkClass::unknown());
    for _ in 0..2 {
        b.add_switch(Switch { ports: 4, ..Switch::default() });
    }
    b.link_switches((SwitchId(0), 1), (SwitchId(0), 2), class).expect("free");
    b.link_switches((SwitchId(1), 1), (SwitchId(1), 2), class).expect("free");
    let f = b.finish().expect("valid");
    let faults = Faults { switches: vec![SwitchId(0)], ..Faults::default() };
    let (left, map) = f.with_faults(&faults);
    assert_eq!(left.loopbacks().len(), 1);
    assert_eq!(left.loopbacks()[0].switch, SwitchId(0));
    assert_eq!(map.switch, [None, Some(SwitchId(0))]);
}
