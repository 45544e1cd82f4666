//! Traces of a training step, from files that a scenario names by a pattern.

use std::fmt::Write as _;
use std::fs;

use darkfiber_scenario::{Case, Files, Folder, ScenarioFile};

/// A scenario on one switch of four hosts, in this folder.
fn case(folder: &Folder, job: &str) -> Result<Case, darkfiber_scenario::Error> {
    let text = format!(
        "fabric = \"hyperx:dims=1,t=4,gbps=100\"\n[routes]\nengine = \"minhop\"\n[[job]]\nlibrary = \"nccl\"\n{job}\n"
    );
    ScenarioFile::parse(&text, "step.toml")?.resolve(folder, &mut ())
}

fn seconds(folder: &Folder, job: &str) -> f64 {
    let case = case(folder, job).unwrap_or_else(|e| panic!("{e:?}"));
    case.run(None, &mut |_| ()).expect("it ends").end as f64 * 1e-12
}

/// A step of four NPUs: 100 us of computing, then an Allreduce of 8 MiB concurrent with more computing, and another one after both.
fn traces(micros: u64) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("et")).expect("a folder");
    for npu in 0..4 {
        let mut nodes = String::new();
        for (id, kind, before, runtime, more) in [
            (1, 4, "[]", 100, "\"stream\": 7"),
            (2, 4, "[1]", micros, "\"stream\": 7"),
            (3, 7, "[1]", 0, "\"comm_type\": 0, \"comm_size\": 8388608"),
            (4, 7, "[2, 3]", 0, "\"comm_type\": 0, \"comm_size\": 8388608"),
        ] {
            let sep = if id == 1 { "" } else { "," };
            let _infallible = write!(
                nodes,
                "{sep}{{\"Id\": {id}, \"NodeType\": {kind}, \"data_deps\": {before}, \"runtime\": {runtime}, \
                 \"is_cpu_op\": false, {more}}}"
            );
        }
        let text = format!("{{\"workload_graph\": [{nodes}]}}");
        fs::write(dir.path().join(format!("et/step.{npu}.et")), text).expect("written");
    }
    dir
}

/// Computation continues during the collective, and an operation that waits for both starts when both are done.
#[test]
fn computing_and_collectives_overlap() {
    let nowhere = Folder::default();
    let one = seconds(&nowhere, "traffic = \"imb:op=allreduce,bytes=8MiB\"");
    assert!(one > 5e-4, "8 MiB at 12.5 GB/s, {one}");
    for micros in [50, 5_000] {
        let dir = traces(micros);
        let folder = Folder(dir.path().to_owned());
        let expected = 1e-4 + one.max(micros as f64 * 1e-6) + one;
        for files in ["files = \"et/*.et\"", "files = [\"et/step.?.et\"]", "files = [\"et\"]"] {
            let found = seconds(&folder, files);
            assert!((found - expected).abs() < 1e-9, "{files}: {found} {expected}");
        }
    }
}

/// Patterns without a match give an error; existing names are not patterns.
#[test]
fn names_of_files() {
    let dir = traces(1);
    let folder = Folder(dir.path().to_owned());
    for (files, expected) in [
        ("files = \"et/*.json\"", "no file matches et/*.json"),
        ("files = \"et/[\"", "et/["),
        ("files = 3", "a name or a list of names"),
    ] {
        let error = case(&folder, files).err().unwrap_or_else(|| panic!("{files}"));
        assert!(error.to_string().contains(expected), "{files}: {error}");
    }
    fs::write(dir.path().join("et/a[1].et"), "").expect("written");
    assert_eq!(folder.matching("et/a[1].et").expect("it is there").len(), 1);
    assert_eq!(folder.matching("et/step.*.et").expect("four").len(), 4);
}
