//! Parameters of schemes: what each is, its unit, range, default and source, and how it is written.

use std::fmt;

use darkfiber_fabric::Unknown;
use darkfiber_workload::quantity;

use super::notes::Notes;
use super::registry::{CONGESTIONS, Scheme};
use super::{Congestion, ecn, grants, infiniband, pairs, qcn};

/// What a whole is in a [`Unit::Share`]: hundredths, thousandths and powers of two up to 2^12 are exact.
pub(crate) const ONE: u64 = 64_000_000;

/// A share of a number, rounded down.
#[inline]
pub(crate) fn part(share: u64, of: u64) -> u64 {
    (u128::from(of) * u128::from(share) / u128::from(ONE)) as u64
}

/// What parameters of all schemes are set to: those of their papers, unless something else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuning {
    pub(crate) notes: Notes,
    pub(crate) pairs: pairs::Params,
    pub(crate) reserve: pairs::Params,
    pub(crate) ecn: ecn::Params,
    pub(crate) infiniband: infiniband::Params,
    pub(crate) qcn: qcn::Params,
    pub(crate) grants: grants::Params,
}

impl Tuning {
    /// Those of the papers.
    pub const DEFAULT: Self = Self {
        notes: Notes::DEFAULT,
        pairs: pairs::Params::PAIRS,
        reserve: pairs::Params::RESERVE,
        ecn: ecn::Params::DEFAULT,
        infiniband: infiniband::Params::DEFAULT,
        qcn: qcn::Params::DEFAULT,
        grants: grants::Params::DEFAULT,
    };

    /// Parameters of a scheme whose last switch books turns.
    pub(crate) fn turns(&self, congestion: Congestion) -> &pairs::Params {
        if congestion == Congestion::Reserve { &self.reserve } else { &self.pairs }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What a parameter counts, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Picoseconds, with a unit: `55us`.
    Time,
    /// Bytes, with a unit: `16KiB`.
    Bytes,
    /// A part or a multiple of something: `0.25`, `1/256`.
    Share,
    /// A whole number.
    Count,
    /// One of some words, by its number.
    Word(&'static [&'static str]),
}

impl Unit {
    /// What it is called.
    pub fn label(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Bytes => "bytes",
            Self::Share => "part",
            Self::Count => "number",
            Self::Word(_) => "word",
        }
    }

    /// A value as it is written.
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

    /// What is written as a value, or what was expected.
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
    /// What users write.
    pub name: &'static str,
    /// What it counts.
    pub unit: Unit,
    /// The least and the most that it may be.
    pub range: [u64; 2],
    /// What it does.
    pub meaning: &'static str,
    /// Where its default is from.
    pub source: &'static str,
    /// Where it stands.
    pub(crate) of: fn(&mut Tuning) -> &mut u64,
}

impl Parameter {
    /// What it is if nobody says anything.
    pub fn default_value(&self) -> u64 {
        *(self.of)(&mut Tuning::default())
    }

    /// Its default as it is written.
    pub fn default_text(&self) -> String {
        self.unit.show(self.default_value())
    }

    /// Its range as it is written: `1us to 1s`; or its words.
    pub fn range_text(&self) -> String {
        match self.unit {
            Unit::Word(words) => words.join(", "),
            unit => format!("{} to {}", unit.show(self.range[0]), unit.show(self.range[1])),
        }
    }

    /// Reads a value.
    ///
    /// # Errors
    /// If the text is none, or out of range.
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

/// A scheme with its parameters.
#[derive(Clone, Copy)]
pub struct Tuned {
    /// The scheme.
    pub scheme: &'static Scheme,
    /// What its parameters are set to; those of others are as in their papers.
    pub tuning: Tuning,
}

impl Tuned {
    /// As in its paper.
    pub fn new(scheme: &'static Scheme) -> Self {
        Self { scheme, tuning: Tuning::DEFAULT }
    }

