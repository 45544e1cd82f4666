//! `squeue`: the jobs of a SLURM cluster at one moment.
//!
//! Columns are found by the names in the header, whether they are the default ones, those of `-o "%i %T %N"`
//! or of `-O`; fields may stand between blanks, `|` or commas. Without header (`-h`) the default columns, or lists
//! `id,state` and `id,state,nodes` are understood. `squeue --json` is read as [`super::slurmrestd`].
//!
//! Tables for people truncate columns (`NAME` at eight letters); truncated lists of nodes are reported.

use std::io::BufRead;
use std::path::Path;

use super::columns::is_id;
use super::lines::{is_rule, shown};
use super::log::{ByLine, JobLog, Jobs, by_line};
use super::record::{Record, slurm_state};
use super::slurmrestd;
use super::table::{Between, Row, Table};
use darkfiber_formats::calendar::read_ctime;
use darkfiber_formats::known_by::KnownBy;
use darkfiber_formats::{Diagnostics, ReadError};

const DEFAULT: &[&str] =
    &["JOBID", "PARTITION", "NAME", "USER", "ST", "TIME", "NODES", "NODELIST(REASON)"];

fn between(line: &str) -> Between {
    if line.contains('|') {
        Between::Mark('|')
    } else if line.contains(',') && !line.trim().contains(char::is_whitespace) {
        Between::Mark(',')
    } else {
        Between::Blanks
    }
}

fn header(line: &str) -> Option<Table> {
    let between = between(line);
    let names = between.split(line.trim());
    let plain = |n: &str| n.bytes().all(|b| b.is_ascii_alphanumeric() || b"_()%: -".contains(&b));
    if !names.iter().any(|n| n.trim().eq_ignore_ascii_case("JOBID"))
        || !names.iter().all(|n| plain(n))
    {
        return None;
    }
    Table::new(&names, between)
}

/// The table of a list without header whose first row is this line.
fn headless(line: &str) -> Option<Table> {
    // A list of nodes has commas, too.
    let between = match between(line) {
        Between::Blanks if line.contains(',') && !line.contains(' ') => Between::Mark(','),
        other => other,
    };
    let fields = between.split(line.trim());
    if !is_id(fields.first()?.trim()) {
        return None;
    }
    let state = |i: usize| fields.get(i).is_some_and(|f| slurm_state(f).is_some());
    if state(1) {
        let names = ["JOBID", "STATE", "NODELIST"];
        return Table::new(&names[..fields.len().min(3)], between);
    }
    ((4..fields.len()).any(state) && between == Between::Blanks)
        .then(|| Table::new(DEFAULT, between))
        .flatten()
}

/// The entry of this format.
pub const LOG: JobLog = JobLog {
    name: "squeue",
    what: "output of `squeue`",
    known_by: &[KnownBy::Line(is_first_line)],
    read,
};

/// Whether this is the first line of such a file. `JobID` in other letters is a column of `sacct`.
fn is_first_line(line: &str) -> bool {
    let known = header(line).is_some_and(|t| t.width() > 1) || headless(line).is_some();
    known && !line.contains("JobID")
}

/// Reads a table, or JSON as [`slurmrestd`] does.
fn read(
    reader: &mut dyn BufRead,
    path: &Path,
    each: &mut dyn FnMut(Record),
) -> Result<Diagnostics, ReadError> {
    let io = |source| ReadError::Io { path: path.to_owned(), source };
    let start = reader.fill_buf().map_err(io)?;
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let is_json = start.trim_ascii_start().starts_with(b"{");
    let read = if is_json { slurmrestd::LOG.read } else { by_line::<Squeue> };
    read(reader, path, each)
}

#[derive(Default)]
struct Squeue {
    table: Option<Table>,
    steps: usize,
}

impl ByLine for Squeue {
    const EXPECTED: &'static str = LOG.what;

    fn line(&mut self, line: &str, jobs: &mut Jobs<'_>) {
        // `squeue -l` begins with the date.
        let date = line.trim().split_once(' ').and_then(|(_, date)| read_ctime(date.trim()));
        let is_date = || self.table.is_none() && date.is_some();
        if is_rule(line) || line.starts_with("CLUSTER: ") || is_date() {
            return;
        }
        if let Some(named) = header(line) {
            self.table = Some(named);
            return;
        }
        if self.table.is_none() {
            self.table = headless(line);
        }
        let Some(table) = &self.table else {
            let what = format!("no names of columns before '{}'", shown(line.trim()));
            jobs.left_out(what, "expected a header with JOBID; left out");
            return;
        };
        match table.row(line.trim(), jobs.number, false, &mut jobs.remarks) {
            Ok(Row::Job(record)) => jobs.give(record),
            Ok(Row::Step) => self.steps += 1,
            Err(what) => jobs.left_out(what, "left out"),
        }
    }

    fn end(&mut self, jobs: &mut Jobs<'_>) {
        jobs.pass(self.steps);
        jobs.remarks.note_count(self.steps, "step", "steps", "parts of their jobs; passed over");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{all, short};

    #[test]
    fn default_columns() {
        let (jobs, messages) = all(LOG.read, "\
             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
              65646     batch  my chem     mike  R      24:19      2 adev[7-8]
        65647_[2-5]     batch     bio      joan PD       0:00      1 (ReqNodeNotAvail, UnavailableNodes:n[1-3])
              65648     batch     math     phil  CG 1-04:01:02      2 adev[1-
        ");
        insta::assert_snapshot!(short(&jobs), @r#"
        2: 65646 Running ?..? on adev7+adev8, Some(2) None, "mike" "batch"
        3: 65647_[2-5] Pending ?..? on , Some(1) None, "joan" "batch"
        4: 65648 Running ?..? on ?, Some(2) None, "phil" "batch"
        "#);
        insta::assert_snapshot!(messages, @"line 4: warning: '[' without ']' in 'adev[1-' (nodes unknown; columns of fixed width cut lists off: ask for wider ones, or %N)");
    }

    #[test]
    fn columns_asked_for() {
        for text in [
            "JOBID STATE NODELIST\n1 RUNNING n[1-2]\n2 PENDING \n",
            "NODELIST STATE JOBID\nn[1-2] RUNNING 1\n PENDING 2\n",
            "JOBID|NODELIST|NAME|STATE\n1|n[1-2]|a|b|RUNNING\n2||c|PENDING\n",
            "JOBID,STATE,NODELIST\n1,RUNNING,n1,n2\n2,PENDING,\n",
            "1,RUNNING,n[1-2]\n2,PENDING,\n",
            "CLUSTER: c\nJOBID ST NODELIST START_TIME\n1 R n[1-2] N/A\n2 PD N/A\n",
        ] {
            let (jobs, messages) = all(LOG.read, text);
            let told_of = |i: usize| {
                let j: &Record = &jobs[i];
                format!(
                    "{} {:?} {}",
                    j.id,
                    j.state,
                    j.nodes.as_ref().map_or("?".into(), |n| n.join("+"))
                )
            };
            assert_eq!(jobs.len(), 2, "{text}{messages}");
            assert_eq!(
                (told_of(0).as_str(), told_of(1).as_str()),
                ("1 Running n1+n2", "2 Pending "),
                "{text}"
            );
            assert_eq!(messages, "", "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        insta::assert_snapshot!(all(LOG.read, "slurm_load_jobs error: Unable to contact slurm controller\n").1, @"log: no line says anything about a job; line 1: no names of columns before 'slurm_load_jobs error: Unable to contact slurm controller'; expected output of `squeue`");
        assert_eq!(all(LOG.read, "JOBID ST\n"), (vec![], String::new()));
    }
}
