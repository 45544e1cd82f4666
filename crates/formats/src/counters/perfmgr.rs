//! Dumps of OpenSM's performance manager: blocks of lines for each port, or a table with tabs for each node (`mach`).

use super::reading::{CounterForm, Device, Reading, SymbolErrors, WORDS, number};
use crate::Diagnostics;
use crate::guids::parse_guid;

/// Start of the heading of the machine-readable kind.
const HEADING: &str = "Name\tGUID\t";

/// Dumps of the performance manager.
pub(super) const FORM: CounterForm = CounterForm {
    is_such: |text| text.lines().any(|l| l.starts_with(HEADING) || head(l).is_some()),
    read: |text, _, found| Ok(read(text, found)),
};

fn read(text: &str, found: &mut Diagnostics) -> Vec<Reading> {
    if text.lines().any(|l| l.starts_with(HEADING)) {
        return by_tabs(text, found);
    }
    let mut readings: Vec<Reading> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if let Some((guid, port)) = head(line) {
            let (sent, received) = (None, None);
            let device = Device::Guid(guid);
            let line = i + 1;
            readings.push(Reading { device, port, time: None, sent, received, width: WORDS, line });
            continue;
        }
        let (Some(reading), Some((name, value))) = (readings.last_mut(), line.split_once(':'))
        else {
            continue;
        };
        let slot = match name.trim() {
            "xmit_data" => &mut reading.sent,
            "rcv_data" => &mut reading.received,
            _ => continue,
        };
        // "251016416 (957.552MB)"
        *slot = value.split_whitespace().next().and_then(number);
        if slot.is_none() {
            found.warn(i + 1, format!("no number in '{}'", line.trim()), "the counter is left out");
        }
    }
    readings
}

const SYMBOL_ERRORS: &str = "symbol_err_cnt";

/// Whether it is such a dump with symbol errors of ports.
pub(super) fn has_symbol_errors(text: &str) -> bool {
    text.lines().any(|line| {
        line.trim_start().starts_with(SYMBOL_ERRORS)
            || line.starts_with(HEADING) && line.contains(SYMBOL_ERRORS)
    })
}

/// The symbol errors of ports, in the order of the file.
pub(super) fn symbol_errors(text: &str) -> Vec<SymbolErrors> {
    let mut all = Vec::new();
    let mut columns: Vec<&str> = Vec::new();
    let mut of_block = None;
    for (line, text) in (1..).zip(text.lines()) {
        let (of, errors) = if text.starts_with(HEADING) {
            columns = text.split('\t').collect();
            continue;
        } else if columns.is_empty() {
            of_block = head(text).or(of_block);
            let value = text.split_once(':').filter(|(name, _)| name.trim() == SYMBOL_ERRORS);
            (of_block, value.and_then(|(_, value)| number(value)))
        } else {
            let cells: Vec<&str> = text.split('\t').collect();
            let cell = |name| cells.get(columns.iter().position(|c| *c == name)?).copied();
            let of = cell("GUID").and_then(parse_guid).zip(cell("Port"));
            let of = of.and_then(|(guid, port)| Some((guid.0, port.trim().parse().ok()?)));
            (of, cell(SYMBOL_ERRORS).and_then(number))
        };
        if let (Some((guid, port)), Some(errors)) = (of, errors) {
            all.push(SymbolErrors { device: Device::Guid(guid), port, errors, line });
        }
    }
    all
}

/// `"cn0001 HCA-1" 0x200000000010 active TRUE port 1`
fn head(line: &str) -> Option<(u64, u8)> {
    let rest = line.trim_start().strip_prefix('"')?;
    let (_, rest) = rest.rsplit_once('"')?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words[..] {
        // Older ones do not say whether the node is active.
        [guid, "active", _, "port", port] | [guid, "port", port] => {
            Some((parse_guid(guid)?.0, port.parse().ok()?))
        }
        _ => None,
    }
}

fn by_tabs(text: &str, found: &mut Diagnostics) -> Vec<Reading> {
    let mut readings = Vec::new();
    let mut columns: Vec<&str> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.split('\t').collect();
        if line.starts_with(HEADING) {
            columns = cells;
            continue;
        }
        let cell = |name: &str| {
            columns.iter().position(|c| *c == name).and_then(|at| cells.get(at)).copied()
        };
        let guid = cell("GUID").and_then(parse_guid);
        let port = cell("Port").and_then(|p| p.trim().parse().ok());
        if let (Some(guid), Some(port)) = (guid, port) {
            readings.push(Reading {
                device: Device::Guid(guid.0),
                port,
                time: None,
                sent: cell("xmit_data").and_then(number),
                received: cell("rcv_data").and_then(number),
                width: WORDS,
                line: i + 1,
            });
        } else if !line.trim().is_empty() {
            let shown: String = line.trim().chars().take(60).collect();
            found.warn(i + 1, format!("no port in '{shown}'"), "the line is left out");
        }
    }
    readings
}
