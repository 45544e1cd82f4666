//! Several processes that simulate one network together, each some of its parts.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The processes of a run, as one of them sees them. All calls but the first two are collective: every process makes them, in the
/// same order. What connects them is not known here: MPI in production, threads in tests.
pub trait Processes: Send + Sync + fmt::Debug {
    /// Number of this process, from 0.
    fn rank(&self) -> usize;

    /// Number of processes.
    fn size(&self) -> usize;

    /// Sends bytes to some processes and receives bytes from the same ones, which name this one in turn: by rank, in the order
    /// given. Nothing is sent to this process itself.
    fn exchange(&self, messages: Vec<(usize, Vec<u8>)>) -> Vec<Vec<u8>>;

    /// The minimum of a number over all processes.
    fn min(&self, number: u64) -> u64;

    /// The sum over all processes, modulo 2^64.
    fn sum(&self, number: u64) -> u64;

    /// The bytes of all processes, by rank.
    fn gather(&self, bytes: Vec<u8>) -> Vec<Vec<u8>>;
}

/// Parts that a network is simulated in, and the processes that share them, if there are several. No result depends on them.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'n> {
    /// The number of parts.
    pub count: usize,
    /// Number of processes that the cut is made for, which may be others than those that are there.
    pub blocks: usize,
    /// The processes. Each of them makes the same calls of the network.
    pub processes: Option<&'n dyn Processes>,
}

impl<'n> Parts<'n> {
    /// All parts are of this process.
    pub fn alone(count: usize) -> Self {
        Self { count, blocks: 1, processes: None }
    }

    /// Shared by these processes, if there are several.
    pub fn shared(count: usize, processes: Option<&'n dyn Processes>) -> Self {
        let processes = several(processes);
        Self { count, blocks: processes.map_or(1, Processes::size), processes }
    }
}

/// The processes, if there are several.
pub fn several(processes: Option<&dyn Processes>) -> Option<&dyn Processes> {
    processes.filter(|processes| processes.size() > 1)
}

/// By process, its first part; and at the end the number of parts.
pub(crate) fn shares(parts: usize, processes: usize) -> Vec<usize> {
    let first = |k: usize| k as u128 * parts as u128 / processes as u128;
    (0..=processes).map(|k| first(k) as usize).collect()
}

/// A value of every process, by rank.
pub(crate) fn gather<T: Serialize + DeserializeOwned>(
    processes: &dyn Processes,
    value: &T,
) -> Vec<T> {
    let bytes = postcard::to_stdvec(value).expect("in memory");
    let all = processes.gather(bytes).into_iter();
    all.map(|bytes| postcard::from_bytes(&bytes).expect("another sent it")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_differ_by_a_part_at_most() {
        assert_eq!(shares(4, 1), [0, 4]);
        assert_eq!(shares(8, 4), [0, 2, 4, 6, 8]);
        assert_eq!(shares(5, 3), [0, 1, 3, 5]);
    }
}
