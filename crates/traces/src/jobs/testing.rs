//! Helpers that read the inputs of the tests of this module.

use std::fmt::Write as _;
use std::path::Path;

use super::{ReadJobs, Record};

/// All jobs of a text and its diagnostics, a line each; or the error.
pub(super) fn all(read: ReadJobs, text: &str) -> (Vec<Record>, String) {
    let mut jobs = Vec::new();
    let messages = match read(&mut text.as_bytes(), Path::new("log"), &mut |job| jobs.push(job)) {
        Ok(found) => found.0.iter().fold(String::new(), |text, d| text + &format!("{d}\n")),
        Err(e) => format!("{e}\n"),
    };
    (jobs, messages)
}

/// The only job of a text that has no diagnostics.
pub(super) fn one(read: ReadJobs, text: &str) -> Record {
    let (mut jobs, messages) = all(read, text);
    assert_eq!((jobs.len(), messages.as_str()), (1, ""));
    jobs.remove(0)
}

/// Jobs in short, a line each: id, state, start and end, nodes.
pub(super) fn short(jobs: &[Record]) -> String {
    let time = |t: Option<i64>| t.map_or_else(|| "?".to_owned(), |t| t.to_string());
    let nodes =
        |n: &Option<Vec<String>>| n.as_ref().map_or_else(|| "?".to_owned(), |n| n.join("+"));
    let mut text = String::new();
    for j in jobs {
        let _ = writeln!(
            text,
            "{}: {} {:?} {}..{} on {}, {:?} {:?}, {:?} {:?}",
            j.line,
            j.id,
            j.state,
            time(j.start),
            time(j.end),
            nodes(&j.nodes),
            j.node_count,
            j.processors,
            j.user.as_deref().unwrap_or("?"),
            j.partition.as_deref().unwrap_or("?"),
        );
    }
    text
}
