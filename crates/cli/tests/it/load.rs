//! `darkfiber load`: curves, deadlock, and refusals.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{Run, folder, run, run_in};

fn load(line: &str) -> Run {
    run_in(folder(&[]).path(), &format!("load {line} -q"))
}

fn points(run: &Run) -> Vec<Value> {
    let json = run.json();
    json["curves"][0]["points"].as_array().cloned().unwrap_or_default()
}

const SMALL: &str = "dragonfly:p=2,a=4,h=2 --switches booksim-iq --packet 16";

#[test]
fn latency_rises_with_the_load() {
    let run = load(&format!("{SMALL} -r ugal --loads 0.6,0.1,0.3 --format json"));
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let points = points(&run);
    let number = |p: &Value, key: &str| p[key].as_f64().expect("a number");
    assert_eq!(points.len(), 3);
    for (p, load) in points.iter().zip([0.1, 0.3, 0.6]) {
        assert!((number(p, "offered") - load).abs() < 1e-12);
        assert!((number(p, "accepted") - load).abs() < 0.03, "{p}");
        assert!(number(p, "error") < 0.05 * number(p, "mean"), "{p}");
        let order = ["p50", "p95", "p99", "p999", "max"].map(|key| number(p, key));
        assert!(order.is_sorted(), "{p}");
        assert_eq!(p["saturated"], false);
    }
    assert!(number(&points[0], "mean") < number(&points[1], "mean"));
    // Any number of threads, the same.
    let one = load(&format!("{SMALL} -r ugal --loads 0.6,0.1,0.3 --format csv --threads 1"));
    let two = load(&format!("{SMALL} -r ugal --loads 0.6,0.1,0.3 --format csv --threads 2"));
    assert_eq!(one.out, two.out);
    assert_eq!(one.out.lines().count(), 4);
}

#[test]
fn more_than_there_is_saturates() {
    let run = load(&format!("{SMALL} -r minimal --pattern adversarial --loads 0.05,0.9"));
    assert!(run.code == 0 && run.out.contains("* saturated"), "{}", run.out);
}

#[test]
fn tables_lock_if_they_can() {
    let line = "torus:dims=8,t=2 --switches booksim-iq --packet 16 --buffer 32B --loads 0.9 -e";
    let run = load(&format!("{line} sssp"));
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.out.contains("deadlock: each of these buffers"), "{}", run.out);
    let run = load(&format!("{line} dfsssp"));
    assert!(run.code == 0 && !run.out.contains("deadlock"), "{}{}", run.out, run.err);
}

#[test]
fn others_have_curves_where_one_routing_refuses() {
    let line = "fattree2:n=2,m=2,r=2 --loads 0.2 --measure 1us --warmup 1us -r";
    let run = load(&format!("{line} minimal,dor --format json"));
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let curves = &run.json()["curves"];
    assert_eq!(curves[0]["refused"], Value::Null);
    assert_eq!(points(&run).len(), 1);
    let why = "dor needs a whole HyperX, torus or mesh";
    assert_eq!(curves[1]["refused"], why);
    let run = load(&format!("{line} dor,minimal"));
    assert!(run.code == 0 && run.out.contains(&format!("dor: refused: {why}")), "{}", run.out);
    let run = load(&format!("{line} dor,dal"));
    assert!(run.code == 4 && run.err.contains(why), "{}", run.err);
}

#[test]
fn a_picture_is_drawn() {
    let dir = folder(&[]);
    let run = run_in(dir.path(), &format!("load {SMALL} -q --loads 0.2,0.4 --svg c.svg"));
    assert_eq!(run.code, 0, "{}", run.err);
    let svg = std::fs::read_to_string(dir.path().join("c.svg")).expect("drawn");
    assert_eq!(svg.matches("<polyline").count(), 6);
    // Where nothing arrives in time there is no latency, and the others are drawn all the same.
    let line =
        format!("load {SMALL} -q -r minimal --pattern adversarial --loads 0.05,0.9 --svg d.svg");
    assert_eq!(run_in(dir.path(), &line).code, 0);
    let svg = std::fs::read_to_string(dir.path().join("d.svg")).expect("drawn");
    assert!(svg.matches("text-anchor=\"end\"").count() > 2, "{svg}");
}

