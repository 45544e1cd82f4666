//! What was found about patterns.

use darkfiber_analysis::count::{Bounds, Measured, Worst};

/// What routes make of patterns.
#[derive(Clone, Debug)]
pub struct PatternsFound {
    /// Who made the routes.
    pub engine: String,
    /// Seconds that this took.
    pub seconds: f64,
    /// Whether flows are weighted by the speed of links.
    pub by_speed: bool,
    /// The metrics that were asked for.
    pub metrics: Vec<&'static str>,
    /// The worst permutation, if it was asked for.
    pub worst: Option<Worst>,
    /// Every pattern that was counted: those of metrics first.
    pub items: Vec<ItemFound>,
}

/// What routes make of a pattern.
#[derive(Clone, Debug)]
pub struct ItemFound {
    /// The pattern as it was asked for.
    pub spec: String,
    /// What was counted.
    pub measured: Measured,
    /// What no routes exceed, if it was asked for.
    pub bounds: Option<Bounds>,
}

impl PatternsFound {
    /// What was counted of a pattern.
    pub fn of(&self, spec: &str) -> Option<&ItemFound> {
        self.items.iter().find(|item| item.spec == spec)
    }
}
