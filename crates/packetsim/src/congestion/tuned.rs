//! A scheme with its parameters, as users write it: `ecn:kmax=20us,g=1/64`.

use std::fmt;

use darkfiber_fabric::Unknown;

use super::parameter::{Parameter, TuningError, Unit};
use super::registry::{CONGESTIONS, Scheme};
use super::{Congestion, Tuning};
use crate::SwitchModel;

/// A scheme with its parameters.
#[derive(Clone, Copy)]
pub struct Tuned {
    /// The congestion control scheme.
    pub scheme: &'static Scheme,
    /// Its parameter values; those of other schemes are as in their papers.
    pub tuning: Tuning,
}

impl Tuned {
    /// As in its paper.
    pub fn new(scheme: &'static Scheme) -> Self {
        Self { scheme, tuning: Tuning::DEFAULT }
    }

    /// Parses `scheme` or `scheme:parameter=value,...`.
    ///
    /// # Errors
    /// If there is no such scheme or parameter, or a value is invalid or out of range.
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

    /// Finds a parameter of its scheme.
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

    /// Sets a parameter to a written value.
    ///
    /// # Errors
    /// If there is none of that name, or the value is invalid or out of range.
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

    /// Switches with this congestion control.
    #[must_use]
    pub fn on(&self, model: SwitchModel) -> SwitchModel {
        SwitchModel { congestion: self.scheme.congestion, tuning: self.tuning, ..model }
    }

    /// Parameters that differ from the paper, and their values.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tuning::ONE;

    /// A value that is shown is read back unchanged, defaults are in their ranges, names are unique, and each parameter has its own
    /// field.
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
