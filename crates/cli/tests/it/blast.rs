//! `darkfiber blast`.

use crate::{folder, run_in};

/// Two jobs on a two-level tree: one within a leaf, one over all.
const JOBS: &str = "\
fabric = \"fattree2:n=4,m=4,r=4\"
[routes]
engine = \"ftree\"
[[job]]
name = \"near\"
hosts = \"cn[0001-0004]\"
traffic = \"imb:op=alltoall,bytes=1MiB\"
[[job]]
name = \"far\"
hosts = \"cn[0005-0016]\"
traffic = \"imb:op=alltoall,bytes=1MiB\"
";

#[test]
fn every_fault_is_tried_and_jobs_say_what_they_lose() {
    let dir = folder(&[("s.toml", JOBS)]);
    let d = dir.path();
    let run = |more: &str| run_in(d, &format!("blast s.toml -q --format json {more}"));
    let all = run("--faults cables,switches,hosts --pairs 5");
    let json = all.json();
    // 16 cables between switches, 8 switches, 16 hosts, 5 pairs.
    assert_eq!(json["tried"], 16 + 8 + 16 + 5, "{}", all.err);
    let jobs = json["jobs"].as_array().expect("a list");
    assert_eq!((jobs[0]["name"].as_str(), jobs[1]["name"].as_str()), (Some("near"), Some("far")));
    // No cable between switches has anything of the job on one leaf; its leaf and its four hosts end it.
    assert_eq!((jobs[0]["ended_by"].as_u64(), jobs[0]["stopped_by"].as_u64()), (Some(5), Some(5)));
    // Twelve hosts and three leaves.
    assert_eq!(jobs[1]["ended_by"], 15);
    // Sampled pairs have two cables of one leaf.
    assert!(jobs[1]["worst"].as_f64() >= Some(1.4), "{}", jobs[1]);
    let faults = json["faults"].as_array().expect("a list");
    let seen = json["unused"].as_u64().expect("a number") as usize + faults.len();
    assert_eq!(seen, 45);
    // The same on one thread.
    let one = run("--faults cables,switches,hosts --pairs 5 --threads 1").json();
    assert_eq!((&one["faults"], &one["jobs"]), (&json["faults"], &json["jobs"]));
}

#[test]
fn a_day_of_flaps_is_the_sum_over_cables() {
    let dir = folder(&[("s.toml", JOBS)]);
    let d = dir.path();
    let lost = |more: &str| {
        let json =
            run_in(d, &format!("blast s.toml -q --faults cables --format json {more}")).json();
        let of = |j: usize| json["jobs"][j]["lost_a_day"].as_f64();
        (of(0), of(1), json["jobs"][1]["stopped_by"].as_u64())
    };
    // Down for a second, repaired after five: each flap costs that second and the timer.
    let (near, far, stopped) = lost("--flap-rate 0.5 --flap-time 1s --retry-time 4s");
    let cables = stopped.expect("a number") as f64;
    assert!(cables >= 12.0);
    assert_eq!((near, far), (Some(0.0), Some(0.5 * 5.0 * cables)));
    // Longer ones cost the slowdown on repaired tables, too.
    let longer = lost("--flap-rate 0.5 --flap-time 60s --retry-time 4s").1.expect("a number");
    assert!(longer > 0.5 * 9.0 * cables);
    let bad = run_in(d, "blast s.toml --flap-rate -1");
    assert_eq!(bad.code, 2, "{}", bad.err);
    let none = run_in(d, "blast s.toml --flap-time 1s");
    assert_eq!(none.code, 2);
}

#[test]
fn jobs_that_send_nothing_are_named() {
    let text = "fabric = \"kary:k=4,n=2\"\n[routes]\nengine = \"updn\"\n[[job]]\nname = \"idle\"\ntraffic = \"imb:op=barrier\"\nnodes = 8\n";
    let dir = folder(&[("s.toml", text)]);
    let run = run_in(dir.path(), "blast s.toml");
    assert!(run.code == 0 && run.err.contains("idle sends no bytes"), "{}", run.err);
}

