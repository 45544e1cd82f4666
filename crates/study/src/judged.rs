//! One number, printed and ours, and the band by which it is judged.
//!
//! Bands follow from the requirement of an experiment, and are completed by one rule for all rows, so that a number that is far
//! better than printed is off, too: times, rates and counts are within 25 % of print; congestion impacts C have a C - 1 within a
//! factor of 2 of print, and where 1.0 is printed C is from 0.9 to 1.1. `docs/reproduced.md` states it in words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The requirement on a number. A side that it leaves open is closed by the rule, where there is a printed number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// No difference is allowed.
    Nothing,
    /// A share of the printed number.
    Relative(f64),
    /// A maximum absolute difference.
    Absolute(f64),
    /// A lower bound for the number.
    AtLeast(f64),
    /// An upper bound for the number.
    AtMost(f64),
    /// From this to that.
    Between(f64, f64),
    /// No requirement: the rule gives both sides.
    Rule,
}

/// The default tolerance: a share of times, rates and counts.
const SHARE: f64 = 0.25;
/// The default tolerance of congestion impacts beyond 1, as a factor.
const FACTOR: f64 = 2.0;
/// Maximum distance of impacts from 1 where 1 is printed.
const NEAR: f64 = 0.1;

/// Rule that determines a tolerance band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// A time, rate or count.
    Amount,
    /// Times together over times alone.
    Impact,
}

impl Rule {
    /// The band around a number, or around all between two.
    fn band(self, [low, high]: [f64; 2]) -> (f64, f64) {
        match self {
            Self::Amount => (low - SHARE * low.abs(), high + SHARE * high.abs()),
            Self::Impact if (high - 1.0).abs() < 1e-9 => (1.0 - NEAR, 1.0 + NEAR),
            Self::Impact => (1.0 + (low - 1.0) / FACTOR, 1.0 + (high - 1.0) * FACTOR),
        }
    }
}

/// A number, or none, which is written as `null` and is not a number.
fn number_or_nothing<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

