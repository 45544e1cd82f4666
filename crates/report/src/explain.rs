//! The result of `darkfiber explain`: how much of a time a load explains, and from where on.

use std::fmt::Write as _;

use darkfiber_analysis::piecewise::Piecewise;
use schemars::JsonSchema;
use serde::Serialize;

use crate::comma;
use crate::figures::scatter;
use crate::number::group;
use crate::table::{self, Style};

/// All of it. Loads and times have the units of the file.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ExplainResult<'a> {
    /// The file.
    pub file: &'a str,
    /// Column of loads.
    pub load: &'a str,
    /// Column of times.
    pub time: &'a str,
    /// Rows that have both.
    pub rows: usize,
    /// Two lines that meet.
    pub lines: Lines,
    /// What the numbers do and do not say.
    pub findings: &'a [String],
    /// Version of the program.
    pub version: &'a str,
    /// Points, for pictures and tables.
    #[serde(skip)]
    pub points: &'a [(f64, f64)],
    /// The fit, for the same.
    #[serde(skip)]
    pub fit: Piecewise,
}

/// Two lines that meet, by least squares.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Lines {
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
}

/// For people.
pub fn text(r: &ExplainResult<'_>, style: Style) -> String {
    let l = &r.lines;
    let mut text =
        format!("{}: {} by {} in {} rows\n\n", r.file, r.time, r.load, group(r.rows as u64));
    let short = |x: f64| {
        let digits = if x.abs() >= 1000.0 {
            0
        } else if x.abs() >= 10.0 {
            1
        } else {
            3
        };
        format!("{x:.digits$}")
    };
    let tiny = |x: f64| if x.abs() >= 0.001 || x == 0.0 { short(x) } else { format!("{x:.2e}") };
    let rows = vec![
        vec![
            "break at".to_owned(),
            short(l.at),
            format!("{} to {}", short(l.at_least), short(l.at_most)),
        ],
        vec![format!("{} there", r.time), short(l.start), String::new()],
        vec![format!("{} a unit of {}, before", r.time, r.load), tiny(l.before), String::new()],
        vec![format!("{} a unit of {}, behind", r.time, r.load), tiny(l.after), String::new()],
        vec!["R2".to_owned(), format!("{:.3}", l.r2), String::new()],
        vec!["R2 of one line".to_owned(), format!("{:.3}", l.r2_straight), String::new()],
        vec![
            "R2 of rows not seen".to_owned(),
            format!("{:.3}", l.r2_cross_validated),
            String::new(),
        ],
    ];
    text.push_str(&table::plain(&["two lines", "", "95 %"], &rows, &[1], style));
    text.push('\n');
    for finding in r.findings {
        let _ok = writeln!(text, "{finding}");
    }
    text
}

/// Actual and predicted times.
pub fn csv(r: &ExplainResult<'_>) -> String {
    let mut lines = vec![[r.load, r.time, "predicted"].map(str::to_owned).to_vec()];
    lines.extend(
        r.points
            .iter()
            .map(|&(x, y)| vec![x.to_string(), y.to_string(), r.fit.value(x).to_string()]),
    );
    comma::text(&lines)
}

/// Points and lines.
pub fn picture(r: &ExplainResult<'_>) -> String {
    let most = r.points.iter().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
    let least = r.points.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let line: Vec<(f64, f64)> =
        [least, r.lines.at, most].iter().map(|&x| (x, r.fit.value(x))).collect();
    let title = format!("{} by {}", r.time, r.load);
    let subtitle = format!("{}: break at {:.4}, R2 {:.2}", r.file, r.lines.at, r.lines.r2);
    scatter::scatter((&title, &subtitle), (r.load, r.time), r.points, &line)
}
