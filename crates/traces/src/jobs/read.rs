//! Logs and lists of jobs of any kind, recognised by content.

use std::io::{BufRead, BufReader};
use std::path::Path;

use super::log::JobLog;
use super::record::Record;
use super::{LOGS, detect, swf};
use darkfiber_formats::nothing_to_read;
use darkfiber_formats::{Diagnostics, ReadError, input};

/// Reads a log; if it has a header with its start, its times become Unix times. The header is empty for logs that have none.
///
/// # Errors
/// If there is no such file, or it is not a list of jobs.
pub fn read(
    path: &Path,
    each: &mut dyn FnMut(Record),
) -> Result<(swf::Header, Diagnostics), ReadError> {
    refuse_directory(path)?;
    let mut reader = BufReader::with_capacity(1 << 16, input::open(path)?);
    let (log, head) = recognised(&mut reader, path)?;
    let header = if *log == swf::LOG { swf::header(&head) } else { swf::Header::default() };
    let shift = header.unix_start.unwrap_or(0);
    let mut shifted = |mut record: Record| {
        for time in [&mut record.submit, &mut record.start, &mut record.end] {
            *time = time.map(|t| t.saturating_add(shift));
        }
        each(record);
    };
    let found = log.jobs(&mut reader, path, &mut shifted)?;
    Ok((header, found))
}

/// Reads jobs from something that is open.
///
/// # Errors
/// If it is no list of jobs.
pub fn read_from(
    reader: &mut dyn BufRead,
    path: &Path,
    each: &mut dyn FnMut(Record),
) -> Result<Diagnostics, ReadError> {
    refuse_directory(path)?;
    let (log, _) = recognised(reader, path)?;
    log.jobs(reader, path, each)
}

fn known() -> String {
    let known: Vec<&str> = LOGS.iter().map(|log| log.what).collect();
    known.join(", ")
}

fn refuse_directory(path: &Path) -> Result<(), ReadError> {
    if path.is_dir() {
        return Err(ReadError::not_such(path, "it is a directory", known(), ""));
    }
    Ok(())
}

/// The kind of the log, and its first lines.
fn recognised(
    reader: &mut dyn BufRead,
    path: &Path,
) -> Result<(&'static JobLog, String), ReadError> {
    let unreadable = |source| ReadError::Io { path: path.to_owned(), source };
    let head = input::text(reader.fill_buf().map_err(unreadable)?).into_owned();
    if let Some(what) = nothing_to_read(&head, path) {
        let hint = if head.trim().is_empty() {
            "did the command that wrote it fail? An idle machine's `squeue` prints a heading"
        } else {
            "gzip and zstandard are decompressed here, others are to be before"
        };
        return Err(ReadError::not_such(path, what, known(), hint));
    }
    let log = detect(&head)
        .ok_or_else(|| ReadError::not_such(path, "unrecognised list of jobs", known(), ""))?;
    Ok((log, head))
}
