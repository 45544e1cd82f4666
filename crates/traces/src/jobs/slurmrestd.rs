//! JSON of SLURM: `/jobs` of slurmrestd, `squeue --json`, `scontrol show job --json`, `sacct --json`.
//!
//! Its form changed from version to version: numbers are plain or `{"set": true, "infinite": false, "number": 5}`,
//! states a word or a list of words, the nodes a hostlist in `nodes` or within `job_resources`; `sacct` has
//! times in `time` and states in `state.current`. All of these are understood, in any mixture.

use serde_json::Value;

use super::json::read_list;
use super::lines::Remarks;
use super::log::JobLog;
use super::record::{Record, State, is_former_run, slurm_state, some};
use super::table::{listed, node_list, state};
use darkfiber_formats::known_by::{Begin, KnownBy};

const EXPECTED: &str = "jobs of SLURM in JSON ({\"jobs\": [...]})";

/// The entry of this format.
pub const LOG: JobLog = JobLog {
    name: "slurmrestd",
    what: "jobs of SLURM in JSON",
    known_by: &[KnownBy::Begin(is_such)],
    read: |reader, path, each| read_list(reader, (path, EXPECTED, "jobs"), entry, each),
};

fn is_such(b: &Begin<'_>) -> bool {
    b.body.starts_with(['{', '[']) && b.text.contains("\"job")
}

fn entry(value: &Value, i: usize, remarks: &mut Remarks) -> Result<Record, &'static str> {
    Ok(job(id(value).ok_or("job_id")?, value, i, remarks))
}

/// A number, plain or wrapped; `None` if it is not set, or infinite.
fn number(value: &Value) -> Option<i64> {
    let flag = |key: &str| value.get(key).and_then(Value::as_bool);
    if flag("set") == Some(false) || flag("infinite") == Some(true) {
        return None;
    }
    let plain = value.get("number").unwrap_or(value);
    plain.as_i64().or_else(|| plain.as_str()?.parse().ok())
}

/// A number above zero, the first that one of the places has.
fn first(value: &Value, places: &[&str]) -> Option<i64> {
    places.iter().filter_map(|p| number(value.pointer(p)?)).find(|&n| n > 0)
}

fn count(value: &Value, places: &[&str]) -> Option<u32> {
    first(value, places).and_then(|n| u32::try_from(n).ok())
}

/// A text that is not empty, the first that one of the places has.
fn text(value: &Value, places: &[&str]) -> Option<String> {
    places.iter().find_map(|p| some(value.pointer(p)?.as_str()?))
}

fn id(value: &Value) -> Option<String> {
    let plain = first(value, &["/job_id"])?;
    if let Some(job) = first(value, &["/het_job_id", "/het/job_id"]) {
        let places = ["/het_job_offset", "/het/job_offset"];
        let component = places.iter().find_map(|p| number(value.pointer(p)?)).unwrap_or(0);
        return Some(format!("{job}+{component}"));
    }
    let Some(array) = first(value, &["/array_job_id", "/array/job_id"]) else {
        return Some(plain.to_string());
    };
    // Plain zeros of old versions mean "no element", except where there is an array.
    let task = ["/array_task_id", "/array/task_id"].iter().find_map(|p| number(value.pointer(p)?));
    let waiting = text(value, &["/array_task_string", "/array/task"]);
    Some(match (task, waiting) {
        (_, Some(tasks)) => format!("{array}_[{tasks}]"),
        (Some(task), None) => format!("{array}_{task}"),
        (None, None) => plain.to_string(),
    })
}

/// The words of a state, as tables have them.
fn words(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("+"),
        _ => String::new(),
    }
}

/// The state in words: the base state, unless one of them means that the job is being cleaned up.
fn states(joined: &str, i: usize, remarks: &mut Remarks) -> State {
    if joined.is_empty() {
        return State::Unknown;
    }
    slurm_state(joined).unwrap_or_else(|| state(&format!("{joined} (entry {i})"), 0, remarks))
}

