//! Parameters of schemes: meaning, unit, range, default and source of each, and how a value is written.

use std::fmt;

use darkfiber_fabric::Unknown;
use darkfiber_workload::quantity;

use super::tuning::{ONE, Tuning};

/// The unit that a parameter is in, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Picoseconds, with a unit: `55us`.
    Time,
    /// Bytes, with a unit: `16KiB`.
    Bytes,
    /// A part or a multiple of something: `0.25`, `1/256`.
    Share,
    /// A number without fraction.
    Count,
    /// One of some words, by its number.
    Word(&'static [&'static str]),
}

impl Unit {
    /// Name of the unit.
    pub fn label(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Bytes => "bytes",
            Self::Share => "part",
            Self::Count => "number",
            Self::Word(_) => "word",
        }
    }

    /// A value in written form.
    pub fn show(self, value: u64) -> String {
        let in_units = |units: &[(u64, &str)]| {
            let fits = units.iter().find(|u| value > 0 && value.is_multiple_of(u.0));
            let (size, unit) = fits.or(units.last()).copied().unwrap_or((1, ""));
            format!("{}{unit}", value / size)
        };
        match self {
            Self::Time => in_units(&[
                (1_000_000_000_000, "s"),
                (1_000_000_000, "ms"),
                (1_000_000, "us"),
                (1000, "ns"),
                (1, "ps"),
            ]),
            Self::Bytes => in_units(&[
                (1 << 30, "GiB"),
                (1_000_000_000, "GB"),
                (1 << 20, "MiB"),
                (1_000_000, "MB"),
                (1 << 10, "KiB"),
                (1000, "kB"),
                (1, "B"),
            ]),
            Self::Share => match ONE.checked_div(value) {
                Some(n) if n > 1 && n.is_power_of_two() && ONE.is_multiple_of(value) => {
                    format!("1/{n}")
                }
                _ => format!("{}", value as f64 / ONE as f64),
            },
            Self::Count => value.to_string(),
            Self::Word(words) => words.get(value as usize).copied().unwrap_or_default().to_owned(),
        }
    }

    /// Parses a value; the error states what was expected.
    fn read(self, text: &str) -> Result<u64, String> {
        let share = |text: &str| -> Option<u64> {
            let number = |t: &str| t.trim().parse::<f64>().ok().filter(|x| *x >= 0.0);
            let (above, below) = text.split_once('/').unwrap_or((text, "1"));
            let share = number(above)? / number(below)?;
            #[expect(clippy::cast_sign_loss, reason = "it is not below zero")]
            (share < 1e6).then_some((share * ONE as f64).round() as u64)
        };
        match self {
            Self::Time => quantity::time(text).map_err(|e| e.to_string()),
            Self::Bytes => quantity::bytes(text).map_err(|e| e.to_string()),
            Self::Share => {
                share(text).ok_or_else(|| format!("{text:?} is no part: write 0.25 or 1/4"))
            }
            Self::Count => {
                text.trim().parse().map_err(|_| format!("{text:?} is no whole number: write 5"))
            }
            Self::Word(words) => words
                .iter()
                .position(|w| *w == text.trim())
                .map(|i| i as u64)
                .ok_or_else(|| format!("{text:?} must be {}", words.join(" or "))),
        }
    }
}

/// A parameter of a scheme.
#[derive(Debug)]
pub struct Parameter {
    /// Name that users write.
    pub name: &'static str,
    /// Unit of the parameter.
    pub unit: Unit,
    /// The least and the most that it may be.
    pub range: [u64; 2],
    /// Effect of the parameter.
    pub meaning: &'static str,
    /// Source of the default value.
    pub source: &'static str,
    /// Field of [`Tuning`] that holds it.
    pub(crate) of: fn(&mut Tuning) -> &mut u64,
}

impl Parameter {
    /// Value if it is not set.
    pub fn default_value(&self) -> u64 {
        *(self.of)(&mut Tuning::default())
    }

    /// Its default in written form.
    pub fn default_text(&self) -> String {
        self.unit.show(self.default_value())
    }

    /// Its range in written form: `1us to 1s`; or its words.
    pub fn range_text(&self) -> String {
        match self.unit {
            Unit::Word(words) => words.join(", "),
            unit => format!("{} to {}", unit.show(self.range[0]), unit.show(self.range[1])),
        }
    }

    /// Parses a value.
    ///
    /// # Errors
    /// If the text is not a value, or out of range.
    pub fn read(&self, text: &str) -> Result<u64, TuningError> {
        let value = self.unit.read(text).map_err(TuningError::new)?;
        if (self.range[0]..=self.range[1]).contains(&value) {
            return Ok(value);
        }
        Err(TuningError::new(format!(
            "{} is out of range: {}",
            self.unit.show(value),
            self.range_text()
        )))
    }
}

/// Parameters that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuningError {
    /// The problem with the input.
    pub message: String,
    /// Suggestion for the user, or empty.
    pub hint: String,
}

impl TuningError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: String::new() }
    }

    pub(super) fn inside(self, name: &str) -> Self {
        Self { message: format!("{name}: {}", self.message), ..self }
    }
}

impl From<Unknown> for TuningError {
    fn from(unknown: Unknown) -> Self {
        Self { message: unknown.to_string(), hint: unknown.hint() }
    }
}

impl fmt::Display for TuningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for TuningError {}
