//! Output files, and their state after an error.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{folder, run_in};

const FABRIC: &str = "fattree2:n=2,m=2,r=2";

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .expect("a directory")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_set_is_verified_by_whoever_reads_it() {
    let dir = folder(&[]);
    let d = dir.path();
    assert_eq!(run_in(d, &format!("route {FABRIC} -e updn -o t")).code, 0);
    fs::write(d.join("t/notes.txt"), "ours").expect("a file");
    let run = run_in(d, &format!("route {FABRIC} -e minhop -o t"));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(names(d), ["t"]);
    let all =
        ["fabric.topo", "fdbs", "guid2lid", "lfts.dump", "notes.txt", "route.json", "subnet.lst"];
    assert_eq!(names(&d.join("t")), all);
    let manifest = fs::read_to_string(d.join("t/route.json")).expect("it is there");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    let length = fs::metadata(d.join("t/lfts.dump")).expect("it is there").len();
    assert_eq!(manifest["files"]["lfts.dump"]["bytes"], length);
    assert_eq!(manifest["files"]["lfts.dump"]["sha256"].as_str().map(str::len), Some(64));
    let check = format!("check {FABRIC} --routes t");
    let quiet = run_in(d, &check);
    assert_eq!((quiet.code, quiet.err.contains("route.json")), (0, false), "{}", quiet.err);

    let mut bytes = fs::read(d.join("t/guid2lid")).expect("it is there");
    bytes[3] ^= 1;
    fs::write(d.join("t/guid2lid"), bytes).expect("written");
    let scenario = format!(
        "fabric = \"{FABRIC}\"\n[routes]\ntables = \"t\"\n[[job]]\nname = \"a\"\nnodes = 2\ntraffic = \"imb:op=alltoall,bytes=1KiB\"\n"
    );
    fs::write(d.join("s.toml"), scenario).expect("written");
    for line in [
        check.clone(),
        format!("check {FABRIC} --routes t/lfts.dump --guid2lid t/guid2lid"),
        format!("measure {FABRIC} --routes t"),
        format!("reroute {FABRIC} --routes t --fail-links 1"),
        format!("load {FABRIC} --routes t --loads 0.1"),
        "simulate s.toml".to_owned(),
    ] {
        let run = run_in(d, &line);
        assert_eq!(run.code, 3, "{line}: {}", run.err);
        assert!(run.err.contains("guid2lid: it differs from its digest"), "{line}: {}", run.err);
    }
    fs::remove_file(d.join("t/route.json")).expect("removed");
    let run = run_in(d, &check);
    assert!(run.err.contains("t: note: there is no route.json"), "{}", run.err);
}

#[test]
fn files_of_a_set_are_chosen_and_compressed() {
    let dir = folder(&[]);
    let d = dir.path();
    let route = |more: &str| run_in(d, &format!("route torus:dims=5x5,t=1 -e dfsssp -o t {more}"));
    assert_eq!(route("--write lfts.gz,guid2lid,path-sl.zst").code, 0);
    assert_eq!(names(&d.join("t")), ["guid2lid", "lfts.dump.gz", "path-sl.zst", "route.json"]);
    let run = run_in(d, "check torus:dims=5x5,t=1 --routes t --format json");
    assert_eq!((run.code, &run.json()["deadlock_free"]), (0, &true.into()), "{}", run.err);
    let without = route("--write lfts,guid2lid");
    assert!(without.err.contains("does not say all service levels"), "{}", without.err);
    assert_eq!(route("--write lft").code, 2);
    assert_eq!(route("--write lfts,lfts.zst").code, 2);
}

#[test]
fn what_cannot_be_written_is_said_before_anything_is_computed() {
    let dir = folder(&[("file", "")]);
    let d = dir.path();
    for line in [
        "route @t2hx-hyperx -e dfsssp --svg none/x.svg",
        "route @t2hx-hyperx -e dfsssp -o file",
        "measure @t2hx-hyperx -e dfsssp --svg none/x.svg",
        "sweep @t2hx-hyperx -e dfsssp -o none/x.csv",
        "load @t2hx-hyperx --svg .",
        "simulate none.toml --timeline none/x.svg",
        "reproduce OPT-T1 --svg file",
    ] {
        let begin = Instant::now();
        let run = run_in(d, line);
        assert_eq!(run.code, 3, "{line}: {}", run.err);
        assert!(run.err.starts_with("error: cannot "), "{line}: {}", run.err);
        assert!(run.out.is_empty() && begin.elapsed() < Duration::from_mins(1), "{line}");
    }
    assert_eq!(names(d), ["file"]);
}

#[test]
fn results_are_printed_even_if_a_picture_fails() {
    let dir = folder(&[]);
    let line = format!("route {FABRIC} -e updn --format json --svg /dev/full");
    let run = run_in(dir.path(), &line);
    assert_eq!(run.code, 3);
    assert_eq!(run.json()["engine"], "updn");
    assert!(run.err.contains("cannot write /dev/full: No space left"), "{}", run.err);
}

