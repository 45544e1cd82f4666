//! The repeatable parts of a program: explicit schedules, rounds by a formula, and segments.

use std::ops::Range;

use super::rounds::ScheduleRounds;
use super::{Op, Schedule, Segments};

/// Stages, one after the other: a rank starts one when its part of the previous one is done. Messages of a stage never match receives of
/// another, and those of a round only receives of the same one, or, with segments, of the round before ([`Steps::lag`]).
#[derive(Clone, Debug)]
pub struct Block {
    ranks: u32,
    /// The first stage, mostly the only one.
    first: Stage,
    later: Vec<Stage>,
    /// Rounds up to the end of each stage.
    ends: Vec<u32>,
}

/// A part of a block.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// One round as an explicit schedule.
    Written(Schedule),
    /// Rounds by a formula.
    Rounds(ScheduleRounds),
    /// A round for each segment of a message.
    Segments(Segments),
}

impl From<Schedule> for Block {
    fn from(schedule: Schedule) -> Self {
        Self::new(schedule.ranks(), Stage::Written(schedule), Vec::new())
    }
}

impl Block {
    /// All stages must be for this many ranks.
    pub(super) fn new(ranks: u32, first: Stage, later: Vec<Stage>) -> Self {
        let mut block = Self { ranks, first, later, ends: Vec::new() };
        let mut end = 0;
        let ends = block.stages().map(|stage| {
            end += stage.count();
            end
        });
        block.ends = ends.collect();
        block
    }

    fn stages(&self) -> impl Iterator<Item = &Stage> {
        std::iter::once(&self.first).chain(&self.later)
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Number of rounds of its stages; an explicit schedule is one.
    pub fn rounds(&self) -> u32 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The operations of ranks in a round.
    ///
    /// # Panics
    /// If there are fewer rounds.
    #[inline]
    pub fn round(&self, round: u32) -> Steps<'_> {
        // Nearly all blocks are one schedule, and this is called for each operation.
        match &self.first {
            Stage::Written(schedule) if round == 0 => Steps::Written(schedule),
            _ => self.later_round(round),
        }
    }

