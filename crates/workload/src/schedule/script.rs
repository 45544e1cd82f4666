//! Schedules as programs are written: step by step.

use std::sync::OnceLock;

use super::block::Stage;
use super::rounds::ScheduleRounds;
use super::{Block, Builder, Op, Rounds, Schedule, ScheduleError, Segments};
use darkfiber_fabric::memory;

/// Writes schedules in program order. Operations added between two calls of [`Script::wait`] run concurrently; later
/// ones wait for all of them. Ranks wait only for their own operations.
///
/// ```
/// use darkfiber_workload::schedule::Script;
///
/// let mut ring = Script::new(4);
/// for rank in 0..4 {
///     ring.send(rank, (rank + 1) % 4, 1024, 0);
///     ring.recv(rank, (rank + 3) % 4, 1024, 0);
///     ring.wait(rank);
///     ring.compute(rank, 1_000_000);
/// }
/// let ring = ring.finish().expect("every message has two ends");
/// assert_eq!((ring.len(), ring.messages(), ring.bytes()), (12, 4, 4096));
/// ```
#[derive(Clone, Debug)]
pub struct Script {
    builder: Builder,
    /// By rank, the operations that new ones wait for.
    before: Vec<Vec<u32>>,
    /// By rank, the operations added since the last wait.
    now: Vec<Vec<u32>>,
    /// By rank, the detached operations until they are settled.
    aside: Vec<Vec<u32>>,
    /// Maximum number of operations.
    most: usize,
    /// Operations that were added beyond it: they are only counted.
    beyond: usize,
    /// Rounds of more operations than this stay a formula, where all ranks take part and there are no detached
    /// operations.
    most_written: usize,
    /// Closed parts, in order, and the rounds that they have at most.
    closed: Vec<Closed>,
    rounds: u64,
    /// Number of lists of steps that run concurrently, nested.
    forks: u32,
    /// Whether there are operations without a dependent so far.
    detached: bool,
}

/// A part of a script that all ranks are through before they begin the next one.
#[derive(Clone, Debug)]
enum Closed {
    Written(Builder),
    Kept(Stage),
}

/// Rounds of more operations than this are kept as a formula by [`Script::of_blocks`]: their memory does not grow with
/// their number, and what they repeat can be multiplied.
const MOST_WRITTEN: usize = 1 << 15;

/// Maximum number of operations of a script, 28 gibibytes: message counts and iterations of a benchmark are a few
/// digits of a spec, and an excess should be reported before memory is full.
const MOST: usize = 1 << 28;

/// Rounds of a block are numbered by 32 bits.
const MOST_ROUNDS: u64 = 1 << 31;

/// Bytes of memory for each operation, with what it waits for, while a schedule is made and matched (an Alltoall of 4,096 ranks took 112).
const OF_OPERATION: u64 = 112;

/// The operations that fit into the memory that was free when this was called first, at most [`MOST`].
fn most_operations() -> usize {
    static FITTING: OnceLock<usize> = OnceLock::new();
    let count = || memory::free().map_or(MOST, |free| (free / OF_OPERATION) as usize);
    *FITTING.get_or_init(|| count().min(MOST))
}

/// Steps of more operations than this end in an operation of no length, for which the next step waits instead of for
/// each of them.
const JOIN: usize = 4;

impl Script {
    /// A script for this many ranks.
    pub fn new(ranks: u32) -> Self {
        let none = vec![Vec::new(); ranks as usize];
        Self {
            builder: Builder::new(ranks),
            before: none.clone(),
            now: none.clone(),
            aside: none,
            most: most_operations(),
            beyond: 0,
            most_written: usize::MAX,
            closed: Vec::new(),
            rounds: 0,
            forks: 0,
            detached: false,
        }
    }

    /// A script for this many ranks that keeps long [`Rounds`] as the formula that they are, to be finished by
    /// [`Script::finish_block`].
    pub fn of_blocks(ranks: u32) -> Self {
        Self { most_written: MOST_WRITTEN, ..Self::new(ranks) }
    }

    /// The same, where rounds of more operations than this are kept.
    #[must_use]
    pub fn keeping_rounds(mut self, operations: usize) -> Self {
        self.most_written = operations;
        self
    }

