//! Who sends to whom, and who runs where.
//!
//! A [`History`] says which terminals ran jobs together and when; [`History::scheduled`] makes one from a log that
//! does not say where, with an allocator of [`placement`].
//!
//! A [`schedule::Program`] says what each rank of a job computes, sends and receives, and in which order;
//! [`play`] runs it over any network, [`collective`] writes what MPI and NCCL do, and
//! [`traffic`] what benchmarks and applications do.
//!
//! An [`MpiTrace`](trace::MpiTrace) is a recorded run, that schedules are made of; a [`CommMatrix`] is what is left of
//! one when only the bytes between ranks are kept.
//!
//! A [`Pattern`] names pairs of participants, phase by phase or sample by sample, for any number of
//! them; what a participant is (a terminal, a node of a job) is the caller's affair. Nothing here knows
//! a fabric's routes.
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

pub use backfill::{Backfilled, Begun, Wish, backfill, scaled};
pub use history::{History, Stay, Walk};
pub use machine::Machine;
pub use mapping::Mapping;
pub use matrix::CommMatrix;
pub use month::{MONTH_HOSTS, month};
pub use pattern::{
    Extent, PATTERNS, Participants, Pattern, PatternError, PatternKind, given, kind, pattern,
};

pub use stream::Stream;
