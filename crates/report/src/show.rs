//! The common interface of results: output for people, for programs and for spreadsheets.

use serde::Serialize;

use crate::json;
use crate::style::Style;

/// A result that can be shown in every format of `--format`.
///
/// # Examples
/// ```
/// use darkfiber_report::framing::FramingResult;
/// use darkfiber_report::{Report, Style};
///
/// # fn example(result: &FramingResult) {
/// println!("{}", result.text(Style::default()));
/// assert!(result.csv().lines().count() > 1);
/// assert!(result.json().starts_with('{'));
/// # }
/// ```
pub trait Report: Serialize {
    /// The result for people: tables and sentences, with a line end.
    fn text(&self, style: Style) -> String;

    /// Rows for spreadsheets: a heading, then one line a row.
    fn csv(&self) -> String;

    /// One object with stable keys for programs.
    fn json(&self) -> String {
        json::text(self)
    }
}
