//! Counters that predict the time of a step: features of them, split into a low-rank part and outliers, and trees that
//! learn times from either.
//!
//! S. A. Smith et al., Mitigating Inter-Job Interference Using Adaptive Flow-Aware Routing (SC'18), section IV-D.

mod boost;
mod judge;
mod robust;
mod samples;

pub use boost::{BoostedTrees, BoostingParams};
pub use judge::{Features, Model, ModelScores, judge};
pub use robust::{Parts, decompose};
pub use samples::{FitError, Reading, Samples};
