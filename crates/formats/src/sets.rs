//! Sets of tables that are replaced completely or not at all.
//!
//! The files of a set are written into a folder next to the target, synced, and the two folders are exchanged in one step.
//! Until then the target holds the old set, afterwards the new one; other files in it are carried over. A folder that
//! cannot be exchanged (another file system, a mount point, no `RENAME_EXCHANGE`) is replaced only if it is new or empty,
//! or in place if that was requested: then the manifest is removed first and written last, so that readers refuse
//! intermediate states.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::claim::{Lock, beside};
use crate::disk::{Disk, DiskWriter, Temporary, cannot_exchange, undisturbed};
use crate::manifest::{Files, MANIFEST, Running, UNFINISHED, is_member, sealed};
use crate::output::{folder, like, packed, replace_named};

/// The name of the lock inside a folder of tables.
const LOCK: &str = ".darkfiber-lock";

/// Why a set of tables is not written.
#[derive(Debug, Error)]
pub enum SetError {
    /// The operating system refused, or another writer is there.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The folder cannot be replaced in one step.
    #[error("{} cannot be replaced in one step: {why}", path.display())]
    CannotSwap {
        /// Path of the folder.
        path: PathBuf,
        /// Reason in words.
        why: String,
    },
    /// A file of the old set is a link or device.
    #[error("{} is no regular file, and would be lost when the set of tables is replaced", path.display())]
    NoRegularFile {
        /// Path of the file.
        path: PathBuf,
    },
    /// A leftover of an earlier run cannot be put back.
    #[error(
        "{} is left from a run that was killed and holds {name:?}, which cannot be put back into {}",
        left.display(),
        path.display()
    )]
    Leftover {
        /// The folder of the tables.
        path: PathBuf,
        /// The folder that was left.
        left: PathBuf,
        /// Name of its content.
        name: String,
    },
}

/// Method by which a set is put into its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReplaceMethod {
    /// With the whole folder.
    Swap,
    /// File by file; the folder may be between two sets since an earlier run.
    InPlace { was_unfinished: bool },
}

/// A set of tables that is being written. It is invisible before [`TableSet::commit`]; when it is dropped before,
/// nothing remains of it.
pub struct TableSet<'d> {
    disk: &'d dyn Disk,
    /// The folder, links followed.
    target: PathBuf,
    /// Folder of the new files.
    staging: PathBuf,
    is_staged: bool,
    temporary: Option<Temporary>,
    method: ReplaceMethod,
    /// Whether the target was empty.
    is_empty: bool,
    files: Files,
    /// Dropped last: no other process may write before everything is cleaned up.
    locks: Vec<Lock<'d>>,
}

impl<'d> TableSet<'d> {
    /// Prepares to write a set into a folder: locks it, tests whether it can be written and replaced, and cleans up after
    /// a killed run. With `in_place`, files of an existing folder are replaced one by one.
    ///
    /// # Errors
    /// If the folder cannot be written, or not be replaced in one step, or another writer is active.
    pub fn open(disk: &'d dyn Disk, dir: &Path, in_place: bool) -> Result<Self, SetError> {
        let failed = |source| SetError::Io { path: dir.to_owned(), source };
        let target = target(disk, dir).map_err(failed)?;
        let exists = target.exists();
        let is_empty = !exists || others(&target).map_err(failed)?.is_empty();
        let parent = folder(&target).to_owned();
        let mut locks = Vec::new();
        let mut inside = exists && in_place;
        if exists && !inside {
            let mut why = unswappable(&target, &parent);
            if why.is_empty() {
                match Lock::take(disk, &beside(&target, "lock")) {
                    Ok(lock) => locks.push(lock),
                    Err(e) if is_denied(&e) => {
                        why = format!("{} cannot be written ({e})", parent.display());
                    }
                    Err(e) => return Err(failed(e)),
                }
            }
            if !why.is_empty() && !is_empty {
                return Err(SetError::CannotSwap { path: dir.to_owned(), why });
            }
            inside = !why.is_empty();
        }
        if exists {
            locks.push(Lock::take(disk, &target.join(LOCK)).map_err(failed)?);
        } else {
            locks.push(Lock::take(disk, &beside(&target, "lock")).map_err(failed)?);
        }
        let staging = if inside { target.join(UNFINISHED) } else { beside(&target, "new") };
        let was_unfinished = inside && staging.exists() && !target.join(MANIFEST).exists();
        let set = Self {
            disk,
            target,
            staging,
            is_staged: false,
            temporary: None,
            method: if inside {
                ReplaceMethod::InPlace { was_unfinished }
            } else {
                ReplaceMethod::Swap
            },
            is_empty,
            files: Files::new(),
            locks,
        };
        if !inside {
            set.recover(dir)?;
            if !is_empty {
                set.only_regular()?;
                set.try_exchange(dir)?;
            }
        }
        Ok(set)
    }

