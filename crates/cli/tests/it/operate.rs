//! `darkfiber operate`: a program that runs, on files as inputs.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::schema::is_of;
use crate::{Run, folder, run_in};

/// Killed when it goes out of use.
pub(crate) struct Running {
    child: Child,
    /// The address of its pages.
    http: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _it_may_have_ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Starts it, and waits until it serves its pages; its output goes to files.
pub(crate) fn start(dir: &Path) -> Running {
    let said = fs::File::create(dir.join("said")).expect("a file");
    let proposals = fs::File::create(dir.join("proposals")).expect("a file");
    let child = Command::new(env!("CARGO_BIN_EXE_darkfiber"))
        .args(["operate", "--config", "operate.toml"])
        .current_dir(dir)
        .env("NOTIFY_SOCKET", dir.join("notify"))
        .stdout(proposals)
        .stderr(said)
        .stdin(Stdio::null())
        .spawn();
    let mut running = Running { child: child.expect("the program starts"), http: String::new() };
    let said = until(dir, "said", |text| text.contains("/journal"));
    let address = said.split("http://").nth(1).and_then(|rest| rest.split('/').next());
    address.expect("an address").clone_into(&mut running.http);
    running
}

impl Running {
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process"), signal).expect("it runs");
    }

    /// Address of its pages.
    pub(crate) fn address(&self) -> &str {
        &self.http
    }

    /// A page: its status and its text.
    pub(crate) fn page(&self, method: &str, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.http).expect("a connection");
        let host = &self.http;
        let request =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        let status = text.split(' ').nth(1).and_then(|code| code.parse().ok());
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned();
        (status.expect("a status"), body)
    }
}

/// The text of a file, once it is not empty.
pub(crate) fn until(dir: &Path, name: &str, says: impl Fn(&str) -> bool) -> String {
    waiting(name, || {
        let text = fs::read_to_string(dir.join(name)).unwrap_or_default();
        if says(&text) { Ok(text) } else { Err(text) }
    })
}

