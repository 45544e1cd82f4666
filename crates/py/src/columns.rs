//! Columns of a table while it is made.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, Field, Schema};
use darkfiber_study::grid::Value;

/// Named columns of equal length.
#[derive(Default)]
pub(crate) struct Columns(Vec<(String, ArrayRef)>);

impl Columns {
    /// With a column of numbers that count something.
    pub(crate) fn whole(self, name: &str, values: impl IntoIterator<Item = u64>) -> Self {
        self.with(name, Arc::new(UInt64Array::from_iter_values(values)))
    }

    /// With a column of measured numbers.
    pub(crate) fn real(self, name: &str, values: impl IntoIterator<Item = f64>) -> Self {
        self.with(name, Arc::new(Float64Array::from_iter_values(values)))
    }

    /// With a column of measured numbers of which some are missing.
    pub(crate) fn some(self, name: &str, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        self.with(name, Arc::new(values.into_iter().collect::<Float64Array>()))
    }

    /// With a column of names.
    pub(crate) fn text<S: AsRef<str>>(
        self,
        name: &str,
        values: impl IntoIterator<Item = S>,
    ) -> Self {
        self.with(name, Arc::new(StringArray::from_iter_values(values)))
    }

    /// With a column of values of any kind, of which some are missing: of the narrowest kind that takes all of them.
    pub(crate) fn values(self, name: &str, values: &[Option<Value>]) -> Self {
        let all = |is: fn(&Value) -> bool| values.iter().flatten().all(is);
        let column: ArrayRef = if all(|v| matches!(v, Value::Yes(_))) {
            let yes = |v: &Option<Value>| v.as_ref().map(|v| matches!(v, Value::Yes(true)));
            Arc::new(values.iter().map(yes).collect::<BooleanArray>())
        } else if all(|v| matches!(v, Value::Whole(_))) {
            let whole = |v: &Option<Value>| match v {
                Some(Value::Whole(n)) => Some(*n),
                _ => None,
            };
            Arc::new(values.iter().map(whole).collect::<UInt64Array>())
        } else if all(|v| matches!(v, Value::Whole(_) | Value::Number(_))) {
            let number = |v: &Option<Value>| v.as_ref().and_then(Value::number);
            Arc::new(values.iter().map(number).collect::<Float64Array>())
        } else {
            let text = |v: &Option<Value>| v.as_ref().map(ToString::to_string);
            Arc::new(values.iter().map(text).collect::<StringArray>())
        };
        self.with(name, column)
    }

    fn with(mut self, name: &str, column: ArrayRef) -> Self {
        self.0.push((name.to_owned(), column));
        self
    }

    /// All of them; an error if they differ in length.
    pub(crate) fn batch(self) -> Result<RecordBatch, ArrowError> {
        let field = |(name, column): &(String, ArrayRef)| {
            Field::new(name, column.data_type().clone(), true)
        };
        let fields: Vec<Field> = self.0.iter().map(field).collect();
        let columns = self.0.into_iter().map(|(_, column)| column).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
    }
}
