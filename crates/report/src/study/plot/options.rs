//! What users ask to be drawn.

/// What is drawn; what is left open is chosen from the table.
#[derive(Clone, Debug, Default)]
pub struct PlotOptions {
    /// The axis from left to right: that of a key, or `of` or `seed`. Without, the first with three numbers or more, else the first.
    pub x: Option<String>,
    /// The column that is drawn; without, the first of the question that has numbers.
    pub y: Option<String>,
    /// The axis whose values have colours; without, the last of the others, names before numbers, and jobs or patterns last.
    pub by: Option<String>,
    /// The question; without, the first that has an answer.
    pub question: Option<String>,
    /// The job, pattern or load that is drawn; without, all.
    pub of: Option<String>,
    /// By axis, the values that are drawn; without, all.
    pub only: Vec<(String, Vec<String>)>,
    /// What is drawn; without, what suits the axes.
    pub shape: Option<Shape>,
}

/// What a picture of a study is made of.
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
