//! The fabric value: layout, ports, components, distances, digest.

use darkfiber_fabric::{
    AtPort, ChannelId, Fabric, FabricBuilder, LinkClass, Role, Switch, SwitchId, TerminalId,
};
use darkfiber_testkit::oracle::diameter;

use crate::support::{spec, switches};

/// Switches `s0..` with 8 ports; cables as (switch, port, switch, port); a host for each (switch, port).
fn fabric(switches: usize, cables: &[(u32, u8, u32, u8)], hosts: &[(u32, u8)]) -> Fabric {
    let mut b = FabricBuilder::new("test");
    let class = b.class(LinkClass::unknown());
    for i in 0..switches {
        b.add_switch(Switch { ports: 8, description: format!("s{i}"), ..Switch::default() });
    }
    for &(a, p, c, q) in cables {
        b.link_switches((SwitchId(a), p), (SwitchId(c), q), class).expect("free");
    }
    for (i, &(s, port)) in hosts.iter().enumerate() {
        b.add_host_on(SwitchId(s), port, &format!("cn{i}"), class).expect("free");
    }
    b.finish().expect("valid")
}

#[test]
fn channels_are_rows_by_switch_and_port() {
    let f = fabric(3, &[(0, 7, 1, 2), (2, 1, 0, 3), (1, 5, 0, 1)], &[]);
    let rows: Vec<(u32, u8, u32, u8)> = (0..f.channel_count())
        .map(ChannelId::new)
        .map(|c| (f.tail(c).0, f.tail_port(c), f.head(c).0, f.head_port(c)))
        .collect();
    assert_eq!(
        rows,
        [(0, 1, 1, 5), (0, 3, 2, 1), (0, 7, 1, 2), (1, 2, 0, 7), (1, 5, 0, 1), (2, 1, 0, 3)]
    );
    assert_eq!(f.channels_from(SwitchId(1)), 3..5);
    for c in (0..f.channel_count()).map(ChannelId::new) {
        assert_ne!(f.reverse(c), c);
        assert_eq!(f.reverse(f.reverse(c)), c);
    }
}

#[test]
fn terminals_are_ordered_by_switch_and_port_whatever_the_input() {
    let f = fabric(2, &[(0, 1, 1, 1)], &[(1, 3), (0, 5), (1, 2), (0, 2)]);
    let names: Vec<&str> = (0..4).map(|t| f.host(f.host_of(TerminalId(t))).name.as_str()).collect();
    assert_eq!(names, ["cn3", "cn1", "cn2", "cn0"]);
    assert_eq!(f.terminals_on(SwitchId(0)), 0..2);
    assert_eq!(f.terminals_on(SwitchId(1)), 2..4);
}

#[test]
fn what_a_port_leads_to() {
    let f = fabric(2, &[(0, 1, 1, 2), (1, 8, 1, 7)], &[(0, 4)]);
    let (s, t) = (SwitchId(0), SwitchId(1));
    assert_eq!(f.at_port(s, 1), AtPort::Switch(ChannelId(0), t));
    assert_eq!(f.at_port(t, 2), AtPort::Switch(ChannelId(1), s));
    assert_eq!(f.at_port(s, 4), AtPort::Terminal(TerminalId(0)));
    assert_eq!(f.at_port(t, 7), AtPort::Loopback);
    assert_eq!(f.at_port(t, 8), AtPort::Loopback);
    for port in [0, 2, 8, 9, 255] {
        assert_eq!(f.at_port(s, port), AtPort::Nothing, "{port}");
    }
}

#[test]
fn every_channel_is_at_its_port() {
    for text in ["kary:k=3,n=3", "hyperx:dims=4x3,t=2,trunk=2", "dragonfly:p=2,a=4,h=2"] {
        let f = spec(text).fabric;
        for c in (0..f.channel_count()).map(ChannelId::new) {
            assert_eq!(f.at_port(f.tail(c), f.tail_port(c)), AtPort::Switch(c, f.head(c)));
            assert_eq!(
                f.at_port(f.head(c), f.head_port(c)),
                AtPort::Switch(f.reverse(c), f.tail(c))
            );
        }
        for t in (0..f.terminal_count()).map(TerminalId::new) {
            let terminal = f.terminal(t);
            assert_eq!(f.at_port(terminal.switch, terminal.switch_port), AtPort::Terminal(t));
        }
        let rows: usize = switches(&f).map(|s| f.channels_from(s).len()).sum();
        assert_eq!(rows, f.channel_count());
    }
}

#[test]
fn loopbacks_count_as_cables_but_make_no_channel() {
    let f = fabric(2, &[(0, 6, 0, 5), (0, 1, 1, 1)], &[(1, 2)]);
    assert_eq!(f.channel_count(), 2);
    assert_eq!(f.switch_link_count(), 1);
    assert_eq!(f.link_count(), 3);
    assert_eq!(f.loopbacks()[0].ports, (5, 6));
    assert_eq!(diameter(&f), 1);
}

#[test]
fn components_by_size_and_in_order_of_appearance() {
    let f = fabric(6, &[(1, 1, 3, 1), (3, 2, 5, 1), (2, 1, 4, 1)], &[]);
    assert_eq!(f.component_labels(), [0, 1, 2, 1, 2, 1]);
    assert_eq!(f.components(), [3, 2, 1]);
    let empty = fabric(0, &[], &[]);
    assert!(empty.components().is_empty());
    assert_eq!(diameter(&empty), 0);
}

#[test]
fn diameter_is_the_largest_within_a_component() {
    // A row of four, and a pair.
    let f = fabric(6, &[(0, 1, 1, 1), (1, 2, 2, 1), (2, 2, 3, 1), (4, 1, 5, 1)], &[]);
    assert_eq!(diameter(&f), 3);
    assert_eq!(diameter(&fabric(3, &[], &[])), 0);
}

#[test]
fn digest_sees_cables_ports_and_roles_but_not_names() {
    let cables = [(0, 1, 1, 1), (0, 2, 1, 2)];
    let f = fabric(2, &cables, &[(0, 4)]);
    let same = f.digest();
    assert_eq!(fabric(2, &[cables[1], cables[0]], &[(0, 4)]).digest(), same);
    assert_eq!(f.clone().renamed("other").digest(), same);
    assert_ne!(fabric(2, &cables[..1], &[(0, 4)]).digest(), same);
    assert_ne!(fabric(2, &[(0, 1, 1, 2), (0, 2, 1, 1)], &[(0, 4)]).digest(), same);
    assert_ne!(fabric(2, &cables, &[(0, 5)]).digest(), same);
    assert_ne!(f.with_roles(|_, _| Role::Storage).digest(), same);
    // A known value, to compare results across releases.
    assert_eq!(spec("kary:k=2,n=2").fabric.digest(), KARY_2_2);
}

const KARY_2_2: u64 = 15_583_801_917_891_946_213;

#[test]
fn adapters_without_a_cable() {
    let mut b = FabricBuilder::new("test");
    let class = b.class(LinkClass::unknown());
    let s = b.add_switch(Switch { ports: 4, ..Switch::default() });
    let host = b.add_host("idle");
    let idle = b.add_adapter(darkfiber_fabric::Adapter { host, ports: 2, ..Default::default() });
    b.add_host_on(s, 1, "cn1", class).expect("free");
    let f = b.finish().expect("valid");
    assert_eq!(f.unlinked_adapters(), [idle]);
    assert_eq!(f.terminal_count(), 1);
}