    /// Ranks, in the order of their indices, do these rounds, and wait for their parts at the end.
    pub fn rounds(&mut self, comm: &[u32], rounds: Rounds, tag: u32) {
        let operations = (2 * comm.len()).saturating_mul(rounds.count() as usize);
        if self.keeps(comm, operations, rounds.count().into()) {
            return self.keep(Stage::Rounds(ScheduleRounds::new(comm, rounds)));
        }
        for round in 0..rounds.count() {
            for (i, &rank) in (0..).zip(comm) {
                let e = rounds.of(round, i);
                self.send(rank, comm[e.to as usize], e.bytes, tag);
                self.recv(rank, comm[e.from as usize], e.expected, tag);
                self.wait(rank);
                self.compute(rank, e.compute);
                self.wait(rank);
            }
        }
    }

    /// All ranks pass segments on, and wait for their parts at the end; only where they are [kept](Self::keeps).
    pub(crate) fn segments(&mut self, segments: Segments) {
        self.keep(Stage::Segments(segments));
    }

    /// Whether what these ranks do next in this many rounds is kept as it is described instead of written out, if that would take this many
    /// operations.
    pub(crate) fn keeps(&self, comm: &[u32], operations: usize, rounds: u64) -> bool {
        let nothing_beside = self.forks == 0
            && !self.detached
            && self.now.iter().chain(&self.aside).all(Vec::is_empty);
        operations > self.most_written
            && comm.len() == self.ranks() as usize
            && nothing_beside
            && self.beyond == 0
            && self.rounds + rounds < MOST_ROUNDS
    }

    fn keep(&mut self, stage: Stage) {
        let ranks = self.ranks();
        let open = std::mem::replace(&mut self.builder, Builder::new(ranks));
        if !open.is_empty() {
            self.closed.push(Closed::Written(open));
        }
        self.before.iter_mut().for_each(Vec::clear);
        self.rounds += u64::from(stage.count()) + 1;
        self.closed.push(Closed::Kept(stage));
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.builder.ranks()
    }

    fn add(&mut self, rank: u32, op: Op) {
        let id = self.place(rank, op, 0);
        if self.beyond == 0 {
            self.now[rank as usize].push(id);
        }
    }

    /// A rank begins an operation.
    pub fn begin(&mut self, rank: u32, op: Op) {
        self.add(rank, op);
    }

    /// Starts an operation of a rank without dependents until it is named in [`Script::join`]; the result identifies
    /// it there.
    pub fn detached(&mut self, rank: u32, op: Op) -> u32 {
        self.detached_on(rank, op, 0)
    }

    /// The same on a stream: operations on another one than 0, on which all others are, do not wait for the rank's processor.
    pub fn detached_on(&mut self, rank: u32, op: Op, stream: u8) -> u32 {
        self.detached = true;
        self.place(rank, op, stream)
    }

    /// Whether this many operations at a time fit at all: otherwise they are counted as beyond what fits, and it is not finished.
    pub(crate) fn has_room_for(&mut self, operations: u64) -> bool {
        let fits = operations <= self.most as u64;
        if !fits {
            self.beyond =
                self.beyond.saturating_add(usize::try_from(operations).unwrap_or(usize::MAX));
        }
        fits
    }

    fn place(&mut self, rank: u32, op: Op, stream: u8) -> u32 {
        if self.builder.len() >= self.most {
            self.beyond = self.beyond.saturating_add(1);
            return 0;
        }
        let id = self.builder.add(rank, op, stream);
        for &before in &self.before[rank as usize] {
            self.builder.after(id, before);
        }
        id
    }

    /// Later operations of a rank also wait for these operations of the same rank, besides those of [`Script::wait`].
    pub fn join(&mut self, rank: u32, operations: &[u32]) {
        let r = rank as usize;
        if self.beyond > 0 {
            return;
        }
        if operations.is_empty() {
            return self.wait(rank);
        }
        // The previous dependencies must remain: detached operations may have started earlier than those.
        if self.now[r].is_empty() {
            self.now[r].extend_from_slice(&self.before[r]);
        }
        self.now[r].extend_from_slice(operations);
        self.wait(rank);
    }

    /// Adds a send of a rank.
    pub fn send(&mut self, rank: u32, to: u32, bytes: u64, tag: u32) {
        self.add(rank, Op::Send { to, bytes, tag });
    }

    /// Adds a receive of a rank.
    pub fn recv(&mut self, rank: u32, from: u32, bytes: u64, tag: u32) {
        self.add(rank, Op::Recv { from, bytes, tag });
    }

    /// A rank writes into the memory of another.
    pub fn put(&mut self, rank: u32, to: u32, bytes: u64) {
        self.add(rank, Op::Put { to, bytes });
    }

