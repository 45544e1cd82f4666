//! Choice among the LIDs of a message's destination: the half of PARX that an MPI library does.

use darkfiber_fabric::{Fabric, GridShape, TerminalId};

use crate::Orthants;

/// The choice among the LIDs of a port by size of message and by the **groups** of both ends, as plain data: senders
/// make it for each message.
///
/// For engines `parx` and `parx-opposite` ([`LidChoice::parx`]) groups are orthants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LidChoice {
    threshold: u64,
    groups: usize,
    /// Group of each terminal.
    group: Vec<u16>,
    /// By group of the source, group of the destination, and size (small, large): an index of `lists`.
    of: Vec<u32>,
    /// Offsets that may be added to the base LID of the destination; no list is empty.
    lists: Vec<Box<[u8]>>,
}

impl LidChoice {
    /// The largest message that is small, in bytes: the paper's, measured with seven nodes a switch.
    pub const THRESHOLD: u64 = 512;

    /// A choice from its parts: the largest small message in bytes, the group of every terminal (each below
    /// `groups`), and `list(from, to, large)`, the indices of LIDs that messages from one group to another may take.
    /// An empty list stands for the base LID.
    ///
    /// # Panics
    /// If a terminal is in a group that does not exist.
    pub fn new(
        threshold: u64,
        groups: usize,
        group: Vec<u16>,
        list: impl Fn(usize, usize, bool) -> Vec<u8>,
    ) -> Self {
        assert!(group.iter().all(|&g| usize::from(g) < groups), "a group that there is not");
        let mut lists: Vec<Box<[u8]>> = Vec::new();
        let mut of = Vec::with_capacity(2 * groups * groups);
        for (from, to) in (0..groups).flat_map(|from| (0..groups).map(move |to| (from, to))) {
            for large in [false, true] {
                let mut among = list(from, to, large);
                if among.is_empty() {
                    among.push(0);
                }
                let known = lists.iter().position(|l| **l == *among).unwrap_or_else(|| {
                    lists.push(among.into_boxed_slice());
                    lists.len() - 1
                });
                of.push(known as u32);
            }
        }
        Self { threshold, groups, group, of, lists }
    }

    /// The choice of PARX (Domke et al., "HyperX Topology: First At-Scale Implementation and Comparison to the
    /// Fat-Tree", SC'19, sections 3.2.1 and 3.2.4 and table 1, for any number of dimensions); `None` where
    /// [`Orthants`] are not defined.
    ///
    /// LID `i < 2 n` is routed without the links inside half `i` ([`Orthants::in_half`]). So
    ///
    /// - **small** messages take the rules in whose half neither end is: their paths are minimal, and of minimal
    ///   paths all are there;
    /// - **large** messages take the rules in whose half both ends are: their paths are detours, more than one
    ///   switch's cable wide;
    /// - in opposite orthants there is no rule of either kind. Both sizes take the rules that empty the halves
    ///   of the source, whose paths are minimal; with `across` large messages take LID `2 n`, whose
    ///   paths are detours there (engine `parx-opposite`).
    ///
    /// ```
    /// use darkfiber_fabric::{Shape, TerminalId, open};
    /// use darkfiber_routing::LidChoice;
    ///
    /// let on = open("hyperx:dims=12x8,t=1")?;
    /// let Some(Shape::Grid(grid)) = &on.shape else { unreachable!() };
    /// let choice = LidChoice::parx(&on.fabric, grid, false).expect("two dimensions");
    /// // Both left and top: a small message avoids the detours around these halves, a large one takes them.
    /// assert_eq!(choice.alternatives(TerminalId(0), TerminalId(1), 512), [1, 3]);
    /// assert_eq!(choice.alternatives(TerminalId(0), TerminalId(1), 513), [0, 2]);
    /// # Ok::<(), darkfiber_fabric::SpecError>(())
    /// ```
    pub fn parx(fabric: &Fabric, grid: &GridShape, across: bool) -> Option<Self> {
        let orthants = Orthants::new(grid)?;
        let n = orthants.dimensions();
        let mut sides = vec![0; orthants.count()];
        for side in 0..orthants.count() as u32 {
            sides[orthants.number(side)] = side;
        }
        let list = |from: usize, to: usize, large: bool| -> Vec<u8> {
            let (from, to) = (sides[from], sides[to]);
            let opposite = from ^ to == orthants.count() as u32 - 1;
            if opposite && large && across {
                return vec![orthants.halves() as u8];
            }
            let rule = |k: usize| {
                let own = from >> k & 1;
                let in_common = (from ^ to) >> k & 1 == 0;
                let half = match (opposite, in_common, large) {
                    // The half of both ends; or, in opposite orthants, that of the source.
                    (true, ..) | (_, true, true) => own,
                    // The other half.
                    (_, true, false) => 1 - own,
                    _ => return None,
                };
                Some((2 * k) as u8 + half as u8)
            };
            (0..n).filter_map(rule).collect()
        };
        let group = fabric.terminals().iter().map(|t| orthants.of(t.switch) as u16).collect();
        Some(Self::new(Self::THRESHOLD, orthants.count(), group, list))
    }

