//! HyperX, tori and meshes as lattices: two dimensions are a grid. A third one places tiles in rows, to and fro, so that neighbours are
//! next to each other; each further one places tiles in a row.

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
    let rows = TileRows::of(grid, &order);
    let n = fabric.switch_count();
    let at: Vec<Point> = (0..n)
        .map(|s| {
            let at = grid.at(SwitchId::new(s));
            let mut p = Point::default();
            for (i, &d) in order.iter().enumerate() {
                let by = strides[i] * f32::from(at[d]);
                match rows.filter(|_| i == 2) {
                    Some(rows) => p = p.plus(rows.place(at[d])),
                    None if is_across(i) => p.x += by,
                    None => p.y += by,
                }
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
        captions: captions(grid, &order, &strides, rows),
        room: STEP * 0.28,
    }
}

/// Rows of tiles, where there are three dimensions.
#[derive(Clone, Copy)]
struct TileRows {
    /// Tiles of a row.
    columns: u16,
    /// Distances of tiles across and down.
    apart: Point,
}

impl TileRows {
    /// Those that make the longer side of the map as short as can be.
    fn of(grid: &GridShape, order: &[usize]) -> Option<Self> {
        let &[x, y, z] = order else { return None };
        let side = |d: usize| (f32::from(grid.dims[d]) + BETWEEN) * STEP;
        let apart = Point { x: side(x), y: side(y) };
        let tiles = grid.dims[z].max(1);
        let longer = |&columns: &u16| {
            let rows = tiles.div_ceil(columns);
            (f32::from(columns) * apart.x).max(f32::from(rows) * apart.y)
        };
        let columns = (1..=tiles).min_by(|a, b| longer(a).total_cmp(&longer(b)))?;
        Some(Self { columns, apart })
    }

    /// Row and column of a tile: every other row goes backwards.
    fn at(self, tile: u16) -> (u16, u16) {
        let (row, i) = (tile / self.columns, tile % self.columns);
        (row, if row.is_multiple_of(2) { i } else { self.columns - 1 - i })
    }

    fn place(self, tile: u16) -> Point {
        let (row, column) = self.at(tile);
        Point { x: f32::from(column) * self.apart.x, y: f32::from(row) * self.apart.y }
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
fn captions(
    grid: &GridShape,
    order: &[usize],
    strides: &[f32],
    rows: Option<TileRows>,
) -> Vec<Caption> {
    const CAPTIONS: u16 = 12;
    let mut captions = Vec::new();
    let side = |i: usize| strides[i] * f32::from(grid.dims[order[i]]);
    let all: Vec<f32> = match rows {
        Some(rows) => {
            let tiles = grid.dims[order[2]];
            let down = f32::from(tiles.div_ceil(rows.columns)) * rows.apart.y;
            vec![f32::from(rows.columns.min(tiles)) * rows.apart.x, down]
        }
        None => (0..order.len()).map(side).collect(),
    };
    let room = all.into_iter().fold(STEP, f32::max) * ROOM;
    for (i, &d) in order.iter().enumerate() {
        let of_tiles = rows.filter(|_| i == 2);
        #[expect(clippy::cast_sign_loss, reason = "lengths are not below zero")]
        let apart = (room / strides[i]).ceil() as u16;
        let every = if of_tiles.is_some() { 1 } else { grid.dims[d].div_ceil(CAPTIONS) };
        // Tiles have theirs beyond those of what is in them, over their middle.
        let level = (i / 2) as f32;
        let inside = if i < 2 { 0.0 } else { strides[i] - BETWEEN * STEP - STEP };
        for x in (0..grid.dims[d]).step_by(usize::from(every.max(apart).max(1))) {
            let along = strides[i] * f32::from(x) + inside / 2.0;
            let at = if let Some(rows) = of_tiles {
                let first_row = rows.at(x).0 == 0;
                let above = if first_row { 0.4 * STEP + room * 1.4 } else { 0.5 * STEP };
                rows.place(x).plus(Point { x: inside / 2.0, y: -above })
            } else if is_across(i) {
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