/// A fault that cuts off switches of nobody's job ends no job: the others go on by what is left.
#[test]
fn jobs_go_on_where_others_are_cut_off() {
    let edges = "host h1 L1\nhost h2 L2\nhost st X\nL1 S1\nL1 S2\nL2 S1\nL2 S2\nX S1\n";
    let sent = |rows: &str| format!("from,to,bytes,job\n{rows}");
    let dir = folder(&[
        ("p.edges", edges),
        ("a.csv", &sent("h1,h2,1000000,a\nh2,h1,1000000,a\n")),
        ("b.csv", &sent("h1,h2,1000000,a\nh2,h1,1000000,a\nh1,st,1000,b\n")),
    ]);
    let d = dir.path();
    let made = run_in(d, "route p.edges -e minhop -o r -q");
    assert_eq!(made.code, 0, "{}", made.err);
    let blast = |sent: &str, faults: &str| {
        let given = format!("blast --fabric r/fabric.topo --routes r --sent {sent}");
        run_in(d, &format!("{given} --faults {faults} -q --format json"))
    };
    let ended = |json: &serde_json::Value, name: &str| {
        let jobs = json["jobs"].as_array().expect("a list").iter();
        jobs.filter(|j| j["name"] == name).map(|j| j["ended_by"].as_u64()).collect::<Vec<_>>()
    };
    // Its own two leaves end it, neither the spine behind which X is nor the cable to X.
    let alone = blast("a.csv", "cables,switches");
    assert_eq!(ended(&alone.json(), "a"), [Some(2)], "{}", alone.out);
    // X, S1 and L1 end the other job, and the cable to X.
    let both = blast("b.csv", "cables,switches").json();
    assert_eq!((ended(&both, "a"), ended(&both, "b")), (vec![Some(2)], vec![Some(4)]), "{both}");
    assert_eq!(blast("a.csv", "cables").code, 0);
    assert_eq!(blast("b.csv", "cables").code, 1);
}

/// Who repairs tables does not know the jobs: what a fault costs is what the job takes on the tables that `reroute` writes.
#[test]
fn slowdowns_are_those_on_the_tables_of_reroute() {
    for (fabric, engine, nodes) in
        [("torus:dims=5x4,t=2", "torus", 23), ("hyperx:dims=4x3,t=2", "dfsssp", 11)]
    {
        let job = format!(
            "[[job]]\nname = \"a\"\ntraffic = \"imb:op=alltoall,bytes=64KiB\"\nnodes = {nodes}\n"
        );
        let scenario = |fail: &str, tables: &str| {
            format!("fabric = \"{fabric}\"\n{fail}[routes]\ntables = \"{tables}\"\n{job}")
        };
        let dir = folder(&[("s.toml", &scenario("", "old"))]);
        let d = dir.path();
        assert_eq!(run_in(d, &format!("route {fabric} -e {engine} -o old -q")).code, 0);
        let seconds = |file: &str| {
            let run = run_in(d, &format!("simulate {file} --depth count --format json -q"));
            run.json()["seconds"].as_f64().unwrap_or_else(|| panic!("{}", run.err))
        };
        let alone = seconds("s.toml");
        let blast = run_in(d, "blast s.toml --faults cables --format json -q").json();
        let faults = blast["faults"].as_array().expect("a list");
        let book =
            run_in(d, &format!("survive {fabric} --routes old --faults cables --format json -q"))
                .json();
        let id = |name: &serde_json::Value| {
            let faults = book["faults"].as_array().expect("a list");
            let found = faults.iter().find(|f| f["name"] == *name).expect("the same faults");
            found["id"].as_str().expect("an id").to_owned()
        };
        let mut tried = 0;
        for fault in faults {
            let Some(slowdown) = fault["slowdown"].as_f64() else { continue };
            let id = id(&fault["name"]);
            let run = run_in(d, &format!("reroute {fabric} --routes old --fail {id} -o new -q"));
            assert_eq!(run.code, 0, "{}", run.err);
            std::fs::write(d.join("after.toml"), scenario(&format!("fail = [\"{id}\"]\n"), "new"))
                .expect("written");
            let expected = seconds("after.toml") / alone;
            assert!((slowdown - expected).abs() < 1e-6, "{fabric} {id}: {slowdown}, {expected}");
            tried += 1;
        }
        assert!(tried > 5, "{fabric}: {tried}");
    }
}

/// A switch without hosts is between switches, too; one with hosts ends their jobs anyway.
#[test]
fn a_spine_that_ends_jobs_is_a_finding() {
    let scenario = "fabric = \"fattree2:n=3,m=1,r=3\"\n[routes]\nengine = \"updn\"\n\
                    [[job]]\ntraffic = \"imb:op=alltoall,bytes=1KiB\"\nnodes = 5\n";
    let dir = folder(&[("s.toml", scenario), ("two.toml", &scenario.replace("m=1", "m=2"))]);
    assert_eq!(run_in(dir.path(), "blast s.toml --faults switches -q").code, 1);
    assert_eq!(run_in(dir.path(), "blast two.toml --faults switches -q").code, 0);
}
