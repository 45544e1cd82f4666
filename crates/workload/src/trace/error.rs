//! Errors in the calls of a trace.

use thiserror::Error;

use super::CollectiveKind;
use crate::schedule::ScheduleError;

/// Why calls do not make a schedule. Calls of a rank are counted from 0, those to compute included.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TraceError {
    /// Ranks whose calls are missing.
    #[error(
        "the calls of {count} of {ranks} ranks are missing (the first is rank {first}): give their files, too"
    )]
    Missing {
        /// Number of such ranks.
        count: usize,
        /// Number of all ranks.
        ranks: usize,
        /// The first such rank.
        first: u32,
    },
    /// Members that call different collectives at the same time.
    #[error(
        "rank {rank} call {call} is {found}, but rank {other} takes part in {expected} (its call {other_call}) at that place of communicator {communicator}"
    )]
    Disagree {
        /// Rank whose call does not fit.
        rank: u32,
        /// Number of the call.
        call: usize,
        /// Description of the call.
        found: String,
        /// Call of the other member.
        expected: String,
        /// Rank of the other member.
        other: u32,
        /// Number of its call.
        other_call: usize,
        /// Number of the communicator.
        communicator: u32,
    },
    /// A member that waits for another that never comes.
    #[error(
        "rank {rank} call {call} is {kind} of communicator {communicator}, which rank {other} never takes part in: it {state}"
    )]
    Alone {
        /// Rank that waits.
        rank: u32,
        /// Number of the call.
        call: usize,
        /// Kind of the collective.
        kind: CollectiveKind,
        /// Number of the communicator.
        communicator: u32,
        /// Member that does not join.
        other: u32,
        /// State of the missing member.
        state: String,
    },
    /// A rank that is not in the communicator.
    #[error(
        "rank {rank} call {call} names rank {peer} of communicator {communicator}, which has {members} members"
    )]
    NoSuchRank {
        /// Rank of the call.
        rank: u32,
        /// Number of the call.
        call: usize,
        /// Rank that is named.
        peer: u32,
        /// Number of the communicator.
        communicator: u32,
        /// Size of the communicator.
        members: usize,
    },
    /// A communicator whose members are not in the trace.
    #[error(
        "rank {rank} call {call} is in communicator {communicator}, whose members cannot be derived from the trace"
    )]
    NoMembers {
        /// Rank of the call.
        rank: u32,
        /// Number of the call.
        call: usize,
        /// Number of the communicator.
        communicator: u32,
    },
    /// A list of sizes of a wrong length.
    #[error("rank {rank} call {call} is {kind} with {found} sizes among {members} members")]
    Sizes {
        /// Rank of the call.
        rank: u32,
        /// Number of the call.
        call: usize,
        /// Kind of the collective.
        kind: CollectiveKind,
        /// Number of sizes given.
        found: usize,
        /// Members of the communicator.
        members: usize,
    },
    /// A request that was never started.
    #[error("rank {rank} call {call} waits for request {request}, which is not under way")]
    NoSuchRequest {
        /// Rank of the call.
        rank: u32,
        /// Number of the call.
        call: usize,
        /// Number of the request.
        request: u32,
    },
    /// More tags than there are numbers.
    #[error("there are too many tags for a schedule")]
    Tags,
    /// The messages do not fit together.
    #[error(transparent)]
    Faulty(#[from] ScheduleError),
}
