//! `sacct -P`: SLURM's accounting, fields between `|`.
//!
//! The first line names the columns, in any order; without it (`-n`) the 26 columns that Open XDMoD requests are
//! assumed. Nothing is escaped: job names may hold `|`, command lines even line breaks, so lines are joined until
//! they have all columns, and surplus fields are assigned to the columns that may hold them.
//!
//! A line is a record: elements of job arrays have separate ones (`4711_3`), those still waiting share one
//! (`4711_[5-9]`). Steps (`4711.batch`, `4711.0`) are parts of their job, and skipped.

use super::columns::is_id;
use super::lines::{is_rule, shown};
use super::log::{ByLine, JobLog, Jobs, by_line};
use super::table::{Between, Row, Table};
use darkfiber_formats::counted;
use darkfiber_formats::known_by::KnownBy;

/// The columns of a file without header: those of Open XDMoD's `sacct` command.
const XDMOD: &str = "JobID|JobIDRaw|Cluster|Partition|QOS|Account|Group|GID|User|UID|Submit|Eligible|\
                     Start|End|Elapsed|ExitCode|State|NNodes|NCPUS|ReqCPUS|ReqMem|ReqTRES|AllocTRES|\
                     Timelimit|NodeList|JobName";

const BETWEEN: Between = Between::Mark('|');

/// Largest row that is put together from lines.
const LONGEST: usize = 1 << 20;

/// The table whose columns a line names.
fn header(line: &str) -> Option<Table> {
    // Rows have numbers and times.
    let plain = |n: &str| n.bytes().all(|b| b.is_ascii_alphanumeric() || b"_%".contains(&b));
    let names = BETWEEN.split(line.trim());
    let named = |n: &&str| n.eq_ignore_ascii_case("JobID") || n.eq_ignore_ascii_case("JobIDRaw");
    if !names.iter().any(named) || !names.iter().all(|n| plain(n)) {
        return None;
    }
    Table::new(&names, BETWEEN).map(Table::of_account)
}

/// Whether this is the first line of such a file.
fn is_first_line(line: &str) -> bool {
    let fields = BETWEEN.split(line);
    (fields.len() >= 2 && header(line).is_some())
        || (fields.len() >= BETWEEN.split(XDMOD).len() && is_id(fields[0]))
}

/// The entry of this format.
pub const LOG: JobLog = JobLog {
    name: "sacct",
    what: "output of `sacct -P`",
    known_by: &[KnownBy::Line(is_first_line)],
    read: by_line::<Sacct>,
};

/// State of the reader.
struct Sacct {
    table: Option<Table>,
    /// A row with missing fields.
    pieces: Option<Pieces>,
    steps: usize,
}

impl Default for Sacct {
    fn default() -> Self {
        let table = Table::new(&BETWEEN.split(XDMOD), BETWEEN).map(Table::of_account);
        Self { table, pieces: None, steps: 0 }
    }
}

/// Lines of a row.
struct Pieces {
    text: String,
    fields: usize,
    /// Number of the first line.
    line: usize,
}

impl ByLine for Sacct {
    const EXPECTED: &'static str =
        "output of `sacct -P` with a header, or the 26 columns of Open XDMoD";

    fn line(&mut self, line: &str, jobs: &mut Jobs<'_>) {
        let number = jobs.number;
        if is_rule(line) && self.pieces.is_none() {
            return;
        }
        if line.contains("JobID")
            && let Some(table) = header(line)
        {
            self.flush(jobs);
            self.table = Some(table);
            return;
        }
        let width = self.table.as_ref().map_or(0, Table::width);
        let fields = 1 + line.matches('|').count();
        if fields >= width {
            self.flush(jobs);
            self.row(line, number, false, jobs);
            return;
        }
        let mut pieces = match self.pieces.take() {
            Some(mut pieces) => {
                pieces.text.push('\n');
                // The last field continues.
                pieces.fields += fields - 1;
                pieces
            }
            None => Pieces { text: String::new(), fields, line: number },
        };
        pieces.text.push_str(line);
        if pieces.fields >= width {
            self.row(&pieces.text, pieces.line, true, jobs);
            return;
        }
        let full = pieces.text.len() > LONGEST;
        self.pieces = Some(pieces);
        if full {
            self.flush(jobs);
        }
    }

    fn end(&mut self, jobs: &mut Jobs<'_>) {
        self.flush(jobs);
        jobs.pass(self.steps);
        jobs.remarks.note_count(self.steps, "step", "steps", "parts of their jobs; passed over");
    }
}

impl Sacct {
    fn row(&mut self, text: &str, line: usize, pieced: bool, jobs: &mut Jobs<'_>) {
        let Some(table) = &self.table else { return };
        match table.row(text, line, pieced, &mut jobs.remarks) {
            Ok(Row::Job(record)) => jobs.give(record),
            Ok(Row::Step) => self.steps += 1,
            Err(what) => jobs.remarks.left_out(line, what, "left out"),
        }
    }

