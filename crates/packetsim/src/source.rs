//! Destinations of the traffic of each terminal.

use crate::Random;

/// Terminals that one sends to, each with the same probability: `first`, `first + stride`, ..., this many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// First terminal of the set.
    pub first: u32,
    /// From one to the next.
    pub stride: u32,
    /// Number of terminals; 0: the terminal sends nothing.
    pub count: u32,
}

/// By terminal, its destinations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Targets {
    of: Vec<Target>,
    /// The list that targets index; they are the terminals themselves if it is empty.
    list: Vec<u32>,
}

impl Targets {
    /// A separate target for each terminal.
    pub fn of(of: Vec<Target>) -> Self {
        Self { of, list: Vec::new() }
    }

    /// All to all, each to itself as well.
    pub fn uniform(terminals: u32) -> Self {
        Self::of(vec![Target { first: 0, stride: 1, count: terminals }; terminals as usize])
    }

    /// Each to any of its destinations, if it has some.
    pub fn pairs(terminals: u32, pairs: &[[u32; 2]]) -> Self {
        let mut sorted = pairs.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let range = |t: u32| {
            let first = sorted.partition_point(|p| p[0] < t) as u32;
            let behind = sorted.partition_point(|p| p[0] <= t) as u32;
            Target { first, stride: 1, count: behind - first }
        };
        Self {
            of: (0..terminals).map(range).collect(),
            list: sorted.iter().map(|p| p[1]).collect(),
        }
    }

    /// From blocks of this number of consecutive terminals to any terminal of the block that is `further` blocks on: the
    /// adversarial pattern of a dragonfly (blocks are groups) or a HyperX (blocks are rows or switches).
    pub fn blocks(terminals: u32, block: u32, further: u32) -> Self {
        let blocks = terminals / block;
        let one = |t: u32| {
            let to = (t / block + further) % blocks;
            Target { first: to * block, stride: 1, count: block }
        };
        Self::of((0..terminals).map(one).collect())
    }

    /// Draws a destination for a terminal, if it has any.
    #[inline]
    pub(crate) fn draw(&self, terminal: u32, random: &mut Random) -> Option<u32> {
        let target = &self.of[terminal as usize];
        let number = match target.count {
            0 => return None,
            1 => target.first,
            n => target.first + target.stride * random.below(n),
        };
        Some(self.list.get(number as usize).copied().unwrap_or(number))
    }

    /// Whether a terminal sends at all.
    pub(crate) fn sends(&self, terminal: u32) -> bool {
        self.of[terminal as usize].count > 0
    }
}
