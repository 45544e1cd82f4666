//! Experiments that are over, kept so that running all of them may be interrupted.

use std::path::{Path, PathBuf};

use darkfiber_formats::{input, manifest};
use darkfiber_report::reproduce::Reproduced;
use darkfiber_study::reproduce::Experiment;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::options::Common;
use crate::save;
use crate::sealed::Sealed;

/// A directory with a file for each experiment.
pub(super) struct Folder {
    dir: PathBuf,
    /// All that results depend on beside the experiment.
    made_by: MadeBy,
}

/// What results depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct MadeBy {
    version: String,
    /// The digest of the program.
    program: String,
    seed: u64,
    /// The digest of the log of jobs.
    log: Option<String>,
}

impl Folder {
    /// A directory for results of this program, this seed and this log.
    pub(super) fn of(dir: &Path, log: Option<&Path>, common: &Common) -> Result<Self, Failure> {
        save::directory(dir)?;
        let program = std::env::current_exe()
            .and_then(std::fs::read)
            .map(|bytes| manifest::sha256(&bytes))
            .map_err(|e| Failure::input(format!("cannot read this program: {e}")))?;
        let log = log.map(input::read).transpose()?;
        let made_by = MadeBy {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program,
            seed: common.seed(),
            log: log.map(|bytes| manifest::sha256(&bytes)),
        };
        Ok(Self { dir: dir.to_owned(), made_by })
    }

    /// Where it is.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    fn path(&self, id: &str) -> PathBuf {
        self.dir.join(format!("{}.json", file_name(id)))
    }

    /// What came of an experiment before; nothing, if it was not run or made by something else.
    pub(super) fn find(&self, e: &Experiment) -> Result<Option<Reproduced>, Failure> {
        let path = self.path(e.id);
        if !path.exists() {
            return Ok(None);
        }
        let kept: Sealed<MadeBy, Reproduced> = Sealed::read(&path, "experiment")?;
        Ok((kept.facts == self.made_by && kept.result.id == e.id).then_some(kept.result))
    }

    /// Keeps what came of an experiment.
    pub(super) fn keep(&self, result: &Reproduced) {
        let sealed = Sealed::new(self.made_by.clone(), result.clone());
        let _a_warning_was_shown = sealed.keep(&self.path(&result.id));
    }
}

/// An id without what ends names of directories.
pub(super) fn file_name(id: &str) -> String {
    id.replace('/', "-")
}
