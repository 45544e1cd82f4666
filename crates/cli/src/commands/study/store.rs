//! Cells that are answered, in memory or as files of a folder that several processes may share.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use darkfiber_formats::{input, manifest};
use darkfiber_scenario::{Files, Folder};
use darkfiber_study::grid::{Prepared, Record, Store, StudyFile};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::sealed::Sealed;
use crate::{out, save};

/// What tells a study in a store from others.
const IDENTITY: &str = "study.json";

/// Digests of files that scenarios name.
struct Contents<'a> {
    folder: &'a Folder,
    known: Mutex<BTreeMap<PathBuf, String>>,
}

impl<'a> Contents<'a> {
    fn new(folder: &'a Folder) -> Self {
        Self { folder, known: Mutex::default() }
    }

    /// The digest of all that answers of a cell depend on.
    fn id(&self, key: &str, cell: &Prepared) -> String {
        let mut text = format!("{}\n{key}\n", env!("CARGO_PKG_VERSION"));
        let s = &cell.file.scenario;
        let mut names: Vec<&str> = vec![&s.fabric];
        names.extend(s.fail.iter().map(String::as_str));
        let some = [
            &s.compute,
            &s.storage,
            &s.node_name_map,
            &s.aliases,
            &s.routes.tables,
            &s.routes.roots,
        ];
        names.extend(some.into_iter().filter_map(|name| name.as_deref()));
        names.extend(s.jobs.iter().flat_map(|job| job.files.iter().flatten()).map(String::as_str));
        for name in names {
            text.push_str(&self.digest(name));
            text.push('\n');
        }
        manifest::sha256(text.as_bytes())[..32].to_owned()
    }

    /// The digest of a file, or of all files of a directory; empty if there is none.
    fn digest(&self, name: &str) -> String {
        let path = self.folder.locate(name);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = known.entry(path).or_insert_with_key(|path| digest_of(path));
        digest.clone()
    }
}

fn digest_of(path: &Path) -> String {
    if path.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> =
            entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        files.sort();
        return files.iter().map(|path| digest_of(path)).collect::<Vec<_>>().join(" ");
    }
    fs::read(path).map(|bytes| manifest::sha256(&bytes)).unwrap_or_default()
}

/// Nothing was answered before, and nobody keeps what is answered now.
pub(super) struct MemoryStore<'a> {
    contents: Contents<'a>,
}

impl<'a> MemoryStore<'a> {
    pub(super) fn new(folder: &'a Folder) -> Self {
        Self { contents: Contents::new(folder) }
    }
}

impl Store for MemoryStore<'_> {
    fn id(&self, key: &str, cell: &Prepared) -> String {
        self.contents.id(key, cell)
    }

    fn find(&self, _: &str) -> Option<Record> {
        None
    }

    fn keep(&self, _: Record) {}
}

/// What a store is of.
#[derive(PartialEq, Serialize, Deserialize)]
struct Identity {
    version: String,
    study: Vec<(String, String)>,
}

/// A folder with a file for each answered cell, called by its digest: `cells/ab/abcd...json`. A file is written beside its place and
/// renamed, so that it is whole or not there, and two processes at one cell do no harm.
pub(super) struct FolderStore<'a> {
    dir: PathBuf,
    contents: Contents<'a>,
}

impl<'a> FolderStore<'a> {
    /// A store for this study, made if it is not there.
    pub(super) fn open(dir: &Path, study: &StudyFile, folder: &'a Folder) -> Result<Self, Failure> {
        save::directory(dir)?;
        let path = dir.join(IDENTITY);
        if !path.exists() {
            let identity = Self::identity(study);
            save::file(&path, |out| Ok(serde_json::to_writer_pretty(out, &identity)?))?;
        }
        Self::existing(dir, study, folder)
    }

    /// A store that is there.
    pub(super) fn existing(
        dir: &Path,
        study: &StudyFile,
        folder: &'a Folder,
    ) -> Result<Self, Failure> {
        let path = dir.join(IDENTITY);
        let other = "name another folder, or remove this one to begin anew";
        let text = input::read_text(&path)?;
        let kept: Identity = serde_json::from_str(&text).map_err(|e| {
            Failure::input(format!("{}: this is no store of a study: {e}", path.display()))
                .hint(other)
        })?;
        let ours = Self::identity(study);
        if kept.version != ours.version {
            return Err(Failure::input(format!(
                "{}: the store is of version {}, this program is {}",
                dir.display(),
                kept.version,
                ours.version
            ))
            .hint(other));
        }
        if kept != ours {
            let differs = |(key, value): &&(String, String)| {
                kept.study.iter().find(|(k, _)| k == key).is_none_or(|(_, v)| v != value)
            };
            let key = ours.study.iter().find(differs).map(|(key, _)| key.as_str());
            let gone = kept.study.iter().find(|(k, _)| ours.study.iter().all(|(key, _)| key != k));
            let key = key.or(gone.map(|(key, _)| key.as_str())).unwrap_or("order of keys");
            return Err(Failure::input(format!(
                "{}: the store is of another study: its {key} differs",
                dir.display()
            ))
            .hint(other));
        }
        Ok(Self { dir: dir.to_owned(), contents: Contents::new(folder) })
    }

    fn identity(study: &StudyFile) -> Identity {
        Identity { version: env!("CARGO_PKG_VERSION").to_owned(), study: study.canonical() }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.dir.join("cells").join(&id[..2]).join(format!("{id}.json"))
    }

    /// All answered cells of the study, by point and seed. A cell whose file is damaged is open.
    pub(super) fn records(&self, study: &StudyFile) -> Result<Vec<Record>, Failure> {
        let mut paths = Vec::new();
        let folders = fs::read_dir(self.dir.join("cells")).into_iter().flatten().flatten();
        for folder in folders {
            let files = fs::read_dir(folder.path()).into_iter().flatten().flatten();
            paths.extend(
                files
                    .map(|file| file.path())
                    .filter(|path| path.extension().is_some_and(|e| e == "json")),
            );
        }
        let mut all: Vec<Record> = paths.par_iter().filter_map(|path| read(path)).collect();
        all.sort_by(|a, b| (a.point, a.turn, &a.id).cmp(&(b.point, b.turn, &b.id)));
        // What a file named by the study was before it changed is kept, and counts no more.
        let points = study.point_count()?;
        all.retain(|record| record.point < points);
        all.dedup_by_key(|record| (record.point, record.turn));
        Ok(all)
    }
}

/// A kept cell; nothing, and a warning, if its file is damaged.
fn read(path: &Path) -> Option<Record> {
    let sealed: Result<Sealed<String, Record>, Failure> = Sealed::read(path, "cell");
    match sealed {
        Ok(sealed) if sealed.facts == sealed.result.id => Some(sealed.result),
        Ok(_) => None,
        Err(e) => {
            out::tell(&format!("warning: {}; the cell counts as open", e.message));
            None
        }
    }
}

impl Store for FolderStore<'_> {
    fn id(&self, key: &str, cell: &Prepared) -> String {
        self.contents.id(key, cell)
    }

    fn find(&self, id: &str) -> Option<Record> {
        let path = self.path(id);
        if path.exists() { read(&path) } else { None }
    }

    fn keep(&self, record: Record) {
        let path = self.path(&record.id);
        let _it_shows_below = path.parent().map(fs::create_dir_all);
        Sealed::new(record.id.clone(), record).keep(&path);
    }
}
