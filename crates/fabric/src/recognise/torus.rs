//! Tori and meshes.
//!
//! Opposite sides of a cycle of four are parallel, and so point the same way. What these join is the cables
//! between two neighbouring layers, with a direction. Two such bundles that meet in many switches and never
//! span a cycle of four follow each other in one dimension. Positions then add up along any way; where they
//! do not, a ring has closed, which tells its size. Rings of four are two dimensions of two by this
//! (they are the same graph) and are put together at the end.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::{GridKind, GridShape, Shape};

use super::bundles::Bundles;
use super::net::Net;
use super::room::Room;
use super::{Found, lattice};

/// Most neighbours of a switch: twelve dimensions.
const MOST_NEIGHBOURS: usize = 24;
/// Marks a switch without a position.
pub(super) const NOWHERE: i32 = i32::MIN;

/// A (damaged) torus or mesh.
pub(super) fn find(net: &Net<'_>) -> Result<Found, String> {
    let most = (0..net.len() as u32).map(|s| net.degree(s)).max().unwrap_or(0);
    if most > MOST_NEIGHBOURS {
        return Err(format!("a switch has {most} neighbours"));
    }
    if most <= 2 {
        return Steps::along(net).found(net, 2);
    }
    let bundles = Bundles::new(net)?;
    let mut first = None;
    for &few in bundles.thresholds() {
        let steps = bundles.clone().group(net, few);
        for close in [2, 6] {
            match steps.found(net, close) {
                Ok(found) => return Ok(found),
                Err(why) => {
                    first.get_or_insert(why);
                }
            }
        }
    }
    Err(first.unwrap_or_default())
}

/// What each cable does to the position.
pub(super) struct Steps {
    pub(super) dimensions: usize,
    /// Per pair of neighbours the dimension, and whether the way from the lower number to the higher goes
    /// back in it.
    pub(super) step: Vec<Option<(usize, bool)>>,
    /// Per pair of neighbours how many are parallel to it, and speak for its dimension.
    pub(super) trust: Vec<u32>,
}

type Grid = (GridKind, Vec<u16>, Vec<Vec<u16>>);

impl Steps {
    /// One row or ring, from one end to the other.
    fn along(net: &Net<'_>) -> Self {
        let mut step = vec![None; net.edges.len()];
        let end = (0..net.len() as u32).find(|&s| net.degree(s) == 1).unwrap_or(0);
        let mut at = end;
        while let Some((v, e)) = net.incident(at).find(|&(_, e)| step[e].is_none()) {
            step[e] = Some((0, v < at));
            at = v;
        }
        Self { dimensions: 1, trust: vec![1; step.len()], step }
    }

    /// The lattice, if the steps make one; a ring closes where every `close`-th of its lines does.
    fn found(&self, net: &Net<'_>, close: usize) -> Result<Found, String> {
        let (kind, dims, columns) = self.coordinates(net, close)?;
        // A ring of three is a line of a HyperX.
        let same = kind == GridKind::Torus && dims.iter().all(|&d| d <= 3);
        let kind = if same { GridKind::HyperX } else { kind };
        let coords = (0..net.len()).flat_map(|s| columns.iter().map(move |c| c[s])).collect();
        let shape = GridShape { kind, dims, coords };
        let fit = lattice::compare(net, &shape)?.accept()?;
        let word = match kind {
            GridKind::HyperX => "HyperX",
            GridKind::Torus => "torus",
            GridKind::Mesh => "mesh",
        };
        let text = match shape.dims.as_slice() {
            [n] if kind == GridKind::Torus => format!("ring of {n} switches"),
            [n] => format!("row of {n} switches"),
            dims => format!("{} {word}", lattice::by(dims)),
        };
        Ok(Found { shape: Shape::Grid(shape), text, fit })
    }

    /// Positions from one switch, where steps of certain direction lead, by the most trusted ones.
    fn positions(&self, net: &Net<'_>) -> Vec<i32> {
        let k = self.dimensions;
        let mut at = vec![NOWHERE; net.len() * k];
        // Prim's algorithm: a tree of steps, the most trusted of those that lead on first.
        let mut ahead = BinaryHeap::new();
        let first = (0..net.edges.len())
            .filter(|&e| self.step[e].is_some())
            .max_by_key(|&e| (self.trust[e], Reverse(e)));
        let mut reached = first.map(|e| (net.edges[e].0, vec![0; k]));
        while let Some((s, position)) = reached {
            let to = s as usize * k;
            if at[to] == NOWHERE {
                at[to..to + k].copy_from_slice(&position);
                for (v, e) in net.incident(s) {
                    if self.step[e].is_some() && at[v as usize * k] == NOWHERE {
                        ahead.push((self.trust[e], Reverse((e, s, v))));
                    }
                }
            }
            reached = ahead.pop().map(|(_, Reverse((e, s, v)))| {
                let mut position = at[s as usize * k..(s as usize + 1) * k].to_vec();
                if let Some((d, back)) = self.step[e] {
                    position[d] += if (s < v) ^ back { 1 } else { -1 };
                }
                (v, position)
            });
        }
        at
    }

