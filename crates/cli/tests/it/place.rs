//! `darkfiber place`: hosts for a new job among the running ones.

#![expect(clippy::float_cmp, reason = "small whole numbers are exact")]

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::{Run, folder, run_in};

/// A tree of four leaves with four hosts each and two spines; a job sends from the first leaf to the second.
const BUSY: &str = "fabric = \"pgft:m=4x4,w=1x2,p=1x1\"\n[routes]\nengine = \"ftree\"\n[[job]]\nname = \"old\"\n\
                    traffic = \"bis:steps=1,group=100\"\nhosts = \"cn[0001-0003,0005-0007]\"\n";

fn place(options: &str) -> Run {
    let dir = folder(&[("s.toml", BUSY)]);
    run_in(dir.path(), &format!("place s.toml -q {options}"))
}

fn number(json: &Value, at: &str) -> f64 {
    json.pointer(at).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {at}: {json}"))
}

fn hosts(json: &Value) -> Vec<&str> {
    json["hosts"].as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

/// Records of what was sent name some hosts of a job; the list of jobs has all of them.
#[test]
fn hosts_of_running_jobs_are_not_free() {
    let dir = folder(&[
        ("sent.csv", "source,destination,bytes\ncn0001,cn0004,5000\n"),
        ("jobs", "cn0002 z\ncn0005 z\n"),
    ]);
    assert_eq!(run_in(dir.path(), "fabric kary:k=3,n=2 -o f.topo").code, 0);
    assert_eq!(run_in(dir.path(), "route f.topo -e minhop -o t").code, 0);
    let line = "place --fabric f.topo --routes t --sent sent.csv --traffic nn --format json -q";
    let run = run_in(dir.path(), &format!("{line} --jobs jobs --nodes 7"));
    assert_eq!(run.code, 0, "{}", run.err);
    let json = run.json();
    assert_eq!((&json["free"], &json["jobs"]), (&7.into(), &1.into()), "{json}");
    assert!(hosts(&json).iter().all(|h| !["cn0002", "cn0005"].contains(h)), "{json}");
    // Without a list whoever sends is busy.
    let json = run_in(dir.path(), &format!("{line} --nodes 7")).json();
    assert_eq!(json["free"], 7, "{json}");
    assert!(hosts(&json).iter().all(|h| !["cn0001", "cn0004"].contains(h)), "{json}");
}

/// Hosts that do not reach each other look idle, and are not proposed for that.
#[test]
fn pairs_without_a_route_are_no_gain() {
    let dir = folder(&[("ranks.csv", "source,destination,bytes\n0,1,9000000\n1,0,500\n")]);
    assert_eq!(run_in(dir.path(), "fabric kary:k=3,n=2 -o f.topo").code, 0);
    assert_eq!(run_in(dir.path(), "route f.topo -e minhop -o t").code, 0);
    let sent = "source,destination,bytes\ncn0002,cn0003,9000\ncn0003,cn0005,9000\ncn0005,cn0006,9000\n\
                cn0006,cn0008,9000\ncn0008,cn0009,9000\ncn0009,cn0002,9000\n";
    // cn0001, cn0004 and cn0007 are free; on the first leaf the entry for cn0004 is gone.
    let all = "cn0002 a\ncn0003 a\ncn0005 a\ncn0006 a\ncn0008 a\ncn0009 a\n";
    std::fs::write(dir.path().join("jobs"), all).expect("jobs");
    std::fs::write(dir.path().join("sent.csv"), sent).expect("records");
    let dump = std::fs::read_to_string(dir.path().join("t/lfts.dump")).expect("tables");
    let mut is_first = false;
    let mut cut = String::new();
    for line in dump.lines() {
        if line.starts_with("Unicast") {
            is_first = line.contains("leaf001");
        }
        if !(is_first && line.contains("cn0004")) {
            cut.push_str(line);
            cut.push('\n');
        }
    }
    assert_eq!(dump.lines().count(), cut.lines().count() + 1, "{dump}");
    std::fs::write(dir.path().join("cut.dump"), cut).expect("tables");
    let line = "place --fabric f.topo --routes cut.dump --sent sent.csv --jobs jobs --files ranks.csv --nodes 2 -q";
    let run = run_in(dir.path(), &format!("{line} --format json"));
    assert_eq!(run.code, 0, "{}", run.err);
    let json = run.json();
    let last = json["proposed"].as_u64().expect("a number");
    let proposed = &json["placements"][last as usize];
    assert_eq!(proposed["lost"], 0, "{json}");
    assert!(number(&json, &format!("/placements/{last}/alone_seconds")) > 1e-4, "{json}");
}

#[test]
fn jobs_go_where_nobody_meets_them() {
    // Four hosts fit on a single leaf, where no channel between switches is needed.
    let run = place("--traffic bis:steps=1,group=100 --nodes 4 --format json");
    assert_eq!(run.code, 0, "{}", run.err);
    let json = run.json();
    assert_eq!(number(&json, "/free"), 10.0);
    let last = number(&json, "/proposed");
    assert_eq!(number(&json, &format!("/placements/{last}/slowdown")), 1.0);
    assert_eq!(number(&json, &format!("/placements/{last}/others")), 0.0);
    let mut sorted = hosts(&json);
    sorted.sort_unstable();
    let leaf: Vec<&str> = sorted.iter().map(|h| &h[..4]).collect();
    assert_eq!(leaf.len(), 4);
    assert!(sorted.iter().all(|h| !["cn0001", "cn0002", "cn0003"].contains(h)), "{sorted:?}");
    // The proposal is never worse than those of allocators.
    for nodes in [2, 6, 8, 10] {
        for traffic in ["bis:steps=1,group=100", "nn:steps=1,group=100", "pairs:steps=1,group=100"]
        {
            let json = place(&format!("--traffic {traffic} --nodes {nodes} --format json")).json();
            let last = number(&json, "/proposed");
            let of = |i: f64, key: &str| number(&json, &format!("/placements/{i}/{key}"));
            for i in 0..2 {
                let cost = |i: f64| of(i, "together_seconds") * (1.0 + of(i, "others"));
                assert!(cost(last) <= cost(f64::from(i)) * 1.001, "{traffic} {nodes}: {json}");
            }
            let mut all = hosts(&json);
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), nodes, "{json}");
        }
    }
}

