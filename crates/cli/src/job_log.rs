//! Logs and lists of jobs, and their irregularities.

use std::path::Path;

use darkfiber_traces::jobs::{self, Record, swf};

use crate::failure::Failure;
use crate::options::Common;
use crate::out;

/// Reads a log; if it has a header with its start, its times become Unix times.
pub(crate) fn read(
    path: &Path,
    common: &Common,
    each: &mut dyn FnMut(Record),
) -> Result<swf::Header, Failure> {
    let (header, found) = jobs::read(path, each)?;
    out::diagnostics(&path.display().to_string(), &found, common);
    Ok(header)
}
