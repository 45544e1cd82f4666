//! Answers: a row for each cell, question, and subject.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};

/// A value of a row.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Whether something holds.
    Yes(bool),
    /// A number that counts something.
    Whole(u64),
    /// A measured number.
    Number(f64),
    /// A name.
    Text(String),
}

/// Decided by the type of the token, without trying one variant after the other: tables have millions of them.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, a number or text")
            }

            fn visit_bool<E>(self, yes: bool) -> Result<Value, E> {
                Ok(Value::Yes(yes))
            }

            fn visit_u64<E>(self, n: u64) -> Result<Value, E> {
                Ok(Value::Whole(n))
            }

            fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
                Ok(u64::try_from(n).map_or(Value::Number(n as f64), Value::Whole))
            }

            fn visit_f64<E>(self, x: f64) -> Result<Value, E> {
                Ok(Value::Number(x))
            }

            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Value {
    /// The value as a number; 1 and 0 for yes and no; none for names.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Yes(yes) => Some(f64::from(u8::from(*yes))),
            Self::Whole(n) => Some(*n as f64),
            Self::Number(x) => Some(*x),
            Self::Text(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yes(yes) => f.write_str(if *yes { "yes" } else { "no" }),
            Self::Whole(n) => n.fmt(f),
            Self::Number(x) => x.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Self {
        Self::Yes(yes)
    }
}

impl From<u64> for Value {
    fn from(n: u64) -> Self {
        Self::Whole(n)
    }
}

impl From<usize> for Value {
    fn from(n: usize) -> Self {
        Self::Whole(n as u64)
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// The answer to a question about one subject of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The question, with its parameters where a study has it twice.
    pub question: String,
    /// Subject: a job, a pattern, a load; empty if it is the whole cell.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// The quantities, by their columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<(String, Value)>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The full result, if requested; it is not stored.
    #[serde(skip)]
    pub detail: Detail,
}

/// The amount of detail that is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Details {
    /// Only the rows.
    #[default]
    Rows,
    /// The full result, in addition to the columns.
    Found,
    /// Also the data for pictures: it may take as long again.
    Drawn,
}

impl Details {
    /// Whether more than rows is wanted.
    pub fn are_wanted(self) -> bool {
        self > Self::Rows
    }
}

/// The full result of a question, of which columns are the part that fits a table: for callers that expect its type. It does not
/// affect whether two answers are the same.
#[derive(Clone, Default)]
pub struct Detail(Option<Arc<dyn Any + Send + Sync>>);

impl Detail {
    /// Wraps a result.
    pub fn new<T: Any + Send + Sync>(found: T) -> Self {
        Self(Some(Arc::new(found)))
    }

    /// The result, if it has this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_ref()?.downcast_ref()
    }
}

impl fmt::Debug for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "some" } else { "none" })
    }
}

impl PartialEq for Detail {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Answer {
    /// An answer about one subject; the caller fills in the question.
    pub fn of(what: impl Into<String>) -> Self {
        Self { of: what.into(), ..Self::default() }
    }

    /// With a quantity; one that is no number is left out.
    #[must_use]
    pub fn with(mut self, column: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !matches!(value, Value::Number(x) if !x.is_finite()) {
            self.found.push((column.to_owned(), value));
        }
        self
    }

    /// With a quantity, if there is one.
    #[must_use]
    pub fn with_some(self, column: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(column, value),
            None => self,
        }
    }

    /// With the full result, if it is wanted.
    #[must_use]
    pub fn detailed<T: Any + Send + Sync>(
        mut self,
        wanted: bool,
        found: impl FnOnce() -> T,
    ) -> Self {
        if wanted {
            self.detail = Detail::new(found());
        }
        self
    }

    /// A quantity by its column.
    pub fn get(&self, column: &str) -> Option<&Value> {
        self.found.iter().find(|(name, _)| name == column).map(|(_, value)| value)
    }
}

/// All answers of a cell, as they are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Digest of everything that the answers depend on.
    pub id: String,
    /// The point of the grid, from 0, in the order of the axes; cells of a point differ in their seed.
    pub point: u64,
    /// The place among the cells of a point.
    pub turn: u64,
    /// The values of the axes.
    pub set: Vec<(String, Value)>,
    /// Seed of the cell.
    pub seed: u64,
    /// Answers to all questions.
    pub answers: Vec<Answer>,
    /// Seconds of computing time, including its share of common work.
    pub seconds: f64,
}

impl Record {
    /// Whether a question has no answer.
    pub fn has_failed(&self) -> bool {
        self.answers.iter().any(|answer| answer.error.is_some())
    }
}