    fn later_round(&self, round: u32) -> Steps<'_> {
        let i = self.ends.partition_point(|&e| e <= round);
        let (stage, begin) =
            if i == 0 { (&self.first, 0) } else { (&self.later[i - 1], self.ends[i - 1]) };
        match stage {
            Stage::Written(schedule) => Steps::Written(schedule),
            Stage::Rounds(all) => Steps::Round(Round { all, number: round - begin }),
            Stage::Segments(all) => Steps::Segment(SegmentRound { all, number: round - begin }),
        }
    }

    /// The rounds about this one in which everybody does the same as in it: messages of other sizes at most, which differ by no more
    /// than `within`, a part of the smallest. And by how much they do.
    pub fn alike(&self, round: u32, within: f64) -> (Range<u32>, f64) {
        let i = self.ends.partition_point(|&e| e <= round);
        let begin = if i == 0 { 0 } else { self.ends[i - 1] };
        let alike = match self.stages().nth(i) {
            Some(Stage::Rounds(all)) => {
                all.spread().filter(|&spread| spread <= within).map(|s| (begin..self.ends[i], s))
            }
            Some(Stage::Segments(all)) => {
                let Range { start, end } = all.steady();
                Some((begin + start..begin + end, 0.0)).filter(|(all, _)| all.contains(&round))
            }
            _ => None,
        };
        alike.unwrap_or((round..round + 1, 0.0))
    }

    /// The schedule, where it is one that is written out.
    pub fn written(&self) -> Option<&Schedule> {
        match &self.first {
            Stage::Written(schedule) if self.later.is_empty() => Some(schedule),
            _ => None,
        }
    }

    /// Maximum number of operations of a rank in a round.
    pub fn width(&self, rank: u32) -> usize {
        self.stages().map(|stage| stage.width(rank)).max().unwrap_or(0)
    }

    /// Most streams that a rank uses: at least one.
    pub fn streams(&self) -> u8 {
        let written = self.stages().map(|stage| match stage {
            Stage::Written(schedule) => schedule.streams(),
            Stage::Rounds(_) | Stage::Segments(_) => 1,
        });
        written.max().unwrap_or(1)
    }

    /// Calls `each` for every message: sender, receiver, bytes, and how many like it there are. Whole segments are looked at once, and
    /// so are rounds that are all the same.
    pub fn each_message(&self, mut each: impl FnMut(u32, u32, u64, u64)) {
        for (stage, end) in self.stages().zip(&self.ends) {
            if let Stage::Segments(all) = stage {
                for (schedule, times) in all.parts().into_iter().filter(|(_, times)| *times > 0) {
                    let one = &mut |from, to, bytes| each(from, to, bytes, times);
                    Steps::Written(schedule).each_message(self.ranks, one);
                }
                continue;
            }
            let mut round = end - stage.count();
            while round < *end {
                let next = self.alike(round, 0.0).0.end;
                let times = u64::from(next - round);
                self.each_of_round(round, &mut |from, to, bytes| each(from, to, bytes, times));
                round = next;
            }
        }
    }

    /// Calls `each` for every sender and receiver, once or more often. Rounds in which everybody has the same partners are looked at
    /// once, where that is known.
    pub fn each_pair(&self, mut each: impl FnMut(u32, u32)) {
        let mut round = 0;
        while round < self.rounds() {
            self.each_of_round(round, &mut |from, to, _| each(from, to));
            round = self.alike(round, f64::INFINITY).0.end;
        }
    }

    fn each_of_round(&self, round: u32, each: &mut impl FnMut(u32, u32, u64)) {
        self.round(round).each_message(self.ranks, each);
    }

    /// Operations of all ranks in all rounds.
    pub fn operations(&self) -> u128 {
        let of = |stage: &Stage| match stage {
            Stage::Written(schedule) => schedule.len() as u128,
            Stage::Rounds(all) => {
                u128::from(all.count()) * u128::from(all.ranks()) * u128::from(all.width())
            }
            Stage::Segments(all) => all.sum(|schedule| schedule.len() as u128),
        };
        self.stages().map(of).sum()
    }

    /// The number of messages.
    pub fn messages(&self) -> u128 {
        let of = |stage: &Stage| match stage {
            Stage::Written(schedule) => schedule.messages() as u128,
            Stage::Rounds(all) => u128::from(all.count()) * u128::from(all.ranks()),
            Stage::Segments(all) => all.sum(|schedule| schedule.messages() as u128),
        };
        self.stages().map(of).sum()
    }

    /// Bytes of all messages; of millions of messages in rounds whose bytes differ an estimate.
    ///
    /// Complexity: O(ranks) for rounds.
    pub fn bytes(&self) -> u128 {
        let of = |stage: &Stage| match stage {
            Stage::Written(schedule) => schedule.bytes(),
            Stage::Rounds(all) => all.bytes(),
            Stage::Segments(all) => all.sum(Schedule::bytes),
        };
        self.stages().map(of).sum()
    }
}

impl Stage {
    /// This stage and the next one as a single one, where their rounds may be alike.
    pub(super) fn joined(&self, next: &Self) -> Option<Self> {
        match (self, next) {
            (Self::Rounds(all), Self::Rounds(more)) => all.joined(more).map(Self::Rounds),
            _ => None,
        }
    }

    pub(super) fn count(&self) -> u32 {
        match self {
            Self::Written(_) => 1,
            Self::Rounds(all) => all.count(),
            Self::Segments(all) => all.count(),
        }
    }

    fn width(&self, rank: u32) -> usize {
        match self {
            Self::Written(schedule) => schedule.of(rank).len(),
            Self::Rounds(all) => all.width() as usize,
            Self::Segments(all) => all.schedule().of(rank).len(),
        }
    }
}

