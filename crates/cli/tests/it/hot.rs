//! `darkfiber hot`: hot channels, the jobs slowed down, and the entries to change.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{Run, folder, run_in};

/// Two jobs whose messages meet on one of the two spines, in both directions.
const CROSSING: &str = include_str!("../../../../examples/crossing.toml");

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
        assert_eq!(at(&json, &format!("/jobs/{job}/slowdown")), 2.0);
        assert_eq!(at(&json, &format!("/jobs/{job}/then_slowdown")), 1.0);
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
    // With the new tables nothing is left to do.
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
    assert_snapshot!(error(CROSSING, "--max-load much", 2), @"error: --max-load: \"much\" is no size: write a number and a unit, for example 64KiB or 1.5GB");
    assert_snapshot!(error("fabric = 3", "", 3), @"error: s.toml: line 1: fabric: invalid type: integer `3`, expected a string");
    assert_snapshot!(error(&CROSSING.replace("cn0005", "nobody"), "", 3), @"error: s.toml: line 13: job 1: hosts: no host of the fabric is called 'nobody'");
}

/// A run on the fabric whose counters are shipped.
fn counted(options: &str, files: &[(&str, &str)]) -> Run {
    let dir = folder(files);
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/counters");
    for entry in fs::read_dir(&data).expect("it is there") {
        let path = entry.expect("a file").path();
        fs::copy(&path, dir.path().join(path.file_name().expect("named"))).expect("copied");
    }
    run_in(
        dir.path(),
        &format!("hot --fabric fabric.topo --routes lfts.dump --guid2lid guid2lid {options}"),
    )
}

#[test]
fn counters_tell_what_is_hot() {
    for kind in
        ["perfquery-before.txt perfquery-after.txt", "perfmgr-before.dump perfmgr-after.dump"]
    {
        let run = counted(&format!("-q --format json --counters {kind}"), &[]);
        assert_eq!(run.code, 0, "{}", run.err);
        let json = run.json();
        let number = |p: &str| at(&json, p).as_f64().expect("a number");
        // Two hosts send to cn0001 and cn0003 over one spine, three gigabytes.
        assert!((number("/channels/0/counted_bytes") - 3e9).abs() < 6e6, "{json}");
        assert_eq!(at(&json, "/channels/0/destinations/0/terminal"), "cn0003");
        assert!(number("/counters/residual") < 0.02, "{json}");
        assert_eq!(at(&json, "/counters/ports"), 24);
        let relieved = number("/then/most");
        assert!(relieved < 0.7 * number("/now/most"), "{relieved}");
    }
    // Jobs leave fewer pairs open.
    let jobs = "cn0001 a\ncn0005 a\ncn0002 b\ncn0007 b\ncn0003 b\ncn0004 b\n";
    let run = counted(
        "-q --jobs jobs --counters perfquery-before.txt perfquery-after.txt",
        &[("jobs", jobs)],
    );
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("the traffic of 14 pairs"), "{}", run.out);
    let all = counted("--counters perfquery-after.txt", &[]);
    assert!(all.err.contains("one reading of each port"), "{}", all.err);
}

#[test]
fn records_tell_what_is_hot() {
    let sent = "source,destination,bytes,job\ncn0001,cn0005,1000000000,a\ncn0002,cn0007,1000000000,b\n\
                cn0002,cn0002,5,b\nnobody,cn0002,5,b\n";
    let run = counted("--format json --sent sent.csv", &[("sent.csv", sent)]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("'nobody'") && run.err.contains("to itself"), "{}", run.err);
    let json = run.json();
    assert_eq!(at(&json, "/now/most"), 2e9);
    assert_eq!(at(&json, "/then/most"), 1e9);
    assert_eq!(at(&json, "/jobs/0/slowdown"), 2.0);
    // The same as demands; their jobs are in the list of jobs.
    let files = [
        ("sent", "cn0001: cn0005=1000000000\ncn0002: cn0007=1000000000\n"),
        ("jobs", "cn0001 a\ncn0005 a\n"),
    ];
    let run = counted("-q --format json --sent sent --jobs jobs", &files);
    assert_eq!(run.code, 0, "{}", run.err);
    let names: Vec<Value> =
        (0..2).map(|j| at(&run.json(), &format!("/jobs/{j}/job")).clone()).collect();
    assert!(names.contains(&"a".into()) && names.contains(&"no job".into()), "{names:?}");
}

