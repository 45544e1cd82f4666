//! Trees as rings: leaves outside, each subtree a sector, the top in the middle.

use std::f32::consts::TAU;

use darkfiber_fabric::{Fabric, SwitchId};

use super::{Caption, Curve, Curves, Layout, PITCH, Point, cables};

/// Radius of the innermost ring, as a share of the outermost.
const CORE: f32 = 0.3;
/// Between two subtrees, in places of a switch.
const GAP: f32 = 1.6;

/// Switches of an uppermost ring whose cables are seen one by one.
const FEW: usize = 8;

/// A connected part of the tree below a level.
struct Branch {
    /// Its switches of its uppermost level.
    top: Vec<u32>,
    /// The parts that are left without these.
    below: Vec<u32>,
    /// Number of places that it takes on every ring.
    places: f32,
}

pub(crate) fn of(fabric: &Fabric, level: &[u8]) -> Layout {
    let height = usize::from(level.iter().copied().max().unwrap_or(1).max(1));
    let (parts, roots) = parts(fabric, level, height);
    let places: f32 = roots.iter().map(|&p| parts[p as usize].places).sum::<f32>().max(1.0);
    let mut angle = vec![0f32; level.len()];
    let mut from = 0.0;
    for &root in &roots {
        let to = from + TAU * parts[root as usize].places / places;
        spread(&parts, root, from, to, &mut angle);
        from = to;
    }
    // Rings that hold their switches at a pitch; the level above has no separate sector and is counted itself.
    let share = |l: usize| {
        if height == 1 {
            1.0
        } else {
            CORE + (1.0 - CORE) * (height - l) as f32 / (height - 1) as f32
        }
    };
    let number = |l: usize| level.iter().filter(|&&x| usize::from(x) == l).count();
    let count = |l: usize| number(l) as f32;
    let around = |l: usize| if l == height { count(l) } else { places };
    let radius = (1..=height)
        .map(|l| around(l) * 1.03 * PITCH / (TAU * share(l)))
        .fold(6.0 * PITCH, f32::max);
    let single = count(height) < 2.0 && height > 1;
    let ring = |l: usize| if single && l == height { 0.0 } else { radius * share(l) };
    sort_top(fabric, level, height, &mut angle);
    let at: Vec<Point> =
        (angle.iter().zip(level)).map(|(&a, &l)| Point::polar(a, ring(usize::from(l)))).collect();

    let mut curves = Curves::default();
    for c in cables(fabric) {
        let (a, b) = (fabric.tail(c).index(), fabric.head(c).index());
        curves.push(if level[a] == level[b] {
            // Within a ring: along its inside.
            Curve::Radial { x: 0.0, y: 0.0, r: ring(usize::from(level[a])) * 0.8 }
        } else {
            let r = f32::midpoint(ring(usize::from(level[a])), ring(usize::from(level[b])));
            Curve::Radial { x: 0.0, y: 0.0, r }
        });
    }
    let (curves, curve_of) = curves.into_parts();
    // Subtrees of the top are groups, and the top is one.
    let below: Vec<u32> = roots.iter().flat_map(|&r| parts[r as usize].below.clone()).collect();
    let mut group = vec![0u32; level.len()];
    for (g, &part) in (1..).zip(&below) {
        each(&parts, part, &mut |s| group[s as usize] = g);
    }
    let word = |l: usize, is_one: bool| match (l, is_one) {
        (1, true) => "leaf",
        (1, false) => "leaves",
        (l, _) if l == height && height > 2 => "core",
        (_, true) if height < 4 => "spine",
        (_, false) if height < 4 => "spines",
        (_, true) => "switch",
        (_, false) => "switches",
    };
    // Outside of its ring, and nearer to that than to the next one.
    let above = |l: usize| {
        let gap = if l > 1 { ring(l - 1) - ring(l) } else { f32::INFINITY };
        ring(l) + (2.2 * PITCH).min(0.4 * gap)
    };
    let captions = (1..=height)
        .filter(|&l| count(l) > 0.0)
        .map(|l| Caption {
            text: format!("{} {}", grouped(number(l)), word(l, number(l) == 1)),
            at: Point { x: 0.0, y: -above(l) },
        })
        .collect();
    Layout {
        kind: "rings",
        at,
        group,
        group_word: "subtree",
        groups: below.len() as u32 + 1,
        curves,
        curve_of,
        captions,
        room: PITCH / 2.0,
    }
}

/// With commas between thousands.
fn grouped(n: usize) -> String {
    if n < 1000 { n.to_string() } else { format!("{},{:03}", n / 1000, n % 1000) }
}

