//! Every change to a file system by the program, in one place.
//!
//! Writers call a [`Disk`] for each step (create, write, sync, rename, ...), so that a test can make any single step
//! fail, or give everything from one step on no effect, as after a kill. [`Os`] is the real one. A file that exists
//! only while something is being written is a `Temporary`; [`stop`] removes all of them before the process ends
//! early.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{CWD, RenameFlags, renameat_with};

/// The steps that writers consist of.
pub trait Disk: Sync {
    /// Creates a file that does not exist yet, open to be written.
    ///
    /// # Errors
    /// Any error of the operating system; `AlreadyExists` if there is one.
    fn create(&self, path: &Path) -> io::Result<File>;

    /// Writes some bytes; returns how many.
    ///
    /// # Errors
    /// Any error of the operating system.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize>;

    /// Flushes the content of a file to the disk.
    ///
    /// # Errors
    /// Any error of the operating system.
    fn sync(&self, file: &File) -> io::Result<()>;

    /// Flushes the names in a folder to the disk.
    ///
    /// # Errors
    /// Any error of the operating system.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Renames a file or folder; a file or an empty folder of the new name is replaced, in one step.
    ///
    /// # Errors
    /// Any error of the operating system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Exchanges the names of two files or folders, in one step.
    ///
    /// # Errors
    /// Any error of the operating system; [`cannot_exchange`] recognises errors that are permanent there.
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()>;

    /// Gives a file a second name.
    ///
    /// # Errors
    /// Any error of the operating system.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Any error of the operating system.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes a folder that does not exist yet.
    ///
    /// # Errors
    /// Any error of the operating system.
    fn make_folder(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    ///
    /// # Errors
    /// Any error of the operating system.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
}

/// The file system of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Os;

impl Disk for Os {
    fn create(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        file.write(bytes)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        match File::open(path).and_then(|folder| folder.sync_all()) {
            // Some file systems do not support syncing a folder.
            Err(e) if e.kind() == io::ErrorKind::InvalidInput => Ok(()),
            // Names can be written in a folder that may not be listed.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            other => other,
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}

/// Whether an exchange failed because names cannot be exchanged there at all: the file system has no such operation, or
/// the folder is a mount point.
pub fn cannot_exchange(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let never = [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::XDEV, Errno::BUSY];
    error.raw_os_error().is_some_and(|code| never.iter().any(|e| e.raw_os_error() == code))
}

/// A file that is written through a [`Disk`].
pub(crate) struct DiskWriter<'d> {
    pub(crate) disk: &'d dyn Disk,
    pub(crate) file: File,
}

impl io::Write for DiskWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(&mut self.file, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Temporary files and folders, by name. Folders hold only files.
static TEMPORARY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Held during operations that must not be interrupted.
static CRITICAL: Mutex<()> = Mutex::new(());

fn all() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a file or folder that is there only for a while. It is no longer temporary once this is dropped.
#[derive(Debug)]
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    /// Makes something at a name, which [`stop`] removes from then on.
    pub(crate) fn make<T>(
        path: &Path,
        make: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        // The stopping process holds this lock until its end: no temporary is created any more.
        let mut all = all();
        let made = make(path)?;
        all.insert(path.to_owned());
        Ok((Self(path.to_owned()), made))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        all().remove(&self.0);
    }
}

/// Does something that [`stop`] waits for.
pub(crate) fn undisturbed<T>(act: impl FnOnce() -> T) -> T {
    let _held = CRITICAL.lock().unwrap_or_else(PoisonError::into_inner);
    act()
}

/// Prepares for an early end of the process: waits for operations that must not be interrupted, removes all temporary
/// files, and lets `end` end the process. If `end` returns, writers continue, and may fail.
pub fn stop(end: impl FnOnce()) {
    let _critical = CRITICAL.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all();
    for path in all.iter() {
        let is_folder = fs::symlink_metadata(path).is_ok_and(|m| m.is_dir());
        if is_folder {
            let inside = fs::read_dir(path).into_iter().flatten().flatten();
            for entry in inside {
                let _it_may_be_gone = fs::remove_file(entry.path());
            }
            let _it_may_be_gone = fs::remove_dir(path);
        } else {
            let _it_may_be_gone = fs::remove_file(path);
        }
    }
    end();
}
