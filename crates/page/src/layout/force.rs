//! Layout of fabrics without a known structure: springs along cables, repulsion of neighbours, then a separate cell for
//! each.

use std::f32::consts::TAU;

use darkfiber_fabric::{Fabric, SwitchId};

use super::{Curve, Curves, Layout, PITCH, Point, cables};

/// Rounds of pulling and pushing.
const ROUNDS: usize = 90;
/// Side of the cell that each switch has for itself in the end.
const CELL: f32 = 3.0 * PITCH;

pub(crate) fn of(fabric: &Fabric) -> Layout {
    let n = fabric.switch_count();
    let at = settled(&relaxed(fabric));
    let mut curves = Curves::default();
    for _ in cables(fabric) {
        curves.push(Curve::Bow { h: 0.0 });
    }
    let (curves, curve_of) = curves.into_parts();
    Layout {
        kind: "springs",
        at,
        group: vec![0; n],
        group_word: "fabric",
        groups: u32::from(n > 0),
        curves,
        curve_of,
        captions: Vec::new(),
        room: PITCH,
    }
}

/// Places in a disc of about one switch a square unit.
///
/// Complexity: O(rounds x (switches + cables)): pushes reach the next cells of a grid only.
fn relaxed(fabric: &Fabric) -> Vec<Point> {
    let n = fabric.switch_count();
    let radius = (n as f32 / std::f32::consts::PI).sqrt().max(1.0);
    // A sunflower in the order of a breadth-first search begins with neighbours near each other.
    let order = breadth_first(fabric);
    let mut at = vec![Point::default(); n];
    for (i, &s) in order.iter().enumerate() {
        let r = radius * ((i as f32 + 0.5) / n as f32).sqrt();
        at[s] = Point::polar(i as f32 * TAU * 0.381_966, r);
    }
    let mut pull = vec![Point::default(); n];
    for round in 0..ROUNDS {
        pull.fill(Point::default());
        let mut degree = vec![0f32; n];
        for c in cables(fabric) {
            let (a, b) = (fabric.tail(c).index(), fabric.head(c).index());
            let (dx, dy) = (at[b].x - at[a].x, at[b].y - at[a].y);
            pull[a] = pull[a].plus(Point { x: dx, y: dy });
            pull[b] = pull[b].plus(Point { x: -dx, y: -dy });
            degree[a] += 1.0;
            degree[b] += 1.0;
        }
        let push = pushes(&at, radius);
        let warm = 1.0 - round as f32 / ROUNDS as f32;
        for s in 0..n {
            let spring = 0.35 / degree[s].max(1.0);
            let mut x = pull[s].x * spring + push[s].x;
            let mut y = pull[s].y * spring + push[s].y;
            let long = (x * x + y * y).sqrt();
            let most = 0.2 + 2.0 * warm;
            if long > most {
                (x, y) = (x / long * most, y / long * most);
            }
            at[s] = at[s].plus(Point { x, y });
        }
        // The disc keeps its size.
        let mean = at.iter().map(|p| p.x * p.x + p.y * p.y).sum::<f32>() / n.max(1) as f32;
        let by = radius / (2.0 * mean).sqrt().max(1e-3);
        for p in &mut at {
            *p = Point { x: p.x * by, y: p.y * by };
        }
    }
    at
}

/// Repulsion by switches of the same and the neighbouring cells of a grid.
#[expect(clippy::cast_sign_loss, reason = "cells are clamped to the grid")]
fn pushes(at: &[Point], radius: f32) -> Vec<Point> {
    const SIDE: f32 = 3.0;
    let wide = (4.0 * radius / SIDE).ceil() as usize + 3;
    let of = |v: f32| ((v + 2.0 * radius) / SIDE).clamp(0.0, wide as f32 - 1.0) as usize;
    let cell = |p: &Point| of(p.y) * wide + of(p.x);
    // Switches by cell, as rows; a cell that is crowded pushes by its first ones.
    let mut start = vec![0u32; wide * wide + 1];
    for p in at {
        start[cell(p) + 1] += 1;
    }
    for i in 0..wide * wide {
        start[i + 1] += start[i];
    }
    let mut next = start.clone();
    let mut members = vec![0u32; at.len()];
    for (s, p) in (0u32..).zip(at) {
        let slot = &mut next[cell(p)];
        members[*slot as usize] = s;
        *slot += 1;
    }
    (0..at.len())
        .map(|s| {
            let p = at[s];
            let (cx, cy) = (of(p.x), of(p.y));
            let mut sum = Point::default();
            for y in cy.saturating_sub(1)..=(cy + 1).min(wide - 1) {
                for x in cx.saturating_sub(1)..=(cx + 1).min(wide - 1) {
                    let row = start[y * wide + x] as usize..start[y * wide + x + 1] as usize;
                    for &other in members[row].iter().take(24).filter(|&&o| o as usize != s) {
                        let q = at[other as usize];
                        let (mut dx, mut dy) = (p.x - q.x, p.y - q.y);
                        if dx == 0.0 && dy == 0.0 {
                            // Two in one place part by their numbers.
                            dx = if (other as usize) < s { 0.1 } else { -0.1 };
                            dy = 0.05;
                        }
                        let square = (dx * dx + dy * dy).max(0.05);
                        sum = sum.plus(Point { x: dx / square * 0.3, y: dy / square * 0.3 });
                    }
                }
            }
            sum
        })
        .collect()
}

