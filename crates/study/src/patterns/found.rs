//! Results of counting patterns.

use darkfiber_analysis::count::{Bounds, Measured, Worst};

/// Results of routes on patterns.
#[derive(Clone, Debug)]
pub struct PatternsFound {
    /// Engine that computed the routes.
    pub engine: String,
    /// Seconds that this took.
    pub seconds: f64,
    /// Whether flows are weighted by the speed of links.
    pub by_speed: bool,
    /// Metrics that were requested.
    pub metrics: Vec<&'static str>,
    /// The worst permutation, if it was requested.
    pub worst: Option<Worst>,
    /// Every pattern that was counted: those of metrics first.
    pub items: Vec<ItemFound>,
}

/// Results of routes on one pattern.
#[derive(Clone, Debug)]
pub struct ItemFound {
    /// The pattern as it was requested.
    pub spec: String,
    /// Counts of the pattern.
    pub measured: Measured,
    /// Upper bounds for any routes, if requested.
    pub bounds: Option<Bounds>,
}

impl PatternsFound {
    /// The counts of a pattern.
    pub fn of(&self, spec: &str) -> Option<&ItemFound> {
        self.items.iter().find(|item| item.spec == spec)
    }
}
