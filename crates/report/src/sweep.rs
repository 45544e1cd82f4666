//! The result of `darkfiber sweep`.

mod picture;

pub use picture::{Column, picture};

use darkfiber_study::{Summary, SweepRun};
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{FabricFacts, Provenance};
use crate::style::Style;
use crate::{Report, comma, table};

/// The result of `darkfiber sweep`.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Sweep<'a> {
    /// The fabrics without faults.
    pub fabrics: &'a [FabricFacts],
    /// One entry a fabric, share of failed cables and engine.
    pub summary: &'a [Summary],
    /// Every run.
    pub runs: &'a [SweepRun],
    /// Where the result comes from; the digests of several fabrics are separated by blanks.
    pub provenance: &'a Provenance,
}

impl Report for Sweep<'_> {
    fn text(&self, style: Style) -> String {
        let one = |facts: &FabricFacts| {
            let rows = self.summary.iter().filter(|row| row.fabric == facts.name);
            format!("{}\n\n{}", table::headline(facts), table::sweep(rows, style))
        };
        self.fabrics.iter().map(one).collect::<Vec<_>>().join("\n")
    }

    fn csv(&self) -> String {
        comma::runs(self.runs)
    }
}
