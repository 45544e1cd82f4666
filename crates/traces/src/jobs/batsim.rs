//! Results of Batsim, and of OAR as evalys writes them: `out_jobs.csv`.
//!
//! Columns are found by their names. `allocated_resources` (Batsim) or `allocated_processors` (OAR) are numbers and
//! ranges between blanks, `1-2 5` or `20 19`; the numbers as text are the names of the nodes. Times are seconds
//! since the beginning of the run, rounded down.

use super::lines::shown;
use super::log::{ByLine, JobLog, Jobs, by_line};
use super::record::{Record, State, number, unique};
use darkfiber_formats::hostlist::MOST_HOSTS;
use darkfiber_formats::known_by::KnownBy;

/// The entry of this format. A resource counts as a node and as a processor. Jobs that were rejected have no nodes and no
/// times.
pub const LOG: JobLog = JobLog {
    name: "batsim",
    what: "job results of Batsim or OAR",
    known_by: &[KnownBy::Line(|l| header(l).is_some())],
    read: by_line::<Batsim>,
};

/// Positions of the columns.
struct Header {
    columns: usize,
    id: usize,
    submit: Option<usize>,
    start: Option<usize>,
    end: Option<usize>,
    requested: Option<usize>,
    final_state: Option<usize>,
    success: Option<usize>,
    nodes: usize,
}

fn header(line: &str) -> Option<Header> {
    let names = cells(line);
    let find = |wanted: &[&str]| {
        names.iter().position(|n| wanted.iter().any(|w| n.trim().eq_ignore_ascii_case(w)))
    };
    Some(Header {
        columns: names.len(),
        id: find(&["job_id", "jobID"])?,
        submit: find(&["submission_time"]),
        start: find(&["starting_time"]),
        end: find(&["finish_time"]),
        requested: find(&["requested_number_of_resources", "requested_number_of_processors"]),
        final_state: find(&["final_state"]),
        success: find(&["success"]),
        nodes: find(&["allocated_resources", "allocated_processors"])?,
    })
}

/// Cells between commas; quotes keep commas in.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(c);
                }
            }
        }
    }
    cells
}

#[derive(Default)]
struct Batsim {
    columns: Option<Header>,
}

impl ByLine for Batsim {
    const EXPECTED: &'static str =
        "job results of Batsim or OAR (CSV with submission_time and allocated_resources)";

    fn line(&mut self, line: &str, jobs: &mut Jobs<'_>) {
        if line.trim().is_empty() {
            return;
        }
        let Some(columns) = &self.columns else {
            self.columns = header(line);
            if self.columns.is_none() {
                let (number, line) = (jobs.number, shown(line));
                jobs.refuse(format!("line {number} does not name such columns: {line}"));
            }
            return;
        };
        match job(line, columns, jobs.number) {
            Ok(record) => jobs.give(record),
            Err(what) => jobs.left_out(what, "left out"),
        }
    }
}

fn job(line: &str, at: &Header, number_of_line: usize) -> Result<Record, String> {
    let cells = cells(line);
    if cells.len() != at.columns {
        return Err(format!("{} cells, expected {}", cells.len(), at.columns));
    }
    let time = |column: Option<usize>| -> Result<Option<i64>, String> {
        let Some(text) = column.map(|c| cells[c].trim()).filter(|t| !t.is_empty()) else {
            return Ok(None);
        };
        let value = number(text).ok_or_else(|| format!("'{}' is not a time", shown(text)))?;
        Ok((value >= 0).then_some(value))
    };
    let id = cells[at.id].trim();
    if id.is_empty() {
        return Err("no job id".to_owned());
    }
    let nodes = resources(&cells[at.nodes])?;
    let requested = at
        .requested
        .and_then(|c| number(cells[c].trim()))
        .and_then(|v| u32::try_from(v).ok())
        .filter(|_| nodes.is_empty());
    let word = |c: Option<usize>| c.map_or("", |c| cells[c].trim()).to_ascii_uppercase();
    let end = time(at.end)?;
    let over = end.is_some()
        || word(at.final_state).starts_with("COMPLETED")
        || word(at.final_state) == "REJECTED"
        || word(at.success) == "1";
    Ok(Record {
        id: id.to_owned(),
        state: if over { State::Completed } else { State::Unknown },
        submit: time(at.submit)?,
        start: time(at.start)?,
        end,
        node_count: Some(requested.unwrap_or(nodes.len() as u32)),
        processors: Some(requested.unwrap_or(nodes.len() as u32)),
        nodes: Some(nodes),
        line: number_of_line,
        ..Record::default()
    })
}

/// The numbers of `1-2 5`, as text, in order.
fn resources(text: &str) -> Result<Vec<String>, String> {
    let mut nodes = Vec::new();
    for word in text.split([' ', ',', '\t']).filter(|w| !w.is_empty()) {
        let bad = || format!("'{}' is not a number or a range of numbers", shown(word));
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let (first, last): (u64, u64) =
            (first.parse().map_err(|_| bad())?, last.parse().map_err(|_| bad())?);
        if last < first {
            return Err(format!("range '{}' runs backward", shown(word)));
        }
        if last - first >= (MOST_HOSTS - nodes.len().min(MOST_HOSTS)) as u64 {
            return Err(format!("more than {MOST_HOSTS} resources"));
        }
        nodes.extend((first..=last).map(|n| n.to_string()));
    }
    Ok(unique(nodes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{all, one, short};

    #[test]
    fn ranges_and_lists_are_nodes() {
        let head = "job_id,submission_time,starting_time,finish_time,allocated_resources\n";
        let job = one(LOG.read, &format!("{head}3,1.9,2.5,10.01,1-3 7 2\n"));
        assert_eq!(job.nodes.as_deref().map(|n| n.join(" ")).as_deref(), Some("1 2 3 7"));
        assert_eq!((job.submit, job.start, job.end), (Some(1), Some(2), Some(10)));
        assert_eq!((job.node_count, job.state), (Some(4), State::Completed));
    }

    #[test]
    fn columns_are_found_by_name_and_oddities_reported() {
        let (jobs, messages) = all(
            LOG.read,
            "allocated_processors,jobID,final_state,finish_time,requested_number_of_processors\n\
             20 19,a,COMPLETED_SUCCESSFULLY,5,2\n\
             ,b,REJECTED,-1,64\n\
             \"1,2\",c,,7,2\n\
             9-1,d,,7,2\n\
             1-9999999999,e,,7,2\n\
             x,f,,7,2\n\
             1,g,,never,2\n\
             1,h\n",
        );
        insta::assert_snapshot!(short(&jobs), @r#"
        2: a Completed ?..5 on 20+19, Some(2) Some(2), "?" "?"
        3: b Completed ?..? on , Some(64) Some(64), "?" "?"
        4: c Completed ?..7 on 1+2, Some(2) Some(2), "?" "?"
        "#);
        insta::assert_snapshot!(messages, @r"
        line 5: warning: range '9-1' runs backward (left out)
        line 6: warning: more than 1000000 resources (left out)
        line 7: warning: 'x' is not a number or a range of numbers (left out)
        line 8: warning: 'never' is not a time (left out)
        line 9: warning: 2 cells, expected 5 (left out)
        ");
    }
}
