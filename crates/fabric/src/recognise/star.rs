//! Opposite pairs among the neighbours of a switch.

use std::cmp::Reverse;

use super::net::Net;

/// Most neighbours of a switch that are looked at: twelve dimensions.
pub(super) const MOST_NEIGHBOURS: usize = 24;

/// For any two neighbours of a switch, whether they have another neighbour in common: the fourth corner of
/// a square. In a lattice all have but those that are opposite each other; damage only takes squares away.
pub(super) struct Squares {
    /// Per switch and neighbour, the neighbours with which it spans a square, a bit each.
    rows: Vec<Vec<u32>>,
}

impl Squares {
    /// # Errors
    /// If a switch has too many neighbours for a lattice.
    pub(super) fn new(net: &Net<'_>) -> Result<Self, String> {
        let all = 0..net.len() as u32;
        let most = all.clone().map(|s| net.degree(s)).max().unwrap_or(0);
        if most > MOST_NEIGHBOURS {
            return Err(format!("a switch has {most} neighbours"));
        }
        let (mut pairs, mut none, mut several) = (0usize, 0, 0);
        let mut rows = Vec::with_capacity(net.len());
        for s in all {
            let near = net.neighbours(s);
            let mut row = vec![0u32; near.len()];
            for (i, &v) in near.iter().enumerate() {
                for (j, &x) in near.iter().enumerate().skip(i + 1) {
                    let corners = net.common(v, x).filter(|&w| w != s).take(2).count();
                    if corners > 0 {
                        row[i] |= 1 << j;
                        row[j] |= 1 << i;
                    }
                    none += usize::from(corners == 0);
                    several += usize::from(corners == 2);
                }
            }
            pairs += near.len() * near.len().saturating_sub(1) / 2;
            rows.push(row);
        }
        // Each neighbour is opposite one other; a quarter of the other squares may be lost.
        let ends: usize = rows.iter().map(Vec::len).sum();
        if none * 2 > ends + pairs / 2 || several * 10 > pairs {
            return Err(format!(
                "of {pairs} pairs of cables at a switch {none} are in no square and {several} in several"
            ));
        }
        Ok(Self { rows })
    }

    /// Per neighbour of a switch, whether it spans a square with neighbour `v`.
    pub(super) fn with(&self, net: &Net<'_>, s: u32, v: u32) -> impl Iterator<Item = (u32, bool)> {
        let near = net.neighbours(s);
        let row = near.binary_search(&v).map_or(0, |i| self.rows[s as usize][i]);
        near.iter().enumerate().map(move |(j, &x)| (x, row >> j & 1 == 1))
    }
}

/// A switch and its neighbours, of which each is opposite one other or none: an axis for each dimension.
pub(super) struct Star {
    pub(super) centre: u32,
    /// One or two opposite neighbours, for each dimension.
    pub(super) axes: Vec<(u32, Option<u32>)>,
}

impl Star {
    /// The stars of all switches that have one, those with most neighbours and most opposite ones first.
    pub(super) fn all(net: &Net<'_>, squares: &Squares) -> Vec<Self> {
        let around = |s: u32| Self::around(net, squares, s);
        let mut stars: Vec<Self> = (0..net.len() as u32).filter_map(around).collect();
        let opposite = |star: &Self| star.axes.iter().filter(|a| a.1.is_some()).count();
        stars.sort_by_key(|star| Reverse((net.degree(star.centre), opposite(star))));
        stars
    }

    fn around(net: &Net<'_>, squares: &Squares, centre: u32) -> Option<Self> {
        let mut axes = Vec::new();
        for &v in net.neighbours(centre) {
            let others = squares.with(net, centre, v);
            let mut opposite = others.filter(|&(x, square)| x != v && !square).map(|o| o.0);
            match (opposite.next(), opposite.next()) {
                (_, Some(_)) => return None,
                (Some(x), None) if x < v => {}
                (other, None) => axes.push((v, other)),
            }
        }
        (!axes.is_empty()).then_some(Self { centre, axes })
    }
}
