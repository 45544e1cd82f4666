//! All formats of schedules; knowing files by their content, and putting those of all ranks together.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use darkfiber_fabric::Registry;

use super::run::{EXPECTED, File, Head, Options, Read, ReadBy, ScheduleFormat, folder};
use super::values::number;
use super::{chakra, dumpi, goal, goal_binary, list, matrix, mpip, simgrid, tar, torch};
use darkfiber_formats::{Diagnostics, ReadError, input};

/// All formats. If two match the same file, the first is taken.
pub static FORMS: Registry<ScheduleFormat> = Registry::new(
    "format of schedules",
    &[
        goal_binary::FORMAT,
        dumpi::FORMAT,
        torch::FORMAT,
        chakra::FORMAT,
        goal::FORMAT,
        mpip::FORMAT,
        dumpi::TEXT,
        dumpi::META,
        simgrid::FORMAT,
        matrix::FORMAT,
        list::FORMAT,
    ],
);

/// Detects the format of a file by its content alone; `None` if the format is unrecognised.
pub fn detect(bytes: &[u8]) -> Option<&'static ScheduleFormat> {
    let head = Head::new(bytes);
    FORMS.iter().find(|format| (format.is_such)(&head))
}

/// Reads these files: one, those of all ranks, a folder or tar archive of them, a list of them, or the meta file of
/// DUMPI next to them. Gzip and zstandard are decompressed. Unrecognised files are skipped in folders and archives.
///
/// # Errors
/// If a file cannot be read, its format is unrecognised, or files are of different formats.
pub fn open(paths: &[PathBuf], options: &Options) -> Result<(Read, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let mut files = Vec::new();
    let mut passed = Vec::new();
    for path in paths {
        let inside = if path.is_dir() { folder(path)? } else { Vec::new() };
        let given = inside.is_empty();
        for path in if given { std::slice::from_ref(path) } else { &inside } {
            add(path, given, &mut files, &mut passed)?;
        }
    }
    // Lists and meta files only say where the others are.
    let alone = match files.as_slice() {
        [(ScheduleFormat { read: ReadBy::Elsewhere(others), .. }, file)] => Some(others(file)?),
        _ => None,
    };
    if let Some(near) = alone {
        files.clear();
        for path in &near {
            add(path, true, &mut files, &mut passed)?;
        }
    }
    files.retain(|(format, _)| !matches!(format.read, ReadBy::Elsewhere(_)));
    if !passed.is_empty() && !files.is_empty() {
        let first = passed[0].display().to_string();
        d.note(
            0,
            format!("{} files are of no known kind, such as {first}", passed.len()),
            "passed over",
        );
    }
    let name = paths.first().map_or(Path::new(""), PathBuf::as_path);
    let (read, more) = read(files, name, options)?;
    d.0.extend(more.0);
    Ok((read, d))
}

/// Adds a file, or those of an archive.
fn add(
    path: &Path,
    given: bool,
    files: &mut Vec<(&'static ScheduleFormat, File)>,
    passed: &mut Vec<PathBuf>,
) -> Result<(), ReadError> {
    let bytes = input::read(path)?;
    // All files of a run are held at once, so the limit applies to their sum.
    let held: u64 = files.iter().map(|(_, file)| file.bytes.len() as u64).sum();
    if held + bytes.len() as u64 > input::limit() {
        let source = input::too_large(input::limit());
        return Err(ReadError::Io { path: path.to_owned(), source });
    }
    if tar::is_first(&bytes) {
        let before = files.len();
        for (path, body) in tar::files(&bytes, path)? {
            match detect(body) {
                Some(format) => files.push((format, File { path, bytes: body.to_vec() })),
                None => passed.push(path),
            }
        }
        if files.len() == before {
            return Err(ReadError::not_such(path, "nothing in the archive is known", EXPECTED, ""));
        }
        return Ok(());
    }
    match detect(&bytes) {
        Some(format) => files.push((format, File { path: path.to_owned(), bytes })),
        None if given => {
            let hint = match bytes.as_slice() {
                [] => "the file is empty",
                [3, b'B', ..] => {
                    "OTF2 is not read; give what otf2-print or a replay tool makes of it"
                }
                _ => "is it cut off, or of another tool?",
            };
            return Err(ReadError::not_such(path, "unrecognised format", EXPECTED, hint));
        }
        None => passed.push(path.to_owned()),
    }
    Ok(())
}

/// As [`open`], from files whose formats are known. `name` is for errors.
///
/// # Errors
/// As [`open`].
pub fn read(
    mut files: Vec<(&'static ScheduleFormat, File)>,
    name: &Path,
    options: &Options,
) -> Result<(Read, Diagnostics), ReadError> {
    let Some((format, first)) = files.first().map(|(f, file)| (*f, file.path.clone())) else {
        return Err(ReadError::not_such(name, "there is nothing to read", EXPECTED, ""));
    };
    if let Some((other, file)) = files.iter().find(|(f, _)| *f != format) {
        let what = format!("this is {}, but {} is {}", other.what, first.display(), format.what);
        return Err(ReadError::not_such(
            &file.path,
            what,
            "files of one kind",
            "give those of one run",
        ));
    }
    if files.len() > 1 && !matches!(format.read, ReadBy::Ranks(_)) {
        let what = format!("{} files, each {}", files.len(), format.what);
        return Err(ReadError::not_such(
            name,
            what,
            "one such file",
            "each is a whole run: give one",
        ));
    }
    let folders: BTreeSet<&Path> = files.iter().filter_map(|(_, f)| f.path.parent()).collect();
    if folders.len() > 1 {
        let what = format!("files of {} folders, such as {}", folders.len(), first.display());
        return Err(ReadError::not_such(
            name,
            what,
            "the files of one run",
            "give those of one folder",
        ));
    }
    files.sort_by_cached_key(|(_, f)| (number(&f.path), f.path.clone()));
    let files: Vec<File> = files.into_iter().map(|(_, file)| file).collect();
    match (format.read, files.as_slice()) {
        (ReadBy::Ranks(read), _) => read(&files, options),
        (ReadBy::Run(read), [file, ..]) => read(file),
        _ => {
            let what = format!("this is {}, which holds no calls", format.what);
            Err(ReadError::not_such(name, what, EXPECTED, "give the files of the ranks"))
        }
    }
}
