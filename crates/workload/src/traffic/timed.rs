//! The parts of traffic that are timed, to measure interference.

/// The part that is timed, to measure interference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// Iterations: all ranks begin one together, and it takes as long as the last of them.
    Iterations,
    /// Runs of an application, as it measures its own time: all ranks start a run together.
    Runs,
    /// Requests of clients, each on its own: each is an epoch of the program.
    Requests,
}

impl Timed {
    /// The number of ranks, from 0 on, whose own times count, where it is not all ranks' together.
    pub fn clients(self, ranks: u32) -> Option<u32> {
        (self == Self::Requests).then(|| clients(ranks))
    }
}

/// Number of clients among the ranks: the first ones.
pub(super) fn clients(ranks: u32) -> u32 {
    ranks / 2
}
