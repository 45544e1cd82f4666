//! Files that a command reads, and files that it is to write: one that is both would be lost, and so would one of two outputs of one
//! name.
//!
//! Programs that run for long read and write the same files again; they do not ask for this.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf, absolute};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names of the command that this process is; nothing if nobody watches them.
static NAMES: Mutex<Option<Names>> = Mutex::new(None);

#[derive(Default)]
struct Names {
    /// Regular files that were opened to be read, by device and number.
    read: BTreeSet<(u64, u64)>,
    /// The same of those that are to be written, if they are there.
    written: BTreeSet<(u64, u64)>,
    /// Names of all files that are to be written.
    outputs: BTreeSet<PathBuf>,
}

fn names() -> MutexGuard<'static, Option<Names>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The device and number of a regular file that is there.
fn id(path: &Path) -> Option<(u64, u64)> {
    let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((about.dev(), about.ino()))
}

/// From now on names are watched.
pub fn watch() {
    names().get_or_insert_default();
}

/// Whether a file was read that a path leads to.
pub fn was_read(path: &Path) -> bool {
    let names = names();
    let Some(names) = &*names else { return false };
    id(path).is_some_and(|id| names.read.contains(&id))
}

/// A file is to be written. Returns whether another output has its name.
pub fn is_written_twice(path: &Path) -> bool {
    let mut names = names();
    let Some(names) = &mut *names else { return false };
    let id = id(path);
    // Devices and pipes take what anybody writes.
    if id.is_none() && path.exists() {
        return false;
    }
    names.written.extend(id);
    !absolute(path).is_ok_and(|path| names.outputs.insert(path))
}

/// A file is opened to be read. Returns whether it is also to be written.
pub(crate) fn is_to_be_written(path: &Path) -> bool {
    let mut names = names();
    let Some(names) = &mut *names else { return false };
    let Some(id) = id(path) else { return false };
    names.read.insert(id);
    names.written.contains(&id)
}
