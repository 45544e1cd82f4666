//! What can be wrong with calls.

use thiserror::Error;

use super::CollectiveKind;
use crate::schedule::ScheduleError;

/// Why calls do not make a schedule. Calls of a rank are counted from 0, those to compute included.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TraceError {
    /// Ranks whose calls are not known.
    #[error(
        "the calls of {count} of {ranks} ranks are missing (the first is rank {first}): give their files, too"
    )]
    Missing {
        /// How many.
        count: usize,
        /// Of how many.
        ranks: usize,
        /// One of them.
        first: u32,
    },
    /// Members that call different collectives at the same time.
    #[error(
        "rank {rank} call {call} is {found}, but rank {other} takes part in {expected} (its call {other_call}) at that place of communicator {communicator}"
    )]
    Disagree {
        /// Whose call does not fit.
        rank: u32,
        /// Which.
        call: usize,
        /// What it is.
        found: String,
        /// What the other member calls.
        expected: String,
        /// The other member.
        other: u32,
        /// Its call.
        other_call: usize,
        /// Number of the communicator.
        communicator: u32,
    },
    /// A member that waits for another that never comes.
    #[error(
        "rank {rank} call {call} is {kind} of communicator {communicator}, which rank {other} never takes part in: it {state}"
    )]
    Alone {
        /// Who waits.
        rank: u32,
        /// In which call.
        call: usize,
        /// What that is.
        kind: CollectiveKind,
        /// Number of the communicator.
        communicator: u32,
        /// Who does not come.
        other: u32,
        /// What that one does instead.
        state: String,
    },
    /// A rank that is not in the communicator.
    #[error(
        "rank {rank} call {call} names rank {peer} of communicator {communicator}, which has {members} members"
    )]
    NoSuchRank {
        /// Who calls.
        rank: u32,
        /// Which call.
        call: usize,
        /// Who is named.
        peer: u32,
        /// Number of the communicator.
        communicator: u32,
        /// Its size.
        members: usize,
    },
    /// A communicator whose members the trace does not tell.
    #[error(
        "rank {rank} call {call} is in communicator {communicator}, whose members cannot be derived from the trace"
    )]
    NoMembers {
        /// Who calls.
        rank: u32,
        /// Which call.
        call: usize,
        /// Number of the communicator.
        communicator: u32,
    },
    /// A list of sizes of a wrong length.
    #[error("rank {rank} call {call} is {kind} with {found} sizes among {members} members")]
    Sizes {
        /// Who calls.
        rank: u32,
        /// Which call.
        call: usize,
        /// Which collective.
        kind: CollectiveKind,
        /// Sizes given.
        found: usize,
        /// Members of the communicator.
        members: usize,
    },
    /// A request that was never started.
    #[error("rank {rank} call {call} waits for request {request}, which is not under way")]
    NoSuchRequest {
        /// Who calls.
        rank: u32,
        /// Which call.
        call: usize,
        /// Its number.
        request: u32,
    },
    /// More tags than there are numbers.
    #[error("there are too many tags for a schedule")]
    Tags,
    /// The messages do not fit together.
    #[error(transparent)]
    Faulty(#[from] ScheduleError),
}
