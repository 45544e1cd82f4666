//! The environment of a traffic spec.

use crate::collective::Library;

/// The environment of a traffic spec.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ranks {
    /// Number of ranks of the job.
    pub ranks: u32,
    /// Ranks of a node, which have consecutive numbers.
    pub per_node: u32,
    /// Library whose collectives are used where a spec does not name an algorithm.
    pub library: Library,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Share of the time in which an application communicates, where its spec does not give it; `None` leaves it to
    /// the application.
    pub share: Option<f64>,
}

impl Ranks {
    /// This many ranks, one a node, Open MPI, seed 1.
    pub fn new(ranks: u32) -> Self {
        Self { ranks, per_node: 1, library: Library::OpenMpi, seed: 1, share: None }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.ranks.div_ceil(self.per_node.max(1))
    }

    /// All ranks of the run.
    pub(super) fn all(&self) -> Vec<u32> {
        (0..self.ranks).collect()
    }
}
