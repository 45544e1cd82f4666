//! How a command ends: documented exit codes, and one clear message where something is wrong.

use std::fmt::Display;
use std::process::ExitCode;

/// Exit codes; part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    /// All is well.
    Fine = 0,
    /// Something was found that an operator should act on.
    Finding = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A file cannot be read or written.
    Input = 3,
    /// What was asked for cannot be done on this fabric.
    Infeasible = 4,
    /// A bug of ours.
    Bug = 70,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    /// What the user can do, or empty.
    pub(crate) hint: String,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Display) -> Self {
        Self { exit, message: message.to_string(), hint: String::new() }
    }

    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(crate) fn input(message: impl Display) -> Self {
        Self::new(Exit::Input, message)
    }

    pub(crate) fn infeasible(message: impl Display) -> Self {
        Self::new(Exit::Infeasible, message)
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hint = hint.to_string();
        self
    }

    /// A name that does not exist, with the names that are close.
    pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        let close = darkfiber_fabric::nearest(name, known.iter().copied());
        let hint = match close.as_slice() {
            [] => format!("there are {}", known.join(", ")),
            [one] => format!("did you mean {one}?"),
            many => format!("did you mean one of {}?", many.join(", ")),
        };
        Self::usage(format!("no {what} is called '{name}'")).hint(hint)
    }
}

impl From<darkfiber_formats::ReadError> for Failure {
    fn from(error: darkfiber_formats::ReadError) -> Self {
        use darkfiber_formats::ReadError;
        match error {
            ReadError::NotSuchAFile { path, what, expected, hint } => {
                Self::input(format!("{}: {what}; expected {expected}", path.display())).hint(hint)
            }
            other => Self::input(other),
        }
    }
}
