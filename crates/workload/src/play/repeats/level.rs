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
