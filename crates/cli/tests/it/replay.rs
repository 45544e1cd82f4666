//! The replay of logs, hosts for jobs, and channels that jobs share.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::{folder, run_in};

/// A log with nodes: two large jobs all the time, a small one that comes and goes, and oddities.
pub(crate) const LOG: &str = "JobID|Submit|Start|End|State|NNodes|NodeList\n\
    1|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-02T00:00:00|COMPLETED|6|cn[0001-0006]\n\
    2|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-02T00:00:00|COMPLETED|6|cn[0007-0012]\n\
    3|2026-01-01T01:00:00|2026-01-01T01:00:00|2026-01-01T05:00:00|COMPLETED|3|cn[0012-0014]\n\
    4|2026-01-01T00:30:00|2026-01-01T02:00:00|2026-01-01T01:00:00|FAILED|3|cn[0012-0014]\n\
    5|2026-01-01T03:00:00|Unknown|Unknown|PENDING|3|None assigned\n\
    6|2026-01-01T03:00:00|2026-01-01T03:00:00|2026-01-01T04:00:00|COMPLETED|2|cn0001,m\u{fc}ller\n\
    7|2026-01-01T06:00:00|2026-01-01T06:00:00|Unknown|RUNNING|2|cn[0015-0016]\n";

#[test]
fn a_day_of_a_small_machine() {
    let dir = folder(&[("log", LOG)]);
    let d = dir.path();
    let line = "replay --fabric kary:k=4,n=2 --jobs log --every 1h -e updn,sar,sar-best";
    let table = run_in(d, line);
    assert_eq!(table.code, 0, "{}", table.err);
    for text in [
        "1 job never ran",
        "1 job ended when it began, or before; left out",
        "1 job still ran; taken to run to the end of the log",
        "1 job ran on nodes that are not in the fabric",
        "4 jobs had a node together with another",
        "1 job was handed in before the one above it",
        "nodes that are not in the fabric: m\u{fc}ller",
    ] {
        assert!(table.err.contains(text), "{text}: {}", table.err);
    }
    for text in ["24 moments from 2026-01-01T00:00:00, every 60 min", "What sar-best gains"] {
        assert!(table.out.contains(text), "{text}: {}", table.out);
    }
    let json = run_in(d, &format!("{line} --of sar --format json")).json();
    assert_eq!(json["moments"], 24);
    assert_eq!(json["log"]["unknown_nodes"]["m\u{fc}ller"], 1);
    assert_eq!(json["improvements"][0]["of"], "sar");
    assert_eq!(json["reconfigurations"]["changes"], 2, "3 begins on two switches and ends");
    assert_eq!(json["reconfigurations"]["engines"][1]["engine"], "sar-best");
    let csv = run_in(d, &format!("{line} --format csv -q")).out;
    assert_eq!(csv.lines().count(), 25);
    assert!(csv.starts_with("time,jobs,multi_switch_jobs,busy_percent,changed,updn:efi_max,"));

    // Engines that were not requested may refuse.
    let other =
        run_in(d, "replay --fabric hyperx:dims=4x4,t=1 --jobs log --every 6h --format json -q");
    assert_eq!(other.json()["engines"], serde_json::json!(["updn", "dfsssp", "sar", "sar-best"]));

    let later = run_in(d, &format!("{line} --from 2h --for 3h --format csv -q")).out;
    assert_eq!(later.lines().skip(1).collect::<Vec<_>>().len(), 3);
    let date = run_in(d, &format!("{line} --from 2026-01-01T02:00 --for 3h --format csv -q")).out;
    assert_eq!(date, later);
}

