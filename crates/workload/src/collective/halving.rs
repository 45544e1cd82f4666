//! Recursive halving and doubling among a power of two, and how the others are folded in.

use super::call::{CollectiveWriter, power_below};

/// Of the first 2 r ranks, r being the excess over the largest power of two, every second one passes its part to the
/// one before, which keeps it (MPICH, Open MPI: the same with odd and even exchanged).
pub(super) struct Fold {
    /// The largest power of two.
    pub(super) power: u32,
    over: u32,
}

impl Fold {
    pub(super) fn of(n: u32) -> Self {
        let (power, over) = power_below(n);
        Self { power, over }
    }

    /// Pairs of a rank that passes its part on, and the one that keeps it.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        (0..self.over).map(|k| (2 * k + 1, 2 * k))
    }

    /// Number `new` of those that are left.
    pub(super) fn keeper(&self, new: u32) -> u32 {
        if new < self.over { 2 * new } else { new + self.over }
    }

    /// The ranks that number `new` represents: itself, and the one that passed it its part.
    pub(super) fn stands_for(&self, new: u32) -> std::ops::Range<u32> {
        let keeper = self.keeper(new);
        keeper..keeper + 1 + u32::from(new < self.over)
    }
}

/// Rank that has a given number.
pub(super) type At<'a> = &'a dyn Fn(&CollectiveWriter<'_, '_>, u32) -> u32;

/// Reduce-scatter: exchanges half of the blocks with the partner at half the distance each round; block v ends at v.
pub(super) fn halve(
    writer: &mut CollectiveWriter<'_, '_>,
    power: u32,
    at: At<'_>,
    block: &dyn Fn(u32) -> u64,
) {
    let sum = |first: u32, count: u32| (first..first + count).map(block).sum::<u64>();
    let mut half = power / 2;
    while half > 0 {
        for v in 0..power {
            let partner = v ^ half;
            // Both hold the blocks of a run of 2 x half; each continues with its own half.
            let run = |v: u32| v / half * half;
            let (i, other) = (at(writer, v), at(writer, partner));
            writer.send(i, other, sum(run(partner), half));
            writer.recv(i, other, sum(run(v), half));
            writer.reduce(i, sum(run(v), half));
        }
        half /= 2;
    }
}

/// Allgather: exchanges all blocks held with the partner at twice the distance each round; initially v has block v.
pub(super) fn double(
    writer: &mut CollectiveWriter<'_, '_>,
    power: u32,
    at: At<'_>,
    block: &dyn Fn(u32) -> u64,
) {
    let sum = |first: u32, count: u32| (first..first + count).map(block).sum::<u64>();
    let mut have = 1;
    while have < power {
        for v in 0..power {
            let partner = v ^ have;
            let (i, other) = (at(writer, v), at(writer, partner));
            writer.send(i, other, sum(v / have * have, have));
            writer.recv(i, other, sum(partner / have * have, have));
            writer.wait(i);
        }
        have *= 2;
    }
}