pub(crate) fn waiting<T>(what: &str, mut found: impl FnMut() -> Result<T, String>) -> T {
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        match found() {
            Ok(found) => return found,
            Err(instead) => assert!(Instant::now() < end, "{what}: {instead}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn ask(dir: &Path, question: &str) -> Run {
    run_in(dir, &format!("operate {question} --config operate.toml"))
}

/// Requests the status until it contains a text.
pub(crate) fn status(dir: &Path, says: &str) -> String {
    waiting(says, || {
        let status = ask(dir, "status");
        let is_it = status.code == 0 && status.out.contains(says);
        if is_it { Ok(status.out) } else { Err(status.out + &status.err) }
    })
}

/// Puts a text in the place of a file, whole.
pub(crate) fn put(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join("new"), text).expect("a file");
    fs::rename(dir.join("new"), dir.join(name)).expect("a file");
}

pub(crate) const CONFIG: &str = "site = \"test\"\nstate = \"state\"\nhttp = \"127.0.0.1:0\"\n\
    [fabric]\nfile = \"even/fabric.topo\"\nevery_s = 0.05\n\
    [tables]\nfile = \"even\"\nevery_s = 0.05\nlfts_file = \"/etc/opensm/lfts\"\n\
    [jobs]\nfile = \"jobs\"\nevery_s = 0.05\n\
    [policy]\ncooldown_s = 0\n";

/// Two hosts of one switch: no traffic between switches.
pub(crate) const QUIET: &str = "JOBID ST NODELIST\n1 R cn[0001-0002]\n";

/// Three jobs that share links, as in docs/ease.md.
pub(crate) const BUSY: &str = "JOBID ST NODELIST\n\
    20 R cn[0009-0012,0021-0024]\n21 R cn[0005-0008,0017-0020]\n22 R cn[0001-0004,0013-0016]\n";

/// A folder with a configuration, a list of jobs, and even tables of 24 hosts.
pub(crate) fn site() -> tempfile::TempDir {
    let dir = folder(&[("operate.toml", CONFIG), ("jobs", QUIET)]);
    let made = run_in(dir.path(), "route fattree2:n=6,m=3,r=4 -e ftree -o even -q");
    assert_eq!(made.code, 0, "{}", made.err);
    dir
}

#[test]
fn a_proposal_is_made_explained_followed_and_survives_a_kill() {
    let dir = site();
    let d = dir.path();
    let socket = UnixDatagram::bind(d.join("notify")).expect("a socket");
    let systemd = std::thread::spawn(move || {
        let (mut heard, mut buffer) = (String::new(), [0; 256]);
        while !heard.contains("STOPPING=1") {
            let n = socket.recv(&mut buffer).expect("a message");
            heard.push_str(&String::from_utf8_lossy(&buffer[..n]));
        }
        heard
    });
    let mut program = start(d);
    status(d, "decision   1 kept");
    put(d, "jobs", BUSY);
    let output = status(d, "decision   2 proposed");
    assert!(output.contains("gain 16.7 %, 4 entries, 4 blocks"), "{output}");
    let line = until(d, "proposals", |text| text.ends_with('\n'));
    assert_eq!(
        line,
        "proposal 2: 4 entries in 4 blocks, maximum effective EFI 12 -> 10 (16.7 % less), transition any-order\n"
    );
    let explained = ask(d, "explain 2").out;
    for words in ["because", "any-order", "O4 holds", "/etc/opensm/lfts", "darkfiber check"] {
        assert!(explained.contains(words), "{words}: {explained}");
    }
    // The checker of transitions accepts the proposal.
    let check = "check state/plans/2/fabric.topo --from even --routes state/plans/2 --format json";
    assert_eq!(run_in(d, check).json()["verdict"], "any-order");

    // Paused, it proposes nothing, also after it was killed.
    assert_eq!(ask(d, "pause").code, 0);
    program.child.kill().expect("it runs");
    program.child.wait().expect("it ended");
    fs::OpenOptions::new()
        .append(true)
        .open(d.join("state/journal"))
        .and_then(|mut journal| journal.write_all(b"{\"step\":99,\"at\""))
        .expect("a line that a crash tore");
    let program = start(d);
    let output = status(d, "paused");
    assert!(output.contains("decision   2 proposed"), "{output}");
    assert_eq!(ask(d, "explain 2").out, explained);
    assert_eq!(ask(d, "resume").code, 0);

    // An operator puts the proposal in place.
    let lfts = fs::read_to_string(d.join("state/plans/2/lfts.dump")).expect("tables");
    fs::remove_file(d.join("even/route.json")).expect("a manifest");
    put(d, "even/lfts.dump", &lfts);
    let output = status(d, "decision   2 taken");
    assert!(output.contains("maximum effective EFI 10") || output.contains("taken"), "{output}");

    // For programs.
    let json = run_in(d, "operate status --config operate.toml --format json").json();
    assert_eq!((&json["site"], &json["state"]["decisions"][1]["id"]), (&"test".into(), &2.into()));
    let json = run_in(d, "operate explain 2 --config operate.toml --format json").json();
    assert_eq!((&json["outcome"]["is"], &json["candidate"]["kept"]), (&"taken".into(), &12.into()));
    let csv = run_in(d, "operate explain 2 --config operate.toml --format csv").out;
    let heading = "id,outcome,trigger,kept,proposed,entries,blocks,rung\n";
    assert_eq!(csv, format!("{heading}2,taken,jobs,12,10,4,4,any-order\n"));
    let csv = run_in(d, "operate status --config operate.toml --format csv").out;
    assert!(csv.starts_with(&format!("{heading}1,kept,jobs,")), "{csv}");

    // It ends on request, and leaves no running process.
    std::thread::sleep(Duration::from_millis(600));
    program.signal(Signal::TERM);
    let mut program = program;
    let ended = program.child.wait().expect("it ended");
    assert_eq!(ended.code(), Some(0), "{}", fs::read_to_string(d.join("said")).expect("a file"));
    assert!(!d.join("state/ctl.sock").exists());
    assert_eq!(ask(d, "status").code, 3, "nobody answers");

    // Its journal gives the same actions, byte for byte.
    let replayed = run_in(d, "operate --replay state/journal");
    assert_eq!(replayed.code, 0, "{}", replayed.err);
    let journal = fs::read_to_string(d.join("state/journal")).expect("a journal");
    let steps = journal.split_once('\n').map_or("", |(_, steps)| steps);
    assert!(steps.lines().count() > 10 && steps == replayed.out);
    // And an altered one is refused.
    fs::write(d.join("altered"), journal.replacen("any-order", "any-odder", 1)).expect("a file");
    let refused = run_in(d, "operate --replay altered");
    assert_eq!(refused.code, 3);
    assert!(refused.err.contains("its checksum is wrong"), "{}", refused.err);

    let heard = systemd.join().expect("it was told");
    assert!(heard.contains("READY=1") && heard.contains("WATCHDOG=1"), "{heard}");
}

#[test]
fn pages_say_what_the_state_is_and_change_nothing() {
    let dir = site();
    let d = dir.path();
    put(d, "jobs", BUSY);
    let program = start(d);
    status(d, "decision   1 proposed");
    let (code, text) = program.page("GET", "/status");
    let page: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (code, &page["site"], &page["state"]["mode"]),
        (200, &"test".into(), &"advise".into())
    );
    let (code, text) = program.page("GET", "/plans/1");
    let plan: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((code, &plan["candidate"]["proposed"]), (200, &10.into()));
    is_of("status", &page);
    is_of("decision", &plan);
    assert_eq!(plan["verdict"]["rung"], "any-order");
    let (code, text) = program.page("GET", "/plans/7");
    assert_eq!((code, text.as_str()), (404, "no decision 7 is remembered; there are 1 to 1\n"));
    let (code, metrics) = program.page("GET", "/metrics");
    assert_eq!(code, 200);
    for line in [
        "darkfiber_operate_mode{mode=\"advise\"} 1",
        "darkfiber_operate_jobs 3",
        "darkfiber_operate_effective_efi{which=\"kept\"} 12",
        "darkfiber_operate_effective_efi{which=\"proposed\"} 10",
        "darkfiber_operate_plans_total{result=\"proposed\"} 1",
        "darkfiber_operate_inputs_bad_total{source=\"jobs\"} 0",
    ] {
        assert!(metrics.lines().any(|l| l == line), "{line}: {metrics}");
    }
    assert!(metrics.ends_with("# EOF\n"));
    let (code, journal) = program.page("GET", "/journal?since=2");
    assert_eq!(code, 200);
    let first: serde_json::Value =
        serde_json::from_str(journal.lines().next().expect("a step")).expect("JSON");
    assert_eq!(first["step"], 2);
    assert_eq!(program.page("GET", "/etc/passwd").0, 404);
    for method in ["POST", "PUT", "DELETE"] {
        assert_eq!(program.page(method, "/status").0, 405);
    }
    // Junk on either socket gets a reply or is ignored, and has no other effect.
    for junk in [&b"\xff\xfe\x00\n"[..], b"explain many\n", &[b'a'; 4096], b"\n"] {
        let mut stream = UnixStream::connect(d.join("state/ctl.sock")).expect("a connection");
        let _it_may_not_wait_for_all = stream.write_all(junk);
        let mut answer = String::new();
        let _it_may_be_reset = BufReader::new(stream).read_line(&mut answer);
        assert!(answer.is_empty() || answer.starts_with("error: "), "{answer}");
        let mut stream = TcpStream::connect(&program.http).expect("a connection");
        let _it_may_not_wait_for_all = stream.write_all(junk);
    }
    assert_eq!(ask(d, "explain 9").code, 3);
    status(d, "decision   1 proposed");
    // One state folder has one program.
    let second = run_in(d, "operate --config operate.toml");
    assert_eq!(second.code, 3);
    assert!(second.err.contains("another darkfiber operate runs here"), "{}", second.err);
}

