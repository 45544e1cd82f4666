//! Names that are owned by one writer at a time.
//!
//! A name is taken by creating a file of it and locking that file. The file of a killed writer is not locked and is
//! taken over. Where the file system has no locks, the existence of the file shows that a writer is active.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::disk::{Disk, Temporary};

/// Number of tries for a name that disappears while it is being taken.
const TRIES: usize = 20;
/// Number of tries for a name whose file is locked.
const BUSY: usize = 5;
/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(10);

/// A name and the file behind it, both of this writer alone.
pub(crate) struct Claim<'d> {
    disk: &'d dyn Disk,
    pub(crate) name: Temporary,
    /// The file, empty at first.
    pub(crate) file: File,
}

impl<'d> Claim<'d> {
    /// Takes a name. Fails with `ResourceBusy` if another writer has it.
    pub(crate) fn take(disk: &'d dyn Disk, path: &Path) -> io::Result<Self> {
        for tried in 0..TRIES {
            match Temporary::make(path, |path| disk.create(path)) {
                Ok((name, file)) => match file.try_lock() {
                    // Another process may have taken it for a leftover before it was locked.
                    Ok(()) if is_at(path, &file) => return Ok(Self { disk, name, file }),
                    Ok(()) | Err(TryLockError::WouldBlock) => {}
                    // There are no locks here: that the file was not there before is the claim.
                    Err(TryLockError::Error(_)) => return Ok(Self { disk, name, file }),
                },
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => match take_over(disk, path) {
                    // A lock outlives its owner for a moment where another thread has just started a program, which inherits it.
                    Err(e) if e.kind() == io::ErrorKind::ResourceBusy && tried < BUSY => {}
                    taken => taken?,
                },
                Err(e) => return Err(e),
            }
            std::thread::sleep(PAUSE);
        }
        Err(busy(path))
    }

    /// Removes the file, and frees the name.
    pub(crate) fn remove(self) -> io::Result<()> {
        let path = self.name.path();
        self.disk.remove(path).or_else(|_| self.disk.remove(path))
    }
}

/// A claim that is given up when it is dropped: a lock.
pub(crate) struct Lock<'d>(Option<Claim<'d>>);

impl<'d> Lock<'d> {
    pub(crate) fn take(disk: &'d dyn Disk, path: &Path) -> io::Result<Self> {
        Claim::take(disk, path).map(|claim| Self(Some(claim)))
    }

    /// Whether its file is in a folder.
    pub(crate) fn is_in(&self, folder: &Path) -> bool {
        self.0.as_ref().is_some_and(|c| c.name.path().parent() == Some(folder))
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // The folder of the name may have become another one.
        if let Some(claim) = self.0.take().filter(|c| is_at(c.name.path(), &c.file)) {
            let _the_next_writer_takes_it_over = claim.remove();
        }
    }
}

/// Removes a file that no process has locked.
fn take_over(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let options =
        OpenOptions::new().write(true).custom_flags(flags.bits().cast_signed()).open(path);
    let left = match options {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e),
    };
    match left.try_lock() {
        Ok(()) if is_at(path, &left) => disk.remove(path),
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(busy(path)),
        Err(TryLockError::Error(_)) => Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            format!(
                "{} is there: another darkfiber writes, or was killed; if none runs, remove that file",
                path.display()
            ),
        )),
    }
}

fn busy(path: &Path) -> io::Error {
    let what = format!("another darkfiber is writing there ({} is locked)", path.display());
    io::Error::new(io::ErrorKind::ResourceBusy, what)
}

/// Whether a name is that of an open file.
fn is_at(path: &Path, file: &File) -> bool {
    match (std::fs::symlink_metadata(path), file.metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// The name next to a file or folder of something that belongs to it temporarily: hidden, and not longer than names may be.
pub(crate) fn beside(target: &Path, what: &str) -> PathBuf {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let name = target.file_name().unwrap_or_default();
    let mut hidden = std::ffi::OsString::from(".");
    if name.len() <= 200 {
        hidden.push(name);
    } else {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        hidden.push(format!("{:016x}", hasher.finish()));
    }
    hidden.push(format!(".darkfiber-{what}"));
    target.with_file_name(hidden)
}
