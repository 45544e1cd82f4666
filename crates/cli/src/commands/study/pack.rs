//! Answers of many cells in one file.

use std::collections::HashMap;
use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use darkfiber_formats::{checked, manifest};
use darkfiber_study::grid::Record;

use crate::out;

/// The folder of a store that has them.
const FOLDER: &str = "packs";

/// Writes answers as one file, called by the digest of what is in it; whether that could be done.
pub(super) fn write(dir: &Path, records: &[Record]) -> bool {
    let mut text = Vec::new();
    for record in records {
        if serde_json::to_writer(&mut text, record).is_err() {
            return false;
        }
        text.push(b'\n');
    }
    let folder = dir.join(FOLDER);
    let path = folder.join(format!("{}.jsonl.zst", &manifest::sha256(&text)[..32]));
    let written = fs::create_dir_all(&folder)
        .and_then(|()| checked::write(&path, |out| out.write_all(&text)));
    if let Err(e) = &written {
        out::eprint_line(&format!("warning: cannot write {}: {e}", path.display()));
    }
    written.is_ok()
}

/// All files of a store that have answers of many cells.
pub(super) fn all(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.join(FOLDER)).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "zst"))
        .collect();
    all.sort();
    all
}

/// The lines of a file, a cell each; none, and a warning, if it is damaged.
pub(super) fn lines(path: &Path) -> Vec<String> {
    let read = checked::open(path).map_err(|e| e.to_string()).and_then(|file| {
        file.lines().collect::<Result<Vec<_>, _>>().map_err(|e| format!("{}: {e}", path.display()))
    });
    read.unwrap_or_else(|e| {
        out::eprint_line(&format!("warning: {e}; its cells count as open"));
        Vec::new()
    })
}

/// Lines of cells by their digests.
#[derive(Default)]
pub(super) struct Index(HashMap<String, Box<str>>);

impl Index {
    /// Of all files of a store.
    pub(super) fn of(dir: &Path) -> Self {
        let mut index = HashMap::new();
        for path in all(dir) {
            for line in lines(&path) {
                // The digest is the first key of a record.
                let id = line.strip_prefix("{\"id\":\"").and_then(|rest| rest.split('"').next());
                if let Some(id) = id {
                    index.insert(id.to_owned(), line.as_str().into());
                }
            }
        }
        Self(index)
    }

    /// The answers of a cell.
    pub(super) fn find(&self, id: &str) -> Option<Record> {
        serde_json::from_str(self.0.get(id)?).ok()
    }
}
