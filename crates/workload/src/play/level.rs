//! The loops of a program that may repeat.

use crate::schedule::Loop;

/// Something that a program repeats: schedules, or rounds of one that are all alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Epochs(Loop),
    /// Rounds of an epoch.
    Rounds {
        epoch: u64,
        begin: u32,
        end: u32,
    },
}

impl Level {
    /// Number of the iteration at a place, from 0.
    pub(super) fn iteration(self, (epoch, round): (u64, u32)) -> u64 {
        match self {
            Self::Epochs(l) => (epoch - l.begin) / l.length,
            Self::Rounds { begin, .. } => (round - begin).into(),
        }
    }

    /// Number of iterations in total.
    pub(super) fn count(self) -> u64 {
        match self {
            Self::Epochs(l) => (l.end - l.begin) / l.length,
            Self::Rounds { begin, end, .. } => (end - begin).into(),
        }
    }

    pub(super) fn has(self, (epoch, round): (u64, u32)) -> bool {
        match self {
            Self::Epochs(l) => (l.begin..l.end).contains(&epoch),
            Self::Rounds { epoch: of, begin, end } => epoch == of && (begin..end).contains(&round),
        }
    }

    /// The place that others are relative to when a rank is at `place`.
    pub(super) fn origin(self, place: (u64, u32)) -> (u64, u32) {
        match self {
            Self::Epochs(_) => (place.0, 0),
            Self::Rounds { .. } => place,
        }
    }

    /// Epochs and rounds of this number of iterations.
    pub(super) fn stride(self, times: u64) -> (u64, u32) {
        match self {
            Self::Epochs(l) => (l.length * times, 0),
            Self::Rounds { .. } => (0, times as u32),
        }
    }

    /// Number of strides of `stride` iterations until the rank at `most` comes to the end.
    pub(super) fn left(self, most: (u64, u32), stride: u64) -> u64 {
        match self {
            Self::Epochs(l) => (l.end - 1 - most.0) / (l.length * stride),
            Self::Rounds { end, .. } => u64::from(end - 1 - most.1) / stride,
        }
    }
}

/// The last iteration that a rank began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entered {
    iteration: u64,
    /// When, in picoseconds.
    pub(super) time: u64,
    /// Whether it was seen to begin, and not met in the middle.
    is_whole: bool,
}

impl Entered {
    const NONE: u64 = u64::MAX;
    /// Of a rank that never does anything.
    const IDLE: u64 = u64::MAX - 1;

    /// Of a rank that is not in the loop yet.
    pub(super) fn none(is_idle: bool) -> Self {
        let iteration = if is_idle { Self::IDLE } else { Self::NONE };
        Self { iteration, time: 0, is_whole: false }
    }

    /// The iteration, if its begin is known.
    pub(super) fn iteration(&self) -> Option<u64> {
        self.is_whole.then_some(self.iteration)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.iteration == Self::IDLE
    }

    #[cfg(test)]
    pub(super) fn at(iteration: u64, time: u64) -> Self {
        Self { iteration, time, is_whole: true }
    }
}

/// A loop whose iterations are timed, rank by rank.
#[derive(Debug)]
pub(super) struct Watch {
    level: Level,
    pub(super) entered: Vec<Entered>,
}

impl Watch {
    pub(super) fn new(level: Level, idle: &[bool]) -> Self {
        Self { level, entered: idle.iter().map(|&is_idle| Entered::none(is_idle)).collect() }
    }

    /// A rank is at a place from now on.
    pub(super) fn enters(&mut self, rank: u32, place: (u64, u32), now: u64) {
        if !self.level.has(place) {
            return;
        }
        let iteration = self.level.iteration(place);
        let entered = &mut self.entered[rank as usize];
        if entered.iteration != iteration {
            // The first one may have begun before this watch did; a round begins now.
            let is_whole =
                entered.iteration != Entered::NONE || matches!(self.level, Level::Rounds { .. });
            *entered = Entered { iteration, time: now, is_whole };
        }
    }
}
