//! Jobs: engines and metrics that use them, and the filter.

use crate::{folder, run_in};

const TOPOLOGY: &str =
    "SwitchName=a Nodes=a[1-2]\nSwitchName=b Nodes=b[1-2]\nSwitchName=top Switches=a,b\n";

#[test]
fn engines_and_metrics_know_the_jobs() {
    let dir = folder(&[("pairs", ""), ("strange", "nobody 1\nelse 1\n"), ("nonsense", "{]\n")]);
    let d = dir.path();
    // Names of generated hosts.
    let named = run_in(d, "fabric fattree2:n=4,m=4,r=6 --format json -o tree.topo");
    assert_eq!(named.code, 0);
    let text = std::fs::read_to_string(d.join("tree.topo")).expect("written");
    let hosts: Vec<&str> = text
        .lines()
        .filter(|l| l.starts_with("Ca\t"))
        .filter_map(|l| l.split("# \"").nth(1)?.split([' ', '"']).next())
        .collect();
    assert_eq!(hosts.len(), 24);
    let lines: Vec<String> =
        hosts.iter().enumerate().map(|(i, h)| format!("{h} {}", i % 3)).collect();
    let pairs = lines.join("\n");
    std::fs::write(d.join("pairs"), pairs).expect("a file");
    let line = "route tree.topo -e dfsssp -e sar -e sar-best --jobs pairs --format json";
    let json = run_in(d, line).json();
    let of = |i: usize, key: &str| json["engines"][i][key].clone();
    for i in 0..3 {
        assert_eq!(of(i, "multi_switch_jobs"), 3);
        assert!(of(i, "links_per_job_mean").as_f64() > Some(1.0));
        assert!(of(i, "effective_dark_fiber_percent").is_number());
    }
    let max = |i: usize| json["engines"][i]["effective_efi"]["max"].as_u64().expect("a number");
    assert!(max(2) <= max(0).min(max(1)));
    let table = run_in(d, "route tree.topo -e sar --jobs pairs").out;
    assert!(table.contains("inside jobs") && table.contains("3 jobs are on several switches"));
    assert!(!run_in(d, "route tree.topo -e sar").out.contains("inside jobs"));

    let strange = run_in(d, "route tree.topo -e sar --jobs strange");
    assert_eq!(strange.code, 3);
    assert!(strange.err.contains("none of its 2 nodes is in the fabric"), "{}", strange.err);
    let nonsense = run_in(d, "route tree.topo -e sar --jobs nonsense");
    assert_eq!(nonsense.code, 3);
    assert!(nonsense.err.contains("nonsense"), "{}", nonsense.err);
    assert_eq!(run_in(d, "route tree.topo -e sar --jobs nowhere").code, 3);
}

#[test]
fn the_filter_tells_changed_from_same() {
    let squeue = |text: &str| format!("JOBID ST NODELIST\n{text}");
    let dir = folder(&[
        ("topology.conf", TOPOLOGY),
        ("one", &squeue("1 R a[1-2]\n2 R a1,b1\n3 PD \n")),
        // Another job on the same nodes; one more on one switch.
        ("two", &squeue("9 R b1,a1\n10 R b[1-2]\n")),
        ("three", &squeue("9 R a[1-2],b1\n")),
        ("garbage", "<html>502 Bad Gateway</html>\n"),
    ]);
    let d = dir.path();
    let filter =
        |jobs: &str| run_in(d, &format!("jobs filter map --topology topology.conf {jobs}"));
    let map = || std::fs::read_to_string(d.join("map")).unwrap_or_default();
    let first = filter("--jobs one");
    assert_eq!((first.code, map().as_str()), (1, "a1 1\nb1 1\n"), "{}", first.err);
    assert!(
        first.out.starts_with("changed: 2 jobs run, 1 on several switches, 1 on one"),
        "{}",
        first.out
    );
    let again = filter("--jobs two");
    assert_eq!((again.code, map().as_str()), (0, "a1 1\nb1 1\n"));
    assert!(again.out.starts_with("same"));
    let other = filter("--jobs three");
    assert_eq!((other.code, map().as_str()), (1, "a1 1\na2 1\nb1 1\n"));
    let kept = map();
    for (what, text) in [
        ("--jobs garbage", "the old mapping is kept"),
        ("--jobs missing", "the old mapping is kept"),
        ("--poll false", "'false' failed"),
        ("--poll sleep${IFS}5 --timeout 1", "gave no answer within 1 s"),
    ] {
        let result = filter(what);
        assert_eq!((result.code, map()), (3, kept.clone()), "{what}: {}", result.err);
        assert!(result.err.contains(text), "{what}: {}", result.err);
    }
    assert_eq!(filter("--poll cat${IFS}one").code, 1);
    assert_eq!(run_in(d, "jobs filter map --jobs one").code, 2, "switches must be known");
    // No job runs: that is reported once.
    std::fs::write(d.join("one"), squeue("")).expect("a file");
    assert_eq!((filter("--jobs one").code, map().as_str()), (1, "# node job\n"));
    assert_eq!(filter("--jobs one").code, 0);
    // Tables are made for nobody, then.
    let idle = run_in(d, "route kary:k=2,n=2 -e sar --jobs map -o tables -q");
    assert_eq!(idle.code, 0, "{}", idle.err);
}

