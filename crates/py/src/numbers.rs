//! Whole numbers as arguments: one that is out of range is refused as any other wrong argument.

use darkfiber_scenario::Error as ScenarioError;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::error::raised;
use crate::text::shown;

/// A whole number of a type of Rust.
#[derive(Clone, Copy)]
pub(crate) struct Whole<T>(pub(crate) T);

/// Types of numbers, and their ends.
pub(crate) trait Range: TryFrom<i128> + PartialOrd + std::fmt::Display {
    /// The largest; the smallest is 0.
    const MAX: Self;
}

macro_rules! ranges {
    ($($type:ty),*) => { $(impl Range for $type { const MAX: Self = <$type>::MAX; })* };
}

ranges!(u8, u32, usize);

/// What files and command lines can say, and every 64-bit signed number.
impl Range for u64 {
    const MAX: Self = i64::MAX as u64;
}

impl<'py, T: Range> FromPyObject<'_, 'py> for Whole<T> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = given.py();
        let refused = || {
            let number = match shown(&given) {
                Ok(number) => number,
                Err(other) => return other,
            };
            let error = ScenarioError::usage(format!("{number} is out of range"));
            raised(py, &error.hint(format!("expected a whole number from 0 to {}", T::MAX)))
        };
        // Any object that says which number it is, as for indices of Python's own lists.
        let index = if given.hasattr("__index__")? {
            given.call_method0("__index__")?
        } else {
            given.to_owned()
        };
        let number = index.extract::<i128>().map_err(|error| {
            if error.is_instance_of::<PyOverflowError>(py) { refused() } else { error }
        })?;
        let found = T::try_from(number).ok().filter(|number| *number <= T::MAX);
        found.map(Self).ok_or_else(refused)
    }
}

/// The numbers themselves.
pub(crate) fn plain<T: Copy>(all: Vec<Whole<T>>) -> Vec<T> {
    all.into_iter().map(|number| number.0).collect()
}
