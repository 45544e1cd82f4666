//! A request for metrics and patterns, as text.

use darkfiber_analysis::count::{Bandwidth, Precision};

/// A request for metrics and patterns, as text.
#[derive(Clone, Debug, Default)]
pub struct PatternPart {
    /// Names of the metrics.
    pub metrics: Vec<String>,
    /// Specs of patterns, or files of pairs.
    pub patterns: Vec<String>,
    /// Quantities to compute for patterns in addition to their share.
    pub bandwidths: Vec<Bandwidth>,
    /// Participants: names, numbers, node sets or a file of them; all terminals that run jobs without.
    pub among: Option<String>,
    /// A file of other names of hosts, and of groups.
    pub aliases: Option<String>,
    /// Whether flows are weighted by the speed of links.
    pub link_speeds: bool,
    /// When to stop drawing samples.
    pub precision: Precision,
}