    /// The same with another threshold: messages of up to this many bytes are small.
    #[must_use]
    pub fn with_threshold(self, bytes: u64) -> Self {
        Self { threshold: bytes, ..self }
    }

    /// The same for some of the terminals, in the order given.
    #[must_use]
    pub fn of_terminals(&self, terminals: &[TerminalId]) -> Self {
        let group = terminals.iter().map(|t| self.group[t.index()]).collect();
        Self { group, ..self.clone() }
    }

    /// The largest message that is small, in bytes.
    pub fn threshold(&self) -> u64 {
        self.threshold
    }

    /// Number of groups, inhabited or not.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The group of a terminal.
    pub fn group(&self, t: TerminalId) -> usize {
        self.group[t.index()].into()
    }

    /// The largest index of a LID that is ever chosen.
    pub fn top(&self) -> usize {
        self.lists.iter().flatten().max().map_or(0, |&top| top.into())
    }

    /// The indices of LIDs that a message of this many bytes may take, rising; never empty.
    #[inline]
    pub fn alternatives(&self, from: TerminalId, to: TerminalId, bytes: u64) -> &[u8] {
        self.between(self.group(from), self.group(to), bytes)
    }

    /// As [`Self::alternatives`], between groups.
    #[inline]
    pub fn between(&self, from: usize, to: usize, bytes: u64) -> &[u8] {
        let large = usize::from(bytes > self.threshold);
        &self.lists[self.of[2 * (from * self.groups + to) + large] as usize]
    }

    /// The index of the LID that a message takes: one of [`Self::alternatives`], all as likely if `draw` is
    /// a random number.
    #[inline]
    pub fn path(&self, from: TerminalId, to: TerminalId, bytes: u64, draw: u64) -> usize {
        let among = self.alternatives(from, to, bytes);
        usize::from(among[(draw % among.len() as u64) as usize])
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{Shape, open};

    use super::*;

    /// One terminal a switch, so that their numbers are those of switches.
    fn choice(across: bool, spec: &str) -> LidChoice {
        let on = open(&format!("{spec},t=1")).expect("a spec");
        let Some(Shape::Grid(grid)) = &on.shape else { panic!("{spec} is no lattice") };
        LidChoice::parx(&on.fabric, grid, across).expect("few dimensions")
    }

    fn table(choice: &LidChoice, bytes: u64) -> Vec<Vec<String>> {
        let text = |list: &[u8]| list.iter().map(u8::to_string).collect::<Vec<_>>().join("|");
        (0..4).map(|s| (0..4).map(|d| text(choice.between(s, d, bytes))).collect()).collect()
    }

    #[test]
    fn two_dimensions_are_table_1_of_the_paper() {
        for spec in ["hyperx:dims=2x2", "hyperx:dims=12x8", "hyperx:dims=5x7"] {
            let parx = choice(false, spec);
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
            let opposite = choice(true, spec);
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
        let choice = choice(false, "hyperx:dims=4x4x4").with_threshold(10);
        let at = |x: u32, y: u32, z: u32| TerminalId(z + 4 * (y + 4 * x));
        let (a, b) = (at(0, 3, 1), at(1, 0, 0));
        // Lower in the first and the third dimension both.
        assert_eq!(choice.alternatives(a, b, 11), [0, 4]);
        assert_eq!(choice.alternatives(a, b, 10), [1, 5]);
        let c = at(2, 0, 3);
        assert_eq!(choice.alternatives(a, c, 1), [0, 3, 4]);
        assert_eq!(choice.alternatives(a, c, 11), [0, 3, 4]);
        let drawn: Vec<usize> = (0..6).map(|draw| choice.path(a, c, 1, draw)).collect();
        assert_eq!(drawn, [0, 3, 4, 0, 3, 4]);
    }

    #[test]
    fn what_is_left_of_a_fabric_keeps_its_groups() {
        let choice = choice(false, "hyperx:dims=4x4");
        let some = choice.of_terminals(&[TerminalId(15), TerminalId(3)]);
        assert_eq!(some.group(TerminalId(0)), choice.group(TerminalId(15)));
        let before = choice.alternatives(TerminalId(15), TerminalId(3), 9);
        assert_eq!(some.alternatives(TerminalId(0), TerminalId(1), 9), before);
    }
}
