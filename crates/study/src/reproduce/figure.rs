//! The figures of experiments, as data.

/// A picture of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Part of its file's name.
    pub name: &'static str,
    /// Text above the figure.
    pub title: String,
    /// Text below the title.
    pub subtitle: String,
    /// Content of the figure.
    pub what: Drawn,
}

/// Kinds of pictures.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawn {
    /// Bandwidth between ranks, in bytes a second, as adjacent squares.
    Pairs(Vec<Square>),
    /// Tables of gains: 0 is as good as the baseline, 1 twice as good, -0.5 half as good.
    Gains(Vec<Table>),
    /// Tables of congestion impacts: 1 is as fast as alone, 10 ten times as slow.
    Impacts(Vec<Table>),
    /// Points, and the line that they approximate.
    Scatter {
        /// Quantity of the x axis.
        x: &'static str,
        /// Quantity of the y axis.
        y: &'static str,
        /// Points as (x, y).
        points: Vec<(f64, f64)>,
        /// A line through them, from point to point.
        line: Vec<(f64, f64)>,
    },
    /// Lines, each with its name.
    Lines {
        /// Quantity of the x axis.
        x: &'static str,
        /// Quantity of the y axis.
        y: &'static str,
        /// Names, and points from left to right.
        lines: Vec<(String, Vec<(f64, f64)>)>,
    },
    /// Samples as boxes with whiskers, group by group.
    Boxes {
        /// Unit of the values.
        unit: &'static str,
        /// Groups from left to right.
        groups: Vec<Group>,
    },
}

/// Bandwidth by sender and receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Square {
    /// Text above the square.
    pub title: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Mean over all pairs.
    pub mean: f64,
    /// By sender and receiver.
    pub cells: Vec<((u32, u32), f64)>,
}

/// A table of numbers, each with a colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Text above the table.
    pub title: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Values row by row; none where nothing was run.
    pub cells: Vec<Option<f64>>,
    /// Text of each cell, row by row; the number itself if empty.
    pub texts: Vec<String>,
}

/// Boxes under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Text below the group.
    pub name: String,
    /// Of each its name and its samples.
    pub boxes: Vec<(String, Vec<f64>)>,
}
