//! The result of `darkfiber optimise`.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::measure::{self, MeasureOutcome};
use crate::model::{FabricFacts, Provenance};
use crate::style::Style;
use crate::table::headline;

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
    /// Metrics that people see, by name.
    #[serde(skip)]
    pub metrics: &'a [&'a str],
    /// The fabric.
    pub fabric: &'a FabricFacts,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

impl Report for OptimiseResult<'_> {
    fn text(&self, style: Style) -> String {
        let mut text = format!("{}\n\n", headline(self.fabric));
        text.push_str(&measure::text(self.engines, self.metrics, &[], style));
        let _infallible = writeln!(
            text,
            "\noptimised: started with {}, {} LIDs a port\n{}",
            self.start, self.lids, self.verdict
        );
        text
    }

    fn csv(&self) -> String {
        measure::csv(self.engines)
    }
}
