//! Scenarios and studies that are written into another folder than the one their names of files are relative to.

use std::path::{Path, absolute};

use darkfiber_scenario::{Error, Files, Folder};
use toml_edit::{DocumentMut, Item, TableLike, Value};

/// Keys whose values may name a file, or a pattern of files.
const FILES: &[&str] = &[
    "fabric",
    "fail",
    "compute",
    "storage",
    "node-name-map",
    "aliases",
    "routes.tables",
    "routes.roots",
    "routes.sl",
    "routes.sl2vl",
    "routes.path-bits",
    "routes.lid-choice",
    "routes.groups",
    "routes.guid2lid",
    "update.from",
    "update.to",
    "job.files",
    "study.questions.among",
    "study.questions.aliases",
    "study.questions.pattern",
    "study.questions.log",
];

/// The text of a scenario or a study as it is to stand in a file: where that is in another folder than the one that names of files are
/// relative to, those of files that are there become whole paths.
///
/// # Errors
/// If it is no TOML.
pub fn moved(text: String, from: &Folder, to: &Path) -> Result<String, Error> {
    let here = |path: &Path| {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        path.canonicalize().ok()
    };
    let (from_folder, to_folder) = (here(&from.0), here(to.parent().unwrap_or(Path::new(""))));
    if from_folder.is_some() && from_folder == to_folder {
        return Ok(text);
    }
    let mut document: DocumentMut =
        text.parse().map_err(|e| Error::infeasible(format!("a scenario: {e}")))?;
    let mut is_changed = false;
    for key in FILES {
        let path: Vec<&str> = key.split('.').collect();
        in_table(document.as_table_mut(), &path, &mut |name| {
            let is_pattern = name.contains(['*', '?', '[']);
            let file = from.locate(name);
            let is_there = file.exists() || (is_pattern && from.matching(name).is_ok());
            if name.is_empty() || name == "-" || !is_there || Path::new(name).is_absolute() {
                return None;
            }
            is_changed = true;
            Some(absolute(file).ok()?.display().to_string())
        });
    }
    Ok(if is_changed { document.to_string() } else { text })
}

/// Gives words at a path of keys to a function, which may have others in their place.
type Other<'a> = &'a mut dyn FnMut(&str) -> Option<String>;

fn in_table(table: &mut dyn TableLike, path: &[&str], other: Other<'_>) {
    let [key, rest @ ..] = path else { return };
    let Some(item) = table.get_mut(key) else { return };
    match item {
        Item::Value(value) => in_value(value, rest, other),
        Item::Table(table) => in_table(table, rest, other),
        Item::ArrayOfTables(all) => all.iter_mut().for_each(|table| in_table(table, rest, other)),
        Item::None => {}
    }
}

fn in_value(value: &mut Value, path: &[&str], other: Other<'_>) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|value| in_value(value, path, other)),
        Value::InlineTable(table) => in_table(table, path, other),
        Value::String(word) if path.is_empty() => {
            if let Some(new) = other(word.value()) {
                *value = new.into();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_the_same_files() {
        let dir = tempfile::tempdir().expect("a directory");
        let folder = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(&path).expect("a folder");
            path
        };
        let (a, b) = (folder("a"), folder("b"));
        for name in ["f.topo", "x.goal", "dfsssp"] {
            std::fs::write(a.join(name), "").expect("a file");
        }
        let text = "fabric = [\"f.topo\", \"@slimfly-eth\"] # both\n[routes]\nengine = \"dfsssp\"\n[[job]]\nfiles = \"*.goal\"\n\
                    [study]\nquestions = [{ ask = \"replay\", log = \"f.topo\" }]\n";
        let from = Folder(a.clone());
        assert_eq!(moved(text.to_owned(), &from, &a.join("new.toml")).expect("TOML"), text);
        let there = moved(text.to_owned(), &from, &b.join("new.toml")).expect("TOML");
        let path = |name: &str| a.join(name).display().to_string();
        let should = text
            .replace("\"f.topo\"", &format!("\"{}\"", path("f.topo")))
            .replace("*.goal", &path("*.goal"));
        assert_eq!(there, should);
        // What is no file stays what it is.
        let text = "fabric = \"kary:k=4,n=2\"\n".to_owned();
        assert_eq!(moved(text.clone(), &from, &b.join("new.toml")).expect("TOML"), text);
    }
}
