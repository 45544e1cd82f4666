//! Counters that predict the time of a step: features of them, split into a low-rank part and outliers, and trees that
//! learn times from either.
//!
//! S. A. Smith et al., Mitigating Inter-Job Interference Using Adaptive Flow-Aware Routing (SC'18), section IV-D.

mod boost;
mod judge;
mod robust;
mod samples;

pub use boost::{Boosted, Boosting};
pub use judge::{Features, Judged, Model, judge};
pub use robust::{Parts, decompose};
pub use samples::{Reading, Samples, Unfit};
