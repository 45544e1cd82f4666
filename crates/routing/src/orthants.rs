//! Halves and orthants of a lattice, on which PARX's rules, its LID choice and its LID blocks are
//! defined.

use darkfiber_fabric::{GridShape, SwitchId};

/// Every dimension of a lattice cut in two halves, and the `2^n` orthants (in two dimensions: quadrants) that
/// this makes.
///
/// The lower half of a dimension of `size` are the coordinates `x` with `2 x < size`, so that of an odd size
/// it is the larger one. Dimensions of one coordinate have no halves and are not counted.
/// Orthants are numbered in the order of the reflected Gray code, the first dimension
/// most significant: neighbours in number differ in one half. In two dimensions that are the quadrants of
/// Domke et al., "HyperX Topology: First At-Scale Implementation and Comparison to the Fat-Tree", SC'19, figure
/// 3: 0 left top, 1 left bottom, 2 right bottom, 3 right top; dimension 0 goes from left to right, dimension
/// 1 from top to bottom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orthants {
    dimensions: usize,
    /// By switch: bit `k` is set in the upper half of dimension `k`.
    sides: Vec<u32>,
}

impl Orthants {
    /// Most dimensions that are cut: a port would need more than 32 LIDs for more.
    pub const MOST_DIMENSIONS: usize = 10;

    /// The orthants of a lattice; `None` if it has no dimension or more to cut than [`Self::MOST_DIMENSIONS`].
    pub fn new(grid: &GridShape) -> Option<Self> {
        let mut cut: Vec<usize> = (0..grid.dims.len()).filter(|&k| grid.dims[k] > 1).collect();
        if cut.is_empty() && !grid.dims.is_empty() {
            // A single switch.
            cut.push(0);
        }
        let dimensions = cut.len();
        if !(1..=Self::MOST_DIMENSIONS).contains(&dimensions) {
            return None;
        }
        let side = |at: &[u16]| {
            let is_upper = |&k: &usize| 2 * u32::from(at[k]) >= u32::from(grid.dims[k]);
            cut.iter().map(is_upper).enumerate().map(|(i, upper)| u32::from(upper) << i).sum()
        };
        let sides = grid.coords.chunks_exact(grid.dims.len()).map(side).collect();
        Some(Self { dimensions, sides })
    }

    /// Dimensions that are cut.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Number of orthants, inhabited or not.
    pub fn count(&self) -> usize {
        1 << self.dimensions
    }

    /// The number of a switch's orthant.
    pub fn of(&self, s: SwitchId) -> usize {
        self.number(self.sides(s))
    }

    /// In which halves a switch is: bit `k` is set in the upper one of dimension `k`.
    pub(crate) fn sides(&self, s: SwitchId) -> u32 {
        self.sides[s.index()]
    }

    /// Whether a switch is in the half of rule `rule`: `2 k` is the lower half of dimension `k`, `2 k + 1` the
    /// upper one.
    pub fn in_half(&self, rule: usize, s: SwitchId) -> bool {
        self.sides[s.index()] >> (rule / 2) & 1 == (rule % 2) as u32
    }

    /// Number of halves, hence of rules: two a dimension.
    pub fn halves(&self) -> usize {
        2 * self.dimensions
    }

    /// Whether two switches have no half in common.
    pub fn are_opposite(&self, a: SwitchId, b: SwitchId) -> bool {
        self.sides(a) ^ self.sides(b) == self.count() as u32 - 1
    }

    /// The number of the orthant on these sides.
    pub(crate) fn number(&self, sides: u32) -> usize {
        let mut digit = 0;
        (0..self.dimensions).fold(0, |number, k| {
            digit ^= sides >> k & 1;
            number << 1 | digit as usize
        })
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{Shape, open};

    use super::*;

    fn orthants(spec: &str) -> (Orthants, GridShape) {
        match open(spec).expect("a spec").shape {
            Some(Shape::Grid(grid)) => (Orthants::new(&grid).expect("few dimensions"), grid),
            other => panic!("{spec} is no lattice: {other:?}"),
        }
    }

    #[test]
    fn quadrants_are_those_of_the_paper() {
        let (orthants, grid) = orthants("hyperx:dims=12x8");
        for s in (0..96).map(SwitchId::new) {
            let expected = match (grid.at(s)[0] < 6, grid.at(s)[1] < 4) {
                (true, true) => 0,
                (true, false) => 1,
                (false, false) => 2,
                (false, true) => 3,
            };
            assert_eq!(orthants.of(s), expected, "{:?}", grid.at(s));
        }
    }

    #[test]
    fn every_orthant_has_its_number_and_neighbours_differ_in_one_half() {
        let (orthants, _) = orthants("hyperx:dims=4x3x2x2");
        let mut sides_of = [u32::MAX; 16];
        for sides in 0..16 {
            sides_of[orthants.number(sides)] = sides;
        }
        for pair in sides_of.windows(2) {
            assert_eq!((pair[0] ^ pair[1]).count_ones(), 1, "{sides_of:?}");
        }
    }

    #[test]
    fn of_an_odd_size_the_lower_half_is_larger() {
        let (orthants, _) = orthants("hyperx:dims=5");
        let upper: Vec<usize> = (0..5).map(|s| orthants.of(SwitchId::new(s))).collect();
        assert_eq!(upper, [0, 0, 0, 1, 1]);
        assert!(orthants.in_half(0, SwitchId(2)) && orthants.in_half(1, SwitchId(3)));
    }
}
