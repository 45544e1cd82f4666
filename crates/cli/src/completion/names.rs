//! What is listed: names of registries, alone, as chains, and with their keys.

use std::ffi::OsStr;

use clap_complete::engine::CompletionCandidate as Candidate;
use darkfiber_analysis::count::{Bandwidth, METRICS};
use darkfiber_fabric::Key;
use darkfiber_routing::ecmp::ECMP_KEYS;
use darkfiber_workload::PATTERNS;
use darkfiber_workload::traffic::TRAFFICS;

use super::offer::{beginning, behind, files, parted, words};
use crate::commands::{fabric, list};

/// Names of one of `darkfiber list`'s lists.
pub(super) fn listed(kind: &str, typed: &OsStr) -> Vec<Candidate> {
    let names = list::names(kind);
    beginning(typed, names.iter().map(|(name, about)| (name.as_str(), about.as_str())))
}

/// Engines, and chains of them: `nue+minhop`.
pub(super) fn engines(typed: &OsStr) -> Vec<Candidate> {
    let (kept, open) = parted(typed, &[',', '+']);
    behind(kept, listed("engines", OsStr::new(open)))
}

/// What `measure` computes, one or several.
pub(super) fn metrics(typed: &OsStr) -> Vec<Candidate> {
    let (kept, open) = parted(typed, &[',']);
    let known = METRICS.iter().map(|metric| (metric.name, metric.summary));
    let of_patterns = Bandwidth::ALL.map(|bandwidth| (bandwidth.name(), "of --pattern"));
    behind(kept, beginning(OsStr::new(open), known.chain(of_patterns)))
}

/// Patterns, and their keys.
pub(super) fn patterns(typed: &OsStr) -> Vec<Candidate> {
    let keys = |name: &str| PATTERNS.get(name).map(|p| p.keys().to_vec()).unwrap_or_default();
    let mut found = spec("patterns", typed, keys);
    found.extend(files(typed));
    found
}

/// What ranks do, and its keys.
pub(super) fn traffic(typed: &OsStr) -> Vec<Candidate> {
    spec("traffic", typed, |name| TRAFFICS.get(name).map(|t| t.keys()).unwrap_or_default())
}

/// Hashes of ECMP, and their keys.
pub(super) fn hashes(typed: &OsStr) -> Vec<Candidate> {
    spec("hashes", typed, |_| ECMP_KEYS.to_vec())
}

/// `name:key=value,...`: names of a list first, then keys that are not there yet.
fn spec(kind: &str, typed: &OsStr, keys: impl Fn(&str) -> Vec<Key>) -> Vec<Candidate> {
    let text = typed.to_string_lossy();
    match text.split_once(':') {
        None => listed(kind, typed),
        Some((name, _)) => keys_of(typed, &keys(name)),
    }
}

/// Keys that a spec does not have yet, behind its last colon or comma.
pub(super) fn keys_of(typed: &OsStr, keys: &[Key]) -> Vec<Candidate> {
    let (kept, open) = parted(typed, &[':', ',']);
    let is_new = |key: &&Key| !kept.contains(&format!("{}=", key.name));
    let names: Vec<(String, &str)> =
        keys.iter().filter(is_new).map(|key| (format!("{}=", key.name), key.meaning)).collect();
    let named = names.iter().map(|(name, about)| (name.as_str(), *about));
    behind(kept, beginning(OsStr::new(open), named))
}

/// Experiments, and all of them.
pub(super) fn experiments(typed: &OsStr) -> Vec<Candidate> {
    let mut found = listed("experiments", typed);
    found.extend(beginning(typed, [("all", "those that papers print numbers of")]));
    found
}

/// What there are lists of.
pub(super) fn lists(typed: &OsStr) -> Vec<Candidate> {
    beginning(typed, list::kinds().into_iter().map(|kind| (kind, "")))
}

/// What the list that is named has.
pub(super) fn of_list(typed: &OsStr) -> Vec<Candidate> {
    let words = words();
    let kind = words.iter().skip_while(|word| *word != "list").nth(1);
    kind.map(|kind| listed(kind, typed)).unwrap_or_default()
}

/// Forms in which a fabric can be written.
pub(super) fn forms(typed: &OsStr) -> Vec<Candidate> {
    beginning(typed, fabric::writable().into_iter().map(|form| (form, "")))
}
