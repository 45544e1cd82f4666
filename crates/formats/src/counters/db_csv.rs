//! ibdiagnet's database: tables, of which `PM_INFO` has the counters.

use std::path::Path;

use super::reading::{CounterForm, Device, Reading, SymbolErrors, not_counters, number};
use super::table;
use crate::{Diagnostics, ReadError, db_csv, sheet};

/// The form of ibdiagnet's database.
pub(super) const FORM: CounterForm =
    CounterForm { is_such: |text| text.lines().any(|l| db_csv::begins_table(l.trim())), read };

fn read(text: &str, path: &Path, found: &mut Diagnostics) -> Result<Vec<Reading>, ReadError> {
    let sections = db_csv::tables(text, "PM_INFO");
    if sections.is_empty() {
        return Err(not_counters(path, "there is no table PM_INFO".to_owned()));
    }
    let mut all = Vec::new();
    for (before, section) in sections {
        all.extend(table::of_section(section, before, path, found)?);
    }
    Ok(all)
}

/// The symbol errors of ports, in the order of the file: empty if there is no column of them.
pub(super) fn symbol_errors(text: &str) -> Vec<SymbolErrors> {
    let mut all = Vec::new();
    for (before, section) in db_csv::tables(text, "PM_INFO") {
        let mut reader = sheet::reader(section).from_reader(section.as_bytes());
        let Ok(heading) = reader.headers().cloned() else { continue };
        let column = |name| heading.iter().position(|h| h.trim() == name);
        let columns = ["NodeGUID", "PortNumber", "SymbolErrorCounter", "SymbolErrorCounterExt"];
        let columns = columns.map(column);
        for record in reader.records().flatten() {
            let [guid, port, few, many] = columns.map(|at| number(record.get(at?)?));
            // Devices that do not count in the second, of 64 bits, have 0 there.
            let errors = many.max(few);
            let port = port.and_then(|port| u8::try_from(port).ok());
            if let (Some(guid), Some(port), Some(errors)) = (guid, port, errors) {
                let line = before + sheet::line(section, &record);
                all.push(SymbolErrors { device: Device::Guid(guid), port, errors, line });
            }
        }
    }
    all
}
