//! The result of `darkfiber study`: a row for each cell, question, and subject.

pub mod plot;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;

use darkfiber_study::grid::{Answer, Record, Table, Value};
use darkfiber_study::judged::Row;
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
    /// Numbers that are expected, beside what the answers make of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<Row>,
    /// The rows by column.
    #[serde(skip)]
    #[schemars(skip)]
    table: Table,
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
    /// The result of the answered cells. `records` are sorted by point and seed.
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
        let mut table = Table::new(axes.to_vec());
        for record in records {
            table.add(record);
        }
        // Combined results belong to no cell.
        let cells = || records.iter().filter(|record| !record.id.is_empty());
        let failed = cells().filter(|record| record.has_failed()).count();
        let cells = cells().count();
        Self {
            title,
            cells,
            failed,
            open,
            axes,
            columns,
            rows,
            provenance,
            expected: Vec::new(),
            table,
        }
    }
}

/// A name as files have it: without dots and dashes.
fn plain(name: &str) -> String {
    name.replace(['.', '-'], "_")
}

/// The headings of a table in files, but for the last one, which are those of errors.
fn headings(table: &Table) -> impl Iterator<Item = String> {
    let first = ["cell", "seed", "question", "of"].map(str::to_owned);
    first.into_iter().chain(table.axes().iter().chain(table.columns()).map(|name| plain(name)))
}

/// Writes a table as CSV.
///
/// # Errors
/// Those of `out`.
pub fn csv(table: &Table, out: &mut dyn Write) -> std::io::Result<()> {
    let mut heading: Vec<String> = headings(table).collect();
    heading.push("error".to_owned());
    out.write_all(comma::text(&[heading]).as_bytes())?;
    for row in table.rows() {
        let mut line = vec![
            row.cell(),
            row.seed().to_string(),
            row.question().to_owned(),
            row.of().to_owned(),
        ];
        line.extend((0..table.axes().len()).map(|axis| comma::some(row.axis(axis))));
        line.extend((0..table.columns().len()).map(|column| comma::some(row.found(column))));
        line.push(row.error().to_owned());
        out.write_all(comma::text(&[line]).as_bytes())?;
    }
    Ok(())
}

/// Rows of a part of a Parquet file.
#[cfg(feature = "parquet")]
const PART: usize = 1 << 16;

/// Writes a table as Parquet; `version` is that of the program, in a separate column.
///
/// # Errors
/// If writing fails.
#[cfg(feature = "parquet")]
pub fn parquet(table: &Table, version: &str, out: &mut (dyn Write + Send)) -> std::io::Result<()> {
    use darkfiber_study::grid::RowOf;

    use crate::columns::{Column, parquet_in_parts};

    type Of<'t> = Box<dyn Fn(&RowOf<'_>) -> Option<Value> + 't>;
    let axes = (0..table.axes().len())
        .map(|axis| Box::new(move |row: &RowOf<'_>| row.axis(axis)) as Of<'_>);
    let found =
        (0..table.columns().len()).map(|c| Box::new(move |row: &RowOf<'_>| row.found(c)) as Of<'_>);
    // A column with words has only words.
    let values: Vec<(Of<'_>, bool)> = axes
        .chain(found)
        .map(|of| {
            let is_text = table.rows().any(|row| matches!(of(&row), Some(Value::Text(_))));
            (of, is_text)
        })
        .collect();
    let rows: Vec<RowOf<'_>> = table.rows().collect();
    let part = |rows: &[RowOf<'_>]| {
        let text = |of: &dyn Fn(&RowOf<'_>) -> String| Column::Text(rows.iter().map(of).collect());
        let mut columns = vec![
            text(&|row| row.cell()),
            Column::Whole(rows.iter().map(RowOf::seed).collect()),
            text(&|row| row.question().to_owned()),
            text(&|row| row.of().to_owned()),
        ];
        columns.extend(values.iter().map(|(of, is_text)| {
            if *is_text {
                text(&|row| comma::some(of(row)))
            } else {
                let number = |row| of(row).and_then(|value| value.number());
                Column::Some(rows.iter().map(number).collect())
            }
        }));
        columns.push(text(&|row| row.error().to_owned()));
        columns.push(text(&|_| version.to_owned()));
        columns
    };
    let mut names: Vec<String> = headings(table).collect();
    names.extend(["error", "version"].map(str::to_owned));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // A table without rows has a heading all the same.
    let parts = rows.chunks(PART).chain(rows.is_empty().then_some(&rows[..]));
    parquet_in_parts(out, &names, parts.map(part))
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

/// A value for people: measured numbers with four digits.
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
        if self.cells + self.failed + self.open == 0 {
            text.push_str(
                "No cell is left: what is excluded, or an axis without values, leaves none.\n",
            );
        }
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
            let mut groups: BTreeMap<(u64, usize, usize), Vec<&StudyRow>> = BTreeMap::new();
            let mut things: Vec<&str> = Vec::new();
            // Where a value is looked for, rows of a point differ in it.
            let (mut trial, mut last) = (0, None);
            for row in &rows {
                if last.replace(&row.set) != Some(&row.set) {
                    trial += 1;
                }
                let known = things.iter().position(|of| *of == row.of);
                let of = known.unwrap_or_else(|| {
                    things.push(&row.of);
                    things.len() - 1
                });
                groups.entry((row.point, trial, of)).or_default().push(row);
            }
            let seeds = groups.values().map(Vec::len).max().unwrap_or(0);
            let mut heading: Vec<&str> = self.axes.iter().map(String::as_str).collect();
            heading.extend(has_of.then_some("of"));
            heading.extend((seeds > 1).then_some("seeds"));
            let first = heading.len();
            heading.extend(columns.iter().map(|column| column.as_str()));
            let mut lines = Vec::new();
            let mut errors: Vec<&str> = Vec::new();
            for ((_, _, of), rows) in &groups {
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
        if !self.expected.is_empty() {
            text.push_str("\nexpected\n");
            text.push_str(&expected(&self.expected, style));
        }
        text
    }

    fn csv(&self) -> String {
        let mut text = Vec::new();
        let _infallible = csv(&self.table, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Printed numbers next to ours.
fn expected(rows: &[Row], style: Style) -> String {
    let some = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), |x| shown(&Value::Number(x)));
    let line = |row: &Row| {
        let verdict = match (row.judged, row.within) {
            (false, _) => "told",
            (true, true) => "reproduced",
            (true, false) => "off",
        };
        vec![
            row.quantity.clone(),
            some(row.paper),
            some(row.reading.or(row.expected)),
            some(Some(row.ours)),
            verdict.to_owned(),
        ]
    };
    let lines: Vec<Vec<String>> = rows.iter().map(line).collect();
    table::plain(
        &["quantity", "printed", "judged by", "ours", "verdict"],
        &lines,
        &[1, 2, 3],
        style,
    )
}

/// The mean of numbers; of words the common one.
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