/// The runtime opens `/dev/null` in place of a closed stream, so that no write fails.
#[test]
fn a_closed_standard_output_is_no_success() {
    let dir = folder(&[]);
    let shell = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", line]).arg(env!("CARGO_BIN_EXE_darkfiber")).current_dir(&dir);
        command.output().expect("sh")
    };
    for line in ["fabric kary:k=2,n=2", "list engines", "help glossary", "--version"] {
        let run = shell(&format!("exec \"$0\" {line} >&-"));
        let err = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(3), "{line}: {err}");
        assert!(err.contains("cannot write to standard output: it is closed"), "{line}: {err}");
    }
    // Where results are thrown away all is well.
    for line in ["list engines >/dev/null", "list engines 1<>/dev/null"] {
        let run = shell(&format!("exec \"$0\" {line}"));
        assert_eq!(run.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&run.stderr));
    }
}

#[test]
fn devices_fifos_and_links_are_written_through() {
    let dir = folder(&[("target", "old")]);
    let d = dir.path();
    let line = format!("fabric {FABRIC} --to json -q -o");
    let plain = |to: &str| {
        let run = run_in(d, &format!("{line} {to}"));
        assert_eq!(run.code, 0, "{}", run.err);
        run.out
    };
    assert!(plain("/dev/stdout").starts_with('{'));
    assert!(!fs::symlink_metadata("/dev/stdout").expect("it is there").is_file());
    std::os::unix::fs::symlink("target", d.join("link")).expect("a link");
    plain("link");
    assert!(fs::symlink_metadata(d.join("link")).expect("a link").is_symlink());
    assert!(fs::read_to_string(d.join("target")).expect("text").starts_with('{'));
    let made = Command::new("mkfifo").arg(d.join("fifo")).status().expect("mkfifo");
    assert!(made.success());
    let reader =
        Command::new("cat").arg(d.join("fifo")).stdout(Stdio::piped()).spawn().expect("cat starts");
    plain("fifo");
    let read = reader.wait_with_output().expect("it ends").stdout;
    assert!(read.starts_with(b"{"));
    assert_eq!(names(d), ["fifo", "link", "target"]);
}

/// A run in packets that takes seconds.
const LONG: &str = "load dragonfly:p=2,a=4,h=2 -r minimal --loads 0.5 --measure 20ms --warmup 10us -q \
                    --format json --store kept --store-every 1h";

#[test]
fn a_signal_keeps_the_run_and_leaves_nothing_else() {
    for signal in ["TERM", "INT"] {
        let dir = folder(&[]);
        let d = dir.path();
        let mut child = Command::new(env!("CARGO_BIN_EXE_darkfiber"))
            .args(LONG.split_whitespace())
            .current_dir(d)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_secs(3));
        assert!(child.try_wait().expect("its state").is_none(), "it is already over");
        let sent = Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status()
            .expect("kill");
        assert!(sent.success());
        let output = child.wait_with_output().expect("it ends");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        let number = if signal == "TERM" { 15 } else { 2 };
        assert_eq!(output.status.signal(), Some(number), "{err}");
        let kept = names(&d.join("kept"));
        assert!(kept.len() == 1 && kept[0].ends_with(".run.zst"), "{kept:?}");
        assert!(err.contains(&format!("the run is kept in kept/{}", kept[0])), "{err}");
    }
}

#[test]
fn a_checkpoint_with_an_altered_bit_is_not_believed() {
    let dir = folder(&[]);
    let d = dir.path();
    let line = "load mesh:dims=2,t=1 -r minimal --loads 0.1 --measure 1us --warmup 1us -q --format csv \
                --store kept";
    let first = run_in(d, line);
    assert_eq!(first.code, 0, "{}", first.err);
    assert_eq!(run_in(d, line).out, first.out);
    let name = names(&d.join("kept")).remove(0);
    let path = d.join("kept").join(&name);
    let whole = fs::read(&path).expect("it is there");
    // All bits are tried where such files are read; here a few, through the program.
    for at in (0..whole.len()).step_by(whole.len() / 40 + 1) {
        let mut other = whole.clone();
        other[at] ^= 1 << (at % 8);
        fs::write(&path, other).expect("written");
        let run = run_in(d, line);
        assert_eq!((run.code, &run.out), (0, &first.out), "byte {at}");
        for words in [&format!("{name}: this is no run that was kept"), "it starts over"] {
            assert!(run.err.contains(words), "{words}: {}", run.err);
        }
    }
}

#[test]
fn a_poll_that_takes_too_long_leaves_no_process() {
    let dir = folder(&[("topology.conf", "SwitchName=a Nodes=n[1-2]\n")]);
    let d = dir.path();
    let script = "#!/bin/sh\n(sleep 7; touch late) &\nsleep 60\n";
    fs::write(d.join("ask.sh"), script).expect("written");
    let begin = Instant::now();
    let run =
        run_in(d, "jobs filter map --topology topology.conf --timeout 1 --poll sh${IFS}ask.sh");
    assert_eq!(run.code, 3, "{}", run.err);
    std::thread::sleep(Duration::from_secs(9).saturating_sub(begin.elapsed()));
    assert!(!d.join("late").exists(), "the command goes on in the background");
}
