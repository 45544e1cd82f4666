//! Choice among the paths of a message to its destination.

use darkfiber_fabric::TerminalId;
use darkfiber_workload::Stream;

/// Choice among the LIDs of a message's destination, where there are several.
pub enum Choice<'a> {
    /// The LID that the routes state for its source; the base LID if they state none.
    Routes,
    /// One after the other, for each source on its own.
    Turns,
    /// Any path, at random.
    Random,
    /// In equal parts to all: a message is there when all parts are.
    Split,
    /// The path whose fullest channel has most free capacity when the message starts: adaptive routing with instant
    /// global knowledge, but a message takes one path. Random among equals.
    Adaptive,
    /// By source, destination, size in bytes, and a random number.
    By(&'a dyn Fn(TerminalId, TerminalId, u64, u32) -> usize),
}

/// State of the choice of paths.
pub(crate) struct Chooser<'a> {
    choice: Choice<'a>,
    paths: usize,
    turns: Vec<u32>,
    stream: Stream,
}

impl<'a> Chooser<'a> {
    pub(crate) fn new(choice: Choice<'a>, terminals: usize, paths: usize, seed: u64) -> Self {
        // Sources that send in step begin with different LIDs.
        let turns = if matches!(choice, Choice::Turns) { terminals as u32 } else { 0 };
        let turns = (0..turns).collect();
        Self { choice, paths, turns, stream: Stream::new(seed, 0x_7061_7468) }
    }

    /// Swaps its changing state: round-robin pointers and the random stream.
    pub(crate) fn swap(&mut self, turns: &mut Vec<u32>, stream: &mut Stream) {
        std::mem::swap(&mut self.turns, turns);
        std::mem::swap(&mut self.stream, stream);
    }

    /// Number of round-robin pointers that are kept.
    pub(crate) fn turn_count(&self) -> usize {
        self.turns.len()
    }

    /// Whether a message's path depends only on its ends and the round-robin pointer: no random numbers are drawn, and channel
    /// loads are not used.
    pub(crate) fn is_even(&self) -> bool {
        matches!(self.choice, Choice::Routes | Choice::Turns | Choice::Split)
    }

    /// Whether messages of a source take one path after the other.
    pub(crate) fn takes_turns(&self) -> bool {
        matches!(self.choice, Choice::Turns) && self.paths > 1
    }

    /// By source, which path is next, where that matters.
    pub(crate) fn turns(&self) -> impl Iterator<Item = usize> + '_ {
        self.turns.iter().map(|&turn| turn as usize % self.paths)
    }

    /// Whether messages go in parts.
    pub(crate) fn splits(&self) -> bool {
        matches!(self.choice, Choice::Split) && self.paths > 1
    }

    /// Whether the choice depends on free capacity.
    pub(crate) fn adapts(&self) -> bool {
        matches!(self.choice, Choice::Adaptive) && self.paths > 1
    }

    /// The path that is examined first.
    pub(crate) fn first(&mut self) -> usize {
        self.stream.below(self.paths as u32) as usize
    }

    /// The path of a message; `own` is that of the routes.
    pub(crate) fn path(
        &mut self,
        from: TerminalId,
        to: TerminalId,
        bytes: u64,
        own: usize,
    ) -> usize {
        match &self.choice {
            Choice::Routes | Choice::Split | Choice::Adaptive => own,
            Choice::Turns => {
                let turn = &mut self.turns[from.index()];
                let path = *turn as usize % self.paths;
                *turn = turn.wrapping_add(1);
                path
            }
            Choice::Random => self.stream.below(self.paths as u32) as usize,
            Choice::By(choose) => {
                let drawn = self.stream.below(u32::MAX);
                choose(from, to, bytes, drawn).min(self.paths - 1)
            }
        }
    }
}
