//! Diagnostics that a reader reports about its input.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Information; nothing was lost.
    Note,
    /// A line or a value was left out or guessed; the rest was read.
    Warning,
    /// The input is contradictory; the result may be wrong.
    Error,
}

/// One remark about one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Line number, from 1; 0 = the file as a whole.
    pub line: usize,
    /// Severity of the diagnostic.
    pub severity: Severity,
    /// The finding and what was expected, in one line.
    pub what: String,
    /// Suggestion for the user, or empty.
    pub hint: String,
    /// It is a fault of the described system, such as a slow cable: nothing of the input was left out or guessed.
    pub of_fabric: bool,
    /// A whole line or entry was left out: what it says is not known.
    pub left_out: bool,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{severity}: {}", self.what)?;
        if !self.hint.is_empty() {
            write!(f, " ({})", self.hint)?;
        }
        Ok(())
    }
}

/// Remarks in the order of the input. Of remarks with the same text pattern, callers should push one a
/// line; printing them is the command line's business.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Adds a note at a line.
    pub fn note(&mut self, line: usize, what: impl Into<String>, hint: impl Into<String>) {
        self.push(line, Severity::Note, what, hint);
    }

    /// Adds a warning at a line.
    pub fn warn(&mut self, line: usize, what: impl Into<String>, hint: impl Into<String>) {
        self.push(line, Severity::Warning, what, hint);
    }

    /// Adds an error at a line.
    pub fn error(&mut self, line: usize, what: impl Into<String>, hint: impl Into<String>) {
        self.push(line, Severity::Error, what, hint);
    }

    /// Adds a warning about the described system: the input itself was read in full.
    pub fn warn_of_fabric(
        &mut self,
        line: usize,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(line, Severity::Warning, what, hint).of_fabric = true;
    }

    /// Adds a warning about a line or an entry that was left out.
    pub fn warn_left_out(&mut self, line: usize, what: impl Into<String>, hint: impl Into<String>) {
        self.push(line, Severity::Warning, what, hint).left_out = true;
    }

    /// Adds an error about a line or an entry that was left out.
    pub fn error_left_out(
        &mut self,
        line: usize,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(line, Severity::Error, what, hint).left_out = true;
    }

    /// The first remark about something that was left out.
    pub fn first_left_out(&self) -> Option<&Diagnostic> {
        self.0.iter().find(|d| d.left_out)
    }

    fn push(
        &mut self,
        line: usize,
        severity: Severity,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> &mut Diagnostic {
        let (what, hint) = (what.into(), hint.into());
        self.0.push_mut(Diagnostic {
            line,
            severity,
            what,
            hint,
            of_fabric: false,
            left_out: false,
        })
    }

    /// Whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The gravest severity, if there is any remark.
    pub fn worst(&self) -> Option<Severity> {
        self.0.iter().map(|d| d.severity).max()
    }
}

/// Why a file could not be read at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// It is not a file of the kind expected.
    #[error("{}: {what}; expected {expected}{}", path.display(), hint_suffix(hint))]
    NotSuchAFile {
        /// Path of the file.
        path: PathBuf,
        /// The format that it resembles, with the line that shows it.
        what: String,
        /// The expected content.
        expected: String,
        /// Suggestion for the user, or empty.
        hint: String,
    },
    /// It contains nothing of the expected kind. A reader does not know what it is instead:
    /// [`explained`](crate::explained) adds that.
    #[error("{}: {what}; expected {expected}", path.display())]
    Unlike {
        /// Path of the file.
        path: PathBuf,
        /// The item that was searched and is missing.
        what: &'static str,
        /// The expected content.
        expected: String,
    },
}

fn hint_suffix(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!(" ({hint})") }
}

impl ReadError {
    /// "This is not such a file."
    pub fn not_such(
        path: &Path,
        what: impl Into<String>,
        expected: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::NotSuchAFile {
            path: path.to_owned(),
            what: what.into(),
            expected: expected.into(),
            hint: hint.into(),
        }
    }

    /// The error for a file that contains nothing of the expected kind.
    pub fn wrong_format(path: &Path, what: &'static str, expected: impl Into<String>) -> Self {
        Self::Unlike { path: path.to_owned(), what, expected: expected.into() }
    }
}

/// A number of things for people.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The beginning of a line, printable.
pub fn excerpt(line: &str) -> String {
    let line = line.trim();
    let mut text: String =
        line.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect();
    if text.len() < line.len() {
        text.push_str("...");
    }
    text
}
