//! The rows that are drawn: those of a question and of its subjects.

use darkfiber_scenario::Error;
use darkfiber_study::grid::Value;

use super::dimension::Dimension;
use super::options::PlotOptions;
use super::unit::Unit;
use crate::study::{StudyResult, StudyRow};

/// The axis of the subjects of a question: jobs, patterns, loads.
pub(super) const OF: &str = "of";
/// The axis that distinguishes cells of a point.
pub(super) const SEED: &str = "seed";

/// The rows that are drawn, and the column of theirs.
pub(super) struct Selection {
    /// Rows that are drawn.
    pub(super) rows: Vec<Selected>,
    /// Dimensions that may distinguish rows.
    pub(super) dimensions: Vec<Dimension>,
    /// Column that is drawn, with its unit.
    pub(super) unit: Unit,
    /// Subject of all rows, if users chose it.
    pub(super) of_alone: Option<String>,
}

/// A row that is drawn.
pub(super) struct Selected {
    /// By dimension, the index of its value; a row without an answer has no subject.
    pub(super) places: Vec<Option<usize>>,
    /// Value of the row; `None`: the cell has no answer.
    pub(super) value: Option<f64>,
}

impl Selection {
    pub(super) fn of(result: &StudyResult<'_>, options: &PlotOptions) -> Result<Self, Error> {
        let question = question(result, options)?;
        let mut rows: Vec<&StudyRow> =
            result.rows.iter().filter(|row| row.question == question).collect();
        for (axis, wanted) in &options.only {
            rows = only(result, rows, axis, wanted)?;
        }
        if rows.is_empty() {
            return Err(
                Error::usage("no cell has all these values").hint("leave some of --only out")
            );
        }
        let things = distinct(rows.iter().filter(|r| r.error.is_none()).map(|r| r.of.as_str()));
        if let Some(of) = &options.of {
            if things == [""] {
                return Err(Error::usage(format!("--of {of}: {question} is about all of a cell"))
                    .hint("leave --of out"));
            }
            if !things.contains(&of.as_str()) {
                return Err(Error::unknown(&format!("row of {question}"), of, &things));
            }
            rows.retain(|row| row.of == *of || row.error.is_some());
        }
        let column = column(result, &rows, &question, options)?;
        let value = |row: &StudyRow| row.found.get(column).and_then(Value::number);
        // Rows without this column do not belong to the question; rows without an answer leave a gap.
        rows.retain(|row| row.error.is_some() || value(row).is_some());
        let largest = rows.iter().filter_map(|row| value(row)).fold(0.0, f64::max);
        let is_flag = rows.iter().any(|row| matches!(row.found.get(column), Some(Value::Yes(_))));
        let about = distinct(rows.iter().filter(|r| r.error.is_none()).map(|r| r.of.as_str()));
        let alone = Some(about[0]).filter(|of| about.len() == 1 && !of.is_empty());
        let unit = Unit::of((&question, column), alone, largest, is_flag);
        let place_of = |name: &str, row: &StudyRow| match name {
            OF => row.error.is_none().then(|| Value::Text(row.of.clone())),
            name => row.set.get(name).cloned().or((name == SEED).then_some(Value::Whole(row.seed))),
        };
        let mut names: Vec<&str> = result.axes.iter().map(String::as_str).collect();
        names.push(OF);
        if !names.contains(&SEED) {
            names.push(SEED);
        }
        let dimension = |name: &&str| {
            let values: Vec<Value> = rows.iter().filter_map(|row| place_of(name, row)).collect();
            Dimension::of(name, values.iter())
        };
        let dimensions: Vec<Dimension> = names.iter().map(dimension).collect();
        let selected = rows.iter().map(|row| {
            let place = |d: &Dimension| place_of(&d.name, row).and_then(|value| d.place(&value));
            Selected {
                places: dimensions.iter().map(place).collect(),
                value: value(row).map(|value| value * unit.factor),
            }
        });
        let rows = selected.collect();
        Ok(Self { rows, dimensions, unit, of_alone: options.of.clone() })
    }
}

fn distinct<'t>(all: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut found: Vec<&str> = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// The question that is drawn.
fn question(result: &StudyResult<'_>, options: &PlotOptions) -> Result<String, Error> {
    let names = distinct(result.rows.iter().map(|row| row.question.as_str()));
    let answered = result.rows.iter().find(|row| row.error.is_none()).or(result.rows.first());
    let Some(first) = answered else {
        return Err(Error::infeasible("there is nothing to draw: no cell is answered")
            .hint("darkfiber study run answers them"));
    };
    match &options.question {
        Some(name) if names.contains(&name.as_str()) => Ok(name.clone()),
        Some(name) => Err(Error::unknown("question of this study", name, &names)),
        None => Ok(first.question.clone()),
    }
}

/// Rows with certain values of an axis.
fn only<'r>(
    result: &StudyResult<'_>,
    rows: Vec<&'r StudyRow>,
    axis: &str,
    wanted: &[String],
) -> Result<Vec<&'r StudyRow>, Error> {
    if !result.axes.iter().any(|name| name == axis) {
        let names: Vec<&str> = result.axes.iter().map(String::as_str).collect();
        return Err(Error::unknown("axis of this study", axis, &names));
    }
    let text = |row: &StudyRow| row.set.get(axis).map(ToString::to_string).unwrap_or_default();
    let is = |value: &str, wanted: &str| {
        let numbers = value.parse::<f64>().ok().zip(wanted.parse::<f64>().ok());
        value == wanted || numbers.is_some_and(|(a, b)| a.total_cmp(&b).is_eq())
    };
    // Values that other choices exclude are valid names all the same.
    let known: Vec<String> = result.rows.iter().map(text).collect();
    for value in wanted {
        if !known.iter().any(|known| is(known, value)) {
            let known = distinct(known.iter().map(String::as_str));
            return Err(Error::unknown(&format!("value of {axis}"), value, &known));
        }
    }
    let has = |row: &&StudyRow| wanted.iter().any(|value| is(&text(row), value));
    Ok(rows.into_iter().filter(has).collect())
}

/// The column that is drawn.
fn column<'c>(
    result: &'c StudyResult<'_>,
    rows: &[&StudyRow],
    question: &str,
    options: &PlotOptions,
) -> Result<&'c str, Error> {
    let has = |column: &&String| rows.iter().any(|row| row.found.contains_key(*column));
    let is_number = |column: &&String| {
        rows.iter().any(|row| row.found.get(*column).and_then(Value::number).is_some())
    };
    let columns: Vec<&String> = result.columns.iter().filter(has).collect();
    if columns.is_empty() {
        let why = rows.iter().find_map(|row| row.error.as_deref()).unwrap_or("no cell is answered");
        return Err(Error::infeasible(format!("{question} has no answer: {why}")));
    }
    let Some(name) = &options.y else {
        let first = columns.into_iter().find(is_number);
        return first.map(String::as_str).ok_or_else(|| {
            Error::infeasible(format!("no column of {question} has numbers, which alone are drawn"))
        });
    };
    let Some(column) = columns.iter().find(|column| **column == name) else {
        let names: Vec<&str> = columns.iter().map(|column| column.as_str()).collect();
        return Err(Error::unknown(&format!("column of {question}"), name, &names));
    };
    if !is_number(column) {
        return Err(Error::usage(format!("--y {name}: its values are names, not numbers")));
    }
    Ok(column.as_str())
}
