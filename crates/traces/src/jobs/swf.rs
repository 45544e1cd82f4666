//! The Standard Workload Format of the Parallel Workloads Archive.
//!
//! A line has 18 numbers (job, submit, wait, run time, processors, ..., processors requested, ..., status, user,
//! ..., queue, partition, ...); -1 is unknown; `;` begins a comment, of which the first hold `Key: value`. Times
//! are seconds since the beginning of the log, given by [`Header::unix_start`]. Cleaned logs have gaps in
//! their job numbers. Some logs append fields: in that of CERIT-SC (Klusáček) field 19 is
//! `{node,node,...}`, one entry a processor, and field 20 a queue's name; its times are Unix times.
//!
//! Source: Chapin et al., "Benchmarks and Standards for the Evaluation of Parallel Job Schedulers" (1999);
//! the archive's description of version 2.2.

use super::lines::{Remarks, shown};
use super::log::{ByLine, JobLog, Jobs, by_line};
use super::record::{Record, State, leading, number, unique};
use darkfiber_formats::counted;
use darkfiber_formats::known_by::KnownBy;

/// The header comments of a log; any key may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Unix time of second 0.
    pub unix_start: Option<i64>,
    /// Nodes of the machine.
    pub max_nodes: Option<u32>,
    /// Processors of the machine.
    pub max_procs: Option<u32>,
    /// Name of the machine.
    pub computer: Option<String>,
}

/// Reads the header from the first lines of a log.
pub fn header(first_lines: &str) -> Header {
    let mut header = Header::default();
    for line in first_lines.lines().filter_map(|l| l.trim_start().strip_prefix(';')) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "unixstarttime" => header.unix_start = header.unix_start.or(value.parse().ok()),
            "maxnodes" => header.max_nodes = header.max_nodes.or(leading(value)),
            "maxprocs" => header.max_procs = header.max_procs.or(leading(value)),
            "computer" if !value.is_empty() => {
                header.computer.get_or_insert_with(|| value.to_owned());
            }
            _ => {}
        }
    }
    header
}

/// The registry entry of this format.
///
/// A job without a wait time is assumed to have started when it was submitted, and one that ran without processors to
/// have those that it requested; both are counted. Partial runs (status 2, 3, 4) after the summary of their job are
/// skipped.
pub const LOG: JobLog = JobLog {
    name: "swf",
    what: "a log in Standard Workload Format",
    known_by: &[KnownBy::Line(is_line), KnownBy::Whole(is_header_alone)],
    read: by_line::<Swf>,
};

/// Whether a text begins with a header, and goes no further.
fn is_header_alone(text: &str) -> Option<usize> {
    let mut lines = text.lines().filter(|l| !l.trim().is_empty());
    let comments = lines.all(|l| l.trim_start().starts_with(';'));
    (comments && header(text) != Header::default()).then_some(1)
}

#[derive(Default)]
struct Swf {
    guesses: Guesses,
    /// Partial runs that were passed over.
    parts: usize,
    /// The id of the last job.
    last: String,
}

impl ByLine for Swf {
    const EXPECTED: &'static str = LOG.what;

    fn line(&mut self, line: &str, jobs: &mut Jobs<'_>) {
        let text = line.trim();
        if text.is_empty() || text.starts_with(';') {
            return;
        }
        match job(text, jobs.number, &mut self.guesses, &mut jobs.remarks) {
            Ok((record, true)) if record.id == self.last => self.parts += 1,
            Ok((record, _)) => {
                self.last.clone_from(&record.id);
                jobs.give(record);
            }
            Err(what) => jobs.left_out(
                what,
                "expected at least 11 numbers of the Standard Workload Format; left out",
            ),
        }
    }

    fn end(&mut self, jobs: &mut Jobs<'_>) {
        let Guesses { wait, processors } = self.guesses;
        let fate = "reported with the whole job; skipped";
        jobs.remarks.note_count(self.parts, "partial run", "partial runs", fate);
        jobs.remarks.warn_count(
            wait,
            "job has no wait time",
            "jobs have no wait time",
            "taken to start when submitted",
        );
        jobs.remarks.warn_count(
            processors,
            "job has no processors",
            "jobs have no processors",
            "those requested are taken",
        );
    }
}

#[derive(Clone, Copy, Default)]
struct Guesses {
    wait: usize,
    processors: usize,
}

/// Whether a line is like one of such a log.
fn is_line(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.len() >= 18 && words[..18].iter().all(|w| number(w).is_some())
}

