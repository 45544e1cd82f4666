//! The expected content of a trace.

use std::fmt::Display;
use std::path::Path;

use darkfiber_formats::ReadError;

/// A file that is no trace, or no part of one.
pub(super) fn not_such(path: &Path, what: impl Display, hint: &str) -> ReadError {
    let expected = "an execution trace of Chakra (messages of protocol buffers, each after its length, or JSON)";
    ReadError::not_such(path, what.to_string(), expected, hint)
}
