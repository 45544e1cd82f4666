//! Studies: many runs over fabrics, engines and faults.
//!
//! [`sweep`] is the fault sweep of Domke, Hoefler, Matsuoka, "Fail-in-place network design: interaction between
//! topology, routing algorithm and failures", SC'14: how do engines and topologies tolerate cables that fail and are
//! not replaced? [`replay`] computes what each engine would have done for the jobs that a machine ran. [`reproduce`]
//! runs published experiments again and compares. All are pure functions of fabrics, engines and seeds; the caller
//! provides the clock and the thread pool.

pub mod compare;
pub mod congest;
pub mod curve;
pub mod grid;
mod interval;
pub mod judged;
mod listed;
mod moved;
pub mod patterns;
mod pieces;
pub mod replay;
pub mod reproduce;
mod summary;
mod sweep;

pub use darkfiber_scenario::Chain;
pub use interval::{MeanInterval, student_t};
pub use listed::listed;
pub use moved::moved;
pub use pieces::{Measured, Pieces};
pub use summary::{Stat, Summary, summarise};
pub use sweep::{SweepOutcome, SweepPlan, SweepRun, sweep};

/// Seconds since some fixed moment.
pub type Clock<'a> = &'a (dyn Fn() -> f64 + Sync);
