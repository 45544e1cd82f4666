//! Lists of cables as comma-separated values, with columns identified by their headings.

use std::path::Path;

use darkfiber_fabric::Topology;

use super::build::{CableEnd, CableList};
use crate::format::Options;
use crate::input::name_of;
use crate::sheet::line;
use crate::{Diagnostics, ReadError};

/// A form of such lists.
pub(super) struct Sheet {
    /// Expected content, for errors.
    pub(super) expected: &'static str,
    /// Columns of devices and ports, by their names in lower case.
    pub(super) ends: [[&'static str; 2]; 2],
    /// The column of the data rate in Mbit/s, if there may be one.
    pub(super) megabits: Option<&'static str>,
    /// The columns that must be there, beyond those of the ends, so that the form is not mistaken for another.
    pub(super) needs: &'static [&'static str],
}

impl Sheet {
    /// Whether a line is its heading.
    pub(super) fn is_heading(&self, line: &str) -> bool {
        let columns = columns(line);
        let has = |name: &&str| columns.iter().any(|c| c == *name);
        self.ends.iter().flatten().all(has) && self.needs.iter().all(has)
    }

    /// Rows of a text: the number of the line, both ends, the data rate in Gbit/s, and all columns with their names.
    pub(super) fn rows(
        &self,
        text: &str,
        path: &Path,
        d: &mut Diagnostics,
    ) -> Result<Vec<Row>, ReadError> {
        // Excel begins with a mark of the order of bytes.
        let text = text.trim_start_matches('\u{feff}');
        let before = text.lines().take_while(|line| !self.is_heading(line)).count();
        if before == text.lines().count() {
            return Err(ReadError::wrong_format(path, "a list of cables", self.expected));
        }
        let body: String = text.lines().skip(before).flat_map(|line| [line, "\n"]).collect();
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(body.as_bytes());
        let names: Vec<String> = match reader.headers() {
            Ok(names) => {
                names.iter().map(|n| n.trim_start_matches('#').to_ascii_lowercase()).collect()
            }
            Err(_) => return Err(ReadError::wrong_format(path, "a list of cables", self.expected)),
        };
        let place = |name: &str| names.iter().position(|n| n == name);
        let mut rows = Vec::new();
        for record in reader.records() {
            let (record, line) = match record {
                Ok(record) => {
                    let line = before + line(&body, &record);
                    (record, line)
                }
                Err(error) => {
                    d.error(0, format!("a line that is no CSV: {error}"), "the line is left out");
                    continue;
                }
            };
            let cell =
                |name: &str| place(name).and_then(|i| record.get(i)).unwrap_or_default().to_owned();
            if record.get(0).is_some_and(|first| first.starts_with('#')) {
                continue;
            }
            let ends =
                self.ends.map(|[device, port]| CableEnd { device: cell(device), port: cell(port) });
            if let Some(end) = ends.iter().find(|e| e.device.is_empty() || e.port.is_empty()) {
                let what = if end.device.is_empty() {
                    "a device without a name"
                } else {
                    "a port without a name"
                };
                d.error(line, what, "the line is left out");
                continue;
            }
            let mut gbps = None;
            if let Some(text) = self.megabits.map(&cell).filter(|text| !text.is_empty()) {
                match text.parse::<f64>() {
                    Ok(rate) if (1.0..=1e7).contains(&rate) => gbps = Some(rate / 1000.0),
                    _ => d.warn(
                        line,
                        format!("no rate in Mbit/s: {text}"),
                        "the cable has no known rate",
                    ),
                }
            }
            let cells = names.iter().cloned().zip(record.iter().map(str::to_owned)).collect();
            rows.push(Row { line, ends, gbps, cells });
        }
        Ok(rows)
    }

    /// The fabric of such a list, unmodified.
    pub(super) fn read(
        &self,
        text: &str,
        path: &Path,
        options: &Options,
    ) -> Result<(Topology, Diagnostics), ReadError> {
        let mut d = Diagnostics::default();
        let mut list = CableList::default();
        for Row { line, ends, gbps, .. } in self.rows(text, path, &mut d)? {
            list.cable(line, ends, gbps, &mut d);
        }
        finish(&list, path, options, d, self.expected)
    }
}

/// A row of the list.
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) ends: [CableEnd; 2],
    pub(super) gbps: Option<f64>,
    pub(super) cells: Vec<(String, String)>,
}

impl Row {
    /// Content of a column; empty if there is none.
    pub(super) fn cell(&self, name: &str) -> &str {
        self.cells.iter().find(|c| c.0 == name).map_or("", |c| c.1.as_str())
    }
}

/// The columns of a heading, in lower case.
fn columns(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches('#');
    line.split(',').map(|c| c.trim().trim_matches('"').to_ascii_lowercase()).collect()
}

/// The fabric of a list of cables, of which there must be one.
pub(super) fn finish(
    list: &CableList,
    path: &Path,
    options: &Options,
    mut d: Diagnostics,
    expected: &'static str,
) -> Result<(Topology, Diagnostics), ReadError> {
    if list.is_empty() {
        let first = d.0.iter().find(|found| found.severity >= crate::Severity::Warning);
        let what = first.map_or_else(
            || "no line describes a cable".to_owned(),
            |first| format!("line {}: {}", first.line, first.what),
        );
        return Err(ReadError::not_such(path, what, expected, ""));
    }
    let fabric = list.build(name_of(path), options, &mut d);
    let fabric =
        fabric.map_err(|error| ReadError::not_such(path, error.to_string(), expected, ""))?;
    Ok((Topology { fabric, shape: None }, d))
}
