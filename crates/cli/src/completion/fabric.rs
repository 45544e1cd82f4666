//! Fabrics, and what the fabric on the command line consists of: hosts, switches, cables.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use clap_complete::engine::CompletionCandidate as Candidate;
use darkfiber_fabric::{
    AtPort, COMMON_KEYS, FAMILIES, Fabric, PRESETS, SwitchId, Terminal, TerminalId,
};
use darkfiber_scenario::{Folder, Scenario};

use super::names::keys_of;
use super::offer::{beginning, behind, files, parted, words};

/// Larger files are not read while somebody waits for a word, in bytes.
const MOST_BYTES: u64 = 64 << 20;
/// A fabric that takes longer is left aside.
const PATIENCE: Duration = Duration::from_secs(1);

/// Presets, families with their keys, files.
pub(super) fn fabrics(typed: &OsStr) -> Vec<Candidate> {
    let text = typed.to_string_lossy();
    if let Some((name, _)) = text.split_once(':')
        && let Ok(family) = FAMILIES.get(name)
    {
        return keys_of(typed, &[family.keys(), COMMON_KEYS].concat());
    }
    let presets: Vec<(String, &str)> =
        PRESETS.iter().map(|preset| (format!("@{}", preset.name), preset.summary)).collect();
    let families: Vec<(String, &str)> =
        FAMILIES.iter().map(|family| (format!("{}:", family.name()), family.summary())).collect();
    // Whoever has typed nothing yet has a file: presets and families come up with their first letter.
    let named = presets.iter().chain(&families).filter(|_| !text.is_empty());
    let mut found = files(typed);
    found.extend(beginning(typed, named.map(|(name, about)| (name.as_str(), *about))));
    found
}

/// Names of hosts, separated by commas, or a file of them.
pub(super) fn hosts(typed: &OsStr) -> Vec<Candidate> {
    let (kept, open) = parted(typed, &[',']);
    let fabric = on_the_line();
    let names = fabric.iter().flat_map(Fabric::hosts).map(|host| (host.name.as_str(), ""));
    let mut found = behind(kept, beginning(OsStr::new(open), names));
    if kept.is_empty() {
        found.extend(files(typed));
    }
    found
}

/// Switches by name, their ports once a bracket is open, or a file.
pub(super) fn cables(typed: &OsStr) -> Vec<Candidate> {
    let mut found = files(typed);
    let Some(fabric) = on_the_line() else { return found };
    let text = typed.to_string_lossy();
    if let Some((name, _)) = text.rsplit_once('[') {
        let switch = fabric.switches().iter().position(|switch| switch.description == name);
        found.extend(switch.map(|s| ports(&fabric, s, typed)).unwrap_or_default());
        return found;
    }
    let names = fabric.switches().iter().map(|switch| (switch.description.as_str(), "a switch"));
    found.extend(beginning(typed, names));
    found
}

/// The cables of a switch, each with what is at its other end.
fn ports(fabric: &Fabric, switch: usize, typed: &OsStr) -> Vec<Candidate> {
    let at = SwitchId::new(switch);
    let name = &fabric.switch(at).description;
    let mut ends = Vec::new();
    for port in 1..=fabric.switch(at).ports {
        let other = match fabric.at_port(at, port) {
            AtPort::Switch(_, other) => fabric.switch(other).description.clone(),
            AtPort::Loopback => name.clone(),
            AtPort::Terminal(t) => fabric.host(fabric.host_of(t)).name.clone(),
            AtPort::Nothing => continue,
        };
        ends.push((format!("{name}[{port}]"), format!("to {other}")));
    }
    beginning(typed, ends.iter().map(|(cable, other)| (cable.as_str(), other.as_str())))
}

/// GUIDs of switches, separated by commas, or a file of them.
pub(super) fn switch_guids(typed: &OsStr) -> Vec<Candidate> {
    let fabric = on_the_line();
    let switches = fabric.iter().flat_map(Fabric::switches);
    guids(typed, switches.map(|switch| (switch.guid.to_string(), switch.description.clone())))
}

/// GUIDs of hosts' ports, separated by commas, or a file of them.
pub(super) fn port_guids(typed: &OsStr) -> Vec<Candidate> {
    let fabric = on_the_line();
    let ports = fabric.iter().flat_map(|fabric| {
        let named = |(t, terminal): (usize, &Terminal)| {
            let host = fabric.host_of(TerminalId::new(t));
            (terminal.guid.to_string(), fabric.host(host).name.clone())
        };
        fabric.terminals().iter().enumerate().map(named)
    });
    guids(typed, ports)
}

/// GUIDs that begin with what is typed, or a file.
fn guids(typed: &OsStr, all: impl Iterator<Item = (String, String)>) -> Vec<Candidate> {
    let (kept, open) = parted(typed, &[',']);
    let all: Vec<(String, String)> = all.collect();
    let named = all.iter().map(|(guid, name)| (guid.as_str(), name.as_str()));
    let mut found = behind(kept, beginning(OsStr::new(open), named));
    if kept.is_empty() {
        found.extend(files(typed));
    }
    found
}

/// The fabric that the command line names so far: the first word that is one.
fn on_the_line() -> Option<Fabric> {
    let words: Vec<String> = words().into_iter().filter(|word| can_be_fabric(word)).collect();
    let (to, from) = channel();
    // Nobody waits longer for a word; the thread ends with the program.
    std::thread::spawn(move || {
        let found = words.into_iter().find_map(|fabric| {
            let scenario = Scenario { fabric, ..Scenario::default() };
            let loaded = scenario.load(&Folder::default(), &mut ()).ok()?;
            Some(loaded.topology.fabric)
        });
        let _nobody_waits_any_more = to.send(found);
    });
    from.recv_timeout(PATIENCE).ok().flatten()
}

/// Whether a word looks like a fabric that can be read at once.
fn can_be_fabric(word: &str) -> bool {
    let family = |(name, _): (&str, &str)| FAMILIES.get(name).is_ok();
    let small = || Path::new(word).metadata().is_ok_and(|m| m.is_file() && m.len() <= MOST_BYTES);
    word.starts_with('@')
        || word.split_once(':').is_some_and(family)
        || Path::new(word).extension().is_none_or(|end| end != "toml") && small()
}
