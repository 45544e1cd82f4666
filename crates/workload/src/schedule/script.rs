//! Schedules as programs are written: step by step.

use super::{Builder, Op, Schedule, ScheduleError};

/// Writes schedules in program order. What a rank is told between two calls of [`Script::wait`] goes on at once; what
/// comes after waits for all of it. Ranks wait for themselves only.
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
    /// By rank, what everything now told waits for.
    before: Vec<Vec<u32>>,
    /// By rank, what was told since the last wait.
    now: Vec<Vec<u32>>,
    /// By rank, what goes on beside until it is settled.
    aside: Vec<Vec<u32>>,
    /// Operations that were told when there were [`MOST`] already: they are counted, and nothing else.
    beyond: usize,
}

/// The most operations of a script, some twelve gibibytes: messages at once and iterations of a benchmark are a few digits of a
/// spec, and nobody should have to wait until memory is full to hear that they are too many.
const MOST: usize = 1 << 28;

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
            beyond: 0,
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.builder.ranks()
    }

    fn add(&mut self, rank: u32, op: Op) {
        let id = self.detached(rank, op);
        if self.beyond == 0 {
            self.now[rank as usize].push(id);
        }
    }

    /// A rank begins an operation.
    pub fn begin(&mut self, rank: u32, op: Op) {
        self.add(rank, op);
    }

    /// A rank begins an operation that nothing waits for until it is named in [`Script::join`]; what is returned names
    /// it there.
    pub fn detached(&mut self, rank: u32, op: Op) -> u32 {
        if self.builder.len() >= MOST {
            self.beyond += 1;
            return 0;
        }
        let id = self.builder.add(rank, op, 0);
        for &before in &self.before[rank as usize] {
            self.builder.after(id, before);
        }
        id
    }

    /// What a rank is told from here on waits for these operations of its own, too, besides all that
    /// [`Script::wait`] waits for.
    pub fn join(&mut self, rank: u32, operations: &[u32]) {
        let r = rank as usize;
        if self.beyond > 0 {
            return;
        }
        if operations.is_empty() {
            return self.wait(rank);
        }
        // What was before must still be waited for: detached operations may have started earlier than that.
        if self.now[r].is_empty() {
            self.now[r].extend_from_slice(&self.before[r]);
        }
        self.now[r].extend_from_slice(operations);
        self.wait(rank);
    }

    /// A rank sends.
    pub fn send(&mut self, rank: u32, to: u32, bytes: u64, tag: u32) {
        self.add(rank, Op::Send { to, bytes, tag });
    }

    /// A rank receives.
    pub fn recv(&mut self, rank: u32, from: u32, bytes: u64, tag: u32) {
        self.add(rank, Op::Recv { from, bytes, tag });
    }

    /// A rank writes into the memory of another.
    pub fn put(&mut self, rank: u32, to: u32, bytes: u64) {
        self.add(rank, Op::Put { to, bytes });
    }

    /// A rank computes; nothing is written down for no time.
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

    /// What a rank is told from here on waits for all that it was told before.
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

    /// Two lists of steps that go on at once: both begin after all that these ranks were told before, and what comes
    /// after waits for both.
    pub fn fork(
        &mut self,
        ranks: &[u32],
        one: impl FnOnce(&mut Self),
        other: impl FnOnce(&mut Self),
    ) {
        self.wait_all(ranks);
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
            // A list that told a rank nothing has nothing to wait for.
            if *before == *begin {
                *before = end;
            } else if end != *begin {
                before.extend(end);
            }
        }
    }

    /// Every rank of a list waits.
    pub fn wait_all(&mut self, ranks: &[u32]) {
        for &rank in ranks {
            self.wait(rank);
        }
    }

    /// The schedule.
    ///
    /// # Errors
    /// If a message has one end only, or there are too many operations.
    pub fn finish(self) -> Result<Schedule, ScheduleError> {
        if self.beyond > 0 {
            let count = self.builder.len() + self.beyond;
            return Err(ScheduleError::TooMany { what: "operations", count, most: MOST });
        }
        self.builder.finish()
    }
}
