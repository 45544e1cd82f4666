//! Traces of MPI calls: what each rank of a recorded run called, in its order.
//!
//! Between the files of tracers and a [`Schedule`](crate::schedule::Schedule): point-to-point calls are as they were
//! recorded, but collective calls are still whole, because which messages they are made of is not in a trace.
//! [`MpiTrace::schedule`] is given a function that writes them.
//!
//! What is kept of MPI is what decides on messages: sizes, peers, tags, communicators, and which call waits for which.
//! The time between calls is computation; the time inside of calls is left out, since a run of the schedule finds it
//! out anew.

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

/// A recorded run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MpiTrace {
    /// Members of communicators as ranks of the world, in the order of their ranks there. [`WORLD`] comes first. One
    /// without members is one that the trace does not tell the members of.
    pub communicators: Vec<Vec<u32>>,
    /// Calls by rank of the world; `None` if the rank's calls are not at hand.
    pub ranks: Vec<Option<Vec<Call>>>,
    /// How often calls of each name were recorded, of all ranks at hand; those that leave no trace in a schedule
    /// included.
    pub counts: BTreeMap<String, u64>,
}

/// A message from the point of view of one of its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The other end: a rank of the communicator, or [`ANY`] source.
    pub peer: u32,
    /// Payload; of a receive, what there is room for.
    pub bytes: u64,
    /// Tag, or [`ANY`] of a receive.
    pub tag: u32,
    /// Number of the communicator.
    pub communicator: u32,
}

/// One call of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Time between calls.
    Compute {
        /// For how long.
        picoseconds: u64,
    },
    /// Sends, and goes on when the buffer is free again.
    Send(Message),
    /// Receives.
    Recv(Message),
    /// Sends and receives at once: what is sent, what is received.
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
    /// Which.
    pub kind: CollectiveKind,
    /// Number of the communicator.
    pub communicator: u32,
    /// Rank in the communicator; 0 for those without a root.
    pub root: u32,
    /// See [`CollectiveKind`].
    pub bytes: u64,
    /// Of an all-to-all of different sizes, what this rank sends to each member; of a reduce-scatter of different
    /// sizes, what each member ends with. Otherwise empty.
    pub sizes: Vec<u64>,
}

/// Kinds of collectives, and what the bytes of each are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CollectiveKind {
    /// No bytes.
    Barrier,
    /// What all end with.
    Broadcast,
    /// The vector that each gives.
    Reduce,
    /// The vector that each gives.
    Allreduce,
    /// The vector that each gives; each ends with the sum of those up to its own.
    Scan,
    /// The vector that each gives; each ends with the sum of those before its own.
    Exscan,
    /// What each member gives.
    Gather,
    /// What each member gets.
    Scatter,
    /// What each member gives.
    Allgather,
    /// What each member gives to each.
    Alltoall,
    /// What each member ends with.
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
    /// A trace of this many ranks, none of whose calls are known yet.
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

    /// Ranks whose calls are not at hand.
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

    /// The other ends that a rank names in point-to-point calls, in order and each once: communicator and rank there.
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