#[test]
fn input_that_cannot_be_used_is_counted_and_keeps_what_was_known() {
    let dir = site();
    let d = dir.path();
    put(d, "jobs", BUSY);
    let program = start(d);
    status(d, "decision   1 proposed");
    for (text, what) in [
        ("", "it is empty (empty_is_idle = true if that means that no job runs)"),
        ("JOBID ST NODELIST\n1 R cn[00", "its last line is not complete"),
        ("what is this?\n", "it is no list of jobs"),
        ("{\"jobs\": [", "it is not JSON"),
        ("JOBID ST NODELIST\n1 R other[1-4]\n", "none of its nodes is in the fabric"),
    ] {
        put(d, "jobs", text);
        let output = status(d, what);
        assert!(output.contains(", 3 running") && output.contains("bad input  jobs: "), "{output}");
    }
    fs::write(d.join("jobs"), b"\xff\xfe\n").expect("a file");
    status(d, "it is not text");
    until(d, "said", |text| {
        text.contains("warning: jobs: could not be used 3 times in a row, what was known stays")
    });
    // A list that was cut, and tables of which half are there.
    let topo = fs::read_to_string(d.join("even/fabric.topo")).expect("a fabric");
    fs::remove_file(d.join("even/route.json")).expect("a manifest");
    put(d, "even/fabric.topo", &topo[..topo.len() / 2]);
    let output = status(d, "bad input  fabric: ");
    assert!(output.contains("7 switches, 24 terminals"), "{output}");
    let lfts = fs::read_to_string(d.join("even/lfts.dump")).expect("tables");
    put(d, "even/lfts.dump", &lfts[..lfts.len() / 2]);
    status(d, "bad input  tables: ");
    // All of it is put right.
    put(d, "even/fabric.topo", &topo);
    put(d, "even/lfts.dump", &lfts);
    put(d, "jobs", BUSY);
    until(d, "said", |text| text.contains("notice: jobs: can be used again"));
    let output = waiting("all inputs", || {
        let status = ask(d, "status").out;
        if status.contains("bad input") { Err(status) } else { Ok(status) }
    });
    assert!(output.contains("decision   1 proposed"), "nothing has changed: {output}");
    let metrics = program.page("GET", "/metrics").1;
    let bad = metrics
        .lines()
        .find_map(|l| l.strip_prefix("darkfiber_operate_inputs_bad_total{source=\"jobs\"} "));
    assert!(bad.and_then(|n| n.parse::<u32>().ok()).is_some_and(|n| n >= 6), "{metrics}");
}

