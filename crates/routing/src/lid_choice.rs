//! Which LID of its destination a message goes to: the half of PARX that an MPI library does.

use darkfiber_fabric::{GridShape, SwitchId};

use crate::Orthants;

/// The choice among the LIDs of a port by size of message and by the orthants of both ends, for engines
/// `parx` and `parx-opposite` (Domke et al., "HyperX Topology: First At-Scale Implementation and Comparison to
/// the Fat-Tree", SC'19, sections 3.2.1 and 3.2.4 and table 1, for any number of dimensions).
///
/// LID `i < 2 n` is routed without the links inside half `i` ([`Orthants::in_half`]). So
///
/// - **small** messages take the rules in whose half neither end is: their paths are minimal, and of minimal
///   paths all are there;
/// - **large** messages take the rules in whose half both ends are: their paths are detours, more than one
///   switch's cable wide;
/// - in opposite orthants there is no rule of either kind. Both sizes take the rules that empty the halves
///   of the source, whose paths are minimal; under `parx-opposite` large messages take LID `2 n`, whose
///   paths are detours there.
///
/// ```
/// use darkfiber_fabric::{Shape, SwitchId, open};
/// use darkfiber_routing::LidChoice;
///
/// let Some(Shape::Grid(grid)) = open("hyperx:dims=12x8")?.shape else { unreachable!() };
/// let choice = LidChoice::of_engine("parx", &grid).expect("two dimensions");
/// // Both left and top: a small message avoids the detours around these halves, a large one takes them.
/// assert_eq!(choice.alternatives(SwitchId(0), SwitchId(1), 512), [1, 3]);
/// assert_eq!(choice.alternatives(SwitchId(0), SwitchId(1), 513), [0, 2]);
/// # Ok::<(), darkfiber_fabric::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LidChoice {
    orthants: Orthants,
    /// By orthant number its sides.
    sides: Vec<u32>,
    /// Rules by what they say of each dimension (0 none, 1 its lower half, 2 its upper one), a ternary number.
    lists: Vec<Vec<u8>>,
    /// What large messages between opposite orthants take, if it is a LID of its own.
    across: Option<[u8; 1]>,
    threshold: u64,
}

impl LidChoice {
    /// The largest message that is small, in bytes: the paper's, measured with seven nodes a switch.
    pub const THRESHOLD: u64 = 512;

    /// The choice for routes of engine `parx` or `parx-opposite`; `None` for other engines, and where
    /// [`Orthants`] are not defined.
    pub fn of_engine(engine: &str, grid: &GridShape) -> Option<Self> {
        let orthants = Orthants::new(grid)?;
        let across = match engine {
            "parx" => None,
            "parx-opposite" => Some([orthants.halves() as u8]),
            _ => return None,
        };
        let mut sides = vec![0; orthants.count()];
        for side in 0..orthants.count() as u32 {
            sides[orthants.number(side)] = side;
        }
        let n = orthants.dimensions();
        let rules = |code: usize| {
            let digit = move |k: usize| code / 3usize.pow(k as u32) % 3;
            (0..n).filter(|&k| digit(k) > 0).map(|k| (2 * k + digit(k) - 1) as u8).collect()
        };
        let lists = (0..3usize.pow(n as u32)).map(rules).collect();
        Some(Self { orthants, sides, lists, across, threshold: Self::THRESHOLD })
    }

    /// The same with another threshold: messages of up to so many bytes are small.
    #[must_use]
    pub fn with_threshold(self, bytes: u64) -> Self {
        Self { threshold: bytes, ..self }
    }

    /// The largest message that is small, in bytes.
    pub fn threshold(&self) -> u64 {
        self.threshold
    }

    /// The orthants that it speaks of.
    pub fn orthants(&self) -> &Orthants {
        &self.orthants
    }

    /// The indices of LIDs that a message of so many bytes may take, rising; never empty.
    pub fn alternatives(&self, from: SwitchId, to: SwitchId, bytes: u64) -> &[u8] {
        self.choose(self.orthants.sides(from), self.orthants.sides(to), bytes)
    }

    /// As [`Self::alternatives`], between orthants given by number.
    pub fn between(&self, from: usize, to: usize, bytes: u64) -> &[u8] {
        self.choose(self.sides[from], self.sides[to], bytes)
    }

