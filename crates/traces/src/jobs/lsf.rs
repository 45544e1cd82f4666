//! `bjobs -json -o "jobid stat exec_host user queue"`: the jobs of IBM's Spectrum LSF.
//!
//! Keys are the names of the columns that were asked for. `EXEC_HOST` is `16*n1:16*n2`, or a host for each slot. Times have no year and are
//! not read. See IBM, *Spectrum LSF command reference*, `bjobs`.

use serde_json::Value;

use super::json::read_list;
use super::lines::{Remarks, shown};
use super::log::JobLog;
use super::record::{Record, State, is_nothing, some, unique};
use darkfiber_formats::known_by::KnownBy;

const EXPECTED: &str = "jobs of LSF: `bjobs -json -o \"jobid stat exec_host\"`";

/// The entry of this format.
pub const LOG: JobLog = JobLog {
    name: "lsf",
    what: "output of `bjobs -json -o \"jobid stat exec_host\"`",
    known_by: &[
        KnownBy::Begin(|b| {
            b.body.starts_with('{')
                && b.text.contains("\"RECORDS\"")
                && b.text.contains("\"bjobs\"")
        }),
        // A table for people is refused with what to ask for: it breaks lines and cuts names.
        KnownBy::Line(|line| {
            line.starts_with("JOBID") && line.contains(" STAT ") && line.contains(" EXEC_HOST ")
        }),
    ],
    read: |reader, path, each| read_list(reader, (path, EXPECTED, "RECORDS"), job, each),
};

fn job(value: &Value, i: usize, remarks: &mut Remarks) -> Result<Record, &'static str> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).and_then(some);
    let id = text("JOBID").ok_or("JOBID")?;
    let id = match text("JOBINDEX").filter(|index| index != "0") {
        Some(index) => format!("{id}[{index}]"),
        None => id,
    };
    let state = match text("STAT").as_deref() {
        // Suspended before it began.
        Some("PEND" | "PSUSP" | "WAIT" | "PROV") => State::Pending,
        Some("RUN" | "USUSP" | "SSUSP" | "UNKWN") => State::Running,
        Some("DONE" | "EXIT" | "ZOMBI") => State::Completed,
        None => State::Unknown,
        Some(other) => {
            let what = format!("unheard-of state '{}' (entry {i})", shown(other));
            remarks.warn(0, what, "taken as unknown");
            State::Unknown
        }
    };
    let (nodes, slots) = match value.get("EXEC_HOST").and_then(Value::as_str) {
        None => (None, None),
        Some(list) => {
            if let Some((nodes, slots)) = hosts(list) {
                (Some(nodes), Some(slots))
            } else {
                let what = format!("'{}' (entry {i})", shown(list));
                remarks.warn(0, what, "expected hosts such as 16*n1:16*n2; nodes unknown");
                (None, None)
            }
        }
    };
    Ok(Record {
        id,
        state,
        submit: None,
        start: None,
        end: None,
        node_count: nodes.as_ref().map(Vec::len).filter(|&n| n > 0).map(|n| n as u32),
        nodes,
        processors: slots.filter(|&n| n > 0),
        user: text("USER"),
        partition: text("QUEUE"),
        line: i,
    }
    .settle())
}

/// Hosts in order, each once, and how many slots they give.
fn hosts(list: &str) -> Option<(Vec<String>, u32)> {
    if is_nothing(list) || list.trim() == "-" {
        return Some((Vec::new(), 0));
    }
    let mut slots = 0u32;
    let mut nodes = Vec::new();
    for item in list.split(':').map(str::trim).filter(|item| !item.is_empty()) {
        let (count, host) = match item.split_once('*') {
            Some((count, host)) => (count.parse().ok()?, host),
            None => (1, item),
        };
        if host.is_empty() || host.contains(char::is_whitespace) {
            return None;
        }
        slots = slots.saturating_add(count);
        nodes.push(host.to_owned());
    }
    Some((unique(nodes), slots))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{all, short};

    #[test]
    fn jobs_in_all_states() {
        let text = r#"{"COMMAND":"bjobs", "JOBS":5, "RECORDS":[
            {"JOBID":"101", "STAT":"RUN", "EXEC_HOST":"16*a01:16*a02", "USER":"me", "QUEUE":"normal"},
            {"JOBID":"102", "JOBINDEX":"3", "STAT":"SSUSP", "EXEC_HOST":"a03:a03:a04"},
            {"JOBID":"103", "STAT":"PEND", "EXEC_HOST":""}, {"JOBID":"104", "STAT":"DONE", "EXEC_HOST":"x*a01"},
            {"JOBID":"105", "STAT":"FOO", "EXEC_HOST":"-"}, {"STAT":"RUN"}]}"#;
        let (jobs, messages) = all(LOG.read, text);
        insta::assert_snapshot!(short(&jobs), @r#"
        1: 101 Running ?..? on a01+a02, Some(2) Some(32), "me" "normal"
        2: 102[3] Running ?..? on a03+a04, Some(2) Some(3), "?" "?"
        3: 103 Pending ?..? on , None None, "?" "?"
        4: 104 Completed ?..? on ?, None None, "?" "?"
        5: 105 Unknown ?..? on , None None, "?" "?"
        "#);
        insta::assert_snapshot!(messages, @r"
        warning: 'x*a01' (entry 4) (expected hosts such as 16*n1:16*n2; nodes unknown)
        warning: unheard-of state 'FOO' (entry 5) (taken as unknown)
        warning: entry 6 has no JOBID (left out)
        ");
        assert!(super::super::detect(text).is_some_and(|log| *log == LOG));
    }
}
