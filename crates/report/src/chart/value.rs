//! A chart of lines or bars as plain data.

use super::scale::Scale;

/// Panels of lines or bars on common axes: a block of panels for each thing that is compared side by side, in it a panel for each
/// measure, in each panel the same series.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// What series are called, in the order of their colours; a single one without a name has no entry in the legend.
    pub(crate) series: Vec<String>,
    /// What bands and whiskers span, if there are any.
    pub(crate) interval: Option<String>,
    /// What hollow points and bars mean, if there are any.
    pub(crate) hollow: Option<String>,
    /// The horizontal axis of all panels: lines over numbers, bars over names.
    pub(crate) x: Horizontal,
    /// The vertical axes, the uppermost first.
    pub(crate) measures: Vec<Measure>,
    /// What stands side by side.
    pub(crate) blocks: Vec<Block>,
    /// Width and height of a panel; bars may need more width.
    pub(crate) panel: (f64, f64),
}

/// The horizontal axis of a chart.
#[derive(Clone, Debug)]
pub(crate) enum Horizontal {
    /// Numbers: values are joined by lines.
    Numbers(String, Scale),
    /// Names, by their number from 0: values are bars.
    Names(String, Vec<String>),
}

/// A vertical axis of a chart.
#[derive(Clone, Debug)]
pub(crate) struct Measure {
    /// What is measured, with its unit.
    pub(crate) label: String,
    /// What is said about it; with it, the label stands above the panel instead of beside it.
    pub(crate) hint: Option<String>,
    /// The axis.
    pub(crate) scale: Scale,
    /// The value that all others are compared with, which has a darker line.
    pub(crate) reference: Option<f64>,
    /// Pixels between the lines of series, so that equal ones do not hide each other.
    pub(crate) apart: f64,
}

/// Panels below each other.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// What stands above it; may be empty.
    pub(crate) title: String,
    /// What stands below its first panel, in small letters.
    pub(crate) note: Option<String>,
    /// By measure and series, the marks from left to right.
    pub(crate) panels: Vec<Vec<Vec<Mark>>>,
}

/// A place on the horizontal axis, and what is drawn there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mark {
    /// Where: a number, or that of a name.
    pub(crate) x: f64,
    /// What; without, a line is broken.
    pub(crate) y: Option<Spread>,
    /// Whether it is drawn hollow.
    pub(crate) hollow: bool,
}

/// A value with an interval around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The value that is drawn.
    pub(crate) mean: f64,
    /// Lower end of its interval.
    pub(crate) low: f64,
    /// Upper end.
    pub(crate) high: f64,
}

impl Spread {
    /// A value without an interval.
    pub(crate) fn exactly(mean: f64) -> Self {
        Self { mean, low: mean, high: mean }
    }
}
