//! Traffic and jobs: who sends to whom, and which job runs where.
//!
//! A [`History`] holds the terminals that ran jobs together and the times; [`History::scheduled`] makes one from a
//! log without places, with an allocator of [`placement`].
//!
//! A [`schedule::Program`] gives the computations, sends and receives of each rank of a job, and their order;
//! [`play`] runs it over any network, [`collective`] writes the collectives of MPI and NCCL, and [`traffic`] the
//! traffic of benchmarks and applications.
//!
//! An [`MpiTrace`](trace::MpiTrace) is a recorded run, from which schedules are made; a [`CommMatrix`] keeps only the
//! bytes between ranks.
//!
//! A [`Pattern`] gives pairs of participants, phase by phase or sample by sample, for any number of them; the meaning
//! of a participant (a terminal, a node of a job) is up to the caller. Nothing here depends on a fabric's routes.
//!
//! ```
//! use darkfiber_workload::{Participants, Stream, pattern};
//!
//! let shift = pattern("shift:by=3", &Participants::all(8))?;
//! let mut pairs = Vec::new();
//! shift.fill(0, &mut Stream::new(1, 0), &mut pairs);
//! assert_eq!(pairs[..2], [[0, 3], [1, 4]]);
//!
//! // Sample 7 of the stream of seed 1, whoever draws the others.
//! let bisect = pattern("bisect", &Participants::all(8))?;
//! bisect.fill(7, &mut Stream::new(1, 7), &mut pairs);
//! assert_eq!(pairs.len(), 4);
//! # Ok::<(), darkfiber_workload::PatternError>(())
//! ```

mod backfill;
pub mod collective;
pub mod demands;
pub mod histogram;
mod history;
mod machine;
mod mapping;
mod matrix;
mod month;
pub mod nccl;
mod near_cubic;
mod pattern;
pub mod placement;
pub mod play;
pub mod quantity;
pub mod schedule;
mod state;
mod stream;
pub mod trace;
pub mod traffic;
pub mod training;

pub use backfill::{BackfillResult, JobRequest, StartedJob, backfill, scaled};
pub use history::{History, HistoryWalk, Stay};
pub use machine::Machine;
pub use mapping::Mapping;
pub use matrix::CommMatrix;
pub use month::{MONTH_HOSTS, month};
pub use pattern::{
    Extent, PATTERNS, Participants, Pattern, PatternError, PatternKind, kind, listed_pairs, pattern,
};

pub use stream::Stream;