    /// Whether files will be replaced one by one, so that no process may read them meanwhile.
    pub fn is_in_place(&self) -> bool {
        self.method != ReplaceMethod::Swap && !self.is_empty
    }

    /// Writes a file of the set; it is compressed if its name ends in `.gz` or `.zst`.
    ///
    /// # Errors
    /// Any error of the operating system or of `write`; then the set cannot be finished.
    pub fn file(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), SetError> {
        let shown = self.target.join(name);
        let failed = |source| SetError::Io { path: shown.clone(), source };
        if !is_member(name) {
            let what = format!("{name:?} is no file of a set of tables");
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, what)));
        }
        let disk = self.disk;
        if !self.is_staged {
            self.stage().map_err(|source| SetError::Io { path: self.staging.clone(), source })?;
        }
        let path = self.staging.join(name);
        let digest = (|| {
            let file = disk.create(&path)?;
            let out = Summed { out: DiskWriter { disk, file }, running: Running::default() };
            let Summed { out, running } = packed(&path, out, write)?;
            if let Ok(old) = fs::metadata(self.target.join(name)).and_then(regular) {
                like(&out.file, &old)?;
            }
            disk.sync(&out.file)?;
            Ok(running.end())
        })()
        .map_err(failed)?;
        self.files.insert(name.to_owned(), digest);
        Ok(())
    }

    /// Writes the manifest, which is `summary` (a JSON object) with the digests of all files, and moves the set into
    /// place. Returns the remaining path of the old set, if it could not be removed.
    ///
    /// # Errors
    /// Any error of the operating system; then the old set is still there, unless files are replaced in place.
    pub fn commit(mut self, summary: &str) -> Result<Option<PathBuf>, SetError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| SetError::Io { path, source }
        };
        let files = std::mem::take(&mut self.files);
        let text = sealed(summary, &files).map_err(failed(&self.target.join(MANIFEST)))?;
        self.file(MANIFEST, |out| out.write_all(text.as_bytes()))?;
        self.files = files;
        self.disk.sync_folder(&self.staging).map_err(failed(&self.staging))?;
        undisturbed(|| match self.method {
            ReplaceMethod::Swap => self.swap(),
            ReplaceMethod::InPlace { .. } => self.one_by_one(),
        })
    }

    fn was_unfinished(&self) -> bool {
        self.method == ReplaceMethod::InPlace { was_unfinished: true }
    }

    /// Creates the folder of the new files; empties that of a killed run.
    fn stage(&mut self) -> io::Result<()> {
        let disk = self.disk;
        let make = |path: &Path| {
            if path.exists() {
                for name in fs::read_dir(path)? {
                    disk.remove(&name?.path())?;
                }
                return Ok(());
            }
            disk.make_folder(path)
        };
        if self.was_unfinished() {
            // It marks that the folder is between two sets, and must stay.
            make(&self.staging)?;
        } else {
            self.temporary = Some(Temporary::make(&self.staging, make)?.0);
        }
        self.is_staged = true;
        Ok(())
    }

    /// Puts back the files that a killed run left in the old folder, and removes that.
    fn recover(&self, dir: &Path) -> Result<(), SetError> {
        let failed = |source| SetError::Io { path: self.staging.clone(), source };
        match fs::symlink_metadata(&self.staging) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(failed(e)),
            Ok(_) => {}
        }
        match self.clear(true).map_err(failed)? {
            None => Ok(()),
            Some(name) => {
                Err(SetError::Leftover { path: dir.to_owned(), left: self.staging.clone(), name })
            }
        }
    }

    /// Refuses a folder in which a file of a set is something else, or a table is a folder.
    fn only_regular(&self) -> Result<(), SetError> {
        let failed = |source| SetError::Io { path: self.target.clone(), source };
        for entry in fs::read_dir(&self.target).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let is_ours = entry.file_name().to_str().is_some_and(is_member);
            if is_ours && !entry.file_type().map_err(failed)?.is_file() {
                return Err(SetError::NoRegularFile { path: entry.path() });
            }
        }
        Ok(())
    }

    /// Tries on two empty folders whether names can be exchanged here.
    fn try_exchange(&self, dir: &Path) -> Result<(), SetError> {
        let failed = |source| SetError::Io { path: dir.to_owned(), source };
        let (a, b) = (beside(&self.target, "try1"), beside(&self.target, "try2"));
        let make = |path: &Path| {
            let _it_may_be_left_by_a_killed_run = self.disk.remove_folder(path);
            Temporary::make(path, |path| self.disk.make_folder(path))
        };
        let first = make(&a).map_err(failed)?;
        let tried = make(&b).and_then(|_second| {
            let tried = self.disk.exchange(&a, &b);
            self.disk.remove_folder(&b).and(tried)
        });
        let cleared = self.disk.remove_folder(&a);
        drop(first);
        match tried.and(cleared) {
            Ok(()) => Ok(()),
            Err(e) => {
                let _again = (self.disk.remove_folder(&a), self.disk.remove_folder(&b));
                Err(unswapped(dir, e))
            }
        }
    }

    /// Lets the new folder and the old one change names.
    fn swap(&mut self) -> Result<Option<PathBuf>, SetError> {
        let (disk, target) = (self.disk, self.target.clone());
        let failed = |source| SetError::Io { path: target.clone(), source };
        let parent = folder(&target);
        let old = fs::metadata(&target).ok();
        if let Some(old) = &old {
            File::open(&self.staging).and_then(|new| like(&new, old)).map_err(failed)?;
        }
        let is_empty = old.is_none() || others(&target).map_err(failed)?.is_empty();
        if is_empty {
            // A lock is no content.
            self.locks.retain(|lock| !lock.is_in(&target));
            disk.rename(&self.staging, &target).map_err(failed)?;
            self.is_staged = false;
            return disk.sync_folder(parent).map_err(failed).map(|()| None);
        }
        self.only_regular()?;
        for name in others(&target).map_err(failed)? {
            if !name.to_str().is_some_and(is_member) {
                // Files without a second name are moved afterwards.
                let _folders_cannot = disk.link(&target.join(&name), &self.staging.join(&name));
            }
        }
        disk.sync_folder(&self.staging).map_err(failed)?;
        disk.exchange(&self.staging, &target).map_err(|e| unswapped(&target, e))?;
        // The old folder has this name now, and may hold files that are not ours.
        self.temporary = None;
        let synced = disk.sync_folder(parent);
        // A step that fails once may succeed; the next run repairs any remainder.
        let cleared = self.clear(false).or_else(|_| self.clear(false));
        self.is_staged = false;
        synced.map_err(failed)?;
        Ok(if matches!(cleared, Ok(None)) { None } else { Some(self.staging.clone()) })
    }

    /// Empties and removes the folder that is not the target: its tables are removed, all else moves to the target, unless
    /// that has it. Returns a name that must stay.
    fn clear(&self, may_keep: bool) -> io::Result<Option<String>> {
        let disk = self.disk;
        let mut kept = None;
        for entry in fs::read_dir(&self.staging)? {
            let entry = entry?;
            let (name, path) = (entry.file_name(), entry.path());
            let text = name.to_str();
            let is_folder = entry.file_type()?.is_dir();
            let there = self.target.join(&name);
            if text == Some(UNFINISHED) && is_folder {
                for inner in fs::read_dir(&path)? {
                    disk.remove(&inner?.path())?;
                }
                disk.remove_folder(&path)?;
            } else if text.is_some_and(|n| is_member(n) || n == LOCK) && !is_folder {
                disk.remove(&path)?;
            } else if fs::symlink_metadata(&there).is_err() && self.target.exists() {
                disk.rename(&path, &there)?;
            } else if is_folder || !self.target.exists() {
                kept = Some(name.to_string_lossy().into_owned());
            } else {
                disk.remove(&path)?;
            }
        }
        if kept.is_none() {
            disk.remove_folder(&self.staging)?;
            disk.sync_folder(&self.target).or_else(|e| if may_keep { Ok(()) } else { Err(e) })?;
        }
        Ok(kept)
    }

    /// Replaces the files of the folder one by one; the manifest goes first and comes last.
    fn one_by_one(&mut self) -> Result<Option<PathBuf>, SetError> {
        let (disk, target, staging) = (self.disk, self.target.clone(), self.staging.clone());
        let failed = |source| SetError::Io { path: target.clone(), source };
        let manifest = target.join(MANIFEST);
        disk.sync_folder(&target).map_err(failed)?;
        // From here on the remaining folder marks the set as unfinished.
        self.temporary = None;
        self.is_staged = false;
        gone(disk, &manifest).map_err(failed)?;
        let moved = (|| {
            disk.sync_folder(&target)?;
            for name in self.files.keys() {
                let (from, to) = (staging.join(name), target.join(name));
                if fs::symlink_metadata(&to).is_ok_and(|m| !m.is_file()) {
                    // Its bytes are compressed already, if they are to be.
                    let mut bytes = File::open(&from)?;
                    let copy = |out: &mut dyn Write| io::copy(&mut bytes, out).map(drop);
                    replace_named(disk, &to, Path::new(""), copy)?;
                    disk.remove(&from)?;
                } else {
                    disk.rename(&from, &to)?;
                }
            }
            for name in others(&target)? {
                let stale = name.to_str().filter(|n| is_member(n) && !self.files.contains_key(*n));
                if let Some(name) = stale {
                    disk.remove(&target.join(name))?;
                }
            }
            disk.sync_folder(&target)?;
            disk.rename(&staging.join(MANIFEST), &manifest)?;
            disk.sync_folder(&target)
        })();
        moved.map_err(failed)?;
        let cleared = disk.remove_folder(&staging).or_else(|_| disk.remove_folder(&staging));
        Ok(cleared.is_err().then_some(staging))
    }
}

