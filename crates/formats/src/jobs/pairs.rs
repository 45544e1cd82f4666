//! Which node runs which job: `<node> <job>`, one pair a line; the node may be a node set (`cn[1-8/2]`).
//!
//! This is the file that scheduling-aware routing reads: a snapshot of the running jobs, without times. `#` begins a
//! comment.
//!
//! Source: Domke and Hoefler, "Scheduling-Aware Routing for Supercomputers", SC 2016.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};
use std::path::Path;

use super::hostlist::expand;
use super::lines::{Lines, Remarks, shown};
use super::record::{Record, State, unique};
use crate::tables::counted;
use crate::{Diagnostics, ReadError};

/// Reads such a file; jobs, all running, go to `each` at its end, in the order of their first lines. Nodes that
/// run several jobs are noted.
///
/// # Errors
/// If there are lines but none is a pair, or the system refuses.
pub fn read(
    reader: &mut dyn BufRead,
    path: &Path,
    each: &mut dyn FnMut(Record),
) -> Result<Diagnostics, ReadError> {
    let mut lines = Lines::new(reader, path);
    let mut remarks = Remarks::default();
    let mut jobs: Vec<Record> = Vec::new();
    let mut of_id: HashMap<String, usize> = HashMap::new();
    let mut on_node: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    while let Some(line) = lines.next()? {
        let text = line.split('#').next().unwrap_or("").trim();
        if text.is_empty() {
            continue;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let &[node, id] = words.as_slice() else {
            let what = format!("{} in '{}'", counted(words.len(), "word", "words"), shown(text));
            remarks.left_out(lines.number, what, "expected a node and a job; left out");
            continue;
        };
        // A node set is written with brackets; operators alone may be part of a name.
        let nodes = if node.contains('[') { expand(node) } else { Ok(vec![node.to_owned()]) };
        let nodes = match nodes {
            Ok(nodes) => nodes,
            Err(e) => {
                remarks.left_out(
                    lines.number,
                    e.to_string(),
                    "expected a node or a node set; left out",
                );
                continue;
            }
        };
        let job = *of_id.entry(id.to_owned()).or_insert_with(|| {
            jobs.push(Record {
                id: id.to_owned(),
                state: State::Running,
                nodes: Some(Vec::new()),
                line: lines.number,
                ..Record::default()
            });
            jobs.len() - 1
        });
        for node in nodes {
            let seen = on_node.entry(node.clone()).or_insert((job, false));
            seen.1 |= seen.0 != job;
            jobs[job].nodes.get_or_insert_default().push(node);
        }
    }
    let shared = on_node.values().filter(|(_, shared)| *shared).count();
    remarks.note_count(shared, "node runs several jobs", "nodes run several jobs", "");
    let read = jobs.len();
    for mut job in jobs {
        job.nodes = job.nodes.map(unique);
        job.node_count = job.nodes.as_ref().map(|n| n.len() as u32);
        each(job);
    }
    remarks.finish(read, path, "pairs of a node and a job")
}

/// Writes the pairs of the jobs that run, in their order.
///
/// # Errors
/// Whatever `out` says.
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
        let (jobs, told) = all(read, text);
        assert_eq!((jobs.len(), told.as_str()), (2, ""));
        let mut out = Vec::new();
        write(&mut out, &jobs).expect("memory");
        assert_eq!(String::from_utf8(out).expect("text"), text);
    }

    #[test]
    fn odd_lines_are_told() {
        let (jobs, told) = all(read, "# node job\nn1 7 # first\nn2\nn1 8\n\nn1 7\na b c\n");
        insta::assert_snapshot!(short(&jobs), @r#"
        2: 7 Running ?..? on n1, Some(1) None, "?" "?"
        4: 8 Running ?..? on n1, Some(1) None, "?" "?"
        "#);
        insta::assert_snapshot!(told, @r"
        line 3: warning: 1 word in 'n2' (expected a node and a job; left out)
        line 7: warning: 3 words in 'a b c' (expected a node and a job; left out)
        note: 1 node runs several jobs
        ");
        assert_eq!(all(read, "").1, "");
        insta::assert_snapshot!(all(read, "nothing\nhere\n").1, @"log: no line says anything about a job; line 1: 1 word in 'nothing'; expected pairs of a node and a job");
    }
}
