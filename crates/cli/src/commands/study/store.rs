//! Cells that are answered, in memory or as files of a folder that several processes may share.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::{fs, mem};

use darkfiber_formats::input;
use darkfiber_packetsim::Observer;
use darkfiber_scenario::Folder;
use darkfiber_study::grid::{KeptRuns, Prepared, Record, Store, StudyFile, Table};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::pack::{self, Index};
use crate::contents::Contents;
use crate::failure::Failure;
use crate::kept_runs::RunsFolder;
use crate::options::{CheckpointArgs, StoreArgs};
use crate::sealed::Sealed;
use crate::{out, save};

/// What tells a study in a store from others.
const IDENTITY: &str = "study.json";

/// Nothing was answered before, and nobody keeps what is answered now.
pub(super) struct NoStore<'a>(Contents<'a>);

impl<'a> NoStore<'a> {
    pub(super) fn new(folder: &'a Folder) -> Self {
        Self(Contents::new(folder))
    }
}

impl KeptRuns for NoStore<'_> {}

impl Store for NoStore<'_> {
    fn id(&self, asked: &str, cell: &Prepared) -> String {
        self.0.id(asked, cell)
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

/// How many cells are answered.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) answered: usize,
    /// Of these, cells with a question that has no answer.
    pub(super) failed: usize,
    /// What they took.
    pub(super) seconds: f64,
}

/// Cells that took as long, in seconds, are kept in a file of their own at once: writing one takes a millisecond or two.
const LONG: f64 = 0.05;
/// Others are kept together as often, in seconds: as much work is lost at most if the process is killed.
const OFTEN: f64 = 1.0;
/// Files of single cells that are put together as one.
const MANY: usize = 64;

/// A folder of answered cells: those that took long in a file each, `cells/ab/abcd...json`, others and what has come together in
/// files of many, `packs/*.jsonl.zst`. A file is called by the digest of what it is of, written beside its place and renamed, so that
/// it is whole or not there, and processes that answer the same cells do no harm.
pub(super) struct FolderStore<'a> {
    dir: PathBuf,
    contents: Contents<'a>,
    /// What files of many had when the store was opened.
    index: Index,
    /// Another store whose answers are taken where a cell is the same.
    other: Option<(PathBuf, Index)>,
    /// Where runs inside cells are kept.
    runs: RunsFolder,
    pending: Mutex<PendingRecords>,
    /// Answers that could not be written in the end.
    lost: AtomicUsize,
}

/// What this process has answered since it last wrote a file of many.
struct PendingRecords {
    /// Cells that are in no file yet, and since when the first of them is there.
    quick: Vec<Record>,
    since: Instant,
    /// Cells that are in files of their own.
    long: Vec<Record>,
}

impl<'a> FolderStore<'a> {
    /// A store for this study, made if it is not there.
    pub(super) fn open(
        dir: &Path,
        study: &StudyFile,
        folder: &'a Folder,
        keep_every: &str,
    ) -> Result<Self, Failure> {
        save::directory(dir)?;
        let path = dir.join(IDENTITY);
        if !path.exists() {
            let identity = Self::identity(study);
            save::file(&path, |out| Ok(serde_json::to_writer_pretty(out, &identity)?))?;
        }
        let runs = StoreArgs { store: Some(dir.join("runs")) };
        let args = CheckpointArgs { keep: runs, store_every: keep_every.to_owned() };
        let mut store = Self::existing(dir, study, folder)?;
        store.runs = RunsFolder::of(&args)?;
        store.index = Index::of(dir);
        Ok(store)
    }

    /// Takes answers of another store where a cell is the same.
    pub(super) fn reuse(&mut self, dir: &Path) -> Result<(), Failure> {
        if !dir.join(IDENTITY).exists() {
            return Err(Failure::input(format!(
                "--reuse {}: this is no store of a study",
                dir.display()
            ))
            .hint("name a folder that darkfiber study run -o has made"));
        }
        self.other = Some((dir.to_owned(), Index::of(dir)));
        Ok(())
    }

