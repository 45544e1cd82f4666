//! What experiments draw, as data.

/// A picture of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Part of its file's name.
    pub name: &'static str,
    /// Above it.
    pub title: String,
    /// Below that.
    pub subtitle: String,
    /// What is drawn.
    pub what: Drawn,
}

/// Kinds of pictures.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawn {
    /// Bandwidth between ranks, in bytes a second, side by side.
    Pairs(Vec<Square>),
    /// Tables of gains: 0 is as good as the baseline, 1 twice as good, -0.5 half as good.
    Gains(Vec<Table>),
    /// Tables of congestion impacts: 1 is as fast as alone, 10 ten times as slow.
    Impacts(Vec<Table>),
    /// Points, and what they come near to.
    Scatter {
        /// What is to the right.
        x: &'static str,
        /// What is up.
        y: &'static str,
        /// The points.
        points: Vec<(f64, f64)>,
        /// A line through them, from point to point.
        line: Vec<(f64, f64)>,
    },
    /// Lines, each with its name.
    Lines {
        /// What is to the right.
        x: &'static str,
        /// What is up.
        y: &'static str,
        /// Names, and points from left to right.
        lines: Vec<(String, Vec<(f64, f64)>)>,
    },
    /// Samples as boxes with whiskers, group by group.
    Boxes {
        /// What is measured.
        unit: &'static str,
        /// Groups side by side.
        groups: Vec<Group>,
    },
}

/// Bandwidth by sender and receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Square {
    /// Above it.
    pub title: String,
    /// How many ranks.
    pub ranks: u32,
    /// Mean over all pairs.
    pub mean: f64,
    /// By sender and receiver.
    pub cells: Vec<((u32, u32), f64)>,
}

/// A table of numbers, each with a colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Above it.
    pub title: String,
    /// Its rows.
    pub rows: Vec<String>,
    /// Its columns.
    pub columns: Vec<String>,
    /// Row by row; nothing where nothing was run.
    pub cells: Vec<Option<f64>>,
    /// What stands in each cell, row by row; the number itself if empty.
    pub texts: Vec<String>,
}

/// Boxes under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Below them.
    pub name: String,
    /// Of each its name and its samples.
    pub boxes: Vec<(String, Vec<f64>)>,
}