/// The operations of ranks in a round of a block.
#[derive(Clone, Copy, Debug)]
pub enum Steps<'a> {
    /// All is written out.
    Written(&'a Schedule),
    /// A round given by a formula.
    Round(Round<'a>),
    /// A round with a segment of a message.
    Segment(SegmentRound<'a>),
}

/// A round that is given by a formula.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    all: &'a ScheduleRounds,
    number: u32,
}

/// A round with a segment of a message.
#[derive(Clone, Copy, Debug)]
pub struct SegmentRound<'a> {
    all: &'a Segments,
    number: u32,
}

impl Steps<'_> {
    /// The operations of a rank, by number.
    #[inline]
    pub fn of(self, rank: u32) -> Range<u32> {
        match self {
            Self::Written(schedule) => schedule.of(rank),
            Self::Round(Round { all, .. }) => rank * all.width()..(rank + 1) * all.width(),
            Self::Segment(SegmentRound { all, .. }) => all.schedule().of(rank),
        }
    }

    /// An operation by number.
    #[inline]
    pub fn op(self, op: u32) -> Op {
        match self {
            Self::Written(schedule) => schedule.op(op),
            Self::Round(Round { all, number }) => all.op(number, op),
            Self::Segment(SegmentRound { all, number }) => all.op(number, op),
        }
    }

    /// The stream that an operation runs on, as [`Schedule::stream`].
    #[inline]
    pub fn stream(self, op: u32) -> u8 {
        match self {
            Self::Written(schedule) => schedule.stream(op),
            Self::Round(_) | Self::Segment(_) => 0,
        }
    }

    /// The operation at the other end of a message; its own number where there is none.
    #[inline]
    pub fn partner(self, op: u32) -> u32 {
        match self {
            Self::Written(schedule) => schedule.partner(op),
            Self::Round(Round { all, number }) => all.partner(number, op),
            Self::Segment(SegmentRound { all, .. }) => all.schedule().partner(op),
        }
    }

    /// By how many rounds of its block the receive of a message is before its send.
    #[inline]
    pub fn lag(self, op: u32) -> u32 {
        match self {
            Self::Written(_) | Self::Round(_) => 0,
            Self::Segment(SegmentRound { all, .. }) => all.lag(op),
        }
    }

    /// Number of operations that an operation waits for.
    #[inline]
    pub fn needs(self, op: u32) -> u32 {
        match self {
            Self::Written(schedule) => schedule.needs(op),
            Self::Round(Round { all, .. }) => all.needs(op),
            Self::Segment(SegmentRound { all, .. }) => all.schedule().needs(op),
        }
    }

    /// Calls `each` for the operations that wait for this one: number, and whether its start is enough.
    #[inline]
    pub fn each_dependent(self, op: u32, mut each: impl FnMut(u32, bool)) {
        match self {
            Self::Written(schedule) => {
                schedule.dependents(op).for_each(|(next, on_start)| each(next, on_start));
            }
            Self::Segment(SegmentRound { all, .. }) => {
                all.schedule().dependents(op).for_each(|(next, on_start)| each(next, on_start));
            }
            Self::Round(Round { all, .. }) => {
                all.dependent(op).into_iter().for_each(|next| each(next, false));
            }
        }
    }

    /// Calls `each` for every message that these ranks send: sender, receiver, bytes.
    pub(super) fn each_message(self, ranks: u32, each: &mut impl FnMut(u32, u32, u64)) {
        for rank in 0..ranks {
            for op in self.of(rank) {
                if let Op::Send { to, bytes, .. } | Op::Put { to, bytes } = self.op(op) {
                    each(rank, to, bytes);
                }
            }
        }
    }

    /// Whether an operation waits for the beginning of this one.
    #[inline]
    pub fn is_waited_for_at_start(self, op: u32) -> bool {
        match self {
            Self::Written(schedule) => {
                schedule.has_on_start() && schedule.dependents(op).any(|(_, on_start)| on_start)
            }
            Self::Round(_) | Self::Segment(_) => false,
        }
    }
}
