//! Tables of `sacct` and `squeue`: columns identified by their names, a row a job.

use super::columns::{Column, ColumnContent, DOUBTFUL, align};
use super::lines::{Remarks, shown};
use super::record::{
    Record, State, is_former_run, is_nothing, leading, slurm_state, some, time, unique,
};
use darkfiber_formats::counted;
use darkfiber_formats::hostlist;

/// The property of a job in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnMeaning {
    Id,
    RawId,
    State,
    Submit,
    Start,
    End,
    Nodes,
    NodeCount,
    Processors,
    User,
    Partition,
    Nothing,
}

/// Separator of the fields of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// A character: `|` or `,`.
    Mark(char),
    /// Any number of blanks.
    Blanks,
}

impl Between {
    pub(super) fn split(self, line: &str) -> Vec<&str> {
        match self {
            // Spreadsheets put quotes around fields.
            Self::Mark(',') if line.contains('"') => quoted_fields(line),
            Self::Mark(mark) => line.split(mark).collect(),
            Self::Blanks => line.split_whitespace().collect(),
        }
    }
}

/// The fields of a line between commas, those in quotes without them; commas between quotes are their own.
///
/// A quote opens a field at its beginning and closes it at its end alone: names of jobs may hold others.
fn quoted_fields(line: &str) -> Vec<&str> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let quoted = rest.strip_prefix('"').and_then(|inner| match inner.find("\",") {
            Some(end) => Some((&inner[..end], Some(&inner[end + 2..]))),
            None => Some((inner.trim_end().strip_suffix('"')?, None)),
        });
        let (field, more) = quoted.unwrap_or_else(|| match rest.split_once(',') {
            Some((field, more)) => (field, Some(more)),
            None => (rest, None),
        });
        fields.push(field);
        match more {
            Some(more) => rest = more,
            None => return fields,
        }
    }
}

/// A row of the table.
pub(super) enum Row {
    Job(Record),
    /// Part of a job: `4711.batch`.
    Step,
}

/// The columns of a table.
pub(super) struct Table {
    between: Between,
    columns: Vec<Column>,
    says: Vec<ColumnMeaning>,
    /// Whether it is of accounting: its ends have come, and are not expected ones.
    is_account: bool,
}

impl Table {
    /// The table with these names of columns, if one of them is that of ids.
    pub(super) fn new(names: &[&str], between: Between) -> Option<Self> {
        let (mut columns, mut says) = (Vec::new(), Vec::new());
        for name in names {
            let (holds, meaning, absorbs) = column(name);
            columns.push(Column {
                holds,
                absorbs: absorbs
                    || (holds == ColumnContent::Nodes && between != Between::Mark('|')),
                vanishes: holds == ColumnContent::Nodes && between == Between::Blanks,
            });
            says.push(meaning);
        }
        let ids = [ColumnMeaning::Id, ColumnMeaning::RawId];
        let is_account = false;
        says.iter().any(|s| ids.contains(s)).then_some(Self { between, columns, says, is_account })
    }

    /// The same, of accounting.
    pub(super) fn of_account(self) -> Self {
        Self { is_account: true, ..self }
    }

    /// Number of its columns.
    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    /// The fields of a line.
    pub(super) fn split<'a>(&self, line: &'a str) -> Vec<&'a str> {
        self.between.split(line)
    }

    /// The job of a row. `pieced` rows were put together from several lines, and must not be doubtful.
    ///
    /// # Errors
    /// If the row cannot be interpreted, in words.
    pub(super) fn row(
        &self,
        text: &str,
        line: usize,
        pieced: bool,
        remarks: &mut Remarks,
    ) -> Result<Row, String> {
        let fields = self.split(text);
        let by = match self.between {
            Between::Mark(mark) => mark.to_string(),
            Between::Blanks => " ".to_owned(),
        };
        let wrong =
            || format!("{}, expected {}", counted(fields.len(), "field", "fields"), self.width());
        let (ranges, doubt) = align(&self.columns, &fields, &by).ok_or_else(wrong)?;
        if (pieced || fields.len() != self.width()) && doubt >= DOUBTFUL {
            return Err(wrong());
        }
        let cell = |says: ColumnMeaning| {
            let mut found = None;
            for (range, _) in ranges.iter().zip(&self.says).filter(|&(_, s)| *s == says) {
                let text = fields[range.clone()].join(&by).trim().to_owned();
                if !text.is_empty() {
                    return Some(text);
                }
                found = Some(text);
            }
            found
        };
        let (id, raw) = (cell(ColumnMeaning::Id), cell(ColumnMeaning::RawId));
        let given = |id: &Option<String>| id.clone().filter(|i| super::columns::is_id(i));
        let Some(id) = given(&id).or_else(|| given(&raw)) else {
            let found = id.or(raw).unwrap_or_default();
            return Err(format!("'{}' is not the id of a job", shown(&found)));
        };
        if id.contains('.') {
            return Ok(Row::Step);
        }
        let word = cell(ColumnMeaning::State).unwrap_or_default();
        let mut state = state(&word, line, remarks);
        let mut moment = |says: ColumnMeaning| when(&cell(says)?, line, remarks);
        let (submit, start, end) = (
            moment(ColumnMeaning::Submit),
            moment(ColumnMeaning::Start),
            moment(ColumnMeaning::End),
        );
        if self.is_account && is_former_run(&word) && start.is_some() && end.is_some() {
            state = State::Completed;
        }
        let nodes = cell(ColumnMeaning::Nodes).and_then(|text| node_list(&text, line, remarks));
        let count = cell(ColumnMeaning::NodeCount).and_then(|text| leading(&text));
        let node_count = listed(nodes.as_deref(), count, line, remarks);
        Ok(Row::Job(
            Record {
                id,
                state,
                submit,
                start,
                end,
                nodes,
                node_count,
                processors: cell(ColumnMeaning::Processors).and_then(|text| leading(&text)),
                user: cell(ColumnMeaning::User).and_then(|text| some(&text)),
                partition: cell(ColumnMeaning::Partition).and_then(|text| some(&text)),
                line,
            }
            .settle(),
        ))
    }
}

