//! `flux jobs --json`: the jobs of Flux (LLNL).
//!
//! An entry has `id`, `state` (`DEPEND`, `PRIORITY`, `SCHED`, `RUN`, `CLEANUP`, `INACTIVE`), `nodelist` as a hostlist, and times of its
//! states in Unix seconds with fractions (`t_submit`, `t_run`, `t_cleanup`, `t_inactive`), 0 where there was none yet.

use serde_json::Value;

use super::json::read_list;
use super::lines::{Remarks, shown};
use super::log::JobLog;
use super::record::{Record, State, some};
use super::table::{listed, node_list};
use darkfiber_formats::known_by::KnownBy;

const EXPECTED: &str = "jobs of Flux in JSON ({\"jobs\": [...]})";

/// The entry of this format.
pub const LOG: JobLog = JobLog {
    name: "flux",
    what: "output of `flux jobs --json`",
    known_by: &[KnownBy::Begin(|b| b.body.starts_with('{') && b.text.contains("\"t_submit\""))],
    read: |reader, path, each| read_list(reader, (path, EXPECTED, "jobs"), job, each),
};

fn job(value: &Value, i: usize, remarks: &mut Remarks) -> Result<Record, &'static str> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).and_then(some);
    let id = match value.get("id") {
        Some(Value::Number(id)) => id.to_string(),
        Some(Value::String(id)) if !id.is_empty() => id.clone(),
        _ => return Err("id"),
    };
    let state = match text("state").as_deref() {
        Some("DEPEND" | "PRIORITY" | "SCHED" | "NEW") => State::Pending,
        // The nodes are not free before the epilogue is through.
        Some("RUN" | "CLEANUP") => State::Running,
        Some("INACTIVE") => State::Completed,
        None => State::Unknown,
        Some(other) => {
            let what = format!("unheard-of state '{}' (entry {i})", shown(other));
            remarks.warn(0, what, "taken as unknown");
            State::Unknown
        }
    };
    let time = |key: &str| {
        let seconds = value.get(key).and_then(Value::as_f64).filter(|&t| t > 0.0)?;
        Some(seconds.min(1e15) as i64)
    };
    let count =
        |key: &str| value.get(key).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
    let nodes =
        value.get("nodelist").and_then(Value::as_str).and_then(|list| node_list(list, 0, remarks));
    Ok(Record {
        id,
        state,
        submit: time("t_submit"),
        start: time("t_run"),
        end: time("t_inactive").or_else(|| time("t_cleanup")),
        node_count: listed(nodes.as_deref(), count("nnodes"), 0, remarks),
        nodes,
        processors: count("ncores"),
        user: text("username"),
        partition: text("queue"),
        line: i,
    }
    .settle())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{all, short};

    #[test]
    fn jobs_in_all_states() {
        let text = r#"{"jobs": [
            {"id": 81923113615360, "userid": 5588, "urgency": 16, "priority": 16, "t_submit": 100.25, "t_run": 110.9,
             "state": "RUN", "name": "a", "queue": "pbatch", "ntasks": 2, "ncores": 96, "nnodes": 2, "ranks": "[0-1]",
             "nodelist": "tuolumne[1001-1002]", "username": "me", "t_inactive": 0.0},
            {"id": "fA5", "t_submit": 200.0, "state": "SCHED", "nodelist": "", "nnodes": ""},
            {"id": "fA6", "t_submit": 1.0, "t_run": 2.0, "t_cleanup": 8.0, "t_inactive": 9.5, "state": "INACTIVE", "nodelist": "n[1,3]"},
            {"id": "fA7", "state": "DANCING"}, {"state": "RUN"}, 7]}"#;
        let (jobs, messages) = all(LOG.read, text);
        insta::assert_snapshot!(short(&jobs), @r#"
        1: 81923113615360 Running 110..? on tuolumne1001+tuolumne1002, Some(2) Some(96), "me" "pbatch"
        2: fA5 Pending ?..? on , None None, "?" "?"
        3: fA6 Completed 2..9 on n1+n3, Some(2) None, "?" "?"
        4: fA7 Unknown ?..? on ?, None None, "?" "?"
        "#);
        insta::assert_snapshot!(messages, @r"
        warning: unheard-of state 'DANCING' (entry 4) (taken as unknown)
        warning: entry 5 has no id (left out)
        warning: entry 6 has no id (left out)
        ");
        assert!(super::super::detect(text).is_some_and(|log| *log == LOG));
        assert!(all(LOG.read, "{\"jobs\": 3}").1.contains("it holds no list 'jobs'"));
    }
}
