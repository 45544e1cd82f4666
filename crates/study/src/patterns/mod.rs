//! What routes make of patterns of traffic, by counting: metrics with a name, and any pattern.

mod found;
mod part;
mod plan;

pub use found::{ItemFound, PatternsFound};
pub use part::PatternPart;
pub use plan::{PatternPlan, pattern_of};
