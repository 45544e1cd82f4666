//! Two lines that meet.

use darkfiber_analysis::piecewise::Piecewise;
use schemars::JsonSchema;
use serde::Serialize;

use super::times::Times;
use crate::comma;
use crate::figures::scatter;
use crate::number::{group, short};
use crate::style::Style;
use crate::table;

/// Two lines that meet, by least squares.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Lines<'a> {
    /// Column of loads.
    pub load: &'a str,
    /// Load where they meet.
    pub at: f64,
    /// Least and most of that with a confidence of 95 %, if errors are normal and independent.
    pub at_least: f64,
    /// See `at_least`.
    pub at_most: f64,
    /// Time there.
    pub start: f64,
    /// Time that a unit of load costs before the break, and behind it.
    pub before: f64,
    /// See `before`.
    pub after: f64,
    /// Share of the variance of times that they explain.
    pub r2: f64,
    /// The same for one line.
    pub r2_straight: f64,
    /// The same for rows that the lines were not fitted to: ten folds.
    pub r2_cross_validated: f64,
    /// For pictures and tables.
    #[serde(skip)]
    pub drawn: Two<'a>,
}

/// Points, and lines through them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Two<'a> {
    /// Points of load and time.
    pub points: &'a [(f64, f64)],
    /// Lines fitted to the points.
    pub fit: Piecewise,
}

pub(super) fn text(of: Times<'_>, l: &Lines<'_>, style: Style) -> String {
    let rows = vec![
        vec![
            "break at".to_owned(),
            short(l.at),
            format!("{} to {}", short(l.at_least), short(l.at_most)),
        ],
        vec![format!("{} there", of.column), short(l.start), String::new()],
        vec![format!("{} a unit of {}, before", of.column, l.load), short(l.before), String::new()],
        vec![format!("{} a unit of {}, behind", of.column, l.load), short(l.after), String::new()],
        vec!["R2".to_owned(), format!("{:.3}", l.r2), String::new()],
        vec!["R2 of one line".to_owned(), format!("{:.3}", l.r2_straight), String::new()],
        vec![
            "R2 of rows not seen".to_owned(),
            format!("{:.3}", l.r2_cross_validated),
            String::new(),
        ],
    ];
    format!(
        "{}: {} by {} in {} rows\n\n{}",
        of.file,
        of.column,
        l.load,
        group(of.rows as u64),
        table::plain(&["two lines", "", "95 %"], &rows, &[1], style)
    )
}

pub(super) fn csv(time: &str, l: &Lines<'_>) -> String {
    let mut lines = vec![[l.load, time, "predicted"].map(str::to_owned).to_vec()];
    let Two { points, fit } = l.drawn;
    lines.extend(
        points.iter().map(|&(x, y)| vec![x.to_string(), y.to_string(), fit.value(x).to_string()]),
    );
    comma::text(&lines)
}

/// A picture of points and lines.
pub(super) fn picture(of: Times<'_>, l: &Lines<'_>) -> String {
    let Two { points, fit } = l.drawn;
    let most = points.iter().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
    let least = points.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let line: Vec<(f64, f64)> = [least, l.at, most].iter().map(|&x| (x, fit.value(x))).collect();
    let title = format!("{} by {}", of.column, l.load);
    let at = if l.at.abs() < 1e7 { format!("{:.4}", l.at) } else { format!("{:e}", l.at) };
    let subtitle = format!("{}: break at {at}, R2 {:.2}", of.file, l.r2);
    scatter::scatter((&title, &subtitle), (l.load, of.column), points, &line)
}