/// A list that does not say where jobs run is no list in which nobody runs.
#[test]
fn jobs_without_nodes_are_refused() {
    let dir = folder(&[
        ("f", "s0 s1\nhost cn1 s0\nhost cn2 s1\n"),
        ("nowhere", "JOBID STATE\n1 RUNNING\n2 PENDING\n"),
        ("some", "JOBID STATE NODELIST\n1 RUNNING cn1\n2 RUNNING \n"),
        ("foreign", "JOBID STATE NODELIST\n1 RUNNING cn[1-2]\n2 RUNNING other[1-2]\n"),
        ("map", "cn1 1\ncn2 1\n"),
    ]);
    let d = dir.path();
    assert_eq!(run_in(d, "route f -e minhop -o tables -q").code, 0);
    for line in [
        "jobs allocate --fabric f --hosts 1 --avoid nowhere",
        "jobs report --fabric f --jobs nowhere -e minhop",
        "jobs filter map --fabric f --jobs nowhere",
        "check f --routes tables --jobs nowhere",
        "doctor f --routes tables --jobs nowhere",
        "route f -e sar --jobs nowhere",
    ] {
        let run = run_in(d, line);
        assert_eq!(run.code, 3, "{line}: {} {}", run.out, run.err);
        assert!(run.err.contains("no job says on which nodes it runs"), "{line}: {}", run.err);
    }
    let kept = std::fs::read_to_string(d.join("map")).expect("it is kept");
    assert_eq!(kept, "cn1 1\ncn2 1\n");
    let scaled = run_in(d, "jobs allocate --fabric f --hosts 1 --scale 2");
    assert!(scaled.code == 2 && scaled.err.contains("no log"), "{}", scaled.err);
    let some = run_in(d, "jobs allocate --fabric f --hosts 1 --avoid some");
    assert!(some.code == 3 && some.err.contains("would seem to be free"), "{}", some.err);
    // A job of other machines is none of this one's.
    let foreign = run_in(d, "jobs filter map --fabric f --jobs foreign");
    let said = "same: 2 jobs run, 1 on several switches, 0 on one, 1 elsewhere";
    assert!(foreign.code == 0 && foreign.out.starts_with(said), "{} {}", foreign.out, foreign.err);
}

/// A list without states is of jobs that run, unless it says that one has ended or has no nodes.
#[test]
fn jobs_without_states_run() {
    let dir = folder(&[
        ("topology.conf", "SwitchName=a Nodes=cn[1-2]\nSwitchName=b Nodes=cn[3-4]\n"),
        ("squeue", "JOBID NODELIST\n1 cn[1,3]\n"),
        (
            "sacct",
            "JobID|Start|End|NodeList\n12|2026-01-01T00:00:00|2026-01-01T01:00:00|cn[1,3]\n\
             13|2026-01-01T00:00:00|Unknown|cn[2,4]\n14|Unknown|Unknown|None assigned\n",
        ),
        ("hosts", "JOBID EXEC_HOST NODELIST STATE\n12 cn1 cn[1,3] RUNNING\n"),
    ]);
    for (list, jobs) in
        [("squeue", "cn1 1\ncn3 1\n"), ("sacct", "cn2 1\ncn4 1\n"), ("hosts", "cn1 1\ncn3 1\n")]
    {
        let line = format!("jobs filter map --topology topology.conf --jobs {list}");
        let run = run_in(dir.path(), &line);
        assert!(run.out.contains("1 jobs run, 1 on several"), "{list}: {}{}", run.out, run.err);
        let map = std::fs::read_to_string(dir.path().join("map")).expect("a mapping");
        assert_eq!(map, jobs, "{list}");
    }
}

#[test]
fn pairs_of_a_node_and_a_job_take_node_sets() {
    let sets = "cn[1-2] 1\ncn[3-4/1] 2\ncn[5- 3\n";
    let dir = folder(&[
        ("f", "s0 s1\nhost cn1 s0\nhost cn2 s1\nhost cn3 s0\nhost cn4 s1\n"),
        ("sets", sets),
    ]);
    let run = run_in(dir.path(), "jobs report --fabric f --jobs sets -e minhop --format json");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("line 3") && run.err.contains("'[' without ']'"), "{}", run.err);
    assert!(!run.err.contains("not in the fabric"), "{}", run.err);
}

#[test]
fn busy_hosts_may_have_other_names() {
    let dir = folder(&[
        ("now", "alpha 1\n"),
        ("names", "alpha cn1\n"),
        ("f", "s0 s1\nhost cn1 s0\nhost cn2 s1\n"),
    ]);
    let line = "jobs place --fabric f --hosts 1 --avoid now";
    assert_eq!(run_in(dir.path(), line).code, 3, "nobody is called alpha");
    let run = run_in(dir.path(), &format!("{line} --aliases names -q"));
    assert_eq!((run.code, run.out.trim()), (0, "cn2"), "{}", run.err);
}
