//! The shape that a generator states agrees with its cables, before and after faults.

use std::collections::BTreeSet;

use darkfiber_fabric::{
    DragonflyShape, ExpanderShape, FAMILIES, Fabric, Faults, GridKind, GridShape, GroupKind,
    PRESETS, Pgft, Shape, SlimFlyShape, SwitchId, Topology, TreeShape, open,
};

use crate::support::{cables, degree, spec, switches};

fn check(t: &Topology) {
    if let Some(Shape::Planes(planes)) = &t.shape {
        let f = &t.fabric;
        assert!(cables(f).all(|(a, b)| planes.plane[a.index()] == planes.plane[b.index()]));
        // Each plane has its stated shape.
        // Adapters count across planes, so that their fabrics are taken with the adapters of all.
        let one = |i| check(&t.plane_and_map(i).expect("a plane").0);
        return (0..t.plane_count()).for_each(one);
    }
    let f = &t.fabric;
    match t.shape.as_ref().expect("generators state a shape") {
        Shape::Tree(tree) => check_tree(f, tree),
        Shape::Grid(grid) => check_grid(f, grid),
        Shape::Dragonfly(dragonfly) => check_dragonfly(f, dragonfly),
        Shape::SlimFly(slimfly) => check_slimfly(f, slimfly),
        Shape::Expander(expander) => check_expander(f, expander),
        Shape::Planes(_) => unreachable!("planes of planes"),
    }
}

fn check_tree(f: &Fabric, tree: &TreeShape) {
    assert_eq!(tree.level.len(), f.switch_count());
    let level = |s: SwitchId| tree.level[s.index()];
    for (a, b) in cables(f) {
        assert_eq!(level(a).abs_diff(level(b)), 1, "{a:?} {b:?}");
    }
    assert!(f.terminals().iter().all(|t| level(t.switch) == 1));
    if let Some(pgft) = &tree.pgft {
        check_labels(f, tree, pgft);
    }
}

fn check_labels(f: &Fabric, tree: &TreeShape, pgft: &Pgft) {
    let h = pgft.m.len();
    let level = |s: SwitchId| usize::from(tree.level[s.index()]);
    assert_eq!(pgft.digits.len(), f.switch_count() * h);
    for s in switches(f) {
        for (i, &digit) in pgft.label(s).iter().enumerate() {
            let radix = if i < level(s) { pgft.w[i] } else { pgft.m[i] };
            assert!(u32::from(digit) < radix);
        }
    }
    let mut labels: Vec<_> = switches(f).map(|s| (level(s), pgft.label(s))).collect();
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels.len(), f.switch_count(), "labels are unique in a level");
    for (a, b) in cables(f) {
        let lower = level(a).min(level(b));
        for (i, (x, y)) in pgft.label(a).iter().zip(pgft.label(b)).enumerate() {
            assert!(i == lower || x == y, "digit {i} of {a:?} {b:?}");
        }
    }
    // A host's digits above the first are those of its leaf.
    let nics = f.adapters().len() / f.hosts().len();
    for (t, &index) in f.terminals().iter().zip(&pgft.index) {
        if nics == 1 {
            assert_eq!(f.host(f.adapter(t.adapter).host).name, format!("cn{:04}", index + 1));
        } else {
            assert_eq!(index % pgft.m[0] + 1, u32::from(t.switch_port));
        }
        let mut rest = index / pgft.m[0];
        for (&digit, &m) in pgft.label(t.switch).iter().zip(&pgft.m).skip(1) {
            assert_eq!(u32::from(digit), rest % m);
            rest /= m;
        }
        assert_eq!(rest, 0);
    }
}

fn check_grid(f: &Fabric, grid: &GridShape) {
    assert_eq!(grid.coords.len(), f.switch_count() * grid.dims.len());
    for s in switches(f) {
        assert!(grid.at(s).iter().zip(&grid.dims).all(|(x, d)| x < d));
    }
    for (a, b) in cables(f) {
        let differ: Vec<(u16, u16)> = (grid.at(a).iter().zip(grid.at(b)).zip(&grid.dims))
            .filter(|((x, y), _)| x != y)
            .map(|((x, y), &d)| (x.abs_diff(*y), d))
            .collect();
        let [(step, size)] = differ[..] else {
            panic!("{a:?} {b:?} differ in {} dimensions", differ.len())
        };
        match grid.kind {
            GridKind::HyperX => {}
            GridKind::Torus => assert!(step == 1 || step == size - 1),
            GridKind::Mesh => assert_eq!(step, 1),
        }
    }
}

