//! `qstat -f -F json` of PBS Professional and OpenPBS: the keys of `qstat -f`, lists of resources as objects.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use serde_json::Value;

use super::json;
use super::lines::Remarks;
use super::log::JobLog;
use super::pbs::{Arrays, Block};
use super::record::Record;
use darkfiber_formats::known_by::KnownBy;
use darkfiber_formats::{Diagnostics, ReadError};

const EXPECTED: &str = "jobs of PBS: `qstat -f -F json`";

/// The entry of this format.
pub const LOG: JobLog = JobLog {
    name: "pbs-json",
    what: "output of `qstat -f -F json`",
    known_by: &[KnownBy::Begin(|b| b.body.starts_with('{') && b.text.contains("\"pbs_version\""))],
    read,
};

fn read(
    reader: &mut dyn BufRead,
    path: &Path,
    each: &mut dyn FnMut(Record),
) -> Result<Diagnostics, ReadError> {
    let value = json::value(reader, path, EXPECTED)?;
    let mut remarks = Remarks::default();
    let (mut read, mut arrays) = (0, Arrays::default());
    // Without any job there is no such key; what other commands print has another one.
    let jobs = match value.get("Jobs") {
        Some(Value::Object(jobs)) => Some(jobs),
        None if ["nodes", "Queue", "Server", "jobs"].iter().all(|key| value.get(key).is_none()) => {
            None
        }
        _ => {
            let what = "it holds no object 'Jobs'".to_owned();
            return Err(ReadError::not_such(path, what, EXPECTED, ""));
        }
    };
    for (i, (id, keys)) in jobs.into_iter().flatten().enumerate() {
        if !keys.is_object() {
            remarks.left_out(0, format!("job {id} has no keys"), "left out");
            continue;
        }
        let mut values = BTreeMap::new();
        flatten("", keys, &mut values);
        read += 1;
        let record = Block::of_values(id, i + 1, values).job(&mut remarks);
        arrays.take(record).into_iter().for_each(&mut *each);
    }
    arrays.rest().for_each(each);
    remarks.finish(read, path, EXPECTED)
}

/// Values by key; those of an object have its key and a dot before their own.
fn flatten(key: &str, value: &Value, values: &mut BTreeMap<String, String>) {
    let text = match value {
        Value::Object(inner) => {
            for (name, value) in inner {
                let name = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                flatten(&name, value, values);
            }
            return;
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    values.insert(key.to_owned(), text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{all, short};

    #[test]
    fn jobs_of_json() {
        let text = r#"{"timestamp":1618432467,"pbs_version":"20.0.1","pbs_server":"s","Jobs":{
            "1008.s":{"Job_Name":"n","Job_Owner":"me@s","job_state":"R","queue":"q","qtime":"Wed Apr 14 23:34:17 2021",
                "exec_host":"n1/0*4+n2/1","Resource_List":{"ncpus":5,"nodect":2},"stime":"Wed Apr 14 23:34:19 2021"},
            "1009.s":{"job_state":"Q","Resource_List":{"nodect":3}}}}"#;
        let (jobs, messages) = all(LOG.read, text);
        assert_eq!(messages, "");
        insta::assert_snapshot!(short(&jobs), @r#"
        1: 1008.s Running 1618443259..? on n1+n2, Some(2) Some(5), "me" "q"
        2: 1009.s Pending ?..? on ?, Some(3) None, "?" "?"
        "#);
        assert_eq!(all(LOG.read, r#"{"pbs_version":"20.0.1"}"#), (vec![], String::new()));
        for other in [r#""nodes":{"n1":{"jobs":["1.s/0"]}}"#, r#""Queue":{}"#, r#""Jobs":[]"#] {
            let (jobs, message) = all(LOG.read, &format!("{{\"pbs_version\":\"20\",{other}}}"));
            assert!(jobs.is_empty() && message.contains("no object 'Jobs'"), "{message}");
        }
    }
}