#[test]
fn ranks_that_talk_sit_together() {
    // Eight ranks on two leaves: rank k and k + 4 should share one.
    let spec = "fabric = \"pgft:m=4x2,w=1x1,p=1x1\"\n[routes]\nengine = \"updn\"\n[[job]]\nname = \"none\"\n\
                traffic = \"bis:steps=1,group=100,bytes=1B\"\nhosts = \"cn[0001-0002]\"\n";
    // Jobs that run have hosts; this one leaves no leaf whole.
    let dir = folder(&[("s.toml", spec)]);
    let run = run_in(
        dir.path(),
        "place s.toml -q --traffic bis:steps=1,group=100 --nodes 6 --format json",
    );
    let json = run.json();
    let leaf = |i: usize| u32::from(hosts(&json)[i] > "cn0004");
    let apart = (0..3).filter(|&k| leaf(k) != leaf(k + 3)).count();
    assert_eq!(apart, 0, "{json}");
}

#[test]
fn files_start_the_job() {
    let dir = folder(&[("s.toml", BUSY)]);
    let run = run_in(
        dir.path(),
        "place s.toml --traffic bis:steps=1,group=100 --nodes 2 --per-node 2 -o job",
    );
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("proposed: ") && run.out.contains("linear"), "{}", run.out);
    let read = |name: &str| fs::read_to_string(dir.path().join("job").join(name)).expect("written");
    assert_eq!(read("hostfile").lines().count(), 2);
    assert!(read("hostfile").lines().all(|l| l.ends_with(" slots=2")));
    let ranks: Vec<String> = read("ranks").lines().map(str::to_owned).collect();
    assert_eq!(ranks.len(), 4);
    let line = |r: usize| format!("rank {r}={} slot={}", ranks[r], r % 2);
    assert_eq!(read("rankfile").lines().collect::<Vec<_>>(), [line(0), line(1), line(2), line(3)]);
    assert!(read("place.json").contains("\"proposed\""));
}

#[test]
fn what_cannot_be_placed() {
    let error = |options: &str, code: i32| {
        let run = place(options);
        assert_eq!((run.code, run.out.as_str()), (code, ""), "{}", run.err);
        run.err.lines().next().unwrap_or_default().to_owned()
    };
    assert_snapshot!(error("--traffic bis --nodes 12", 4), @"error: 12 hosts requested, 10 free");
    assert_snapshot!(error("--traffic bis --nodes 0", 2), @"error: --nodes must be at least 1");
    assert_snapshot!(error("--traffic what --nodes 2", 2), @r#"error: --traffic: no traffic is called "what""#);
    assert_snapshot!(error("--files none --nodes 2", 3), @"error: cannot read none: No such file or directory (os error 2)");
}
