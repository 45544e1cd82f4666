//! Where the files that a scenario names are.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Where the files that a scenario names are. Readers of fabrics, tables and traces know folders, archives and compressed
/// files, so what there is must lie on a disk in the end.
pub trait Files {
    /// Where a file of this name is, whether there is one or not.
    fn locate(&self, name: &str) -> PathBuf;
}

/// Files beside a scenario: names are relative to this directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder(pub PathBuf);

impl Folder {
    /// Files beside this one.
    pub fn of(file: &Path) -> Self {
        Self(file.parent().unwrap_or(Path::new("")).to_owned())
    }
}

impl Files for Folder {
    fn locate(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// Files that a program has in memory. They lie in a temporary directory of their own for as long as this value lives.
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
