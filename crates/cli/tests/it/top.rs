//! `darkfiber top`, and the map of a daemon that runs.

use serde_json::Value;

use crate::operate::{BUSY, put, site, start, status};
use crate::{run, run_in};

#[test]
fn a_daemon_shows_what_runs() {
    let dir = site();
    let d = dir.path();
    put(d, "jobs", BUSY);
    let program = start(d);
    status(d, "decision   1 proposed");

    // As JSON.
    let (code, text) = program.page("GET", "/top");
    assert_eq!(code, 200, "{text}");
    let top: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&top["site"], &top["running"], &top["efi"]),
        (&"test".into(), &3.into(), &12.into())
    );
    let channels = top["channels"].as_array().expect("channels");
    assert_eq!(channels[0]["routes"], 12, "the fullest first: {}", channels[0]);
    assert!(channels[0]["share"].is_null(), "nobody gave counters");
    let jobs = top["jobs"].as_array().expect("jobs");
    let slowdown = |j: &Value| j["slowdown"].as_f64().expect("a number");
    assert!(slowdown(&jobs[0]) > 1.0 && slowdown(&jobs[0]) >= slowdown(&jobs[2]), "{jobs:?}");

    // In a terminal, printed once.
    let address = program.address();
    let printed = run(&format!("top {address} --once"));
    assert_eq!((printed.code, printed.err.as_str()), (0, ""), "{}", printed.out);
    assert!(printed.out.starts_with("test: fabric: 7 switches, 24 terminals; "), "{}", printed.out);
    let rows = |out: &str| out.lines().filter(|l| l.contains(" port ")).count();
    let filtered = run(&format!("top {address} --once --filter leaf001"));
    assert!(rows(&filtered.out) > 0 && rows(&filtered.out) < rows(&printed.out));
    assert_eq!(run(&format!("top {address} --once --filter nobody")).code, 0);
    // Without a terminal nothing is drawn; other forms are refused.
    for (line, why) in [
        (format!("top {address}"), "--once prints one look"),
        (format!("top {address} --once --format json"), "/top` is JSON"),
    ] {
        let refused = run(&line);
        assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{line}: {}", refused.err);
        assert!(refused.err.contains(why), "{line}: {}", refused.err);
    }

    // The map, to look at.
    let (code, html) = program.page("GET", "/map");
    assert_eq!(code, 200);
    assert!(html.contains("<!doctype html>") && html.contains("as it runs"), "{}", &html[..400]);
    assert_eq!(program.page("GET", "/map").1.len(), html.len(), "the same again");
    assert_eq!(program.page("POST", "/map").0, 405);
}

#[test]
fn a_daemon_that_knows_nothing_yet_says_so() {
    let dir = site();
    let d = dir.path();
    put(d, "even/lfts.dump", "no tables\n");
    let program = start(d);
    let printed = run(&format!("top {} --once", program.address()));
    assert_eq!(printed.code, 0, "{}", printed.err);
    assert!(printed.out.contains("fabric or tables are not read yet"), "{}", printed.out);
    let (code, text) = program.page("GET", "/map");
    assert_eq!(code, 503, "{text}");
}

#[test]
fn where_nobody_listens() {
    let dir = tempfile::tempdir().expect("a directory");
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr();
    let free = free.expect("an address");
    let run = run_in(dir.path(), &format!("top {free} --once"));
    assert_eq!((run.code, run.out.as_str()), (3, ""), "{}", run.err);
    assert!(run.err.contains("darkfiber operate") && run.err.contains("http"), "{}", run.err);
    for (address, why) in [
        ("10.1.2.3:9684", "serves its own host only"),
        ("localhost", "an address and a port are expected"),
        ("127.0.0.1:0", "serves its own host only"),
    ] {
        let refused = run_in(dir.path(), &format!("top {address} --once"));
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(refused.err.contains(why), "{}", refused.err);
    }
}
