//! Ranks on grids of several dimensions.

/// A grid of ranks, numbered along the last dimension first (row-major, as MPI_Cart_create does).
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) sides: Vec<u32>,
    periodic: bool,
}

impl Grid {
    pub(super) fn new(sides: Vec<u32>, periodic: bool) -> Self {
        Self { sides, periodic }
    }

    /// The most cubic grid of this many ranks: see [`near_cubic`].
    pub(super) fn of(ranks: u32, dimensions: usize, periodic: bool) -> Self {
        Self::new(near_cubic(ranks, dimensions), periodic)
    }

    /// Coordinates of a rank.
    pub(super) fn place(&self, rank: u32) -> Vec<u32> {
        let mut rest = rank;
        let mut place: Vec<u32> = (self.sides.iter().rev())
            .map(|&side| {
                let at = rest % side;
                rest /= side;
                at
            })
            .collect();
        place.reverse();
        place
    }

    /// The rank at a place.
    pub(super) fn rank(&self, place: &[u32]) -> u32 {
        place.iter().zip(&self.sides).fold(0, |r, (&at, &side)| r * side + at)
    }

    /// The rank at this offset in each dimension; `None` beyond an edge, and for the rank itself.
    pub(super) fn on(&self, rank: u32, by: &[i32]) -> Option<u32> {
        let mut place = self.place(rank);
        for ((at, &side), &by) in place.iter_mut().zip(&self.sides).zip(by) {
            let to = i64::from(*at) + i64::from(by);
            let side = i64::from(side);
            let to = if self.periodic { to.rem_euclid(side) } else { to };
            if to < 0 || to >= side {
                return None;
            }
            *at = u32::try_from(to).ok()?;
        }
        let to = self.rank(&place);
        (to != rank).then_some(to)
    }

    /// The ranks that agree with this one in all but the given dimension, in order.
    pub(super) fn line(&self, rank: u32, dimension: usize) -> Vec<u32> {
        let mut place = self.place(rank);
        (0..self.sides[dimension])
            .map(|at| {
                place[dimension] = at;
                self.rank(&place)
            })
            .collect()
    }

    /// All lines along a dimension.
    pub(super) fn lines(&self, dimension: usize) -> Vec<Vec<u32>> {
        let ranks = self.sides.iter().product();
        (0..ranks)
            .filter(|&r| self.place(r)[dimension] == 0)
            .map(|r| self.line(r, dimension))
            .collect()
    }
}

/// Steps to the two neighbours of each dimension.
pub(super) fn faces(dimensions: usize) -> Vec<Vec<i32>> {
    let step = |d: usize, by: i32| (0..dimensions).map(|k| if k == d { by } else { 0 }).collect();
    (0..dimensions).flat_map(|d| [step(d, -1), step(d, 1)]).collect()
}

/// Steps to all 26 that touch a cell of a 3-D grid: faces, edges and corners.
pub(super) fn touching() -> Vec<Vec<i32>> {
    (0..27).filter(|&k| k != 13).map(|k| vec![k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1]).collect()
}

/// Factors of n as equal as possible, in falling order: the requirement of MPI_Dims_create (MPI 4.0, section 8.5.2:
/// "as close to each other as possible"). Here the largest is minimized, then the next.
pub(super) fn near_cubic(n: u32, dimensions: usize) -> Vec<u32> {
    factors(n, dimensions, n).unwrap_or_else(|| vec![n])
}

/// This number of factors, none above `most`.
fn factors(n: u32, dimensions: usize, most: u32) -> Option<Vec<u32>> {
    if dimensions <= 1 {
        return (n <= most).then(|| vec![n]);
    }
    // The largest factor is at least the root.
    let root = f64::from(n).powf(1.0 / dimensions as f64) * (1.0 - 1e-9);
    let large = (1..=most.min(n)).filter(|&d| f64::from(d) >= root && n.is_multiple_of(d));
    large.into_iter().find_map(|d| {
        let rest = factors(n / d, dimensions - 1, d)?;
        Some([vec![d], rest].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_near_cubic() {
        for (n, d, sides) in [
            (56, 3, vec![7, 4, 2]),
            (672, 3, vec![12, 8, 7]),
            (1152, 2, vec![36, 32]),
            (64, 3, vec![4, 4, 4]),
            (32, 4, vec![4, 2, 2, 2]),
            (24, 3, vec![4, 3, 2]),
            (13, 2, vec![13, 1]),
            (1, 3, vec![1, 1, 1]),
        ] {
            assert_eq!(near_cubic(n, d), sides, "{n}");
        }
        for n in 1..300 {
            for d in 1..5 {
                let sides = near_cubic(n, d);
                assert_eq!((sides.len(), sides.iter().product::<u32>()), (d, n));
                assert!(sides.is_sorted_by(|a, b| a >= b), "{sides:?}");
            }
        }
    }

    #[test]
    fn steps_and_lines() {
        let grid = Grid::of(24, 3, false);
        assert_eq!(grid.sides, [4, 3, 2]);
        assert_eq!(grid.on(0, &[0, 0, 1]), Some(1));
        assert_eq!(grid.on(0, &[1, 0, 0]), Some(6));
        assert_eq!(grid.on(0, &[-1, 0, 0]), None);
        assert_eq!(Grid::of(24, 3, true).on(0, &[-1, 0, 0]), Some(18));
        assert_eq!(grid.line(7, 1), [7, 9, 11]);
        assert_eq!(grid.lines(0).len(), 6);
        assert_eq!((faces(3).len(), touching().len()), (6, 26));
    }
}
