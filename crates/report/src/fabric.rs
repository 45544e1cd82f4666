//! The result of `darkfiber fabric`.

use std::fmt::Write as _;

use darkfiber_analysis::Finding;
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{FabricFacts, Provenance};
use crate::style::Style;
use crate::{Report, comma, findings, table};

/// The result of `darkfiber fabric`.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FabricResult {
    /// The fabric.
    #[serde(flatten)]
    pub fabric: FabricFacts,
    /// What an operator should look at.
    pub findings: Vec<Finding>,
    /// What the reader had to say, by line.
    pub diagnostics: Vec<String>,
    /// Where the result comes from.
    pub provenance: Provenance,
}

impl Report for FabricResult {
    fn text(&self, style: Style) -> String {
        let mut text = table::fabric(&self.fabric, &self.provenance.fabric_digest, style);
        if style.full && !self.fabric.unrecognised.is_empty() {
            text.push_str("\nnot recognised:\n");
            for reason in &self.fabric.unrecognised {
                let _infallible = writeln!(text, "    {reason}");
            }
        }
        if !self.findings.is_empty() {
            text.push('\n');
            text.push_str(&findings::text(&self.findings, style.full));
        }
        text
    }

    fn csv(&self) -> String {
        comma::fabric(&self.fabric)
    }
}
