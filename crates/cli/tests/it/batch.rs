//! Studies that others start and stop: signals, scripts of batch systems, GNU parallel, HyperQueue.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use darkfiber_testkit::skipped;

use crate::slurm::{installed, start};
use crate::{folder, run_in};

/// A study of six cells for each seed, of a tenth of a second each on a fast core.
pub(crate) fn study(seeds: u32) -> String {
    format!(
        "fabric = \"hyperx:dims=20x14,t=7\"\nfail-percent = [1, 2, 5]\n[routes]\nengine = [\"updn\", \"dfsssp\"]\n\
         [study]\nquestions = [\"routes\"]\nseeds = {seeds}\n"
    )
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_mins(2), "{what} takes too long");
        sleep(Duration::from_millis(20));
    }
}

/// Number of answered cells of the study in its store.
pub(crate) fn cells(dir: &Path) -> usize {
    cells_of(dir, "s.toml")
}

fn cells_of(dir: &Path, name: &str) -> usize {
    if !dir.join("store/study.json").exists() {
        return 0;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_darkfiber"));
    let named = command.args(["study", "status", name, "-s", "store", "--format", "csv"]);
    let said = named.current_dir(dir).output().expect("the program starts");
    let said = String::from_utf8(said.stdout).expect("text");
    let counts = said.lines().nth(1).unwrap_or_else(|| panic!("{said}"));
    counts.split(',').nth(1).and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{said}"))
}

fn spawn(dir: &Path, line: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_darkfiber"))
        .args(line.split_whitespace())
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

fn signal(name: &str, child: &Child) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
}

#[test]
fn a_signal_leaves_a_whole_store_and_says_that_there_is_more() {
    let dir = folder(&[("s.toml", &study(5))]);
    let d = dir.path();
    let whole = run_in(d, "study run s.toml --format csv -q").out;
    let all = whole.lines().count() - 1;
    for name in ["TERM", "INT", "USR1"] {
        let before = cells(d);
        let child = spawn(d, "study run s.toml -o store --threads 1 -q");
        until("a cell", || cells(d) > before);
        signal(name, &child);
        let ended = child.wait_with_output().expect("it ends");
        let err = String::from_utf8(ended.stderr).expect("text");
        assert_eq!(ended.status.code(), Some(75), "{name}: {err}");
        let left = all - cells(d);
        assert!(left > 0 && left < all - before, "{left}");
        assert!(err.contains(&format!("stopped: {left} cells are left")), "{err}");
    }
    // The same command resumes from there, with the same table.
    let done = run_in(d, "study run s.toml -o store --format csv -q");
    assert_eq!((done.code, &done.out), (0, &whole));
    // Without a store it cannot be resumed: it ends as any program does.
    let child = spawn(d, "study run s.toml --threads 1 -q --seed 7");
    sleep(Duration::from_millis(300));
    signal("TERM", &child);
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!((ended.status.code(), ended.status.signal()), (None, Some(15)));
}

#[test]
fn a_shard_shows_its_own_cells() {
    let dir = folder(&[("s.toml", &study(2))]);
    let first = run_in(dir.path(), "study run s.toml -o store --shard 1/4 --format csv -q").out;
    let second = run_in(dir.path(), "study run s.toml -o store --shard 2/4 --format csv -q").out;
    assert_eq!((first.lines().count(), second.lines().count()), (4, 4), "{first}{second}");
    let again = run_in(dir.path(), "study run s.toml -o store --shard 1/4 --format csv -q").out;
    assert_eq!(first, again);
}

/// A name that a script must quote.
const NAME: &str = "it's a study.toml";

/// Runs a script as task 1 of an array, with a `scontrol` that records its calls; sends it a signal once there is a cell.
fn run_task(d: &Path, script: &str, signal_name: Option<&str>, restarts: u32) -> (Output, String) {
    let bin = d.join("bin");
    let _it_may_be_there = fs::create_dir(&bin);
    fs::write(bin.join("scontrol"), format!("#!/bin/sh\necho \"$@\" >>{}/asked\n", d.display()))
        .expect("written");
    fs::set_permissions(bin.join("scontrol"), fs::Permissions::from_mode(0o755)).expect("allowed");
    let _it_may_not_be_there = fs::remove_file(d.join("asked"));
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let before = cells_of(d, NAME);
    let child = Command::new("bash")
        .arg(script)
        .current_dir(d)
        .env("PATH", path)
        .envs([("SLURM_ARRAY_JOB_ID", "17"), ("SLURM_ARRAY_TASK_ID", "1")])
        .env("SLURM_RESTART_COUNT", restarts.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash starts");
    if let Some(name) = signal_name {
        until("a cell", || cells_of(d, NAME) > before);
        signal(name, &child);
    }
    let ended = child.wait_with_output().expect("it ends");
    (ended, fs::read_to_string(d.join("asked")).unwrap_or_default())
}

#[test]
fn a_task_of_the_script_is_queued_again_by_itself() {
    let dir = folder(&[(NAME, &study(10))]);
    let d = dir.path();
    let write = |tasks: u32, script: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_darkfiber"));
        let named = command.args(["study", "slurm", NAME, "-o", "store"]);
        let tasks = tasks.to_string();
        let made = named.args(["--tasks", &tasks, "--script", script]).current_dir(d).output();
        let made = made.expect("the program starts");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        String::from_utf8(made.stderr).expect("text")
    };
    let said = write(2, "two.sh");
    assert!(said.contains("60 of 60 cells are open; 10 s a cell is assumed"), "{said}");
    let script = fs::read_to_string(d.join("two.sh")).expect("written");
    for line in
        ["--array=1-2", "--requeue", "--signal=B:USR1@60", "--open-mode=append", "--time=00:16:00"]
    {
        assert!(script.contains(&format!("\n#SBATCH {line}\n")), "{line}: {script}");
    }
    // The time limit is near: the rest goes back to the queue.
    let (ended, asked) = run_task(d, "two.sh", Some("USR1"), 0);
    assert_eq!((ended.status.code(), asked.as_str()), (Some(75), "requeue 17_1\n"), "{ended:?}");
    // After a hundred times a person should look at it.
    let (ended, asked) = run_task(d, "two.sh", Some("USR1"), 100);
    assert_eq!((ended.status.code(), asked.as_str()), (Some(75), ""), "{ended:?}");
    // Cancelled: it does not come back.
    let (ended, asked) = run_task(d, "two.sh", Some("TERM"), 0);
    assert_eq!((ended.status.code(), asked.as_str()), (Some(75), ""), "{ended:?}");
    let (ended, asked) = run_task(d, "two.sh", None, 1);
    assert_eq!((ended.status.code(), asked.as_str()), (Some(0), ""), "{ended:?}");
    assert_eq!((cells_of(d, NAME), ended.stdout.len()), (30, 0));
    // Durations are known now; a task is enough for the rest, and then there is nothing to do.
    let said = write(1, "one.sh");
    assert!(said.contains("30 of 60 cells are open; "), "{said}");
    assert!(said.contains("the mean of 30 that are answered\n1 task of"), "{said}");
    assert_eq!(run_task(d, "one.sh", None, 0).0.status.code(), Some(0));
    let said = write(1, "none.sh");
    assert!(said.contains("nothing to submit") && !d.join("none.sh").exists(), "{said}");
}

#[test]
fn tasks_fit_the_work() {
    let dir = folder(&[("s.toml", &study(20))]);
    let of = |options: &str| run_in(dir.path(), &format!("study slurm s.toml -o store {options}"));
    let line = |options: &str, key: &str| {
        let run = of(options);
        let line = run.out.lines().find(|l| l.starts_with(&format!("#SBATCH --{key}=")));
        line.unwrap_or_else(|| panic!("{options}: {}{}", run.out, run.err)).to_owned()
    };
    // 120 cells of a minute in tasks of ten; in tasks of an hour; on four processors; never more tasks than cells.
    assert_eq!(line("--cell-seconds 60", "array"), "#SBATCH --array=1-12");
    assert_eq!(line("--cell-seconds 60 --minutes-a-task 60", "array"), "#SBATCH --array=1-2");
    assert_eq!(line("--cell-seconds 60 --threads 4", "array"), "#SBATCH --array=1-3");
    assert_eq!(line("--cell-seconds 60 --threads 4", "cpus-per-task"), "#SBATCH --cpus-per-task=4");
    assert_eq!(line("--cell-seconds 9e4", "array"), "#SBATCH --array=1-120");
    assert_eq!(line("--tasks 4000", "array"), "#SBATCH --array=1-120");
    // The notice is long enough for a cell, and the time for that.
    assert_eq!(line("--cell-seconds 200", "signal"), "#SBATCH --signal=B:USR1@400");
    assert_eq!(line("--cell-seconds 60 --time 90min", "time"), "#SBATCH --time=01:30:00");
    let short = of("--cell-seconds 200 --time 5min");
    assert_eq!(short.code, 2);
    assert!(
        short.err.contains("400 s before the time limit") && short.err.contains("9 min"),
        "{}",
        short.err
    );
    assert!(of("--tasks 60 --cell-seconds 1").err.contains("less than a minute of work"));
    // A study that no task could read is refused now.
    assert_eq!(of("--set routes.engine=updm").code, 3);
    assert_eq!(run_in(dir.path(), "study slurm - -o store").code, 2);
    // Options that change the study are part of the command.
    let with = of("--set routes.engine=updn,nue --seed 5 --max-cells 1000 --tasks 2").out;
    assert!(with.contains("--set routes.engine=updn,nue --max-cells 1000 --seed 5"), "{with}");
}

/// The table that results from running an exported study in a shell.
fn exported(d: &Path, program: &str, more: &str) -> String {
    let line = format!("study export s.toml -o store --tasks 5 --for {program}");
    let made = run_in(d, &line);
    assert_eq!(made.code, 0, "{}", made.err);
    let script = format!("{}{more}", made.out);
    let ended = Command::new("sh").args(["-c", &script]).current_dir(d).output();
    let ended = ended.expect("sh starts");
    assert!(ended.status.success(), "{script}{}", String::from_utf8_lossy(&ended.stderr));
    run_in(d, "study collect s.toml -s store --format csv").out
}

#[test]
fn gnu_parallel_runs_what_is_exported() {
    let dir = folder(&[("s.toml", &study(3))]);
    let said = Command::new("parallel").arg("--version").output();
    if !said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains("GNU parallel")) {
        return skipped("GNU parallel is not installed");
    }
    let whole = run_in(dir.path(), "study run s.toml --format csv -q").out;
    assert_eq!(exported(dir.path(), "parallel", ""), whole);
    let done = run_in(dir.path(), "study export s.toml -o store --for parallel");
    assert!(done.out.is_empty() && done.err.contains("nothing to run"), "{}", done.err);
}

