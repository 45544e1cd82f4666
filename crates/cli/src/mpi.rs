//! A command in several processes that MPI connects: all read the same input, and the first one prints and writes.

use darkfiber_mpi::{StartError, World, start};
use serde::{Deserialize, Serialize};

use crate::failure::{Exit, Failure};
use crate::options::Common;

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        Self::usage(format!("--mpi: {error}")).hint(error.hint())
    }
}

/// What a process has prepared: the digest of all that its part of the result depends on; or why it cannot begin.
#[derive(Serialize, Deserialize)]
enum Begin {
    With(u64),
    Not { exit: u8, message: String, hint: String },
}

/// Runs a command in all processes if `wanted`, or in this one. It gets what is common to all commands, for a process that is not
/// the first one without notes and warnings.
pub(crate) fn in_all(
    wanted: bool,
    common: &Common,
    command: impl FnOnce(Option<&World>, &Common) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    if !wanted {
        return command(None, common);
    }
    let world = start()?;
    if is_first(Some(&world)) {
        return command(Some(&world), common);
    }
    let silent = Common { quiet: true, verbose: false, ..common.clone() };
    // The first process prints what is wrong, and its exit code is that of all: at the first one that is not 0 the launcher ends
    // all processes, perhaps before that is printed.
    let _the_first_says_so = command(Some(&world), &silent);
    Ok(Exit::Fine)
}

/// Whether this process prints and writes.
pub(crate) fn is_first(world: Option<&World>) -> bool {
    world.is_none_or(|world| world.processes().rank() == 0)
}

/// Waits until all processes have prepared their work: none begins if one cannot, or has read something else. `digest` is of all that
/// results depend on.
pub(crate) fn agreed<T>(
    world: Option<&World>,
    prepared: Result<T, Failure>,
    digest: impl Fn(&T) -> u64,
) -> Result<T, Failure> {
    let Some(world) = world else { return prepared };
    let begin = match &prepared {
        Ok(value) => Begin::With(digest(value)),
        Err(Failure { exit, message, hint }) => {
            Begin::Not { exit: *exit as u8, message: message.clone(), hint: hint.clone() }
        }
    };
    let bytes = serde_json::to_vec(&begin)
        .map_err(|e| Failure::new(Exit::Bug, format!("a message to other processes: {e}")))?;
    let all: Vec<Option<Begin>> =
        world.processes().gather(bytes).iter().map(|b| serde_json::from_slice(b).ok()).collect();
    judged(&all).map_or(prepared, Err)
}

/// Why the processes cannot begin, if they cannot.
fn judged(all: &[Option<Begin>]) -> Option<Failure> {
    let fail = |begin: &Option<Begin>| match begin {
        Some(Begin::Not { exit, message, hint }) => {
            let exits = [Exit::Usage, Exit::Input, Exit::Infeasible, Exit::Bug];
            let exit = exits.into_iter().find(|e| *e as u8 == *exit).unwrap_or(Exit::Bug);
            Some(Failure { exit, message: message.clone(), hint: hint.clone() })
        }
        _ => None,
    };
    if let Some((rank, failure)) = all.iter().enumerate().find_map(|(k, b)| Some((k, fail(b)?))) {
        // What is wrong everywhere needs no number.
        let is_everywhere = all.iter().all(|begin| fail(begin).is_some());
        let message = if is_everywhere {
            failure.message
        } else {
            format!("process {rank} of {}: {}", all.len(), failure.message)
        };
        return Some(Failure { message, ..failure });
    }
    let digest = |begin: &Option<Begin>| match begin {
        Some(Begin::With(digest)) => Some(*digest),
        _ => None,
    };
    let first = digest(all.first()?);
    let other = all.iter().position(|begin| digest(begin).is_none() || digest(begin) != first)?;
    let message = format!("process {other} has other input, or is another program, than process 0");
    Some(Failure::input(message).hint("every node needs the same files, and the same darkfiber"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not(message: &str) -> Begin {
        Begin::Not { exit: 3, message: message.to_owned(), hint: String::new() }
    }

    #[test]
    fn none_begins_if_one_cannot() {
        let with = |digest| Some(Begin::With(digest));
        assert_eq!(judged(&[with(7), with(7)]), None);
        let message = |all: &[Option<Begin>]| judged(all).map(|failure| failure.message);
        let failed = message(&[with(7), Some(not("no file")), with(7)]);
        assert_eq!(failed.as_deref(), Some("process 1 of 3: no file"));
        assert_eq!(message(&[Some(not("no")), Some(not("no"))]).as_deref(), Some("no"));
        assert_eq!(judged(&[with(7), Some(not("no"))]).map(|f| f.exit), Some(Exit::Input));
        for odd in [with(8), None] {
            let other = message(&[with(7), with(7), odd]).expect("it differs");
            assert!(other.starts_with("process 2 has other input"), "{other}");
        }
    }

    #[test]
    fn without_mpi_a_command_runs_in_this_process() {
        let run = |wanted| in_all(wanted, &Common::default(), |_, _| Ok(Exit::Fine));
        assert_eq!(run(false), Ok(Exit::Fine));
        if cfg!(not(feature = "mpi")) {
            let failure = run(true).expect_err("it is not built");
            assert_eq!(failure.exit, Exit::Usage);
            assert!(failure.message.starts_with("--mpi: this program was built without MPI"));
            assert!(failure.hint.contains("--features mpi"), "{}", failure.hint);
        }
    }
}