/// The job of a line, and whether it is part of one.
fn job(
    text: &str,
    line: usize,
    guesses: &mut Guesses,
    remarks: &mut Remarks,
) -> Result<(Record, bool), String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() < 11 {
        return Err(format!("{} in '{}'", counted(words.len(), "word", "words"), shown(text)));
    }
    let mut field = [-1i64; 18];
    for (i, (value, word)) in field.iter_mut().zip(&words).enumerate() {
        let found = number(word);
        // The last two, the job before and the time until this one, are not used; some logs have lists there.
        if found.is_none() && i < 16 {
            return Err(format!("'{}' is not a number", shown(word)));
        }
        *value = found.unwrap_or(-1);
    }
    for (i, what) in [(2, "submit time"), (3, "wait time"), (4, "run time")] {
        if field[i - 1] < -1 {
            let what = format!("{what} {}", field[i - 1]);
            remarks.warn(line, what, "below zero; taken as unknown");
        }
    }
    let known = |i: usize| Some(field[i - 1]).filter(|&v| v >= 0);
    let count = |i: usize| known(i).filter(|&v| v > 0).and_then(|v| u32::try_from(v).ok());
    let (submit, wait, run, status) = (known(2), known(3), known(4), field[10]);
    // A job cancelled in the queue has neither run time nor processors.
    let never = status == 5 && run.is_none_or(|r| r == 0);
    let began = match (submit, wait) {
        (Some(s), Some(w)) => s.checked_add(w),
        (Some(s), None) if run.is_some() && !never => {
            guesses.wait += 1;
            Some(s)
        }
        _ => None,
    };
    let end = if never { began } else { began.zip(run).and_then(|(b, r)| b.checked_add(r)) };
    let mut processors = count(5);
    if processors.is_none() && !never && count(8).is_some() {
        guesses.processors += 1;
        processors = count(8);
    }
    let nodes = words
        .get(18)
        .and_then(|w| w.strip_prefix('{'))
        .map(|w| node_list(w, line, count(5), remarks));
    let state =
        if matches!(status, 0..=5) || run.is_some() { State::Completed } else { State::Unknown };
    let text_of = |i: usize| known(i).map(|v| v.to_string());
    let queue = || nodes.as_ref().and_then(|_| words.get(19)).map(|w| (*w).to_owned());
    let record = Record {
        id: words[0].to_owned(),
        state,
        submit,
        start: began.filter(|_| !never),
        end,
        node_count: nodes.as_ref().map(|n| n.len() as u32),
        processors,
        user: text_of(12),
        partition: queue().or_else(|| text_of(16)),
        nodes,
        line,
    };
    Ok((record, matches!(status, 2..=4)))
}

/// The nodes of `node,node,...}`, each once.
fn node_list(
    word: &str,
    line: usize,
    processors: Option<u32>,
    remarks: &mut Remarks,
) -> Vec<String> {
    if !word.ends_with('}') {
        remarks.warn(line, "the list of nodes has no '}'", "its last node may be cut off");
    }
    let entries: Vec<String> = word
        .trim_end_matches('}')
        .split(',')
        .filter(|n| !n.is_empty())
        .map(str::to_owned)
        .collect();
    if processors.is_some_and(|p| p as usize != entries.len()) {
        remarks.warn(
            line,
            format!(
                "{} processors, but {} in the list of nodes",
                processors.unwrap_or(0),
                entries.len()
            ),
            "the list should have an entry a processor",
        );
    }
    unique(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{all, one, short};

    #[test]
    fn a_job_starts_after_its_wait() {
        let job = one(LOG.read, "7 100 20 300 4 -1 -1 8 -1 -1 1 3 1 -1 2 5 -1 -1\n");
        assert_eq!((job.id.as_str(), job.state, job.line), ("7", State::Completed, 1));
        assert_eq!((job.submit, job.start, job.end), (Some(100), Some(120), Some(420)));
        assert_eq!((job.processors, job.node_count, job.nodes), (Some(4), None, None));
        assert_eq!((job.user.as_deref(), job.partition.as_deref()), (Some("3"), Some("5")));
    }

    #[test]
    fn oddities_are_reported() {
        let text = "; UnixStartTime: 1000\n;\n\n\
            1 100 -1 300 -1 -1 -1 8 -1 -1 0 -1 1 -1 2 5 -1 -1\n\
            2 100 50 0 0 -1 -1 8 -1 -1 5 -1 1 -1 2 5 -1 -1\n\
            2 100 50 9 0 -1 -1 8 -1 -1 2 -1 1 -1 2 5 -1 -1\n\
            5 100 -1 -1 2 -1 -1 8 -1 -1 -1\n\
            x 1 2 3 4 5 6 7 8 9 1\n\
            1 2\n\
            6 1.5 0 2.5 3 -1 -1 3 -1 -1 1 -1 1 -1 2 5 -1 -1 {a,a,b q\n\
            7 9223372036854775807 9223372036854775807 3 1 1 1 1 1 1 1\n";
        let (jobs, messages) = all(LOG.read, text);
        insta::assert_snapshot!(short(&jobs), @r#"
        4: 1 Completed 100..400 on ?, None Some(8), "?" "5"
        5: 2 Completed ?..150 on ?, None None, "?" "5"
        7: 5 Unknown ?..? on ?, None Some(2), "?" "?"
        10: 6 Completed 1..3 on a+b, Some(2) Some(3), "?" "q"
        11: 7 Completed ?..? on ?, None Some(1), "?" "?"
        "#);
        insta::assert_snapshot!(messages, @r"
        line 8: warning: 'x' is not a number (expected at least 11 numbers of the Standard Workload Format; left out)
        line 9: warning: 2 words in '1 2' (expected at least 11 numbers of the Standard Workload Format; left out)
        line 10: warning: the list of nodes has no '}' (its last node may be cut off)
        note: 1 partial run (reported with the whole job; skipped)
        warning: 1 job has no wait time (taken to start when submitted)
        warning: 2 jobs have no processors (those requested are taken)
        ");
        assert_eq!(header(text).unix_start, Some(1000));
    }
}
