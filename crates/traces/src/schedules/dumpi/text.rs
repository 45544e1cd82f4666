//! Records as dumpi2ascii prints them.
//!
//! ```text
//! MPI_Send entering at walltime 11771.007, cputime 0.2 seconds in thread 0.
//! int count=100
//! MPI_Datatype datatype=9 (MPI_INT)
//! MPI_Send returning at walltime 11771.008, cputime 0.2 seconds in thread 0.
//! ```

use std::path::Path;

use super::record::{Record, Status, Value};
use super::sizes::{EXPECTED, Sizes};
use darkfiber_formats::ReadError;

/// The name of a call in the line of its beginning or end, and the time there.
fn border<'a>(line: &'a str, word: &str) -> Option<(&'a str, Option<i64>)> {
    let (name, rest) = line.split_once(word)?;
    let name = name.trim().strip_prefix("MPI_").or(name.trim().strip_prefix("MPIO_"))?;
    let time = rest.trim_start().strip_prefix("at walltime ")?.split(',').next()?;
    let (seconds, fraction) = time.trim().split_once('.')?;
    let nanoseconds = fraction.get(..9.min(fraction.len()))?;
    let scale = 10i64.checked_pow(9 - nanoseconds.len() as u32)?;
    let time = seconds.parse::<i64>().ok().and_then(|s| {
        let n = nanoseconds.parse::<i64>().ok()?.checked_mul(scale)?;
        s.checked_mul(1_000_000_000)?.checked_add(n)
    });
    Some((name, time))
}

/// Whether a text has a call in its first lines.
pub(super) fn is_first(text: &str) -> bool {
    text.lines().take(400).any(|l| border(l, " entering ").is_some())
}

fn value(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.contains("<IGNORED>") {
        return Some(Value::List(Vec::new()));
    }
    let Some(inner) = text.strip_prefix('[') else {
        return text.split_whitespace().next()?.parse().ok().map(Value::Number);
    };
    let inner = inner.strip_suffix(']')?;
    if inner.contains('{') {
        let mut all = Vec::new();
        for status in inner.split('{').skip(1) {
            let (body, _) = status.split_once('}')?;
            let get = |name: &str| {
                let entry = body.split(',').find_map(|e| e.trim().strip_prefix(name))?;
                entry.strip_prefix('=')?.parse::<i64>().ok()
            };
            all.push(Status { source: get("source")?, tag: get("tag")? });
        }
        return Some(Value::Statuses(all));
    }
    // Datatypes are followed by their names in parentheses.
    let entries = inner
        .split(',')
        .map(|e| e.split_whitespace().next())
        .filter(|e| !inner.is_empty() || e.is_some());
    entries.map(|e| e?.parse().ok()).collect::<Option<Vec<i64>>>().map(Value::List)
}

/// Passes every call to `each`, and the recorded sizes of datatypes.
pub(super) fn read(
    text: &str,
    path: &Path,
    each: &mut dyn FnMut(&Record, &Sizes) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let fail = |line: usize, what: String| {
        let what = format!("line {line}: {what}");
        ReadError::not_such(path, what, EXPECTED, "is the file cut off or damaged?")
    };
    // They come last.
    let mut sizes = Sizes::default();
    for rest in text.lines().filter_map(|l| l.strip_prefix("Datatype ")) {
        let words: Vec<&str> = rest.split_whitespace().collect();
        if let [datatype, .., size] = words.as_slice()
            && let (Ok(datatype), Ok(size)) = (datatype.parse(), size.parse())
        {
            sizes.set(datatype, size);
        }
    }
    let mut open: Option<(Record, Option<i64>)> = None;
    let mut number = 0;
    for line in text.lines() {
        number += 1;
        if let Some((name, time)) = border(line, " entering ") {
            if let Some((before, _)) = &open {
                return Err(fail(number, format!("MPI_{} has no end", before.name)));
            }
            let place = format!("line {number}");
            open = Some((Record { name: name.to_owned(), place, ..Record::default() }, time));
        } else if let Some((name, time)) = border(line, " returning ") {
            match open.take() {
                Some((mut record, start)) if record.name == name => {
                    record.times = start.zip(time);
                    each(&record, &sizes)?;
                }
                _ => return Err(fail(number, format!("MPI_{name} ends, but did not begin"))),
            }
        } else if let Some((record, _)) = &mut open {
            let Some((left, right)) = line.split_once('=') else { continue };
            let name = left.split_whitespace().last().unwrap_or("");
            let name = name.split('[').next().unwrap_or(name);
            if left.starts_with("string") || line.starts_with("Perfcounters") {
                continue;
            }
            // Arguments that do not matter may be printed in other forms.
            if let Some(value) = value(right) {
                record.arguments.push((name.to_owned(), value));
            }
        }
    }
    match open {
        Some((record, _)) => Err(fail(number, format!("MPI_{} has no end", record.name))),
        None => Ok(()),
    }
}