fn check_dragonfly(f: &Fabric, d: &DragonflyShape) {
    assert_eq!(d.group.len(), f.switch_count());
    assert_eq!(d.member.len(), f.switch_count());
    let mut places: Vec<_> = d.group.iter().zip(&d.member).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), f.switch_count(), "one switch a place");
    let (rows, cols) = match d.inside {
        GroupKind::Full => return,
        GroupKind::LeafSpine { leaves } => return check_leaf_spine(f, d, leaves),
        GroupKind::Grid { rows, columns } => (rows, columns),
    };
    assert!(d.member.iter().all(|&m| m < rows * cols));
    for (a, b) in cables(f) {
        let (i, j) = (a.index(), b.index());
        if d.group[i] == d.group[j] {
            let (x, y) = (d.member[i], d.member[j]);
            assert!(x / cols == y / cols || x % cols == y % cols);
        }
    }
}

fn check_leaf_spine(f: &Fabric, d: &DragonflyShape, leaves: u32) {
    let leaf = |s: SwitchId| d.member[s.index()] < leaves;
    assert!(f.terminals().iter().all(|t| leaf(t.switch)));
    for (a, b) in cables(f) {
        // Within a group between a leaf and a spine, between groups from spine to spine.
        let inside = d.group[a.index()] == d.group[b.index()];
        assert_eq!((leaf(a) ^ leaf(b), leaf(a) || leaf(b)), (inside, inside), "{a:?} {b:?}");
    }
}

fn check_slimfly(f: &Fabric, slimfly: &SlimFlyShape) {
    let at = |s: SwitchId| &slimfly.coords[s.index() * 3..s.index() * 3 + 3];
    let mut places: Vec<_> = switches(f).map(at).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), f.switch_count(), "one switch a place");
    // Within a half cables stay in a column; between the halves two columns share q of them.
    let mut across = std::collections::BTreeMap::new();
    for (a, b) in cables(f) {
        let (a, b) = (at(a).min(at(b)), at(a).max(at(b)));
        if a[0] == b[0] {
            assert_eq!(a[1], b[1]);
        } else {
            *across.entry((a[1], b[1])).or_insert(0) += 1;
        }
    }
    assert!(across.values().all(|&n| n <= slimfly.q));
}

fn check_expander(f: &Fabric, expander: &ExpanderShape) {
    for s in switches(f) {
        // Faults take cables, nothing adds any, and none are parallel.
        let near: BTreeSet<u32> = f.channels_from(s).map(|c| f.heads()[c]).collect();
        assert!(near.len() == degree(f, s) && near.len() <= expander.degree as usize);
        let Some(metanode) = &expander.metanode else { continue };
        let reached: BTreeSet<u32> = near.iter().map(|&n| metanode[n as usize]).collect();
        assert!(reached.len() == near.len() && !reached.contains(&metanode[s.index()]));
    }
}

/// Everything small enough to look at cable by cable.
fn all() -> impl Iterator<Item = Topology> {
    let examples = FAMILIES.iter().map(|f| spec(f.example()));
    let presets = (PRESETS.iter())
        .filter(|p| !["slingshot-max", "slingshot-511", "aries-max"].contains(&p.name))
        .map(|p| open(&format!("@{}", p.name)).expect(p.name));
    let odd = [
        "pgft:m=3x4x5,w=2x3x2,p=2x1x3",
        "pgft:m=2x2x2x2,w=1x2x2x3",
        "pgft:m=5,w=2",
        "torus:dims=5x2x1x3,t=2,trunk=2",
        "mesh:dims=1x4",
        "hyperx:dims=3x1x4,t=2,trunk=1x2x3",
        "dragonflyplus:p=1,leaves=3,spines=2,g=4,per_pair=3",
        "slimfly:q=4,p=1",
        "slimfly:q=5",
        "rails:hosts_per_unit=3,units=2,nics=2,spines=2,pods=3,cores=2,planes=2",
        "rails:hosts_per_unit=3,spines=0",
        "pgft:m=3x4,w=1x2,p=1x2,planes=3",
        "dragonfly:p=2,a=4,h=2,nics=2,planes=2",
        "xpander:d=4,lift=3,planes=2",
        "jellyfish:n=21,d=6,seed=5",
        "jellyfish:n=5,d=4",
        "xpander:d=2,lift=9",
        "xpander:d=5,lift=1",
    ];
    examples.chain(presets).chain(odd.map(spec))
}

