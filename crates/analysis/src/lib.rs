//! Evaluation of routes by counting.
//!
//! [`efi`] turns the load of every channel into the numbers that papers print; [`finding`] turns what the checker
//! proved into facts that an operator can act on, with the names of switches and ports. Pure functions of a fabric,
//! its routes and the checker's report; no I/O.

pub mod blast;
pub mod count;
mod diameter;
pub mod difference;
pub mod doctor;
pub mod ecmp;
pub mod efi;
pub mod estimate;
pub mod finding;
pub mod group_finding;
pub mod group_load;
pub mod heat;
pub mod jobs;
mod lanes;
#[cfg(feature = "explain")]
pub mod learn;
mod names;
mod number;
mod peaks;
pub mod piecewise;
pub mod place;
pub mod rail_crossing;
pub mod rings;
pub mod sharing;

pub use diameter::diameter;
pub use efi::{Bins, Efi, Histogram, dark_fiber_percent, hottest};
pub use finding::{Finding, FindingKind, Severity};
pub use lanes::{NO_LANE, main_lanes};
pub use names::{ChannelName, GuidText, Names, PairName};
pub use number::group;
pub use peaks::{Peaks, peaks};
