//! Locations of the files that a scenario names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::Error;

/// Access to the files that a scenario names. Readers of fabrics, tables and traces accept folders, archives and
/// compressed files, so the files must finally be on a disk.
pub trait Files {
    /// Path of a file of this name, whether it exists or not.
    fn locate(&self, name: &str) -> PathBuf;

    /// The files for a name: itself, or, by name, those that match it (`*`, `?`, `[...]`) where there is no file of that name.
    ///
    /// # Errors
    /// If none matches, or the pattern is invalid.
    fn matching(&self, name: &str) -> Result<Vec<PathBuf>, Error> {
        let path = self.locate(name);
        if !name.contains(['*', '?', '[']) || path.exists() {
            return Ok(vec![path]);
        }
        // Only the name is a pattern, not the folder that it is in.
        let folder = glob::Pattern::escape(&self.locate("").to_string_lossy());
        let found = glob::glob(&Path::new(&folder).join(name).to_string_lossy())
            .map_err(|e| Error::input(format!("{name}: {}", e.msg)).hint("for example et/*.et"))?;
        let found: Vec<PathBuf> = found.flatten().filter(|path| path.is_file()).collect();
        if found.is_empty() {
            return Err(Error::input(format!("no file matches {name}"))
                .hint("names are relative to the scenario; * stands for anything but /"));
        }
        Ok(found)
    }
}

/// Files of a scenario: names are relative to this directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder(pub PathBuf);

impl Folder {
    /// Files in the same folder as this one.
    pub fn of(file: &Path) -> Self {
        Self(file.parent().unwrap_or(Path::new("")).to_owned())
    }
}

impl Files for Folder {
    fn locate(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// Files that a program has in memory. They are in a separate temporary directory for as long as this value lives.
#[derive(Debug)]
pub struct Memory(TempDir);

impl Memory {
    /// These files, by name.
    ///
    /// # Errors
    /// If a temporary directory cannot be written, or a name leads out of it.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> io::Result<Self> {
        let dir = tempfile::tempdir()?;
        for (name, content) in files {
            let is_plain = |c| matches!(c, std::path::Component::Normal(_));
            if !Path::new(name).components().all(is_plain) {
                return Err(io::Error::other(format!("{name} leads out of the files in memory")));
            }
            let path = dir.path().join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, content)?;
        }
        Ok(Self(dir))
    }
}

impl Files for Memory {
    fn locate(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}