/// The connected parts below each level, and those of the whole tree.
fn parts(fabric: &Fabric, level: &[u8], height: usize) -> (Vec<Branch>, Vec<u32>) {
    let n = level.len();
    let mut by_level: Vec<Vec<u32>> = vec![Vec::new(); height + 1];
    for (s, &l) in (0..).zip(level) {
        by_level[usize::from(l).clamp(1, height)].push(s);
    }
    let mut parent: Vec<u32> = (0..n as u32).collect();
    let mut parts: Vec<Branch> = Vec::new();
    // By root of a set, its part of the level before.
    let mut current: Vec<u32> = Vec::new();
    for (l, switches) in by_level.iter().enumerate().skip(1) {
        for &s in switches {
            for c in fabric.channels_from(SwitchId(s)) {
                let v = fabric.heads()[c];
                if usize::from(level[v as usize]) <= l {
                    let (a, b) = (find(&mut parent, s), find(&mut parent, v));
                    parent[a.max(b) as usize] = a.min(b);
                }
            }
        }
        let mut of_root = vec![u32::MAX; n];
        let mut next: Vec<u32> = Vec::new();
        let mut own = |root: u32, parts: &mut Vec<Branch>| {
            let slot = &mut of_root[root as usize];
            if *slot == u32::MAX {
                *slot = parts.len() as u32;
                next.push(*slot);
                parts.push(Branch { top: Vec::new(), below: Vec::new(), places: 0.0 });
            }
            *slot as usize
        };
        for &part in &current {
            let any = first(&parts, part);
            let root = find(&mut parent, any);
            let whole = own(root, &mut parts);
            parts[whole].below.push(part);
        }
        for &s in switches {
            let root = find(&mut parent, s);
            let whole = own(root, &mut parts);
            parts[whole].top.push(s);
        }
        for &whole in &next {
            let below = parts[whole as usize].below.clone();
            let gap = |p: &&u32| if is_single(&parts, **p) { 0.0 } else { GAP };
            let sum: f32 = below.iter().map(|p| parts[*p as usize].places + gap(&p)).sum();
            // The top level has a separate ring that needs no places outside.
            let top =
                if l == height && l > 1 { 0.0 } else { parts[whole as usize].top.len() as f32 };
            parts[whole as usize].places = sum.max(top).max(1.0);
        }
        // Switches without links to this level stay where they are.
        current = next;
    }
    (parts, current)
}

/// Whether it is one switch.
fn is_single(parts: &[Branch], part: u32) -> bool {
    let part = &parts[part as usize];
    match part.below.as_slice() {
        [] => part.top.len() == 1,
        [only] => part.top.is_empty() && is_single(parts, *only),
        _ => false,
    }
}

/// A switch of it.
fn first(parts: &[Branch], part: u32) -> u32 {
    let part = &parts[part as usize];
    part.top.first().copied().unwrap_or_else(|| first(parts, part.below[0]))
}

/// All switches of it.
fn each(parts: &[Branch], part: u32, see: &mut impl FnMut(u32)) {
    let part = &parts[part as usize];
    part.top.iter().for_each(|&s| see(s));
    part.below.iter().for_each(|&p| each(parts, p, see));
}

/// Places a part between two angles.
fn spread(parts: &[Branch], part: u32, from: f32, to: f32, angle: &mut [f32]) {
    let Branch { top, below, places } = &parts[part as usize];
    let step = (to - from) / top.len().max(1) as f32;
    for (i, &s) in top.iter().enumerate() {
        angle[s as usize] = from + step * (i as f32 + 0.5);
    }
    let gap = |p: &u32| if is_single(parts, *p) { 0.0 } else { GAP };
    let sum: f32 = below.iter().map(|p| parts[*p as usize].places + gap(p)).sum();
    // The remaining space lies between them.
    let place = (to - from) / places.max(sum);
    let spare = (places - sum).max(0.0) / below.len().max(1) as f32;
    let mut at = from;
    for &p in below {
        let wide = parts[p as usize].places * place;
        let begin = at + f32::midpoint(gap(&p), spare) * place;
        spread(parts, p, begin, begin + wide, angle);
        at = begin + wide + f32::midpoint(gap(&p), spare) * place;
    }
}

/// Orders the uppermost ring by where its switches' neighbours are, where these are on one side.
fn sort_top(fabric: &Fabric, level: &[u8], height: usize, angle: &mut [f32]) {
    let top: Vec<usize> = (0..level.len()).filter(|&s| usize::from(level[s]) == height).collect();
    if height < 2 || top.len() < 3 {
        return;
    }
    let mut order: Vec<(f32, usize)> = Vec::with_capacity(top.len());
    for &s in &top {
        let (mut x, mut y, mut n) = (0f32, 0f32, 0f32);
        for c in fabric.channels_from(SwitchId::new(s)) {
            let (sin, cos) = angle[fabric.heads()[c] as usize].sin_cos();
            (x, y, n) = (x + cos, y + sin, n + 1.0);
        }
        let length = (x * x + y * y).sqrt();
        let middle = y.atan2(x).rem_euclid(TAU);
        order.push((if length > 0.05 * n { middle } else { angle[s] }, s));
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // A few are turned, so that no cable to the other side passes through one of them and the middle.
    let first = if order.len() <= FEW { 0.25 } else { 0.5 };
    let step = TAU / order.len() as f32;
    for (i, &(_, s)) in order.iter().enumerate() {
        angle[s] = step * (i as f32 + first);
    }
}

fn find(parent: &mut [u32], mut s: u32) -> u32 {
    while parent[s as usize] != s {
        parent[s as usize] = parent[parent[s as usize] as usize];
        s = parent[s as usize];
    }
    s
}
