//! Digests of cells of a study: of everything that their answers depend on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use darkfiber_formats::manifest;
use darkfiber_scenario::{Files, Folder};
use darkfiber_study::grid::Prepared;

/// Characters of the half of a digest.
const HALF: usize = 16;

/// Half of a digest of a cell.
pub(crate) fn half(text: &str) -> String {
    manifest::sha256(text.as_bytes())[..HALF].to_owned()
}

/// The part of a cell's digest that is independent of the questions: runs of a cell may be useful for another one.
pub(crate) fn of_scenario(id: &str) -> &str {
    id.get(..HALF).unwrap_or(id)
}

/// Digests of files that scenarios name.
pub(crate) struct Contents<'a> {
    folder: &'a Folder,
    known: Mutex<BTreeMap<PathBuf, String>>,
}

impl<'a> Contents<'a> {
    pub(crate) fn new(folder: &'a Folder) -> Self {
        Self { folder, known: Mutex::default() }
    }

    /// The digest of everything that answers of a cell depend on: the first half is that of the scenario, the other that of
    /// the questions.
    pub(crate) fn id(&self, asked: &str, cell: &Prepared) -> String {
        let mut text = format!("{}\n{}\n", env!("CARGO_PKG_VERSION"), cell.key);
        self.add(&mut text, names(cell));
        for path in self.of_jobs(cell) {
            text.push_str(&self.digest(path));
            text.push('\n');
        }
        let mut asked = format!("{asked}\n");
        self.add(&mut asked, cell.files.iter().map(String::as_str));
        half(&text) + &half(&asked)
    }

    /// Whether answers of a cell depend on a file.
    pub(crate) fn has_files(&self, cell: &Prepared) -> bool {
        let questions = cell.files.iter().map(String::as_str);
        let mut named = names(cell).into_iter().chain(questions);
        named.any(|name| self.folder.locate(name).exists()) || self.of_jobs(cell).next().is_some()
    }

    /// Files of jobs.
    fn of_jobs<'s>(&'s self, cell: &'s Prepared) -> impl Iterator<Item = PathBuf> + 's {
        let jobs = &cell.file.scenario.jobs;
        let names = jobs.iter().flat_map(|job| job.files.iter().flat_map(|files| &files.0));
        names.flat_map(|name| self.folder.matching(name).unwrap_or_default())
    }

    /// The digests of files.
    fn add<'n>(&self, text: &mut String, names: impl IntoIterator<Item = &'n str>) {
        for name in names {
            text.push_str(&self.digest(self.folder.locate(name)));
            text.push('\n');
        }
    }

    /// The digest of a file, or of all files of a directory; empty if there is none.
    fn digest(&self, path: PathBuf) -> String {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = known.entry(path).or_insert_with_key(|path| digest_of(path));
        digest.clone()
    }
}

/// Names of files, or of what is generated, that a cell's fabric and tables are of.
fn names(cell: &Prepared) -> Vec<&str> {
    let s = &cell.file.scenario;
    let mut names: Vec<&str> = vec![&s.fabric];
    names.extend(s.fail.iter().map(String::as_str));
    let some =
        [&s.compute, &s.storage, &s.node_name_map, &s.aliases, &s.routes.tables, &s.routes.roots];
    names.extend(some.into_iter().filter_map(|name| name.as_deref()));
    names.extend(s.update.iter().flat_map(|u| [&u.from, &u.to]).filter_map(|name| name.as_deref()));
    names.extend(s.routes.beside().into_iter().filter_map(|(_, name)| Some(name?.as_str())));
    names
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
