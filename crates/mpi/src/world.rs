//! All processes that a launcher has started.

use std::sync::Arc;

use darkfiber_packetsim::Processes;
use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::point_to_point::MatchedReceiveVec;
use mpi::request::{Request, WaitGuard, scope};
use mpi::topology::{Rank, SimpleCommunicator};
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use mpi::{Count, Threading};

use crate::StartError;

/// Exit code of all processes if one of them panics: a bug (`EX_SOFTWARE` of sysexits.h).
const BUG: i32 = 70;

/// MPI, as long as it lives. Dropping it waits for the other processes.
pub struct World {
    processes: Arc<dyn Processes>,
    /// Ends MPI when it is dropped, after a panic was looked for.
    _universe: Universe,
}

impl World {
    /// The processes.
    pub fn processes(&self) -> &Arc<dyn Processes> {
        &self.processes
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The others would wait for this one.
            SimpleCommunicator::world().abort(BUG);
        }
    }
}

/// Begins MPI. All calls of the processes are to be made by one thread at a time.
///
/// # Errors
/// If there is no other process, MPI was started before, or it does not allow threads.
pub fn start() -> Result<World, StartError> {
    let (universe, threading) =
        mpi::initialize_with_threading(Threading::Serialized).ok_or(StartError::Started)?;
    if threading < Threading::Serialized {
        return Err(StartError::Threads);
    }
    let world = SimpleCommunicator::world();
    let whole = |number| usize::try_from(number).unwrap_or(0);
    let (rank, size) = (whole(world.rank()), whole(world.size()));
    if size < 2 {
        return Err(StartError::OneProcess);
    }
    Ok(World { processes: Arc::new(Mpi { rank, size }), _universe: universe })
}

/// One process of all.
#[derive(Debug)]
struct Mpi {
    rank: usize,
    size: usize,
}

/// Bytes of a message at most: counts of MPI-3 are 32 bits wide. One with fewer is the last piece.
const PIECE: usize = 1 << 30;

/// Bytes in pieces, of which the last one is shorter than the others, and may be empty.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..=bytes.len() / PIECE).map(|i| &bytes[i * PIECE..bytes.len().min((i + 1) * PIECE)])
}

impl Mpi {
    /// Receives a message from a process, piece by piece.
    fn receive(world: &SimpleCommunicator, rank: usize) -> Vec<u8> {
        let from = world.process_at_rank(mpi_rank(rank));
        let mut all: Vec<u8> = from.matched_probe().matched_receive_vec().0;
        let mut last = all.len();
        while last == PIECE {
            let (piece, _) = from.matched_probe().matched_receive_vec::<u8>();
            last = piece.len();
            all.extend(piece);
        }
        all
    }

    fn reduce(number: u64, operation: SystemOperation) -> u64 {
        let mut all = 0;
        SimpleCommunicator::world().all_reduce_into(&number, &mut all, operation);
        all
    }
}

impl Processes for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn exchange(&self, messages: Vec<(usize, Vec<u8>)>) -> Vec<Vec<u8>> {
        let world = SimpleCommunicator::world();
        scope(|scope| {
            let mut sent: Vec<WaitGuard<'_, [u8], _>> = Vec::with_capacity(messages.len());
            for (rank, bytes) in &messages {
                let to = world.process_at_rank(mpi_rank(*rank));
                let send = |piece| -> Request<'_, [u8], _> { to.immediate_send(scope, piece) };
                sent.extend(pieces(bytes).map(|piece| WaitGuard::from(send(piece))));
            }
            messages.iter().map(|(rank, _)| Self::receive(&world, *rank)).collect()
        })
    }

    fn min(&self, number: u64) -> u64 {
        Self::reduce(number, SystemOperation::min())
    }

    fn sum(&self, number: u64) -> u64 {
        Self::reduce(number, SystemOperation::sum())
    }

    fn gather(&self, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        let world = SimpleCommunicator::world();
        let mut lengths = vec![0u64; self.size];
        world.all_gather_into(&(bytes.len() as u64), &mut lengths[..]);
        let total: u64 = lengths.iter().sum();
        let count = |length| Count::try_from(length).expect("the sum has 32 bits");
        if Count::try_from(total).is_err() {
            // Too long for one call.
            let others = (0..self.size).filter(|rank| *rank != self.rank);
            let mut all = self.exchange(others.map(|rank| (rank, bytes.clone())).collect());
            all.insert(self.rank, bytes);
            return all;
        }
        let counts: Vec<Count> = lengths.iter().map(|&length| count(length)).collect();
        let mut end = 0;
        let begin = |count: &Count| {
            end += count;
            end - count
        };
        let begins: Vec<Count> = counts.iter().map(begin).collect();
        let mut all = vec![0; total as usize];
        let mut parts = PartitionMut::new(&mut all[..], &counts[..], &begins[..]);
        world.all_gather_varcount_into(&bytes[..], &mut parts);
        let mut rest = &all[..];
        let part = |length: u64| rest.split_off(..length as usize).unwrap_or_default().to_vec();
        lengths.into_iter().map(part).collect()
    }
}

/// The rank of a process as MPI has it.
fn mpi_rank(rank: usize) -> Rank {
    Rank::try_from(rank).expect("MPI has given it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_piece_is_shorter() {
        let lengths = |n: usize| pieces(&vec![0; n]).map(<[u8]>::len).collect::<Vec<_>>();
        assert_eq!(lengths(0), [0]);
        assert_eq!(lengths(7), [7]);
        assert_eq!(lengths(PIECE), [PIECE, 0]);
        assert_eq!(lengths(PIECE + 1), [PIECE, 1]);
    }
}
