//! The exception, with the hint and the place that the command line has.

use std::path::Path;

use darkfiber_scenario::{Error as ScenarioError, ErrorKind};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    darkfiber,
    Error,
    PyException,
    "What cannot be read, or cannot be done.\n\n\
     `hint` says what to do about it, `kind` whose fault it is (`usage`, `input`, `infeasible` or `bug`), `file` and `line` where it \
     is, as far as it is somewhere."
);

/// Adds the exception to the module, with its defaults.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let class = module.py().get_type::<Error>();
    class.setattr("hint", "")?;
    class.setattr("kind", "bug")?;
    class.setattr("file", module.py().None())?;
    class.setattr("line", module.py().None())?;
    module.add("Error", class)
}

/// The exception for an error of the libraries.
pub(crate) fn raised(py: Python<'_>, error: &ScenarioError) -> PyErr {
    let kind = match error.kind {
        ErrorKind::Usage => "usage",
        ErrorKind::Input => "input",
        ErrorKind::Infeasible => "infeasible",
    };
    with(py, &error.to_string(), &error.hint, kind)
}

/// The exception for a bug of this program.
pub(crate) fn bug(py: Python<'_>, what: &str) -> PyErr {
    with(py, &format!("internal error: {what}"), "please report it with what led to it", "bug")
}

fn with(py: Python<'_>, message: &str, hint: &str, kind: &str) -> PyErr {
    let (message, hint) = (&keywords(message), &keywords(hint));
    let raised = Error::new_err(message.clone());
    let (file, line) = place(message);
    let value = raised.value(py);
    let set = || {
        value.setattr("hint", hint)?;
        value.setattr("kind", kind)?;
        value.setattr("file", file)?;
        value.setattr("line", line)?;
        // From Python 3.11 on tracebacks show it.
        if !hint.is_empty() && value.hasattr("add_note")? {
            value.call_method1("add_note", (format!("hint: {hint}"),))?;
        }
        Ok(())
    };
    match set() {
        Ok(()) => raised,
        Err(other) => other,
    }
}

/// A text in which options of the command line are keyword arguments: `--node-name-map` is `node_name_map`. Whole commands stay, which are
/// between backquotes.
fn keywords(text: &str) -> String {
    let part = |(i, part): (usize, &str)| {
        if !i.is_multiple_of(2) {
            return part.to_owned();
        }
        let mut words = part.split("--");
        let mut text = words.next().unwrap_or_default().to_owned();
        for word in words {
            let is_option = (text.is_empty() || text.ends_with([' ', '(']))
                && word.starts_with(|c: char| c.is_ascii_lowercase());
            if !is_option {
                text.push_str("--");
                text.push_str(word);
                continue;
            }
            let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            let end = word.find(|c| !is_name(c)).unwrap_or(word.len());
            text.push_str(&word[..end].replace('-', "_"));
            text.push_str(&word[end..]);
        }
        text
    };
    text.split('`').enumerate().map(part).collect::<Vec<_>>().join("`")
}

/// The file and the line that a message begins with: `FILE: line N: ...`, or `FILE: ...` where there is such a file.
fn place(message: &str) -> (Option<&str>, Option<usize>) {
    if let Some((file, rest)) = message.split_once(": line ") {
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        if let Ok(line) = digits.parse() {
            return (Some(file), Some(line));
        }
    }
    if let Some((file, _)) = message.strip_prefix("cannot read ").and_then(|m| m.split_once(": ")) {
        return (Some(file), None);
    }
    let file = message.split(": ").next().filter(|file| Path::new(file).is_file());
    (file, None)
}