#[test]
fn what_was_counted_elsewhere_is_refused() {
    let refused = |options: &str, files: &[(&str, &str)], code: i32| {
        let run = counted(options, files);
        assert_eq!((run.code, run.out.as_str()), (code, ""), "{options}: {}", run.err);
        run.err
    };
    assert_snapshot!(refused("", &[], 2), @r"
    error: give --sent or --counters: what was sent
    hint: two files of perfquery -x, before and after, are enough
    ");
    assert_snapshot!(refused("--counters x", &[("x", "guid,port,xmit_data\n0x1,1,5\n")], 3), @r"
    error: x: 1 of 1 ports are not in the fabric, for example port 1 of 0x1; expected counters of this fabric
    hint: give the fabric that they were read from, and for LIDs its tables or --guid2lid
    ");
    assert_snapshot!(refused("--counters x", &[("x", "hello\n")], 3), @r"
    error: x: no column of it is the GUID, LID or name of who has a port; expected port counters: perfquery -x, OpenSM's perfmgr dump, ibdiagnet's db_csv or .pm, Prometheus text, or a table with a heading
    hint: a table has columns guid, lid or name; port; xmit_data and rcv_data (words) or xmit_bytes and rcv_bytes; time
    ");
    assert_snapshot!(refused("--sent x", &[("x", "source,destination,bytes\nx,y,5\n")], 3), @r"
    error: x: no name in it is one of the fabric's hosts, for example 'x'; expected records of what was sent, with columns source, destination and bytes
    hint: the file is for other node names; --aliases FILE tells them
    ");
    assert_snapshot!(refused("--sent x", &[("x", "hello\n")], 3), @"error: x: no line has a colon; expected demands, 'source: destination=weight ...' on each line");
    // 32-bit counters that wrapped, and some that ran backwards.
    let odd = "# Port counters: Lid 1 port 1\nPortXmitData:....4294967290\n\
               # Port counters: Lid 1 port 1\nPortXmitData:....10\n\
               # Port extended counters: Lid 2 port 1\nPortXmitData:....9\n\
               # Port extended counters: Lid 2 port 1\nPortXmitData:....5\n";
    let run = counted("--counters x", &[("x", odd)]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("gone round") && run.err.contains("ran backwards"), "{}", run.err);
}

#[test]
fn thresholds_that_cannot_be_reached_and_tables_that_loop() {
    // All traffic to one destination: no entry helps.
    let sent = "source,destination,bytes\ncn0001,cn0005,5000000\ncn0002,cn0005,5000000\n";
    let run = counted("-q --sent sent.csv --max-load 1MB", &[("sent.csv", sent)]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("hot whatever is changed"), "{}", run.out);
    // Entries that send to each other.
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/counters");
    let tables = fs::read_to_string(data.join("lfts.dump")).expect("it is there");
    let looping = tables.replacen("0x0005 005", "0x0005 001", 1);
    assert_ne!(looping, tables);
    let options = "-q --sent sent.csv --format json --routes bad.dump";
    let dir = folder(&[("sent.csv", sent), ("bad.dump", &looping)]);
    for name in ["fabric.topo", "guid2lid"] {
        fs::copy(data.join(name), dir.path().join(name)).expect("copied");
    }
    let run =
        run_in(dir.path(), &format!("hot --fabric fabric.topo --guid2lid guid2lid {options}"));
    assert_eq!(run.code, 1, "{}", run.err);
    assert_eq!(at(&run.json(), "/lost"), 2);
}

/// What is for tables in place is not passed over where a scenario names everything.
#[test]
fn options_without_a_scenario_are_refused_beside_one() {
    let scenario = "fabric = \"kary:k=2,n=2\"\n[routes]\nengine = \"updn\"\n[[job]]\ntraffic = \"alltoall:bytes=1KiB\"\n";
    let dir = crate::folder(&[("s.toml", scenario)]);
    for command in ["hot", "place", "blast"] {
        for option in ["--routes tables", "--jobs now", "--counters a b"] {
            let run = crate::run_in(dir.path(), &format!("{command} s.toml {option}"));
            assert_eq!(run.code, 2, "{command} {option}: {} {}", run.out, run.err);
        }
    }
    assert_eq!(crate::run_in(dir.path(), "hot s.toml -q").code, 0);
}
