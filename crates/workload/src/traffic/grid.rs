//! Ranks on grids of several dimensions.

use crate::near_cubic::near_cubic;

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

#[cfg(test)]
mod tests {
    use super::*;

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
