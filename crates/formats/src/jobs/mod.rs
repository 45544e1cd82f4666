//! Who runs where, and when: the jobs of logs and queues.
//!
//! All readers have one form: lines from a [`BufRead`], jobs to a closure one by one, so that logs of
//! gigabytes need no memory (JSON does, and PBS keeps the jobs under way). What is wrong in a line is told in
//! [`Diagnostics`] and left out or guessed; of each kind of remark the first twenty lines are named and the others
//! counted. A reader fails only on "this is not such a file", or if the system refuses.
//!
//! | [`JobLogKind`] | says nodes | times |
//! |---|---|---|
//! | [`squeue`], [`scontrol`], [`slurmrestd`] | yes | Unix; dates without a zone as UTC |
//! | [`sacct`] | yes | the same |
//! | [`pbs`] | yes | Unix; dates as UTC |
//! | [`batsim`] | yes, numbers | from the beginning of the run |
//! | [`swf`] | only extended | from the beginning of the log |
//! | [`pairs`] | yes | none |

pub mod batsim;
mod columns;
pub mod hostlist;
mod lines;
pub mod pairs;
pub mod pbs;
mod record;
pub mod sacct;
pub mod scontrol;
pub mod slurmrestd;
pub mod squeue;
pub mod swf;
mod table;
#[cfg(test)]
mod testing;

use std::io::BufRead;
use std::path::Path;

pub use record::{Record, State};

use crate::{Diagnostics, ReadError};

/// Kinds of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JobLogKind {
    /// Text of `squeue`, or lists `id,state`.
    Squeue,
    /// Text of `scontrol show job`.
    Scontrol,
    /// `sacct -P`.
    Sacct,
    /// JSON of slurmrestd, `squeue`, `scontrol` or `sacct`.
    Slurmrestd,
    /// Accounting log of PBS, or `qstat -f`.
    Pbs,
    /// CSV of Batsim or OAR.
    Batsim,
    /// Standard Workload Format.
    Swf,
    /// A node and a job a line.
    Pairs,
}

impl JobLogKind {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Squeue,
        Self::Scontrol,
        Self::Sacct,
        Self::Slurmrestd,
        Self::Pbs,
        Self::Batsim,
        Self::Swf,
        Self::Pairs,
    ];

    /// What it is, for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Squeue => "output of `squeue`",
            Self::Scontrol => "output of `scontrol show job`",
            Self::Sacct => "output of `sacct -P`",
            Self::Slurmrestd => "jobs of SLURM in JSON",
            Self::Pbs => "an accounting log of PBS or output of `qstat -f`",
            Self::Batsim => "job results of Batsim or OAR",
            Self::Swf => "a log in Standard Workload Format",
            Self::Pairs => "pairs of a node and a job",
        }
    }
}

/// What kind of log begins like this, by its content alone; a few kilobytes are enough, and the last line may be cut
/// off. `None` if it is like nothing known. Lines of two words are pairs only if all are.
pub fn detect(first_lines: &str) -> Option<JobLogKind> {
    let body = first_lines.trim_start_matches('\u{feff}');
    if body.trim_start().starts_with(['{', '[']) {
        return body.contains("\"job").then_some(JobLogKind::Slurmrestd);
    }
    let lines = || body.lines().filter(|l| !l.trim().is_empty());
    let kind_of = |line: &str| {
        if scontrol::is_first_line(line) {
            Some(JobLogKind::Scontrol)
        } else if pbs::is_accounting(line) || pbs::is_block(line) {
            Some(JobLogKind::Pbs)
        } else if batsim::is_header(line) {
            Some(JobLogKind::Batsim)
        } else if swf::is_line(line) {
            Some(JobLogKind::Swf)
        } else if squeue::is_first_line(line) && !line.contains("JobID") {
            Some(JobLogKind::Squeue)
        } else if sacct::is_first_line(line) {
            Some(JobLogKind::Sacct)
        } else {
            None
        }
    };
    if let Some(kind) = lines().take(400).find_map(kind_of) {
        return Some(kind);
    }
    let header = swf::header(body);
    if header != swf::Header::default() && lines().all(|l| l.trim_start().starts_with(';')) {
        return Some(JobLogKind::Swf);
    }
    let whole = body.rfind('\n').map_or(body, |end| &body[..end]);
    let mut pairs = whole
        .lines()
        .map(|l| l.split('#').next().unwrap_or("").trim())
        .filter(|l| !l.is_empty())
        .peekable();
    let is_pair = |l: &str| l.split_whitespace().count() == 2 && !l.contains(['=', '<', ':']);
    (pairs.peek().is_some() && pairs.all(is_pair)).then_some(JobLogKind::Pairs)
}

/// Reads a log of a known kind; jobs go to `each`, in the order of the log where its reader does not say otherwise.
///
/// # Errors
/// If it is not such a file, or the system refuses.
pub fn read(
    kind: JobLogKind,
    reader: &mut dyn BufRead,
    path: &Path,
    each: &mut dyn FnMut(Record),
) -> Result<Diagnostics, ReadError> {
    match kind {
        JobLogKind::Squeue => squeue::read(reader, path, each),
        JobLogKind::Scontrol => scontrol::read(reader, path, each),
        JobLogKind::Sacct => sacct::read(reader, path, each),
        JobLogKind::Slurmrestd => slurmrestd::read(reader, path, each),
        JobLogKind::Pbs => pbs::read(reader, path, each),
        JobLogKind::Batsim => batsim::read(reader, path, each),
        JobLogKind::Swf => swf::read(reader, path, each),
        JobLogKind::Pairs => pairs::read(reader, path, each),
    }
}
