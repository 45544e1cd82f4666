//! The closed forms that a family's counts must satisfy.

use darkfiber_fabric::{GroupKind, Shape, Topology};
use darkfiber_testkit::oracle::diameter;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{cables, degree, distances, list, spec, switches};

fn counts(t: &Topology) -> (usize, usize, usize) {
    let f = &t.fabric;
    (f.switch_count(), f.terminal_count(), f.switch_link_count())
}

fn product(numbers: &[u32]) -> usize {
    numbers.iter().map(|&x| x as usize).product()
}

proptest! {
    #[test]
    fn hyperx(dims in vec(1u32..6, 1..4), t in 0u32..4, trunk in 1u32..3) {
        let made = spec(&format!("hyperx:dims={},t={t},trunk={trunk}", list(&dims)));
        let lines: usize = dims.iter().map(|&d| d as usize - 1).sum();
        let (n, trunk) = (product(&dims), trunk as usize);
        prop_assert_eq!(counts(&made), (n, n * t as usize, n * lines * trunk / 2));
        let f = &made.fabric;
        prop_assert_eq!(diameter(f), dims.iter().filter(|&&d| d > 1).count());
        for s in switches(f) {
            prop_assert_eq!(degree(f, s), lines * trunk);
            prop_assert_eq!(f.terminals_on(s).len(), t as usize);
            prop_assert_eq!(usize::from(f.switch(s).ports), (t as usize + lines * trunk).max(1));
        }
    }

    #[test]
    fn hyperx_with_a_trunk_by_dimension(dims in vec(1u32..5, 2), trunk in vec(1u32..4, 2)) {
        let made = spec(&format!("hyperx:dims={},trunk={}", list(&dims), list(&trunk)));
        let degrees: u32 = dims.iter().zip(&trunk).map(|(d, k)| (d - 1) * k).sum();
        for s in switches(&made.fabric) {
            prop_assert_eq!(degree(&made.fabric, s), degrees as usize);
        }
    }

    #[test]
    fn torus_and_mesh(dims in vec(1u32..6, 1..4), t in 0u32..3, trunk in 1u32..3) {
        let n = product(&dims);
        let text = format!("dims={},t={t},trunk={trunk}", list(&dims));
        let (torus, mesh) = (spec(&format!("torus:{text}")), spec(&format!("mesh:{text}")));
        let links = |ring: bool| -> usize {
            dims.iter()
                .map(|&d| n / d as usize * (if ring && d > 2 { d } else { d - 1 }) as usize)
                .sum::<usize>() * trunk as usize
        };
        prop_assert_eq!(counts(&torus), (n, n * t as usize, links(true)));
        prop_assert_eq!(counts(&mesh), (n, n * t as usize, links(false)));
        prop_assert_eq!(diameter(&torus.fabric), dims.iter().map(|&d| d as usize / 2).sum::<usize>());
        prop_assert_eq!(diameter(&mesh.fabric), dims.iter().map(|&d| d as usize - 1).sum::<usize>());
        let ports: u32 = dims.iter().map(|&d| match d { 1 => 0, 2 => 1, _ => 2 }).sum();
        for s in switches(&torus.fabric) {
            prop_assert_eq!(degree(&torus.fabric, s), (ports * trunk) as usize);
        }
    }

    #[test]
    fn two_level_tree(n in 1u32..12, m in 1u32..12, r in 1u32..12, trunk in 1u32..3) {
        let made = spec(&format!("fattree2:n={n},m={m},r={r},trunk={trunk}"));
        let expected = (r + m, r * n, r * m * trunk);
        prop_assert_eq!(counts(&made), (expected.0 as usize, expected.1 as usize, expected.2 as usize));
        let f = &made.fabric;
        for s in switches(f) {
            let leaf = s.0 < r;
            let (down, up) = (if leaf { n } else { 0 }, if leaf { m } else { r } * trunk);
            prop_assert_eq!(f.terminals_on(s).len(), down as usize);
            prop_assert_eq!(degree(f, s), up as usize);
        }
    }

    #[test]
    fn k_ary_n_tree(k in 1usize..5, n in 1u32..5) {
        let made = spec(&format!("kary:k={k},n={n}"));
        let (hosts, level) = (k.pow(n), k.pow(n - 1));
        prop_assert_eq!(counts(&made), (n as usize * level, hosts, (n as usize - 1) * hosts));
        prop_assert_eq!(made.fabric.components(), vec![n as usize * level]);
    }

    #[test]
    fn folded_clos(half in 1u32..7, pick in 0usize..8) {
        let k = 2 * half;
        let fit: Vec<u32> = (2..=k).filter(|p| p % 2 == 0 && k % p == 0).collect();
        let pods = fit[pick % fit.len()];
        let made = spec(&format!("clos3:k={k},pods={pods}"));
        let leaves = (pods * half) as usize;
        let half = half as usize;
        prop_assert_eq!(counts(&made), (2 * leaves + leaves / 2, leaves * half, leaves * half * 2));
        for s in switches(&made.fabric) {
            prop_assert_eq!(degree(&made.fabric, s) + made.fabric.terminals_on(s).len(), 2 * half);
            prop_assert_eq!(u32::from(made.fabric.switch(s).ports), k);
        }
    }

    #[test]
    fn parallel_port_tree(
        m in vec(1u32..4, 3), w in vec(1u32..4, 3), p in vec(1u32..3, 3),
    ) {
        let made = spec(&format!("pgft:m={},w={},p={}", list(&m), list(&w), list(&p)));
        let level = |l: usize| product(&w[..l]) * product(&m[l..]);
        let up = |l: usize| (w[l] * p[l]) as usize;
        prop_assert_eq!(
            counts(&made),
            (level(1) + level(2) + level(3), level(0) * up(0), level(1) * up(1) + level(2) * up(2))
        );
        let f = &made.fabric;
        prop_assert_eq!(f.hosts().len(), product(&m));
        let Some(Shape::Tree(tree)) = &made.shape else { panic!("a tree") };
        for s in switches(f) {
            let l = usize::from(tree.level[s.index()]);
            let down = (m[l - 1] * p[l - 1]) as usize;
            let above = if l < 3 { up(l) } else { 0 };
            prop_assert_eq!(degree(f, s) + f.terminals_on(s).len(), down + above);
        }
    }

    #[test]
    fn canonical_dragonfly(p in 0usize..4, a in 1usize..6, h in 1usize..4) {
        let made = spec(&format!("dragonfly:p={p},a={a},h={h}"));
        let g = a * h + 1;
        prop_assert_eq!(counts(&made), (a * g, a * g * p, g * a * (a - 1) / 2 + g * (g - 1) / 2));
        let f = &made.fabric;
        // Local, global, local.
        prop_assert!(diameter(f) <= 3);
        prop_assert_eq!(f.components().len(), 1);
        for s in switches(f) {
            prop_assert_eq!(degree(f, s), a - 1 + h);
        }
        group_pairs(&made, g, |_, _, cables| assert_eq!(cables, 1));
    }

    #[test]
    fn dragonfly_with_cables_per_pair(a in 1usize..6, g in 2usize..7, per_pair in 1usize..7) {
        let made = spec(&format!("dragonfly:p=1,a={a},g={g},per_pair={per_pair}"));
        let ends = per_pair * (g - 1);
        let f = &made.fabric;
        prop_assert_eq!(f.switch_link_count(), g * a * (a - 1) / 2 + g * ends / 2);
        for s in switches(f) {
            let global = degree(f, s) - (a - 1);
            prop_assert!(global == ends / a || global == ends.div_ceil(a));
        }
        group_pairs(&made, g, |_, _, cables| assert_eq!(cables, per_pair));
    }

    #[test]
    fn dragonfly_in_whole_rounds(a in 1usize..6, h in 1usize..5, less in 0usize..20) {
        let g = (a * h + 1).saturating_sub(less).max(2);
        let made = spec(&format!("dragonfly:p=1,a={a},h={h},g={g}"));
        group_pairs(&made, g, |_, _, cables| assert_eq!(cables, a * h / (g - 1)));
    }

    #[test]
    fn balanced_dragonfly_plus(p in 0usize..4, leaves in 1usize..5, spines in 1usize..5, h in 1usize..4) {
        let text = format!("dragonflyplus:p={p},leaves={leaves},spines={spines},h={h}");
        let made = spec(&text);
        let g = spines * h + 1;
        let links = g * leaves * spines + g * (g - 1) / 2;
        prop_assert_eq!(counts(&made), (g * (leaves + spines), g * leaves * p, links));
        let f = &made.fabric;
        prop_assert_eq!(f.components().len(), 1);
        prop_assert!(diameter(f) <= 5);
        for s in switches(f) {
            let leaf = s.index() % (leaves + spines) < leaves;
            prop_assert_eq!(f.terminals_on(s).len(), if leaf { p } else { 0 });
            prop_assert_eq!(degree(f, s), if leaf { spines } else { leaves + h });
        }
        group_pairs(&made, g, |_, _, cables| assert_eq!(cables, 1));
    }

    #[test]
    fn dragonfly_plus_with_cables_per_pair(spines in 1usize..6, g in 2usize..7, per_pair in 1usize..7) {
        let text = format!("p=1,leaves=2,spines={spines},g={g},per_pair={per_pair}");
        let made = spec(&format!("dragonflyplus:{text}"));
        let (ends, f) = (per_pair * (g - 1), &made.fabric);
        for s in switches(f).filter(|s| s.index() % (2 + spines) >= 2) {
            let global = degree(f, s) - 2;
            prop_assert!(global == ends / spines || global == ends.div_ceil(spines));
        }
        group_pairs(&made, g, |_, _, cables| assert_eq!(cables, per_pair));
    }

    #[test]
    fn hypercube(n in 1u32..9, t in 0usize..3, trunk in 1usize..3) {
        let made = spec(&format!("hypercube:n={n},t={t},trunk={trunk}"));
        let switches = 1 << n;
        prop_assert_eq!(counts(&made), (switches, switches * t, switches * n as usize / 2 * trunk));
        prop_assert_eq!(diameter(&made.fabric), n as usize);
        // Neighbours differ in one bit of their numbers.
        prop_assert!(cables(&made.fabric).all(|(a, b)| (a.0 ^ b.0).is_power_of_two()));
    }

    #[test]
    fn full_mesh(n in 1usize..20, t in 0usize..3, trunk in 1usize..3) {
        let made = spec(&format!("fullmesh:n={n},t={t},trunk={trunk}"));
        prop_assert_eq!(counts(&made), (n, n * t, n * (n - 1) / 2 * trunk));
        prop_assert_eq!(diameter(&made.fabric), usize::from(n > 1));
    }

    #[test]
    fn cascade(groups in 1usize..6, rows in 1usize..4, half in 1usize..4, black in 1usize..4) {
        let cols = 2 * half;
        // One bundle of four per pair of groups fits whenever two blue ports a router suffice.
        let made = spec(&format!(
            "cascade:groups={groups},rows={rows},cols={cols},p=1,black={black},blue=4,h=16"
        ));
        let group = rows * cols * (cols - 1) / 2 + cols * rows * (rows - 1) / 2 * black;
        let blue = groups * (groups - 1) / 2 * 4;
        prop_assert_eq!(made.fabric.switch_link_count(), groups * group + blue);
        prop_assert_eq!(made.fabric.components().len(), 1);
        group_pairs(&made, groups, |_, _, cables| assert_eq!(cables, 4));
    }
}

