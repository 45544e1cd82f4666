//! Random fabrics for property tests.

use darkfiber_fabric::{Fabric, FabricBuilder, LinkClass, Role, Switch, SwitchId};
use proptest::prelude::*;

/// Connected multigraphs: up to 24 switches, parallel cables, cables from a switch to itself, hosts
/// spread unevenly (some switches without any), a few with other roles.
pub fn connected_fabric() -> impl Strategy<Value = Fabric> {
    (1usize..=24).prop_flat_map(|n| {
        (
            // Parent of each further switch: a random tree keeps it connected.
            prop::collection::vec(any::<prop::sample::Index>(), n.saturating_sub(1)),
            prop::collection::vec((0..n, 0..n), 0..=2 * n),
            prop::collection::vec((0..n, 0u8..12), 1..=2 * n),
        )
            .prop_map(move |(parents, extra, hosts)| {
                let tree = parents.iter().enumerate().map(|(i, p)| (p.index(i + 1), i + 1));
                build(n, tree.chain(extra), &hosts)
            })
    })
}

/// As [`connected_fabric`], but possibly in pieces, and possibly without hosts.
pub fn any_fabric() -> impl Strategy<Value = Fabric> {
    (1usize..=16).prop_flat_map(|n| {
        (
            prop::collection::vec((0..n, 0..n), 0..=2 * n),
            prop::collection::vec((0..n, 0u8..12), 0..=n),
        )
            .prop_map(move |(cables, hosts)| build(n, cables.into_iter(), &hosts))
    })
}

fn build(n: usize, cables: impl Iterator<Item = (usize, usize)>, hosts: &[(usize, u8)]) -> Fabric {
    let mut b = FabricBuilder::new("random");
    let class = b.class(LinkClass::infiniband("4xHDR").expect("a known label"));
    let slow = b.class(LinkClass::infiniband("1xSDR").expect("a known label"));
    for i in 0..n {
        b.add_switch(Switch { ports: 120, description: format!("s{i}"), ..Switch::default() });
    }
    let mut used = vec![0u8; n];
    let mut port = |s: usize| {
        used[s] += 1;
        used[s]
    };
    for (i, (x, y)) in cables.enumerate() {
        let (px, py) = (port(x), port(y));
        let class = if i % 7 == 6 { slow } else { class };
        b.link_switches((SwitchId::new(x), px), (SwitchId::new(y), py), class)
            .expect("120 ports are enough");
    }
    for (i, &(s, _)) in hosts.iter().enumerate() {
        b.add_host_on(SwitchId::new(s), port(s), &format!("cn{i}"), class).expect("enough ports");
    }
    let roles: Vec<u8> = hosts.iter().map(|h| h.1).collect();
    b.finish().expect("generated GUIDs are unique").with_roles(|_, t| {
        match roles[t.adapter.index()] {
            9 => Role::Storage,
            10 => Role::Other,
            11 => Role::Aggregation,
            _ => Role::Compute,
        }
    })
}
