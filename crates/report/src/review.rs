//! The result of `darkfiber operate review`: advice of a journal, what became of it, and how long it took.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::Report;
use crate::comma;
use crate::number::{counted, duration};
use crate::style::Style;
use crate::table;

/// What a journal shows.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ReviewResult<'a> {
    /// Name of the site.
    pub site: &'a str,
    /// Number of steps that were followed.
    pub steps: usize,
    /// Times of the first and the last step, seconds since 1970; `None` without steps.
    pub from_to: Option<(f64, f64)>,
    /// Decisions for which tables were found, in the order of time.
    pub decisions: &'a [DecisionRow],
    /// Totals of what was proposed.
    pub advice: AdviceTotals,
    /// Seconds of each part of the decisions whose tables were put in place.
    pub parts: &'a [PartRow],
}

/// A decision.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct DecisionRow {
    /// Its number.
    pub id: u64,
    /// When it began, as a date.
    pub at: String,
    /// What it was thought of for: `jobs`, `fault`, ...
    pub trigger: String,
    /// Share by which the load falls; `None` for repairs, whose gain is that pairs reach.
    pub gain: Option<f64>,
    /// Entries that change.
    pub entries: u64,
    /// Blocks of 64 LIDs that change.
    pub blocks: u64,
    /// Stages.
    pub stages: usize,
    /// What became of it.
    pub outcome: String,
    /// Seconds from its beginning until its tables were in place; `None` if they never were.
    pub in_place_after: Option<f64>,
    /// Seconds from when it was shown until what it rested on was no longer so; `None` if it was not shown, or still is so.
    pub valid_for: Option<f64>,
}

/// Totals of what was proposed.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct AdviceTotals {
    /// Proposals.
    pub shown: usize,
    /// Those whose tables were put in place while they were valid.
    pub taken: usize,
    /// Median of the seconds from proposal to tables in place.
    pub taken_after: Option<f64>,
    /// Mean gain of those that were not taken.
    pub gain_not_taken: Option<f64>,
    /// Seconds for which those that were not taken would have been valid, together.
    pub valid_not_taken: f64,
}

/// A part of decisions.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PartRow {
    /// Its name.
    pub part: &'static str,
    /// Number of decisions that have it.
    pub decisions: usize,
    /// Median of its seconds.
    pub median: f64,
    /// Most seconds.
    pub longest: f64,
}

/// Columns of numbers.
const NUMBERS: [usize; 7] = [0, 3, 4, 5, 6, 8, 9];

impl DecisionRow {
    fn cells(&self, gain: impl Fn(f64) -> String, time: impl Fn(f64) -> String) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.at.clone(),
            self.trigger.clone(),
            self.gain.map_or_else(String::new, gain),
            self.entries.to_string(),
            self.blocks.to_string(),
            self.stages.to_string(),
            self.outcome.clone(),
            self.in_place_after.map_or_else(String::new, &time),
            self.valid_for.map_or_else(String::new, &time),
        ]
    }
}

impl Report for ReviewResult<'_> {
    fn text(&self, style: Style) -> String {
        let mut text = String::new();
        let steps = counted(self.steps, "step", "steps");
        let time = self.from_to.map_or(0.0, |(from, to)| to - from);
        let _ok = writeln!(text, "{}: {steps} in {}\n", self.site, duration(time));
        let percent = |gain: f64| format!("{:.1} %", 100.0 * gain);
        let rows: Vec<Vec<String>> =
            self.decisions.iter().map(|row| row.cells(percent, duration)).collect();
        let heading = [
            "decision",
            "at",
            "because",
            "gain",
            "entries",
            "blocks",
            "stages",
            "became",
            "after",
            "valid for",
        ];
        text.push_str(&table::plain(&heading, &rows, &NUMBERS, style));
        let a = &self.advice;
        let _ok = write!(
            text,
            "\n{} shown, {} taken",
            counted(a.shown, "proposal", "proposals"),
            a.taken
        );
        if let Some(after) = a.taken_after {
            let _ok = write!(text, ", {} after they were shown in the median", duration(after));
        }
        if let Some(gain) = a.gain_not_taken {
            let _ok = write!(
                text,
                "; the others would have taken {} off the fullest channel in the mean, for {} in all",
                percent(gain),
                duration(a.valid_not_taken)
            );
        }
        text.push('\n');
        if !self.parts.is_empty() {
            let rows: Vec<Vec<String>> = self
                .parts
                .iter()
                .map(|p| {
                    let seconds = |s: f64| format!("{s:.3}");
                    let (median, longest) = (seconds(p.median), seconds(p.longest));
                    vec![p.part.to_owned(), p.decisions.to_string(), median, longest]
                })
                .collect();
            let heading = ["seconds in place", "decisions", "median", "longest"];
            let _ok = write!(text, "\n{}", table::plain(&heading, &rows, &[1, 2, 3], style));
        }
        text
    }

    // A line for each decision.
    fn csv(&self) -> String {
        let heading = [
            "decision",
            "at",
            "trigger",
            "gain",
            "entries",
            "blocks",
            "stages",
            "outcome",
            "in_place_after",
            "valid_for",
        ];
        let mut lines = vec![heading.map(str::to_owned).to_vec()];
        let plain = |x: f64| x.to_string();
        lines.extend(self.decisions.iter().map(|row| row.cells(plain, plain)));
        comma::text(&lines)
    }
}
