//! A chart of lines or bars as plain data.

use super::scale::Scale;

/// Panels of lines or bars on common axes: a block of panels for each compared item, in it a panel for each measure, in each
/// panel the same series.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// Names of series, in the order of their colours; a single one without a name has no entry in the legend.
    pub(crate) series: Vec<String>,
    /// Meaning of bands and whiskers, if there are any.
    pub(crate) interval: Option<String>,
    /// Meaning of hollow points and bars, if there are any.
    pub(crate) hollow: Option<String>,
    /// The horizontal axis of all panels: lines over numbers, bars over names.
    pub(crate) x: Horizontal,
    /// The vertical axes, the uppermost first.
    pub(crate) measures: Vec<Measure>,
    /// Blocks from left to right.
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
    /// The measured quantity, with its unit.
    pub(crate) label: String,
    /// Additional text; with it, the label is above the panel instead of next to it.
    pub(crate) hint: Option<String>,
    /// Axis of the panel.
    pub(crate) scale: Scale,
    /// The value that all others are compared with, which has a darker line.
    pub(crate) reference: Option<f64>,
    /// Pixels between the lines of series, so that equal ones do not hide each other.
    pub(crate) apart: f64,
}

/// Panels below each other.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Text above the block; may be empty.
    pub(crate) title: String,
    /// Text below its first panel, in small letters.
    pub(crate) note: Option<String>,
    /// By measure and series, the marks from left to right.
    pub(crate) panels: Vec<Vec<Vec<Mark>>>,
}

/// A position on the horizontal axis, and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mark {
    /// Horizontal position: a number, or that of a name.
    pub(crate) x: f64,
    /// The value; without, a line is broken.
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
    /// Upper end of the spread.
    pub(crate) high: f64,
}

impl Spread {
    /// A value without an interval.
    pub(crate) fn exactly(mean: f64) -> Self {
        Self { mean, low: mean, high: mean }
    }
}
