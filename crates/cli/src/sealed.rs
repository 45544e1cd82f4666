//! Results of completed runs, stored with their dependencies and a digest of both.

use std::path::Path;

use darkfiber_formats::{input, manifest, output};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::out;

/// Content of a file.
#[derive(Serialize, Deserialize)]
pub(crate) struct Sealed<F, T> {
    /// Facts on which the result depends.
    pub(crate) facts: F,
    /// Result of the run.
    pub(crate) result: T,
    /// The digest of the others.
    sha256: String,
}

impl<F: Serialize + DeserializeOwned, T: Serialize + DeserializeOwned> Sealed<F, T> {
    /// A result, with its facts.
    pub(crate) fn new(facts: F, result: T) -> Self {
        let mut sealed = Self { facts, result, sha256: String::new() };
        sealed.sha256 = sealed.digest().unwrap_or_default();
        sealed
    }

    fn digest(&self) -> Option<String> {
        let bytes = serde_json::to_vec(&(&self.facts, &self.result)).ok()?;
        Some(manifest::sha256(&bytes))
    }

    /// Writes the file; whether that could be done. A failure to write is a warning, as the result is still available.
    pub(crate) fn keep(&self, path: &Path) -> bool {
        let written = output::replace(path, |out| Ok(serde_json::to_writer(out, self)?));
        if let Err(e) = &written {
            out::eprint_line(&format!(
                "warning: a result is not kept: cannot write {}: {e}",
                path.display()
            ));
        }
        written.is_ok()
    }

    /// Reads a file; a truncated or altered one is refused, as not being such a `what`.
    pub(crate) fn read(path: &Path, what: &str) -> Result<Self, Failure> {
        let text = input::read_text(path)?;
        let sealed: Option<Self> = serde_json::from_str(&text).ok();
        sealed.filter(|s| s.digest().as_ref() == Some(&s.sha256)).ok_or_else(|| {
            let path = path.display();
            Failure::input(format!("{path}: this is no {what} that was kept: it is cut or altered"))
                .hint("remove it to run it again, or name another folder")
        })
    }
}
