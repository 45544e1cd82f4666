//! Commands as studies: the file for which `darkfiber study run` gives the same answers.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use darkfiber_scenario::{Error, Folder};
use darkfiber_study::grid::Answer;
use darkfiber_study::moved;

use crate::failure::{Exit, Failure};
use crate::{out, save};

pub(crate) use darkfiber_study::grid::preset::{Preset, question, text, texts};

/// Where the study of a command goes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PresetArgs {
    /// Write what this asks as a study (- prints it), and run nothing
    #[arg(long, value_name = "FILE")]
    pub(crate) write_study: Option<PathBuf>,
}

impl PresetArgs {
    /// Writes the study, if requested: then the command is over.
    pub(crate) fn write(
        &self,
        preset: impl FnOnce() -> Result<Preset, Failure>,
    ) -> Result<Option<Exit>, Failure> {
        let Some(path) = &self.write_study else { return Ok(None) };
        // Names on a command line are relative to where it is called.
        let text = || Ok(moved(preset()?.text()?, &Folder::default(), path)?);
        write(path, text).map(Some)
    }
}

/// Writes a study to a file, or prints it where that is `-`.
pub(crate) fn write(
    path: &Path,
    text: impl FnOnce() -> Result<String, Failure>,
) -> Result<Exit, Failure> {
    if path == Path::new("-") {
        out::print(&text()?)?;
        return Ok(Exit::Fine);
    }
    save::expect(Some(&path.to_owned()))?;
    // What it names is not read here, and may be this very file.
    let kept = if path.is_file() { fs::read_to_string(path).ok() } else { None };
    let is_toml = |text: &str| toml::from_str::<toml::Table>(text).is_ok();
    if path.is_file() && !kept.is_some_and(|text| is_toml(&text)) {
        let what = format!("{}: a file that is no study is there", path.display());
        return Err(Failure::usage(what).hint("name another file, or remove that one"));
    }
    let text = text()?;
    save::file(path, |out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Fine)
}

/// Why there is no answer about a subject; the error names it if `what` is empty.
pub(crate) fn failure(answer: &Answer, what: &str) -> Failure {
    match answer.detail.get::<Error>() {
        Some(error) if what.is_empty() => error.clone().into(),
        Some(error) => error.clone().inside(what).into(),
        None => {
            let why = answer.error.as_deref().unwrap_or_default();
            Failure::infeasible(format!("{what}: {why}"))
        }
    }
}