#[test]
fn hyperqueue_runs_what_is_exported() {
    if !installed("hq") {
        return skipped("HyperQueue (hq) is not installed");
    }
    let dir = folder(&[("s.toml", &study(3))]);
    let d = dir.path();
    let whole = run_in(d, "study run s.toml --format csv -q").out;
    let folder = format!("--server-dir={}", d.join("hq").display());
    let hq = |words: &[&str]| {
        let mut command = Command::new("hq");
        command.arg(&folder).args(words).current_dir(d);
        command
    };
    let _server = start(&mut hq(&["server", "start", "--host=127.0.0.1"]), &d.join("server.out"));
    until("the server", || hq(&["server", "info"]).output().is_ok_and(|o| o.status.success()));
    let _worker = start(&mut hq(&["worker", "start"]), &d.join("worker.out"));
    let line = "study export s.toml -o store --tasks 5 --for hyperqueue";
    let made = run_in(d, line).out;
    assert!(made.contains("--array 1-5 --cpus 1 "), "{made}");
    let submitted = Command::new("sh")
        .args(["-c", &made])
        .env("HQ_SERVER_DIR", d.join("hq"))
        .current_dir(d)
        .output()
        .expect("sh starts");
    assert!(submitted.status.success(), "{submitted:?}");
    let waited = hq(&["job", "wait", "last"]).output().expect("hq starts");
    assert!(waited.status.success(), "{waited:?}");
    assert_eq!(run_in(d, "study collect s.toml -s store --format csv").out, whole);
    let _it_ends = hq(&["server", "stop"]).output();
}
