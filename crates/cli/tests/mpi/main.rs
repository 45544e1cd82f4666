//! `darkfiber saturate --mpi` and `simulate --mpi` in real processes of `mpirun`; only with the feature `mpi`:
//! `cargo test -p darkfiber --features mpi --test mpi`.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use darkfiber_testkit::skipped;

/// The launcher, for this number of processes on any number of cores.
fn launch(dir: &Path, processes: usize, line: &str) -> Command {
    let mut command = Command::new("mpirun");
    command.args(["-n", &processes.to_string()]);
    if is_open_mpi() {
        // More processes than cores; those that wait leave theirs to others.
        command.args(["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]);
        command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    }
    command.arg(env!("CARGO_BIN_EXE_darkfiber")).args(line.split_whitespace());
    command.current_dir(dir).stdin(Stdio::null());
    command
}

fn version() -> Option<String> {
    let output = Command::new("mpirun").arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn is_open_mpi() -> bool {
    version().is_some_and(|text| text.contains("Open MPI"))
}

/// Whether there is a launcher; if not, the test is counted as skipped.
fn is_there() -> bool {
    let found = version().is_some();
    if !found {
        skipped("mpirun is not installed");
    }
    found
}

fn finish(mut command: Command) -> Output {
    command.output().expect("it starts")
}

/// The program without a launcher.
fn alone(dir: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_darkfiber"));
    command.args(line.split_whitespace()).current_dir(dir);
    finish(command)
}

/// Standard output without the seconds that it took.
fn result(output: &Output) -> String {
    let (out, err) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}: {err}", output.status);
    let text = String::from_utf8(out.clone()).expect("text");
    let is_kept = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with("\"seconds\":") && !line.starts_with("\"wall_seconds\":")
    };
    text.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}

const SMALL: &str = "saturate dragonfly:p=2,a=4,h=2 --switches booksim-iq --packet 16 --global-cable 200ns \
                     --loads 0.2,0.5 --threads 1 --format json -q";

#[test]
fn any_number_of_processes_prints_the_same() {
    if !is_there() {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    for line in [
        // Until latencies have settled; ugal-global looks at queues of switches in other processes.
        format!("{SMALL} -r minimal,ugal,ugal-global"),
        "saturate hyperx:dims=4x4,t=2 --switches booksim-iq --packet 16 -r dimwar,ugal --loads 0.4 \
         --threads 1 --format json -q"
            .to_owned(),
    ] {
        let one = result(&alone(dir.path(), &line));
        assert!(one.contains("\"curves\""), "{one}");
        for processes in [2, 4] {
            let all = result(&finish(launch(dir.path(), processes, &format!("{line} --mpi"))));
            assert_eq!(all, one, "{processes} processes");
        }
    }
}

const SCENARIO: &str = r#"
fabric = "dragonfly:p=2,a=4,h=2"
depth = "packet"
[routes]
engine = "minhop"
[packets]
routing = "ugal"
global-cable = "500ns"
[keep]
interval = "20us"
[[job]]
traffic = "imb:op=alltoall,bytes=4KiB,repeat=20"
nodes = 24
placement = "random"
[[job]]
traffic = "bis:iterations=4"
nodes = 16
"#;

/// A scenario, its jobs alone, and the files that are written.
#[test]
fn a_scenario_is_the_same_in_any_number_of_processes() {
    if !is_there() {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("s.toml"), SCENARIO).expect("it is written");
    let line = "simulate s.toml --isolated --steps steps.csv --threads 1 --format json -q";
    let steps = || std::fs::read_to_string(dir.path().join("steps.csv")).expect("it is written");
    let one = (result(&alone(dir.path(), line)), steps());
    assert!(one.0.contains("\"packet_model\"") && one.1.lines().count() > 2);
    for processes in [2, 4] {
        let all = result(&finish(launch(dir.path(), processes, &format!("{line} --mpi"))));
        assert_eq!((all, steps()), one, "{processes} processes");
    }
}

#[test]
fn without_a_launcher_it_says_so() {
    let dir = tempfile::tempdir().expect("a directory");
    let output = alone(dir.path(), &format!("{SMALL} --mpi"));
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(
        err.contains("--mpi: MPI has started one process") && err.contains("mpirun -n"),
        "{err}"
    );
    assert!(output.stdout.is_empty());
}

/// What is wrong is printed once, and no process waits for another one.
#[test]
fn bad_input_is_refused_once() {
    if !is_there() {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let scenario = |name: &str, more: &str| {
        let text = SCENARIO.replace("depth = \"packet\"", more);
        std::fs::write(dir.path().join(name), text).expect("it is written");
    };
    scenario("flow.toml", "depth = \"flow\"");
    scenario("odd.toml", "depht = \"flow\"");
    for (line, code, words) in [
        ("simulate flow.toml --mpi -q", 2, "--mpi: processes share packets"),
        ("simulate odd.toml --mpi -q", 3, "odd.toml: line 3: unknown field `depht`"),
        ("simulate flow.toml --seeds 3 --mpi -q", 2, "--mpi is for one scenario"),
        ("simulate flow.toml --estimate --mpi -q", 2, "--mpi: --estimate begins"),
        ("saturate no-such-file.topo --mpi -q", 3, "no-such-file.topo"),
        ("saturate dragonfly:p=2,a=4,h=2 --loads 7 --mpi -q", 2, "--loads: 7"),
        ("saturate hyperx:dims=2,t=2 -r minimal --loads 0.1 --mpi -q", 4, "2 switches"),
    ] {
        let output = finish(launch(dir.path(), 4, line));
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{line}: {err}");
        assert!(err.contains(words) && err.matches("error: ").count() == 1, "{err}");
    }
}

/// Processes of other options would wait for each other for ever.
#[test]
fn processes_of_other_options_are_told_apart() {
    if !is_there() {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("s.toml"), SCENARIO).expect("it is written");
    for other in ["--isolated", "--store runs", "--seeds 2", "--set lmc=0,1"] {
        let mut command = launch(dir.path(), 1, "simulate s.toml --mpi -q");
        command.args([":", "-n", "1", env!("CARGO_BIN_EXE_darkfiber")]);
        command.args(format!("simulate s.toml --mpi -q {other}").split_whitespace());
        let output = finish(command);
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(err.contains("process 1") && err.matches("error: ").count() == 1, "{other}: {err}");
    }
}

/// Waits for something.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_mins(5), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A run that a signal stops is kept, and resumed by another number of processes.
#[test]
fn a_run_is_resumed_by_another_number_of_processes() {
    if !is_there() {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let load = "-r ugal --loads 0.5 --warmup 100us --measure 300us --store runs";
    is_resumed(dir.path(), &format!("{} {load}", SMALL.replace("--loads 0.2,0.5", "")));
    let dir = tempfile::tempdir().expect("a directory");
    let long = SCENARIO.replace("repeat=20", "repeat=400");
    std::fs::write(dir.path().join("s.toml"), long).expect("it is written");
    is_resumed(dir.path(), "simulate s.toml --threads 1 --format json -q --store runs");
}

fn is_resumed(dir: &Path, line: &str) {
    let plain = line.replace("--store runs", "");
    let whole = result(&alone(dir, &plain));
    let mut command = launch(dir, 4, &format!("{line} --store-every 1ms --mpi"));
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child: Child = command.spawn().expect("it starts");
    let runs = dir.join("runs");
    let is_kept = || {
        let files = std::fs::read_dir(&runs).into_iter().flatten().flatten();
        files.into_iter().any(|file| file.file_name().to_string_lossy().ends_with(".run.zst"))
    };
    until("a run is kept", || is_kept() || child.try_wait().is_ok_and(|end| end.is_some()));
    // The launcher forwards it to all processes.
    let stopped = Command::new("kill").args(["-USR1", &child.id().to_string()]).status();
    assert!(stopped.expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && err.contains("the run is kept in runs/"), "{err}");
    // Four processes of a thread have four parts.
    let refused = finish(launch(dir, 5, &format!("{line} --mpi")));
    let err = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(err.contains("4 parts, which 5 processes cannot share"), "{err}");
    let resumed = result(&finish(launch(dir, 2, &format!("{line} --mpi"))));
    // Only the command is another one.
    let without = |text: &str| text.replace(" --store runs", "");
    assert_eq!(without(&resumed), without(&whole));
}
