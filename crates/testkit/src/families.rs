//! Fabrics of every family: sizes, damage, and other names for the same thing.

use std::collections::BTreeMap;

use darkfiber_fabric::{
    ChannelId, FAMILIES, FabricBuilder, Faults, Guid, Renumbering, SwitchId, Terminal, TerminalId,
    Topology, open,
};

/// More specs of families, with properties that their example leaves out: odd rings, trunks, tapering, few groups.
const MORE: &[&str] = &[
    "fattree2:n=6,m=3,r=5",
    "fattree2:n=3,m=2,r=6,trunk=2",
    "pgft:m=4x3x2,w=1x2x2,p=1x2x1",
    "rails:hosts_per_unit=3,units=2,nics=2,spines=2",
    "hyperx:dims=3x3x2,t=1,trunk=2",
    "hyperx:dims=5x4,t=2",
    "torus:dims=7,t=1",
    "torus:dims=5x4,t=2",
    "torus:dims=4x3x2,t=1,trunk=2",
    "dragonfly:p=1,a=6,h=3,g=4,per_pair=5",
    "@sar-testbed",
    "slimfly:q=4,p=1",
    "jellyfish:n=24,d=5,p=2",
];

/// Fabrics of the size of machines.
pub const LARGE: &[&str] = &[
    "@cab",
    "kary:k=6,n=3",
    "pgft:m=8x8x8,w=1x4x8,p=1x2x1",
    "hyperx:dims=12x8,t=7",
    "torus:dims=8x8x8,t=1",
    "mesh:dims=8x8x8,t=1",
    "dragonfly:p=4,a=8,h=4",
    "dragonflyplus:p=4,leaves=4,spines=4,h=4",
    "cascade:groups=4,rows=6,cols=8,p=2,blue=24",
    "slimfly:q=9,p=4",
    "jellyfish:n=128,d=8,p=4",
    "xpander:d=8,lift=12,p=4",
];

/// Every family's example, then more of them where it leaves something out, a family's specs next to each other.
///
/// # Panics
/// If a spec is of no family.
pub fn small() -> Vec<&'static str> {
    let family = |spec: &str| spec.split(':').next().map(str::to_owned);
    let mut specs: Vec<&str> = Vec::new();
    for example in FAMILIES.iter().map(|f| f.example()) {
        specs.push(example);
        specs.extend(MORE.iter().filter(|more| family(more) == family(example)));
    }
    specs.extend(MORE.iter().filter(|more| more.starts_with('@')));
    assert_eq!(specs.len(), FAMILIES.len() + MORE.len());
    specs
}

/// The fabric of a valid spec.
///
/// # Panics
/// If the spec is invalid.
pub fn topology(spec: &str) -> Topology {
    open(spec).unwrap_or_else(|e| panic!("{spec}: {e}"))
}

/// Whether a fabric is in one piece.
pub fn connected(on: &Topology) -> bool {
    on.fabric.components().len() == 1
}

/// Connected fabrics that damage leaves, each with words for it: one cable, a tenth and a quarter of
/// the cables as far as they can go, and one switch with a cable elsewhere.
pub fn damaged(whole: &Topology) -> Vec<(String, Topology)> {
    let cables = whole.fabric.switch_link_count();
    let mut all = Vec::new();
    for (seed, wanted) in [(1, 1), (2, 2), (3, cables / 10), (4, cables / 4)] {
        if let Ok(faults) = Faults::random_links(&whole.fabric, wanted.max(1), seed) {
            all.push((format!("less {wanted} cables"), whole.with_faults(&faults).0));
        }
    }
    for seed in [5, 6] {
        all.extend(without_a_switch(whole, seed));
    }
    all
}

/// Of [`damaged`] a tenth of the cables, and a switch with a cable.
pub fn badly_damaged(whole: &Topology) -> Vec<(String, Topology)> {
    damaged(whole).into_iter().skip(2).step_by(2).take(2).collect()
}

fn without_a_switch(whole: &Topology, seed: u64) -> Option<(String, Topology)> {
    shuffled(whole.fabric.switch_count(), seed).into_iter().find_map(|s| {
        let faults = Faults { switches: vec![SwitchId::new(s)], ..Faults::default() };
        let (left, _) = whole.with_faults(&faults);
        let able = connected(&left) && left.fabric.terminal_count() > 1;
        let links = Faults::random_links(&left.fabric, 1, seed).ok().filter(|_| able)?;
        Some((format!("less switch {s} and a cable"), left.with_faults(&links).0))
    })
}

/// The rest of a fabric after cables fail one after the other until there are several pieces.
///
/// # Panics
/// If there is one switch.
pub fn fallen_apart(whole: &Topology, seed: u64) -> Topology {
    (1..=whole.fabric.switch_link_count())
        .map(|count| whole.with_faults(&Faults::any_links(&whole.fabric, count, seed)).0)
        .find(|left| !connected(left))
        .expect("without any cable no two switches hang together")
}

/// The same network and shape with its switches, terminals and cables in another order, and on request with other
/// port numbers.
///
/// # Panics
/// Never: a valid fabric stays valid.
pub fn relabelled(of: &Topology, seed: u64, ports: bool) -> Topology {
    let f = &of.fabric;
    let old_switch: Vec<SwitchId> =
        shuffled(f.switch_count(), seed).into_iter().map(SwitchId::new).collect();
    let mut b = FabricBuilder::new(f.name());
    for class in f.classes() {
        b.class(class.clone());
    }
    let mut switch = vec![SwitchId(0); f.switch_count()];
    for &s in &old_switch {
        switch[s.index()] = b.add_switch(f.switch(s).clone());
    }
    let port = |s: SwitchId, p: u8| {
        if !ports {
            return p;
        }
        let order = shuffled(f.switch(s).ports.into(), seed + u64::from(s.0));
        order[usize::from(p) - 1] as u8 + 1
    };
    for host in f.hosts() {
        b.add_host(host.name.clone());
    }
    for adapter in f.adapters() {
        b.add_adapter(adapter.clone());
    }
    for t in shuffled(f.terminal_count(), seed).into_iter().map(TerminalId::new) {
        let old = f.terminal(t);
        let (at, switch_port) = (switch[old.switch.index()], port(old.switch, old.switch_port));
        b.link_terminal(Terminal { switch: at, switch_port, ..old.clone() }).expect("free");
    }
    let class = |c: ChannelId| {
        let at = f.classes().iter().position(|x| x == f.class_of(c));
        at.expect("a class of the fabric") as u8
    };
    for c in shuffled(f.channel_count(), seed).into_iter().map(ChannelId::new) {
        let r = f.reverse(c);
        if c < r {
            let end = |c: ChannelId| (switch[f.tail(c).index()], port(f.tail(c), f.tail_port(c)));
            b.link_switches(end(c), end(r), class(c)).expect("free");
        }
    }
    let fabric = b.finish().expect("as valid as before");
    let old: BTreeMap<Guid, TerminalId> =
        (0..f.terminal_count()).map(TerminalId::new).map(|t| (f.terminal(t).guid, t)).collect();
    let map = Renumbering {
        switch: switch.into_iter().map(Some).collect(),
        // Only the reverse map is read.
        terminal: Vec::new(),
        old_switch,
        old_terminal: fabric.terminals().iter().map(|t| old[&t.guid]).collect(),
    };
    let shape = of.shape.as_ref().map(|shape| shape.restricted(&map));
    Topology { fabric, shape }
}

/// `0..n` in an order that follows from the seed.
fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    // The finaliser of SplitMix64.
    let mix = |i: usize| {
        let x = (i as u64 + 1).wrapping_add(seed << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| mix(i));
    order
}