    /// The index of the LID that a message takes: one of [`Self::alternatives`], all as likely if `draw` is
    /// a random number.
    #[inline]
    pub fn path(&self, from: SwitchId, to: SwitchId, bytes: u64, draw: u64) -> usize {
        let among = self.alternatives(from, to, bytes);
        usize::from(among[(draw % among.len() as u64) as usize])
    }

    fn choose(&self, from: u32, to: u32, bytes: u64) -> &[u8] {
        let small = bytes <= self.threshold;
        let common = !(from ^ to) & (self.orthants.count() as u32 - 1);
        if common == 0
            && !small
            && let Some(across) = &self.across
        {
            return across;
        }
        let mut code = 0;
        for k in (0..self.orthants.dimensions()).rev() {
            let own = from >> k & 1;
            code = 3 * code
                + match (common == 0, common >> k & 1, small) {
                    // The half of both ends; or, in opposite orthants, that of the source.
                    (true, ..) | (_, 1, false) => 1 + own,
                    // The other half.
                    (_, 1, true) => 2 - own,
                    _ => 0,
                };
        }
        &self.lists[code as usize]
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{Shape, open};

    use super::*;

    fn choice(engine: &str, spec: &str) -> LidChoice {
        match open(spec).expect("a spec").shape {
            Some(Shape::Grid(grid)) => LidChoice::of_engine(engine, &grid).expect("few dimensions"),
            other => panic!("{spec} is no lattice: {other:?}"),
        }
    }

    fn table(choice: &LidChoice, bytes: u64) -> Vec<Vec<String>> {
        let text = |list: &[u8]| list.iter().map(u8::to_string).collect::<Vec<_>>().join("|");
        (0..4).map(|s| (0..4).map(|d| text(choice.between(s, d, bytes))).collect()).collect()
    }

    #[test]
    fn two_dimensions_are_table_1_of_the_paper() {
        for spec in ["hyperx:dims=2x2", "hyperx:dims=12x8", "hyperx:dims=5x7"] {
            let parx = choice("parx", spec);
            let small = [
                ["1|3", "1", "0|2", "3"],
                ["1", "1|2", "2", "0|3"],
                ["1|3", "2", "0|2", "0"],
                ["3", "1|2", "0", "0|3"],
            ];
            let large = [
                ["0|2", "0", "0|2", "2"],
                ["0", "0|3", "3", "0|3"],
                ["1|3", "3", "1|3", "1"],
                ["2", "1|2", "1", "1|2"],
            ];
            assert_eq!(table(&parx, 512), small);
            assert_eq!(table(&parx, 513), large);
            let opposite = choice("parx-opposite", spec);
            assert_eq!(table(&opposite, 0), small);
            let mut across = large.map(|row| row.map(str::to_owned));
            for (s, row) in across.iter_mut().enumerate() {
                row[(s + 2) % 4] = "4".to_owned();
            }
            assert_eq!(table(&opposite, u64::MAX), across);
        }
    }

    #[test]
    fn more_dimensions_have_a_rule_for_every_common_half() {
        let choice = choice("parx", "hyperx:dims=4x4x4").with_threshold(10);
        let switch = |x: u32, y: u32, z: u32| SwitchId(z + 4 * (y + 4 * x));
        let (a, b) = (switch(0, 3, 1), switch(1, 0, 0));
        // Lower in the first and the third dimension both.
        assert_eq!(choice.alternatives(a, b, 11), [0, 4]);
        assert_eq!(choice.alternatives(a, b, 10), [1, 5]);
        let c = switch(2, 0, 3);
        assert_eq!(choice.alternatives(a, c, 1), [0, 3, 4]);
        assert_eq!(choice.alternatives(a, c, 11), [0, 3, 4]);
        let drawn: Vec<usize> = (0..6).map(|draw| choice.path(a, c, 1, draw)).collect();
        assert_eq!(drawn, [0, 3, 4, 0, 3, 4]);
    }

    #[test]
    fn other_engines_have_none() {
        let Some(Shape::Grid(grid)) = open("hyperx:dims=4x4").expect("a spec").shape else {
            panic!("a lattice")
        };
        assert_eq!(LidChoice::of_engine("dfsssp", &grid), None);
    }
}