#[test]
fn commands_are_inputs_too() {
    let dir = site();
    let d = dir.path();
    put(
        d,
        "even/pbs",
        "Job Id: 7.pbs\n    job_state = R\n    exec_host = cn0001/0*8+cn0013/0*8\n\n",
    );
    let config = CONFIG
        .replace("file = \"even/fabric.topo\"", "command = [\"cat\", \"even/fabric.topo\"]")
        .replace(
            "file = \"even\"",
            "command = [\"cat\", \"even/lfts.dump\"]\nguid2lid = \"even/guid2lid\"",
        )
        .replace("file = \"jobs\"", "command = [\"sh\", \"ask\"]\ntimeout_s = 0.3");
    put(d, "operate.toml", &config);
    put(d, "ask", "cat even/pbs\n");
    let program = start(d);
    status(d, ", 1 running");
    // SLURM's JSON.
    put(
        d,
        "json",
        "{\"jobs\": [{\"job_id\": 3, \"job_state\": [\"RUNNING\"], \"nodes\": \"cn[0001-0006]\"}, \
                    {\"job_id\": 4, \"job_state\": [\"RUNNING\"], \"nodes\": \"cn[0007-0012]\"}]}",
    );
    put(d, "ask", "cat json\n");
    status(d, ", 2 running");
    put(d, "ask", "echo slurm_load_jobs error: Unable to contact slurm controller >&2; exit 1\n");
    status(d, "sh: exit status 1: slurm_load_jobs error: Unable to contact slurm controller");
    put(d, "ask", "cat json; sleep 60\n");
    let output = status(d, "sh: no complete answer within 0.3 s");
    assert!(output.contains(", 2 running"), "{output}");
    program.signal(Signal::INT);
    let mut program = program;
    assert_eq!(program.child.wait().expect("it ended").code(), Some(0));
}

