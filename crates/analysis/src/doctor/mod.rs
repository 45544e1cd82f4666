//! The daily checks of an administrator, area by area: what is wrong, and what to do.
//!
//! Each function examines one [`Area`] and returns one [`Exam`]; an area without input files is [`Exam::not_asked`].

mod bad;
mod balance;
mod exam;
mod lids;
mod speeds;

pub use bad::{bad_cables, hot_cables};
pub use balance::{EngineLoad, balance, dark_fiber};
pub use exam::{Area, Exam, Verdict};
pub use lids::lids;
pub use speeds::speeds;
