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