    /// Gives up on a row with missing fields.
    fn flush(&mut self, jobs: &mut Jobs<'_>) {
        if let Some(Pieces { text, fields, line }) = self.pieces.take() {
            let what = format!(
                "{}, expected {}: '{}'",
                counted(fields, "field", "fields"),
                self.table.as_ref().map_or(0, Table::width),
                shown(text.lines().next().unwrap_or(""))
            );
            jobs.remarks.left_out(line, what, "a part of a row, or of a job's name; left out");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::State;
    use crate::jobs::testing::{all, one, short};

    const ROW: &str = "4711_[1-3]|4711|ub-hpc|general|qos|a|g|9|me|19|2015-06-26T13:57:00|2015-06-26T13:57:00|\
                       2015-06-28T02:55:50|2015-07-01T02:55:50|3-00:00:00|1:0|TIMEOUT|3|256|256|3000Mc|||\
                       3-00:00:00|d07n[07,19]s02,x1|name";

    #[test]
    fn without_header_the_columns_are_those_of_xdmod() {
        let job = one(LOG.read, ROW);
        assert_eq!((job.id.as_str(), job.state), ("4711_[1-3]", State::Completed));
        assert_eq!((job.submit, job.start), (Some(1_435_327_020), Some(1_435_460_150)));
        assert_eq!(job.end, Some(1_435_719_350));
        assert_eq!(job.nodes.map(|n| n.join(" ")).as_deref(), Some("d07n07s02 d07n19s02 x1"));
        assert_eq!((job.node_count, job.processors), (Some(3), Some(256)));
        assert_eq!((job.user.as_deref(), job.partition.as_deref()), (Some("me"), Some("general")));
    }

    #[test]
    fn quirks_of_rows() {
        let text = "State|JobID|JobName|NNodes|Start|End|NodeList|User\n\
            CANCELLED by 123|1|a|1|2020-01-01T00:00:00|1577836801|None assigned|u\n\
            RUNNING|2|a|b|2|2020-01-01T00:00:00|Unknown|n[1-2]|u\n\
            PENDING|3_[1-3]|c|1|2030-01-01T00:00:00|Unknown||u\n\
            COMPLETED|2.batch|c|1|2020-01-01T00:00:00|Unknown|n1|u\n\
            COMPLETED|4|two\nlines|1|None|Unknown|n1|u\n\
            FOO|5|c|3|yesterday|Unknown|n[1-2|u\n\
            COMPLETED|6|c|3|2020-01-01T00:00:00|Unknown|n[1-2]|u\n\
            COMPLETED|x|c|3|2020-01-01T00:00:00|Unknown|n[1-2]|u\n\
            cut|off\n\
            COMPLETED|7|c|1|2020-01-01T00:00:00|Unknown|n1,n1|u\n\
            JobID|State\n\
            8|COMPLETED\n\
            end";
        let (jobs, messages) = all(LOG.read, text);
        insta::assert_snapshot!(short(&jobs), @r#"
        2: 1 Completed 1577836800..1577836801 on , Some(1) None, "u" "?"
        3: 2 Running 1577836800..? on n1+n2, Some(2) None, "u" "?"
        4: 3_[1-3] Pending ?..? on , Some(1) None, "u" "?"
        6: 4 Completed ?..? on n1, Some(1) None, "u" "?"
        8: 5 Unknown ?..? on ?, Some(3) None, "u" "?"
        9: 6 Completed 1577836800..? on n1+n2, Some(2) None, "u" "?"
        12: 7 Completed 1577836800..? on n1, Some(1) None, "u" "?"
        14: 8 Completed ?..? on ?, None None, "?" "?"
        "#);
        insta::assert_snapshot!(messages, @r"
        line 8: warning: unheard-of state 'FOO' (taken as unknown)
        line 8: warning: 'yesterday' is not a time (expected 2011-04-05T12:13:14 or Unix seconds; taken as unknown)
        line 8: warning: '[' without ']' in 'n[1-2' (nodes unknown; columns of fixed width cut lists off: ask for wider ones, or %N)
        line 9: warning: 3 nodes, but 2 in the list (the list is taken)
        line 10: warning: 'x' is not the id of a job (left out)
        line 11: warning: 2 fields, expected 8: 'cut|off' (a part of a row, or of a job's name; left out)
        line 15: warning: 1 field, expected 2: 'end' (a part of a row, or of a job's name; left out)
        note: 1 step (parts of their jobs; passed over)
        ");
    }

    #[test]
    fn other_files_are_refused() {
        insta::assert_snapshot!(all(LOG.read, "some|thing\nelse\n").1, @"log: no line says anything about a job; line 1: 2 fields, expected 26: 'some|thing'; expected output of `sacct -P` with a header, or the 26 columns of Open XDMoD");
        assert_eq!(all(LOG.read, "\n\n"), (vec![], String::new()));
    }
}
