//! Logs and lists of jobs, recognised by content.

use std::io::{BufRead, BufReader};
use std::path::Path;

use darkfiber_formats::jobs::{self, JobLog, Record, swf};
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
    let (log, head) = recognise(&mut reader, path)?;
    let header = if *log == swf::LOG { swf::header(&head) } else { swf::Header::default() };
    let shift = header.unix_start.unwrap_or(0);
    let mut shifted = |mut record: Record| {
        for time in [&mut record.submit, &mut record.start, &mut record.end] {
            *time = time.map(|t| t.saturating_add(shift));
        }
        each(record);
    };
    let found = (log.read)(&mut reader, path, &mut shifted)?;
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
    let (log, _) = recognise(reader, path)?;
    Ok((log.read)(reader, path, each)?)
}

/// What kind of log it is, and how it begins.
fn recognise(reader: &mut dyn BufRead, path: &Path) -> Result<(&'static JobLog, String), Failure> {
    let unreadable = |e| Failure::input(format!("cannot read {}: {e}", path.display()));
    let head = String::from_utf8_lossy(reader.fill_buf().map_err(unreadable)?).into_owned();
    let log = jobs::detect(&head).ok_or_else(|| {
        let known: Vec<&str> = jobs::LOGS.iter().map(|log| log.what).collect();
        Failure::input(format!("{}: unrecognised list of jobs", path.display()))
            .hint(format!("there are {}", known.join(", ")))
    })?;
    Ok((log, head))
}