    /// Reads `scheme` or `scheme:parameter=value,...`.
    ///
    /// # Errors
    /// If there is no such scheme or parameter, or a value is none or out of range.
    pub fn parse(text: &str) -> Result<Self, TuningError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut tuned = Self::new(CONGESTIONS.get(name.trim())?);
        for piece in rest.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let (key, value) = piece.split_once('=').ok_or_else(|| {
                TuningError::new(format!("{name}: \"{piece}\" is not of the form key=value"))
            })?;
            tuned.set(key.trim(), value.trim()).map_err(|e| e.inside(key).inside(name))?;
        }
        tuned.check().map_err(|e| e.inside(name))?;
        Ok(tuned)
    }

    /// A parameter of its scheme.
    ///
    /// # Errors
    /// If it has none of that name.
    pub fn parameter(&self, name: &str) -> Result<&'static Parameter, TuningError> {
        let of_scheme = self.scheme.all_parameters();
        of_scheme.clone().find(|p| p.name == name).ok_or_else(|| {
            let what = format!("parameter of {}", self.scheme.name);
            let unknown = Unknown::new(&what, name, of_scheme.map(|p| p.name));
            if self.scheme.congestion == Congestion::None {
                return TuningError::new("none has no parameters");
            }
            unknown.into()
        })
    }

    /// Sets a parameter to what is written.
    ///
    /// # Errors
    /// If there is none of that name, or the value is none or out of range.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), TuningError> {
        let parameter = self.parameter(name)?;
        *(parameter.of)(&mut self.tuning) = parameter.read(text)?;
        Ok(())
    }

    /// Refuses parameters that do not go together.
    ///
    /// # Errors
    /// If a lower threshold is above the upper one.
    pub fn check(&self) -> Result<(), TuningError> {
        let ecn = &self.tuning.ecn;
        if ecn.kmin > ecn.kmax {
            let [low, high] = [ecn.kmin, ecn.kmax].map(|t| Unit::Time.show(t));
            return Err(TuningError::new(format!(
                "kmin={low} is above kmax={high}: it must be at most as long"
            )));
        }
        Ok(())
    }

    /// Parameters that are not as in the paper, and what they are.
    pub fn different(&self) -> Vec<(&'static str, String)> {
        let mut mine = self.tuning;
        let parameters = self.scheme.all_parameters();
        parameters
            .map(|p| (p, *(p.of)(&mut mine)))
            .filter(|(p, value)| *value != p.default_value())
            .map(|(p, value)| (p.name, p.unit.show(value)))
            .collect()
    }
}

impl fmt::Display for Tuned {
    /// As [`Tuned::parse`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scheme.name)?;
        for ((name, value), before) in
            self.different().into_iter().zip([":"].into_iter().chain(std::iter::repeat(",")))
        {
            write!(f, "{before}{name}={value}")?;
        }
        Ok(())
    }
}

/// Parameters that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuningError {
    /// What is wrong.
    pub message: String,
    /// What the user can do, or empty.
    pub hint: String,
}

impl TuningError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: String::new() }
    }

    fn inside(self, name: &str) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown is read back as the same value, defaults are in their ranges, names are unique, and each parameter has a place of
    /// its own.
    #[test]
    fn parameters_are_written_and_read() {
        for scheme in &CONGESTIONS {
            let mut names = std::collections::BTreeSet::new();
            for p in scheme.all_parameters() {
                assert!(names.insert(p.name), "{} {}", scheme.name, p.name);
                for value in [p.default_value(), p.range[0], p.range[1]] {
                    assert_eq!(
                        p.read(&p.unit.show(value)),
                        Ok(value),
                        "{} {}",
                        scheme.name,
                        p.name
                    );
                }
                // Another value changes this one and no other.
                let other = if p.default_value() == p.range[1] { p.range[0] } else { p.range[1] };
                let mut tuned = Tuned::new(scheme);
                tuned.set(p.name, &p.unit.show(other)).expect("in range");
                assert_eq!(tuned.different(), [(p.name, p.unit.show(other))], "{}", scheme.name);
                *(p.of)(&mut tuned.tuning) = p.default_value();
                assert_eq!(tuned.tuning, Tuning::DEFAULT, "{} {}", scheme.name, p.name);
            }
        }
    }

    #[test]
    fn specs_are_read_or_refused() {
        let tuned = Tuned::parse("ecn:g=1/64, kmin=2us,notes=priced").expect("a spec");
        assert_eq!((tuned.tuning.ecn.g, tuned.tuning.ecn.kmin), (ONE / 64, 2_000_000));
        assert_eq!(tuned.to_string(), "ecn:kmin=2us,g=1/64,notes=priced");
        assert_eq!(Tuned::parse(&tuned.to_string()).expect("a spec").tuning, tuned.tuning);
        assert_eq!(Tuned::parse("pairs").expect("a spec").tuning, Tuning::DEFAULT);
        let wrong = |text: &str| Tuned::parse(text).err().expect("wrong").to_string();
        assert_eq!(wrong("ecn:g=3"), "ecn: g: 3 is out of range: 0.00001525 to 1");
        assert_eq!(wrong("ecn:g=-1"), "ecn: g: \"-1\" is no part: write 0.25 or 1/4");
        assert_eq!(wrong("ecn:g"), "ecn: \"g\" is not of the form key=value");
        assert_eq!(wrong("ecn:gg=1"), "ecn: gg: no parameter of ecn is called 'gg'");
        assert_eq!(wrong("none:g=1"), "none: g: none has no parameters");
        assert_eq!(wrong("ecn:notes=dear"), "ecn: notes: \"dear\" must be free or priced");
        assert_eq!(
            wrong("ecn:kmin=50us"),
            "ecn: kmin=50us is above kmax=40us: it must be at most as long"
        );
        assert!(wrong("ecn:kmin=50").contains("is no time"), "{}", wrong("ecn:kmin=50"));
    }
}