#[test]
fn a_replay_goes_on_where_it_stopped() {
    let dir = folder(&[("log", LOG)]);
    let d = dir.path();
    let line = "replay --fabric kary:k=4,n=2 --jobs log --every 30min -e dmodk,sar -o out";
    assert_eq!(run_in(d, line).code, 0);
    let read = |name: &str| fs::read_to_string(d.join("out").join(name)).expect("written");
    let whole = (read("moments.csv"), read("replay.json"), read("replay.svg"));
    assert!(whole.2.ends_with("</svg>\n"));
    // Stopped in the middle of a line.
    let lines: Vec<&str> = whole.0.split_inclusive('\n').collect();
    let cut = lines[..20].concat() + &lines[20][..9];
    fs::write(d.join("out/moments.csv"), cut).expect("a file");
    let again = run_in(d, line);
    assert_eq!(again.code, 0);
    assert!(again.err.contains("going on after 18 moments"), "{}", again.err);
    assert_eq!((read("moments.csv"), read("replay.json"), read("replay.svg")), whole);

    let other = run_in(d, &line.replace("30min", "20min"));
    assert_eq!(other.code, 2);
    assert!(other.err.contains("is of another replay"), "{}", other.err);
    assert_eq!(read("moments.csv"), whole.0, "nothing is lost");

    // Data with any altered bit is never used in a mean.
    let bytes = whole.0.as_bytes();
    let head = whole.0.find('\n').expect("a line") + 1;
    for at in (head..bytes.len() - 1).step_by(bytes.len() / 60 + 1) {
        let mut other = bytes.to_vec();
        other[at] ^= 1 << (at % 7);
        fs::write(d.join("out/moments.csv"), &other).expect("a file");
        let run = run_in(d, line);
        assert_eq!((run.code, run.out.as_str()), (3, ""), "byte {at}: {}", run.err);
        for words in ["moments.csv:", "it is altered", "remove it to start over"] {
            assert!(run.err.contains(words), "byte {at}: {}", run.err);
        }
        assert_eq!(fs::read(d.join("out/moments.csv")).expect("it is there"), other);
    }
}

/// A log without nodes.
pub(crate) fn swf(jobs: usize) -> String {
    let mut text = "; UnixStartTime: 1000000000\n; MaxNodes: 16\n; MaxProcs: 32\n".to_owned();
    for i in 0..jobs {
        let (submit, run, procs) = (i * 1000, 500 + i % 7 * 300, 1 + i * 5 % 19);
        let _ok = writeln!(
            text,
            "{} {submit} 10 {run} {procs} -1 -1 {procs} -1 -1 1 1 1 -1 1 -1 -1 -1",
            i + 1
        );
    }
    text
}

#[test]
fn logs_without_nodes_are_placed() {
    let dir = folder(&[
        ("log.swf", &swf(60)),
        ("old.swf", "1 5 -1 -7 -3 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"),
    ]);
    let d = dir.path();
    let line = "replay --fabric kary:k=4,n=2 --jobs log.swf --every 5min -e updn,sar";
    let usual = run_in(d, &format!("{line} --format json"));
    assert!(usual.err.contains("they are placed by first-fit"), "{}", usual.err);
    let json = usual.json();
    let placed = &json["log"]["placed"];
    assert_eq!((&placed["by"], &placed["processors_per_host"]), (&"first-fit".into(), &2.into()));
    assert_eq!(json["from"], "2001-09-09T01:46:50");
    for by in ["linear", "best-fit", "clustered", "random", "interleaved", "contiguous"] {
        let run = run_in(d, &format!("{line} --place {by} --format json -q"));
        assert_eq!(run.json()["log"]["placed"]["by"], by);
    }
    let wrong = run_in(d, &format!("{line} --place bestfit"));
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("best-fit"), "{}", wrong.err);
    // Half the machine, half the hosts.
    let json = run_in(d, &format!("{line} --scale 0.5 --format json -q")).json();
    assert_eq!(json["log"]["placed"]["late"], 0);

    // The placed jobs are a log with places, and have the same replay.
    let place = "jobs place --fabric kary:k=4,n=2 --jobs log.swf -o placed.log -q";
    assert_eq!(run_in(d, place).code, 0);
    let csv = |jobs: &str| {
        let line = line.replace("log.swf", jobs);
        run_in(d, &format!("{line} --format csv -q")).out
    };
    assert_eq!(csv("placed.log"), csv("log.swf"));

    let none = run_in(d, "replay --fabric kary:k=4,n=2 --jobs old.swf");
    assert_eq!(none.code, 3);
    assert!(none.err.contains("no job in it says when it ran and where"), "{}", none.err);
}

