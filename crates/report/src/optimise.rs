//! The result of `darkfiber optimise`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::measure::MeasureOutcome;
use crate::model::{FabricFacts, Provenance};

/// What was found, beside the engines made by rule.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct OptimiseResult<'a> {
    /// `worst` or `abb`.
    pub goal: &'a str,
    /// What the search began with.
    pub start: &'a str,
    /// LIDs a port that the routes found use.
    pub lids: usize,
    /// Whether all engines made by rule are beaten.
    pub better: bool,
    /// By how much, in words.
    pub verdict: &'a str,
    /// The routes found first, then the engines made by rule.
    pub engines: &'a [MeasureOutcome],
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}
