//! The machines: the numbers of their papers, or our decisions where these contradict themselves.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{PRESETS, Role, Shape, SwitchId, TerminalId, Topology, open, preset};
use darkfiber_testkit::oracle::diameter;

use crate::support::switches;

fn build(name: &str) -> Topology {
    open(&format!("@{name}")).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Name, switches, hosts, terminals, cables between switches, ports of a switch.
const PRINTED: &[(&str, usize, usize, usize, usize, u8)] = &[
    ("t2hx", 204 + 96, 672, 2 * 672, 2465 + 849, 36),
    ("t2hx-fattree", 204, 672, 672, 2465, 36),
    ("t2hx-fattree-full", 204, 672, 672, 2700, 36),
    ("t2hx-hyperx", 96, 672, 672, 849, 36),
    ("t2hx-hyperx-full", 96, 672, 672, 864, 36),
    ("taurus", 210, 2014, 2014, 2592, 36),
    ("tsubame25", 257, 1408, 1408, 101 * 18 + 6 * 17 * 18, 36),
    ("sar-testbed", 2, 4, 4, 2, 36),
    ("cab", 180, 1296, 1296, 2592, 36),
    ("edison", 15 * 96, 5760, 5760, 15 * 1440 + 2520, 48),
    ("aries-max", 23_136, 92_544, 92_544, 241 * 1440 + 241 * 480, 48),
    ("crystal", 192, 698, 698, 2 * 1440 + 24, 48),
    ("slingshot-max", 17_440, 279_040, 279_040, 545 * 496 + 545 * 272, 64),
    ("slingshot-511", 16_352, 261_632, 261_632, 511 * 496 + 511 * 255, 64),
    ("shandy", 128, 1024, 2048, 8 * 120 + 224, 64),
    ("malbec", 32, 484, 484, 4 * 28 + 96, 64),
    ("superpod-su", 12, 32, 256, 256, 64),
    ("superpod-h100", 48, 127, 1016, 1024, 64),
    ("superpod-b200-16su", 128 + 128 + 64, 512, 4096, 2 * 4096, 64),
    ("slimfly-eth", 50, 200, 200, 175, 36),
    ("hx-4ary2tree", 8, 16, 16, 16, 8),
];

#[test]
fn counts() {
    for &(name, switches, hosts, terminals, links, radix) in PRINTED {
        let f = build(name).fabric;
        assert_eq!(f.switch_count(), switches, "{name}");
        assert_eq!(f.hosts().len(), hosts, "{name}");
        assert_eq!(f.terminal_count(), terminals, "{name}");
        assert_eq!(f.switch_link_count(), links, "{name}");
        assert!(f.switches().iter().all(|s| s.ports == radix), "{name}");
        assert_eq!(f.components().iter().sum::<usize>(), switches, "{name}");
        assert_eq!(f.components().len(), if name == "t2hx" { 2 } else { 1 }, "{name}");
    }
}

#[test]
fn t2hx_is_both_of_its_planes() {
    let whole = build("t2hx");
    assert_eq!((whole.fabric.hosts().len(), whole.fabric.terminal_count()), (672, 1344));
    assert_eq!(whole.plane_count(), 2);
    for (i, name) in [(0, "t2hx-fattree"), (1, "t2hx-hyperx")] {
        let (plane, alone) = (whole.plane(i).expect("a plane"), build(name));
        assert_eq!(plane.shape, alone.shape);
        assert_eq!(plane.fabric.heads(), alone.fabric.heads());
        assert_eq!(plane.fabric.tail_ports(), alone.fabric.tail_ports());
        for (a, b) in plane.fabric.terminals().iter().zip(alone.fabric.terminals()) {
            assert_eq!((a.switch, a.switch_port), (b.switch, b.switch_port));
        }
        let hosts = |f: &darkfiber_fabric::Fabric| -> Vec<String> {
            (0..f.terminal_count())
                .map(|t| f.host(f.host_of(darkfiber_fabric::TerminalId::new(t))).name.clone())
                .collect()
        };
        assert_eq!(hosts(&plane.fabric), hosts(&alone.fabric));
    }
}

#[test]
fn trees_of_the_tables() {
    for p in PRESETS.iter().filter(|p| p.name.starts_with("opt-")) {
        let numbers: Vec<usize> =
            (p.name.split('-').skip(1)).map(|x| x.parse().expect("a number")).collect();
        let [n, m, r] = numbers[..] else { panic!("{}", p.name) };
        let f = build(p.name).fabric;
        assert_eq!(f.switch_count(), r + m, "{}", p.name);
        assert_eq!(f.terminal_count(), r * n, "{}", p.name);
        assert_eq!(f.switch_link_count(), r * m, "{}", p.name);
        // A leaf has n + m ports, a top r.
        assert_eq!(usize::from(f.switch(SwitchId(0)).ports), r.max(n + m));
        let full = p.name == "opt-16-16-16" || r == n + m;
        assert!(full, "{}: r = n + m in all rows", p.name);
    }
    let opt = PRESETS.iter().filter(|p| p.name.starts_with("opt-")).count();
    assert_eq!(opt, 18);
}

#[test]
fn all_are_listed_unique_and_documented() {
    let names: BTreeSet<&str> = PRESETS.iter().map(|p| p.name).collect();
    assert_eq!(names.len(), PRESETS.len());
    let printed: BTreeSet<&str> = PRINTED.iter().map(|row| row.0).collect();
    for p in &PRESETS {
        assert!(printed.contains(p.name) || p.name.starts_with("opt-"), "{}", p.name);
        assert!(!p.summary.is_empty() && p.doc.ends_with('.') && !p.paper.is_empty());
        assert_eq!(preset(p.name).expect("listed").name, p.name);
    }
}

#[test]
fn a_preset_is_the_same_every_time() {
    for p in PRESETS.iter().filter(|p| !p.name.contains("max") && !p.name.contains("511")) {
        let (one, two) = (build(p.name), p.build().expect(p.name));
        assert_eq!(one, two);
        assert_eq!(one.fabric.name(), format!("@{}", p.name));
    }
}

#[test]
fn diameters() {
    for (name, hops) in [
        ("t2hx-hyperx-full", 2),
        ("cab", 4),
        ("t2hx-fattree-full", 4),
        ("shandy", 3),
        // Every switch has a cable to every group.
        ("malbec", 2),
        ("sar-testbed", 1),
        ("taurus", 4),
        ("superpod-h100", 2),
        ("superpod-b200-16su", 4),
        ("slimfly-eth", 2),
    ] {
        assert_eq!(diameter(&build(name).fabric), hops, "{name}");
    }
}

#[test]
fn grid_directors() {
    let t = build("t2hx-fattree-full");
    let Some(Shape::Tree(tree)) = &t.shape else { panic!("a tree") };
    let f = &t.fabric;
    let on = |level: u8| tree.level.iter().filter(|&&l| l == level).count();
    assert_eq!((on(1), on(2), on(3)), (48, 6 * 17, 6 * 9));
    for s in switches(f) {
        let cables = f.channels_from(s).len();
        match tree.level[s.index()] {
            1 => assert_eq!((cables, f.terminals_on(s).len()), (18, 14)),
            // 18 cables inward, and an even share of the 144 that come from outside.
            2 => assert!((26..=27).contains(&cables)),
            _ => assert_eq!(cables, 34),
        }
    }
    let chassis: BTreeSet<_> = switches(f)
        .filter(|s| tree.level[s.index()] > 1)
        .map(|s| f.switch(s).system_guid)
        .collect();
    assert_eq!(chassis.len(), 6, "the chips of a director share a system GUID");
}

#[test]
fn superpods_have_no_blocking_and_no_port_to_spare() {
    for name in ["superpod-su", "superpod-b200-16su"] {
        let t = build(name);
        let Some(Shape::Tree(tree)) = &t.shape else { panic!("a tree") };
        let f = &t.fabric;
        assert_eq!(f.classes()[0].bytes_per_second, 50_000_000_000);
        for s in switches(f) {
            let up = (f.channels_from(s))
                .filter(|&c| tree.level[f.heads()[c] as usize] > tree.level[s.index()])
                .count();
            let down = f.channels_from(s).len() - up + f.terminals_on(s).len();
            let top = tree.level.iter().max() == Some(&tree.level[s.index()]);
            assert_eq!((down, up), if top { (64, 0) } else { (32, 32) }, "{name}");
        }
    }
}

#[test]
fn slingshot_arithmetic() {
    let t = build("slingshot-max");
    let Some(Shape::Dragonfly(shape)) = &t.shape else { panic!("a dragonfly") };
    assert_eq!(shape.group.iter().max(), Some(&544));
    let f = &t.fabric;
    for s in switches(f) {
        let global = (f.channels_from(s))
            .filter(|&c| shape.group[f.heads()[c] as usize] != shape.group[s.index()])
            .count();
        assert_eq!((f.terminals_on(s).len(), f.channels_from(s).len()), (16, 48));
        assert_eq!(global, 17);
    }
}

#[test]
fn shandy_hosts_have_two_terminals_on_two_switches() {
    let f = build("shandy").fabric;
    let mut on = vec![Vec::new(); f.hosts().len()];
    for t in (0..f.terminal_count()).map(TerminalId::new) {
        on[f.host_of(t).index()].push(f.terminal(t).switch);
        assert_eq!(f.terminal_class(t).bytes_per_second, 12_500_000_000);
    }
    for two in on {
        assert_eq!(two.len(), 2);
        assert_ne!(two[0], two[1]);
        assert_eq!(two[0].0 / 16, two[1].0 / 16, "of one group");
    }
    // 4 x 4 x 8 cables of 200 Gb/s in both directions: 6.4 TB/s.
    let half = |s: SwitchId| s.0 / 16 < 4;
    let cut = crate::support::cables(&f).filter(|&(a, b)| half(a) != half(b)).count();
    assert_eq!(cut, 128);
    assert_eq!(cut as u64 * 25_000_000_000 * 2, 6_400_000_000_000);
}

/// Cables by pair of groups of a dragonfly.
fn by_pair(t: &Topology) -> BTreeMap<(u32, u32), usize> {
    let Some(Shape::Dragonfly(shape)) = &t.shape else { panic!("a dragonfly") };
    let group = |s: SwitchId| shape.group[s.index()];
    let mut pairs = BTreeMap::new();
    for (a, b) in crate::support::cables(&t.fabric) {
        let (a, b) = (group(a).min(group(b)), group(a).max(group(b)));
        if a != b {
            *pairs.entry((a, b)).or_insert(0) += 1;
        }
    }
    pairs
}

#[test]
fn every_two_groups_have_as_many_cables_as_the_paper_means() {
    for (name, groups, cables) in [
        ("shandy", 8, 8),
        ("malbec", 4, 16),
        ("edison", 15, 24),
        ("crystal", 2, 24),
        ("shandy:taper=25", 8, 2),
        ("shandy:taper=50", 8, 4),
        ("malbec:taper=25", 4, 4),
        ("malbec:taper=100", 4, 16),
    ] {
        let pairs = by_pair(&build(name));
        assert_eq!(pairs.len(), groups * (groups - 1) / 2, "{name}");
        assert!(pairs.values().all(|&n| n == cables), "{name}: {pairs:?}");
    }
}

/// Slingshot's largest: a group's 544 cables are one to each other group, and 1.0625 times the injection rate of its
/// 512 endpoints.
#[test]
fn slingshot_reaches_any_switch_in_three_hops() {
    let t = build("slingshot-max");
    let pairs = by_pair(&t);
    assert_eq!(pairs.len(), 545 * 544 / 2);
    assert!(pairs.values().all(|&n| n == 1));
    // All groups are alike: from the switches of one, any other.
    let f = &t.fabric;
    for first in (0..32).map(SwitchId) {
        let mut far = vec![u8::MAX; f.switch_count()];
        far[first.index()] = 0;
        let mut now = vec![first];
        for hops in 1..=3 {
            let mut next = Vec::new();
            for s in now {
                for &v in &f.heads()[f.channels_from(s)] {
                    if far[v as usize] == u8::MAX {
                        far[v as usize] = hops;
                        next.push(SwitchId(v));
                    }
                }
            }
            now = next;
        }
        assert!(!now.is_empty() && far.iter().all(|&hops| hops <= 3));
    }
}

/// Tapering removes only cables between groups; hosts with two adapters stay as they are.
#[test]
fn a_tapered_dragonfly_is_the_same_but_for_global_cables() {
    for (spec, kept) in [
        ("dragonfly:p=4,a=8,g=5,per_pair=8,nics=2", 2),
        ("dragonfly:p=4,a=8,h=4,g=5,nics=2", 2),
        ("dragonfly:p=2,a=4,h=3,g=4,nics=4", 1),
    ] {
        let whole = open(spec).expect(spec);
        let tapered = open(&format!("{spec},taper=25")).expect(spec);
        assert_eq!(whole.fabric.terminals(), tapered.fabric.terminals());
        let groups = by_pair(&whole).len();
        let of = |t: &Topology| by_pair(t).values().sum::<usize>();
        assert_eq!((of(&whole), of(&tapered)), (4 * kept * groups, kept * groups), "{spec}");
        let local = |t: &Topology| t.fabric.switch_link_count() - of(t);
        assert_eq!(local(&whole), local(&tapered));
        let f = &tapered.fabric;
        let nics = f.terminal_count() / f.hosts().len();
        let mut on = vec![BTreeSet::new(); f.hosts().len()];
        for t in (0..f.terminal_count()).map(TerminalId::new) {
            on[f.host_of(t).index()].insert(f.terminal(t).switch);
        }
        assert!(nics > 1 && on.iter().all(|switches| switches.len() == nics), "{spec}");
    }
}

#[test]
fn edison_has_5576_compute_nodes() {
    let f = build("edison").fabric;
    assert_eq!(f.compute_terminal_count(), 5576);
    let other = f.terminals().iter().filter(|t| t.role == Role::Other);
    assert_eq!(other.count(), 184);
}

#[test]
fn degraded_planes_are_the_full_ones_without_some_cables() {
    for name in ["t2hx-fattree", "t2hx-hyperx"] {
        let (some, full) = (build(name).fabric, build(&format!("{name}-full")).fabric);
        assert_eq!(some.terminals(), full.terminals());
        assert_eq!(some.switches(), full.switches());
        for c in (0..some.channel_count()).map(darkfiber_fabric::ChannelId::new) {
            let there = full.at_port(some.tail(c), some.tail_port(c));
            let darkfiber_fabric::AtPort::Switch(d, head) = there else {
                panic!("{name}: a cable from nowhere")
            };
            assert_eq!((head, full.head_port(d)), (some.head(c), some.head_port(c)));
        }
    }
}