#[test]
fn what_cannot_be_replayed_is_said_at_once() {
    let dir = folder(&[
        ("log", LOG),
        ("other", "JobID|Start|End|NodeList\n1|1|9|a[1-2]\n"),
        ("empty", ""),
        ("noise", "a b c d\ne f g h\n"),
    ]);
    let d = dir.path();
    for (line, code, text) in [
        ("--fabric kary:k=4,n=2 --jobs missing", 3, "missing"),
        ("--fabric kary:k=4,n=2 --jobs empty", 3, "empty"),
        ("--fabric kary:k=4,n=2 --jobs noise", 3, "unrecognised list of jobs"),
        ("--fabric kary:k=4,n=2 --jobs log -e ftre", 2, "ftree"),
        ("--fabric kary:k=4,n=2 --jobs log -e sar,sar", 2, "given twice"),
        ("--fabric kary:k=4,n=2 --jobs log -e sar --of updn", 2, "updn"),
        ("--fabric kary:k=4,n=2 --jobs log --every 0s", 2, "more than 0"),
        (
            "--fabric kary:k=4,n=2 --jobs log --from 3d",
            2,
            "no job runs from 2026-01-04T00:00:00 on",
        ),
        ("--fabric kary:k=4,n=2 --jobs log --from soon", 2, "a date"),
        ("--fabric torus:dims=4x4,t=1 --jobs log -e ftree,sar", 4, "leave ftree out of -e"),
        ("--fabric hyperx:dims=2x2,t=1 --jobs other -e sar", 3, "none of its 2 nodes is in"),
    ] {
        let run = run_in(d, &format!("replay {line}"));
        assert_eq!(run.code, code, "{line}: {}", run.err);
        assert!(run.err.contains(text), "{line}: {}", run.err);
        assert!(run.out.is_empty(), "{line}");
    }
}

#[test]
fn who_shares_what() {
    let dir = folder(&[("log", LOG)]);
    let d = dir.path();
    let tree = "kary:k=4,n=2";
    assert_eq!(run_in(d, &format!("route {tree} -e updn -o tables -q")).code, 0);
    let line =
        format!("jobs report --fabric {tree} --routes tables --jobs log --at 2h -e sar-best,dor");
    let table = run_in(d, &line).out;
    assert!(table.contains("3 jobs, 3 on several switches; by tables"), "{table}");
    let json = run_in(d, &format!("{line} --format json -q")).json();
    let jobs = json["jobs"].as_array().expect("a list");
    assert_eq!(jobs.len(), 3);
    let job = |id: &str| jobs.iter().find(|j| j["id"] == id).expect("it runs").clone();
    assert_eq!((&job("3")["terminals"], &job("3")["switches"]), (&3.into(), &2.into()));
    assert_eq!(job("1")["with"][0]["id"], "2");
    // Channels add up to the loads of the jobs.
    let channels = json["channels"].as_array().expect("a list");
    let whole: u64 = channels.iter().filter_map(|c| c["routes"].as_u64()).sum();
    let parts: u64 = channels
        .iter()
        .flat_map(|c| c["jobs"].as_array().expect("a list").clone())
        .filter_map(|j| j["routes"].as_u64())
        .sum();
    assert_eq!(whole, parts);
    let dark = json["dark_cables"].as_array().expect("a list").len();
    assert_eq!(
        run_in(d, &format!("{line} --format csv -q")).out.lines().count(),
        1 + channels.len()
    );
    assert!(dark > 0 && 2 * dark + channels.len() <= 32);
    assert!(json["engines"][0]["then"]["effective_efi"]["max"].is_number());
    assert!(json["engines"][1]["refused"].is_string());
    // Without tables those of the first engine.
    let own = run_in(d, &format!("jobs report --fabric {tree} --jobs log --at 2h -e updn,sar"));
    assert!(own.out.contains("by updn"), "{}", own.out);
    // Two jobs run together with one that the log was written in the middle of.
    let now = run_in(d, &format!("jobs report --fabric {tree} --jobs log -e sar --format json"));
    assert_eq!(now.json()["jobs"].as_array().map(Vec::len), Some(1));
}

