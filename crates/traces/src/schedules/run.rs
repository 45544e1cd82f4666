//! The files of a run, their content, and the interface of a format of them.

use std::path::{Path, PathBuf};

use darkfiber_workload::CommMatrix;
use darkfiber_workload::schedule::Schedule;
use darkfiber_workload::trace::{MpiTrace, OpGraph};

use super::mpip_report::Report;
use darkfiber_formats::{Diagnostics, ReadError, input};

/// Information that traces do not contain.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Speed of a rank, for traces that count operations instead of time.
    pub flops_per_second: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { flops_per_second: 1e9 }
    }
}

/// A file: its content after decompression, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name; of a file in an archive, that of the archive and its own.
    pub path: PathBuf,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// The result of reading a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// Operations and their dependencies.
    Schedule(Schedule),
    /// Calls of MPI, collectives still whole.
    Trace(MpiTrace),
    /// Operations that wait for each other, collectives still whole.
    Graph(OpGraph),
    /// Matrix of bytes between ranks.
    Matrix(CommMatrix),
    /// Times and sizes by rank and call site.
    Report(Report),
}

/// The result of reading the files of a run.
pub type ReadRun = Result<(Read, Diagnostics), ReadError>;

/// A format of schedules, traces or matrices, as its own file defines it and [`FORMS`](super::FORMS) lists it.
#[derive(Clone, Copy, Debug)]
pub struct ScheduleFormat {
    /// The name that users write.
    pub name: &'static str,
    /// Description of such a file, for messages and lists.
    pub what: &'static str,
    /// Whether a file begins like one.
    pub is_such: fn(&Head<'_>) -> bool,
    /// Reader of its files.
    pub read: ReadBy,
}

/// Reader of the files of a format.
#[derive(Clone, Copy, Debug)]
pub enum ReadBy {
    /// A file is a run; there is one.
    Run(fn(&File) -> ReadRun),
    /// A file is a rank; they come in the order of the numbers in their names.
    Ranks(fn(&[File], &Options) -> ReadRun),
    /// A file only says where those of the ranks are.
    Elsewhere(fn(&File) -> Result<Vec<PathBuf>, ReadError>),
}

/// The beginning of a file.
#[derive(Debug)]
pub struct Head<'a> {
    /// The whole content.
    pub bytes: &'a [u8],
    /// Its first lines, each whole; empty in a binary file.
    pub lines: String,
    /// Whether there are no zero bytes at its beginning.
    pub is_text: bool,
}

impl<'a> Head<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let begin = &bytes[..bytes.len().min(64 << 10)];
        let is_text = !begin.contains(&0);
        let mut lines = String::new();
        if is_text {
            lines = input::text(begin).into_owned();
            // The last line may be cut off.
            if begin.len() < bytes.len() {
                lines.truncate(lines.rfind('\n').unwrap_or(0));
            }
        }
        Self { bytes, lines, is_text }
    }
}

darkfiber_fabric::named!(ScheduleFormat, eq);

/// Expected content where the format is unrecognised.
pub(super) const EXPECTED: &str =
    "GOAL, a trace of torch, Chakra, DUMPI or SimGrid, a graph of mpiP, or a matrix of bytes";

/// The files in a folder, by name.
pub(super) fn folder(path: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let mut files = Vec::new();
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
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