/// Counts the cables between every two groups.
fn group_pairs(t: &Topology, groups: usize, check: impl Fn(usize, usize, usize)) {
    let Some(Shape::Dragonfly(shape)) = &t.shape else { panic!("a dragonfly") };
    let mut count = vec![0; groups * groups];
    for (a, b) in cables(&t.fabric) {
        let (i, j) = (shape.group[a.index()] as usize, shape.group[b.index()] as usize);
        count[i.min(j) * groups + i.max(j)] += 1;
    }
    for i in 0..groups {
        for j in i + 1..groups {
            check(i, j, count[i * groups + j]);
        }
    }
}

#[test]
fn leaves_of_a_dragonfly_plus_are_three_cables_apart() {
    let made = spec("dragonflyplus:p=1,leaves=3,spines=4,h=2,g=5");
    let Some(Shape::Dragonfly(shape)) = &made.shape else { panic!("a dragonfly") };
    assert_eq!(shape.inside, GroupKind::LeafSpine { leaves: 3 });
    let f = &made.fabric;
    for a in f.terminals() {
        let distance = distances(f, a.switch);
        for b in f.terminals() {
            let group = |t: &darkfiber_fabric::Terminal| shape.group[t.switch.index()];
            let expected = match (a.switch == b.switch, group(a) == group(b)) {
                (true, _) => 0..=0,
                (_, true) => 2..=2,
                _ => 3..=3,
            };
            assert!(expected.contains(&distance[b.switch.index()]), "{a:?} {b:?}");
        }
    }
}