#[test]
fn a_folder_has_it_all() {
    let dir = folder(&[]);
    let line = format!("load {SMALL} -q -r ugal,minimal --loads 0.2,0.6 --interval 500ns -o there");
    let run = run_in(dir.path(), &line);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let mut names: Vec<String> = std::fs::read_dir(dir.path().join("there"))
        .expect("made")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| !name.ends_with(".parquet"))
        .collect();
    names.sort();
    let mut should =
        vec!["latencies.svg".to_owned(), "load.json".to_owned(), "load.svg".to_owned()];
    for routing in ["minimal", "ugal"] {
        for load in ["0.2", "0.6"] {
            should.push(format!("busy-{routing}-{load}.svg"));
            should.push(format!("stalled-{routing}-{load}.svg"));
        }
    }
    should.sort();
    assert_eq!(names, should);
    let spread = std::fs::read_to_string(dir.path().join("there/latencies.svg")).expect("drawn");
    assert_eq!(spread.matches("<polyline").count(), 4);
    // Intervals without a use are refused, and so are invalid values.
    for (more, code, why) in [
        ("--interval 1us", 2, "give -o DIR"),
        ("--degraded 2:1", 2, "SHARE:PART"),
        ("--bit-errors 0.5", 2, "no packet gets through"),
        ("--queues stack", 2, "stack"),
        ("--arbitration luck", 2, "luck"),
    ] {
        let run = run_in(dir.path(), &format!("load {SMALL} -q --loads 0.2 {more}"));
        assert!(run.code == code && run.err.contains(why), "{more}: {} {}", run.code, run.err);
    }
    // Wrong bits and slow cables cost time.
    let mean = |more: &str| {
        let run = load(&format!("{SMALL} -r minimal --loads 0.3 --format json {more}"));
        points(&run)[0]["mean"].as_f64().expect("a number")
    };
    assert!(mean("--bit-errors 1e-4") > mean("") && mean("--degraded 0.5:0.5") > mean(""));
}

#[test]
fn what_was_kept_goes_on() {
    let dir = folder(&[]);
    let run = |more: &str| {
        run_in(dir.path(), &format!("load {SMALL} -r ugal,valiant --format csv -q {more}"))
    };
    let whole = run("--loads 0.2,0.4");
    assert_eq!(run("--loads 0.2,0.4 --store kept --store-every 1us").out, whole.out);
    let kept = || fs::read_dir(dir.path().join("kept")).expect("a folder").count();
    assert_eq!(kept(), 4);
    // Another load is added to those that are there.
    let more = run("--loads 0.2,0.3,0.4 --store kept");
    assert_eq!((more.code, more.err.as_str()), (0, ""));
    assert!(whole.out.lines().all(|l| more.out.contains(l)), "{}", more.out);
    assert_eq!(kept(), 6);
    // Other switches and other destinations are other runs.
    for (i, other) in ["--buffer 128B", "--pattern adversarial", "--measure 2us"].iter().enumerate()
    {
        let line = format!("--loads 0.2 {other}");
        let found = run(&format!("{line} --store kept"));
        assert_eq!((&found.out, found.err.as_str()), (&run(&line).out, ""), "{other}");
        assert_eq!(kept(), 8 + 2 * i, "{other}");
    }
}

