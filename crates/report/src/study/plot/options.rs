//! The user's options for a picture.

/// Options of a picture; missing ones are chosen from the table.
#[derive(Clone, Debug, Default)]
pub struct PlotOptions {
    /// The axis from left to right: that of a key, or `of` or `seed`. Without, the first with three numbers or more, else the first.
    pub x: Option<String>,
    /// The column that is drawn; without, the first of the question that has numbers.
    pub y: Option<String>,
    /// The axis that is shown by colours; `None`: the last of the others, names before numbers, and jobs or patterns last.
    pub by: Option<String>,
    /// The question; `None`: the first that has an answer.
    pub question: Option<String>,
    /// The job, pattern or load that is drawn; without, all.
    pub of: Option<String>,
    /// By axis, the values that are drawn; without, all.
    pub only: Vec<(String, Vec<String>)>,
    /// The shape; `None`: the one that suits the axes.
    pub shape: Option<Shape>,
}

/// The shape of a study's picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Lines over numbers, with bands.
    Lines,
    /// Bars over names, with whiskers.
    Bars,
    /// Cells that are coloured by their values.
    Map,
}

impl Shape {
    /// All, with their names.
    pub const ALL: [(&'static str, Self); 3] =
        [("lines", Self::Lines), ("bars", Self::Bars), ("map", Self::Map)];
}
