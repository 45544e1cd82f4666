//! Figures of answers about impacts.

use crate::grid::{Answer, Record, Value};
use crate::reproduce::{Drawn, Figure, Group, Table};

/// The answers to a question, those of the first seed first.
pub(super) fn answers<'r>(
    records: &'r [Record],
    question: &'r str,
) -> impl Iterator<Item = &'r Answer> {
    records.iter().flat_map(|record| &record.answers).filter(move |a| a.question == question)
}

/// A column as a number.
pub(super) fn number(answer: &Answer, column: &str) -> Option<f64> {
    answer.get(column).and_then(Value::number)
}

/// A column as a word.
pub(super) fn word(answer: &Answer, column: &str) -> String {
    answer.get(column).map(Value::to_string).unwrap_or_default()
}

/// Nodes of victim and aggressor.
fn split(answer: &Answer) -> String {
    format!("{}/{}", word(answer, "victim_nodes"), word(answer, "aggressor_nodes"))
}

/// Text of an impact in a figure.
fn text(answer: &Answer) -> String {
    let Some(times) = number(answer, "impact") else { return "-".to_owned() };
    let more = if answer.get("is_bound") == Some(&Value::Yes(true)) { ">" } else { "" };
    if times >= 99.95 { format!("{more}{times:.0}") } else { format!("{more}{times:.2}") }
}

/// A table of victims by splits.
pub(super) fn table<'r>(title: String, answers: impl Iterator<Item = &'r Answer>) -> Table {
    let (mut rows, mut columns): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut found = Vec::new();
    for answer in answers {
        let place = |names: &mut Vec<String>, name: String| {
            names.iter().position(|n| *n == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            })
        };
        found.push((
            place(&mut rows, word(answer, "victim")),
            place(&mut columns, split(answer)),
            answer,
        ));
    }
    let mut cells = vec![None; rows.len() * columns.len()];
    let mut texts = vec!["-".to_owned(); cells.len()];
    for (row, column, answer) in found {
        let at = row * columns.len() + column;
        (cells[at], texts[at]) = (number(answer, "impact"), text(answer));
    }
    Table { title, rows, columns, cells, texts }
}

/// Impacts of some answers, in powers of ten.
pub(super) fn powers<'r>(answers: impl Iterator<Item = &'r Answer>) -> Vec<f64> {
    answers.filter_map(|answer| number(answer, "impact")).map(f64::log10).collect()
}

/// Distribution of impacts, grouped by something.
pub(super) fn distribution(name: &'static str, of: &str, groups: Vec<Group>) -> Figure {
    Figure {
        name,
        title: format!("Congestion impacts by {of}"),
        subtitle: "beside incast, all victims and splits; 1: as fast as alone".to_owned(),
        what: Drawn::Boxes { unit: "log10 C", groups },
    }
}
