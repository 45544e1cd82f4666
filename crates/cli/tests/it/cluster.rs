//! A study on a real SLURM: a controller and four nodes on this machine, whose tasks are killed, requeued and cancelled, and whose
//! controller is restarted.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

use darkfiber_testkit::skipped;

use crate::batch::{cells, study, until};
use crate::slurm::{Daemon, installed, start, version};
use crate::{folder, run_in};

/// Nodes of the cluster.
const NODES: usize = 4;
/// Tasks of the array.
const TASKS: usize = 4;

/// A SLURM that listens on loopback alone, and is gone with the test, its jobs first.
struct Cluster {
    dir: PathBuf,
    controller: Option<Daemon>,
    nodes: Vec<Daemon>,
    _munged: Daemon,
}

impl Cluster {
    fn start(dir: &Path) -> Self {
        let at = |name: &str| dir.join(name).display().to_string();
        for name in ["state", "spool"] {
            fs::create_dir(dir.join(name)).expect("a directory");
        }
        fs::write(dir.join("key"), [7u8; 128]).expect("written");
        for (path, mode) in [(dir.join("key"), 0o600), (dir.to_owned(), 0o755)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permitted");
        }
        // All are bound before any is free again, so that they differ.
        let bound: Vec<TcpListener> =
            (0..=NODES).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
        let port = |i: usize| bound[i].local_addr().expect("a port").port();
        let user = Command::new("id").arg("-un").output().expect("a user").stdout;
        let user = String::from_utf8(user).expect("text");
        let credentials =
            if version() < Some((23, 11)) { "CryptoType=crypto" } else { "CredType=cred" };
        let mut conf = format!(
            "ClusterName=study\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort={port}\nAuthType=auth/munge\n\
             AuthInfo=socket={munge}\n{credentials}/munge\nSlurmUser={user}\nSlurmdUser={user}\n\
             StateSaveLocation={state}\nSlurmdSpoolDir={spool}/%n\nSlurmctldPidFile={pid}\nSlurmdPidFile={spool}/%n.pid\n\
             MpiDefault=none\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
             CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\nSlurmdParameters=config_overrides\nReturnToService=2\n\
             AccountingStorageType=accounting_storage/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n\
             SchedulerParameters=sched_interval=1\nKillWait=5\nPlugStackConfig=/dev/null\n",
            port = port(NODES),
            munge = at("munge"),
            user = user.trim(),
            state = at("state"),
            spool = at("spool"),
            pid = at("slurmctld.pid"),
        );
        conf.extend((0..NODES).map(|i| {
            let port = port(i);
            format!("NodeName=n{i} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=500\n")
        }));
        conf.push_str("PartitionName=all Nodes=ALL Default=YES\n");
        fs::write(dir.join("slurm.conf"), conf).expect("written");
        drop(bound);
        let munge = |name: &str| format!("--{name}-file={}", at(&format!("munge-{name}")));
        let munged = start(
            Command::new("munged")
                .args(["--foreground", "--force", "--num-threads=2"])
                .arg(format!("--key-file={}", at("key")))
                .arg(format!("--socket={}", at("munge")))
                .args([munge("pid"), munge("log"), munge("seed")]),
            &dir.join("munged.out"),
        );
        until("munged", || dir.join("munge").exists());
        let mut cluster =
            Self { dir: dir.to_owned(), controller: None, nodes: Vec::new(), _munged: munged };
        cluster.controller = Some(cluster.controller(&["-D", "-c"]));
        for i in 0..NODES {
            fs::create_dir(dir.join(format!("spool/n{i}"))).expect("a directory");
            let mut command = cluster.command("slurmd");
            let log = dir.join(format!("n{i}.out"));
            cluster.nodes.push(start(command.args(["-D", "-N", &format!("n{i}")]), &log));
        }
        let idle = || cluster.asked("sinfo", &["-h", "-N", "-o", "%t"]);
        until("idle nodes", || idle().lines().filter(|l| *l == "idle").count() == NODES);
        cluster
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.dir.join("slurm.conf")).current_dir(&self.dir);
        command
    }

    fn controller(&self, options: &[&str]) -> Daemon {
        start(self.command("slurmctld").args(options), &self.dir.join("slurmctld.out"))
    }

    fn ask(&self, program: &str, words: &[&str]) -> Output {
        self.command(program).args(words).output().expect("it starts")
    }

    /// Output of a command; empty if it fails.
    fn asked(&self, program: &str, words: &[&str]) -> String {
        let answer = self.ask(program, words);
        String::from_utf8(if answer.status.success() { answer.stdout } else { Vec::new() })
            .expect("text")
    }

    /// Has a command succeed.
    fn must(&self, program: &str, words: &[&str]) -> String {
        let answer = self.ask(program, words);
        assert!(answer.status.success(), "{program} {words:?}: {answer:?}");
        String::from_utf8(answer.stdout).expect("text").trim().to_owned()
    }

    /// Accounting data of a task.
    fn task(&self, job: &str, task: usize) -> String {
        self.asked("scontrol", &["-o", "show", "job", &format!("{job}_{task}")])
    }

    /// Logs of tasks and daemons.
    fn logs(&self) -> String {
        let mut logs: Vec<PathBuf> =
            fs::read_dir(&self.dir).expect("a directory").flatten().map(|e| e.path()).collect();
        logs.retain(|path| path.extension().is_some_and(|e| e == "out"));
        logs.sort();
        let text = |path: PathBuf| {
            let text = fs::read(&path).unwrap_or_default();
            format!("== {}\n{}", path.display(), String::from_utf8_lossy(&text))
        };
        logs.into_iter().map(text).collect()
    }

    /// Waits for the end of all tasks. A requeued task need not wait two minutes, as by SLURM's default, but a few seconds: nodes
    /// refuse a job whose last credential was revoked in the same second.
    fn finish(&self) {
        let mut waited = String::new();
        let mut hurried = Vec::new();
        until("the end of all tasks", || {
            let Output { status, stdout, .. } = self.ask("squeue", &["-h", "-r", "-o", "%A %T %r"]);
            waited = String::from_utf8(stdout).expect("text");
            for line in waited.lines().filter(|line| line.contains("BeginTime")) {
                let job = line.split(' ').next().unwrap_or_default().to_owned();
                if !hurried.contains(&job) {
                    let soon = "StartTime=now+4seconds";
                    self.asked("scontrol", &["update", &format!("JobId={job}"), soon]);
                    hurried.push(job);
                }
            }
            sleep(Duration::from_millis(200));
            status.success() && waited.is_empty()
        });
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.controller.is_some() {
            self.asked("scancel", &["--state=PENDING"]);
            self.asked("scancel", &["--state=RUNNING", "--full", "--signal=KILL"]);
            for _ in 0..50 {
                if self.asked("squeue", &["-h"]).is_empty() {
                    break;
                }
                sleep(Duration::from_millis(100));
            }
        }
        self.nodes.clear();
    }
}

