//! What is asked of patterns, in words.

use darkfiber_analysis::count::{Bandwidth, Precision};

/// What is asked of patterns, in words.
#[derive(Clone, Debug, Default)]
pub struct PatternPart {
    /// Names of metrics.
    pub metrics: Vec<String>,
    /// Specs of patterns, or files of pairs.
    pub patterns: Vec<String>,
    /// What of patterns is found out beside their share.
    pub bandwidths: Vec<Bandwidth>,
    /// Who takes part: names, numbers, node sets or a file of them; all terminals that run jobs without.
    pub among: Option<String>,
    /// A file of other names of hosts, and of groups.
    pub aliases: Option<String>,
    /// Whether flows are weighted by the speed of links.
    pub link_speeds: bool,
    /// When to stop drawing samples.
    pub precision: Precision,
}
