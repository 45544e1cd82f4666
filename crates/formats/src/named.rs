//! Files that a command reads, and files that it is to write: one that is both would be lost, and so would one of two outputs of one
//! name.
//!
//! Programs that run for long read and write the same files again; they do not ask for this.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names of the command that this process is; nothing if nobody watches them.
static NAMES: Mutex<Option<Names>> = Mutex::new(None);

/// Whole names, without symbolic links: a file that has another name, too, is not lost by what replaces this one.
#[derive(Default)]
struct Names {
    /// Files that were opened to be read.
    read: BTreeSet<PathBuf>,
    /// Those that are to be written.
    written: BTreeSet<PathBuf>,
}

fn names() -> MutexGuard<'static, Option<Names>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The whole name of a regular file, or of one that is not there yet. Devices and pipes take what anybody writes.
fn whole(path: &Path) -> Option<PathBuf> {
    let path = if path.as_os_str() == "-" { Path::new("/dev/stdin") } else { path };
    if let Ok(about) = fs::metadata(path) {
        return about.is_file().then(|| path.canonicalize().ok())?;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}

/// From now on names are watched.
pub fn watch() {
    names().get_or_insert_default();
}

/// Whether a file was read that a path leads to.
pub fn was_read(path: &Path) -> bool {
    let names = names();
    let Some(names) = &*names else { return false };
    whole(path).is_some_and(|path| names.read.contains(&path))
}

/// A file is to be written. Returns whether another output has its name.
pub fn is_written_twice(path: &Path) -> bool {
    let mut names = names();
    let Some(names) = &mut *names else { return false };
    whole(path).is_some_and(|path| !names.written.insert(path))
}

/// A file is opened to be read. Returns whether it is also to be written.
pub(crate) fn is_to_be_written(path: &Path) -> bool {
    let mut names = names();
    let Some(names) = &mut *names else { return false };
    let Some(path) = whole(path) else { return false };
    let is_both = names.written.contains(&path);
    names.read.insert(path);
    is_both
}