/// The logs of two machines that say where jobs ran, on trees made for their hosts.
#[test]
fn real_months() {
    let tests = [
        ("cerit-sc-2013", "data/jobs/wagap-2013.swf.gz", 17_900, 17_898, "without_times", 2),
        ("phillips", "data/jobs/xdmod-phillips.sacct.log.gz", 4285, 4024, "without_duration", 261),
    ];
    for (fabric, log, jobs, used, left_out, count) in tests {
        let Some(log) = darkfiber_testkit::shared(log) else { continue };
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let line = format!(
            "replay --fabric {fabric}.edges --jobs {} -e updn,ftree,dfsssp,sar,sar-best --format json -q",
            log.display()
        );
        let json = run_in(&examples, &line).json();
        let facts = &json["log"];
        assert_eq!((&facts["jobs"], &facts["used"]), (&jobs.into(), &used.into()), "{fabric}");
        assert_eq!(facts[left_out], count, "{fabric}");
        assert!(facts["unknown_nodes"].as_object().is_some_and(serde_json::Map::is_empty));
        let means = json["means"].as_array().expect("a list");
        let max = |e: usize| means[e]["efi_max"].as_f64().expect("a number");
        assert!((0..4).all(|e| max(4) <= max(e)), "{fabric}: {means:?}");
        assert!(max(0) > 0.0, "{fabric}: some jobs are on several switches");
    }
}

#[test]
fn hosts_for_jobs() {
    let dir = folder(&[("busy", "cn0001 1\ncn0003 1\n")]);
    let d = dir.path();
    let place = |rest: &str| run_in(d, &format!("jobs place --fabric kary:k=4,n=2 {rest}"));
    assert_eq!(place("--hosts 3").out, "cn0001\ncn0002\ncn0003\n");
    assert_eq!(place("--hosts 3 --avoid busy").out, "cn0002\ncn0004\ncn0005\n");
    assert_eq!(place("--hosts 2 --avoid busy --by contiguous").out, "cn0004\ncn0005\n");
    assert_eq!(
        place("--hosts 4 --avoid busy --by best-fit").out,
        "cn0005\ncn0006\ncn0007\ncn0008\n"
    );
    assert_eq!(place("--hosts 1,2 --by interleaved").out, "cn0001 1\ncn0002 2\ncn0009 2\n");
    assert_eq!(
        place("--hosts 4 --by random --seed 3").out,
        place("--hosts 4 --by random --seed 3").out
    );
    assert_eq!(place("--hosts 1,2 -o files").code, 0);
    let second = fs::read_to_string(d.join("files/job2.hosts")).expect("written");
    assert_eq!(second, "cn0002\ncn0003\n");
    let many = place("--hosts 9,8");
    assert_eq!(many.code, 4);
    assert!(many.err.contains("finds no 8 hosts for job 2: 7 of 16 are free"), "{}", many.err);
    assert_eq!(place("--hosts 0").code, 2);
    assert_eq!(place("").code, 2);
}

#[test]
fn slurm_is_told_the_tree() {
    let dir = folder(&[]);
    let d = dir.path();
    assert_eq!(run_in(d, "fabric kary:k=2,n=3 -o topology.conf").code, 0);
    let text = fs::read_to_string(d.join("topology.conf")).expect("written");
    assert_eq!(text.matches("Nodes=").count(), 4, "{text}");
    assert_eq!(text.matches("Switches=").count(), 3, "{text}");
    fs::write(d.join("now"), "JOBID ST NODELIST\n1 R cn[0001-0002]\n2 R cn[0001-0004]\n")
        .expect("a file");
    let filter = run_in(d, "jobs filter map --topology topology.conf --jobs now");
    assert!(filter.out.contains("2 jobs run, 1 on several switches, 1 on one"), "{}", filter.out);
    let flat = run_in(d, "fabric hyperx:dims=2x2,t=1 --to topology.conf").out;
    assert_eq!(
        (flat.matches("Nodes=").count(), flat.matches("Switches=").count()),
        (4, 1),
        "{flat}"
    );
}
