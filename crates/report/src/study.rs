//! The result of `darkfiber study`: a row for each cell, question, and thing that it is asked about.

pub mod plot;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use darkfiber_study::grid::{Answer, Record, Value};
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Provenance;
use crate::style::Style;
use crate::{Report, comma, number, table};

/// The table of a study.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct StudyResult<'a> {
    /// What it is called.
    pub title: &'a str,
    /// Cells that were answered.
    pub cells: usize,
    /// Of these, cells with a question that has no answer.
    pub failed: usize,
    /// Cells that are not answered yet.
    pub open: usize,
    /// The keys that vary, the outermost first.
    pub axes: &'a [String],
    /// The quantities that there are, in the order in which they first appear.
    pub columns: Vec<String>,
    /// By point of the grid, seed, question, and thing that it is asked about.
    pub rows: Vec<StudyRow>,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// A row of a study's table.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct StudyRow {
    /// The digest of all that the row depends on.
    pub cell: String,
    /// The point of the grid; rows of a point differ in their seed.
    pub point: u64,
    /// By axis, its value.
    pub set: BTreeMap<String, Value>,
    /// The seed.
    pub seed: u64,
    /// The question.
    pub question: String,
    /// What it is about: a job, a pattern; empty if it is about all of the cell.
    pub of: String,
    /// By column, what was found out.
    pub found: BTreeMap<String, Value>,
    /// Why there is no answer.
    pub error: Option<String>,
}

impl<'a> StudyResult<'a> {
    /// Of what was answered. `records` are sorted by point and seed.
    pub fn new(
        title: &'a str,
        axes: &'a [String],
        records: &[Record],
        open: usize,
        provenance: &'a Provenance,
    ) -> Self {
        let mut columns: Vec<String> = Vec::new();
        let mut rows = Vec::new();
        for record in records {
            for answer in &record.answers {
                for (name, _) in &answer.found {
                    if !columns.contains(name) {
                        columns.push(name.clone());
                    }
                }
                rows.push(row(record, answer));
            }
        }
        let failed = records.iter().filter(|record| record.has_failed()).count();
        Self { title, cells: records.len(), failed, open, axes, columns, rows, provenance }
    }

    /// The table by column, for files: names have no dots and dashes.
    pub fn table(&self) -> Vec<(String, Vec<Option<&Value>>)> {
        let plain = |name: &str| name.replace(['.', '-'], "_");
        let axes = self
            .axes
            .iter()
            .map(|axis| (plain(axis), self.rows.iter().map(|row| row.set.get(axis)).collect()));
        let columns = self.columns.iter().map(|column| {
            (plain(column), self.rows.iter().map(|row| row.found.get(column)).collect())
        });
        axes.chain(columns).collect()
    }
}

fn row(record: &Record, answer: &Answer) -> StudyRow {
    StudyRow {
        cell: record.id.clone(),
        point: record.point,
        set: record.set.iter().cloned().collect(),
        seed: record.seed,
        question: answer.question.clone(),
        of: answer.of.clone(),
        found: answer.found.iter().cloned().collect(),
        error: answer.error.clone(),
    }
}

/// A value for people: what was measured to four digits.
fn shown(value: &Value) -> String {
    match value {
        Value::Whole(n) => number::group(*n),
        Value::Number(x) if *x == 0.0 => "0".to_owned(),
        Value::Number(x) if (1e-3..1e6).contains(&x.abs()) => {
            #[expect(clippy::cast_sign_loss, reason = "not below zero")]
            let digits = (3 - x.abs().log10().floor() as i32).clamp(0, 7) as usize;
            format!("{x:.digits$}")
        }
        Value::Number(x) => format!("{x:.3e}"),
        other => other.to_string(),
    }
}

impl Report for StudyResult<'_> {
    fn text(&self, style: Style) -> String {
        let mut text = format!(
            "{}: {} cells answered, {} with an error, {} open\n",
            self.title,
            number::group(self.cells as u64),
            number::group(self.failed as u64),
            number::group(self.open as u64)
        );
        // Seeds of a point are one line: the mean of each quantity.
        let mut questions: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !questions.contains(&row.question.as_str()) {
                questions.push(&row.question);
            }
        }
        for question in questions {
            let rows: Vec<&StudyRow> =
                self.rows.iter().filter(|r| r.question == question).collect();
            let has = |column: &&String| rows.iter().any(|row| row.found.contains_key(*column));
            let columns: Vec<&String> = self.columns.iter().filter(has).collect();
            let has_of = rows.iter().any(|row| !row.of.is_empty());
            let mut groups: BTreeMap<(u64, usize), Vec<&StudyRow>> = BTreeMap::new();
            let mut things: Vec<&str> = Vec::new();
            for row in &rows {
                let known = things.iter().position(|of| *of == row.of);
                let of = known.unwrap_or_else(|| {
                    things.push(&row.of);
                    things.len() - 1
                });
                groups.entry((row.point, of)).or_default().push(row);
            }
            let seeds = groups.values().map(Vec::len).max().unwrap_or(0);
            let mut heading: Vec<&str> = self.axes.iter().map(String::as_str).collect();
            heading.extend(has_of.then_some("of"));
            heading.extend((seeds > 1).then_some("seeds"));
            let first = heading.len();
            heading.extend(columns.iter().map(|column| column.as_str()));
            let mut lines = Vec::new();
            let mut errors: Vec<&str> = Vec::new();
            for ((_, of), rows) in &groups {
                let set = |axis: &String| rows[0].set.get(axis).map_or(String::new(), shown);
                let mut line: Vec<String> = self.axes.iter().map(set).collect();
                line.extend(has_of.then(|| things[*of].to_owned()));
                line.extend((seeds > 1).then(|| rows.len().to_string()));
                for column in &columns {
                    let values: Vec<&Value> =
                        rows.iter().filter_map(|row| row.found.get(*column)).collect();
                    line.push(middle(&values));
                }
                lines.push(line);
                for error in rows.iter().filter_map(|row| row.error.as_deref()) {
                    if !errors.contains(&error) {
                        errors.push(error);
                    }
                }
            }
            let numbers: Vec<usize> = (first..heading.len()).collect();
            let mean = if seeds > 1 { ", mean over seeds" } else { "" };
            let _infallible = write!(text, "\n{question}{mean}\n");
            text.push_str(&table::plain(&heading, &lines, &numbers, style));
            for error in errors {
                let _infallible = writeln!(text, "no answer: {error}");
            }
        }
        text
    }

    fn csv(&self) -> String {
        let table = self.table();
        let mut heading = ["cell", "seed", "question", "of"].map(str::to_owned).to_vec();
        heading.extend(table.iter().map(|(name, _)| name.clone()));
        heading.push("error".to_owned());
        let mut lines = vec![heading];
        for (i, row) in self.rows.iter().enumerate() {
            let mut line =
                vec![row.cell.clone(), row.seed.to_string(), row.question.clone(), row.of.clone()];
            line.extend(table.iter().map(|(_, values)| comma::some(values[i])));
            line.push(comma::some(row.error.as_deref()));
            lines.push(line);
        }
        comma::text(&lines)
    }
}

/// The mean of numbers; of words the one that all are.
fn middle(values: &[&Value]) -> String {
    let Some(first) = values.first() else { return "-".to_owned() };
    if values.iter().all(|value| value == first) {
        return shown(first);
    }
    let numbers: Option<Vec<f64>> = values.iter().map(|value| value.number()).collect();
    match numbers {
        Some(all) => shown(&Value::Number(all.iter().sum::<f64>() / all.len() as f64)),
        None => "several".to_owned(),
    }
}
