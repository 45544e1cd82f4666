//! Text reports of mpiP: the nodes of tasks, their time in MPI, the traffic of each call site.
//!
//! A report is a list of `@ name : value`, then sections `@--- title ---` with tables whose last columns are numbers;
//! names may hold blanks. Read are the tasks' nodes, *MPI Time*, *Callsites*, *Callsite Message Sent statistics* and, of
//! reports that have one, the communication matrix (`source target bytes messages` of all pairs; the entry of a task
//! with itself is the sum of its row and left out). The aggregate tables follow from these and are ignored, as are
//! times by call site.

use std::path::Path;

use darkfiber_workload::CommMatrix;

pub use super::mpip_report::{Report, Site, TaskTraffic};
use super::run::{Read, ReadBy, ScheduleFormat};
use super::values::{MOST_RANKS, whole};
use darkfiber_formats::{Diagnostics, ReadError, input};

/// The entry of this format.
pub const FORMAT: ScheduleFormat = ScheduleFormat {
    name: "mpip",
    what: "a report of mpiP",
    is_such: |h| is_first(&h.lines),
    read: ReadBy::Run(|f| {
        read(&input::text(&f.bytes), &f.path).map(|(report, d)| (Read::Report(report), d))
    }),
};

/// Whether a text begins like a report.
fn is_first(text: &str) -> bool {
    text.trim_start().starts_with("@ mpiP")
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    Other,
    Time,
    Sites,
    Sent,
    Matrix,
}

/// Reads a report.
///
/// # Errors
/// If a line of a table cannot be understood, or the report has no end.
pub fn read(text: &str, path: &Path) -> Result<(Report, Diagnostics), ReadError> {
    let fail = |line: usize, what: String, hint: &str| {
        ReadError::not_such(path, format!("line {line}: {what}"), FORMAT.what, hint)
    };
    if !is_first(text) {
        return Err(fail(1, "the first line is not `@ mpiP`".to_owned(), ""));
    }
    let mut report = Report::default();
    let mut section = Section::Other;
    let mut pairs = Vec::new();
    let mut ended = false;
    for (i, line) in text.lines().enumerate() {
        let number = i + 1;
        let odd = || {
            let what = format!("not a line of this table: {}", darkfiber_formats::excerpt(line));
            fail(number, what, "is the report damaged?")
        };
        // A line that begins or ends a part.
        if let Some(title) = line.strip_prefix("@---") {
            let title = title.trim();
            section = match () {
                () if title.starts_with("MPI Time") => Section::Time,
                () if title.starts_with("Callsites") => Section::Sites,
                () if title.starts_with("Callsite Message Sent") => Section::Sent,
                () => Section::Other,
            };
            ended |= title.starts_with("End of Report");
            continue;
        }
        if line.starts_with("---") {
            if line.contains("Start Communication Matrix") {
                section = Section::Matrix;
            } else if line.contains("End Communication Matrix") {
                section = Section::Other;
                report.matrix = Some(CommMatrix::default());
            }
            continue;
        }
        // Facts of the whole run.
        if let Some(entry) = line.strip_prefix("@ ") {
            let Some((name, value)) = entry.split_once(':') else { continue };
            match name.trim() {
                "Command" => value.trim().clone_into(&mut report.command),
                "MPI Task Assignment" => {
                    let mut words = value.split_whitespace();
                    let task: Option<usize> = words.next().and_then(|w| w.parse().ok());
                    match (task, words.next()) {
                        (Some(task), Some(node)) if task == report.nodes.len() => {
                            report.nodes.push(node.to_owned());
                        }
                        _ => return Err(odd()),
                    }
                }
                _ => {}
            }
            continue;
        }
        // A row of the table of the part.
        let words: Vec<&str> = line.split_whitespace().collect();
        match (section, words.as_slice()) {
            // Sums over all tasks, and headings.
            (Section::Other, _)
            | (_, [])
            | (Section::Time, ["*" | "Task", ..])
            | (Section::Sites, ["ID", ..])
            | (Section::Sent, ["Name", ..] | [_, _, "*", ..])
            | (Section::Matrix, ["Statistics" | "Source", ..]) => {}
            (Section::Time, [task, program, mpi, ..]) => {
                match (task.parse::<usize>(), program.parse(), mpi.parse()) {
                    (Ok(task), Ok(program), Ok(mpi)) if task == report.times.len() => {
                        report.times.push((program, mpi));
                    }
                    _ => return Err(odd()),
                }
            }
            (Section::Sites, [id, _level, place @ .., call]) => {
                let id = id.parse().map_err(|_| odd())?;
                report.sites.push(Site { id, place: place.join(" "), call: (*call).to_owned() });
            }
            (Section::Sent, [call, site, rank, count, _, mean, _, sum]) => {
                match (site.parse(), rank.parse(), count.parse(), mean.parse(), sum.parse()) {
                    (Ok(site), Ok(rank), Ok(count), Ok(mean), Ok(sum)) => {
                        report.sent.push(TaskTraffic {
                            call: (*call).to_owned(),
                            site,
                            rank,
                            count,
                            mean,
                            sum,
                        });
                    }
                    _ => return Err(odd()),
                }
            }
            (Section::Matrix, [from, to, bytes, _messages]) => {
                match (from.parse::<u32>(), to.parse::<u32>(), whole(bytes)) {
                    (Ok(from), Ok(to), Some(bytes)) if from.max(to) < MOST_RANKS => {
                        if from != to {
                            pairs.push((from, to, bytes));
                        }
                    }
                    _ => return Err(odd()),
                }
            }
            _ => return Err(odd()),
        }
    }
    // Whether all was there, and the matrix of all pairs.
    if !ended {
        return Err(fail(
            text.lines().count(),
            "the report has no end".to_owned(),
            "is the file cut off?",
        ));
    }
    if report.matrix.is_some() {
        let most = pairs.iter().map(|p| p.0.max(p.1) + 1).max().unwrap_or(0);
        let mut matrix = CommMatrix::new(most.max(report.nodes.len() as u32));
        for (from, to, bytes) in pairs {
            matrix.add(from, to, bytes);
        }
        matrix.merge();
        report.matrix = Some(matrix);
    }
    Ok((report, Diagnostics::default()))
}
