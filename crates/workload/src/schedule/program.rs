//! Schedules one after the other, and over again.

use std::sync::Arc;

use super::{Block, Schedule};

/// Schedules that a program runs over and over, by epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The first epoch of the first time.
    pub begin: u64,
    /// The first epoch after the last time.
    pub end: u64,
    /// Epochs of each time.
    pub length: u64,
}

/// Epochs in a row in which a program runs one schedule.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    /// The first of them, and the first after them.
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// The schedule, by number.
    pub(crate) block: u32,
    /// Whether all ranks begin it together.
    pub(crate) together: bool,
}

/// Schedules that every rank runs one after the other, some of them many times. A rank starts the next schedule when
/// its own part of the previous one is done: there is no barrier in between. Messages of one schedule, or of one
/// repetition, never match receives of another.
#[derive(Clone, Debug)]
pub struct Program {
    ranks: u32,
    blocks: Vec<Arc<Block>>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
struct Step {
    /// Epochs from the beginning of the list to the end of this step.
    end: u64,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// A schedule, and whether all ranks begin it together.
    Block(u32, bool),
    Repeat(Vec<Step>),
}

fn epochs(steps: &[Step]) -> u64 {
    steps.last().map_or(0, |s| s.end)
}

impl Program {
    /// An empty program for this number of ranks.
    pub fn new(ranks: u32) -> Self {
        Self { ranks, blocks: Vec::new(), steps: Vec::new() }
    }

    /// A program of one schedule, once.
    pub fn once(schedule: Schedule) -> Self {
        let mut program = Self::new(schedule.ranks());
        program.then(Arc::new(schedule.into()), 1);
        program
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Adds a schedule, to be run this many times.
    ///
    /// # Panics
    /// If it is for another number of ranks.
    pub fn then(&mut self, block: Arc<Block>, times: u64) {
        self.add(block, times, false);
    }

    /// Adds a schedule, to be run this number of times; each time ranks start when all have finished the previous one,
    /// as if after a barrier that takes no time.
    ///
    /// # Panics
    /// If it is for another number of ranks.
    pub fn then_together(&mut self, block: Arc<Block>, times: u64) {
        self.add(block, times, true);
    }

    fn add(&mut self, block: Arc<Block>, times: u64, together: bool) {
        assert_eq!(block.ranks(), self.ranks, "a schedule for another number of ranks");
        let known = self.blocks.iter().position(|b| Arc::ptr_eq(b, &block));
        let number = known.unwrap_or(self.blocks.len());
        if known.is_none() {
            self.blocks.push(block);
        }
        self.push(What::Block(number as u32, together), times);
    }

    /// Adds all of another program, to be run this many times.
    ///
    /// # Panics
    /// If it is for another number of ranks.
    pub fn then_all(&mut self, other: &Self, times: u64) {
        assert_eq!(other.ranks, self.ranks, "a program for another number of ranks");
        let numbers: Vec<u32> = other
            .blocks
            .iter()
            .map(|b| {
                let known = self.blocks.iter().position(|k| Arc::ptr_eq(k, b));
                if known.is_none() {
                    self.blocks.push(Arc::clone(b));
                }
                known.unwrap_or(self.blocks.len() - 1) as u32
            })
            .collect();
        self.push(What::Repeat(renumbered(&other.steps, &numbers)), times);
    }

    fn push(&mut self, what: What, times: u64) {
        let each = match &what {
            What::Block(..) => 1,
            What::Repeat(steps) => epochs(steps),
        };
        if each > 0 && times > 0 {
            let end = self.epochs() + each * times;
            self.steps.push(Step { end, what });
        }
    }

    /// Number of schedules that each rank executes, repetitions counted.
    pub fn epochs(&self) -> u64 {
        epochs(&self.steps)
    }

    /// The distinct schedules.
    pub fn blocks(&self) -> &[Arc<Block>] {
        &self.blocks
    }

    /// The number of the schedule that is run in an epoch, from 0, and whether all ranks begin it together.
    ///
    /// # Panics
    /// If there are not this many epochs.
    pub fn block(&self, epoch: u64) -> (usize, bool) {
        let Span { block, together, .. } = self.span(epoch);
        (block as usize, together)
    }

    /// The epochs about this one in which the same schedule is run.
    ///
    /// # Panics
    /// If there are not this many epochs.
    pub(crate) fn span(&self, epoch: u64) -> Span {
        // Epochs before the list that is looked at.
        let (mut steps, mut base) = (&self.steps, 0);
        loop {
            let i = steps.partition_point(|s| base + s.end <= epoch);
            let begin = base + if i == 0 { 0 } else { steps[i - 1].end };
            match &steps[i].what {
                What::Block(block, together) => {
                    let (block, together) = (*block, *together);
                    return Span { begin, end: base + steps[i].end, block, together };
                }
                What::Repeat(inner) => {
                    base = epoch - (epoch - begin) % epochs(inner);
                    steps = inner;
                }
            }
        }
    }

    /// Calls `each` for the loops around an epoch, the outermost first.
    pub fn each_loop(&self, epoch: u64, mut each: impl FnMut(Loop)) {
        let (mut steps, mut base) = (&self.steps, 0);
        loop {
            let i = steps.partition_point(|s| base + s.end <= epoch);
            let Some(step) = steps.get(i) else { return };
            let begin = base + if i == 0 { 0 } else { steps[i - 1].end };
            let end = base + step.end;
            let (length, inner) = match &step.what {
                What::Block(..) => (1, None),
                What::Repeat(inner) => (epochs(inner), Some(inner)),
            };
            if end - begin > length {
                each(Loop { begin, end, length });
            }
            let Some(inner) = inner else { return };
            base = epoch - (epoch - begin) % length;
            steps = inner;
        }
    }

    /// Whether ranks begin any schedule together.
    pub fn gathers(&self) -> bool {
        gathers(&self.steps)
    }

    /// The schedules, by number, and how often each is run.
    pub fn counts(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let mut count = vec![0; self.blocks.len()];
        counted(&self.steps, 1, &mut count);
        count.into_iter().enumerate()
    }

    /// Operations of all ranks, repetitions counted.
    pub fn operations(&self) -> u128 {
        self.sum(Block::operations)
    }

    /// Number of messages, counting repetitions.
    pub fn messages(&self) -> u128 {
        self.sum(Block::messages)
    }

    /// Bytes of all messages, repetitions counted.
    pub fn bytes(&self) -> u128 {
        self.sum(Block::bytes)
    }

    fn sum(&self, of: impl Fn(&Block) -> u128) -> u128 {
        self.counts().map(|(block, times)| u128::from(times) * of(&self.blocks[block])).sum()
    }
}

fn gathers(steps: &[Step]) -> bool {
    steps.iter().any(|s| match &s.what {
        What::Block(_, together) => *together,
        What::Repeat(inner) => gathers(inner),
    })
}

fn counted(steps: &[Step], times: u64, count: &mut [u64]) {
    let mut begin = 0;
    for step in steps {
        let span = step.end - begin;
        begin = step.end;
        match &step.what {
            What::Block(b, _) => count[*b as usize] += times * span,
            What::Repeat(inner) => counted(inner, times * (span / epochs(inner)), count),
        }
    }
}

fn renumbered(steps: &[Step], numbers: &[u32]) -> Vec<Step> {
    let each = |s: &Step| Step {
        end: s.end,
        what: match &s.what {
            What::Block(b, together) => What::Block(numbers[*b as usize], *together),
            What::Repeat(inner) => What::Repeat(renumbered(inner, numbers)),
        },
    };
    steps.iter().map(each).collect()
}
