//! HyperX, tori and meshes as lattices: two dimensions are a grid, each further one places tiles in a row.

use darkfiber_fabric::{Fabric, GridShape, SwitchId};

use super::{Caption, Curve, Curves, Layout, Point, cables};

/// Distance between neighbours.
const STEP: f32 = 36.0;
/// Between tiles, in steps.
const BETWEEN: f32 = 1.8;
/// Room of a caption, as a part of the longer side.
const ROOM: f32 = 0.032;

pub(crate) fn of(fabric: &Fabric, grid: &GridShape) -> Layout {
    // Long dimensions come first, so that the grid is wider than high.
    let mut order: Vec<usize> = (0..grid.dims.len()).collect();
    order.sort_by_key(|&d| (std::cmp::Reverse(grid.dims[d]), d));
    let strides = strides(grid, &order);
    let n = fabric.switch_count();
    let at: Vec<Point> = (0..n)
        .map(|s| {
            let at = grid.at(SwitchId::new(s));
            let mut p = Point::default();
            for (i, &d) in order.iter().enumerate() {
                let by = strides[i] * f32::from(at[d]);
                if is_across(i) { p.x += by } else { p.y += by }
            }
            p
        })
        .collect();
    // Rows along the first dimension.
    let mut group = vec![0u32; n];
    for (s, group) in group.iter_mut().enumerate() {
        let at = grid.at(SwitchId::new(s));
        let along = order.first().copied();
        let others = (0..grid.dims.len()).filter(|d| Some(*d) != along);
        *group = others.fold(0, |sum, d| sum * u32::from(grid.dims[d]) + u32::from(at[d]));
    }
    let groups = group.iter().max().map_or(0, |most| most + 1);

    let mut curves = Curves::default();
    for c in cables(fabric) {
        let (a, b) = (fabric.tail(c), fabric.head(c));
        curves.push(Curve::Bow { h: bow(grid, &order, a, b) });
    }
    let (curves, curve_of) = curves.into_parts();
    Layout {
        kind: "lattice",
        at,
        group,
        group_word: "row",
        groups,
        curves,
        curve_of,
        captions: captions(grid, &order, &strides),
        room: STEP * 0.28,
    }
}

/// Dimensions are across, down, across, down, ...
fn is_across(i: usize) -> bool {
    i.is_multiple_of(2)
}

/// Lengths of one step in each dimension of `order`.
fn strides(grid: &GridShape, order: &[usize]) -> Vec<f32> {
    let mut strides = Vec::with_capacity(order.len());
    let mut side = [STEP, STEP];
    for (i, &d) in order.iter().enumerate() {
        let along = &mut side[i % 2];
        strides.push(*along);
        *along = *along * f32::from(grid.dims[d].max(1)) + BETWEEN * STEP;
    }
    strides
}

/// Distance of a cable's curve from the straight line: rows bow downward, columns to the right, and long ones more, so that
/// those of one line lie next to each other and do not reach the next line.
fn bow(grid: &GridShape, order: &[usize], a: SwitchId, b: SwitchId) -> f32 {
    let (at, to) = (grid.at(a), grid.at(b));
    let mut differ = order.iter().enumerate().filter(|&(_, &d)| at[d] != to[d]);
    let (Some((i, &d)), None) = (differ.next(), differ.next()) else {
        return 0.0;
    };
    let span = at[d].abs_diff(to[d]);
    if span < 2 && i < 2 {
        return 0.0;
    }
    let most = f32::from(grid.dims[d].max(3) - 1);
    let high =
        STEP * (0.1 + 0.72 * ((f32::from(span) - 1.0).max(0.3) / (most - 1.0).max(1.0)).powf(0.8));
    let forward = if at[d] < to[d] { 1.0 } else { -1.0 };
    // To the right of the direction: down from left to right, and left from top to bottom.
    if is_across(i) { high * forward } else { -high * forward }
}

/// Captions along the first row and column, and of tiles by each further dimension, whose letter is with its first one.
fn captions(grid: &GridShape, order: &[usize], strides: &[f32]) -> Vec<Caption> {
    const CAPTIONS: u16 = 12;
    let mut captions = Vec::new();
    let lengths = order.iter().zip(strides).map(|(&d, stride)| stride * f32::from(grid.dims[d]));
    let room = lengths.fold(STEP, f32::max) * ROOM;
    for (i, &d) in order.iter().enumerate() {
        #[expect(clippy::cast_sign_loss, reason = "lengths are not below zero")]
        let apart = (room / strides[i]).ceil() as u16;
        let every = grid.dims[d].div_ceil(CAPTIONS).max(apart).max(1);
        // Tiles have theirs beyond those of what is in them, over their middle.
        let level = (i / 2) as f32;
        let inside = if i < 2 { 0.0 } else { strides[i] - BETWEEN * STEP - STEP };
        for x in (0..grid.dims[d]).step_by(usize::from(every)) {
            let along = strides[i] * f32::from(x) + inside / 2.0;
            let at = if is_across(i) {
                Point { x: along, y: -STEP * 0.4 - room * (0.4 + level) }
            } else {
                let x = -STEP * 0.4 - room * (0.6 + 1.5 * level);
                Point { x, y: along + room * 0.25 }
            };
            let text = if x == 0 { format!("{} 0", letter(d)) } else { x.to_string() };
            captions.push(Caption { text, at });
        }
    }
    captions
}

/// What a dimension is called on the map.
fn letter(d: usize) -> String {
    ["x", "y", "z", "w"].get(d).map_or_else(|| format!("d{}", d + 1), |&name| name.to_owned())
}
