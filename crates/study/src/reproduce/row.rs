//! One number, printed and ours.

use schemars::JsonSchema;
use serde::Serialize;

/// How far off is still the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// No difference.
    Nothing,
    /// A share of the printed number.
    Relative(f64),
    /// A difference.
    Absolute(f64),
}

/// A number of a paper and ours.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Row {
    /// What it is.
    pub quantity: String,
    /// As printed.
    pub paper: f64,
    /// What it must be read as, where it is a misprint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<f64>,
    /// Ours.
    pub ours: f64,
    /// How far off is still the same; 0: not at all.
    pub tolerance: f64,
    /// Whether the tolerance is a share of the printed number, else a difference.
    pub relative: bool,
    /// Whether ours is as close as that to what was printed, or to its reading.
    pub within: bool,
    /// What is known of the printed number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Row {
    /// Compares.
    pub fn new(quantity: impl Into<String>, paper: f64, ours: f64, allowed: Allowed) -> Self {
        let (tolerance, relative) = match allowed {
            Allowed::Nothing => (0.0, false),
            Allowed::Relative(share) => (share, true),
            Allowed::Absolute(difference) => (difference, false),
        };
        Self {
            quantity: quantity.into(),
            paper,
            reading: None,
            ours,
            tolerance,
            relative,
            within: false,
            note: None,
        }
        .judged()
    }

    /// The printed number is a misprint of another one.
    #[must_use]
    pub fn read_as(mut self, reading: f64, why: impl Into<String>) -> Self {
        self.reading = Some(reading);
        self.note = Some(why.into());
        self.judged()
    }

    /// What is known of the printed number.
    #[must_use]
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    fn judged(mut self) -> Self {
        let truth = self.reading.unwrap_or(self.paper);
        let scale = if self.relative { truth.abs() } else { 1.0 };
        // What is printed and ours may be computed in different orders.
        self.within = (self.ours - truth).abs() <= self.tolerance * scale + 1e-9;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances() {
        let row = |ours, allowed| Row::new("x", 0.4, ours, allowed).within;
        assert!(row(0.4, Allowed::Nothing) && !row(0.401, Allowed::Nothing));
        assert!(row(0.408, Allowed::Relative(0.025)) && !row(0.411, Allowed::Relative(0.025)));
        assert!(row(0.9, Allowed::Absolute(0.5)) && !row(0.91, Allowed::Absolute(0.5)));
        let misprint = Row::new("x", 15.9, 15.4, Allowed::Nothing);
        assert!(!misprint.within && misprint.read_as(15.4, "the table gives it").within);
    }
}
