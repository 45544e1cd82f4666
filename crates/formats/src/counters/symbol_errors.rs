//! Symbol errors of ports, as `ibqueryerrors`, `perfquery`, ibdiagnet, OpenSM's performance manager, exporters to Prometheus and tables
//! have them, and the cables that have too many.
//!
//! A cable is bad if a port at either end has counted more than a given number. Counters count from when they were cleared
//! (`ibqueryerrors -k`, `perfquery -R`): the values are not differences of readings.

use std::collections::BTreeSet;
use std::path::Path;

use darkfiber_fabric::{AtPort, ChannelId, Fabric, Faults, TerminalId};
use darkfiber_routing::Lids;

use super::reading::{Device, number};
use super::window::{Owners, Port};
use super::{db_csv, ibdiagnet_pm, perfmgr, prometheus, table};
use crate::diagnostic::counted;
use crate::places::{Aliases, Places};
use crate::{Diagnostics, ReadError};

pub use super::reading::SymbolErrors;

/// Saturation value of the standard's first counter of symbol errors, which has 16 bits (InfiniBand Architecture Specification, volume 1,
/// 16.1.3.5).
const END: u64 = 0xffff;

const COUNTER: &str = "SymbolErrorCounter";
/// Its name in older versions of `perfquery`.
const OLD_COUNTER: &str = "SymbolErrors";

/// The last part of the output of `ibqueryerrors`; without findings there is nothing else.
const SUMMARY: &str = "## Summary:";

/// Whether a text is output of `ibqueryerrors` or `perfquery`, or a database, dump or metrics with symbol errors.
pub fn is_such(text: &str) -> bool {
    prometheus::has_symbol_errors(text)
        || perfmgr::has_symbol_errors(text)
        || !db_csv::symbol_errors(text).is_empty()
        || !ibdiagnet_pm::symbol_errors(text).is_empty()
        || !table::symbol_errors(text, &mut Diagnostics::default()).is_empty()
        || text.lines().map(str::trim_start).any(|line| {
            line.starts_with("# Port counters:")
                || line.starts_with("# Port extended counters:")
                || line.starts_with("Errors for ")
                || line.starts_with(SUMMARY)
                || port_of_report(line).is_some()
        })
}

/// Reads the symbol errors of ports, in the order of the file. Ports that `ibqueryerrors` does not list have no
/// errors.
///
/// # Errors
/// If there is no port in it, or no counter of symbol errors where `perfquery` prints all counters.
pub fn read(text: &str, path: &Path) -> Result<(Vec<SymbolErrors>, Diagnostics), ReadError> {
    let mut found = Diagnostics::default();
    let mut all: Vec<SymbolErrors> = prometheus::symbol_errors(text, &mut found);
    all.extend(perfmgr::symbol_errors(text));
    all.extend(db_csv::symbol_errors(text));
    all.extend(ibdiagnet_pm::symbol_errors(text));
    all.extend(table::symbol_errors(text, &mut found));
    // The port of the current `perfquery` counters, and whether its symbol errors have been read.
    let mut at: Option<(u16, u8)> = None;
    let (mut ports, mut sums, mut is_report) = (0, 0, false);
    for (i, line) in text.lines().enumerate() {
        let (line, i) = (line.trim(), i + 1);
        let extended = line.strip_prefix("# Port extended counters:");
        if let Some(head) = extended.or_else(|| line.strip_prefix("# Port counters:")) {
            at = port_of_query(head);
            ports += 1;
            match at {
                Some((_, u8::MAX)) => (sums, at) = (sums + 1, None),
                Some(_) => {}
                None => found.warn(
                    i,
                    format!("no port in '{line}'"),
                    "expected 'Lid N port N'; its counters are left out",
                ),
            }
        } else if line.starts_with(SUMMARY) {
            is_report = true;
        } else if let Some((guid, port, counters)) = port_of_report(line) {
            is_report = true;
            if port.eq_ignore_ascii_case("all") {
                sums += 1;
                continue;
            }
            let errors = of_report(counters);
            let (Some(guid), Ok(port), Some(errors)) = (number(guid), port.parse(), errors) else {
                found.warn(
                    i,
                    format!("no port and counters in '{line}'"),
                    format!("expected 'GUID 0x.. port N: [{COUNTER} == N] ...'; it is left out"),
                );
                continue;
            };
            all.push(SymbolErrors { device: Device::Guid(guid), port, errors, line: i });
        } else if let (Some((lid, port)), Some((COUNTER | OLD_COUNTER, value))) =
            (at, line.split_once(':'))
        {
            match number(value.trim_start_matches('.')) {
                Some(errors) => {
                    all.push(SymbolErrors { device: Device::Lid(lid), port, errors, line: i });
                }
                None => {
                    found.warn(i, format!("no number in '{line}'"), "the counter is left out");
                }
            }
        }
    }
    if sums > 0 {
        found.note(
            0,
            format!("{} over all ports of a device", counted(sums, "sum", "sums")),
            "they do not say which cable it is, and are left out; ibqueryerrors --details tells ports apart",
        );
    }
    if all.is_empty() && !is_report {
        let what = if ports > 0 {
            format!("none of {} has {COUNTER}", counted(ports, "port", "ports"))
        } else {
            "there is no port in it".to_owned()
        };
        return Err(not_such(path, what));
    }
    Ok((all, found))
}

fn not_such(path: &Path, what: String) -> ReadError {
    ReadError::not_such(
        path,
        what,
        "symbol errors of ports, as ibqueryerrors or perfquery prints them",
        "perfquery prints SymbolErrorCounter without -x; ibqueryerrors lists the ports that have errors",
    )
}

