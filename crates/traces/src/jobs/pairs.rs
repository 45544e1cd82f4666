//! Nodes of the running jobs: `<node> <job>`, one pair a line; the node may be a node set (`cn[1-8/2]`).
//!
//! This is the file that scheduling-aware routing reads: a snapshot of the running jobs, without times. `#` begins a
//! comment; `# node job` alone says that no job runs.
//!
//! Source: Domke and Hoefler, "Scheduling-Aware Routing for Supercomputers", SC 2016.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use super::lines::shown;
use super::log::{ByLine, JobLog, Jobs, by_line};
use super::record::{Record, State, unique};
use darkfiber_formats::counted;
use darkfiber_formats::hostlist::expand;
use darkfiber_formats::known_by::KnownBy;

/// The entry of this format. Jobs, all running, come at its end, in the order of their first lines. Nodes that run several
/// jobs are noted.
pub const LOG: JobLog = JobLog {
    name: "pairs",
    what: "pairs of a node and a job",
    known_by: &[KnownBy::Whole(are_pairs)],
    read: by_line::<Pairs>,
};

/// The line of a file in which no job runs.
pub const HEADING: &str = "# node job";

/// Whether all lines have two words; the last may be cut off.
fn are_pairs(text: &str) -> Option<usize> {
    let whole = text.rfind('\n').map_or(text, |end| &text[..end]);
    let said = |l: &str| l.split('#').next().unwrap_or("").trim().to_owned();
    if text.lines().map(str::trim).filter(|l| !l.is_empty()).eq([HEADING]) {
        return Some(1);
    }
    let mut lines = whole.lines().map(said).filter(|l| !l.is_empty()).peekable();
    let is_pair = |l: String| l.split_whitespace().count() == 2 && !l.contains(['=', '<', ':']);
    (lines.peek().is_some() && lines.all(is_pair)).then_some(1)
}

#[derive(Default)]
struct Pairs {
    jobs: Vec<Record>,
    of_id: HashMap<String, usize>,
    /// By node a job of it, and whether it has others.
    on_node: BTreeMap<String, (usize, bool)>,
}

impl ByLine for Pairs {
    const EXPECTED: &'static str = LOG.what;

    fn line(&mut self, line: &str, jobs: &mut Jobs<'_>) {
        let text = line.split('#').next().unwrap_or("").trim();
        if text.is_empty() {
            return;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let &[node, id] = words.as_slice() else {
            let what = format!("{} in '{}'", counted(words.len(), "word", "words"), shown(text));
            jobs.left_out(what, "expected a node and a job; left out");
            return;
        };
        // A node set is written with brackets; operators alone may be part of a name.
        let nodes = if node.contains('[') { expand(node) } else { Ok(vec![node.to_owned()]) };
        let nodes = match nodes {
            Ok(nodes) => nodes,
            Err(e) => {
                jobs.left_out(e.to_string(), "expected a node or a node set; left out");
                return;
            }
        };
        let job = *self.of_id.entry(id.to_owned()).or_insert_with(|| {
            self.jobs.push(Record {
                id: id.to_owned(),
                state: State::Running,
                nodes: Some(Vec::new()),
                line: jobs.number,
                ..Record::default()
            });
            self.jobs.len() - 1
        });
        for node in nodes {
            let seen = self.on_node.entry(node.clone()).or_insert((job, false));
            seen.1 |= seen.0 != job;
            self.jobs[job].nodes.get_or_insert_default().push(node);
        }
    }

    fn end(&mut self, jobs: &mut Jobs<'_>) {
        let shared = self.on_node.values().filter(|(_, shared)| *shared).count();
        jobs.remarks.note_count(shared, "node runs several jobs", "nodes run several jobs", "");
        for mut job in std::mem::take(&mut self.jobs) {
            job.nodes = job.nodes.map(unique);
            job.node_count = job.nodes.as_ref().map(|n| n.len() as u32);
            jobs.give(job);
        }
    }
}

/// Writes the pairs of the running jobs, in their order.
///
/// # Errors
/// Any error of `out`.
pub fn write<'a>(
    out: &mut dyn Write,
    jobs: impl IntoIterator<Item = &'a Record>,
) -> io::Result<()> {
    for job in jobs.into_iter().filter(|j| j.state == State::Running) {
        for node in job.nodes.iter().flatten() {
            writeln!(out, "{node} {}", job.id)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{all, short};

    #[test]
    fn what_is_written_is_read_again() {
        let text = "n1 7\nn2 7\nn3 8_1\n";
        let (jobs, messages) = all(LOG.read, text);
        assert_eq!((jobs.len(), messages.as_str()), (2, ""));
        let mut out = Vec::new();
        write(&mut out, &jobs).expect("memory");
        assert_eq!(String::from_utf8(out).expect("text"), text);
    }

    #[test]
    fn odd_lines_are_reported() {
        let (jobs, messages) = all(LOG.read, "# node job\nn1 7 # first\nn2\nn1 8\n\nn1 7\na b c\n");
        insta::assert_snapshot!(short(&jobs), @r#"
        2: 7 Running ?..? on n1, Some(1) None, "?" "?"
        4: 8 Running ?..? on n1, Some(1) None, "?" "?"
        "#);
        insta::assert_snapshot!(messages, @r"
        line 3: warning: 1 word in 'n2' (expected a node and a job; left out)
        line 7: warning: 3 words in 'a b c' (expected a node and a job; left out)
        note: 1 node runs several jobs
        ");
        assert_eq!(all(LOG.read, "").1, "");
        insta::assert_snapshot!(all(LOG.read, "nothing\nhere\n").1, @"log: no line says anything about a job; line 1: 1 word in 'nothing'; expected pairs of a node and a job");
    }
}
