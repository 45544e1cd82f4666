//! The rows of the page of benchmarks, as benches/bench.toml defines them.
//!
//! A `[[group]]` is a row, or a pattern of several: each table of its `cases` makes one row. Keys of a case that a row has replace the
//! group's; its other keys replace `{key}` in every text of the row.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;
use toml::{Table, Value};

use super::figure::Figure;

/// Keys of a row that a case may replace.
const KEYS: [&str; 20] = [
    "id",
    "section",
    "work",
    "peer",
    "unit",
    "more",
    "ratio-goal",
    "goal",
    "limit",
    "limit-source",
    "miss",
    "setup",
    "ours",
    "theirs",
    "untried",
    "plot",
    "series",
    "size",
    "fitted",
    "shown",
];

/// All that benches/bench.toml defines.
#[derive(Debug)]
pub(crate) struct Rows {
    /// Other programs by name.
    pub(crate) peers: BTreeMap<String, Peer>,
    /// Panels of the scaling plot.
    pub(crate) plots: Vec<Plot>,
    /// All rows, in their order.
    #[expect(clippy::struct_field_names, reason = "it is the key of the file")]
    pub(crate) rows: Vec<Row>,
}

/// A program that darkfiber is compared with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peer {
    /// Its version, as the page prints it.
    pub(crate) version: String,
    /// Programs on the PATH, or paths below the directory of peers; the row is measured without the peer if one is missing.
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    /// A command that is run once before its first row.
    pub(crate) setup: Option<String>,
}

/// A panel of the scaling plot.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plot {
    /// Name that rows refer to.
    pub(crate) name: String,
    /// Title of the panel.
    pub(crate) title: String,
    /// Label of the horizontal axis.
    pub(crate) x: String,
    /// Smallest size of the fit: below it, process start and the resolution of clocks dominate.
    pub(crate) from: f64,
}

/// One row: the work, the commands that measure it, and what is expected of the figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Row {
    /// Name of the row in bench.csv and on the page.
    pub(crate) id: String,
    /// Heading of its table.
    pub(crate) section: String,
    /// The work that is done.
    pub(crate) work: String,
    /// Name of the peer, if the row has one.
    pub(crate) peer: Option<String>,
    /// Unit of both figures: `s`, or a plural that a prefix can precede (`paths/s`).
    pub(crate) unit: String,
    /// Whether more is better; less is better otherwise.
    #[serde(default)]
    pub(crate) more: bool,
    /// The ratio to the peer that is aimed at.
    pub(crate) ratio_goal: Option<f64>,
    /// The figure that is aimed at.
    pub(crate) goal: Option<f64>,
    /// A bound that no implementation can beat, or the rate of an ideal kernel.
    pub(crate) limit: Option<f64>,
    /// Derivation of the limit.
    pub(crate) limit_source: Option<String>,
    /// Why the row is behind its peer or its goal, from a profile.
    pub(crate) miss: Option<String>,
    /// A command that is run before the row, and not measured.
    pub(crate) setup: Option<String>,
    /// Measures darkfiber.
    pub(crate) ours: Option<Side>,
    /// Measures the peer.
    pub(crate) theirs: Option<Side>,
    /// Why the peer is not run, as the page says it: it is known not to end within the limit, or not to fit this machine.
    pub(crate) untried: Option<String>,
    /// Panel of the scaling plot that the row is a point of.
    pub(crate) plot: Option<String>,
    /// Line of that panel.
    pub(crate) series: Option<String>,
    /// Its position on the horizontal axis.
    pub(crate) size: Option<f64>,
    /// Whether the exponent of its line is fitted to this point, too; false for a fabric constructed unlike the others.
    #[serde(default = "yes")]
    pub(crate) fitted: bool,
    /// Whether the row is in a table of the page; by default all that are no points of the plot.
    pub(crate) shown: Option<bool>,
}

/// A command, and how its figure is taken.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Side {
    /// A line for the shell. `{darkfiber}`, `{examples}`, `{peers}` and `{work}` are replaced by paths.
    pub(crate) command: String,
    /// Where the figure is.
    pub(crate) figure: Figure,
    /// A text that the output has if the command did its work; without it the exit status must be 0, or 1 (findings).
    pub(crate) says: Option<String>,
}

/// The document as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    peers: BTreeMap<String, Peer>,
    #[serde(default)]
    plots: Vec<Plot>,
    group: Vec<Table>,
}

const fn yes() -> bool {
    true
}

impl Row {
    /// Whether the row is in a table of the page.
    pub(crate) fn is_shown(&self) -> bool {
        self.shown.unwrap_or(self.plot.is_none())
    }

    /// Whether a word of `--only` selects it.
    pub(crate) fn is_selected(&self, word: &str) -> bool {
        let peer = self.peer.as_deref().unwrap_or_default();
        [&self.id[..], &self.section, &self.work, peer].iter().any(|text| text.contains(word))
    }
}

