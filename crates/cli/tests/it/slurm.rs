//! Files for SLURM, read by the real controller where it is installed.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use darkfiber_formats::hostlist::expand;

use super::{folder, run_in};

/// A daemon that does not outlive the test.
pub(crate) struct Daemon(Child);

impl Daemon {
    /// Requests it to end, and waits until it has.
    pub(crate) fn end(mut self) {
        let pid = self.0.id().to_string();
        let asked = Command::new("kill").arg(pid).status();
        assert!(asked.expect("kill starts").success());
        self.0.wait().expect("it ends");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _it_may_have_ended = self.0.kill();
        let _it_is_gone = self.0.wait();
    }
}

pub(crate) fn installed(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

pub(crate) fn start(command: &mut Command, log: &Path) -> Daemon {
    let file = fs::File::create(log).expect("a log");
    let both = file.try_clone().expect("a log");
    let child = command.stdin(Stdio::null()).stdout(file).stderr(both).spawn();
    Daemon(child.expect("the daemon starts"))
}

/// Switches with their children, from lines of either `topology.conf` or `scontrol show topology`.
fn switches(text: &str) -> BTreeMap<String, (Vec<String>, Vec<String>)> {
    let mut all = BTreeMap::new();
    for line in text.lines().filter(|l| l.starts_with("SwitchName=")) {
        let value = |key: &str| {
            let word = line.split_whitespace().find_map(|w| w.strip_prefix(key)?.strip_prefix('='));
            let mut names = expand(word.unwrap_or_default()).expect("a hostlist");
            names.sort();
            names
        };
        // The controller lists the nodes below upper switches, too.
        let below = value("Switches");
        let nodes = if below.is_empty() { value("Nodes") } else { Vec::new() };
        all.insert(value("SwitchName").concat(), (nodes, below));
    }
    all
}

/// Year and month of the controller's release, as `(22, 5)`.
pub(crate) fn version() -> Option<(u32, u32)> {
    let said = Command::new("slurmctld").arg("-V").output().ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    let mut parts = said.trim().strip_prefix("slurm ")?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The output of `scontrol show topology` of a controller that read this file. `chosen` are the lines of slurm.conf that choose
/// it.
fn shown(d: &Path, (name, text): (&str, &str), chosen: &str, nodes: &[String]) -> String {
    let etc = d.join("etc");
    let state = d.join("state");
    for folder in [&etc, &state] {
        let _a_former_one = fs::remove_dir_all(folder);
        fs::create_dir(folder).expect("a directory");
    }
    fs::write(etc.join(name), text).expect("written");
    fs::write(d.join("key"), [7u8; 128]).expect("written");
    let mode = |path: &Path, mode| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permitted");
    };
    mode(&d.join("key"), 0o600);
    mode(d, 0o755);
    let at = |name: &str| d.join(name).display().to_string();
    let munge = |name: &str| format!("--{name}-file={}", at(&format!("munge-{name}")));
    let _munged = start(
        Command::new("munged")
            .args(["--foreground", "--force", "--num-threads=1"])
            .arg(format!("--key-file={}", at("key")))
            .arg(format!("--socket={}", at("munge")))
            .args([munge("pid"), munge("log"), munge("seed")]),
        &d.join("munged.out"),
    );
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
    let user = Command::new("id").arg("-un").output().expect("a user").stdout;
    let user = String::from_utf8(user).expect("text");
    let credentials =
        if version() < Some((23, 11)) { "CryptoType=crypto" } else { "CredType=cred" };
    let conf = format!(
        "ClusterName=tree\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort={port}\nAuthType=auth/munge\n\
         AuthInfo=socket={munge}\n{credentials}/munge\nSlurmUser={user}\nStateSaveLocation={state}\n\
         SlurmctldPidFile={pid}\nMpiDefault=none\nProctrackType=proctrack/linuxproc\n\
         {chosen}CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\n\
         AccountingStorageType=accounting_storage/none\nSelectType=select/cons_tres\nPlugStackConfig=/dev/null\n\
         NodeName={nodes} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=1\nPartitionName=all Nodes=ALL Default=YES\n",
        munge = at("munge"),
        user = user.trim(),
        state = state.display(),
        pid = at("slurmctld.pid"),
        first = 17_300,
        last = 17_300 + nodes.len() - 1,
        nodes = nodes.join(","),
    );
    fs::write(etc.join("slurm.conf"), conf).expect("written");
    let patience = Duration::from_mins(1);
    let started = Instant::now();
    while !d.join("munge").exists() && started.elapsed() < patience {
        sleep(Duration::from_millis(50));
    }
    let _controller = start(
        Command::new("slurmctld").args(["-D", "-c"]).env("SLURM_CONF", etc.join("slurm.conf")),
        &d.join("slurmctld.out"),
    );
    let theirs = loop {
        let asked = Command::new("scontrol")
            .args(["show", "topology"])
            .env("SLURM_CONF", etc.join("slurm.conf"))
            .output()
            .expect("scontrol starts");
        let text = String::from_utf8_lossy(&asked.stdout).into_owned();
        if asked.status.success() && text.contains("Name=") {
            break text;
        }
        if started.elapsed() > patience {
            let log = fs::read_to_string(d.join("slurmctld.out")).unwrap_or_default();
            panic!("no answer: {text}{}\n{log}", String::from_utf8_lossy(&asked.stderr));
        }
        sleep(Duration::from_millis(200));
    };
    let log = fs::read_to_string(d.join("slurmctld.out")).expect("a log");
    assert!(!log.contains("Invalid") && !log.contains("fatal"), "{log}");
    theirs
}

/// Whether the controller is there, and at least of this release; otherwise the test counts as skipped.
fn controller(since: (u32, u32)) -> bool {
    let absent = ["slurmctld", "scontrol", "munged"].into_iter().find(|p| !installed(p));
    let missing = match (absent, version()) {
        (Some(absent), _) => format!("{absent} is not installed"),
        (None, has) if has < Some(since) => {
            format!("slurmctld is older than {}.{:02}", since.0, since.1)
        }
        _ => return true,
    };
    darkfiber_testkit::skipped(&missing);
    false
}

#[test]
fn the_controller_reads_the_tree() {
    if !controller((0, 0)) {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    // Three levels; storage is not part of SLURM, nor is one of the hosts.
    assert_eq!(run_in(d, "fabric kary:k=3,n=3 -o f.topo").code, 0);
    let all = run_in(d, "fabric f.topo --to topology.conf");
    let mut nodes: Vec<String> =
        switches(&all.out).into_values().flat_map(|(nodes, _)| nodes).collect();
    assert_eq!(nodes.len(), 27, "{}", all.out);
    let gone = nodes.remove(13);
    fs::write(d.join("nodes"), nodes.join("\n") + "\nspare[1-2]\n").expect("written");
    let written = run_in(d, "fabric f.topo --to topology.conf --slurm-nodes nodes");
    assert_eq!(written.code, 0, "{}", written.err);
    assert!(
        written.err.contains("2 nodes are of SLURM") || written.err.contains("spare1"),
        "{}",
        written.err
    );
    let ours = switches(&written.out);
    assert!(!ours.values().any(|(nodes, _)| nodes.contains(&gone)), "{}", written.out);
    let tree = "TopologyPlugin=topology/tree\n";
    let theirs = shown(d, ("topology.conf", &written.out), tree, &nodes);
    assert_eq!(switches(&theirs), ours, "{theirs}");
}

/// SLURM's form of 25.05, by the tree and by blocks.
#[test]
fn the_controller_reads_the_yaml() {
    if !controller((25, 5)) {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    assert_eq!(run_in(d, "fabric kary:k=3,n=3 -o f.topo").code, 0);
    let tree = run_in(d, "fabric f.topo --to topology.conf");
    let ours = switches(&tree.out);
    let nodes: Vec<String> = ours.values().flat_map(|(nodes, _)| nodes.clone()).collect();
    let yaml = run_in(d, "fabric f.topo --to topology.yaml");
    let theirs = shown(d, ("topology.yaml", &yaml.out), "", &nodes);
    assert_eq!(switches(&theirs), ours, "{theirs}");
}

#[test]
fn the_controller_reads_blocks() {
    if !controller((23, 11)) {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let d = dir.path();
    assert_eq!(run_in(d, "fabric kary:k=3,n=3 -o f.topo").code, 0);
    let written = run_in(d, "fabric f.topo --to topology/block");
    let blocks = |text: &str| -> BTreeMap<String, Vec<String>> {
        let value = |line: &str, key: &str| {
            let word = line.split_whitespace().find_map(|w| w.strip_prefix(key)?.strip_prefix('='));
            word.unwrap_or_default().to_owned()
        };
        let lines = text.lines().filter(|l| l.starts_with("BlockName="));
        lines
            .map(|l| (value(l, "BlockName"), expand(&value(l, "Nodes")).expect("a hostlist")))
            .collect()
    };
    let ours = blocks(&written.out);
    let nodes: Vec<String> = ours.values().flatten().cloned().collect();
    assert_eq!((ours.len(), nodes.len()), (9, 27), "{}", written.out);
    let choice = "TopologyPlugin=topology/block\n";
    let theirs = shown(d, ("topology.conf", &written.out), choice, &nodes);
    assert_eq!(blocks(&theirs), ours, "{theirs}");
    // Blocks in twos, fours and eights.
    assert!(theirs.contains("BlockSize=6") && theirs.contains("BlockSize=24"), "{theirs}");
}

#[test]
fn nodes_of_slurm_are_asked_for_by_its_forms_alone() {
    let dir = folder(&[("nodes", "nobody[1-3]\n"), ("words", "two words\n")]);
    let d = dir.path();
    let run = run_in(d, "fabric kary:k=2,n=2 --to dot --slurm-nodes nodes");
    assert_eq!(run.code, 2, "{}", run.err);
    let run = run_in(d, "fabric kary:k=2,n=2 --to topology.yaml --slurm-nodes nodes");
    assert_eq!(run.code, 3);
    assert!(run.err.contains("none of SLURM's 3 nodes is a host of the fabric"), "{}", run.err);
    let run = run_in(d, "fabric kary:k=2,n=2 --to topology/block --slurm-nodes words");
    assert!(run.err.contains("words: line 1: 2 words"), "{}", run.err);
    let block = run_in(d, "fabric kary:k=2,n=2 --to topology/block").out;
    assert!(block.contains("BlockName=") && block.ends_with("BlockSizes=2,4\n"), "{block}");
}
