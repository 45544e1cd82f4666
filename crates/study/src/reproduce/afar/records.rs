//! Answers about changed entries: for tables, and for each job.

use crate::grid::{Answer, Record, Value};

/// The row about tables.
pub(super) fn tables(record: &Record) -> Option<&Answer> {
    record.answers.iter().find(|answer| answer.get("entries").is_some())
}

/// The rows about jobs.
pub(super) fn jobs(record: &Record) -> impl Iterator<Item = &Answer> {
    record.answers.iter().filter(|answer| answer.get("alone").is_some())
}

/// A column as a number.
pub(super) fn number(answer: &Answer, column: &str) -> f64 {
    answer.get(column).and_then(Value::number).unwrap_or(f64::NAN)
}
