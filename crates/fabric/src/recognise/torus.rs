//! Recognition of tori and meshes.
//!
//! Positions are grown from a switch whose neighbours determine the axes (see `growth`), from another one wherever
//! the result is no lattice. Cables between two switches that are not next to each other by these positions show
//! which dimensions are rings, and their sizes. Rings of four appear as two dimensions of two (they are the same
//! graph) and are combined at the end.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::{GridKind, GridShape, Shape};

use super::fit::Fit;
use super::found::RecognizedStructure;
use super::frame::Frame;
use super::growth::Growth;
use super::net::{Net, typical};
use super::star::{Squares, Star};
use super::{hyperx, lattice};

/// Most stars that are tried, and switches that are placed by that, whichever is less.
const TRIES: (usize, usize) = (64, 200_000);
/// Most lattices that are compared before one with cables too many is believed, and switches in these.
const DOUBTS: (usize, usize) = (64, 40_000);

/// A (damaged) torus or mesh.
pub(super) fn find(net: &Net<'_>) -> Result<RecognizedStructure, String> {
    let squares = Squares::new(net)?;
    let mut first = None;
    let mut best: Option<RecognizedStructure> = None;
    let mut doubts = 0;
    let most = |(most, switches): (usize, usize)| (switches / net.len().max(1)).clamp(3, most);
    for star in Star::all(net, &squares).into_iter().take(most(TRIES)) {
        let Some(growth) = Growth::of(net, &squares, &star) else { continue };
        let grown = Grown { net, growth: &growth };
        match grown.found(2).or_else(|why| grown.found(6).map_err(|_| why)) {
            Ok(found) if found.fit.extra.is_empty() => return Ok(found),
            Ok(found) => {
                doubts += 1;
                if best.as_ref().is_none_or(|best| found.fit.off() < best.fit.off()) {
                    best = Some(found);
                }
            }
            Err(why) => {
                first.get_or_insert(why);
            }
        }
        if doubts >= most(DOUBTS) {
            break;
        }
    }
    best.ok_or_else(|| first.unwrap_or_else(|| "no switch tells directions of cables".to_owned()))
}

/// Positions in a lattice of unknown size.
struct Grown<'a> {
    net: &'a Net<'a>,
    growth: &'a Growth<'a>,
}

/// Maximum number of layers that are removed from the ends of a mesh.
const TRIMS: usize = 8;

type Grid = (GridKind, Vec<u16>, Vec<Vec<u16>>);

