//! Position of each rank of a job.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Job;
use crate::schedule::{Block, Span, Steps};

/// A receive that is not posted yet.
pub(super) const UNASKED: u32 = 0;
/// A receive that waits for its message.
pub(super) const ASKED: u32 = 1;
/// Added to the number of a message that waits for its receive.
pub(super) const HELD: u32 = 2;
/// Operations that an operation waits for, once it is done.
pub(super) const DONE: u32 = u32::MAX;

/// The current position of a rank of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rank {
    /// Number of the block in its program, repetitions counted.
    pub(super) epoch: u64,
    /// When it began that.
    pub(super) begun: u64,
    /// That block, by number.
    pub(super) block: u32,
    /// Round of the epoch.
    pub(super) round: u32,
    /// Operations of the round that are not done.
    pub(super) remaining: u32,
    /// Offset of its operations in the arrays of the job.
    pub(super) base: u32,
    /// The first of them in the round.
    pub(super) first: u32,
}

impl Rank {
    /// The operations in its current round.
    #[inline]
    pub(super) fn steps<'a>(&self, job: &'a Job) -> Steps<'a> {
        job.program.blocks()[self.block as usize].round(self.round)
    }

    /// Whether it is in the round of a message.
    #[inline]
    pub(super) fn is_at(&self, moment: (u64, u32)) -> bool {
        (self.epoch, self.round) == moment
    }

    #[inline]
    pub(super) fn at(&self, op: u32) -> usize {
        (self.base + (op - self.first)) as usize
    }
}

/// The dependencies of an operation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Waits {
    /// Number of operations that it waits for.
    pub(super) left: u32,
    /// State of the message, if it is a receive.
    pub(super) state: u32,
}

/// Messages that arrived before their receiver was in their round: by epoch and round, receive and message.
pub(super) type EarlyMessages = BTreeMap<(u64, u32), Vec<(u32, u32)>>;

/// A job that runs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Running {
    pub(super) ranks: Vec<Rank>,
    /// Of each operation of the rounds that ranks are in.
    pub(super) ops: Vec<Waits>,
    /// When each stream of each rank has time.
    pub(super) free: Vec<u64>,
    pub(super) streams: usize,
    /// Early messages by rank.
    pub(super) early: Vec<EarlyMessages>,
    pub(super) finished: u32,
    /// Ranks that wait for the others to begin an epoch.
    pub(super) gathered: u32,
    pub(super) begun: u64,
    pub(super) epochs: u64,
    /// Ranks that never do anything, and that no other waits for: they are finished at once, however long the program.
    idle: Vec<bool>,
    /// Where a rank was in the program that entered an epoch last: mostly, the next one is there, too.
    #[serde(skip)]
    latest: Span,
}

impl Running {
    pub(super) fn new(job: &Job) -> Self {
        let program = &job.program;
        let blocks = program.blocks();
        let mut base = 0u32;
        let ranks = (0..program.ranks())
            .map(|r| {
                let rank =
                    Rank { epoch: 0, begun: 0, block: 0, round: 0, remaining: 0, base, first: 0 };
                base += blocks.iter().map(|b| b.width(r) as u32).max().unwrap_or(0);
                rank
            })
            .collect();
        let streams = blocks.iter().map(|b| b.streams()).max().unwrap_or(1) as usize;
        let n = program.ranks() as usize;
        Self {
            ranks,
            ops: vec![Waits { left: 0, state: UNASKED }; base as usize],
            free: vec![0; n * streams],
            streams,
            early: vec![BTreeMap::new(); n],
            finished: 0,
            gathered: 0,
            begun: 0,
            epochs: program.epochs(),
            idle: (0..program.ranks())
                .map(|r| !program.gathers() && blocks.iter().all(|b| b.width(r) == 0))
                .collect(),
            latest: Span::default(),
        }
    }

    /// Whether another is of the same job: as many of everything.
    pub(super) fn is_like(&self, other: &Self, blocks: &[Arc<Block>]) -> bool {
        let is_there = |r: &Rank| {
            blocks.get(r.block as usize).is_none_or(|b| r.round <= b.rounds())
                && (r.block as usize) < blocks.len().max(1)
        };
        let same_base = |(a, b): (&Rank, &Rank)| a.base == b.base && is_there(b);
        self.ranks.len() == other.ranks.len()
            && self.ranks.iter().zip(&other.ranks).all(same_base)
            && self.ops.len() == other.ops.len()
            && self.free.len() == other.free.len()
            && self.streams == other.streams
            && self.early.len() == other.early.len()
            && self.idle.len() == other.idle.len()
            && self.epochs == other.epochs
    }

    /// By rank, whether it never does anything.
    pub(super) fn idle(&self) -> &[bool] {
        &self.idle
    }

    /// The place of the processor time of a stream.
    #[inline]
    pub(super) fn processor(&mut self, rank: u32, stream: u8) -> &mut u64 {
        &mut self.free[rank as usize * self.streams + usize::from(stream)]
    }

    /// Releases the operations of a rank that wait for the end, or the start, of one of them; those that wait for nothing more are
    /// added to `ready`.
    #[inline]
    pub(super) fn release(
        &mut self,
        steps: Steps<'_>,
        (rank, op): (u32, u32),
        at_start: bool,
        ready: &mut Vec<(u32, u32)>,
    ) {
        let r = &self.ranks[rank as usize];
        steps.each_dependent(op, |next, on_start| {
            if on_start == at_start {
                let left = &mut self.ops[r.at(next)].left;
                *left -= 1;
                if *left == 0 {
                    ready.push((rank, next));
                }
            }
        });
    }

    /// Puts a rank at the beginning of its epoch, or of the next one in which it has operations. `gathered` is set if
    /// all ranks are there, where that is required.
    pub(super) fn enter(&mut self, job: &Job, rank: u32, mut gathered: bool) -> RankPosition {
        let r = &mut self.ranks[rank as usize];
        if self.idle[rank as usize] {
            r.epoch = self.epochs;
        }
        while self.ranks[rank as usize].epoch < self.epochs {
            let r = &mut self.ranks[rank as usize];
            if !(self.latest.begin..self.latest.end).contains(&r.epoch) {
                self.latest = job.program.span(r.epoch);
            }
            if self.latest.together && !std::mem::take(&mut gathered) {
                self.gathered += 1;
                return RankPosition::Waits;
            }
            (r.block, r.round) = (self.latest.block, 0);
            if self.goes_on(job, rank) {
                return RankPosition::Begins;
            }
            self.ranks[rank as usize].epoch += 1;
        }
        RankPosition::Finished
    }

    /// Puts a rank at the beginning of its current round, or of the next one in which it has operations. Returns whether there is
    /// one.
    pub(super) fn goes_on(&mut self, job: &Job, rank: u32) -> bool {
        let r = &mut self.ranks[rank as usize];
        let block = &job.program.blocks()[r.block as usize];
        while r.round < block.rounds() {
            let steps = block.round(r.round);
            let ops = steps.of(rank);
            if !ops.is_empty() {
                r.remaining = ops.len() as u32;
                r.first = ops.start;
                let range = r.base as usize..r.base as usize + ops.len();
                for (waits, op) in self.ops[range].iter_mut().zip(ops) {
                    *waits = Waits { left: steps.needs(op), state: UNASKED };
                }
                return true;
            }
            r.round += 1;
        }
        false
    }
}

/// The new position of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RankPosition {
    /// It is in an epoch.
    Begins,
    /// It waits in front of an epoch that all begin together.
    Waits,
    /// It is at the end of the program.
    Finished,
}