/// Parses a state; an unknown one is reported.
pub(super) fn state(text: &str, line: usize, remarks: &mut Remarks) -> State {
    slurm_state(text).unwrap_or_else(|| {
        if !is_nothing(text) {
            remarks.warn(line, format!("unheard-of state '{}'", shown(text)), "taken as unknown");
        }
        State::Unknown
    })
}

/// Parses a time; an invalid one is reported.
pub(super) fn when(text: &str, line: usize, remarks: &mut Remarks) -> Option<i64> {
    time(text).unwrap_or_else(|()| {
        let what = format!("'{}' is not a time", shown(text));
        remarks.warn(line, what, "expected 2011-04-05T12:13:14 or Unix seconds; taken as unknown");
        None
    })
}

/// Parses nodes: a hostlist, none (`None assigned`), or a reason in parentheses. Anything else is reported.
pub(super) fn node_list(text: &str, line: usize, remarks: &mut Remarks) -> Option<Vec<String>> {
    if is_nothing(text) || text.starts_with('(') {
        return Some(Vec::new());
    }
    match hostlist::expand(text) {
        Ok(nodes) => Some(unique(nodes)),
        Err(e) => {
            remarks.warn(
                line,
                e.to_string(),
                "nodes unknown; columns of fixed width cut lists off: ask for wider ones, or %N",
            );
            None
        }
    }
}

/// The number of nodes: that of the list where there is one; a contradiction is reported.
pub(super) fn listed(
    nodes: Option<&[String]>,
    count: Option<u32>,
    line: usize,
    remarks: &mut Remarks,
) -> Option<u32> {
    let length = nodes.map(<[_]>::len).filter(|&n| n > 0).map(|n| n as u32);
    if let (Some(length), Some(count)) = (length, count)
        && length != count
    {
        let what = format!("{count} nodes, but {length} in the list");
        remarks.warn(line, what, "the list is taken");
    }
    length.or(count)
}

/// The content and property of a column of that name, and whether its text may contain anything.
fn column(name: &str) -> (ColumnContent, ColumnMeaning, bool) {
    let name = name.split('(').next().unwrap_or("").trim();
    let plain: String = name.chars().filter(|&c| c != '_').collect();
    match plain.to_ascii_lowercase().as_str() {
        "jobid" => (ColumnContent::Id, ColumnMeaning::Id, false),
        "jobidraw" => (ColumnContent::Id, ColumnMeaning::RawId, false),
        "state" | "st" | "jobstate" => (ColumnContent::State, ColumnMeaning::State, false),
        "submit" | "submittime" => (ColumnContent::Time, ColumnMeaning::Submit, false),
        "start" | "starttime" => (ColumnContent::Time, ColumnMeaning::Start, false),
        "end" | "endtime" => (ColumnContent::Time, ColumnMeaning::End, false),
        "eligible" | "eligibletime" => (ColumnContent::Time, ColumnMeaning::Nothing, false),
        "elapsed" | "time" => (ColumnContent::Duration, ColumnMeaning::Nothing, false),
        "nodelist" => (ColumnContent::Nodes, ColumnMeaning::Nodes, false),
        "nodes" | "nnodes" | "numnodes" | "allocnodes" => {
            (ColumnContent::Count, ColumnMeaning::NodeCount, false)
        }
        "cpus" | "ncpus" | "numcpus" | "alloccpus" => {
            (ColumnContent::Count, ColumnMeaning::Processors, false)
        }
        "reqcpus" | "reqnodes" | "elapsedraw" => {
            (ColumnContent::Count, ColumnMeaning::Nothing, false)
        }
        "user" => (ColumnContent::Any, ColumnMeaning::User, false),
        "partition" => (ColumnContent::Any, ColumnMeaning::Partition, false),
        "name" | "jobname" | "comment" | "admincomment" | "systemcomment" | "submitline"
        | "constraints" | "workdir" | "reason" | "command" | "dependency" | "features"
        | "extra" => (ColumnContent::Any, ColumnMeaning::Nothing, true),
        _ => (ColumnContent::Any, ColumnMeaning::Nothing, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_those_around_fields() {
        for (line, fields) in [
            ("5,RUNNING,\"n001,n005\"", vec!["5", "RUNNING", "n001,n005"]),
            ("\"5\",\"a\",n1", vec!["5", "a", "n1"]),
            ("1,RUNNING,5\" disk,cn1", vec!["1", "RUNNING", "5\" disk", "cn1"]),
            ("3,x \"y, z,cn3", vec!["3", "x \"y", " z", "cn3"]),
            ("1,\"half,n1", vec!["1", "\"half", "n1"]),
        ] {
            assert_eq!(quoted_fields(line), fields, "{line}");
        }
    }
}