/// `Lid 2052 port 1 (CapMask: 0x5300 ...)`.
fn port_of_query(head: &str) -> Option<(u16, u8)> {
    let words: Vec<&str> = head.split_whitespace().collect();
    let after = |name: &str| {
        let at = words.iter().position(|w| w.eq_ignore_ascii_case(name))?;
        words.get(at + 1).and_then(|w| number(w))
    };
    Some((u16::try_from(after("lid")?).ok()?, u8::try_from(after("port")?).ok()?))
}

/// `GUID 0x.. port N: [..] [..]`: the GUID, the port, and the counters.
fn port_of_report(line: &str) -> Option<(&str, &str, &str)> {
    let (guid, rest) = line.strip_prefix("GUID ")?.trim_start().split_once(' ')?;
    let (port, counters) = rest.trim_start().strip_prefix("port ")?.split_once(':')?;
    counters.trim_start().starts_with('[').then_some((guid, port.trim(), counters))
}

/// Symbol errors among `[Name == value] ...`: 0 if they are not listed. `None` if the counter has no number.
fn of_report(counters: &str) -> Option<u64> {
    let named = counters.split('[').find_map(|counter| {
        let (name, value) = counter.split_once("==")?;
        (name.trim() == COUNTER).then_some(value)
    });
    let Some(value) = named else { return Some(0) };
    number(value.split([']', ' ']).find(|word| !word.is_empty())?)
}

/// The cables of a fabric with more than `most` symbol errors at one of their ends: those of hosts, too. A port of the file that
/// is missing in the fabric is a warning with its line. LIDs are those of `lids`, or else of the fabric's own input.
///
/// # Errors
/// If most of the ports are not in the fabric: then the counters are of another one.
pub fn bad(
    fabric: &Fabric,
    lids: Option<&Lids>,
    all: &[SymbolErrors],
    most: u64,
    path: &Path,
) -> Result<(Faults, Diagnostics), ReadError> {
    let places = Places::new(fabric, Aliases::new());
    let owners = Owners::new(fabric, lids, &places);
    let mut found = Diagnostics::default();
    let (mut links, mut terminals) = (Vec::new(), BTreeSet::new());
    let (mut unknown, mut known) = (0, 0);
    let mut worst: Option<&SymbolErrors> = None;
    for of_port in all {
        let SymbolErrors { device, port, errors, line } = of_port;
        let Some(owned) = owners.port(device, *port) else {
            // Ports without a cable have errors, too: those of the last cable that was there.
            if *port != 0 && !owners.has(device) {
                unknown += 1;
                found.warn(
                    *line,
                    format!("port {port} of {device} is not in the fabric"),
                    "its symbol errors are left out",
                );
            }
            continue;
        };
        known += 1;
        if *errors == END && most >= END {
            found.warn(
                *line,
                format!("{END} symbol errors: a counter of 16 bits stops there"),
                "no telling whether there are more; the cable stays",
            );
        }
        if errors <= &most {
            continue;
        }
        match cable(fabric, owned) {
            Cable::Link(c) => links.push((c, *errors)),
            Cable::Terminal(t) => {
                terminals.insert(t);
            }
            Cable::Nothing => continue,
        }
        if worst.is_none_or(|w| w.errors < *errors) {
            worst = Some(of_port);
        }
    }
    if unknown > known {
        let what = format!("{unknown} of {} ports are not in the fabric", unknown + known);
        let first =
            found.0.first().map_or(String::new(), |d| format!(", the first on line {}", d.line));
        return Err(ReadError::not_such(
            path,
            what + &first,
            "symbol errors of this fabric",
            "give the fabric that they were read from; perfquery names ports by LID, which ibnetdiscover's files have",
        ));
    }
    let faults = Faults {
        terminals: terminals.into_iter().collect(),
        ..Faults::bad_cables(fabric, &links, most)
    };
    if let Some(worst) = worst {
        let cables = counted(faults.links.len() + faults.terminals.len(), "cable", "cables");
        found.note(
            worst.line,
            format!(
                "{cables} with more than {most} symbol errors, {} at port {} of {}",
                worst.errors, worst.port, worst.device
            ),
            "taken away; --symbol-errors N sets the limit",
        );
    }
    Ok((faults, found))
}

/// Symbol errors by channel between switches: those of the port at the receiving end. Ports that are not in the fabric are
/// ignored here; [`bad`] reports them.
pub fn by_channel(fabric: &Fabric, lids: Option<&Lids>, all: &[SymbolErrors]) -> Vec<u64> {
    let places = Places::new(fabric, Aliases::new());
    let owners = Owners::new(fabric, lids, &places);
    let mut found = vec![0; fabric.channel_count()];
    for SymbolErrors { device, port, errors, .. } in all {
        let Some(owned) = owners.port(device, *port) else { continue };
        if let Cable::Link(out) = cable(fabric, owned) {
            let into = &mut found[fabric.reverse(out).index()];
            *into = (*into).max(*errors);
        }
    }
    found
}

/// The cable at a port.
enum Cable {
    /// A cable between switches, by the channel that begins at the port.
    Link(ChannelId),
    Terminal(TerminalId),
    Nothing,
}

fn cable(fabric: &Fabric, port: Port) -> Cable {
    match port {
        Port::Terminal(t) => Cable::Terminal(t),
        Port::Switch(s, number) => match fabric.at_port(s, number) {
            AtPort::Switch(c, _) => Cable::Link(c),
            AtPort::Terminal(t) => Cable::Terminal(t),
            AtPort::Nothing | AtPort::Loopback => Cable::Nothing,
        },
    }
}
