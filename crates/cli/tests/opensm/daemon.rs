//! `darkfiber operate` started by a test, and its output.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::loads::{Entries, entries};
use crate::process::{Guarded, wait_for};
use crate::simulation::Simulation;
use crate::text;

pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// Starts the program with `operate.toml` in a folder; its output is in `told` and `notes`.
pub(crate) fn operate(dir: &Path) -> Guarded {
    let said = |name: &str| {
        File::options().append(true).create(true).open(dir.join(name)).expect("a file")
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_darkfiber"));
    command.args(["operate", "--config", "operate.toml"]).current_dir(dir).stdin(Stdio::null());
    Guarded::start(command.stdout(said("told")).stderr(said("notes")))
}

/// `darkfiber` in a folder: exit code and standard output.
pub(crate) fn darkfiber(dir: &Path, words: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_darkfiber"));
    let ended = command.args(words).current_dir(dir).stdin(Stdio::null()).output();
    let ended = ended.expect("it starts");
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    (ended.status.code(), said + &String::from_utf8_lossy(&ended.stderr))
}

/// Waits until a file is not empty.
pub(crate) fn until(dir: &Path, name: &str, says: &str) {
    let read = || fs::read_to_string(dir.join(name)).unwrap_or_default();
    let found = wait_for(PATIENCE, || read().contains(says));
    let notes = fs::read_to_string(dir.join("notes")).unwrap_or_default();
    assert!(found, "{name} never says \"{says}\": {}\n{notes}", read());
}

/// The section of tables where OpenSM has its engine `file`.
pub(crate) const FILE: &str = "every_s = 1\nlfts_file = \"lfts\"\n";

/// A configuration for an OpenSM with an engine list, whose fabric and tables are read from the switches. `tables` are further keys of
/// that section, `more` further sections.
pub(crate) fn beside(
    (mode, engines): (&str, &str),
    fabric: &Simulation,
    (discover, dump): (&Path, &Path),
    manager: &Guarded,
    (tables, more): (&str, &str),
) -> String {
    format!(
        "mode = \"{mode}\"\nstate = \"state\"\n[fabric]\ncommand = {}\nevery_s = 1\n[tables]\ncommand = {}\n{tables}\
         [jobs]\nfile = \"jobs\"\nevery_s = 0.1\n[opensm]\nengines = \"{engines}\"\nsweep = [\"kill\", \"-HUP\", \"{}\"]\n\
         log = \"sim/opensm/opensm.log\"\n{more}",
        quoted(&fabric.words(discover)),
        quoted(&fabric.words(dump)),
        manager.id(),
    )
}

/// A list, as a command's words in TOML.
pub(crate) fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
    format!("[{}]", words.join(", "))
}

pub(crate) fn put(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join("new"), text).expect("a file");
    fs::rename(dir.join("new"), dir.join(name)).expect("a file");
}

/// The tables of the switches equal those of a file, which are not nearly empty.
pub(crate) fn agree(fabric: &Simulation, dir: &Path, name: &str) {
    let count = agreeing_entries(fabric, dir, name);
    assert!(count > 200, "{name}: {count} entries");
}

/// The same; returns how many entries they have.
pub(crate) fn agreeing_entries(fabric: &Simulation, dir: &Path, name: &str) -> usize {
    let found: Entries = entries(&fabric.read_back(), "tables of the switches");
    let wanted = entries(&text(dir, name), name);
    assert_eq!(found, wanted, "{name}");
    wanted.len()
}