#[test]
fn shapes_agree_with_the_cables() {
    for t in all() {
        check(&t);
    }
}

#[test]
fn shapes_agree_after_faults() {
    for t in all() {
        let n = t.fabric.switch_count();
        let faults = Faults {
            links: Faults::random_links(&t.fabric, 1, 7).map_or(Vec::new(), |f| f.links),
            switches: vec![SwitchId::new(0), SwitchId::new(n / 2)],
            terminals: Vec::new(),
        };
        let (left, map) = t.with_faults(&faults);
        assert!(left.fabric.switch_count() < n);
        assert_eq!(left.shape, t.shape.as_ref().map(|s| s.restricted(&map)));
        check(&left);
    }
}

#[test]
fn d_mod_k_reaches_every_host() {
    // The formula of the documentation, followed from every leaf.
    for text in ["kary:k=3,n=3", "pgft:m=3x4x2,w=1x3x2,p=1x1x2", "clos3:k=4,pods=2"] {
        let t = spec(text);
        let Some(Shape::Tree(TreeShape { level, pgft: Some(p) })) = &t.shape else {
            panic!("a tree")
        };
        let step = |s: SwitchId, digits: &[u16], up: bool| {
            (t.fabric.channels_from(s))
                .map(|c| SwitchId(t.fabric.heads()[c]))
                .find(|&n| (level[n.index()] > level[s.index()]) == up && p.label(n) == digits)
                .expect("a neighbour with that label")
        };
        for from in switches(&t.fabric).filter(|s| level[s.index()] == 1) {
            for (terminal, &d) in t.fabric.terminals().iter().zip(&p.index) {
                let digit = |l: usize| (d / p.m[..l].iter().product::<u32>() % p.m[l]) as u16;
                let mut s = from;
                // Up while some digit above the own level is not the destination's.
                loop {
                    let l = usize::from(level[s.index()]);
                    if (l..p.m.len()).all(|i| p.label(s)[i] == digit(i)) {
                        break;
                    }
                    let mut label = p.label(s).to_vec();
                    label[l] = (d / p.w[..l].iter().product::<u32>() % p.w[l]) as u16;
                    s = step(s, &label, true);
                }
                while level[s.index()] > 1 {
                    let l = usize::from(level[s.index()]);
                    let mut label = p.label(s).to_vec();
                    label[l - 1] = digit(l - 1);
                    s = step(s, &label, false);
                }
                assert_eq!(s, terminal.switch, "{text}: to {d}");
            }
        }
    }
}

#[test]
fn summaries() {
    let line = |t: &Topology| t.shape.as_ref().expect("stated").summary();
    assert_eq!(line(&spec("hyperx:dims=12x8")), "12x8 HyperX");
    assert_eq!(line(&spec("torus:dims=4x4")), "4x4 torus");
    assert_eq!(line(&spec("kary:k=4,n=3")), "3-level tree, switches by level 16 + 16 + 16");
    assert_eq!(line(&spec("dragonfly:p=1,a=4,h=2")), "dragonfly, 9 groups, 36 switches");
    assert_eq!(line(&spec("slimfly:q=4")), "Slim Fly, q = 4");
    assert_eq!(line(&spec("jellyfish:n=9,d=4")), "random regular graph of degree 4");
    assert_eq!(line(&spec("xpander:d=3,lift=4")), "Xpander of degree 3");
    assert_eq!(line(&spec("mesh:dims=2x2,planes=3")), "3 planes, each: 2x2 mesh");
    let plus = spec("dragonflyplus:p=1,leaves=1,spines=2,h=1");
    assert_eq!(line(&plus), "dragonfly+, 3 groups, 9 switches");
}
