//! Jobs of logs and queues: their nodes, and when they ran.
//!
//! All readers have one form: lines from a [`BufRead`](std::io::BufRead), jobs to a closure one by one, so that logs of gigabytes need
//! no memory (JSON does, and PBS keeps the running jobs). Errors in a line are reported in
//! [`Diagnostics`](darkfiber_formats::Diagnostics) and the line is left out or guessed; of each kind of remark the first twenty lines are
//! named and the others counted. A reader fails only on "this is not such a file", or if the operating system reports an error.
//!
//! | [`LOGS`] | says nodes | times |
//! |---|---|---|
//! | [`squeue`], [`scontrol`], [`slurmrestd`] | yes | Unix; dates without a zone as UTC |
//! | [`sacct`] | yes | the same |
//! | [`pbs`], [`pbs_json`] | yes | Unix; dates as UTC |
//! | [`flux`] | yes | Unix |
//! | [`lsf`] | yes | none |
//! | [`batsim`] | yes, numbers | from the beginning of the run |
//! | [`swf`] | only extended | from the beginning of the log |
//! | [`pairs`] | yes | none |

pub mod batsim;
mod columns;
pub mod flux;
mod heterogeneous;
mod json;
mod lines;
mod log;
pub mod lsf;
pub mod pairs;
pub mod pbs;
pub mod pbs_json;
mod read;
mod record;
pub mod sacct;
pub mod scontrol;
pub mod slurmrestd;
pub mod squeue;
pub mod swf;
mod table;
#[cfg(test)]
mod testing;

use std::path::Path;

use darkfiber_fabric::Registry;

use darkfiber_formats::known_by::recognise;

pub use log::{JobLog, ReadJobs};
pub use read::{read, read_from};
pub use record::{Record, State};

/// All kinds of logs. If two match the same log, the first is taken.
pub static LOGS: Registry<JobLog> = Registry::new(
    "list of jobs",
    &[
        flux::LOG,
        lsf::LOG,
        pbs_json::LOG,
        slurmrestd::LOG,
        scontrol::LOG,
        pbs::LOG,
        batsim::LOG,
        swf::LOG,
        squeue::LOG,
        sacct::LOG,
        pairs::LOG,
    ],
);

/// Detects the kind of a log from its first lines alone; a few kilobytes are enough, and the last line may be cut
/// off. `None` if the format is unrecognised. Lines of two words are pairs only if all are.
pub fn detect(first_lines: &str) -> Option<&'static JobLog> {
    let (log, _) = recognise(&LOGS, first_lines, Path::new(""))?;
    // Lines of JSON may look like those of other logs.
    let body = first_lines.trim_start_matches('\u{feff}').trim_start();
    (!body.starts_with(['{', '['])
        || [flux::LOG, lsf::LOG, pbs_json::LOG, slurmrestd::LOG].contains(log))
    .then_some(log)
}