    /// Adds a computation of a rank; a computation of no time is omitted.
    pub fn compute(&mut self, rank: u32, picoseconds: u64) {
        if picoseconds > 0 {
            self.add(rank, Op::Compute { picoseconds });
        }
    }

    /// A message from a rank to another.
    pub fn message(&mut self, from: u32, to: u32, bytes: u64, tag: u32) {
        self.send(from, to, bytes, tag);
        self.recv(to, from, bytes, tag);
    }

    /// Later operations of a rank wait for all earlier ones.
    pub fn wait(&mut self, rank: u32) {
        let r = rank as usize;
        if self.now[r].is_empty() || self.beyond > 0 {
            return;
        }
        if self.now[r].len() > JOIN {
            let join = self.builder.add(rank, Op::Compute { picoseconds: 0 }, 0);
            for &before in &self.now[r] {
                self.builder.after(join, before);
            }
            self.now[r].clear();
            self.now[r].push(join);
        }
        std::mem::swap(&mut self.before[r], &mut self.now[r]);
        self.now[r].clear();
    }

    /// A rank receives, beginning now; no wait waits for it before [`Script::settle`].
    pub fn recv_aside(&mut self, rank: u32, from: u32, bytes: u64, tag: u32) {
        self.recv(rank, from, bytes, tag);
        self.aside[rank as usize].extend(self.now[rank as usize].pop());
    }

    /// The next wait of a rank also waits for all that it has put aside.
    pub fn settle(&mut self, rank: u32) {
        let r = rank as usize;
        let aside = std::mem::take(&mut self.aside[r]);
        self.now[r].extend(aside);
    }

    /// Two concurrent lists of steps: both start after all earlier operations of these ranks, and later ones wait for
    /// both.
    pub fn fork(
        &mut self,
        ranks: &[u32],
        one: impl FnOnce(&mut Self),
        other: impl FnOnce(&mut Self),
    ) {
        self.wait_all(ranks);
        self.forks += 1;
        let of = |script: &Self| -> Vec<Vec<u32>> {
            ranks.iter().map(|&r| script.before[r as usize].clone()).collect()
        };
        let begin = of(self);
        one(self);
        self.wait_all(ranks);
        let end = of(self);
        for (&r, begin) in ranks.iter().zip(&begin) {
            self.before[r as usize].clone_from(begin);
        }
        other(self);
        self.wait_all(ranks);
        for ((&r, begin), end) in ranks.iter().zip(&begin).zip(end) {
            let before = &mut self.before[r as usize];
            // A list without operations of a rank has nothing to wait for.
            if *before == *begin {
                *before = end;
            } else if end != *begin {
                before.extend(end);
            }
        }
        self.forks -= 1;
    }

    /// Every rank of a list waits.
    pub fn wait_all(&mut self, ranks: &[u32]) {
        for &rank in ranks {
            self.wait(rank);
        }
    }

    /// Finishes the script and returns its schedule.
    ///
    /// # Errors
    /// If a message has one end only, or there are too many operations.
    ///
    /// # Panics
    /// If rounds were kept: that is for [`Script::finish_block`].
    pub fn finish(self) -> Result<Schedule, ScheduleError> {
        assert!(self.closed.is_empty(), "rounds are kept in blocks only");
        if self.beyond > 0 {
            let count = self.beyond.saturating_add(self.builder.len());
            return Err(ScheduleError::TooMany { what: "operations", count, most: self.most });
        }
        self.builder.finish()
    }

    /// All of it, with the rounds and segments that were kept as such.
    ///
    /// # Errors
    /// As [`Script::finish`].
    pub fn finish_block(mut self) -> Result<Block, ScheduleError> {
        let ranks = self.ranks();
        let mut stages: Vec<Stage> = Vec::new();
        for closed in std::mem::take(&mut self.closed) {
            let stage = match closed {
                Closed::Written(builder) => Stage::Written(builder.finish()?),
                Closed::Kept(stage) => stage,
            };
            // Both halves of a ring are one list of rounds, so that a run finds their pace once.
            let joined = stages.last().and_then(|last| last.joined(&stage));
            match (joined, stages.last_mut()) {
                (Some(joined), Some(last)) => *last = joined,
                _ => stages.push(stage),
            }
        }
        let last = self.finish()?;
        if stages.is_empty() || !last.is_empty() {
            stages.push(Stage::Written(last));
        }
        let later = stages.split_off(1);
        let first = stages.remove(0);
        Ok(Block::new(ranks, first, later))
    }
}