impl Drop for TableSet<'_> {
    fn drop(&mut self) {
        if !self.is_staged {
            return;
        }
        for entry in fs::read_dir(&self.staging).into_iter().flatten().flatten() {
            let _the_next_run_does_it = self.disk.remove(&entry.path());
        }
        if !self.was_unfinished() {
            let _the_next_run_does_it = self.disk.remove_folder(&self.staging);
        }
    }
}

/// A file whose digest is computed.
struct Summed<'d> {
    out: DiskWriter<'d>,
    running: Running,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.running.add(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The folder of a name, links followed; its parents are made.
fn target(disk: &dyn Disk, dir: &Path) -> io::Result<PathBuf> {
    match fs::metadata(dir) {
        Ok(m) if m.is_dir() => return fs::canonicalize(dir),
        Ok(_) => return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is no directory")),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    if fs::symlink_metadata(dir).is_ok() {
        let what = "it is a symbolic link that leads nowhere";
        return Err(io::Error::new(io::ErrorKind::NotFound, what));
    }
    let Some(name) = dir.file_name() else {
        return Err(io::Error::new(io::ErrorKind::NotFound, "there is no such directory"));
    };
    let parent = folder(dir);
    make_folders(disk, parent)?;
    Ok(fs::canonicalize(parent)?.join(name))
}

/// Creates a folder and its parents.
///
/// # Errors
/// Any error of the operating system.
pub fn make_folders(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    make_folders(disk, folder(path))?;
    match disk.make_folder(path) {
        // Another process may have made it.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        other => other,
    }
}

/// The content of a folder, without our own lock.
fn others(dir: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let names = fs::read_dir(dir)?.map(|entry| entry.map(|e| e.file_name()));
    let mut names: Vec<_> = names.collect::<io::Result<_>>()?;
    names.retain(|name| name != LOCK);
    names.sort();
    Ok(names)
}

/// The reason why a folder cannot be exchanged with one next to it, as far as can be determined; empty if it may.
fn unswappable(target: &Path, parent: &Path) -> String {
    match (fs::metadata(target), fs::metadata(parent)) {
        (Ok(a), Ok(b)) if a.dev() != b.dev() => "it is a mount point".to_owned(),
        _ if target.parent().is_none() => "it is the root directory".to_owned(),
        _ => String::new(),
    }
}

fn unswapped(dir: &Path, e: io::Error) -> SetError {
    if cannot_exchange(&e) {
        let why = format!("names cannot be exchanged there ({e})");
        return SetError::CannotSwap { path: dir.to_owned(), why };
    }
    SetError::Io { path: dir.to_owned(), source: e }
}

fn is_denied(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

fn regular(m: fs::Metadata) -> io::Result<fs::Metadata> {
    if m.is_file() { Ok(m) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

fn gone(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.remove(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
