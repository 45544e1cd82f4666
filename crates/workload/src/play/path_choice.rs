//! Choice among the paths of a message to its destination.

use darkfiber_fabric::TerminalId;
use serde::{Deserialize, Serialize};

use crate::Stream;

/// Choice among the LIDs of a message's destination, where there are several: one rule for every model of messages.
#[derive(Clone, Copy)]
pub enum PathChoice<'a> {
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

/// Chooses paths of messages in the order in which they depart.
pub struct PathChooser<'a> {
    choice: PathChoice<'a>,
    paths: usize,
    state: ChooserState,
}

/// What changes while paths are chosen: round-robin pointers, by source, and the random numbers to come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChooserState {
    turns: Vec<u32>,
    stream: Stream,
}

impl Default for ChooserState {
    fn default() -> Self {
        Self { turns: Vec::new(), stream: Stream::new(0, 0) }
    }
}

impl<'a> PathChooser<'a> {
    /// A chooser among this number of paths to each terminal.
    pub fn new(choice: PathChoice<'a>, terminals: usize, paths: usize, seed: u64) -> Self {
        // Sources that send in step begin with different LIDs.
        let turns = if matches!(choice, PathChoice::Turns) { terminals as u32 } else { 0 };
        let stream = Stream::new(seed, 0x_7061_7468);
        Self { choice, paths, state: ChooserState { turns: (0..turns).collect(), stream } }
    }

    /// Changes places with another state of it.
    pub fn swap(&mut self, state: &mut ChooserState) {
        std::mem::swap(&mut self.state, state);
    }

    /// Whether a state can be one of this chooser.
    pub fn fits(&self, state: &ChooserState) -> bool {
        state.turns.len() == self.state.turns.len()
    }

    /// Whether a message's path depends only on its ends and the round-robin pointer: no random numbers are drawn, and channel
    /// loads are not used.
    pub fn is_even(&self) -> bool {
        matches!(self.choice, PathChoice::Routes | PathChoice::Turns | PathChoice::Split)
    }

    /// Whether messages of a source take one path after the other.
    pub fn takes_turns(&self) -> bool {
        matches!(self.choice, PathChoice::Turns) && self.paths > 1
    }

    /// By source, which path is next, where that matters.
    pub fn turns(&self) -> impl Iterator<Item = usize> + '_ {
        self.state.turns.iter().map(|&turn| turn as usize % self.paths)
    }

    /// Whether messages go in parts.
    pub fn splits(&self) -> bool {
        matches!(self.choice, PathChoice::Split) && self.paths > 1
    }

    /// Whether the choice depends on free capacity.
    pub fn adapts(&self) -> bool {
        matches!(self.choice, PathChoice::Adaptive) && self.paths > 1
    }

    /// The path that is examined first.
    pub fn first(&mut self) -> usize {
        self.state.stream.below(self.paths as u32) as usize
    }

    /// The path of a message of this number of bytes, or of a part of it; `own` is that of the routes.
    pub fn path(&mut self, from: TerminalId, to: TerminalId, bytes: u64, own: usize) -> usize {
        match &self.choice {
            PathChoice::Routes | PathChoice::Split | PathChoice::Adaptive => own,
            PathChoice::Turns => {
                let turn = &mut self.state.turns[from.index()];
                let path = *turn as usize % self.paths;
                *turn = turn.wrapping_add(1);
                path
            }
            PathChoice::Random => self.state.stream.below(self.paths as u32) as usize,
            PathChoice::By(choose) => {
                let drawn = self.state.stream.below(u32::MAX);
                choose(from, to, bytes, drawn).min(self.paths - 1)
            }
        }
    }
}
