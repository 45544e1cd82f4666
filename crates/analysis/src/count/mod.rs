//! The counting depth: channel loads of a traffic pattern, path by path, without time.
//!
//! [`Paths`] holds the channels between any two participants; [`measure`] draws patterns and counts the flows on
//! every channel; [`worst`](worst::worst) finds the permutation that loads a channel most. Four numbers are called
//! bandwidth in the literature, and differ by factors; here each has a separate name ([`Bandwidth`]).

mod bounds;
mod counter;
mod fair;
mod halves;
mod metric;
mod paths;
mod sample;
mod worst;

pub use bounds::{Bounds, bounds};
pub use counter::Costs;
pub use fair::{fair_rates, finish_time};
pub use halves::Halves;
pub use metric::{METRICS, Metric, MetricSource};
pub use paths::{Paths, UnreachablePairs};
pub use sample::{Bandwidth, Estimate, Measured, Precision, Quantities, measure};
pub use worst::{TooLarge, Worst, worst};
