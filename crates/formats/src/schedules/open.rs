//! Knowing files by their content, and putting those of all ranks together.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{File, Options, Read, chakra, dumpi, goal, goal_binary, matrix, mpip, simgrid, tar};
use crate::{Diagnostics, ReadError, input};

const EXPECTED: &str =
    "GOAL, a trace of Chakra, DUMPI or SimGrid, a report or graph of mpiP, or a matrix of bytes";

/// Kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ScheduleKind {
    /// GOAL as text.
    Goal,
    /// GOAL as LogGOPSim compiles it.
    GoalBinary,
    /// Execution trace of Chakra.
    Chakra,
    /// Trace of DUMPI.
    Dumpi,
    /// Trace of DUMPI as dumpi2ascii prints it.
    DumpiText,
    /// What DUMPI writes beside the files of the ranks.
    DumpiMeta,
    /// Time-independent trace of SimGrid.
    SimGrid,
    /// A list of the files of ranks.
    List,
    /// Report of mpiP.
    MpiP,
    /// Graph, table or list of bytes between ranks.
    Matrix,
}

impl ScheduleKind {
    /// What it is, for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Goal => "a GOAL schedule",
            Self::GoalBinary => "a compiled GOAL schedule",
            Self::Chakra => "a trace of Chakra",
            Self::Dumpi => "a trace of DUMPI",
            Self::DumpiText => "output of dumpi2ascii",
            Self::DumpiMeta => "the meta file of DUMPI",
            Self::SimGrid => "a time-independent trace of SimGrid",
            Self::List => "a list of files",
            Self::MpiP => "a report of mpiP",
            Self::Matrix => "bytes between ranks",
        }
    }

    /// Whether it has a file for each rank.
    fn many(self) -> bool {
        matches!(self, Self::Chakra | Self::Dumpi | Self::DumpiText | Self::SimGrid)
    }
}

/// What kind of file this is, by its content alone; `None` if it is like nothing known.
pub fn detect(bytes: &[u8]) -> Option<ScheduleKind> {
    if goal_binary::is_first(bytes) {
        return Some(ScheduleKind::GoalBinary);
    }
    if dumpi::is_binary(bytes) {
        return Some(ScheduleKind::Dumpi);
    }
    if chakra::is_first(bytes) {
        return Some(ScheduleKind::Chakra);
    }
    let begin = &bytes[..bytes.len().min(64 << 10)];
    if begin.contains(&0) {
        return None;
    }
    if goal::is_first(bytes) {
        return Some(ScheduleKind::Goal);
    }
    let text = input::text(begin);
    // The last line may be cut off.
    let whole =
        if begin.len() < bytes.len() { text.rfind('\n').map_or("", |n| &text[..n]) } else { &text };
    if mpip::is_first(whole) {
        Some(ScheduleKind::MpiP)
    } else if matrix::is_graph(whole) {
        Some(ScheduleKind::Matrix)
    } else if dumpi::is_text(whole) {
        Some(ScheduleKind::DumpiText)
    } else if dumpi::is_meta(whole) {
        Some(ScheduleKind::DumpiMeta)
    } else if simgrid::is_first(whole) {
        Some(ScheduleKind::SimGrid)
    } else if matrix::is_numbers(whole) {
        Some(ScheduleKind::Matrix)
    } else if is_list(whole) {
        Some(ScheduleKind::List)
    } else {
        None
    }
}

/// A name of a file in each line.
fn is_list(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty()).peekable();
    let name = |l: &str| {
        !l.contains(char::is_whitespace)
            && l.contains('.')
            && l.contains(|c: char| c.is_ascii_digit())
    };
    lines.peek().is_some() && lines.all(name)
}

/// The number at the end of a file's name, its endings left out: `trace-0012.bin` is 12.
pub(super) fn number(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
    let digits = name[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |n| n + 1);
    // The digits of `.bin.7z` and the like are no ranks, but nothing else has any behind.
    name[digits..end].parse().ok()
}

/// Reads what is in these files: one, those of all ranks, a folder or tar archive of them, a list of them, or the meta
/// file of DUMPI beside them. Gzip and zstandard are undone. What is not known is passed over in folders and archives.
///
/// # Errors
/// If a file cannot be read, is of no known kind, or files are of different kinds.
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
    if let [(kind @ (ScheduleKind::List | ScheduleKind::DumpiMeta), file)] = files.as_slice() {
        let near = beside(*kind, file)?;
        files.clear();
        for path in &near {
            add(path, true, &mut files, &mut passed)?;
        }
    }
    files.retain(|(kind, _)| !matches!(kind, ScheduleKind::List | ScheduleKind::DumpiMeta));
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