/// The process that runs a task of the study in this store.
fn process(store: &Path, task: usize) -> Option<String> {
    let (store, shard) = (store.display().to_string(), format!("{task}/{TASKS}"));
    fs::read_dir("/proc").expect("processes").flatten().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.parse::<u32>().ok()?;
        let words = fs::read(entry.path().join("cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words).into_owned();
        let words: Vec<&str> = words.split('\0').collect();
        let is_run = words.get(1..3) == Some(&["study", "run"][..]);
        (is_run && words.contains(&store.as_str()) && words.contains(&shard.as_str()))
            .then_some(name)
    })
}

#[test]
fn an_array_that_is_killed_requeued_and_cancelled_loses_no_cell() {
    let programs =
        ["slurmctld", "slurmd", "munged", "sbatch", "scontrol", "scancel", "squeue", "sinfo"];
    if let Some(absent) = programs.into_iter().find(|program| !installed(program)) {
        return skipped(&format!("{absent} is not installed"));
    }
    let dir = folder(&[("s.toml", &study(18))]);
    let d = dir.path();
    let slurm = d.join("slurm");
    fs::create_dir(&slurm).expect("a directory");
    fs::set_permissions(d, fs::Permissions::from_mode(0o755)).expect("permitted");
    let mut cluster = Cluster::start(&slurm);
    let store = d.join("store");
    let made = run_in(d, &format!("study slurm s.toml -o store --tasks {TASKS} --script array.sh"));
    assert_eq!(made.code, 0, "{}", made.err);
    let script = d.join("array.sh").display().to_string();
    let job = cluster.must("sbatch", &["--parsable", &script]);

    // The controller ends and comes back while all tasks work.
    until("tasks that work", || (1..=TASKS).all(|task| process(&store, task).is_some()));
    until("cells", || cells(d) >= 2);
    cluster.controller.take().expect("it runs").end();
    cluster.controller = Some(cluster.controller(&["-D"]));
    // The first task gets the signal that its time is nearly over, the second killed, the third cancelled, the fourth requeued.
    let second = process(&store, 2).expect("it works");
    assert!(Command::new("kill").args(["-9", &second]).status().expect("kill starts").success());
    until("the controller", || cluster.task(&job, 1).contains("RUNNING"));
    cluster.must("scancel", &["--batch", "--signal=USR1", &format!("{job}_1")]);
    cluster.must("scancel", &[&format!("{job}_3")]);
    cluster.must("scontrol", &["requeue", &format!("{job}_4")]);
    let mut shown = String::new();
    until("tasks that come back", || {
        shown = [1, 4].map(|task| cluster.task(&job, task)).concat();
        shown.matches("Restarts=1 ").count() == 2
    });
    cluster.finish();
    let states = [1, 2, 3, 4].map(|task| {
        let shown = cluster.task(&job, task);
        let state = shown.split("JobState=").nth(1).and_then(|rest| rest.split(' ').next());
        state.unwrap_or("none").to_owned()
    });
    let logs = cluster.logs();
    assert_eq!(states, ["COMPLETED", "FAILED", "CANCELLED", "COMPLETED"], "{logs}");
    let answered = cells(d);
    assert!((54..108).contains(&answered), "{answered} cells");
    let status = run_in(d, "study status s.toml -s store --format csv").out;
    assert!(status.contains(&format!("108,{answered},0,{},", 108 - answered)), "{status}");

    // The cells left by the killed and the cancelled task are answered by the same script.
    cluster.must("sbatch", &["--parsable", &script]);
    cluster.finish();
    assert_eq!(cells(d), 108);
    let said = run_in(d, "study slurm s.toml -o store");
    assert!(said.err.contains("nothing to submit"), "{}", said.err);
    let whole = run_in(d, "study run s.toml --format csv -q").out;
    assert_eq!(whole.lines().count(), 109);
    assert_eq!(run_in(d, "study collect s.toml -s store --format csv").out, whole);
    a_worked_study(d, &cluster);
}

