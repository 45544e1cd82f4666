//! Charts and tables of a page.

use serde::Serialize;

/// Numbers over one axis, drawn so that a reader can zoom and read values.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Text above the chart.
    pub title: String,
    /// The axis to the right.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Form in which numbers are drawn.
    pub form: Form,
    /// Positions of the numbers of each line on the axis to the right, rising. Seconds since 1970 for dates.
    pub at: Vec<f64>,
    /// Names of the places of `at`, where these are no numbers.
    pub names: Vec<String>,
    /// Lines, or rows of bars.
    pub lines: Vec<ChartLine>,
}

/// An axis of a chart.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Axis {
    /// The measured quantity; with its unit where `measured` has none.
    pub label: String,
    /// Unit in which numbers are written.
    pub measured: Measured,
    /// Powers of ten have equal distances. Numbers of 0 and less have no place on such an axis.
    pub log: bool,
}

/// Unit in which numbers on an axis are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Measured {
    /// Plain numbers without a unit.
    #[default]
    Number,
    /// As percent; 100 is all.
    Percent,
    /// Seconds, with a unit that fits.
    Seconds,
    /// Seconds since 1970, as a date.
    Date,
    /// Bytes, with a unit that fits.
    Bytes,
}

/// Form in which numbers are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A line from number to number.
    #[default]
    Lines,
    /// A number holds until the next.
    Steps,
    /// Points without a line.
    Points,
    /// Bars next to each other, from zero.
    Bars,
}

/// Numbers that belong together.
#[derive(Clone, Debug, Default)]
pub struct ChartLine {
    /// Name of the series.
    pub name: String,
    /// One value for each position of the axis; `None` where there is none.
    pub values: Vec<Option<f64>>,
}

impl Chart {
    /// Bars with a name below each.
    pub fn of_names(
        title: impl Into<String>,
        y: Axis,
        names: Vec<String>,
        lines: Vec<ChartLine>,
    ) -> Self {
        let at = (0..names.len()).map(|i| i as f64).collect();
        let (title, form) = (title.into(), Form::Bars);
        Self { title, y, form, at, names, lines, ..Self::default() }
    }
}

impl Axis {
    /// An axis with equal distances.
    pub fn new(label: impl Into<String>, measured: Measured) -> Self {
        Self { label: label.into(), measured, log: false }
    }
}

/// A table of results.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Text above the table.
    pub title: String,
    /// Names of the columns.
    pub heading: Vec<String>,
    /// Lines, each with a text for every column.
    pub rows: Vec<Vec<String>>,
}