#[test]
fn the_dragonfly_plus_that_codes_ships() {
    let (Some(inter), Some(intra)) = (
        darkfiber_testkit::shared("data/topologies/dfp_8k_inter.bin"),
        darkfiber_testkit::shared("data/topologies/dfp_8k_intra.bin"),
    ) else {
        return;
    };
    let pairs = |path| -> Vec<(u32, u32)> {
        let words: Vec<u32> = (std::fs::read(path).expect("readable").chunks_exact(4))
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
            .collect();
        words.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let made = spec("dragonflyplus:p=16,leaves=16,spines=16,h=16,g=33");
    let f = &made.fabric;
    assert_eq!((f.switch_count(), f.terminal_count()), (33 * 32, 33 * 16 * 16));
    // Their files list every cable from both ends; in a group both the leaves and the spines are
    // numbered 0 to 31 together.
    let (inter, intra) = (pairs(inter), pairs(intra));
    let theirs = |member: u32| intra.iter().filter(|(a, _)| *a == member).count();
    let ours = |s: u32| f.channels_from(darkfiber_fabric::SwitchId(s));
    for member in 0..32 {
        let inside = ours(member).filter(|&c| f.heads()[c] < 32).count();
        assert_eq!(inside, theirs(member));
        let outside = inter.iter().filter(|(a, _)| *a == member).count();
        assert_eq!(ours(member).len() - inside, outside);
    }
    assert_eq!(f.channel_count(), 33 * intra.len() + inter.len());
    group_pairs(&made, 33, |i, j, cables| {
        let at = |(a, b): &&(u32, u32)| (*a as usize / 32, *b as usize / 32) == (i, j);
        assert_eq!(inter.iter().filter(at).count(), cables);
    });
}

#[test]
fn bisections_of_the_12x8_hyperx() {
    let made = spec("hyperx:dims=12x8,t=7");
    let Some(Shape::Grid(grid)) = &made.shape else { panic!("a grid") };
    let cut = |d: usize| {
        let half = |s| grid.at(s)[d] < grid.dims[d] / 2;
        (cables(&made.fabric)).filter(|&(a, b)| half(a) != half(b)).count()
    };
    assert_eq!((cut(0), cut(1)), (288, 192));
    // 57.14 % of the 336 terminals on one side.
    assert_eq!(cut(1) * 10_000 / (made.fabric.terminal_count() / 2), 5714);
}

#[test]
fn a_cascade_group_has_720_green_and_720_black_cables() {
    let made = spec("cascade:groups=15");
    let Some(Shape::Dragonfly(shape)) = &made.shape else { panic!("a dragonfly") };
    assert_eq!(shape.inside, GroupKind::Grid { rows: 6, columns: 16 });
    let (mut green, mut black, mut blue) = (0, 0, 0);
    for (a, b) in cables(&made.fabric) {
        let member = |s: darkfiber_fabric::SwitchId| shape.member[s.index()];
        if shape.group[a.index()] != shape.group[b.index()] {
            blue += 1;
        } else if member(a) / 16 == member(b) / 16 {
            green += 1;
        } else {
            assert_eq!(member(a) % 16, member(b) % 16);
            black += 1;
        }
    }
    assert_eq!((green, black, blue), (15 * 720, 15 * 720, 2520));
    // Two hops within a group, five between groups.
    assert!(diameter(&made.fabric) <= 5);
    let rates: Vec<u64> = made.fabric.classes().iter().map(|c| c.bytes_per_second).collect();
    assert_eq!(rates, [5_250_000_000, 10_200_000_000, 4_700_000_000]);
}

#[test]
fn blue_bundles_are_two_cables_on_each_of_two_neighbours() {
    let made = spec("cascade:groups=15");
    let f = &made.fabric;
    for s in switches(f).step_by(2) {
        let global = |s: darkfiber_fabric::SwitchId| {
            f.channels_from(s)
                .filter(|&c| f.heads()[c] / 96 != s.0 / 96)
                .map(|c| f.heads()[c] / 96)
                .collect::<Vec<_>>()
        };
        let (left, right) = (global(s), global(darkfiber_fabric::SwitchId(s.0 + 1)));
        assert_eq!(left, right, "both routers of a pair reach the same groups");
        assert!(left.len() <= 10 && left.len() % 2 == 0);
    }
}
