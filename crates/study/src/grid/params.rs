//! Parameters of a question.

use std::collections::BTreeMap;

use darkfiber_fabric::Unknown;
use darkfiber_scenario::Error;
use darkfiber_workload::quantity;
use toml::Value;

/// Parameters of a question, by their keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params(BTreeMap<String, Value>);

impl Params {
    /// The parameters of a table; `known` are the valid keys.
    ///
    /// # Errors
    /// If it has another key.
    pub(super) fn new(
        question: &str,
        table: &toml::Table,
        known: &[(&str, &str)],
    ) -> Result<Self, Error> {
        let mut all = BTreeMap::new();
        for (key, value) in table {
            if known.iter().all(|(name, _)| name != key) {
                let names = known.iter().map(|(name, _)| *name);
                let what = format!("parameter of the question {question}");
                return Err(Unknown::new(&what, key, names).into());
            }
            all.insert(key.clone(), value.clone());
        }
        Ok(Self(all))
    }

    /// Whether there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a key is given.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    fn wrong(key: &str, value: &Value, expected: &str) -> Error {
        Error::input(format!("{key} = {value}: expected {expected}"))
    }

    /// Words: one, or a list of them.
    ///
    /// # Errors
    /// If one is no text.
    pub fn words(&self, key: &str) -> Result<Option<Vec<String>>, Error> {
        let Some(value) = self.0.get(key) else { return Ok(None) };
        let one = |v: &Value| {
            v.as_str().map(str::to_owned).ok_or_else(|| Self::wrong(key, v, "text in quotes"))
        };
        match value {
            Value::Array(all) => all.iter().map(one).collect::<Result<_, _>>().map(Some),
            value => Ok(Some(vec![one(value)?])),
        }
    }

    /// One word, or `None` without the key.
    ///
    /// # Errors
    /// If it is no text, or several.
    pub fn word(&self, key: &str) -> Result<Option<String>, Error> {
        match self.words(key)? {
            None => Ok(None),
            Some(mut words) if words.len() == 1 => Ok(words.pop()),
            Some(_) => Err(Error::input(format!("{key}: one is expected"))),
        }
    }

    /// Numbers: one, or a list of them.
    ///
    /// # Errors
    /// If one is no number from `least` to `most`.
    pub fn numbers(&self, key: &str, least: f64, most: f64) -> Result<Option<Vec<f64>>, Error> {
        let Some(value) = self.0.get(key) else { return Ok(None) };
        let one = |v: &Value| {
            let number = v.as_float().or_else(|| v.as_integer().map(|n| n as f64));
            let fits = number.filter(|x| (least..=most).contains(x));
            fits.ok_or_else(|| Self::wrong(key, v, &format!("a number from {least} to {most}")))
        };
        match value {
            Value::Array(all) => all.iter().map(one).collect::<Result<_, _>>().map(Some),
            value => Ok(Some(vec![one(value)?])),
        }
    }

    /// One number, or `None` without the key.
    ///
    /// # Errors
    /// If it is no number from `least` to `most`, or several.
    pub fn number(&self, key: &str, least: f64, most: f64) -> Result<Option<f64>, Error> {
        match self.numbers(key, least, most)? {
            None => Ok(None),
            Some(numbers) if numbers.len() == 1 => Ok(numbers.first().copied()),
            Some(_) => Err(Error::input(format!("{key}: one is expected"))),
        }
    }

    /// A whole number; `None` if it is not given.
    ///
    /// # Errors
    /// If it is not a whole number from `least` to `most`.
    #[expect(clippy::cast_sign_loss, reason = "not below `least`")]
    pub fn whole(&self, key: &str, least: u32, most: u32) -> Result<Option<u32>, Error> {
        let Some(number) = self.number(key, least.into(), most.into())? else { return Ok(None) };
        if number.fract() != 0.0 {
            return Err(Error::input(format!("{key} = {number}: expected a whole number")));
        }
        Ok(Some(number as u32))
    }

    /// Yes or no; no if it is not given.
    ///
    /// # Errors
    /// If it is neither.
    pub fn flag(&self, key: &str) -> Result<bool, Error> {
        match self.0.get(key) {
            None => Ok(false),
            Some(Value::Boolean(yes)) => Ok(*yes),
            Some(value) => Err(Self::wrong(key, value, "true or false")),
        }
    }

    /// Words or numbers as text: one, or a list of them.
    ///
    /// # Errors
    /// If one is neither.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<String>>, Error> {
        let Some(value) = self.0.get(key) else { return Ok(None) };
        let one = |v: &Value| match v {
            Value::String(text) => Ok(text.clone()),
            Value::Integer(_) | Value::Float(_) => Ok(v.to_string()),
            _ => Err(Self::wrong(key, v, "text or a number")),
        };
        match value {
            Value::Array(all) => all.iter().map(one).collect::<Result<_, _>>().map(Some),
            value => Ok(Some(vec![one(value)?])),
        }
    }

    /// A time in picoseconds.
    ///
    /// # Errors
    /// If it is no time with a unit.
    pub fn time(&self, key: &str) -> Result<Option<u64>, Error> {
        let read = |text: String| {
            quantity::time(&text).map_err(|e| Error::input(format!("{key} = \"{text}\": {e}")))
        };
        self.word(key)?.map(read).transpose()
    }

    /// A size in bytes.
    ///
    /// # Errors
    /// If it is no size with a unit.
    pub fn bytes(&self, key: &str) -> Result<Option<u64>, Error> {
        let read = |text: String| {
            quantity::bytes(&text).map_err(|e| Error::input(format!("{key} = \"{text}\": {e}")))
        };
        self.word(key)?.map(read).transpose()
    }
}

impl std::fmt::Display for Params {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (key, value)) in self.0.iter().enumerate() {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            write!(f, "{}{key}={text}", if i > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}
