//! Standard input, `-` on the command line, belongs to the Python program.

use std::path::{Path, PathBuf};

use darkfiber_scenario::Error as ScenarioError;

/// Refuses `-` where a file is to be read.
pub(crate) fn refuse(path: &Path) -> Result<(), ScenarioError> {
    if path.as_os_str() == "-" {
        let error = ScenarioError::usage("standard input belongs to the Python program");
        return Err(error.hint("give the name of a file"));
    }
    Ok(())
}

/// As [`refuse`], for several files.
pub(crate) fn refuse_any<'a>(
    paths: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), ScenarioError> {
    paths.into_iter().try_for_each(|path| refuse(path))
}