    /// Kind, sizes from large to small, and a column of coordinates for each.
    fn coordinates(&self, net: &Net<'_>, close: usize) -> Result<Grid, String> {
        let k = self.dimensions;
        if k == 0 {
            return Err("its cables have no common directions".to_owned());
        }
        let mut at = self.positions(net);
        let ring = self.rings(net, &at, close);
        let (mut size, mut low) = (vec![0; k], vec![0; k]);
        for d in 0..k {
            let all = || at.iter().skip(d).step_by(k).copied().filter(|&x| x != NOWHERE);
            low[d] = all().min().unwrap_or(0);
            size[d] = ring[d].unwrap_or_else(|| all().max().unwrap_or(0) - low[d] + 1);
        }
        if size.contains(&1) {
            return Err("a direction of cables leads nowhere".to_owned());
        }
        let places = size.iter().fold(1u64, |n, &d| n.saturating_mul(d.unsigned_abs().into()));
        super::fit::Fit::worth(places, net.len())?;
        for x in at.chunks_mut(k).filter(|x| x[0] != NOWHERE) {
            for d in 0..k {
                x[d] = (x[d] - low[d]).rem_euclid(size[d]);
            }
        }
        Room { size: &size, ring: &ring }.fill(net, &mut at)?;

        let rings = (0..k).filter(|&d| ring[d].is_some()).count();
        let rows = (0..k).filter(|&d| ring[d].is_none() && size[d] > 2).count();
        let kind = match (rings, rows) {
            (0, _) => GridKind::Mesh,
            (_, 0) => GridKind::Torus,
            _ => return Err(format!("{rings} dimensions are rings and {rows} are rows")),
        };
        let column = |d: usize| -> Vec<u16> {
            at.iter().skip(d).step_by(k).map(|&x| x.unsigned_abs() as u16).collect()
        };
        let mut columns: Vec<(u16, Vec<u16>)> = Vec::new();
        let mut half: Option<Vec<u16>> = None;
        for d in 0..k {
            let size = u16::try_from(size[d]).map_err(|_| "too many coordinates")?;
            if kind == GridKind::Mesh || size > 2 {
                columns.push((size, column(d)));
            } else if let Some(other) = half.take() {
                // Around a ring of four: 00, 01, 11, 10.
                let both = other.iter().zip(column(d)).map(|(&a, b)| 2 * a + (a ^ b));
                columns.push((4, both.collect()));
            } else {
                half = Some(column(d));
            }
        }
        columns.extend(half.map(|column| (2, column)));
        columns.sort_by_key(|(size, _)| Reverse(*size));
        let (dims, columns) = columns.into_iter().unzip();
        Ok((kind, dims, columns))
    }

    /// The size of each dimension that is a ring: how far positions are off where it closes.
    fn rings(&self, net: &Net<'_>, at: &[i32], close: usize) -> Vec<Option<i32>> {
        let k = self.dimensions;
        let mut off: Vec<BTreeMap<i32, usize>> = vec![BTreeMap::new(); k];
        for (e, &(s, v)) in net.edges.iter().enumerate() {
            let (from, to) = (s as usize * k, v as usize * k);
            let Some((dimension, back)) = self.step[e] else { continue };
            if at[from] == NOWHERE {
                continue;
            }
            for (d, off) in off.iter_mut().enumerate() {
                let step = match (d == dimension, back) {
                    (false, _) => 0,
                    (true, false) => 1,
                    (true, true) => -1,
                };
                let gap = (at[to + d] - at[from + d] - step).abs();
                if gap > 0 {
                    *off.entry(gap).or_default() += 1;
                }
            }
        }
        off.into_iter()
            .map(|off| {
                off.into_iter()
                    .filter(|&(gap, count)| {
                        gap > 2 && gap.unsigned_abs() as usize * count * close >= net.len()
                    })
                    .max_by_key(|&(gap, count)| (count, Reverse(gap)))
                    .map(|(gap, _)| gap)
            })
            .collect()
    }
}
