//! `scontrol show job`: blocks of `Key=value`, or a line a job (`-o`).
//!
//! Values are not quoted and may hold blanks: the name of a job lasts to the end of its line, or to ` UserId=`. Of
//! keys that come twice the first counts.

use std::collections::BTreeMap;

use super::lines::{Remarks, shown};
use super::log::{ByLine, JobLog, Jobs, by_line};
use super::record::{Record, State, leading, some};
use super::table::{listed, node_list, state, when};
use darkfiber_formats::known_by::KnownBy;

/// Keys that are looked at.
const KEYS: &[&str] = &[
    "JobId",
    "ArrayJobId",
    "HetJobId",
    "HetJobOffset",
    "ArrayTaskId",
    "JobState",
    "UserId",
    "Partition",
    "SubmitTime",
    "StartTime",
    "EndTime",
    "NodeList",
    "NumNodes",
    "NumCPUs",
];

/// Whether this is the first line of a job.
fn is_first_line(line: &str) -> bool {
    line.trim_start()
        .strip_prefix("JobId=")
        .is_some_and(|id| id.starts_with(|c: char| c.is_ascii_digit()))
}

/// The entry of this format. Times are taken as UTC.
pub const LOG: JobLog = JobLog {
    name: "scontrol",
    what: "output of `scontrol show job`",
    known_by: &[KnownBy::Line(is_first_line)],
    read: by_line::<Scontrol>,
};

#[derive(Default)]
struct Scontrol {
    block: Option<Block>,
}

impl ByLine for Scontrol {
    const EXPECTED: &'static str = LOG.what;

    fn line(&mut self, line: &str, jobs: &mut Jobs<'_>) {
        let text = line.trim();
        if text.is_empty() || text == "No jobs in the system" {
            return;
        }
        if is_first_line(text) {
            self.end(jobs);
            self.block = Some(Block { line: jobs.number, values: BTreeMap::new() });
        }
        if let Some(block) = &mut self.block {
            block.line(text);
        } else {
            let what = format!("no job before '{}'", shown(text));
            jobs.left_out(what, "expected JobId=; left out");
        }
    }

    fn end(&mut self, jobs: &mut Jobs<'_>) {
        if let Some(block) = self.block.take() {
            let record = block.job(&mut jobs.remarks);
            jobs.give(record);
        }
    }
}

/// The fields of a job so far.
struct Block {
    line: usize,
    values: BTreeMap<&'static str, String>,
}

impl Block {
    fn line(&mut self, text: &str) {
        match text.split_once("JobName=") {
            Some((before, after)) => {
                self.words(before);
                if let Some(at) = after.find(" UserId=") {
                    self.words(&after[at..]);
                }
            }
            None => self.words(text),
        }
    }

    fn words(&mut self, text: &str) {
        for word in text.split_whitespace() {
            let Some((key, value)) = word.split_once('=') else { continue };
            if let Some(&key) = KEYS.iter().find(|&&k| k == key) {
                self.values.entry(key).or_insert_with(|| value.to_owned());
            }
        }
    }

    fn job(self, remarks: &mut Remarks) -> Record {
        let line = self.line;
        let value = |key: &str| self.values.get(key).map(String::as_str);
        let id = match (value("ArrayJobId"), value("ArrayTaskId")) {
            (Some(job), Some(task)) if task.bytes().all(|b| b.is_ascii_digit()) => {
                format!("{job}_{task}")
            }
            (Some(job), Some(task)) => format!("{job}_[{task}]"),
            _ if let (Some(job), Some(component)) = (value("HetJobId"), value("HetJobOffset")) => {
                format!("{job}+{component}")
            }
            _ => value("JobId").unwrap_or_default().to_owned(),
        };
        let nodes = value("NodeList").and_then(|text| node_list(text, line, remarks));
        let count = value("NumNodes").and_then(leading);
        Record {
            id,
            state: value("JobState").map_or(State::Unknown, |text| state(text, line, remarks)),
            submit: value("SubmitTime").and_then(|text| when(text, line, remarks)),
            start: value("StartTime").and_then(|text| when(text, line, remarks)),
            end: value("EndTime").and_then(|text| when(text, line, remarks)),
            node_count: listed(nodes.as_deref(), count, line, remarks),
            nodes,
            processors: value("NumCPUs").and_then(leading),
            // `name(1000)`
            user: value("UserId").and_then(|text| some(text.split('(').next().unwrap_or(text))),
            partition: value("Partition").and_then(some),
            line,
        }
        .settle()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{all, short};

    const BLOCKS: &str = "\
JobId=7 ArrayJobId=5 ArrayTaskId=2 JobName=my JobState=FAKE job
   UserId=me(1000) GroupId=us(100) MCS_label=N/A
   JobState=RUNNING Reason=None Dependency=(null)
   SubmitTime=2020-01-01T00:00:00 EligibleTime=2020-01-01T00:00:00
   StartTime=2020-01-01T00:01:00 EndTime=2020-01-02T00:00:00 Deadline=N/A
   Partition=batch AllocNode:Sid=login:1
   ReqNodeList=(null) ExcNodeList=(null)
   NodeList=cn[1-2]
   NumNodes=2 NumCPUs=8 NumTasks=8 CPUs/Task=1
     Nodes=cn[1-2] CPU_IDs=0-3 Mem=0 GRES=
   Command=run JobState=FAILED

JobId=9 ArrayJobId=8 ArrayTaskId=1-3,7%2 JobName=x
   UserId=you(1001)
   JobState=PENDING Reason=Resources
   StartTime=2030-01-01T00:01:00 EndTime=Unknown
   NodeList=(null) SchedNodeList=cn9
   NumNodes=4-8 NumCPUs=16
";

    #[test]
    fn blocks_and_one_liners_say_the_same() {
        let (jobs, messages) = all(LOG.read, BLOCKS);
        insta::assert_snapshot!(short(&jobs), @r#"
        1: 5_2 Running 1577836860..? on cn1+cn2, Some(2) Some(8), "me" "batch"
        13: 8_[1-3,7%2] Pending ?..? on , Some(4) Some(16), "you" "?"
        "#);
        assert_eq!(messages, "");
        let one_line = BLOCKS.replace("\n   ", " ").replace("\n\n", "\n");
        let (mut again, messages) = all(LOG.read, &one_line);
        again[1].line = jobs[1].line;
        assert_eq!((again, messages.as_str()), (jobs, ""));
    }

    #[test]
    fn other_texts_are_refused() {
        insta::assert_snapshot!(all(LOG.read, "NodeName=cn1 State=IDLE\n").1, @"log: no line says anything about a job; line 1: no job before 'NodeName=cn1 State=IDLE'; expected output of `scontrol show job`");
        assert_eq!(all(LOG.read, "No jobs in the system\n"), (vec![], String::new()));
        insta::assert_snapshot!(all(LOG.read, "oops\nJobId=1 JobState=BAR NodeList=n[1 StartTime=x\n").1, @r"
        line 1: warning: no job before 'oops' (expected JobId=; left out)
        line 2: warning: '[' without ']' in 'n[1' (nodes unknown; columns of fixed width cut lists off: ask for wider ones, or %N)
        line 2: warning: unheard-of state 'BAR' (taken as unknown)
        line 2: warning: 'x' is not a time (expected 2011-04-05T12:13:14 or Unix seconds; taken as unknown)
        ");
    }
}
