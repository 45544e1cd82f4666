//! Ends of a command: documented exit codes, and one clear message where something is wrong.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use darkfiber_fabric::Unknown;
use darkfiber_routing::reroute::RerouteError;

use crate::remarks;
use crate::terminal::eprint_line;

/// Exit codes; part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The command was successful.
    Fine = 0,
    /// Something was found that an operator should act on.
    Finding = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A file cannot be read or written.
    Input = 3,
    /// The request is impossible on this fabric.
    Infeasible = 4,
    /// A signal stopped a run with a store: the same command resumes it (`EX_TEMPFAIL` of sysexits.h).
    Again = 75,
    /// A bug of ours.
    Bug = 70,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Runs a command and reports why it failed, if it did. A panic is a bug of ours, which the panic hook has reported.
pub(crate) fn guarded(command: impl FnOnce() -> Result<Exit, Failure>) -> Exit {
    match catch_unwind(AssertUnwindSafe(command)) {
        Ok(Ok(exit)) => {
            remarks::release();
            exit
        }
        Ok(Err(failure)) => {
            remarks::release_for(&failure.message);
            eprint_line(&format!("error: {}", failure.message));
            if !failure.hint.is_empty() {
                eprint_line(&format!("hint: {}", failure.hint));
            }
            failure.exit
        }
        Err(_the_hook_has_told) => Exit::Bug,
    }
}

/// The message for a panic.
pub(crate) fn bug(panic: &impl Display) -> String {
    format!(
        "error: this is a bug in darkfiber {}: {panic}\n\
         hint: please report it with the command line; `darkfiber fabric FABRIC --anonymize -o FILE` \
         makes a fabric fit to share",
        env!("DARKFIBER_VERSION")
    )
}

/// Why a command stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    /// Suggestion for the user, or empty.
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
        Unknown::new(what, name, known.iter().copied()).into()
    }
}

impl From<Unknown> for Failure {
    fn from(unknown: Unknown) -> Self {
        Self::usage(&unknown).hint(unknown.hint())
    }
}

impl From<darkfiber_packetsim::TuningError> for Failure {
    fn from(wrong: darkfiber_packetsim::TuningError) -> Self {
        Self::usage(&wrong).hint(wrong.hint)
    }
}

impl From<darkfiber_scenario::Error> for Failure {
    fn from(error: darkfiber_scenario::Error) -> Self {
        use darkfiber_scenario::ErrorKind;
        let exit = match error.kind {
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Input => Exit::Input,
            ErrorKind::Infeasible => Exit::Infeasible,
        };
        Self::new(exit, &error).hint(error.hint)
    }
}

impl From<RerouteError> for Failure {
    fn from(error: RerouteError) -> Self {
        match error {
            // The tables are sound; nobody can repair them yet.
            RerouteError::LanesByHop => Self::infeasible(error),
            other => Self::input(other),
        }
    }
}

impl From<darkfiber_formats::ReadError> for Failure {
    fn from(error: darkfiber_formats::ReadError) -> Self {
        darkfiber_scenario::Error::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_documentation() {
        let codes = [Exit::Fine, Exit::Finding, Exit::Usage, Exit::Input, Exit::Infeasible];
        assert_eq!(codes.map(|exit| exit as u8), [0, 1, 2, 3, 4]);
        assert_eq!((Exit::Bug as u8, Exit::Again as u8), (70, 75));
    }

    #[test]
    fn a_command_ends_as_it_says() {
        assert_eq!(guarded(|| Ok(Exit::Finding)), Exit::Finding);
        assert_eq!(guarded(|| Err(Failure::usage("no").hint("yes"))), Exit::Usage);
        // A check of our own that failed.
        assert_eq!(guarded(|| Err(Failure::new(Exit::Bug, "no"))), Exit::Bug);
    }

    #[test]
    fn panics_are_bugs_on_whatever_thread() {
        assert_eq!(guarded(|| panic!("on purpose")), Exit::Bug);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
        let far = || pool.install(|| rayon::join(|| (), || panic!("on purpose")));
        assert_eq!(guarded(|| Ok(far()).map(|_| Exit::Fine)), Exit::Bug);
    }

    #[test]
    fn bugs_say_what_to_do() {
        let text = bug(&"index out of bounds");
        assert!(text.starts_with("error: this is a bug in darkfiber 0."), "{text}");
        assert!(text.contains(": index out of bounds\nhint: please report it with "), "{text}");
    }
}
