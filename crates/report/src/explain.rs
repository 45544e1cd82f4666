//! The result of `darkfiber explain`: quantities that predict how long something takes.

mod learned;
mod lines;
mod times;

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

pub use learned::{Importance, Learned, LearnedModel, Step};
pub use lines::{Lines, Two};

use times::Times;

use crate::Report;
use crate::style::Style;

/// All of it. Loads, counters and times have the units of the file.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ExplainResult<'a> {
    /// The file.
    pub file: &'a str,
    /// Column of times.
    pub time: &'a str,
    /// Rows that have all that counts.
    pub rows: usize,
    /// By one load.
    pub lines: Option<Lines<'a>>,
    /// By features.
    pub learned: Option<Learned<'a>>,
    /// What the numbers do and do not say.
    pub findings: &'a [String],
    /// Version of the program.
    pub version: &'a str,
}

impl ExplainResult<'_> {
    fn times(&self) -> Times<'_> {
        Times { file: self.file, column: self.time, rows: self.rows }
    }
}

impl Report for ExplainResult<'_> {
    // For people.
    fn text(&self, style: Style) -> String {
        let mut text = String::new();
        if let Some(l) = &self.lines {
            text.push_str(&lines::text(self.times(), l, style));
        }
        if let Some(l) = &self.learned {
            text.push_str(&learned::text(self.times(), l, style));
        }
        text.push('\n');
        for finding in self.findings {
            let _ok = writeln!(text, "{finding}");
        }
        text
    }

    // Actual and predicted times.
    fn csv(&self) -> String {
        let by_load = self.lines.iter().map(|l| lines::csv(self.time, l));
        by_load.chain(self.learned.iter().map(|l| learned::csv(self.time, l))).collect()
    }
}

/// A picture of measured and predicted times.
pub fn picture(r: &ExplainResult<'_>) -> String {
    let by_load = r.lines.iter().map(|l| lines::picture(r.times(), l));
    by_load.chain(r.learned.iter().map(|l| learned::picture(r.times(), l))).collect()
}
