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
    /// At least this, whatever was printed: the shape is what counts.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// From this to that.
    Between(f64, f64),
    /// Told, and not judged: what it depends on is not public.
    Anything,
}

/// A number of a paper and ours.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Row {
    /// What it is.
    pub quantity: String,
    /// As printed; nothing where no paper has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<f64>,
    /// What it must be read as, where it is a misprint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<f64>,
    /// Ours.
    pub ours: f64,
    /// How far off is still the same; 0: not at all.
    pub tolerance: f64,
    /// Whether the tolerance is a share of the printed number, else a difference.
    pub relative: bool,
    /// The least that is the same in shape, where that is what counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The most that is the same in shape, where that is what counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Whether it is judged at all.
    pub judged: bool,
    /// Whether ours is as close as that to what was printed, or to its reading, or in the range, or not judged.
    pub within: bool,
    /// What is known of the printed number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Row {
    /// Compares.
    pub fn new(quantity: impl Into<String>, paper: f64, ours: f64, allowed: Allowed) -> Self {
        let mut row = Self {
            quantity: quantity.into(),
            paper: Some(paper),
            reading: None,
            ours,
            tolerance: 0.0,
            relative: false,
            at_least: None,
            at_most: None,
            judged: true,
            within: false,
            note: None,
        };
        match allowed {
            Allowed::Nothing => {}
            Allowed::Relative(share) => (row.tolerance, row.relative) = (share, true),
            Allowed::Absolute(difference) => row.tolerance = difference,
            Allowed::AtLeast(least) => row.at_least = Some(least),
            Allowed::AtMost(most) => row.at_most = Some(most),
            Allowed::Between(least, most) => {
                (row.at_least, row.at_most) = (Some(least), Some(most));
            }
            Allowed::Anything => row.judged = false,
        }
        row.decided()
    }

    /// A number that no paper has.
    pub fn ours(quantity: impl Into<String>, ours: f64) -> Self {
        Self { paper: None, ..Self::new(quantity, ours, ours, Allowed::Anything) }
    }

    /// The printed number is a misprint of another one.
    #[must_use]
    pub fn read_as(mut self, reading: f64, why: impl Into<String>) -> Self {
        self.reading = Some(reading);
        self.note = Some(why.into());
        self.decided()
    }

    /// What is known of the printed number.
    #[must_use]
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    fn decided(mut self) -> Self {
        let truth = self.reading.or(self.paper).unwrap_or(self.ours);
        let scale = if self.relative { truth.abs() } else { 1.0 };
        // What is printed and ours may be computed in different orders.
        let close = (self.ours - truth).abs() <= self.tolerance * scale + 1e-9;
        let in_range = self.at_least.is_none_or(|least| self.ours >= least)
            && self.at_most.is_none_or(|most| self.ours <= most);
        let by_range = self.at_least.is_some() || self.at_most.is_some();
        self.within = !self.judged || if by_range { in_range } else { close };
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
        assert!(row(9.0, Allowed::AtLeast(9.0)) && !row(8.9, Allowed::AtLeast(9.0)));
        assert!(row(9.0, Allowed::AtMost(9.0)) && !row(9.1, Allowed::AtMost(9.0)));
        assert!(row(9.0, Allowed::Between(8.0, 9.5)) && !row(9.6, Allowed::Between(8.0, 9.5)));
        assert!(row(1e9, Allowed::Anything));
        let misprint = Row::new("x", 15.9, 15.4, Allowed::Nothing);
        assert!(!misprint.within && misprint.read_as(15.4, "the table gives it").within);
    }
}
