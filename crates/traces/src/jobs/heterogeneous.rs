//! Heterogeneous jobs of SLURM: components `10+0`, `10+1`, ... are one job, whose ranks send to each other.

use std::collections::BTreeMap;

use super::record::{Record, State, unique};

/// Passes jobs on; components of heterogeneous ones are kept until the end, and passed on as one job each.
pub(super) struct Together<'e> {
    each: &'e mut dyn FnMut(Record),
    /// By place in the log, the job of the components so far.
    jobs: BTreeMap<usize, Record>,
    /// By id of the job and run of it, that place: a job that is put back into the queue runs more than once.
    places: BTreeMap<(String, usize), usize>,
    /// By id of a component, how often it was there.
    runs: BTreeMap<String, usize>,
}

impl<'e> Together<'e> {
    pub(super) fn new(each: &'e mut dyn FnMut(Record)) -> Self {
        Self { each, jobs: BTreeMap::new(), places: BTreeMap::new(), runs: BTreeMap::new() }
    }

    pub(super) fn take(&mut self, record: Record) {
        let Some(job) = job_of(&record.id) else { return (self.each)(record) };
        let run = self.runs.entry(record.id.clone()).or_default();
        *run += 1;
        let next = self.places.len();
        let place = *self.places.entry((job.to_owned(), *run)).or_insert(next);
        match self.jobs.remove(&place) {
            None => self.jobs.insert(place, Record { id: job.to_owned(), ..record }),
            Some(known) => self.jobs.insert(place, joined(known, record)),
        };
    }

    pub(super) fn end(self) {
        self.jobs.into_values().for_each(self.each);
    }
}

/// The job of a component `10+1`.
fn job_of(id: &str) -> Option<&str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (job, component) = id.split_once('+')?;
    (is_number(job) && is_number(component)).then_some(job)
}

fn joined(a: Record, b: Record) -> Record {
    let nodes = match (a.nodes, b.nodes) {
        (Some(a), Some(b)) => Some(unique([a, b].concat())),
        (a, b) => a.or(b),
    };
    let sum = |a: Option<u32>, b: Option<u32>| match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    };
    let known = nodes.as_ref().map(|nodes| nodes.len() as u32).filter(|&n| n > 0);
    Record {
        state: if [a.state, b.state].contains(&State::Running) { State::Running } else { a.state },
        submit: a.submit.into_iter().chain(b.submit).min(),
        start: a.start.into_iter().chain(b.start).min(),
        // It ends with its last component.
        end: a.end.zip(b.end).map(|(a, b)| a.max(b)),
        node_count: known.or_else(|| sum(a.node_count, b.node_count)),
        nodes,
        processors: sum(a.processors, b.processors),
        ..a
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Record;
    use crate::jobs::read_from;
    use crate::jobs::testing::short;

    fn jobs_of(text: &str) -> Vec<Record> {
        let mut jobs = Vec::new();
        let mut reader = text.as_bytes();
        read_from(&mut reader, Path::new("log"), &mut |job| jobs.push(job)).expect("a log");
        jobs
    }

    #[test]
    fn components_are_one_job() {
        let text = "JOBID ST NODELIST\n10+0 R n[1-2]\n7 R n9\n10+1 R n[2-4]\n11+0 PD\n12_3 R n8\n8+x R n7\n";
        let jobs = jobs_of(text);
        insta::assert_snapshot!(short(&jobs), @r#"
        3: 7 Running ?..? on n9, Some(1) None, "?" "?"
        6: 12_3 Running ?..? on n8, Some(1) None, "?" "?"
        7: 8+x Running ?..? on n7, Some(1) None, "?" "?"
        2: 10 Running ?..? on n1+n2+n3+n4, Some(4) None, "?" "?"
        5: 11 Pending ?..? on , None None, "?" "?"
        "#);
    }

    /// A job whose nodes failed runs again, elsewhere: `sacct -D` has both runs.
    #[test]
    fn runs_of_a_job_are_apart() {
        let text = "JobID|State|Start|End|NodeList\n10+0|NODE_FAIL|100|200|n1\n10+1|NODE_FAIL|100|200|n2\n\
                    10+0|COMPLETED|500|600|n3\n10+1|COMPLETED|500|700|n4\n";
        insta::assert_snapshot!(short(&jobs_of(text)), @r#"
        2: 10 Completed 100..200 on n1+n2, Some(2) None, "?" "?"
        4: 10 Completed 500..700 on n3+n4, Some(2) None, "?" "?"
        "#);
    }
}
