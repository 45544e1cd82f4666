//! The bytes of an input: of a file, or the output of a command.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::children::Children;
use crate::config::{Origin, Watched};

/// Maximum bytes of a command's error output that are shown.
const COMPLAINT: usize = 200;

/// Fetches the bytes of an input.
pub(crate) fn fetch(watched: &Watched, children: &Children) -> Result<Vec<u8>, String> {
    match &watched.origin {
        Origin::File(path) | Origin::Folder(path) => file(path, watched.most_bytes),
        Origin::Socket(path) => Err(format!("{}: it is read as it is sent", path.display())),
        Origin::Command(words) => run(words, watched.timeout, watched.most_bytes, children),
    }
}

/// Reads a regular file that is not written meanwhile.
fn file(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let name = path.display();
    let fail = |e: io::Error| format!("{name}: {e}");
    // Opening anything else (a FIFO) might wait for ever.
    if !fs::metadata(path).map_err(fail)?.is_file() {
        return Err(format!("{name}: it is no regular file"));
    }
    let mut file = File::open(path).map_err(fail)?;
    let before = file.metadata().map_err(fail)?;
    let mut bytes = Vec::new();
    (&mut file).take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(fail)?;
    let after = file.metadata().map_err(fail)?;
    if bytes.len() as u64 > most {
        return Err(format!("{name}: larger than {most} bytes"));
    }
    let stamp = |m: &Metadata| (m.len(), m.modified().ok());
    if stamp(&before) != stamp(&after) || after.len() != bytes.len() as u64 {
        return Err(format!("{name}: it was written while it was read"));
    }
    Ok(bytes)
}

/// The output of a command, if it succeeds in time. It runs in a separate process group, all of which is killed if it does not.
pub(crate) fn run(
    words: &[String],
    timeout: Duration,
    most: u64,
    children: &Children,
) -> Result<Vec<u8>, String> {
    run_with_input(words, Vec::new(), timeout, most, children)
}

/// The same for a command that reads something first.
pub(crate) fn run_with_input(
    words: &[String],
    input: Vec<u8>,
    timeout: Duration,
    most: u64,
    children: &Children,
) -> Result<Vec<u8>, String> {
    let Some((program, arguments)) = words.split_first() else {
        return Err("no command".to_owned());
    };
    let end = Instant::now() + timeout;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|e| format!("{program}: {e}"))?;
    let group = children.of(&child);
    if let Some(mut stdin) = child.stdin.take() {
        // What it does not read it does not need; its exit status tells.
        thread::spawn(move || stdin.write_all(&input));
    }
    let out = child.stdout.take().map(|out| reader(out.take(most.saturating_add(1))));
    let complaint = child.stderr.take().map(reader);
    let status = wait(&mut child, end);
    // A process that it left behind may keep its output open.
    let bytes = status.and_then(|_| output(out.as_ref(), end));
    let (Some(status), Some(bytes)) = (status, bytes) else {
        group.kill();
        let _reaped = child.wait();
        let limit = timeout.as_secs_f64();
        return Err(format!("{program}: no complete answer within {limit} s"));
    };
    let bytes = bytes.map_err(|e| format!("{program}: {e}"))?;
    if bytes.len() as u64 > most {
        return Err(format!("{program}: more than {most} bytes"));
    }
    if status == 0 {
        return Ok(bytes);
    }
    let complaint = output(complaint.as_ref(), end.min(Instant::now() + Duration::from_secs(1)));
    let complaint = complaint.and_then(Result::ok).unwrap_or_default();
    let complaint = String::from_utf8_lossy(&complaint);
    let line = complaint.lines().map(str::trim).find(|line| !line.is_empty());
    let line: String = line.unwrap_or_default().chars().take(COMPLAINT).collect();
    let colon = if line.is_empty() { "" } else { ": " };
    Err(format!("{program}: exit status {status}{colon}{line}"))
}

type Output = io::Result<Vec<u8>>;

/// Reads to the end on a separate thread.
fn reader(mut from: impl Read + Send + 'static) -> Receiver<Output> {
    let (send, heard) = sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = from.read_to_end(&mut bytes).map(|_| bytes);
        let _nobody_may_wait = send.send(read);
    });
    heard
}

/// The bytes read, if they arrive in time.
fn output(from: Option<&Receiver<Output>>, end: Instant) -> Option<Output> {
    from?.recv_timeout(end.saturating_duration_since(Instant::now())).ok()
}

/// The exit status, once there is one; -1 after a signal.
fn wait(child: &mut Child, end: Instant) -> Option<i32> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status.code().unwrap_or(-1));
        }
        if Instant::now() >= end {
            return None;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_operate::InputSource;

    use super::*;

    fn watched(origin: Origin) -> Watched {
        Watched {
            source: InputSource::Jobs,
            origin,
            every: Duration::from_secs(1),
            timeout: Duration::from_millis(500),
            most_bytes: 1000,
            empty_is_idle: false,
            allow_warnings: false,
            aliases: None,
            sl: None,
            guid2lid: None,
            lid_choice: None,
        }
    }

    fn sh(script: &str) -> Result<Vec<u8>, String> {
        let words = ["sh", "-c", script].map(str::to_owned).to_vec();
        fetch(&watched(Origin::Command(words)), &Children::default())
    }

    #[test]
    fn commands_that_fail_or_hang_give_nothing() {
        assert_eq!(sh("echo a"), Ok(b"a\n".to_vec()));
        let failed = sh("echo half; echo no controller >&2; exit 3");
        assert_eq!(failed, Err("sh: exit status 3: no controller".to_owned()));
        assert!(sh("kill -9 $$").is_err_and(|e| e.contains("exit status -1")));
        assert!(sh("echo half; sleep 30").is_err_and(|e| e.contains("no complete answer")));
        let left = sh("sleep 30 & echo half");
        assert!(left.is_err_and(|e| e.contains("no complete answer")), "its output stays open");
        assert!(sh("head -c 1001 /dev/zero").is_err_and(|e| e.contains("more than 1000 bytes")));
        let none = Origin::Command(vec!["/no/such/program".to_owned()]);
        assert!(fetch(&watched(none), &Children::default()).is_err());
    }

    #[test]
    fn what_is_no_regular_file_or_too_large_gives_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("jobs");
        let read = || fetch(&watched(Origin::File(path.clone())), &Children::default());
        assert!(read().is_err_and(|e| e.contains("No such file")));
        fs::write(&path, b"1 n1\n").expect("a file");
        assert_eq!(read(), Ok(b"1 n1\n".to_vec()));
        fs::write(&path, [b'a'; 1001]).expect("a file");
        assert!(read().is_err_and(|e| e.contains("larger than 1000")));
        fs::remove_file(&path).expect("it was there");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).expect("a FIFO");
        assert!(read().is_err_and(|e| e.contains("no regular file")));
    }
}
