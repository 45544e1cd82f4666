//! Standby subnet managers: a command copies to them what OpenSM reads here, and prints what they have then.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread;

use darkfiber_formats::manifest::sha256;

use crate::children::Children;
use crate::config::{Config, Standby};
use crate::event::Event;
use crate::fetch::run;
use crate::poll::WakeUp;

/// Most bytes of the command's output.
const MOST_BYTES: u64 = 1 << 20;

/// Starts the thread that has the files copied whenever it is woken up.
pub(crate) fn start(
    config: &Config,
    children: Children,
    events: &SyncSender<Event>,
) -> std::io::Result<Option<WakeUp>> {
    let Some(standby) = config.standby.clone() else { return Ok(None) };
    let manager = config.manager.as_ref();
    let files: Vec<PathBuf> = match (&config.plugin, manager) {
        (Some(plugin), _) => vec![plugin.plan_file.clone()],
        (None, Some(manager)) => {
            manager.lfts_file.iter().chain(&manager.qos_policy).cloned().collect()
        }
        (None, None) => return Ok(None),
    };
    let (send, wake_up) = std::sync::mpsc::sync_channel(1);
    let events = events.clone();
    let run = move || keep_copied(&standby, &files, &children, &wake_up, &events);
    thread::Builder::new().name("standby".to_owned()).spawn(run)?;
    Ok(Some(send))
}

fn keep_copied(
    standby: &Standby,
    files: &[PathBuf],
    children: &Children,
    wake_up: &Receiver<()>,
    events: &SyncSender<Event>,
) {
    loop {
        // Before there is a plan, all subnet managers route as they would without this program.
        let there: Vec<&PathBuf> = files.iter().filter(|file| file.exists()).collect();
        if !there.is_empty()
            && events.send(Event::Standby(copy(standby, &there, children))).is_err()
        {
            return;
        }
        if let Err(RecvTimeoutError::Disconnected) = wake_up.recv_timeout(standby.every) {
            return;
        }
    }
}

/// Has files copied; an error says which of them are not on a standby as they are here.
fn copy(standby: &Standby, files: &[&PathBuf], children: &Children) -> Result<(), String> {
    let mut words = standby.copy.clone();
    words.extend(files.iter().map(|file| file.display().to_string()));
    let mut sums = sums_of(files)?;
    loop {
        let printed = run(&words, standby.timeout, MOST_BYTES, children)?;
        let found = compare(&sums, &String::from_utf8_lossy(&printed));
        // A plan that was taken meanwhile may have been copied, or not.
        let now = sums_of(files)?;
        if found.is_ok() || now == sums {
            return found.map_err(|what| format!("{}: {what}", words[0]));
        }
        sums = now;
    }
}

/// Names of files, and their SHA-256 in hexadecimal.
fn sums_of(files: &[&PathBuf]) -> Result<Vec<(String, String)>, String> {
    let sum = |file: &&PathBuf| {
        let name = file.display().to_string();
        let bytes = std::fs::read(file).map_err(|e| format!("{name}: {e}"))?;
        Ok((name, sha256(&bytes)))
    };
    files.iter().map(sum).collect()
}

/// Every sum that was printed is that of a file, and each file is as often among them as the others.
fn compare(wanted: &[(String, String)], printed: &str) -> Result<(), String> {
    let mut copies = vec![0usize; wanted.len()];
    for line in printed.lines().filter(|line| !line.trim().is_empty()) {
        let sum = line.split_whitespace().next().unwrap_or_default().trim_start_matches('\\');
        let Some(of) = wanted.iter().position(|(_, wanted)| wanted.eq_ignore_ascii_case(sum))
        else {
            let line: String = line.chars().take(120).collect();
            return Err(format!("a standby has something else: \"{line}\""));
        };
        copies[of] += 1;
    }
    let most = copies.iter().copied().max().unwrap_or(0);
    match copies.iter().position(|&n| n < most.max(1)) {
        Some(of) => Err(format!(
            "it does not print the SHA-256 of {} on each standby, as sha256sum does",
            wanted[of].0
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_standby_has_the_files_if_it_has_their_sums() {
        let wanted = [("plan", "aa"), ("policy", "bb")].map(|(f, s)| (f.to_owned(), s.to_owned()));
        let compare = |printed| compare(&wanted, printed);
        assert_eq!(compare("aa  /x/plan\nbb  /x/policy\n"), Ok(()));
        assert_eq!(compare("AA  /x/plan\nbb  /x/policy\nbb  /y/policy\naa  /y/plan\n"), Ok(()));
        let lacks = |printed, what: &str| {
            let error = compare(printed).expect_err(printed);
            assert!(error.contains(what), "{printed}: {error}");
        };
        lacks("", "the SHA-256 of plan");
        lacks("aa plan\n", "the SHA-256 of policy");
        lacks("aa plan\nbb policy\naa plan\n", "the SHA-256 of policy");
        lacks("aa plan\nbb policy\ncc plan\n", "something else: \"cc plan\"");
    }

    #[test]
    fn the_command_copies_and_tells_what_is_there() {
        let dir = tempfile::tempdir().expect("a folder");
        let (plan, there) = (dir.path().join("plan"), dir.path().join("there"));
        std::fs::write(&plan, b"a plan").expect("a file");
        let with = |script: &str| {
            let copy = ["sh", "-c", script, "copy"].map(str::to_owned).to_vec();
            let (every, timeout) = (Duration::from_secs(1), Duration::from_secs(20));
            super::copy(&Standby { copy, every, timeout }, &[&plan], &Children::default())
        };
        let to = there.display();
        assert_eq!(with(&format!("cp \"$1\" {to} && sha256sum {to}")), Ok(()));
        let torn = with(&format!("head -c 3 \"$1\" >{to} && sha256sum {to}"));
        assert!(torn.is_err_and(|e| e.contains("a standby has something else")));
        let down = with("echo no route to host >&2; exit 255");
        assert_eq!(down, Err("sh: exit status 255: no route to host".to_owned()));
    }
}
