//! Files that are written completely or not at all.
//!
//! A regular file is written next to its target, synced and renamed into place. Anything else of that name (a device, a
//! FIFO, a symbolic link) remains, and is written through.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::claim::{Claim, beside};
use crate::disk::{Disk, DiskWriter, Os};

/// Most symbolic links that lead to a file, as in Linux.
const LINKS: usize = 40;
/// Bytes of a write.
const BUFFER: usize = 1 << 17;

/// The kind of a target, after following symbolic links.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// A regular file, or nothing yet: replaced as a whole.
    File(PathBuf),
    /// A device or FIFO.
    Special(PathBuf),
    /// An open file of this or another process, by number.
    Open(PathBuf, Option<u32>),
}

/// Writes a file next to its target and renames it into place; a target that is not a regular file is written through.
/// A target whose name ends in `.gz` or `.zst` is compressed.
///
/// # Errors
/// Any error of the operating system or of `write`; then a regular file is as it was.
pub fn replace(
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    replace_on(&Os, target, write)
}

/// [`replace`], with the bytes as `write` writes them, whatever the name ends in.
///
/// # Errors
/// As [`replace`].
pub fn replace_as_is(
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    replace_named(&Os, target, Path::new(""), write)
}

/// [`replace`] on a disk.
///
/// # Errors
/// As [`replace`].
pub fn replace_on(
    disk: &dyn Disk,
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    replace_named(disk, target, target, write)
}

/// Replaces a file; its compression depends on `name`.
pub(crate) fn replace_named(
    disk: &dyn Disk,
    target: &Path,
    name: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let path = match place(target)? {
        Place::File(path) => path,
        Place::Special(path) => {
            let file = OpenOptions::new().write(true).open(path)?;
            return packed(name, DiskWriter { disk, file }, write).map(drop);
        }
        Place::Open(path, number) => {
            let file = match number {
                Some(1) => File::from(io::stdout().as_fd().try_clone_to_owned()?),
                Some(2) => File::from(io::stderr().as_fd().try_clone_to_owned()?),
                _ => OpenOptions::new().append(true).open(path)?,
            };
            return packed(name, DiskWriter { disk, file }, write).map(drop);
        }
    };
    let claim = waiting(disk, &beside(&path, "tmp"))?;
    let written = (|| {
        let file = claim.file.try_clone()?;
        let DiskWriter { file, .. } = packed(name, DiskWriter { disk, file }, write)?;
        if let Ok(old) = fs::metadata(&path) {
            like(&file, &old)?;
        }
        disk.sync(&file)?;
        disk.rename(claim.name.path(), &path)
    })();
    match written {
        // The name is free again.
        Ok(()) => drop(claim),
        Err(e) => {
            let _the_next_writer_takes_it_over = claim.remove();
            return Err(e);
        }
    }
    disk.sync_folder(folder(&path))
}

/// Whether a file of this name can be written, as far as can be seen without writing it.
///
/// # Errors
/// The folder does not exist or cannot be written, or the name is that of a folder.
pub fn check(target: &Path) -> io::Result<()> {
    match place(target)? {
        Place::File(path) => check_folder(folder(&path)),
        Place::Special(path) => Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?),
        Place::Open(..) => Ok(()),
    }
}

/// Whether files can be made in a folder.
///
/// # Errors
/// It does not exist, is no folder, or cannot be written.
pub fn check_folder(folder: &Path) -> io::Result<()> {
    if !fs::metadata(folder)?.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::NotADirectory,
            format!("{} is no directory", folder.display()),
        ));
    }
    // A file without a name: no other process sees it.
    tempfile::tempfile_in(folder).map(drop)
}

/// Takes a name; waits a while for a writer that has it.
fn waiting<'d>(disk: &'d dyn Disk, path: &Path) -> io::Result<Claim<'d>> {
    let mut taken = Claim::take(disk, path);
    for _ in 0..20 {
        match &taken {
            Err(e) if e.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(std::time::Duration::from_millis(100));
                taken = Claim::take(disk, path);
            }
            _ => break,
        }
    }
    taken
}

/// The folder of a file.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Gives a file the owner, as far as that is allowed, and the permissions of another one.
pub(crate) fn like(file: &File, old: &fs::Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        let _only_root_may = std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o7777))
}

/// Writes, compressed by the ending of the name.
pub(crate) fn packed<W: Write>(
    name: &Path,
    out: W,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<W> {
    let mut out = BufWriter::with_capacity(BUFFER, out);
    match name.extension().and_then(|e| e.to_str()) {
        Some("gz") => {
            let mut packer = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            write(&mut packer)?;
            out = packer.finish()?;
        }
        Some("zst") => {
            let mut packer = zstd::stream::write::Encoder::new(out, 3)?;
            packer.include_checksum(true)?;
            write(&mut packer)?;
            out = packer.finish()?;
        }
        _ => write(&mut out)?,
    }
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

/// Finds the kind of a target.
fn place(target: &Path) -> io::Result<Place> {
    let mut path = target.to_owned();
    for _ in 0..LINKS {
        let what = match fs::symlink_metadata(&path) {
            Ok(m) => m.file_type(),
            Err(e) if e.kind() == io::ErrorKind::NotFound && path.file_name().is_some() => {
                return Ok(Place::File(path));
            }
            Err(e) => return Err(e),
        };
        if what.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        if what.is_file() {
            return Ok(Place::File(path));
        }
        if what.is_socket() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a socket"));
        }
        if !what.is_symlink() {
            return Ok(Place::Special(path));
        }
        let home = fs::canonicalize(folder(&path))?;
        if home.starts_with("/proc") {
            // Reading such a link does not give the file that opening it opens.
            let ours = home.starts_with(format!("/proc/{}", std::process::id()));
            let number = path.file_name().and_then(|n| n.to_str()).and_then(|n| n.parse().ok());
            return Ok(Place::Open(path, number.filter(|_| ours)));
        }
        path = home.join(fs::read_link(&path)?);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "too many symbolic links"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_files_and_open_files_are_not_reopened() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let home = dir.path().canonicalize()?;
        let (a, b, c) = (home.join("a"), home.join("b"), home.join("c"));
        std::os::unix::fs::symlink("b", &a)?;
        std::os::unix::fs::symlink("c", &b)?;
        assert_eq!(place(&a)?, Place::File(c.clone()));
        std::os::unix::fs::symlink("a", &c)?;
        assert!(place(&a).is_err());
        assert_eq!(place(Path::new("/dev/null"))?, Place::Special("/dev/null".into()));
        assert!(matches!(place(Path::new("/dev/stderr"))?, Place::Open(_, Some(2))));
        assert!(matches!(place(Path::new("/proc/1/fd/1")), Err(_) | Ok(Place::Open(_, None))));
        assert!(place(&home).is_err());
        Ok(())
    }
}