impl Grown<'_> {
    /// The lattice, if the positions make one; a ring closes where every `close`-th of its lines does.
    fn found(&self, close: usize) -> Result<RecognizedStructure, String> {
        let (net, (kind, dims, columns)) = (self.net, self.coordinates(close)?);
        // A ring of three is a line of a HyperX, and so is a row of two.
        let same = match kind {
            GridKind::Torus => dims.iter().all(|&d| d <= 3),
            _ => dims.iter().all(|&d| d <= 2),
        };
        let kind = if same { GridKind::HyperX } else { kind };
        let coords = (0..net.len()).flat_map(|s| columns.iter().map(move |c| c[s])).collect();
        let shape = GridShape { kind, dims, coords };
        let fit = lattice::compare(net, &shape)?.accept()?;
        let text = match (kind, shape.dims.as_slice()) {
            (GridKind::HyperX, dims) => hyperx::text(dims),
            (GridKind::Torus, [n]) => format!("ring of {n} switches"),
            (GridKind::Mesh, [n]) => format!("row of {n} switches"),
            (GridKind::Torus, dims) => format!("{} torus", lattice::by(dims)),
            (GridKind::Mesh, dims) => format!("{} mesh", lattice::by(dims)),
        };
        Ok(RecognizedStructure { shape: Shape::Grid(shape), text, fit })
    }

    /// Kind, sizes from large to small, and a column of coordinates for each.
    fn coordinates(&self, close: usize) -> Result<Grid, String> {
        let k = self.growth.frame.dimensions();
        let ring = self.rings(close);
        let (low, size): (Vec<i32>, Vec<i32>) = self.extent(&ring).into_iter().unzip();
        if size.iter().any(|&size| size < 2) {
            return Err("a direction of cables leads nowhere".to_owned());
        }
        Fit::worth(places(&size), self.net.len())?;
        let sizes = size.iter().map(|&d| d.unsigned_abs().into()).collect();
        let frame = Frame::new(sizes, ring.iter().map(Option::is_some).collect());
        let settled = self.growth.settle(frame.ok_or("too many places")?, &low);
        let at: Vec<Vec<i32>> =
            (0..self.net.len() as u32).filter_map(|s| settled.coordinates(s)).collect();
        if settled.lost() > 0 {
            return Err(format!("{} switches have no place in the lattice", settled.lost()));
        }

        // Around a ring of four the coordinates in two dimensions of two are 00, 01, 11, 10.
        let mut parts: Vec<(u16, bool, Vec<u16>)> = Vec::new();
        for d in 0..k {
            let column: Vec<u16> = at.iter().map(|x| x[d].unsigned_abs() as u16).collect();
            if ring[d] == Some(4) {
                parts.push((2, false, column.iter().map(|x| x / 2).collect()));
                parts.push((2, false, column.iter().map(|x| (x / 2) ^ (x % 2)).collect()));
            } else {
                let size = u16::try_from(size[d]).map_err(|_| "too many coordinates")?;
                parts.push((size, ring[d].is_some(), column));
            }
        }
        let rings = parts.iter().filter(|p| p.1).count();
        let rows = parts.iter().filter(|p| !p.1 && p.0 > 2).count();
        let kind = match (rings, rows) {
            (0, _) => GridKind::Mesh,
            (_, 0) => GridKind::Torus,
            _ => return Err(format!("{rings} dimensions are rings and {rows} are rows")),
        };
        let mut columns: Vec<(u16, Vec<u16>)> = Vec::new();
        let mut half: Option<Vec<u16>> = None;
        for (size, _, column) in parts {
            if kind == GridKind::Mesh || size > 2 {
                columns.push((size, column));
            } else if let Some(other) = half.take() {
                let both = other.iter().zip(column).map(|(&a, b)| 2 * a + (a ^ b));
                columns.push((4, both.collect()));
            } else {
                half = Some(column);
            }
        }
        columns.extend(half.map(|column| (2, column)));
        columns.sort_by_key(|(size, _)| Reverse(*size));
        let (dims, columns) = columns.into_iter().unzip();
        Ok((kind, dims, columns))
    }

    /// The first layer of each dimension, and how many there are. A layer with few switches at an end is of
    /// switches in a wrong place: as long as too much would be vacant the emptiest goes.
    fn extent(&self, ring: &[Option<i32>]) -> Vec<(i32, i32)> {
        let at: Vec<Vec<i32>> =
            (0..self.net.len() as u32).filter_map(|s| self.growth.coordinates(s)).collect();
        let mut extent: Vec<(i32, i32)> = Vec::with_capacity(ring.len());
        for (d, ring) in ring.iter().enumerate() {
            let mut layers: BTreeMap<i32, u32> = BTreeMap::new();
            for x in &at {
                *layers.entry(x[d]).or_default() += 1;
            }
            let usual = typical(layers.values().copied());
            layers.retain(|_, switches| *switches * 4 >= usual);
            let ends = layers.first_key_value().zip(layers.last_key_value());
            let (first, last) = ends.map_or((0, 0), |(first, last)| (*first.0, *last.0));
            extent.push((first, ring.unwrap_or(last - first + 1)));
        }
        for _ in 0..TRIMS {
            let size: Vec<i32> = extent.iter().map(|e| e.1).collect();
            let places = places(&size);
            if places < self.net.len() as u64 || Fit::worth(places, self.net.len()).is_ok() {
                break;
            }
            let inside = |x: &&Vec<i32>| {
                let all = x.iter().zip(&extent).zip(ring);
                all.into_iter().all(|((x, (low, size)), ring)| {
                    ring.is_some() || (*low..low + size).contains(x)
                })
            };
            let ends = (0..ring.len()).filter(|&d| ring[d].is_none()).flat_map(|d| {
                let (low, size) = extent[d];
                [(low, d), (low + size - 1, d)]
            });
            let emptiest = ends.min_by_key(|&(layer, d)| {
                let switches = at.iter().filter(inside).filter(|x| x[d] == layer).count() as u64;
                switches * 1000 * u64::from(extent[d].1.unsigned_abs()) / places
            });
            let Some((layer, d)) = emptiest else { break };
            let (low, size) = extent[d];
            extent[d] = (low + i32::from(layer == low), size - 1);
        }
        extent
    }

    /// The size of each dimension that is a ring: by how much the ends of a cable of it, or of one next to
    /// it, are apart where it closes.
    fn rings(&self, close: usize) -> Vec<Option<i32>> {
        let (net, k) = (self.net, self.growth.frame.dimensions());
        let mut off: Vec<BTreeMap<i32, usize>> = vec![BTreeMap::new(); k];
        for &(s, v) in &net.edges {
            let [s, v] = [s, v].map(|s| self.growth.coordinates(s));
            let (Some(s), Some(v)) = (s, v) else { continue };
            let mut apart: Vec<(i32, usize)> =
                (0..k).map(|d| ((s[d] - v[d]).abs(), d)).filter(|a| a.0 > 0).collect();
            apart.sort_unstable();
            let (gap, d) = match apart[..] {
                [(gap, d)] => (gap + 1, d),
                [(1, _), (gap, d)] => (gap, d),
                _ => continue,
            };
            if gap > 2 {
                *off[d].entry(gap).or_default() += 1;
            }
        }
        off.into_iter()
            .map(|off| {
                off.into_iter()
                    .filter(|&(gap, count)| {
                        gap.unsigned_abs() as usize * count * close >= net.len()
                    })
                    .max_by_key(|&(gap, count)| (count, Reverse(gap)))
                    .map(|(gap, _)| gap)
            })
            .collect()
    }
}

/// Positions in a lattice of this size.
fn places(size: &[i32]) -> u64 {
    size.iter().fold(1, |n: u64, d| n.saturating_mul(d.unsigned_abs().into()))
}