    /// A store that is there.
    pub(super) fn existing(
        dir: &Path,
        study: &StudyFile,
        folder: &'a Folder,
    ) -> Result<Self, Failure> {
        let path = dir.join(IDENTITY);
        let other = "name another folder, with --reuse DIR to take over cells that are the same";
        let text = input::read_text(&path)?;
        let kept: Identity = serde_json::from_str(&text).map_err(|e| {
            Failure::input(format!("{}: this is no store of a study: {e}", path.display()))
                .hint("name another folder, or remove this one to begin anew")
        })?;
        let own = Self::identity(study);
        if kept.version != own.version {
            return Err(Failure::input(format!(
                "{}: the store is of version {}, this program is {}",
                dir.display(),
                kept.version,
                own.version
            ))
            .hint("name another folder, or remove this one to begin anew"));
        }
        if kept != own {
            let differs = |(key, value): &&(String, String)| {
                kept.study.iter().find(|(k, _)| k == key).is_none_or(|(_, v)| v != value)
            };
            let key = own.study.iter().find(differs).map(|(key, _)| key.as_str());
            let gone = kept.study.iter().find(|(k, _)| own.study.iter().all(|(key, _)| key != k));
            let key = key.or(gone.map(|(key, _)| key.as_str())).unwrap_or("order of keys");
            return Err(Failure::input(format!(
                "{}: the store is of another study: its {key} differs",
                dir.display()
            ))
            .hint(other));
        }
        Ok(Self {
            dir: dir.to_owned(),
            contents: Contents::new(folder),
            index: Index::default(),
            other: None,
            runs: RunsFolder::none(),
            pending: Mutex::new(PendingRecords {
                quick: Vec::new(),
                since: Instant::now(),
                long: Vec::new(),
            }),
            lost: AtomicUsize::new(0),
        })
    }

    /// Whether all answers are in the store.
    ///
    /// # Errors
    /// If some could not be written: whoever looks at the store only has them not.
    pub(super) fn has_kept_all(&self) -> Result<(), Failure> {
        match self.lost.load(Ordering::Relaxed) {
            0 => Ok(()),
            lost => Err(Failure::input(format!(
                "{}: {lost} {} could not be written: open as before",
                self.dir.display(),
                if lost == 1 { "answer" } else { "answers" }
            ))
            .hint("make room, and start the same command again")),
        }
    }

    /// Writes answers as one file; kept runs of them are not needed any more then.
    fn write_pack(&self, records: &[Record]) -> bool {
        let is_written = pack::write(&self.dir, records);
        if is_written {
            for record in records {
                self.runs.forget(&record.id);
            }
        }
        is_written
    }

    fn identity(study: &StudyFile) -> Identity {
        Identity { version: env!("CARGO_PKG_VERSION").to_owned(), study: study.canonical() }
    }

    /// Hands out the answers of cells as they are now, in any order, some more than once. What is damaged is open.
    fn each(&self, study: &StudyFile, take: impl Fn(Record) + Sync) -> Result<(), Failure> {
        if !study.samples()?.iter().any(|cell| self.contents.has_files(cell)) {
            // Then nothing but the study says what its cells are; or files that it names are elsewhere, as where a store was copied.
            let points = study.point_count()?;
            let ids = Mutex::new(HashMap::new());
            let is_another = AtomicBool::new(false);
            self.all(|record| {
                if record.point < points {
                    let mut ids = ids.lock().unwrap_or_else(PoisonError::into_inner);
                    let known = ids.entry((record.point, record.turn));
                    let known = known.or_insert_with(|| record.id.clone());
                    is_another.fetch_or(*known != record.id, Ordering::Relaxed);
                    drop(ids);
                    take(record);
                }
            });
            if is_another.into_inner() {
                let what = format!(
                    "{}: it has answers for more than one content of a file that the study names, and the file is not there",
                    self.dir.display()
                );
                return Err(Failure::input(what)
                    .hint("put the file in its place: answers of that content count"));
            }
            return Ok(());
        }
        // Answers for what a file was before it changed are kept, and are none of these cells.
        let kept = Mutex::new(HashMap::new());
        self.all(|record| {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.insert(record.id.clone(), record);
        });
        let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        let id = |asked: &str, cell: &Prepared| self.contents.id(asked, cell);
        study.current(&id, |id| kept.get(id).cloned())?.into_iter().for_each(take);
        Ok(())
    }

    /// Hands out all that is kept, in any order, some more than once.
    fn all(&self, take: impl Fn(Record) + Sync) {
        // Single cells first: another process may put them together meanwhile, and then they are read with the others.
        let mut paths = Vec::new();
        for folder in fs::read_dir(self.dir.join("cells")).into_iter().flatten().flatten() {
            let files = fs::read_dir(folder.path()).into_iter().flatten().flatten();
            paths.extend(
                files
                    .map(|file| file.path())
                    .filter(|path| path.extension().is_some_and(|e| e == "json")),
            );
        }
        paths.par_iter().filter_map(|path| read(path)).for_each(&take);
        pack::all(&self.dir).par_iter().for_each(|path| {
            for line in pack::lines(path) {
                match serde_json::from_str(&line) {
                    Ok(record) => take(record),
                    Err(e) => out::eprint_line(&format!("warning: {}: {e}", path.display())),
                }
            }
        });
    }

    /// All answered cells of the study, by point and seed.
    pub(super) fn records(&self, study: &StudyFile) -> Result<Vec<Record>, Failure> {
        let all = Mutex::new(Vec::new());
        self.each(study, |record| all.lock().unwrap_or_else(PoisonError::into_inner).push(record))?;
        let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.sort_by(|a, b| (a.point, a.turn, &a.id).cmp(&(b.point, b.turn, &b.id)));
        all.dedup_by_key(|record| (record.point, record.turn));
        Ok(all)
    }

