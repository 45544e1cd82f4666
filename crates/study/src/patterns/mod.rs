//! Performance of routes on traffic patterns, by counting: named metrics, and any pattern.

mod found;
mod part;
mod plan;

pub use found::{ItemFound, PatternsFound};
pub use part::PatternPart;
pub use plan::{PatternPlan, pattern_of};
