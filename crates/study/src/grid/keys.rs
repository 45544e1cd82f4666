//! The keys that a scenario can have, from its schema: which there are, and which hold lists.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use darkfiber_fabric::Unknown;
use darkfiber_scenario::{Error, schema};
use serde_json::Value as Json;

/// The kind of value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// One value: a list in its place is an axis.
    One,
    /// A list: a list of lists in its place is an axis.
    List,
    /// Tables one after the other.
    Tables,
    /// A single table of keys.
    Table,
    /// A value, or a table whose keys depend on it.
    Open,
}

/// All keys by their path, where numbers of tables are `*`: `job.*.traffic`.
pub(super) fn all() -> &'static BTreeMap<String, KeyKind> {
    static ALL: OnceLock<BTreeMap<String, KeyKind>> = OnceLock::new();
    ALL.get_or_init(|| {
        let schema = schema();
        let mut keys = BTreeMap::new();
        walk(&schema, &schema, "", &mut keys);
        keys
    })
}

fn walk(root: &Json, at: &Json, path: &str, keys: &mut BTreeMap<String, KeyKind>) {
    let Some(properties) = at.get("properties").and_then(Json::as_object) else { return };
    for (name, schema) in properties {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let choices = resolved(root, schema);
        let is_table = |s: &&&Json| s.get("properties").is_some();
        let kind = if let Some(list) = choices.iter().find(|s| has_type(s, "array")) {
            let items = list.get("items").map(|items| resolved(root, items)).unwrap_or_default();
            match items.iter().find(is_table) {
                Some(table) => {
                    walk(root, table, &format!("{path}.*"), keys);
                    KeyKind::Tables
                }
                None => KeyKind::List,
            }
        } else if let Some(table) = choices.iter().find(is_table) {
            walk(root, table, &path, keys);
            if choices.len() > 1 { KeyKind::Open } else { KeyKind::Table }
        } else {
            KeyKind::One
        };
        keys.insert(path, kind);
    }
}

fn has_type(schema: &Json, name: &str) -> bool {
    match schema.get("type") {
        Some(Json::String(one)) => one == name,
        Some(Json::Array(some)) => some.iter().any(|one| one == name),
        _ => false,
    }
}

/// The alternatives of a schema, with references resolved, and without null.
fn resolved<'a>(root: &'a Json, schema: &'a Json) -> Vec<&'a Json> {
    if let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
        let found = reference.strip_prefix('#').and_then(|path| root.pointer(path));
        return found.map(|found| resolved(root, found)).unwrap_or_default();
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        if let Some(some) = schema.get(choice).and_then(Json::as_array) {
            return some.iter().flat_map(|one| resolved(root, one)).collect();
        }
    }
    if has_type(schema, "null") && schema.get("type").is_some_and(Json::is_string) {
        return Vec::new();
    }
    vec![schema]
}

/// The path of a key as the schema has it: numbers of tables become `*`.
fn pattern(path: &[String]) -> String {
    let segment = |s: &String| if s.parse::<usize>().is_ok() { "*".to_owned() } else { s.clone() };
    path.iter().map(segment).collect::<Vec<_>>().join(".")
}

/// The key that has the number of a table where this one has a name: `job.1.nodes` for `job.milc.nodes`.
fn numbered(path: &[String]) -> Option<String> {
    let is_table = |i: &usize| all().get(&pattern(&path[..*i])) == Some(&KeyKind::Tables);
    let place = (1..path.len()).find(is_table)?;
    let mut other = path.to_vec();
    "1".clone_into(&mut other[place]);
    all().contains_key(&pattern(&other)).then(|| other.join("."))
}

/// Finds the kind of value of a key.
///
/// # Errors
/// If there is no such key; the error lists similar ones.
pub(super) fn kind(path: &[String]) -> Result<KeyKind, Error> {
    let keys = all();
    let pattern = pattern(path);
    if let Some(kind) = keys.get(&pattern) {
        return Ok(*kind);
    }
    // A component that is chosen by name has its own parameters.
    let mut outer = path;
    while let Some((_, rest)) = outer.split_last() {
        outer = rest;
        match keys.get(&self::pattern(outer)) {
            Some(KeyKind::Open) => return Ok(KeyKind::One),
            Some(_) => break,
            None => {}
        }
    }
    if let Some(numbered) = numbered(path) {
        let what = format!("no key of a scenario is called '{}'", path.join("."));
        return Err(Error::usage(what).hint(format!("tables have numbers from 1: {numbered}")));
    }
    let shown: Vec<String> = keys.keys().map(|key| key.replace(".*", ".1")).collect();
    let name = path.join(".");
    let unknown = Unknown::new("key of a scenario", &name, shown.iter().map(String::as_str));
    let none_is_close = unknown.nearest.is_empty();
    let error = Error::from(unknown);
    // All of them are too many for a hint.
    Err(if none_is_close { error.hint("`darkfiber help scenario` has all keys") } else { error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn keys_of_scenarios() {
        let kind = |text: &str| kind(&path(text)).map_err(|e| (e.message, e.hint));
        assert_eq!(kind("fabric"), Ok(KeyKind::One));
        assert_eq!(kind("routes.engine"), Ok(KeyKind::One));
        assert_eq!(kind("fail"), Ok(KeyKind::List));
        assert_eq!(kind("job.2.files"), Ok(KeyKind::List));
        assert_eq!(kind("job"), Ok(KeyKind::Tables));
        assert_eq!(kind("packets.congestion.scheme"), Ok(KeyKind::One));
        let (message, hint) = kind("routes.engin").expect_err("no key");
        assert_eq!(message, "no key of a scenario is called 'routes.engin'");
        assert!(hint.contains("routes.engine"), "{hint}");
        let (_, hint) = kind("job.milc.nodes").expect_err("a name is no number");
        assert_eq!(hint, "tables have numbers from 1: job.1.nodes");
    }
}
