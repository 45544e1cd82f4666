//! Layouts: no two elements overlap, equal fabrics have equal maps, names play no part.

use std::collections::BTreeMap;

use darkfiber_fabric::{Fabric, Shape, Topology, open};
use darkfiber_page::Layout;
use darkfiber_page::layout::{PITCH, cables};
use darkfiber_testkit::families::{self, topology};

/// The two switches that are nearest to each other, by comparing those of neighbouring cells of a grid.
fn nearest(layout: &Layout) -> f32 {
    let cell = |v: f32| (v / PITCH).floor() as i64;
    let mut cells: BTreeMap<(i64, i64), Vec<usize>> = BTreeMap::new();
    for (s, p) in layout.at.iter().enumerate() {
        cells.entry((cell(p.x), cell(p.y))).or_default().push(s);
    }
    let mut least = f32::MAX;
    for (&(x, y), own) in &cells {
        for near in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (x + dx, y + dy))) {
            for &t in cells.get(&near).into_iter().flatten() {
                for &s in own.iter().filter(|&&s| s < t) {
                    let (p, q) = (layout.at[s], layout.at[t]);
                    least = least.min((p.x - q.x).hypot(p.y - q.y));
                }
            }
        }
    }
    least
}

fn is_sound(name: &str, fabric: &Fabric, shape: Option<&Shape>) -> Layout {
    let layout = Layout::of(fabric, shape);
    assert_eq!(layout, Layout::of(fabric, shape), "{name}: twice the same");
    assert_eq!(layout.at.len(), fabric.switch_count(), "{name}");
    assert_eq!(layout.curve_of.len(), cables(fabric).count(), "{name}");
    assert!(layout.at.iter().all(|p| p.x.is_finite() && p.y.is_finite()), "{name}");
    let near = nearest(&layout);
    assert!(near >= PITCH * 0.97, "{name}: two switches are {near} apart ({})", layout.kind);
    assert!(layout.group.iter().all(|&g| g < layout.groups), "{name}: groups");
    let known = layout.curve_of.iter().all(|&c| usize::from(c) < layout.curves.len());
    assert!(known, "{name}: curves");
    layout
}

#[test]
fn no_switch_lies_on_another_in_any_family() {
    for spec in families::small().into_iter().chain(families::LARGE.iter().copied()) {
        let Topology { fabric, shape } = topology(spec);
        is_sound(spec, &fabric, shape.as_ref());
        // Nor where the structure is unknown.
        is_sound(&format!("{spec}, unknown"), &fabric, None);
    }
}

#[test]
fn nor_after_damage() {
    for spec in families::small() {
        let whole = topology(spec);
        for (words, Topology { fabric, shape }) in families::damaged(&whole) {
            is_sound(&format!("{spec}, {words}"), &fabric, shape.as_ref());
        }
        if whole.fabric.switch_count() > 1 {
            let Topology { fabric, shape } = families::fallen_apart(&whole, 7);
            is_sound(&format!("{spec} in pieces"), &fabric, shape.as_ref());
            is_sound(&format!("{spec} in pieces, unknown"), &fabric, None);
        }
    }
}

#[test]
fn maps_are_as_shapes_are() {
    for (spec, kind) in [
        ("clos3:k=8,pods=4", "rings"),
        ("dragonfly:p=2,a=4,h=2", "sun of groups"),
        ("slimfly:q=5,p=2", "sun of groups"),
        ("@t2hx-hyperx", "lattice"),
        ("torus:dims=4x4x4,t=1", "lattice"),
        ("jellyfish:n=40,d=5,p=2", "springs"),
        ("fattree2:n=4,m=4,r=8,planes=2", "planes"),
    ] {
        let Topology { fabric, shape } = topology(spec);
        assert_eq!(Layout::of(&fabric, shape.as_ref()).kind, kind, "{spec}");
    }
    // A tree that is not recognised has levels all the same.
    let tree = topology("clos3:k=8,pods=4");
    assert_eq!(Layout::of(&tree.fabric, None).kind, "rings");
}

#[test]
fn subtrees_are_sectors() {
    let Topology { fabric, shape } = topology("clos3:k=8,pods=4");
    let layout = is_sound("clos3", &fabric, shape.as_ref());
    // Each pod lies within a quarter of the circle, and pods do not interleave.
    let mut sectors: BTreeMap<u32, (f32, f32)> = BTreeMap::new();
    for (p, &g) in layout.at.iter().zip(&layout.group).filter(|(_, g)| **g > 0) {
        let angle = p.x.atan2(-p.y).rem_euclid(std::f32::consts::TAU);
        let (low, high) = sectors.entry(g).or_insert((angle, angle));
        (*low, *high) = (low.min(angle), high.max(angle));
    }
    assert_eq!(sectors.len(), 4);
    let mut all: Vec<(f32, f32)> = sectors.into_values().collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(all.windows(2).all(|w| w[0].1 < w[1].0), "{all:?}");
}

#[test]
fn odd_fabrics_have_maps() {
    for spec in ["fullmesh:n=1,t=2", "fullmesh:n=2,t=0", "torus:dims=2,t=0"] {
        let Ok(Topology { fabric, shape }) = open(spec) else { continue };
        is_sound(spec, &fabric, shape.as_ref());
    }
    let none = darkfiber_fabric::FabricBuilder::new("none").finish().expect("a fabric of nothing");
    let layout = Layout::of(&none, None);
    assert!(layout.at.is_empty());
    let (low, high) = layout.bounds();
    assert!(low.x < high.x && high.x.is_finite());
}

#[test]
fn many_planes_are_tiles() {
    let Topology { fabric, shape } = topology("fattree2:n=4,m=4,r=8,planes=8");
    let layout = is_sound("planes", &fabric, shape.as_ref());
    let named = layout.captions.iter().filter(|c| c.text.starts_with("plane ")).count();
    assert_eq!(named, 8);
}
