//! Lists of jobs in JSON: one object, which has them in a list.

use std::io::BufRead;
use std::path::Path;

use serde_json::Value;

use super::lines::Remarks;
use super::record::Record;
use darkfiber_formats::{Diagnostics, ReadError};

/// Makes a job of an entry, whose place from 1 is given; or says in a word or two what it lacks.
pub(super) type Job = fn(&Value, usize, &mut Remarks) -> Result<Record, &'static str>;

/// Reads a text of JSON as a whole.
///
/// # Errors
/// If it is not JSON.
pub(super) fn value(
    reader: &mut dyn BufRead,
    path: &Path,
    expected: &str,
) -> Result<Value, ReadError> {
    let mut bytes = Vec::new();
    reader
        .read_to_end(&mut bytes)
        .map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    serde_json::from_slice(text)
        .map_err(|e| ReadError::not_such(path, format!("it is not JSON: {e}"), expected, ""))
}

/// Reads the jobs of the list under a key, or of one that stands alone. It is taken into memory as a whole. Lines of diagnostics
/// are 0; they name the place in the list instead.
///
/// # Errors
/// If it is not JSON, or has no such list, or none of its entries is a job.
pub(super) fn read_list(
    reader: &mut dyn BufRead,
    (path, expected, key): (&Path, &str, &str),
    job: Job,
    each: &mut dyn FnMut(Record),
) -> Result<Diagnostics, ReadError> {
    let value = value(reader, path, expected)?;
    let Some(jobs) = value.get(key).unwrap_or(&value).as_array() else {
        return Err(ReadError::not_such(path, format!("it holds no list '{key}'"), expected, ""));
    };
    let mut remarks = Remarks::default();
    let mut read = 0;
    for (i, value) in jobs.iter().enumerate() {
        match job(value, i + 1, &mut remarks) {
            Ok(record) => {
                read += 1;
                each(record);
            }
            Err(lacks) => {
                remarks.left_out(0, format!("entry {} has no {lacks}", i + 1), "left out");
            }
        }
    }
    remarks.finish(read, path, expected)
}
