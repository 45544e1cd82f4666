//! `darkfiber help scenario`: the keys of a scenario file, from the schema of the program that reads it.

use std::fmt::Write as _;

use darkfiber_scenario::schema;
use serde_json::Value;

use crate::terminal::wrapped;

/// The smallest scenario, and pointers to further help.
const HEAD: &str = "\
A scenario is a fabric, its routes, jobs placed on it, and what they send: a TOML file that
`darkfiber simulate` and `darkfiber study` read. The smallest one:

  fabric = \"@t2hx-hyperx\"

  [routes]
  engine = \"dfsssp\"

  [[job]]
  traffic = \"mpigraph:bytes=1MiB\"
  nodes = 28

Sizes (64KiB), times (100ms) and rates (2.26GiB/s) have units, in quotes.
`darkfiber simulate FILE --resolved ALL` writes a scenario with every default filled in;
`darkfiber list` has the names of traffic, hosts, routings, switches and allocators.

Keys, and their defaults:
";

/// The schema of study files beyond their scenarios, as their types make it, without blanks.
const STUDY_FILE: &str = include_str!("../assets/study-file.json");

/// Heading of the additional keys of studies.
const OF_STUDIES: &str = "
A scenario in which lists stand for values is a study (`darkfiber help study`). Its keys:
";

/// Columns of the text.
const WIDTH: usize = 92;

/// All keys of a scenario, section by section.
pub(crate) fn text() -> String {
    let mut out = HEAD.to_owned();
    let root = schema();
    section(&root, &root, "", &mut out);
    out.push_str(OF_STUDIES);
    let root = study_file();
    section(&root, &root, "", &mut out);
    out
}

fn study_file() -> Value {
    serde_json::from_str(STUDY_FILE).expect("a test holds it to what the types say")
}

/// A key as `--set` names it.
pub(crate) struct KeyPath {
    /// `routes.engine`; of several tables the first, `job.1.traffic`.
    pub(crate) path: String,
    /// Meaning of the key.
    pub(crate) meaning: String,
    /// Valid values, where its type lists them.
    pub(crate) choices: Vec<String>,
}

/// All keys of a scenario.
pub(crate) fn paths() -> Vec<KeyPath> {
    let root = schema();
    let mut paths = Vec::new();
    collect(&root, &root, "", &mut paths);
    paths
}

/// The keys of a table and of those in it.
fn collect(root: &Value, table: &Value, path: &str, paths: &mut Vec<KeyPath>) {
    let Some(keys) = table["properties"].as_object() else { return };
    for (key, value) in keys {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if let Some((part, is_list)) = table_of(root, value) {
            let path = if is_list { format!("{path}.1") } else { path };
            collect(root, part, &path, paths);
        } else {
            let meaning = value["description"].as_str().unwrap_or_default().to_owned();
            paths.push(KeyPath { path, meaning, choices: choices(root, value) });
        }
    }
}

/// The names that a value can have.
fn choices(root: &Value, value: &Value) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(named) = value["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
        names.extend(choices(root, &root["$defs"][named]));
    }
    let alternatives = ["anyOf", "oneOf"].map(|key| value[key].as_array());
    for alternative in alternatives.into_iter().flatten().flatten() {
        names.extend(choices(root, alternative));
    }
    if value["type"] == "boolean" {
        names.extend(["true", "false"].map(str::to_owned));
    }
    let fixed = value["enum"].as_array().into_iter().flatten().chain([&value["const"]]);
    names.extend(fixed.filter_map(Value::as_str).map(str::to_owned));
    names
}

/// The keys of a table, and after them those of the tables in it.
fn section(root: &Value, table: &Value, path: &str, out: &mut String) {
    let Some(keys) = table["properties"].as_object() else { return };
    let mut below = Vec::new();
    for (key, value) in keys {
        let description = value["description"].as_str().unwrap_or_default().replace('\n', " ");
        if let Some((part, is_list)) = table_of(root, value) {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            below.push((path, is_list, description, part));
            continue;
        }
        let default = match &value["default"] {
            Value::String(text) => format!(" [{text}]"),
            Value::Bool(_) | Value::Number(_) => format!(" [{}]", value["default"]),
            _ => String::new(),
        };
        let _infallible = writeln!(out, "  {key}{default}");
        for line in wrapped(&description, WIDTH - 6).lines() {
            let _infallible = writeln!(out, "      {line}");
        }
    }
    for (path, is_list, description, part) in below {
        let name = if is_list { format!("[[{path}]]") } else { format!("[{path}]") };
        let _infallible = writeln!(out, "\n{name}");
        for line in wrapped(&description, WIDTH - 2).lines() {
            let _infallible = writeln!(out, "  {line}");
        }
        section(root, part, &path, out);
    }
}

/// The table that a key holds, and whether it holds several.
fn table_of<'a>(root: &'a Value, value: &'a Value) -> Option<(&'a Value, bool)> {
    let is_list = value["items"].is_object();
    let value = if is_list { &value["items"] } else { value };
    // An optional key has this type or null.
    let mut choices = value["anyOf"].as_array().into_iter().flatten().chain([value]);
    let named = choices.find_map(|choice| choice["$ref"].as_str()?.strip_prefix("#/$defs/"))?;
    let part = &root["$defs"][named];
    part["properties"].is_object().then_some((part, is_list))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a change that is meant: `DARKFIBER_UPDATE_DOCS=1 cargo test -p darkfiber scenario_keys`.
    #[test]
    fn schema_of_study_files_is_that_of_their_types() {
        let made = darkfiber_report::schema::study_file();
        let made = serde_json::to_string(&made).expect("JSON") + "\n";
        if std::env::var_os("DARKFIBER_UPDATE_DOCS").is_some() {
            let assets = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
            std::fs::write(assets.join("study-file.json"), &made).expect("written");
        } else {
            assert!(STUDY_FILE == made, "DARKFIBER_UPDATE_DOCS=1 rewrites assets/study-file.json");
        }
    }

    #[test]
    fn all_keys_are_there_and_fit() {
        let text = text();
        for part in
            ["  fabric\n", "  depth [flow]\n", "\n[routes]\n", "\n[[job]]\n", "\n[packets]\n"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        for part in ["\n[study]\n", "\n[study.until]\n", "\n[[expect]]\n"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for part in ["\n[[class]]\n", "\n[[packets.lane-fault]]\n", "\n[update.fault]\n"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }
}
