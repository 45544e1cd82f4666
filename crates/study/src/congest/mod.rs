//! Slowdown of a job by another one: victims and aggressors on parts of a machine, after De Sensi et al., "An In-Depth
//! Analysis of the Slingshot Interconnect", SC'20, section III-A, and Chunduri et al., "GPCNeT: Designing a Benchmark Suite for
//! Inducing and Measuring Contention in HPC Networks", SC'19.
//!
//! A victim is timed in isolation and with each aggressor, on the same hosts of the same network: the congestion impact C is the
//! ratio of the two times.

mod error;
mod hosts;
mod names;
mod plan;
mod rule;
mod run;
mod times;

pub use error::PlanError;
pub use hosts::Hosts;
pub use plan::{APART, Cell, CongestPlan, Contender, Mechanism, Split};
pub use rule::{FEWEST, Rule};
pub use run::{CellError, CellTimes, Impact, Row, Store, run};
pub use times::{Times, TimesSummary};
