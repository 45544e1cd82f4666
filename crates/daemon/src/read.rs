//! From bytes to values; or why they cannot be used, in one line.

use std::collections::BTreeSet;
use std::path::Path;

use darkfiber_analysis::finding::of_pairs;
use darkfiber_fabric::{Digest as Words, Guid, LinkClass, SwitchId, TerminalId};
use darkfiber_formats::counters as port_counters;
use darkfiber_formats::places::Places;
use darkfiber_formats::{Diagnostic, Diagnostics, Severity, demands, detect, edges, input, lft};
use darkfiber_operate::Digest;
use darkfiber_routing::check::check;
use darkfiber_routing::{DestId, Lids};
use darkfiber_scenario::tables::{self, TableFiles};
use darkfiber_scenario::{Loaded, aliases, refuse_shared};
use darkfiber_traces::jobs::{self, Record, State};

use crate::config::{Origin, Watched};
use crate::demands::{DemandsValue, Sent};
use crate::tables_digest::digest_of_tables;
use crate::value::{CountersValue, FabricValue, JobsValue, TablesValue, Unknown};

/// Remarks of a reader that make its result unusable.
fn refused(found: &Diagnostics, allow_warnings: bool) -> Result<(), String> {
    let least = if allow_warnings { Severity::Error } else { Severity::Warning };
    // A slow cable is read as well as any other.
    let counts = |d: &&Diagnostic| d.severity >= least && !d.of_fabric;
    match found.0.iter().filter(counts).max_by_key(|d| d.severity) {
        Some(worst) => Err(worst.to_string()),
        None => Ok(()),
    }
}

/// Origin of the input, for operators who have to look there.
pub(crate) fn name(watched: &Watched) -> String {
    match &watched.origin {
        Origin::File(path) | Origin::Folder(path) | Origin::Socket(path) => {
            path.display().to_string()
        }
        Origin::Command(words) => words.join(" "),
    }
}

/// The error of a reader, without the name that it was given for its input.
fn unnamed(error: impl std::fmt::Display, path: &Path) -> String {
    let text = error.to_string();
    let prefix = format!("{}: ", path.display());
    text.strip_prefix(&prefix).map_or_else(|| text.clone(), str::to_owned)
}

/// Reads the fabric.
pub(crate) fn fabric(bytes: &[u8], watched: &Watched) -> Result<FabricValue, String> {
    let name = name(watched);
    fabric_of(bytes, watched).map_err(|e| format!("{name}: {e}"))
}

/// The jobs that run.
pub(crate) fn jobs(
    bytes: &[u8],
    fabric: &FabricValue,
    watched: &Watched,
) -> Result<JobsValue, String> {
    let name = name(watched);
    jobs_of(bytes, fabric, watched).map_err(|e| format!("{name}: {e}"))
}

fn fabric_of(bytes: &[u8], watched: &Watched) -> Result<FabricValue, String> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err("it is empty".to_owned());
    }
    let bytes = input::decompress(bytes).map_err(|e| e.to_string())?;
    let options = edges::Options { hosts_per_switch: 0, class: LinkClass::unknown() };
    let path = Path::new("fabric.topo");
    let read = detect::parse_fabric(&bytes, path, &options).map_err(|e| unnamed(e, path))?;
    let (mut topology, diagnostics) = read;
    refused(&diagnostics, watched.allow_warnings)?;
    let shared;
    (topology.fabric, shared) = topology.fabric.with_distinct_hosts();
    if topology.fabric.terminal_count() < 2 {
        return Err("it has fewer than two hosts".to_owned());
    }
    let digest = Digest(topology.fabric.digest());
    let text = Some(input::text(&bytes).into_owned());
    let (degraded, torn) = (false, None);
    let loaded = Loaded { topology, diagnostics, text, degraded, torn, structure: None, shared };
    Ok(FabricValue { loaded, digest })
}

/// Whether a dump has the whole table of a switch, and no entry in it: of one that came back, whose tables nobody has written yet.
fn is_empty_in(path: &Path, guid: Guid) -> bool {
    let text = input::read_text(path).ok();
    let read = text.and_then(|text| lft::read(&text, path).ok());
    read.is_some_and(|(tables, _)| {
        let mut of_switch = tables.switches.iter().filter(|table| table.guid == Some(guid));
        of_switch.next().is_some_and(|table| table.closed && table.entries.is_empty())
    })
}

/// Reads the tables in place. Where they may be repaired, those in which pairs are lost are accepted, too, and those of a switch whose
/// table is there and empty; but a reading that lacks the table of a switch is considered missing.
pub(crate) fn tables(
    files: &TableFiles,
    fabric: &FabricValue,
    may_be_damaged: bool,
) -> Result<TablesValue, String> {
    let path = &files.tables;
    let read = tables::read(files, "fabric.topo", &fabric.loaded, &mut ());
    let read = read.map_err(|e| e.to_string())?;
    // Entries that a torn dump lacks would be taken out of switches that have them.
    if let Some(lacks) = &read.lacks {
        return Err(format!("{}: {lacks}", path.display()));
    }
    let of = fabric.fabric();
    let report = check(of, &read.routes);
    if !report.complete() && !may_be_damaged {
        let lost = of_pairs(report.unreachable + report.loops, report.pairs, report.paths);
        return Err(format!("{}: {lost} do not reach", path.display()));
    }
    let lids = match read.lids {
        Some(lids) => lids,
        None => Lids::assign(of, read.routes.lmc().unwrap_or(0)).map_err(|e| e.to_string())?,
    };
    let switches = (0..of.switch_count()).map(SwitchId::new);
    let has_entry = |s| {
        let all = (0..read.routes.dest_count()).map(DestId::new);
        all.into_iter().any(|d| read.routes.lft_entry(of, s, d, 0).is_some_and(|port| port > 0))
    };
    let bare: Vec<Guid> = switches.filter(|&s| !has_entry(s)).map(|s| of.switch(s).guid).collect();
    if let Some(guid) = bare.iter().find(|&&guid| !may_be_damaged || !is_empty_in(path, guid)) {
        let path = path.display();
        return Err(format!("{path}: it has no entry of switch {guid}, so it is not complete"));
    }
    let digest = digest_of_tables(of, &read.routes, &lids);
    let has_levels = read.has_levels;
    let is_whole = report.complete();
    let routes = read.routes;
    Ok(TablesValue { routes, lids, has_levels, is_whole, digest, fabric: fabric.digest })
}

