//! From bytes to values; or why they cannot be used, in one line.

use std::collections::BTreeSet;
use std::path::Path;

use darkfiber_fabric::{Digest as Words, LinkClass, TerminalId};
use darkfiber_formats::jobs::{self, Record, State};
use darkfiber_formats::places::Places;
use darkfiber_formats::{Diagnostics, Severity, detect, edges, input};
use darkfiber_operate::Digest;
use darkfiber_routing::Lids;
use darkfiber_routing::check::check;
use darkfiber_scenario::tables::{self, TableFiles};
use darkfiber_scenario::{Loaded, aliases, refuse_shared};

use crate::config::Watched;
use crate::value::{FabricValue, JobsValue, TablesValue, digest_of_tables};

/// What a reader remarked that keeps its result from being used.
fn refused(found: &Diagnostics, allow_warnings: bool) -> Result<(), String> {
    let least = if allow_warnings { Severity::Error } else { Severity::Warning };
    match found.0.iter().filter(|d| d.severity >= least).max_by_key(|d| d.severity) {
        Some(worst) => Err(worst.to_string()),
        None => Ok(()),
    }
}

/// The fabric.
pub(crate) fn fabric(bytes: &[u8], watched: &Watched) -> Result<FabricValue, String> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err("it is empty".to_owned());
    }
    let bytes = input::decompress(bytes).map_err(|e| e.to_string())?;
    let options = edges::Options { hosts_per_switch: 0, class: LinkClass::unknown() };
    let path = Path::new("fabric.topo");
    let read = detect::parse_fabric(&bytes, path, &options).map_err(|e| e.to_string())?;
    let (mut topology, diagnostics) = read;
    refused(&diagnostics, watched.allow_warnings)?;
    let shared;
    (topology.fabric, shared) = topology.fabric.with_distinct_hosts();
    if topology.fabric.terminal_count() < 2 {
        return Err("it has fewer than two hosts".to_owned());
    }
    let digest = Digest(topology.fabric.digest());
    let text = Some(input::text(&bytes).into_owned());
    let loaded = Loaded { topology, diagnostics, text, degraded: false, structure: None, shared };
    Ok(FabricValue { loaded, digest })
}

/// The tables in place.
pub(crate) fn tables(files: &TableFiles, fabric: &FabricValue) -> Result<TablesValue, String> {
    let path = &files.tables;
    let read = tables::read(files, "fabric.topo", &fabric.loaded, &mut ());
    let read = read.map_err(|e| e.to_string())?;
    let of = fabric.fabric();
    let report = check(of, &read.routes);
    if !report.complete() {
        let lost = report.unreachable + report.loops;
        return Err(format!("{}: {lost} pairs of terminals do not reach", path.display()));
    }
    let lids = match read.lids {
        Some(lids) => lids,
        None => Lids::assign(of, read.routes.lmc().unwrap_or(0)).map_err(|e| e.to_string())?,
    };
    let digest = digest_of_tables(of, &read.routes, &lids);
    let has_levels = read.has_levels;
    Ok(TablesValue { routes: read.routes, lids, has_levels, digest, fabric: fabric.digest })
}

/// The jobs that run.
pub(crate) fn jobs(
    bytes: &[u8],
    fabric: &FabricValue,
    watched: &Watched,
) -> Result<JobsValue, String> {
    let mut value =
        JobsValue { fabric: fabric.digest, text: bytes.to_vec(), ..JobsValue::default() };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        if !watched.empty_is_idle {
            return Err(
                "it is empty (empty_is_idle = true if that means that no job runs)".to_owned()
            );
        }
        return Ok(value);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
    let is_json = text.trim_start().starts_with(['{', '[']);
    if !is_json && !text.ends_with('\n') {
        return Err("its last line is not complete".to_owned());
    }
    let log = jobs::detect(text).ok_or("it is no list of jobs")?;
    let path = Path::new("jobs");
    let mut records: Vec<Record> = Vec::new();
    let found = (log.read)(&mut text.as_bytes(), path, &mut |record| records.push(record));
    refused(&found.map_err(|e| e.to_string())?, watched.allow_warnings)?;
    let names = aliases(watched.aliases.as_deref(), fabric.fabric(), &mut ());
    let places = Places::new(fabric.fabric(), names.map_err(|e| e.to_string())?);
    let runs = |r: &&Record| matches!(r.state, State::Running | State::Unknown);
    let mut all: Vec<(Vec<TerminalId>, String)> = Vec::new();
    let mut unknown: BTreeSet<&str> = BTreeSet::new();
    for record in records.iter().filter(runs) {
        let mut terminals = Vec::new();
        for name in record.nodes.iter().flatten() {
            match places.of(name) {
                [] => drop(unknown.insert(name)),
                found => terminals.extend_from_slice(found),
            }
        }
        terminals.sort_unstable();
        terminals.dedup();
        if !terminals.is_empty() {
            all.push((terminals, record.id.clone()));
        }
    }
    refuse_shared("jobs", unknown.iter().copied(), &places).map_err(|e| e.to_string())?;
    if let (true, Some(name)) = (all.is_empty(), unknown.first()) {
        return Err(format!("none of its nodes is in the fabric, for example {name}"));
    }
    all.sort();
    let mut words = Words::default();
    for (terminals, id) in &all {
        words.add(terminals.len() as u64);
        for t in terminals {
            words.add(u64::from(t.0));
        }
        id.bytes().for_each(|b| words.add(u64::from(b)));
    }
    value.digest = Digest(words.value());
    value.ids = all.iter().map(|(_, id)| id.clone()).collect();
    value.places = all.into_iter().map(|(terminals, _)| terminals).collect();
    Ok(value)
}
