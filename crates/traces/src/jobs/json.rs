//! Lists of jobs in JSON: one object, which has them in a list.

use std::io::BufRead;
use std::path::Path;

use serde_json::Value;

use super::lines::{Remarks, shown};
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

/// Refuses the answer of a batch system that could not give one: SLURM's has an empty list of jobs beside its errors.
fn refuse_error(value: &Value, path: &Path, expected: &str) -> Result<(), ReadError> {
    // Nothing at all, and that nothing was found, are no failures.
    const FINE: [i64; 2] = [0, 9003];
    let number = |error: &&Value| error.get("error_number").and_then(Value::as_i64);
    let is_failure = |error: &&Value| number(error).is_none_or(|n| !FINE.contains(&n));
    let errors = value.get("errors").and_then(Value::as_array);
    let Some(first) = errors.into_iter().flatten().find(is_failure) else { return Ok(()) };
    let texts = ["description", "error"].iter().filter_map(|key| first.get(key)?.as_str());
    let said = texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ");
    let said = if said.is_empty() { first.to_string() } else { said };
    let what = format!("it is the answer of a batch system that failed: '{}'", shown(&said));
    Err(ReadError::not_such(path, what, expected, "ask for it again"))
}

/// Reads the jobs of the list under a key, or of one that stands alone, or one job. It is taken into memory as a whole. Lines of
/// diagnostics are 0; they name the place in the list instead.
///
/// # Errors
/// If it is not JSON, or has no such list, or none of its entries is a job, or it says that the batch system failed.
pub(super) fn read_list(
    reader: &mut dyn BufRead,
    (path, expected, key): (&Path, &str, &str),
    job: Job,
    each: &mut dyn FnMut(Record),
) -> Result<Diagnostics, ReadError> {
    let value = value(reader, path, expected)?;
    refuse_error(&value, path, expected)?;
    let jobs = match value.get(key).unwrap_or(&value).as_array() {
        Some(jobs) => jobs.as_slice(),
        // A job that was asked for by its id stands alone.
        None if job(&value, 1, &mut Remarks::default()).is_ok() => std::slice::from_ref(&value),
        None => {
            let what = format!("it holds no list '{key}'");
            return Err(ReadError::not_such(path, what, expected, ""));
        }
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