/// What hosts send to each other.
pub(crate) fn demands(
    bytes: &[u8],
    fabric: &FabricValue,
    watched: &Watched,
) -> Result<DemandsValue, String> {
    let name = name(watched);
    demands_of(bytes, fabric, watched).map_err(|e| format!("{name}: {e}"))
}

fn demands_of(
    bytes: &[u8],
    fabric: &FabricValue,
    watched: &Watched,
) -> Result<DemandsValue, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
    // An empty file is a profile of nobody; a file that was cut is not.
    if !text.is_empty() && !text.ends_with('\n') {
        return Err("its last line is not complete".to_owned());
    }
    let path = Path::new("demands");
    let names = aliases(watched.aliases.as_deref(), fabric.fabric(), &mut ());
    let places = Places::new(fabric.fabric(), names.map_err(|e| e.to_string())?);
    let (demands, found) = demands::read(text, path, &places).map_err(|e| unnamed(e, path))?;
    refused(&found, watched.allow_warnings)?;
    let mut words = Words::default();
    for d in &demands {
        words.add(u64::from(d.from.0) << 32 | u64::from(d.to.0));
        words.add(d.weight);
    }
    let (sent, digest) = (Sent::Pairs(demands), Digest(words.value()));
    Ok(DemandsValue { sent, digest, fabric: fabric.digest })
}

/// Traffic of channels from the first of some readings of counters, in the order of time, to the last.
pub(crate) fn counters(
    texts: &[&str],
    seconds: f64,
    fabric: &FabricValue,
    watched: &Watched,
) -> Result<CountersValue, String> {
    let name = name(watched);
    let path = Path::new("counters");
    let failed = |e: &dyn std::fmt::Display| format!("{name}: {}", unnamed(e, path));
    let mut files = Vec::new();
    for text in texts {
        let (readings, _) = port_counters::read(text, path).map_err(|e| failed(&e))?;
        files.push(readings);
    }
    let files: Vec<(&Path, &[port_counters::Reading])> =
        files.iter().map(|readings| (path, readings.as_slice())).collect();
    let of = fabric.fabric();
    let names = aliases(watched.aliases.as_deref(), of, &mut ()).map_err(|e| failed(&e))?;
    let places = Places::new(of, names);
    let (window, _) = port_counters::window(of, None, &places, &files).map_err(|e| failed(&e))?;
    // Times of the readings themselves say more than when they were fetched.
    let seconds = window.seconds.unwrap_or(seconds).max(1e-3);
    let mut words = Words::default();
    window.carried.iter().for_each(|bytes| words.add(bytes.map_or(0, |b| b + 1)));
    let digest = Digest(words.value());
    let (carried, fullest) = (window.carried, 0.0);
    let value = CountersValue { carried, seconds, fullest, digest, fabric: fabric.digest };
    let fullest = value.shares(of).into_iter().fold(0.0, f64::max);
    Ok(CountersValue { fullest, ..value })
}

fn jobs_of(bytes: &[u8], fabric: &FabricValue, watched: &Watched) -> Result<JobsValue, String> {
    let value = JobsValue { fabric: fabric.digest, text: bytes.to_vec(), ..JobsValue::default() };
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
    let found = log.jobs(&mut text.as_bytes(), path, &mut |record| records.push(record));
    refused(&found.map_err(|e| unnamed(e, path))?, watched.allow_warnings)?;
    let names = aliases(watched.aliases.as_deref(), fabric.fabric(), &mut ());
    let places = Places::new(fabric.fabric(), names.map_err(|e| e.to_string())?);
    let runs = |r: &&Record| matches!(r.state, State::Running | State::Unknown);
    let mut all: Vec<(Vec<TerminalId>, String)> = Vec::new();
    let mut unknown: BTreeSet<&str> = BTreeSet::new();
    let mut elsewhere = 0;
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
        } else if record.nodes.iter().flatten().next().is_some() {
            elsewhere += 1;
        }
    }
    refuse_shared("jobs", unknown.iter().copied(), &places).map_err(|e| e.to_string())?;
    if let (true, Some(name)) = (all.is_empty(), unknown.first()) {
        return Err(format!("none of its nodes is in the fabric, for example {name}"));
    }
    let unknown = Unknown {
        nodes: unknown.len(),
        example: unknown.first().map_or_else(String::new, |&name| name.to_owned()),
        jobs: elsewhere,
    };
    Ok(JobsValue { unknown, ..JobsValue::new(all, fabric.digest, value.text) })
}
