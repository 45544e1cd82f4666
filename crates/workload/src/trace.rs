//! Traces of MPI calls: the calls of each rank of a recorded run, in order.
//!
//! The stage between the files of tracers and a [`Schedule`](crate::schedule::Schedule): point-to-point calls are as
//! recorded, but collective calls are still whole, because their messages are not in a trace. [`MpiTrace::schedule`]
//! is given a function that writes them.
//!
//! Of MPI only the data that determines messages is kept: sizes, peers, tags, communicators, and which call waits for
//! which. The time between calls is computation; the time inside of calls is left out, since a run of the schedule
//! recomputes it.

mod error;
mod graph;
mod scale;
mod scheduled;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

pub use crate::schedule::ANY;
pub use error::TraceError;
pub use graph::{OpGraph, OpNode, OpWhat};
pub use scheduled::{CollectiveCall, Volume};

/// The communicator of all ranks.
pub const WORLD: u32 = 0;

/// A recorded run of MPI.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MpiTrace {
    /// Members of communicators as ranks of the world, in the order of their ranks there. [`WORLD`] comes first. A
    /// communicator without members is one whose members are not in the trace.
    pub communicators: Vec<Vec<u32>>,
    /// Calls by rank of the world; `None` if the rank's calls are missing.
    pub ranks: Vec<Option<Vec<Call>>>,
    /// Number of recorded calls of each name, of all recorded ranks; those that leave no trace in a schedule
    /// included.
    pub counts: BTreeMap<String, u64>,
}

/// A message from the point of view of one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The other end: a rank of the communicator, or [`ANY`] source.
    pub peer: u32,
    /// Payload; for a receive, the size of its buffer.
    pub bytes: u64,
    /// Tag, or [`ANY`] of a receive.
    pub tag: u32,
    /// Number of the communicator.
    pub communicator: u32,
}

/// One call of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Computation between calls.
    Compute {
        /// Duration of the computation.
        picoseconds: u64,
    },
    /// Sends, and continues when the buffer is free again.
    Send(Message),
    /// Receives a message.
    Recv(Message),
    /// Sends and receives at once: the message sent, the message received.
    Sendrecv(Box<[Message; 2]>),
    /// Begins to send, under a number of a request.
    Isend(Message, u32),
    /// Begins to receive, under a number of a request.
    Irecv(Message, u32),
    /// Waits for all of these requests; their numbers can then be used again.
    Wait(Vec<u32>),
    /// Takes part in a collective.
    Collective(Box<Collective>),
}

/// A collective as one of its members calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// Kind of the collective.
    pub kind: CollectiveKind,
    /// Number of the communicator.
    pub communicator: u32,
    /// Rank in the communicator; 0 for those without a root.
    pub root: u32,
    /// Number of bytes, as defined in [`CollectiveKind`].
    pub bytes: u64,
    /// For an all-to-all of different sizes, the bytes from this rank to each member; for a reduce-scatter of
    /// different sizes, the bytes that each member ends with. Otherwise empty.
    pub sizes: Vec<u64>,
}

/// Kinds of collectives, and the meaning of the bytes of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CollectiveKind {
    /// There are no bytes.
    Barrier,
    /// Bytes that all end with.
    Broadcast,
    /// The vector that each gives.
    Reduce,
    /// The vector that each gives.
    Allreduce,
    /// The vector that each gives; each ends with the sum of those up to its own.
    Scan,
    /// The vector that each gives; each ends with the sum of those before its own.
    Exscan,
    /// Bytes of each contribution.
    Gather,
    /// Bytes that each member gets.
    Scatter,
    /// Bytes of each contribution.
    Allgather,
    /// Bytes from each member to each.
    Alltoall,
    /// Bytes that each member ends with.
    ReduceScatter,
}

impl CollectiveKind {
    /// Its name in MPI.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "MPI_Barrier",
            Self::Broadcast => "MPI_Bcast",
            Self::Reduce => "MPI_Reduce",
            Self::Allreduce => "MPI_Allreduce",
            Self::Scan => "MPI_Scan",
            Self::Exscan => "MPI_Exscan",
            Self::Gather => "MPI_Gather",
            Self::Scatter => "MPI_Scatter",
            Self::Allgather => "MPI_Allgather",
            Self::Alltoall => "MPI_Alltoall",
            Self::ReduceScatter => "MPI_Reduce_scatter",
        }
    }

    /// Whether one member is apart from the others.
    pub fn rooted(self) -> bool {
        matches!(self, Self::Broadcast | Self::Reduce | Self::Gather | Self::Scatter)
    }
}

impl fmt::Display for CollectiveKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl MpiTrace {
    /// A trace of this number of ranks, without any calls.
    pub fn new(ranks: u32) -> Self {
        Self {
            communicators: vec![(0..ranks).collect()],
            ranks: vec![None; ranks as usize],
            counts: BTreeMap::new(),
        }
    }

    /// Number of calls at hand, those to compute left out.
    pub fn calls(&self) -> usize {
        let of =
            |calls: &Vec<Call>| calls.iter().filter(|c| !matches!(c, Call::Compute { .. })).count();
        self.ranks.iter().flatten().map(of).sum()
    }

    /// Ranks whose calls are missing.
    pub fn missing(&self) -> Vec<u32> {
        let ranks = self.ranks.iter().enumerate();
        ranks.filter(|(_, calls)| calls.is_none()).map(|(rank, _)| rank as u32).collect()
    }

    /// Counts one more call of a name.
    pub fn count(&mut self, name: &str, times: u64) {
        match self.counts.get_mut(name) {
            Some(count) => *count += times,
            None => {
                self.counts.insert(name.to_owned(), times);
            }
        }
    }

    /// The peers that a rank names in point-to-point calls, in order and each once: communicator and rank there.
    /// Where members are known, that is [`WORLD`] and the rank of the world.
    pub fn peers(&self, rank: u32) -> Vec<(u32, u32)> {
        let mut peers = Vec::new();
        let mut note = |m: &Message| {
            let members = self.communicators.get(m.communicator as usize);
            match members.and_then(|members| members.get(m.peer as usize)) {
                Some(&member) => peers.push((WORLD, member)),
                None if m.peer != ANY => peers.push((m.communicator, m.peer)),
                None => {}
            }
        };
        for call in self.ranks.get(rank as usize).into_iter().flatten().flatten() {
            match call {
                Call::Send(m) | Call::Recv(m) | Call::Isend(m, _) | Call::Irecv(m, _) => note(m),
                Call::Sendrecv(both) => both.iter().for_each(&mut note),
                _ => {}
            }
        }
        peers.sort_unstable();
        peers.dedup();
        peers
    }
}
