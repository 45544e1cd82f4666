//! Logs and lists of jobs, and their irregularities.

use std::path::Path;

use darkfiber_traces::jobs::{self, Record, swf};

use crate::failure::Failure;
use crate::options::Common;
use crate::out;

/// Reads a log; if it has a header with its start, its times become Unix times. Returns its header, and its first line that was left
/// out, if there is one; 0 is an entry of a list without lines.
pub(crate) fn read(
    path: &Path,
    common: &Common,
    each: &mut dyn FnMut(Record),
) -> Result<(swf::Header, Option<usize>), Failure> {
    let (header, found) = jobs::read(path, each)?;
    out::diagnostics(&path.display().to_string(), &found, common);
    let left_out = found.0.iter().find(|d| d.left_out).map(|d| d.line);
    Ok((header, left_out))
}
