//! Results of benchmarks: a line of benches/bench.csv for each row.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::rows::Rows;

/// The figures of a row, and where they are from.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Measured {
    /// Name of the row.
    pub(crate) row: String,
    /// darkfiber's figure, in the unit of the row.
    pub(crate) ours: Option<f64>,
    /// The peer's figure, in the unit of the row.
    pub(crate) theirs: Option<f64>,
    /// Day of the measurement, `2026-11-21`.
    pub(crate) date: String,
    /// Commit of darkfiber.
    pub(crate) commit: String,
    /// Day of the peer's figure, where it is from another run.
    pub(crate) theirs_date: Option<String>,
    /// Cores, processor and system.
    pub(crate) machine: String,
    /// Repetitions of which the figures are the median; 0: not recorded.
    pub(crate) runs: u32,
    /// What the peer said instead of a figure, or what else must be known.
    pub(crate) note: Option<String>,
}

/// All results, kept in the order of the rows.
#[derive(Debug)]
pub(crate) struct Results {
    path: PathBuf,
    all: BTreeMap<String, Measured>,
}

impl Results {
    /// Reads the file; without it there are no results.
    ///
    /// # Errors
    /// If a line cannot be read, or is of no row.
    pub(crate) fn read(path: &Path, rows: &Rows) -> Result<Self, String> {
        let name = path.display();
        let mut all = BTreeMap::new();
        if path.exists() {
            let mut reader = csv::Reader::from_path(path).map_err(|e| format!("{name}: {e}"))?;
            for (line, measured) in reader.deserialize().enumerate() {
                let line = line + 2;
                let measured: Measured = measured.map_err(|e| format!("{name}:{line}: {e}"))?;
                if !rows.rows.iter().any(|row| row.id == measured.row) {
                    let row = &measured.row;
                    return Err(format!("{name}:{line}: bench.toml has no row `{row}`"));
                }
                if let Some(twice) = all.insert(measured.row.clone(), measured) {
                    return Err(format!("{name}:{line}: `{}` was there before", twice.row));
                }
            }
        }
        Ok(Self { path: path.to_owned(), all })
    }

    /// The result of a row.
    pub(crate) fn get(&self, row: &str) -> Option<&Measured> {
        self.all.get(row)
    }

    /// Machines of all results.
    pub(crate) fn machines(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.all.values().map(|m| &m.machine[..]).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Adds or replaces a result, and writes the file, so that an interrupted run loses nothing.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn store(&mut self, measured: Measured, rows: &Rows) -> Result<(), String> {
        self.all.insert(measured.row.clone(), measured);
        let problem = |e: &dyn std::fmt::Display| format!("{}: {e}", self.path.display());
        let mut writer = csv::Writer::from_writer(Vec::new());
        for measured in rows.rows.iter().filter_map(|row| self.all.get(&row.id)) {
            writer.serialize(measured).map_err(|e| problem(&e))?;
        }
        let text = writer.into_inner().map_err(|e| problem(&e))?;
        let partial = self.path.with_extension("csv.partial");
        fs::write(&partial, text).map_err(|e| problem(&e))?;
        fs::rename(&partial, &self.path).map_err(|e| problem(&e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_again_as_stored() {
        let rows = "[peers]\n[[group]]\nid = \"{n}\"\nsection = \"S\"\nwork = \"w\"\nunit = \"s\"\n\
                    cases = [{ n = \"b\" }, { n = \"a\" }]\n";
        let rows = Rows::parse(rows).expect("well formed");
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("bench.csv");
        let mut results = Results::read(&path, &rows).expect("none yet");
        for id in ["a", "b"] {
            let measured = Measured {
                row: id.to_owned(),
                ours: Some(0.1),
                note: Some("gives up, after 510 s".to_owned()),
                ..Measured::default()
            };
            results.store(measured, &rows).expect("written");
        }
        let again = Results::read(&path, &rows).expect("read");
        assert_eq!(again.get("a"), results.get("a"));
        let text = fs::read_to_string(&path).expect("read");
        let first: Vec<&str> = text.lines().map(|l| &l[..1]).collect();
        assert_eq!(first, ["r", "b", "a"], "in the order of the rows");
        fs::write(&path, text.replace("\nb,", "\nc,")).expect("written");
        let error = Results::read(&path, &rows).expect_err("no such row");
        assert!(error.contains("bench.csv:2: bench.toml has no row `c`"), "{error}");
    }
}
