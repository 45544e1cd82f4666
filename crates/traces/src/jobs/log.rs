//! The interface of a kind of log, and the frame of those that are read line by line.

use std::io::BufRead;
use std::path::Path;

use super::heterogeneous::Together;
use super::lines::{Lines, Remarks};
use super::record::Record;
use darkfiber_formats::known_by::{KnownBy, Recognizable};
use darkfiber_formats::{Diagnostics, ReadError};

/// The form of all readers: jobs go to the closure, in the order of the log where a reader does not say otherwise.
pub type ReadJobs =
    fn(&mut dyn BufRead, &Path, &mut dyn FnMut(Record)) -> Result<Diagnostics, ReadError>;

/// A kind of log, as its own file defines it and [`LOGS`](super::LOGS) lists it.
#[derive(Clone, Copy, Debug)]
pub struct JobLog {
    /// The name that users write.
    pub name: &'static str,
    /// Description of such a log, for messages and lists.
    pub what: &'static str,
    /// Its marks, any of which is enough.
    pub known_by: &'static [KnownBy],
    /// Reads its entries; fails if it is not such a log, or the system refuses.
    pub(super) read: ReadJobs,
}

impl JobLog {
    /// Reads the jobs of a log; components of heterogeneous jobs are one, and come last.
    ///
    /// # Errors
    /// If it is not such a log, or the system refuses.
    pub fn jobs(
        &self,
        reader: &mut dyn BufRead,
        path: &Path,
        each: &mut dyn FnMut(Record),
    ) -> Result<Diagnostics, ReadError> {
        let mut together = Together::new(each);
        let found = (self.read)(reader, path, &mut |record| together.take(record))?;
        together.end();
        Ok(found)
    }
}

darkfiber_fabric::named!(JobLog, eq);

impl Recognizable for JobLog {
    fn known_by(&self) -> &[KnownBy] {
        self.known_by
    }
}

/// A parser that makes jobs of the lines of a log.
pub(super) trait ByLine: Default {
    /// Expected content, for errors.
    const EXPECTED: &'static str;

    /// Takes a line without its end.
    fn line(&mut self, line: &str, jobs: &mut Jobs<'_>);

    /// Takes the end of the log.
    fn end(&mut self, _jobs: &mut Jobs<'_>) {}
}

/// The consumer of jobs, and the remarks on lines.
pub(super) struct Jobs<'e> {
    /// Number of the line that is read, from 1.
    pub(super) number: usize,
    pub(super) remarks: Remarks,
    each: &'e mut dyn FnMut(Record),
    /// Lines and blocks that were understood.
    understood: usize,
    refused: Option<String>,
}

impl Jobs<'_> {
    /// A job was read.
    pub(super) fn give(&mut self, record: Record) {
        self.understood += 1;
        (self.each)(record);
    }

    /// As many parts of jobs were understood, and passed over.
    pub(super) fn pass(&mut self, parts: usize) {
        self.understood += parts;
    }

    /// This line was left out. `hint` is the kind of the remark.
    pub(super) fn left_out(&mut self, what: impl Into<String>, hint: &'static str) {
        self.remarks.left_out(self.number, what, hint);
    }

    /// This is no such log.
    pub(super) fn refuse(&mut self, what: String) {
        self.refused = Some(what);
    }
}

/// Reads a log line by line.
///
/// # Errors
/// If there are lines but nothing of such a log, or the operating system reports an error.
pub(super) fn by_line<R: ByLine>(
    reader: &mut dyn BufRead,
    path: &Path,
    each: &mut dyn FnMut(Record),
) -> Result<Diagnostics, ReadError> {
    let mut lines = Lines::new(reader, path);
    let remarks = Remarks::default();
    let mut jobs = Jobs { number: 0, remarks, each, understood: 0, refused: None };
    let mut log = R::default();
    while let Some(line) = lines.next()? {
        jobs.number = lines.number;
        log.line(&line, &mut jobs);
        if let Some(what) = jobs.refused.take() {
            return Err(ReadError::not_such(path, what, R::EXPECTED, ""));
        }
    }
    log.end(&mut jobs);
    jobs.remarks.finish(jobs.understood, path, R::EXPECTED)
}
