//! `darkfiber hot`: hot channels, who suffers, what to change.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{Run, folder, run_in};

/// Two jobs whose messages meet on one of the two spines, in both directions.
const CROSSING: &str = include_str!("crossing.toml");

fn hot(scenario: &str, options: &str) -> Run {
    let dir = folder(&[("s.toml", scenario)]);
    run_in(dir.path(), &format!("hot s.toml -q {options}"))
}

fn at<'a>(json: &'a Value, pointer: &str) -> &'a Value {
    json.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}: {json}"))
}

#[test]
fn flows_that_meet_are_parted() {
    let json = hot(CROSSING, "--format json").json();
    let mib = f64::from(1 << 20);
    assert_eq!(at(&json, "/now/most"), 2.0 * mib);
    assert_eq!(at(&json, "/then/most"), mib);
    assert_eq!((at(&json, "/now/idle"), at(&json, "/then/idle")), (&4.into(), &0.into()));
    assert_eq!(at(&json, "/moves").as_array().map(Vec::len), Some(2));
    assert_eq!(
        (at(&json, "/entries_changed"), at(&json, "/blocks_changed")),
        (&2.into(), &2.into())
    );
    assert_eq!(at(&json, "/coexistence/verdict"), "any-order");
    for job in 0..2 {
        assert_eq!(at(&json, &format!("/jobs/{job}/slowdown")), 1.0);
        assert_eq!(at(&json, &format!("/jobs/{job}/then_slowdown")), 0.0);
        assert_eq!(at(&json, &format!("/channels/0/jobs/{job}/bytes")), 1 << 20);
    }
    assert_eq!(at(&json, "/jobs/0/by/0/job"), "b");
    let csv = hot(CROSSING, "--format csv --moves 1").out;
    assert_snapshot!(csv, @r"
    switch,guid,lid,destination,old_port,new_port,bytes,fullest_then
    leaf001,0x0000500000010001,5,cn0005,5,6,1048576,2097152
    ");
}

#[test]
fn new_tables_are_written_and_sound() {
    let dir = folder(&[("s.toml", CROSSING)]);
    let run = run_in(dir.path(), "hot s.toml -o new --svg hot.svg");
    assert_eq!(run.code, 0, "{}", run.err);
    let fabric = "pgft:m=4x2,w=1x2,p=1x1";
    assert_eq!(run_in(dir.path(), &format!("check {fabric} --routes new -q")).code, 0);
    // By the new tables nothing is left to do.
    let with = CROSSING.replace("engine = \"updn\"", "tables = \"new\"");
    fs::write(dir.path().join("t.toml"), with).expect("a file");
    let again = run_in(dir.path(), "hot t.toml --format json -q").json();
    assert_eq!(at(&again, "/now/most"), f64::from(1 << 20));
    assert!(at(&again, "/moves").as_array().is_some_and(Vec::is_empty));
    let svg = fs::read_to_string(dir.path().join("hot.svg")).expect("written");
    assert!(svg.contains("after 2 changed entries") && !svg.contains("NaN"));
}

#[test]
fn no_change_is_an_answer() {
    let run = hot(CROSSING, "--max-load 2MiB");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("no change: no channel is hot"), "{}", run.out);
    // One message is not parted by any table.
    let run = hot(CROSSING, "--max-load 0.5MiB");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("8 channels stay hot whatever is changed"), "{}", run.out);
    let one = CROSSING.split("[[job]]").take(2).collect::<Vec<_>>().join("[[job]]");
    let run = hot(&one, "");
    assert!(run.out.contains("no change: no other entry helps"), "{}", run.out);
}

#[test]
fn every_policy_helps() {
    for policy in ["first", "largest", "path", "best"] {
        let json = hot(CROSSING, &format!("--policy {policy} --format json")).json();
        assert_eq!(at(&json, "/then/most"), f64::from(1 << 20), "{policy}");
    }
}

#[test]
fn bad_input() {
    let error = |scenario: &str, options: &str, code: i32| {
        let run = hot(scenario, options);
        assert_eq!((run.code, run.out.as_str()), (code, ""), "{}", run.err);
        run.err.lines().next().unwrap_or_default().to_owned()
    };
    assert_snapshot!(error(CROSSING, "--max-load much", 3), @"error: --max-load: \"much\" is no size: write a number and a unit, for example 64KiB or 1.5GB");
    assert_snapshot!(error("fabric = 3", "", 3), @"error: s.toml: line 1: invalid type: integer `3`, expected a string");
    assert_snapshot!(error(&CROSSING.replace("cn0005", "nobody"), "", 3), @"error: s.toml: job 1: no host of the fabric is called 'nobody'");
}