/// The files in a folder, by name.
fn folder(path: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(io)? {
        let entry = entry.map_err(io)?.path();
        if entry.is_file() {
            files.push(entry);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(ReadError::not_such(path, "there are no files in this folder", EXPECTED, ""));
    }
    Ok(files)
}

/// Adds a file, or those of an archive.
fn add(
    path: &Path,
    given: bool,
    files: &mut Vec<(ScheduleKind, File)>,
    passed: &mut Vec<PathBuf>,
) -> Result<(), ReadError> {
    let bytes = input::read(path)?;
    // All files of a run are held at once, so that the limit is theirs together.
    let held: u64 = files.iter().map(|(_, file)| file.bytes.len() as u64).sum();
    if held + bytes.len() as u64 > input::limit() {
        let source = input::too_large(input::limit());
        return Err(ReadError::Io { path: path.to_owned(), source });
    }
    if tar::is_first(&bytes) {
        let before = files.len();
        for (path, body) in tar::files(&bytes, path)? {
            match detect(body) {
                Some(kind) => files.push((kind, File { path, bytes: body.to_vec() })),
                None => passed.push(path),
            }
        }
        if files.len() == before {
            return Err(ReadError::not_such(path, "nothing in the archive is known", EXPECTED, ""));
        }
        return Ok(());
    }
    match detect(&bytes) {
        Some(kind) => files.push((kind, File { path: path.to_owned(), bytes })),
        None if given => {
            let hint = match bytes.as_slice() {
                [] => "the file is empty",
                [3, b'B', ..] => {
                    "OTF2 is not read; give what otf2-print or a replay tool makes of it"
                }
                _ => "is it cut off, or of another tool?",
            };
            return Err(ReadError::not_such(path, "this is like nothing known", EXPECTED, hint));
        }
        None => passed.push(path.to_owned()),
    }
    Ok(())
}

/// The files that a list or a meta file stands for.
fn beside(kind: ScheduleKind, file: &File) -> Result<Vec<PathBuf>, ReadError> {
    let folder = file.path.parent().unwrap_or(Path::new(""));
    let text = input::text(&file.bytes);
    if kind == ScheduleKind::List {
        let names = text.lines().map(str::trim).filter(|l| !l.is_empty());
        return Ok(names.map(|name| folder.join(name)).collect());
    }
    let prefix = dumpi::prefix(&text).unwrap_or_default();
    let mut near =
        self::folder(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })?;
    near.retain(|path| {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        name.strip_prefix(&prefix).is_some_and(|rest| rest.starts_with('-')) && *path != file.path
    });
    if near.is_empty() {
        let what = format!("there are no files `{prefix}-*` beside it");
        return Err(ReadError::not_such(
            &file.path,
            what,
            "the meta file of DUMPI",
            "give the files of the ranks",
        ));
    }
    Ok(near)
}

/// As [`open`], from files whose kinds are known. `name` is for errors.
///
/// # Errors
/// As [`open`].
pub fn read(
    mut files: Vec<(ScheduleKind, File)>,
    name: &Path,
    options: &Options,
) -> Result<(Read, Diagnostics), ReadError> {
    let Some((kind, first)) = files.first().map(|(kind, file)| (*kind, file.path.clone())) else {
        return Err(ReadError::not_such(name, "there is nothing to read", EXPECTED, ""));
    };
    if let Some((other, file)) = files.iter().find(|(k, _)| *k != kind) {
        let what =
            format!("this is {}, but {} is {}", other.describe(), first.display(), kind.describe());
        return Err(ReadError::not_such(
            &file.path,
            what,
            "files of one kind",
            "give those of one run",
        ));
    }
    if files.len() > 1 && !kind.many() {
        let what = format!("{} files, each {}", files.len(), kind.describe());
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
    let mut files: Vec<File> = files.into_iter().map(|(_, file)| file).collect();
    let trace = |(trace, d)| (Read::Trace(trace), d);
    match kind {
        ScheduleKind::Chakra => chakra::read(&files),
        ScheduleKind::Dumpi | ScheduleKind::DumpiText => dumpi::read(&files).map(trace),
        ScheduleKind::SimGrid => simgrid::read(&files, options).map(trace),
        _ => {
            let File { path, bytes } = files.swap_remove(0);
            match kind {
                ScheduleKind::Goal => {
                    goal::read(&bytes, &path).map(|(s, d)| (Read::Schedule(s), d))
                }
                ScheduleKind::GoalBinary => {
                    goal_binary::read(&bytes, &path).map(|(s, d)| (Read::Schedule(s), d))
                }
                ScheduleKind::MpiP => {
                    mpip::read(&input::text(&bytes), &path).map(|(r, d)| (Read::Report(r), d))
                }
                _ => matrix::read(&input::text(&bytes), &path).map(|(m, d)| (Read::Matrix(m), d)),
            }
        }
    }
}
