//! Results as Python's own values, with the keys of `--format json`.

use pyo3::prelude::*;
use serde::Serialize;

use crate::error::bug;

/// Dictionaries, lists, numbers and texts.
pub(crate) fn value<'py, T: Serialize>(py: Python<'py>, of: &T) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(of).map_err(|e| bug(py, &e.to_string()))?;
    PyModule::import(py, "json")?.call_method1("loads", (text,))
}
