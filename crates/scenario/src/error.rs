//! Why a scenario cannot be read or resolved.

use std::fmt;

use darkfiber_fabric::Unknown;
use darkfiber_formats::ReadError;

/// The kind of an error, by its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// An option or an argument that cannot be.
    Usage,
    /// A file that cannot be read, or has invalid content.
    Input,
    /// The request is clear, but impossible on this fabric.
    Infeasible,
}

/// Why there is no result, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Cause of the error.
    pub kind: ErrorKind,
    /// Position in the scenario: the keys from the outside (`job 2`, `traffic`); empty where it is not about one.
    pub at: Vec<String>,
    /// The problem, and the expected input.
    pub message: String,
    /// Suggestion for the user, or empty.
    pub hint: String,
}

impl Error {
    fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, at: Vec::new(), message: message.to_string(), hint: String::new() }
    }

    /// An option or an argument that cannot be.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Content that cannot be.
    pub fn input(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    /// An error for a request that is impossible on this fabric.
    pub fn infeasible(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Infeasible, message)
    }

    /// An error for an unknown name, with the names that are close.
    pub fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        Unknown::new(what, name, known.iter().copied()).into()
    }

    /// Adds a hint for the user.
    #[must_use]
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = hint.to_string();
        self
    }

    /// Adds an enclosing key.
    #[must_use]
    pub fn inside(mut self, key: impl Into<String>) -> Self {
        self.at.insert(0, key.into());
        self
    }
}

impl Error {
    /// An error about an option, which its message names.
    #[must_use]
    pub(crate) fn of_option(mut self, option: &str) -> Self {
        if !self.message.starts_with(option) {
            self.message = format!("{option} {}", self.message);
        }
        self
    }

    /// What is said of an option is said of the key of that name, everything else of this one.
    #[must_use]
    pub(crate) fn of_key(mut self, key: &str) -> Self {
        let about = self.message.strip_prefix("--").and_then(|rest| rest.split_once(' '));
        if let Some((option, rest)) = about {
            (self.at, self.message) = (vec![option.to_owned()], rest.to_owned());
            return self;
        }
        self.inside(key)
    }

    /// The same in the words of a command whose options are called as keys of the fabric are.
    #[must_use]
    pub fn of_options(mut self) -> Self {
        if let Some(key) = self.at.last().filter(|key| OPTIONS.contains(&key.as_str())) {
            self.message = format!("--{key} {}", self.message);
            self.at.clear();
        }
        self
    }
}

/// Keys of a scenario's fabric and routes that options of commands are called like.
const OPTIONS: &[&str] = &["compute", "storage", "fail", "hosts-per-switch", "plane", "roots"];

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for key in &self.at {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<Unknown> for Error {
    fn from(unknown: Unknown) -> Self {
        Self::usage(&unknown).hint(unknown.hint())
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::NotSuchAFile { path, what, expected, hint } => {
                Self::input(format!("{}: {what}; expected {expected}", path.display())).hint(hint)
            }
            // Compressed files that are truncated, or whose checksums do not match.
            ReadError::Io { ref source, .. } if is_damaged(source) => Self::input(error)
                .hint("the compressed file is cut short or damaged: copy or make it again"),
            other => Self::input(other),
        }
    }
}

fn is_damaged(source: &std::io::Error) -> bool {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    source.raw_os_error().is_none()
        && matches!(source.kind(), InvalidData | InvalidInput | UnexpectedEof)
}
