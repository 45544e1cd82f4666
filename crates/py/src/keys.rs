//! Keys that are set from Python: values of Python as values of a scenario.

use darkfiber_scenario::Error as ScenarioError;
use darkfiber_study::grid::Axis;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use toml_edit::{Array, InlineTable, Value};

use crate::error::raised;
use crate::text::text;

/// Keys and their values; a list is an axis. A text is what `--set` takes: numbers, words, several of them with commas.
pub(crate) fn axes(set: Option<&Bound<'_, PyMapping>>) -> PyResult<Vec<Axis>> {
    let Some(set) = set else { return Ok(Vec::new()) };
    let axis = |item: Bound<'_, PyAny>| {
        let (key, given): (String, Bound<'_, PyAny>) = item.extract()?;
        axis(&key, &given)
    };
    set.items()?.iter().map(axis).collect()
}

/// As [`axes`], where a key has one value: a text with commas is one.
pub(crate) fn values(set: Option<&Bound<'_, PyMapping>>) -> PyResult<Vec<Axis>> {
    let Some(set) = set else { return Ok(Vec::new()) };
    let one = |item: Bound<'_, PyAny>| {
        let (key, given): (String, Bound<'_, PyAny>) = item.extract()?;
        let axis = axis(&key, &given)?;
        match given.cast::<PyString>() {
            Ok(given) if axis.values.len() > 1 => {
                Axis::of(&key, text(given)?.into()).map_err(|e| raised(given.py(), &e))
            }
            _ => Ok(axis),
        }
    };
    set.items()?.iter().map(one).collect()
}

fn axis(key: &str, given: &Bound<'_, PyAny>) -> PyResult<Axis> {
    let axis = match given.cast::<PyString>() {
        Ok(given) => Axis::parse(&format!("{key}={}", text(given)?)),
        Err(_) => Axis::of(key, value(key, given, 0)?),
    };
    axis.map_err(|e| raised(given.py(), &e))
}

/// Lists and tables inside each other, more than any key has; one that contains itself has no end.
const DEEPEST: usize = 32;

/// A value of Python as one of TOML, inside this number of others.
fn value(key: &str, given: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let refused = |what: &str| {
        let error = ScenarioError::usage(format!("set: {key} is {what}"));
        raised(
            given.py(),
            &error.hint("expected a text, a number, True or False, or a list of these"),
        )
    };
    if depth > DEEPEST {
        return Err(refused(&format!("nested more than {DEEPEST} deep")));
    }
    if given.is_none() {
        return Err(refused("None"));
    }
    if let Ok(yes) = given.cast::<PyBool>() {
        return Ok(yes.is_true().into());
    }
    if given.cast::<PyInt>().is_ok() {
        let number = given.extract::<i64>();
        return number.map(Value::from).map_err(|_| refused("a number of more than 64 bits"));
    }
    if let Ok(number) = given.cast::<PyFloat>() {
        return Ok(number.value().into());
    }
    if let Ok(given) = given.cast::<PyString>() {
        return Ok(text(given)?.into());
    }
    if given.cast::<PyList>().is_ok() || given.cast::<PyTuple>().is_ok() {
        let items = given.try_iter()?.map(|item| value(key, &item?, depth + 1));
        let items: Vec<Value> = items.collect::<PyResult<_>>()?;
        return Ok(items.into_iter().collect::<Array>().into());
    }
    if let Ok(table) = given.cast::<PyMapping>() {
        let mut inner = InlineTable::new();
        for item in table.items()?.iter() {
            let (name, of): (String, Bound<'_, PyAny>) = item.extract()?;
            inner.insert(&name, value(&format!("{key}.{name}"), &of, depth + 1)?);
        }
        return Ok(inner.into());
    }
    // Numbers and arrays of NumPy.
    if given.hasattr("tolist")? {
        return value(key, &given.call_method0("tolist")?, depth + 1);
    }
    if given.hasattr("__fspath__")? {
        return Ok(given.call_method0("__fspath__")?.extract::<String>()?.into());
    }
    Err(refused(&format!("of type {}", text(&given.get_type().name()?)?)))
}