fn job(id: String, value: &Value, i: usize, remarks: &mut Remarks) -> Record {
    let said = ["/job_state", "/state/current", "/state"]
        .iter()
        .find_map(|p| value.pointer(p).filter(|v| v.is_string() || v.is_array()))
        .map_or_else(String::new, words);
    let mut state = states(&said, i, remarks);
    // Ends in `time` are those of accounting, and have come.
    if is_former_run(&said)
        && [["/time/start"], ["/time/end"]].iter().all(|p| first(value, p).is_some())
    {
        state = State::Completed;
    }
    let list = [
        "/nodes",
        "/job_resources/nodes/list",
        "/job_resources/nodes",
        "/job_resources/allocated_hosts",
    ]
    .iter()
    .filter_map(|p| value.pointer(p)?.as_str())
    .reduce(|a, b| if some(a).is_some() { a } else { b });
    let nodes = list.and_then(|list| node_list(list, 0, remarks));
    let places = [
        "/node_count",
        "/allocation_nodes",
        "/job_resources/nodes/count",
        "/job_resources/allocated_nodes",
    ];
    Record {
        id,
        state,
        submit: first(value, &["/submit_time", "/time/submission"]),
        start: first(value, &["/start_time", "/time/start"]),
        end: first(value, &["/end_time", "/time/end"]),
        node_count: listed(nodes.as_deref(), count(value, &places), 0, remarks),
        nodes,
        processors: count(
            value,
            &["/job_resources/cpus", "/job_resources/allocated_cpus", "/cpus", "/required/CPUs"],
        ),
        user: text(value, &["/user_name", "/user", "/association/user"]),
        partition: text(value, &["/partition"]),
        line: i,
    }
    .settle()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{all, short};

    #[test]
    fn forms_of_all_versions() {
        let text = r#"{"jobs": [
            {"job_id": 1, "job_state": "RUNNING", "start_time": 100, "end_time": 200, "nodes": "n[1-2]",
             "node_count": 2, "cpus": 8, "user_name": "me", "partition": "p", "array_job_id": 0, "array_task_id": null},
            {"job_id": 2, "job_state": ["COMPLETED", "COMPLETING"], "submit_time": {"set": true, "infinite": false, "number": 90},
             "start_time": {"set": true, "infinite": false, "number": 100}, "nodes": "",
             "job_resources": {"nodes": {"count": 1, "list": "n1"}, "cpus": 4},
             "node_count": {"set": true, "infinite": false, "number": 1}, "cpus": {"set": false, "infinite": false, "number": 0}},
            {"job_id": 9, "job_state": ["PENDING"], "array_job_id": {"set": true, "infinite": false, "number": 9},
             "array_task_id": {"set": false, "infinite": false, "number": 0}, "array_task_string": "1-4", "nodes": ""},
            {"job_id": 10, "job_state": ["FOO"], "array_job_id": {"set": true, "number": 9}, "array_task_id": {"set": true, "number": 0},
             "nodes": "n[1", "end_time": {"set": true, "infinite": true, "number": 7}},
            {"job_id": 11, "state": {"current": ["TIMEOUT"]}, "time": {"start": 5, "end": 6, "submission": 4}, "nodes": "None assigned",
             "allocation_nodes": 1, "association": {"user": "you"}, "required": {"CPUs": 3}},
            {"job_id": 12, "state": {"current": ["REQUEUED"]}, "time": {"start": 5, "end": 6}, "nodes": "n3"},
            {"name": "no id"}, 7]}"#;
        let (jobs, messages) = all(LOG.read, text);
        insta::assert_snapshot!(short(&jobs), @r#"
        1: 1 Running 100..? on n1+n2, Some(2) Some(8), "me" "p"
        2: 2 Running 100..? on n1, Some(1) Some(4), "?" "?"
        3: 9_[1-4] Pending ?..? on , None None, "?" "?"
        4: 9_0 Unknown ?..? on ?, None None, "?" "?"
        5: 11 Completed 5..6 on , Some(1) Some(3), "you" "?"
        6: 12 Completed 5..6 on n3, Some(1) None, "?" "?"
        "#);
        insta::assert_snapshot!(messages, @r"
        warning: unheard-of state 'FOO (entry 4)' (taken as unknown)
        warning: '[' without ']' in 'n[1' (nodes unknown; columns of fixed width cut lists off: ask for wider ones, or %N)
        warning: entry 7 has no job_id (left out)
        warning: entry 8 has no job_id (left out)
        ");
    }

    #[test]
    fn other_json_is_refused() {
        insta::assert_snapshot!(all(LOG.read, "{\"nodes\": []}").1, @r#"log: it holds no list 'jobs'; expected jobs of SLURM in JSON ({"jobs": [...]})"#);
        insta::assert_snapshot!(all(LOG.read, "{\"jobs\": [").1, @r#"log: it is not JSON: EOF while parsing a list at line 1 column 10; expected jobs of SLURM in JSON ({"jobs": [...]})"#);
        insta::assert_snapshot!(all(LOG.read, "[1]").1, @r#"log: it says nothing about a job; entry 1 has no job_id; expected jobs of SLURM in JSON ({"jobs": [...]})"#);
        assert_eq!(all(LOG.read, "{\"jobs\": [], \"errors\": []}"), (vec![], String::new()));
    }

    /// SLURM answers with an empty list where it cannot reach its controller.
    #[test]
    fn answers_of_failures_are_no_idle_machine() {
        let failed = r#"{"jobs": [], "errors": [{"description": "", "error_number": 1007,
            "error": "Unable to contact slurm controller (connect failure)", "source": "slurm_load_jobs()"}]}"#;
        insta::assert_snapshot!(all(LOG.read, failed).1, @r#"log: it is the answer of a batch system that failed: 'Unable to contact slurm controller (connect failure)'; expected jobs of SLURM in JSON ({"jobs": [...]}) (ask for it again)"#);
        for fine in ["null", r#"[{"error_number": 9003, "error": "Nothing found with query"}]"#] {
            let text = format!("{{\"jobs\": [], \"errors\": {fine}}}");
            assert_eq!(all(LOG.read, &text), (vec![], String::new()));
        }
    }
}
