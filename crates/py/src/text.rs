//! Texts of Python, without a look for signals: `Display` of an object asks for them, and Ctrl-C at that moment would become a part of
//! a message instead of an exception.

use pyo3::prelude::*;
use pyo3::types::PyString;

/// A text in which characters that a terminal obeys are spelt out.
pub(crate) fn printable(of: &str) -> String {
    let mut text = String::with_capacity(of.len());
    for c in of.chars() {
        if c.is_control() { text.extend(c.escape_debug()) } else { text.push(c) }
    }
    text
}

/// A text as it is.
pub(crate) fn text(of: &Bound<'_, PyString>) -> PyResult<String> {
    Ok(of.to_cow()?.into_owned())
}

/// What `str()` makes of an object.
pub(crate) fn shown(of: &Bound<'_, PyAny>) -> PyResult<String> {
    text(&of.str()?)
}