#[test]
fn what_cannot_run_is_refused() {
    let dir = site();
    let d = dir.path();
    let refused = |config: &str| {
        put(d, "operate.toml", config);
        run_in(d, "operate --config operate.toml")
    };
    for (config, code, says) in [
        (
            format!("mode = \"apply\"\n{CONFIG}"),
            3,
            "error: operate.toml: line 1: mode apply needs the section [opensm]\nhint: engines, sweep and log",
        ),
        (
            format!("mode = \"apply-faults\"\n{CONFIG}[opensm]\nengines = \"file,ftree\"\n"),
            3,
            "error: operate.toml: line 18: engines: the engine list \"file,ftree\" ends in minhop",
        ),
        (
            CONFIG.replace("state = \"state\"", "state = \"\""),
            3,
            "error: operate.toml: line 2: state: a name is expected, not an empty one\nhint: such as",
        ),
        (
            CONFIG.replace("cooldown_s", "cool_down_s"),
            3,
            "operate.toml: line 15: no key is called 'cool_down_s'\nhint: did you mean cooldown_s?",
        ),
    ] {
        let refused = refused(&config);
        assert_eq!(refused.code, code, "{}", refused.err);
        assert!(refused.err.contains(says), "{}", refused.err);
    }
    assert!(!d.join("state").exists(), "nothing was touched");
    assert_eq!(run_in(d, "operate --config absent.toml").code, 3);
    // Where no program listens, and where no socket or folder is possible.
    put(d, "operate.toml", CONFIG);
    let nobody = ask(d, "status");
    assert!(nobody.err.contains("no `darkfiber operate` runs with this"), "{}", nobody.err);
    assert!(nobody.err.contains("hint: start `darkfiber operate"), "{}", nobody.err);
    put(d, "file", "");
    for (key, says) in [
        (
            "state = \"file\"",
            "error: file: it is no folder, and a folder is expected\nhint: move it away",
        ),
        ("state = \"file/state\"", "it is no folder, and a folder is expected"),
        (
            "state = \"fresh\"\nsocket = \"no/such/folder/socket\"",
            "error: socket no/such/folder/socket: its folder does not exist\nhint: make it",
        ),
        (
            "state = \"fresh\"\nsocket = \"file\"",
            "error: socket file: something that is no socket is there",
        ),
    ] {
        let refused = refused(&CONFIG.replace("state = \"state\"", key));
        assert_eq!(refused.code, 3, "{}", refused.err);
        assert!(refused.err.contains(says), "{}", refused.err);
        assert!(!refused.err.contains("os error"), "{}", refused.err);
    }
    assert_eq!(run_in(d, "operate status --replay x").code, 2);
    // A state folder of another site, of a later version, and one that is no journal.
    put(d, "operate.toml", CONFIG);
    drop(start(d));
    let other = refused(&CONFIG.replace("\"test\"", "\"elsewhere\""));
    assert_eq!(other.code, 3);
    assert!(other.err.contains("state of site \"test\", not \"elsewhere\""), "{}", other.err);
    put(d, "state/journal", "{\"format\":99,\"news\":true} 00000000\n");
    let newer = refused(CONFIG);
    assert!(newer.code == 3 && newer.err.contains("checksum"), "{}", newer.err);
    put(d, "state/journal", "{\"format\":99,\"news\":true} 91f146eb\n");
    let newer = refused(CONFIG);
    assert!(newer.code == 3 && newer.err.contains("form 99"), "{}", newer.err);
    assert!(newer.err.contains("hint: another version of darkfiber wrote it"), "{}", newer.err);
}

#[test]
fn a_log_is_gone_through_in_virtual_time() {
    let dir = site();
    let d = dir.path();
    let log = "JobID|Start|End|NodeList\n\
        20|1000000000|1000090000|cn[0009-0012,0021-0024]\n\
        21|1000000100|1000090000|cn[0005-0008,0017-0020]\n\
        22|1000000200|1000090000|cn[0001-0004,0013-0016]\n\
        23|1000086400|1000090000|cn[0001-0002]\n";
    put(d, "month", log);
    let run = |more: &str| {
        run_in(d, &format!("operate rehearse --config operate.toml --jobs month {more}"))
    };
    let result = run("--format json").json();
    let total = &result["total"];
    assert_eq!((&result["mode"], &total["started"]), (&"advise".into(), &4.into()));
    // The first job has the fabric to itself; each of the next two meets those before it, and two entries part them.
    assert_eq!((&total["changes"], &total["entries"]), (&2.into(), &4.into()), "{result}");
    assert_eq!(result["days"].as_array().map(Vec::len), Some(2));
    assert_eq!(result["days"][1]["changes"], 0, "what was put in place stays");
    assert!(run("").out.contains("2 days in mode advise"), "{}", run("").out);
    // A daemon that only observes changes nothing.
    put(d, "operate.toml", &format!("mode = \"observe\"\n{CONFIG}"));
    let result = run("--format json").json();
    assert_eq!((&result["total"]["changes"], &result["total"]["worst"]), (&0.into(), &12.into()));
    assert!(!d.join("state").exists(), "nothing is written");
}