/// A study of the documentation: two of its tasks are killed while they work, and the same script resumes.
fn a_worked_study(d: &Path, cluster: &Cluster) {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/studies/placement.toml");
    // With ten times as many seeds, so that there is something to kill.
    let text = fs::read_to_string(example).expect("it is there");
    assert!(text.contains("seeds = 10\n"));
    fs::write(d.join("placement.toml"), text.replace("seeds = 10\n", "seeds = 100\n"))
        .expect("written");
    let store = d.join("placed");
    let line = format!("study slurm placement.toml -o placed --tasks {TASKS} --script placed.sh");
    let made = run_in(d, &line);
    assert_eq!(made.code, 0, "{}", made.err);
    let script = d.join("placed.sh").display().to_string();
    let submit = || cluster.must("sbatch", &["--parsable", &script]);
    submit();
    for task in [1, 3] {
        let mut working = None;
        until("a task that works", || {
            working = process(&store, task);
            working.is_some()
        });
        let id = working.expect("it works");
        assert!(Command::new("kill").args(["-9", &id]).status().expect("kill starts").success());
    }
    cluster.finish();
    submit();
    cluster.finish();
    let logs = cluster.logs();
    let said = run_in(d, "study slurm placement.toml -o placed");
    assert!(said.err.contains("nothing to submit"), "{}\n{logs}", said.err);
    let whole = run_in(d, "study run placement.toml --format csv -q").out;
    assert_eq!(whole.lines().count(), 1 + 900 * 4);
    assert_eq!(run_in(d, "study collect placement.toml -s placed --format csv").out, whole);
}
