//! The `key=value` pairs of a spec, read one key at a time with the errors that people see.

use std::ops::RangeInclusive;

use crate::close_names::nearest_or_all;
use crate::{LinkClass, SpecError};

use super::key::Key;

/// The values of a spec. Made by [`Params::parse`], which refuses unknown keys; families read them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    family: &'static str,
    text: String,
    meaning: Vec<(&'static str, &'static str)>,
    pairs: Vec<(String, String)>,
}

impl Params {
    /// Splits `pairs`, the part of the spec `text` after the colon, and checks the keys against `keys`,
    /// those that the component called `family` has.
    ///
    /// # Errors
    /// If a part is not `key=value`, a key is unknown or given twice.
    pub fn parse<'k>(
        family: &'static str,
        keys: impl IntoIterator<Item = &'k Key>,
        text: &str,
        pairs: &str,
    ) -> Result<Self, SpecError> {
        let mut params = Self {
            family,
            text: text.to_owned(),
            meaning: keys.into_iter().map(|k| (k.name, k.meaning)).collect(),
            pairs: Vec::new(),
        };
        for part in pairs.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                return Err(SpecError::NotAPair { family: params.family, text: part.to_owned() });
            };
            let (key, value) = (key.trim(), value.trim());
            if !params.meaning.iter().any(|(name, _)| *name == key) {
                return Err(SpecError::UnknownKey {
                    family: params.family,
                    key: key.to_owned(),
                    nearest: nearest_or_all(key, params.meaning.iter().map(|(name, _)| *name)),
                });
            }
            if params.raw(key).is_some() {
                return Err(SpecError::DuplicateKey { family: params.family, key: key.to_owned() });
            }
            params.pairs.push((key.to_owned(), value.to_owned()));
        }
        Ok(params)
    }

    /// Name of the family.
    pub fn family(&self) -> &'static str {
        self.family
    }

    /// The whole spec, which becomes the name of the fabric.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value of a key as written, `None` if the spec does not have it.
    pub fn raw(&self, key: &str) -> Option<&str> {
        let pair = self.pairs.iter().find(|(k, _)| k == key)?;
        Some(&pair.1)
    }

    /// A copy with one more pair: for families defined by another one's spec.
    pub(super) fn with(&self, key: &str, value: u32) -> Self {
        let mut more = self.clone();
        more.pairs.push((key.to_owned(), value.to_string()));
        more
    }

    /// The error for a value that `key` cannot have.
    pub fn bad(&self, key: &'static str, expected: impl Into<String>) -> SpecError {
        SpecError::BadValue {
            family: self.family,
            key,
            value: self.raw(key).unwrap_or_default().to_owned(),
            expected: expected.into(),
        }
    }

    fn missing(&self, key: &'static str) -> SpecError {
        let meaning = self.meaning.iter().find(|(name, _)| *name == key);
        SpecError::MissingKey {
            family: self.family,
            key,
            expected: meaning.map_or_else(String::new, |(_, m)| (*m).to_owned()),
        }
    }

    /// A whole number within `range`; `None` if the spec does not have the key.
    ///
    /// # Errors
    /// [`SpecError::BadValue`].
    pub fn get(
        &self,
        key: &'static str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, SpecError> {
        let Some(text) = self.raw(key) else {
            return Ok(None);
        };
        match text.parse() {
            Ok(value) if range.contains(&value) => Ok(Some(value)),
            _ => Err(self.bad(key, number_within(&range))),
        }
    }

    /// A whole number within `range` that the spec must have.
    ///
    /// # Errors
    /// [`SpecError::BadValue`] or [`SpecError::MissingKey`].
    pub fn need(&self, key: &'static str, range: RangeInclusive<u32>) -> Result<u32, SpecError> {
        self.get(key, range)?.ok_or_else(|| self.missing(key))
    }

    /// Whole numbers joined by `x`, each within `range`; `None` if the spec does not have the key.
    ///
    /// # Errors
    /// [`SpecError::BadValue`].
    pub fn list(
        &self,
        key: &'static str,
        range: &RangeInclusive<u32>,
    ) -> Result<Option<Vec<u32>>, SpecError> {
        let Some(text) = self.raw(key) else {
            return Ok(None);
        };
        let values: Result<Vec<u32>, _> = text.split('x').map(str::parse).collect();
        match values {
            Ok(values) if values.iter().all(|v| range.contains(v)) => Ok(Some(values)),
            _ => Err(self.bad(key, format!("{} each, joined by x", number_within(range)))),
        }
    }

    /// A list that the spec must have.
    ///
    /// # Errors
    /// [`SpecError::BadValue`] or [`SpecError::MissingKey`].
    pub fn need_list(
        &self,
        key: &'static str,
        range: &RangeInclusive<u32>,
    ) -> Result<Vec<u32>, SpecError> {
        self.list(key, range)?.ok_or_else(|| self.missing(key))
    }

    /// A list of `len` numbers, where one number alone stands for all; `default` if absent.
    ///
    /// # Errors
    /// [`SpecError::BadValue`].
    pub fn per(
        &self,
        key: &'static str,
        range: &RangeInclusive<u32>,
        len: usize,
        default: u32,
    ) -> Result<Vec<u32>, SpecError> {
        match self.list(key, range)? {
            None => Ok(vec![default; len]),
            Some(one) if one.len() == 1 => Ok(vec![one[0]; len]),
            Some(all) if all.len() == len => Ok(all),
            Some(_) => Err(self.bad(key, format!("one number, or {len} joined by x"))),
        }
    }

    /// The link class that keys `label` (an InfiniBand label) or `rate` (Gbit/s) name.
    ///
    /// # Errors
    /// [`SpecError::BadValue`], also if both keys are there.
    pub fn class(
        &self,
        label: &'static str,
        rate: &'static str,
    ) -> Result<Option<LinkClass>, SpecError> {
        match (self.raw(label), self.raw(rate)) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => Err(self.bad(rate, format!("no {rate} beside {label}"))),
            (Some(text), None) => match LinkClass::infiniband(text) {
                Some(class) => Ok(Some(class)),
                None => Err(self.bad(label, "an InfiniBand width and speed, e.g. 4xHDR")),
            },
            (None, Some(text)) => match text.parse::<f64>() {
                Ok(gbps) if (0.001..=1e6).contains(&gbps) => Ok(Some(ethernet(gbps))),
                _ => Err(self.bad(rate, "a data rate in Gbit/s, e.g. 200")),
            },
        }
    }
}

/// A class named after its data rate, `200G`.
pub(super) fn ethernet(gbps: f64) -> LinkClass {
    #[expect(clippy::cast_sign_loss, reason = "rates are positive")]
    LinkClass::other(&format!("{gbps}G"), (gbps * 1e9 / 8.0).round() as u64)
}

fn number_within(range: &RangeInclusive<u32>) -> String {
    format!("a whole number from {} to {}", range.start(), range.end())
}