impl Rows {
    /// Reads and checks benches/bench.toml.
    ///
    /// # Errors
    /// If it cannot be read, a key is unknown or missing, a name is used twice, or a row names a peer or a panel that is not there.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let text = fs::read_to_string(path).map_err(|e| format!("{name}: {e}"))?;
        Self::parse(&text).map_err(|e| format!("{name}: {e}"))
    }

    /// Parses and checks the text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let document: Document = toml::from_str(text).map_err(|e| e.to_string())?;
        let mut rows = Vec::new();
        for group in document.group {
            rows.extend(expand(group)?);
        }
        let all = Self { peers: document.peers, plots: document.plots, rows };
        all.check()?;
        Ok(all)
    }

    fn check(&self) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        for row in &self.rows {
            let id = &row.id;
            if !seen.insert(id) {
                return Err(format!("two rows are called `{id}`"));
            }
            if let Some(open) = [id, &row.section, &row.work].into_iter().find(|t| t.contains('{'))
            {
                return Err(format!("row `{id}`: no case has the key of `{open}`"));
            }
            if let Some(peer) = row.peer.as_ref().filter(|p| !self.peers.contains_key(*p)) {
                return Err(format!("row `{id}`: there is no [peers.\"{peer}\"]"));
            }
            if row.peer.is_none() && (row.theirs.is_some() || row.ratio_goal.is_some()) {
                return Err(format!("row `{id}`: `theirs` and `ratio-goal` need a `peer`"));
            }
            if row.limit.is_some() != row.limit_source.is_some() {
                return Err(format!("row `{id}`: `limit` and `limit-source` belong together"));
            }
            let point = [row.plot.is_some(), row.series.is_some(), row.size.is_some()];
            if point.contains(&true) && point.contains(&false) {
                return Err(format!("row `{id}`: `plot`, `series` and `size` belong together"));
            }
            let is_known = |plot: &String| self.plots.iter().any(|p| p.name == *plot);
            if let Some(plot) = row.plot.as_ref().filter(|p| !is_known(p)) {
                return Err(format!("row `{id}`: there is no [[plots]] called `{plot}`"));
            }
        }
        Ok(())
    }
}

/// The rows of a group.
fn expand(mut group: Table) -> Result<Vec<Row>, String> {
    let name = group.get("id").and_then(Value::as_str).unwrap_or("without an id").to_owned();
    let problem = |e: &dyn std::fmt::Display| format!("group `{name}`: {e}");
    let cases = match group.remove("cases") {
        None => vec![Value::Table(Table::new())],
        Some(Value::Array(cases)) => cases,
        Some(_) => return Err(problem(&"`cases` is to be a list of tables")),
    };
    let mut rows = Vec::new();
    for case in cases {
        let Value::Table(case) = case else {
            return Err(problem(&"each of `cases` is to be a table"));
        };
        let mut row = group.clone();
        let mut texts: Vec<(String, String)> = Vec::new();
        for (key, value) in case {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            texts.push((format!("{{{key}}}"), text));
            if KEYS.contains(&&key[..]) {
                row.insert(key, value);
            }
        }
        for value in row.iter_mut().map(|(_, value)| value) {
            replace(value, &texts);
        }
        rows.push(Value::Table(row).try_into().map_err(|e| problem(&e))?);
    }
    Ok(rows)
}

/// Replaces the keys of a case in every text of a value.
fn replace(value: &mut Value, texts: &[(String, String)]) {
    match value {
        Value::String(text) => {
            for (key, with) in texts {
                *text = text.replace(key, with);
            }
        }
        Value::Table(table) => table.iter_mut().for_each(|(_, inner)| replace(inner, texts)),
        Value::Array(list) => list.iter_mut().for_each(|inner| replace(inner, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
[peers.OpenSM]
version = "3.3.23"

[[group]]
id = "route-{name}"
section = "Routing"
work = "tables of {name}, {hosts} hosts"
peer = "OpenSM"
unit = "s"
ours = { command = "{darkfiber} route {name}", figure = { json = "/seconds" } }
cases = [{ name = "a", hosts = 16, ratio-goal = 10 }, { name = "b", hosts = 32, unit = "lanes" }]
"#;

    #[test]
    fn cases_make_rows() {
        let all = Rows::parse(TEXT).expect("well formed");
        let [a, b] = &all.rows[..] else { panic!("{:?}", all.rows) };
        assert_eq!((&a.id[..], &a.work[..]), ("route-a", "tables of a, 16 hosts"));
        assert_eq!((a.ratio_goal, &b.unit[..], &b.id[..]), (Some(10.0), "lanes", "route-b"));
        assert_eq!(b.ours.as_ref().expect("a side").command, "{darkfiber} route b");
        assert!(a.is_selected("Routing") && a.is_selected("OpenSM") && !a.is_selected("route-b"));
    }

    #[test]
    fn faults_name_the_row() {
        let faults = [
            ("\"a\", hosts = 16", "\"b\", hosts = 16", "two rows are called `route-b`"),
            ("peer = \"OpenSM\"", "peer = \"ORCS\"", "there is no [peers.\"ORCS\"]"),
            ("hosts = 32,", "", "no case has the key of `tables of b, {hosts} hosts`"),
            ("json =", "xml =", "xml"),
            ("unit = \"s\"", "unit = \"s\"\nplot = \"x\"", "belong together"),
        ];
        for (from, to, expected) in faults {
            let error = Rows::parse(&TEXT.replacen(from, to, 1)).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        }
    }
}