    /// How many cells are answered.
    pub(super) fn counts(&self, study: &StudyFile) -> Result<Counts, Failure> {
        let all = Mutex::new((HashSet::new(), Counts::default()));
        self.each(study, |record| {
            let (seen, counts) = &mut *all.lock().unwrap_or_else(PoisonError::into_inner);
            if seen.insert((record.point, record.turn)) {
                counts.answered += 1;
                counts.failed += usize::from(record.has_failed());
                counts.seconds += record.seconds;
            }
        })?;
        Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner).1)
    }

    /// All rows of the study.
    pub(super) fn table(&self, study: &StudyFile) -> Result<Table, Failure> {
        let table = Mutex::new(Table::new(study.axis_names()));
        self.each(study, |record| {
            table.lock().unwrap_or_else(PoisonError::into_inner).add(&record);
        })?;
        let mut table = table.into_inner().unwrap_or_else(PoisonError::into_inner);
        table.sort();
        Ok(table)
    }

    fn pending(&self) -> MutexGuard<'_, PendingRecords> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file of a cell in a store.
fn path(dir: &Path, id: &str) -> PathBuf {
    dir.join("cells").join(&id[..2]).join(format!("{id}.json"))
}

/// A kept cell; nothing, and a warning, if its file is damaged.
fn read(path: &Path) -> Option<Record> {
    // Another process may have put it together with others a moment ago.
    if !path.exists() {
        return None;
    }
    let sealed: Result<Sealed<String, Record>, Failure> = Sealed::read(path, "cell");
    match sealed {
        Ok(sealed) if sealed.facts == sealed.result.id => Some(sealed.result),
        Ok(_) => None,
        Err(e) => {
            out::eprint_line(&format!("warning: {}; the cell counts as open", e.message));
            None
        }
    }
}

impl Store for FolderStore<'_> {
    fn id(&self, asked: &str, cell: &Prepared) -> String {
        self.contents.id(asked, cell)
    }

    fn find(&self, id: &str) -> Option<Record> {
        if let Some(record) = self.index.find(id) {
            return Some(record);
        }
        if let Some(record) = read(&path(&self.dir, id)) {
            self.pending().long.push(record.clone());
            return Some(record);
        }
        let (dir, index) = self.other.as_ref()?;
        let record = index.find(id).or_else(|| read(&path(dir, id)))?;
        // It has no place in this study yet: whoever asks gives it one, and keeps it.
        Some(Record { point: u64::MAX, ..record })
    }

    fn keep(&self, record: Record) {
        // A kept run goes once its answer is there.
        if record.seconds >= LONG {
            let path = path(&self.dir, &record.id);
            let _it_shows_below = path.parent().map(fs::create_dir_all);
            if Sealed::new(record.id.clone(), record.clone()).keep(&path) {
                self.runs.forget(&record.id);
                self.pending().long.push(record);
            } else {
                self.pending().quick.push(record);
            }
            return;
        }
        let due = {
            let mut pending = self.pending();
            if pending.quick.is_empty() {
                pending.since = Instant::now();
            }
            pending.quick.push(record);
            let is_due = pending.since.elapsed().as_secs_f64() >= OFTEN;
            is_due.then(|| mem::take(&mut pending.quick))
        };
        if let Some(records) = due
            && !self.write_pack(&records)
        {
            // There may be room at the end.
            self.pending().quick.extend(records);
        }
    }

    fn settle(&self) {
        let (quick, long) = {
            let mut pending = self.pending();
            let is_many = pending.long.len() >= MANY;
            let long = if is_many { mem::take(&mut pending.long) } else { Vec::new() };
            (mem::take(&mut pending.quick), long)
        };
        let new = quick.len();
        let mut all = quick;
        all.extend(long.iter().cloned());
        if all.is_empty() {
            return;
        }
        if self.write_pack(&all) {
            for record in &long {
                let _another_process_may_have = fs::remove_file(path(&self.dir, &record.id));
            }
        } else {
            self.lost.fetch_add(new, Ordering::Relaxed);
        }
    }
}

impl KeptRuns for FolderStore<'_> {
    fn follow(&self, id: &str, run: &str) -> Box<dyn Observer + '_> {
        self.runs.follow(id, run)
    }

    fn saved_result(&self, id: &str, run: &str) -> Option<String> {
        self.runs.saved_result(id, run)
    }

    fn lines(&self, id: &str, run: &str) -> Vec<String> {
        self.runs.lines(id, run)
    }

    fn add_line(&self, id: &str, run: &str, line: &str) -> bool {
        self.runs.add_line(id, run, line)
    }

    fn keep_run(&self, id: &str, run: &str, text: &str) {
        self.runs.keep_run(id, run, text);
    }
}
