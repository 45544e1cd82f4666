//! Keys of scenarios, for `--set`.

use std::ffi::OsStr;

use clap_complete::engine::CompletionCandidate as Candidate;

use super::names;
use super::offer::{beginning, behind, parted};
use crate::scenario_keys::{self, KeyPath};

/// Keys of scenarios as `--set` names them; behind the `=`, names where the key takes one.
pub(super) fn of_scenario(typed: &OsStr) -> Vec<Candidate> {
    let text = typed.to_string_lossy();
    if let Some((key, value)) = text.split_once('=') {
        return behind(&format!("{key}="), values(key, OsStr::new(value)));
    }
    let keys = scenario_keys::paths();
    let named = |key: &KeyPath| format!("{}=", numbered(&key.path, &text));
    let keys: Vec<(String, &str)> =
        keys.iter().map(|key| (named(key), key.meaning.as_str())).collect();
    beginning(typed, keys.iter().map(|(key, meaning)| (key.as_str(), *meaning)))
}

/// What a key can be, where that is listed.
fn values(key: &str, value: &OsStr) -> Vec<Candidate> {
    match key.rsplit('.').next().unwrap_or_default() {
        "engine" => return names::engines(value),
        "fabric" => return super::fabric::fabrics(value),
        "traffic" => return names::traffic(value),
        _ => {}
    }
    // Several values are compared.
    let (kept, open) = parted(value, &[',']);
    let open = OsStr::new(open);
    let found = match key.rsplit('.').next().unwrap_or_default() {
        "placement" => names::listed("allocators", open),
        "routing" => names::listed("routings", open),
        "congestion" => names::listed("congestion", open),
        "switches" => names::listed("switches", open),
        "framing" => names::listed("framing", open),
        "hosts" if key == "hosts" => names::listed("hosts", open),
        _ => {
            let keys = scenario_keys::paths();
            let is_it = |k: &&KeyPath| numbered(&k.path, key) == key;
            let choices = keys.iter().filter(is_it).flat_map(|k| &k.choices);
            beginning(open, choices.map(|choice| (choice.as_str(), "")))
        }
    };
    behind(kept, found)
}

/// A key of the first of several tables as that of the one whose number is typed: `job.1.nodes` behind `job.2.n` is `job.2.nodes`.
fn numbered(path: &str, typed: &str) -> String {
    let mut typed = typed.split('.');
    let parts = path.split('.').map(|part| {
        let number = typed.next().filter(|t| part == "1" && t.parse::<u32>().is_ok());
        number.unwrap_or(part)
    });
    parts.collect::<Vec<&str>>().join(".")
}
