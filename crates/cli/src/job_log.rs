//! Logs and lists of jobs, recognised by content.

use std::io::{BufRead, BufReader};
use std::path::Path;

use darkfiber_formats::jobs::{self, JobLogKind, Record, swf};
use darkfiber_formats::{Diagnostics, input};

use crate::failure::Failure;
use crate::options::Common;
use crate::out;

/// Reads a log; the times of one with a header that tells its beginning become Unix times.
pub(crate) fn read(
    path: &Path,
    common: &Common,
    each: &mut dyn FnMut(Record),
) -> Result<swf::Header, Failure> {
    if path.is_dir() {
        return Err(Failure::input(format!("{} is a directory", path.display())));
    }
    let mut reader = BufReader::with_capacity(1 << 16, input::open(path)?);
    let (kind, head) = recognise(&mut reader, path)?;
    let header = if kind == JobLogKind::Swf { swf::header(&head) } else { swf::Header::default() };
    let shift = header.unix_start.unwrap_or(0);
    let mut shifted = |mut record: Record| {
        for time in [&mut record.submit, &mut record.start, &mut record.end] {
            *time = time.map(|t| t.saturating_add(shift));
        }
        each(record);
    };
    let found = read_as(kind, &mut reader as &mut dyn BufRead, path, &mut shifted)?;
    out::diagnostics(&path.display().to_string(), &found, common);
    Ok(header)
}

/// Reads jobs of any kind, recognised by content, from something that is open.
pub(crate) fn read_from(
    reader: &mut dyn BufRead,
    path: &Path,
    each: &mut dyn FnMut(Record),
) -> Result<Diagnostics, Failure> {
    if path.is_dir() {
        return Err(Failure::input(format!("{} is a directory", path.display())));
    }
    let (kind, _) = recognise(reader, path)?;
    read_as(kind, reader, path, each)
}

/// What kind of log it is, and how it begins.
fn recognise(reader: &mut dyn BufRead, path: &Path) -> Result<(jobs::JobLogKind, String), Failure> {
    let unreadable = |e| Failure::input(format!("cannot read {}: {e}", path.display()));
    let head = String::from_utf8_lossy(reader.fill_buf().map_err(unreadable)?).into_owned();
    let kind = jobs::detect(&head).ok_or_else(|| {
        let known: Vec<&str> = jobs::JobLogKind::ALL.iter().map(|k| k.describe()).collect();
        Failure::input(format!("{}: this is like no list of jobs known", path.display()))
            .hint(format!("there are {}", known.join(", ")))
    })?;
    Ok((kind, head))
}

/// Reads a log of a known kind.
fn read_as(
    kind: jobs::JobLogKind,
    reader: &mut dyn BufRead,
    path: &Path,
    each: &mut dyn FnMut(Record),
) -> Result<Diagnostics, Failure> {
    Ok(jobs::read(kind, reader, path, each)?)
}
