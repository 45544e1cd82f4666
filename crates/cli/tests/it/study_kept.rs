//! Runs inside cells of a study, which are kept while they last.

use std::fs;
use std::path::Path;

use crate::study::write;
use crate::{folder, run_in};

/// A scenario of one run of some tenths of a second, packet by packet.
fn alltoall(d: &Path, bytes: &str) {
    let text = format!(
        "fabric = \"hyperx:dims=4x4,t=4\"\nhosts = \"qdr\"\ndepth = \"packet\"\n[routes]\nengine = \"dfsssp\"\n\
         [[job]]\ntraffic = \"imb:op=alltoall,bytes={bytes}\"\nnodes = 64\n"
    );
    write(d, "s.toml", &text);
}

#[test]
fn a_long_run_in_a_cell_goes_on_after_a_kill() {
    let dir = folder(&[]);
    let d = dir.path();
    alltoall(d, "1MiB");
    let whole = run_in(d, "study run s.toml --format csv -q").out;
    let kept = |d: &Path| {
        let files = fs::read_dir(d.join("store/runs")).into_iter().flatten().flatten();
        files
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|e| e == "zst"))
            .collect::<Vec<_>>()
    };
    let line = "study run s.toml -o store --store-every 50ms --threads 1 -q --format csv";
    for name in ["KILL", "TERM"] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_darkfiber"))
            .args(line.split_whitespace())
            .current_dir(d)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("it starts");
        let before: Vec<_> =
            kept(d).iter().map(|p| fs::metadata(p).and_then(|m| m.modified()).ok()).collect();
        crate::batch::until("a checkpoint", || {
            let now: Vec<_> =
                kept(d).iter().map(|p| fs::metadata(p).and_then(|m| m.modified()).ok()).collect();
            !now.is_empty() && now != before
        });
        let sent =
            std::process::Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
        assert!(sent.expect("kill starts").success());
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.code(), if name == "TERM" { Some(75) } else { None }, "{name}: {ended}");
        assert_eq!(kept(d).len(), 1, "{name}");
    }
    // It resumes from there: the file is read, and removed when the cell has its answer.
    let file = kept(d).remove(0);
    let run = run_in(d, line);
    assert_eq!((run.code, &run.out), (0, &whole), "{}", run.err);
    assert!(!file.exists());
    // A damaged file is restarted.
    fs::remove_dir_all(d.join("store/cells"))
        .or_else(|_| fs::remove_dir_all(d.join("store/packs")))
        .expect("there were cells");
    let _one_of_both = fs::remove_dir_all(d.join("store/packs"));
    fs::write(&file, "nothing").expect("written");
    let run = run_in(d, line);
    assert_eq!((run.code, &run.out), (0, &whole), "{}", run.err);
}

/// Files of runs inside cells that a study stores.
fn kept_runs(d: &Path) -> Vec<String> {
    let files = fs::read_dir(d.join("store/runs")).into_iter().flatten().flatten();
    files.map(|file| file.file_name().to_string_lossy().into_owned()).collect()
}

const KEPT: &str = "study run s.toml -o store --store-every 20ms --threads 1 -q --format csv";

/// Kills a run of the study once this holds.
fn killed(d: &Path, text: &str, when: impl Fn(&[String]) -> bool) {
    write(d, "s.toml", text);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_darkfiber"))
        .args(KEPT.split_whitespace())
        .current_dir(d)
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    crate::batch::until("what is to be kept", || when(&kept_runs(d)));
    child.kill().expect("it was running");
    assert_eq!(child.wait().expect("it ends").code(), None, "it was killed before its end");
    let before = kept_runs(d);
    assert!(when(&before), "{before:?}");
}

/// The study resumes: the result is that of a run that was never killed.
fn resumed(d: &Path) {
    let whole = run_in(d, "study run s.toml --format csv -q").out;
    let run = run_in(d, KEPT);
    assert_eq!((run.code, run.err.as_str(), &run.out), (0, "", &whole));
}

#[test]
fn runs_of_victims_go_on_after_a_kill() {
    let dir = folder(&[]);
    let text = "fabric = \"dragonfly:p=4,a=4,h=2,g=4,gbps=200\"\nhosts = \"slingshot\"\n[packets]\nswitches = \"rosetta\"\n\
                size = \"4KiB\"\n[routes]\nengine = \"minhop\"\n[study]\nquestions = [{ ask = \"impact\", victim = \"allreduce:8B\", \
                aggressor = [\"incast\", \"alltoall\", \"bursts\"], iterations = 1000 }]\n";
    // One run is over, and another one is in progress.
    killed(dir.path(), text, |kept| {
        [".json", ".run.zst"].iter().all(|end| kept.iter().any(|name| name.ends_with(end)))
    });
    resumed(dir.path());
    assert_eq!(kept_runs(dir.path()), Vec::<String>::new(), "the cell has its answer");
}

