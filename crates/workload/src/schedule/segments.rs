//! Segments: parts of a message that ranks pass on one after the other, as a pipeline.

use super::{Builder, Op, Schedule, ScheduleError};

/// A message that is cut up: equal segments, but for the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Number of segments: at least one, which may be empty.
    pub count: u64,
    /// Bytes of each but the last.
    pub whole: u64,
    /// Bytes of the last.
    pub last: u64,
}

impl Cut {
    /// This many bytes in segments of so many; 0 does not cut.
    pub fn new(bytes: u64, segment: u64) -> Self {
        if segment == 0 || bytes <= segment {
            return Self { count: 1, whole: bytes, last: bytes };
        }
        let count = bytes.div_ceil(segment);
        Self { count, whole: segment, last: bytes - (count - 1) * segment }
    }
}

/// What all ranks do with a segment, for each segment of a message. In a round a rank deals with one segment, and passes on the one
/// before: it starts the next round when that is done, wherever the others are.
///
/// There is a round more than segments: nothing is passed on in the first, and nothing comes in the last. So memory does not grow with
/// the number of segments, and what they repeat can be multiplied.
#[derive(Clone, Debug)]
pub struct Segments {
    cut: Cut,
    whole: Schedule,
    /// The same with the last segment, if that is shorter.
    last: Option<Schedule>,
    /// By operation, whether it is of the segment before.
    late: Vec<bool>,
}

impl Segments {
    /// The most segments. A rank that waits for nobody sends all of them at once: what is under way has to fit memory.
    pub const MOST: u64 = 1 << 24;

    /// `write` adds what all ranks do in a round to a builder, with segments of so many bytes; `late` says of an operation of a rank
    /// whether it is of the segment before. Receives must not be.
    ///
    /// # Errors
    /// If a message has one end only.
    ///
    /// # Panics
    /// If there are more than [`Segments::MOST`].
    pub fn new(
        ranks: u32,
        cut: Cut,
        write: impl Fn(&mut Builder, u64),
        late: impl Fn(u32, Op) -> bool,
    ) -> Result<Self, ScheduleError> {
        assert!(cut.count <= Self::MOST, "{} segments", cut.count);
        let with = |bytes| {
            let mut builder = Builder::new(ranks);
            write(&mut builder, bytes);
            builder.finish()
        };
        let whole = with(cut.whole)?;
        let last = (cut.last != cut.whole).then(|| with(cut.last)).transpose()?;
        let of = |rank| whole.of(rank).map(move |op| (rank, op));
        let late = (0..ranks).flat_map(of).map(|(rank, op)| late(rank, whole.op(op))).collect();
        Ok(Self { cut, whole, last, late })
    }

    /// What ranks do with a whole segment.
    pub(super) fn schedule(&self) -> &Schedule {
        &self.whole
    }

    /// Number of rounds.
    pub(super) fn count(&self) -> u32 {
        self.cut.count as u32 + 1
    }

    /// The rounds in which everybody does the same: all but the first, the last, and those of a shorter segment.
    pub(super) fn steady(&self) -> std::ops::Range<u32> {
        1..self.count() - 1 - u32::from(self.last.is_some())
    }

    /// An operation in a round: none of any length if its segment is before the first one or after the last one.
    #[inline]
    pub(super) fn op(&self, round: u32, op: u32) -> Op {
        let segment = u64::from(round).checked_sub(u64::from(self.late[op as usize]));
        match (segment, &self.last) {
            (Some(segment), Some(last)) if segment + 1 == self.cut.count => last.op(op),
            (Some(segment), _) if segment < self.cut.count => self.whole.op(op),
            _ => Op::Compute { picoseconds: 0 },
        }
    }

    /// By how many rounds the receive of a message is before its send.
    #[inline]
    pub(super) fn lag(&self, op: u32) -> u32 {
        self.late[op as usize].into()
    }

    /// What is done with a whole segment and with the last one, each with the number of such segments.
    pub(super) fn parts(&self) -> [(&Schedule, u64); 2] {
        let last = self.last.as_ref().unwrap_or(&self.whole);
        [(&self.whole, self.cut.count - 1), (last, 1)]
    }

    /// Of each segment a number, summed up over all.
    pub(super) fn sum(&self, of: impl Fn(&Schedule) -> u128) -> u128 {
        self.parts().into_iter().map(|(schedule, times)| u128::from(times) * of(schedule)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_into_equal_parts_but_for_the_last() {
        let cut = |bytes, segment| {
            let Cut { count, whole, last } = Cut::new(bytes, segment);
            (count, whole, last)
        };
        assert_eq!(cut(10, 4), (3, 4, 2));
        assert_eq!(cut(8, 4), (2, 4, 4));
        assert_eq!(cut(4, 4), (1, 4, 4));
        assert_eq!(cut(3, 4), (1, 3, 3));
        assert_eq!(cut(3, 0), (1, 3, 3));
        assert_eq!(cut(0, 4), (1, 0, 0));
        assert_eq!(cut(u64::MAX, 1 << 32), (1 << 32, 1 << 32, u64::from(u32::MAX)));
    }
}