/// A number of a paper and ours.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Row {
    /// What it is.
    pub quantity: String,
    /// As printed; `null` where the paper prints no number.
    pub paper: Option<f64>,
    /// What it must be read as, where it is a misprint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<f64>,
    /// What is judged where no number is printed: what follows from printed ones, or from what the text says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// Ours.
    #[serde(deserialize_with = "number_or_nothing")]
    pub ours: f64,
    /// How far off is still the same; 0: not at all, or `at_least` and `at_most` say it.
    pub tolerance: f64,
    /// Whether the tolerance is a share of the printed number, else a difference.
    pub relative: bool,
    /// The minimum that is the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The maximum that is the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Whether it is judged at all.
    pub judged: bool,
    /// Whether ours is as close as that to what was printed, or to its reading, or in the band, or not judged.
    pub within: bool,
    /// What is known of the printed number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Row {
    /// A time, rate or count that is printed, judged.
    pub fn new(quantity: impl Into<String>, paper: f64, ours: f64, allowed: Allowed) -> Self {
        let row = Self { paper: Some(paper), ..Self::told(quantity, ours) };
        row.judged_by(allowed, Some((Rule::Amount, [paper; 2])))
    }

    /// A congestion impact that is printed, judged.
    pub fn impact(quantity: impl Into<String>, paper: f64, ours: f64, allowed: Allowed) -> Self {
        let row = Self { paper: Some(paper), ..Self::told(quantity, ours) };
        row.judged_by(allowed, Some((Rule::Impact, [paper; 2])))
    }

    /// A number for which the paper prints a range: the row holds its upper end, and the rule starts from both ends.
    pub fn range(
        quantity: impl Into<String>,
        printed: [f64; 2],
        ours: f64,
        allowed: Allowed,
    ) -> Self {
        let [low, high] = printed;
        let row = Self { paper: Some(high), ..Self::told(quantity, ours) };
        row.judged_by(allowed, Some((Rule::Amount, printed)))
            .noted(format!("{low} to {high} are printed"))
    }

    /// A number that is not printed, but follows from printed ones, judged as if it were.
    pub fn derived(quantity: impl Into<String>, value: f64, ours: f64, allowed: Allowed) -> Self {
        let row = Self { expected: Some(value), ..Self::told(quantity, ours) };
        row.judged_by(allowed, Some((Rule::Amount, [value; 2])))
    }

    /// A number that the paper describes only in words, judged only by the requirement.
    pub fn expected(quantity: impl Into<String>, ours: f64, allowed: Allowed) -> Self {
        let expected = match allowed {
            Allowed::AtLeast(x) | Allowed::AtMost(x) => Some(x),
            Allowed::Between(a, b) => Some(f64::midpoint(a, b)),
            _ => None,
        };
        Self { expected, ..Self::told(quantity, ours) }.judged_by(allowed, None)
    }

    /// Whether a statement that the paper makes in words holds.
    pub fn holds(quantity: impl Into<String>, ours: bool) -> Self {
        Self::derived(
            format!("{} (1 yes, 0 no)", quantity.into()),
            1.0,
            f64::from(u8::from(ours)),
            Allowed::Nothing,
        )
    }

    /// A relation of two quantities of which only the order is printed: by seed the ratio of the two, whose mean must be
    /// above 1 by more than the standard deviation of its values, a hundredth at least.
    pub fn order(quantity: impl Into<String>, by_seed: &[f64]) -> Self {
        let n = by_seed.len().max(1) as f64;
        let mean = by_seed.iter().sum::<f64>() / n;
        let noise =
            (by_seed.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
        let mut row = Self::expected(quantity, mean, Allowed::AtLeast(1.0 + noise.max(0.01)));
        row.expected = Some(1.0);
        row.noted(format!(
            "mean of {} seeds; the margin is their standard deviation",
            by_seed.len()
        ))
    }

    /// A number that is only reported: nothing is printed, or what it depends on is not public.
    pub fn told(quantity: impl Into<String>, ours: f64) -> Self {
        Self {
            quantity: quantity.into(),
            paper: None,
            reading: None,
            expected: None,
            ours,
            tolerance: 0.0,
            relative: false,
            at_least: None,
            at_most: None,
            judged: false,
            within: true,
            note: None,
        }
    }

    /// The printed number next to one that is not judged.
    #[must_use]
    pub fn printed(mut self, paper: f64) -> Self {
        self.paper = Some(paper);
        self
    }

    /// The printed number is a misprint of another one.
    #[must_use]
    pub fn read_as(mut self, reading: f64, why: impl Into<String>) -> Self {
        self.reading = Some(reading);
        self.note = Some(why.into());
        self.decided()
    }

    /// Adds a note on the printed number.
    #[must_use]
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Sets the band, its open sides by a rule, and judges.
    fn judged_by(mut self, allowed: Allowed, rule: Option<(Rule, [f64; 2])>) -> Self {
        self.judged = true;
        let band = rule.map(|(rule, printed)| rule.band(printed));
        match allowed {
            Allowed::Nothing => {}
            Allowed::Relative(share) => (self.tolerance, self.relative) = (share, true),
            Allowed::Absolute(difference) => self.tolerance = difference,
            Allowed::AtLeast(least) => {
                // The requirement extends at least to the printed number.
                (self.at_least, self.at_most) = (Some(least), band.map(|b| b.1.max(least)));
            }
            Allowed::AtMost(most) => {
                (self.at_least, self.at_most) = (band.map(|b| b.0.min(most)), Some(most));
            }
            Allowed::Between(least, most) => {
                (self.at_least, self.at_most) = (Some(least), Some(most));
            }
            Allowed::Rule => {
                let (least, most) = band.unwrap_or((self.ours, self.ours));
                (self.at_least, self.at_most) = (Some(least), Some(most));
            }
        }
        self.decided()
    }

    fn decided(mut self) -> Self {
        let truth = self.reading.or(self.paper).or(self.expected).unwrap_or(self.ours);
        let scale = if self.relative { truth.abs() } else { 1.0 };
        // The printed number and ours may be computed in different orders.
        let near = 1e-9 * truth.abs().max(1.0);
        let close = (self.ours - truth).abs() <= self.tolerance * scale + near;
        let in_band = self.at_least.is_none_or(|least| self.ours >= least - near)
            && self.at_most.is_none_or(|most| self.ours <= most + near);
        let by_band = self.at_least.is_some() || self.at_most.is_some();
        self.within = !self.judged || if by_band { in_band } else { close };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kept result of which a number is nothing is read as it was.
    #[test]
    fn nothing_is_kept_as_nothing() {
        let row = Row::new("x", 0.4, f64::NAN, Allowed::Nothing);
        let text = serde_json::to_string(&row).expect("a row");
        let read: Row = serde_json::from_str(&text).expect("the same");
        assert!(text.contains("\"ours\":null") && read.ours.is_nan() && !read.within, "{text}");
        assert_eq!(serde_json::to_string(&read).expect("a row"), text);
    }

    #[test]
    fn required_bands() {
        let row = |ours, allowed| Row::new("x", 0.4, ours, allowed).within;
        assert!(row(0.4, Allowed::Nothing) && !row(0.401, Allowed::Nothing));
        assert!(row(0.408, Allowed::Relative(0.025)) && !row(0.411, Allowed::Relative(0.025)));
        assert!(row(0.9, Allowed::Absolute(0.5)) && !row(0.91, Allowed::Absolute(0.5)));
        assert!(row(9.0, Allowed::Between(8.0, 9.5)) && !row(9.6, Allowed::Between(8.0, 9.5)));
        let misprint = Row::new("x", 15.9, 15.4, Allowed::Nothing);
        assert!(!misprint.within && misprint.read_as(15.4, "the table gives it").within);
        assert!(Row::told("x", 1e9).printed(1.0).within);
    }

    #[test]
    fn far_better_than_printed_is_off() {
        let band = |row: &Row| (row.at_least, row.at_most);
        let most = |ours| Row::new("a time", 40.0, ours, Allowed::AtMost(44.0));
        assert_eq!(band(&most(40.0)), (Some(30.0), Some(44.0)));
        assert!(most(30.0).within && !most(29.0).within && !most(44.5).within);
        let least = |ours| Row::new("a rate", 40.0, ours, Allowed::AtLeast(20.0));
        assert!(least(20.0).within && least(50.0).within);
        assert!(!least(19.0).within && !least(51.0).within);
        let rule = Row::new("a gain", -20.0, -14.0, Allowed::Rule);
        assert_eq!((band(&rule), rule.within), ((Some(-25.0), Some(-15.0)), false));
        // The requirement is stricter than the rule: it takes precedence.
        assert_eq!(band(&Row::new("x", 2.0, 4.0, Allowed::AtLeast(3.0))), (Some(3.0), Some(3.0)));
        let range = Row::range("entries", [10.0, 20.0], 8.0, Allowed::AtMost(20.0));
        assert_eq!((band(&range), range.paper), ((Some(7.5), Some(20.0)), Some(20.0)));
    }

    #[test]
    fn impacts_are_judged_beyond_one() {
        let row = |paper, ours, allowed| Row::impact("C", paper, ours, allowed).within;
        assert!(row(93.0, 185.0, Allowed::AtLeast(10.0)));
        assert!(
            !row(93.0, 186.0, Allowed::AtLeast(10.0)) && !row(93.0, 9.0, Allowed::AtLeast(10.0))
        );
        assert!(row(1.3, 1.15, Allowed::AtMost(2.0)) && !row(1.3, 1.0, Allowed::AtMost(2.0)));
        assert!(row(1.0, 1.1, Allowed::Rule) && !row(1.0, 1.11, Allowed::Rule));
        assert!(row(3.0, 2.0, Allowed::Rule) && row(3.0, 5.0, Allowed::Rule));
        assert!(!row(3.0, 1.9, Allowed::Rule) && !row(3.0, 5.1, Allowed::Rule));
    }

    #[test]
    fn words_are_held_to_what_is_required() {
        let row = Row::expected("x", 9.0, Allowed::AtLeast(9.0));
        assert!(row.within && row.paper.is_none() && row.expected == Some(9.0));
        assert!(!Row::expected("x", 8.0, Allowed::AtLeast(9.0)).within);
        assert!(Row::holds("it does", true).within && !Row::holds("it does", false).within);
        let derived = Row::derived("x", 100.0, 70.0, Allowed::AtMost(120.0));
        assert!(!derived.within && derived.paper.is_none());
    }

    #[test]
    fn an_order_holds_beyond_its_noise() {
        // Mean 1.2, standard deviation 0.158.
        assert!(Row::order("x", &[1.0, 1.1, 1.2, 1.3, 1.4]).within);
        // Mean 1.1, standard deviation 0.158.
        assert!(!Row::order("x", &[0.9, 1.0, 1.1, 1.2, 1.3]).within);
        assert!(!Row::order("x", &[0.9; 5]).within);
    }
}