#[test]
fn moments_of_a_replay_go_on_after_a_kill() {
    let dir = folder(&[("log.swf", &crate::replay::swf(800))]);
    let d = dir.path();
    let text = "fabric = \"kary:k=6,n=3\"\n[study]\nquestions = [{ ask = \"replay\", log = \"log.swf\", scale = 1.0, \
                engines = [\"updn\", \"dfsssp\", \"sar\"], before = 1, days = 8, every = \"600s\" }]\n";
    let when = |kept: &[String]| {
        let lines =
            kept.iter().find(|name| Path::new(name).extension().is_some_and(|e| e == "lines"));
        let text = lines.and_then(|name| fs::read_to_string(d.join("store/runs").join(name)).ok());
        text.is_some_and(|text| text.lines().count() > 40)
    };
    killed(d, text, when);
    resumed(d);
    assert_eq!(kept_runs(d), Vec::<String>::new(), "the cell has its answer");
    // Moments of another log are of no use.
    fs::remove_dir_all(d.join("store")).expect("it was there");
    killed(d, text, when);
    fs::write(d.join("log.swf"), crate::replay::swf(500)).expect("written");
    resumed(d);
}

/// A file that a study names may change: what was answered before is of another one, and is kept for when it comes back.
#[test]
fn answers_are_of_files_as_they_are() {
    let dir = folder(&[]);
    let d = dir.path();
    let fabric = |spec: &str| {
        let run = run_in(d, &format!("fabric {spec} -o g.topo -q"));
        assert_eq!(run.code, 0, "{}", run.err);
    };
    write(
        d,
        "s.toml",
        "fabric = \"g.topo\"\n[routes]\nengine = [\"updn\", \"minhop\"]\n[study]\nquestions = [\"routes\"]\n",
    );
    let collect = |d: &Path| run_in(d, "study collect s.toml -s store --format csv -q").out;
    let status = |d: &Path| run_in(d, "study status s.toml -s store --format csv -q").out;
    // Fixed times are no part of what is compared.
    let numbers = |text: &str| -> Vec<String> {
        let heading: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
        let at = heading.iter().position(|name| *name == "efi_max").expect("a column");
        text.lines().skip(1).map(|l| l.split(',').nth(at).unwrap_or_default().to_owned()).collect()
    };
    fabric("kary:k=4,n=2");
    let tree = run_in(d, "study run s.toml -o store --format csv -q").out;
    assert_eq!(numbers(&collect(d)), numbers(&tree));
    fabric("torus:dims=4x4,t=1");
    assert!(status(d).contains("\n2,0,"), "{}", status(d));
    let torus = run_in(d, "study run s.toml -o store --format csv -q").out;
    assert_ne!(numbers(&torus), numbers(&tree));
    assert_eq!(numbers(&collect(d)), numbers(&torus));
    fabric("kary:k=4,n=2");
    assert_eq!(numbers(&collect(d)), numbers(&tree));
    assert!(status(d).contains("\n2,2,"), "{}", status(d));
}

/// Where an answer cannot be written, the run that was kept stays, and the command says at its end that something is open.
#[test]
fn an_answer_that_cannot_be_written_costs_no_kept_run() {
    let dir = folder(&[]);
    let d = dir.path();
    alltoall(d, "256KiB");
    let program = env!("CARGO_BIN_EXE_darkfiber");
    let whole = run_in(d, "study run s.toml --format csv -q").out;
    let line = "study run s.toml -o store --store-every 50ms --threads 1 -q --format csv";
    let files = |of: &str| {
        let all = fs::read_dir(d.join("store").join(of)).into_iter().flatten().flatten();
        all.filter(|file| file.path().extension().is_some_and(|e| e == "zst")).count()
    };
    let mut child = std::process::Command::new(program)
        .args(line.split_whitespace())
        .current_dir(d)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    crate::batch::until("a checkpoint", || files("runs") == 1);
    child.kill().expect("it runs");
    child.wait().expect("it ended");
    // No file may have a byte: what is printed goes through a pipe.
    let limited = std::process::Command::new("sh")
        .args(["-c", &format!("ulimit -f 0; exec {program} {}", line.replace("50ms", "1h"))])
        .current_dir(d)
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&limited.stderr);
    assert_eq!(limited.status.code(), Some(3), "{said}");
    assert!(said.contains("1 answer could not be written"), "{said}");
    assert!(!said.contains("buffer is full"), "{said}");
    assert_eq!(String::from_utf8_lossy(&limited.stdout), whole, "it is printed all the same");
    assert_eq!(files("runs"), 1, "{said}");
    let run = run_in(d, line);
    assert_eq!((run.code, &run.out), (0, &whole), "{}", run.err);
    assert_eq!(files("runs"), 0);
}