#[test]
fn bad_input() {
    let error = |line: &str, code: i32| {
        let run = load(line);
        assert_eq!((run.code, run.out.as_str()), (code, ""), "{line}: {}", run.err);
        run.err
    };
    assert_snapshot!(error(&format!("{SMALL} -r ugal --lanes 2"), 4), @r"
    error: ugal: this routing needs 6 virtual lanes to be free of deadlock, and there are 2: give as many, or take another routing
    ");
    assert_snapshot!(error(&format!("{SMALL} --buffer 8B"), 2), @r"
    error: a buffer of 8 B has no room for a packet of 16 B: make it larger, or packets smaller
    ");
    assert_snapshot!(error(&format!("{SMALL} --loads 0.5,1.5"), 2), @r"
    error: --loads: 1.5 is not above 0 and at most 1
    hint: loads are parts of what channels of terminals carry
    ");
    assert_snapshot!(error(&format!("{SMALL} -r ugla"), 2), @r"
    error: no routing is called 'ugla'
    hint: did you mean ugal?
    ");
    assert_snapshot!(error(&format!("{SMALL} -r dal"), 4), @r"
    error: dal: dal needs a whole HyperX
    ");
    assert_snapshot!(error(&format!("{SMALL} -r tables"), 2), @r"
    error: tables of whom? give -e ENGINE or --routes PATH
    ");
    assert_snapshot!(error("hyperx:dims=3x3,t=2 --switches rosette", 2), @r"
    error: no switch is called 'rosette'
    hint: did you mean rosetta?
    ");
    assert_snapshot!(error("hyperx:dims=3x3,t=2 --global-cable 1us", 2), @r"
    error: --global-cable: there are groups on dragonflies only
    ");
    assert_snapshot!(error("hyperx:dims=3x3,t=2 --packet 1B", 4), @r"
    error: minimal: a packet of 1 B passes a channel in less than a tick of 1000 ps: make it longer
    ");
    assert_snapshot!(error("hyperx:dims=3x3,t=2 --packet 32MiB --buffer 64MiB", 2), @"error: --packet: 33554432 B is no size of a packet: 1 B to 16777216 B are");
    assert_snapshot!(error(&format!("{SMALL} --message 8"), 2), @r"
    error: a message of 8 B is less than a packet of 16 B
    hint: give packets as short: a message is one packet then
    ");
    // A message longer than any memory is allowed, except that it would take for ever.
    assert_snapshot!(error(&format!("{SMALL} --message 1000000GiB"), 2), @r"
    error: more than 1000 s would be simulated, which is for ever
    hint: measure for a shorter time, or shorter messages; warm up for less
    ");
    let long = load(&format!("{SMALL} -r minimal --message 1000000GiB --measure 2us --loads 0.5"));
    assert!(long.code == 0 && long.out.contains("messages of 1073741824000000 B"), "{}", long.err);
    // Tables of another fabric.
    let dir = folder(&[]);
    let route = run_in(dir.path(), "route kary:k=3,n=2 -e minhop -o tables -q");
    assert_eq!(route.code, 0, "{}", route.err);
    let other = run_in(dir.path(), "load kary:k=2,n=2 --routes tables");
    assert_eq!((other.code, other.out.as_str()), (4, ""), "{}", other.err);
    assert!(other.err.contains("of this fabric? `darkfiber check` says"), "{}", other.err);
}

#[cfg(not(feature = "mpi"))]
#[test]
fn without_mpi_it_says_how_to_build_with_it() {
    let run = load(&format!("{SMALL} -r minimal --loads 0.1 --mpi"));
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.starts_with("error: --mpi: this program was built without MPI"), "{}", run.err);
    assert!(run.err.contains("--features mpi"), "{}", run.err);
}

/// `tables` among the routings are those of the engines that are named.
#[test]
fn tables_are_a_routing_of_some_engine() {
    let some = run("saturate fattree2:n=2,m=2,r=3 -e dmodk -r tables --loads 0.1 -q");
    assert_eq!((some.code, some.out.matches("tables of dmodk").count()), (0, 1), "{}", some.err);
    let nobody = run("saturate fattree2:n=2,m=2,r=3 -r tables --loads 0.1 -q");
    assert!(nobody.code == 2 && nobody.err.contains("tables of whom?"), "{}", nobody.err);
}

/// Few packets are no saturation: a small fabric is not called so at a low load, whatever the seed, and is where it is.
#[test]
fn few_packets_are_told_from_sources_that_fall_behind() {
    for seed in 1..6 {
        let line =
            format!("fattree2:n=4,m=4,r=4 -e dmodk --loads 0.02,0.3 --seed {seed} --format json");
        let found = points(&load(&line));
        assert!(
            found.len() == 2 && found.iter().all(|p| p["saturated"] == false),
            "{seed}: {found:?}"
        );
    }
    // Four hosts share a cable: three quarters of what they send stay behind.
    let found = points(&load("fattree2:n=4,m=1,r=4 -e dmodk --loads 0.2,0.9 --format json"));
    assert_eq!(found.iter().map(|p| p["saturated"] == true).collect::<Vec<_>>(), [false, true]);
}

/// A cable that takes longer than packets can is refused, not shortened.
#[test]
fn what_packets_cannot_take_is_refused() {
    for cable in ["--cable 5ms", "--cable 1s"] {
        let run = load(&format!("{SMALL} -r ugal --loads 0.1 {cable}"));
        assert_eq!(run.code, 4, "{} {}", run.out, run.err);
        assert!(run.err.contains("less than 4.29 ms"), "{}", run.err);
    }
}