/// Each in a separate cell: the nearest free one on a spiral around its position, those in the middle first.
#[expect(clippy::cast_sign_loss, reason = "cells of the grid have numbers from 0")]
fn settled(at: &[Point]) -> Vec<Point> {
    let n = at.len();
    // Twice as many cells as switches.
    let scale = 2.0f32.sqrt();
    let radius = (n as f32 / std::f32::consts::PI).sqrt().max(1.0);
    let wide = (4.0 * radius * scale).ceil() as i64 + 8;
    let mut taken = vec![false; (wide * wide) as usize];
    let mut order: Vec<usize> = (0..n).collect();
    let far = |p: &Point| p.x * p.x + p.y * p.y;
    order.sort_by(|&a, &b| far(&at[a]).total_cmp(&far(&at[b])).then(a.cmp(&b)));
    let mut placed = at.to_vec();
    for s in order {
        let home = |v: f32| ((v * scale).round() as i64 + wide / 2).clamp(0, wide - 1);
        let (hx, hy) = (home(at[s].x), home(at[s].y));
        let free = (0..wide).find_map(|ring| {
            // The nearest of a square ring, the first of equals.
            let mut best: Option<(f32, i64, i64)> = None;
            for (x, y) in around(hx, hy, ring) {
                let inside = (0..wide).contains(&x) && (0..wide).contains(&y);
                if inside && !taken[(y * wide + x) as usize] {
                    let dx = (x - wide / 2) as f32 - at[s].x * scale;
                    let dy = (y - wide / 2) as f32 - at[s].y * scale;
                    let d = dx * dx + dy * dy;
                    if best.is_none_or(|b| d < b.0) {
                        best = Some((d, x, y));
                    }
                }
            }
            best
        });
        // The grid has more cells than switches, so one is free.
        if let Some((_, x, y)) = free {
            taken[(y * wide + x) as usize] = true;
            // Every second row is moved by half a cell.
            let shift = if y % 2 == 0 { 0.25 } else { -0.25 };
            placed[s] = Point {
                x: ((x - wide / 2) as f32 + shift) * CELL,
                y: (y - wide / 2) as f32 * CELL,
            };
        }
    }
    placed
}

/// The cells of a square ring.
fn around(x: i64, y: i64, ring: i64) -> impl Iterator<Item = (i64, i64)> {
    let side = -ring..=ring;
    let step = if ring == 0 { 1 } else { 2 * ring.unsigned_abs() as usize };
    side.clone().flat_map(move |dy| {
        let inner = if dy.abs() == ring { 1 } else { step };
        (-ring..=ring).step_by(inner).map(move |dx| (x + dx, y + dy))
    })
}

fn breadth_first(fabric: &Fabric) -> Vec<usize> {
    let n = fabric.switch_count();
    let mut seen = vec![false; n];
    let mut order = Vec::with_capacity(n);
    for root in 0..n {
        if seen[root] {
            continue;
        }
        seen[root] = true;
        let mut next = order.len();
        order.push(root);
        while next < order.len() {
            let s = order[next];
            next += 1;
            for c in fabric.channels_from(SwitchId::new(s)) {
                let v = fabric.heads()[c] as usize;
                if !seen[v] {
                    seen[v] = true;
                    order.push(v);
                }
            }
        }
    }
    order
}
