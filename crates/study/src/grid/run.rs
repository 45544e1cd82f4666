//! Answering all cells of a study.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use darkfiber_packetsim::Processes;
use darkfiber_scenario::history::LoadedHistory;
use darkfiber_scenario::{Error, Files, Loaded, Scenario, Tables};
use rayon::prelude::*;

use super::cell::{Cell, Prepared};
use super::file::StudyFile;
use super::group::{faults_key, tables_key, whole_key};
use super::kept::KeptRuns;
use super::progress::{GridPoint, answered};
use super::question::{CellContext, ScopedQuestion};
use super::row::{Answer, Details, Record};
use crate::Clock;

/// Store of previous answers, which also keeps new ones.
pub trait Store: KeptRuns {
    /// The digest of everything that answers depend on: the questions as text, and the cell with the files that it
    /// names.
    fn id(&self, asked: &str, cell: &Prepared) -> String;
    /// The stored answers of a cell.
    fn find(&self, id: &str) -> Option<Record>;
    /// Stores the answers of a cell.
    fn keep(&self, record: Record);
    /// Called when nothing is running for a moment.
    fn settle(&self) {}
}

/// An empty store that keeps nothing.
#[derive(Clone, Copy, Debug)]
pub struct NullStore;

impl KeptRuns for NullStore {}

impl Store for NullStore {
    fn id(&self, _: &str, cell: &Prepared) -> String {
        format!("{} {}", cell.cell.point, cell.cell.turn)
    }

    fn find(&self, _: &str) -> Option<Record> {
        None
    }

    fn keep(&self, _: Record) {}
}

/// A part of a study: cells `part`, `part + of`, ..., where `part` counts from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 0.
    pub part: u64,
    /// Total number of parts.
    pub of: u64,
}

/// The environment of a run.
pub struct Hooks<'a> {
    /// Store of the answers.
    pub store: &'a dyn Store,
    /// Access to files.
    pub files: &'a (dyn Files + Sync),
    /// Seconds since some fixed moment.
    pub clock: Clock<'a>,
    /// Called for each cell that is answered, now or before.
    pub done: &'a (dyn Fn() + Sync),
    /// Whether to begin no other cell.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Whether the answers are returned.
    pub wanted: bool,
    /// The amount of detail that is returned with them.
    pub details: Details,
    /// Fabrics that are there already.
    pub ready: &'a [Ready],
    /// Whether cells come one after the other, since each of them has work for all threads.
    pub alone: bool,
    /// Other processes that answer the same study at the same time, and simulate loads of packets together with this one. Then
    /// cells come one after the other.
    pub processes: Option<&'a Arc<dyn Processes>>,
}

/// A fabric that is there already, and tables where all cells have the same.
#[derive(Clone)]
pub struct Ready {
    /// Name in scenarios.
    pub name: String,
    /// The fabric: all that scenarios say fails in it is gone already, but for the share `fail-percent` if `draws` says so.
    pub loaded: Arc<Loaded>,
    /// Whether the share of cables that fail is still to be drawn, for each cell separately.
    pub draws: bool,
    /// The tables; none if each cell has its own.
    pub tables: Option<Tables>,
    /// Nodes and times of all jobs, for questions about that.
    pub history: Option<Arc<LoadedHistory>>,
}

impl Ready {
    /// A fabric of which cells say all else.
    pub fn of(name: &str, loaded: &Arc<Loaded>) -> Self {
        let (name, loaded) = (name.to_owned(), Arc::clone(loaded));
        Self { name, loaded, draws: false, tables: None, history: None }
    }
}

impl<'a> Hooks<'a> {
    /// Returns answers, with files in these places, stored there; no progress is reported, and all cells are started.
    pub fn of(store: &'a dyn Store, files: &'a (dyn Files + Sync)) -> Self {
        Self {
            store,
            files,
            clock: &|| 0.0,
            done: &|| (),
            stop: &|| false,
            wanted: true,
            details: Details::Rows,
            ready: &[],
            alone: false,
            processes: None,
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Answered {
    /// The answers of all its cells, by point and seed, if requested.
    pub records: Vec<Record>,
    /// Cells that were not started, since the run was stopped.
    pub left: usize,
}

/// Cells of the same tables.
struct OfTables(Vec<(String, Prepared)>);

/// Cells of the same fabric, with the same faults.
struct OfFabric(Vec<OfTables>);

impl OfFabric {
    fn cells(&self) -> impl Iterator<Item = &(String, Prepared)> {
        self.0.iter().flat_map(|tables| &tables.0)
    }
}

/// Cells by their tables, by faults, by fabric, as text.
type Groups = BTreeMap<String, BTreeMap<String, BTreeMap<String, OfTables>>>;

/// Maximum number of cells that are prepared and answered together: their common parts are made once.
const TOGETHER: usize = 8192;

impl StudyFile {
    /// The points of a part of the study, without answers. If cells depend on answers, parts have whole points.
    pub(super) fn begin(&self, shard: Option<Shard>) -> Result<Vec<GridPoint>, Error> {
        let is_ours = |n: u64| shard.is_none_or(|s| !self.is_adaptive() || n % s.of == s.part);
        let points = (0..).zip(self.points()?).filter(|(n, _)| is_ours(*n));
        let begin = |(_, (number, values))| GridPoint { number, values, records: Vec::new() };
        Ok(points.map(begin).collect())
    }

    /// The cells of a part of the study; only the first ones, where others depend on answers.
    ///
    /// # Errors
    /// If there are more than there may be.
    pub fn cells(&self, shard: Option<Shard>) -> Result<Vec<Cell>, Error> {
        let questions = self.questions()?;
        let all = self.begin(shard)?.into_iter().flat_map(|point| self.next(&point));
        // Points without a question are not cells.
        let all = all.filter(|cell| !self.asked(cell, &questions).is_empty());
        let is_ours = |n: u64| shard.is_none_or(|s| self.is_adaptive() || n % s.of == s.part);
        Ok((0..).zip(all).filter(|(n, _)| is_ours(*n)).map(|(_, cell)| cell).collect())
    }

    /// Number of open cells of a part of the study, given these answers, by rising point and turn; those that later answers
    /// will add are not included.
    ///
    /// # Errors
    /// If there are more than there may be.
    pub fn open_cells(&self, shard: Option<Shard>, records: &[Record]) -> Result<usize, Error> {
        if !self.is_adaptive() {
            return Ok(self.cells(shard)?.len().saturating_sub(records.len()));
        }
        let mut points = self.begin(shard)?;
        answered(&mut points, records.to_vec());
        Ok(points.iter().map(|point| self.next(point).len()).sum())
    }
}

/// Answers all questions of all cells that the store does not have, in parallel: cells of the same fabric share it, and those of the
/// same tables share them. The stored answers of a cell depend only on the cell. Where a study runs until a value is known, cells are
/// added as long as answers require it.
///
/// # Errors
/// If a cell is not a valid scenario, before any of its round is computed. A question that fails gives an answer with
/// the reason.
pub fn run(study: &StudyFile, shard: Option<Shard>, hooks: &Hooks<'_>) -> Result<Answered, Error> {
    if !study.is_adaptive() {
        return answer(study, study.cells(shard)?, hooks);
    }
    let mut points = study.begin(shard)?;
    loop {
        let cells: Vec<Cell> = points.iter().flat_map(|point| study.next(point)).collect();
        if cells.is_empty() {
            let records = points.into_iter().flat_map(|point| point.records).collect();
            return Ok(Answered { records, left: 0 });
        }
        let round = answer(study, cells, hooks)?;
        // A round that was stopped is not complete: the next cells are not known.
        if round.left > 0 {
            return Ok(round);
        }
        answered(&mut points, round.records);
    }
}

/// Answers these cells of a study, and no others that their answers may add.
///
/// # Errors
/// If one is not a valid scenario.
pub fn answer(study: &StudyFile, cells: Vec<Cell>, hooks: &Hooks<'_>) -> Result<Answered, Error> {
    let asked = cells.len();
    let questions = study.questions()?;
    let keeps = hooks.wanted || study.is_adaptive();
    let done = AtomicUsize::new(0);
    let round = RoundState { study, questions, hooks, keeps, records: Mutex::default(), done };
    let mut cells = cells.into_iter().peekable();
    while cells.peek().is_some() && !(hooks.stop)() {
        let some: Vec<Cell> = cells.by_ref().take(TOGETHER).collect();
        let id = |asked: &str, cell: &Prepared| hooks.store.id(asked, cell);
        round.answer(study.identified(some, &round.questions, &id, &study.text)?);
        hooks.store.settle();
    }
    let left = asked - round.done.into_inner();
    let mut records = round.records.into_inner().unwrap_or_else(PoisonError::into_inner);
    records.sort_by_key(|record| (record.point, record.turn));
    Ok(Answered { records, left })
}

/// The common state of the cells of a round.
struct RoundState<'a> {
    study: &'a StudyFile,
    questions: Vec<ScopedQuestion>,
    hooks: &'a Hooks<'a>,
    /// Whether answers are returned.
    keeps: bool,
    records: Mutex<Vec<Record>>,
    /// Number of cells that have answers.
    done: AtomicUsize,
}

impl RoundState<'_> {
    /// Answers cells, those of the same fabric and the same tables together.
    fn answer(&self, prepared: Vec<(String, Prepared)>) {
        let hooks = self.hooks;
        let mut groups = Groups::new();
        for (id, cell) in prepared {
            if let Some(mut record) = hooks.store.find(&id) {
                // It may have been kept by a study with other axes.
                if (record.point, record.turn, &record.set)
                    != (cell.cell.point, cell.cell.turn, &cell.set)
                {
                    (record.point, record.turn) = (cell.cell.point, cell.cell.turn);
                    record.set.clone_from(&cell.set);
                    hooks.store.keep(record.clone());
                }
                self.have(record);
                continue;
            }
            let scenario = &cell.file.scenario;
            let of_whole = groups.entry(whole_key(scenario)).or_default();
            let of_fabric = of_whole.entry(faults_key(scenario)).or_default();
            let of_tables = of_fabric.entry(tables_key(scenario));
            of_tables.or_insert_with(|| OfTables(Vec::new())).0.push((id, cell));
        }
        let of_whole = |faults: BTreeMap<String, BTreeMap<String, OfTables>>| -> Vec<OfFabric> {
            faults.into_values().map(|tables| OfFabric(tables.into_values().collect())).collect()
        };
        let groups: Vec<Vec<OfFabric>> = groups.into_values().map(of_whole).collect();
        self.each(&groups, |group| self.of_whole(group));
    }

    fn each<T: Sync>(&self, all: &[T], f: impl Fn(&T) + Sync + Send) {
        if self.hooks.alone || self.hooks.processes.is_some() {
            all.iter().for_each(f);
        } else {
            all.par_iter().with_max_len(1).for_each(f);
        }
    }

    fn have(&self, record: Record) {
        if self.keeps {
            self.records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
        }
        self.done.fetch_add(1, Ordering::Relaxed);
        (self.hooks.done)();
    }

    /// The fabric of a scenario, if it is there already.
    fn ready(&self, scenario: &Scenario) -> Option<&Ready> {
        self.hooks.ready.iter().find(|ready| ready.name == scenario.fabric)
    }

    /// Answers cells of one fabric, with any faults.
    fn of_whole(&self, group: &[OfFabric]) {
        let hooks = self.hooks;
        if (hooks.stop)() {
            return;
        }
        let Some((_, first)) = group.iter().flat_map(OfFabric::cells).next() else { return };
        let scenario = &first.file.scenario;
        let count: usize = group.iter().map(|fabric| fabric.cells().count()).sum();
        let begin = (hooks.clock)();
        let whole = match self.ready(scenario) {
            Some(ready) => Ok(Arc::clone(&ready.loaded)),
            None => scenario.load_whole(hooks.files, &mut ()).map(Arc::new),
        };
        let share = ((hooks.clock)() - begin) / count as f64;
        self.each(group, |fabric| match &whole {
            Ok(whole) => self.of_fabric(fabric, whole, share),
            Err(e) => self.all_failed(fabric, e, share),
        });
    }

    /// Cells that have no fabric.
    fn all_failed(&self, group: &OfFabric, error: &Error, share: f64) {
        let Some((_, first)) = group.cells().next() else { return };
        let e = first.file.located(error.clone().inside("fabric"));
        for (id, cell) in group.cells() {
            let asked = self.study.asked(&cell.cell, &self.questions);
            let answer =
                |ask| failed(ask, &e).detailed(self.hooks.details.are_wanted(), || e.clone());
            let answers = asked.into_iter().map(answer).collect();
            self.finish(id, cell, answers, share);
        }
    }

    /// Cells of one fabric, in which the same has failed.
    fn of_fabric(&self, group: &OfFabric, whole: &Arc<Loaded>, share: f64) {
        let hooks = self.hooks;
        if (hooks.stop)() {
            return;
        }
        let Some((_, first)) = group.cells().next() else { return };
        let begin = (hooks.clock)();
        let scenario = &first.file.scenario;
        let loaded = match self.ready(scenario) {
            None => scenario.fail(whole, hooks.files, &mut ()),
            Some(ready) if !ready.draws => Ok(Arc::clone(whole)),
            Some(_) => {
                let drawn = Scenario { fail: Vec::new(), fail_links: None, ..scenario.clone() };
                drawn.fail(whole, hooks.files, &mut ())
            }
        };
        let share = share + ((hooks.clock)() - begin) / group.cells().count() as f64;
        match loaded {
            Err(e) => self.all_failed(group, &e, share),
            Ok(loaded) => self.each(&group.0, |tables| self.of_tables(tables, &loaded, share)),
        }
    }

    /// Cells of one set of tables.
    fn of_tables(&self, group: &OfTables, loaded: &Arc<Loaded>, share: f64) {
        let hooks = self.hooks;
        if (hooks.stop)() {
            return;
        }
        let Some((_, first)) = group.0.first() else { return };
        let scenario = &first.file.scenario;
        let begin = (hooks.clock)();
        let made = scenario.open_on(Arc::clone(loaded), hooks.files, &mut ());
        let opened = (hooks.clock)();
        let ready = self.ready(scenario).and_then(|ready| ready.tables.clone());
        let tables: Result<Tables, Error> = match ready {
            Some(tables) => Ok(tables),
            None => made
                .and_then(|case| case.named_tables(hooks.files, &mut ()))
                .map_err(|e| first.file.located(e)),
        };
        let end = (hooks.clock)();
        let share = share + (end - begin) / group.0.len() as f64;
        self.each(&group.0, |(id, cell)| {
            if (hooks.stop)() {
                return;
            }
            let begin = (hooks.clock)();
            let asked = CellContext {
                scenario: &cell.file.scenario,
                loaded,
                tables: tables.clone(),
                seconds: end - opened,
                clock: hooks.clock,
                history: self.ready(&cell.file.scenario).and_then(|r| r.history.clone()),
                files: hooks.files,
                details: hooks.details,
                store: hooks.store,
                processes: hooks.processes,
                id,
            };
            let mut answers = Vec::new();
            for ask in self.study.asked(&cell.cell, &self.questions) {
                match ask.question.answer(&asked, &ask.params) {
                    Ok(found) => answers.extend(
                        found.into_iter().map(|a| Answer { question: ask.label.clone(), ..a }),
                    ),
                    Err(e) => {
                        answers.push(failed(ask, &e).detailed(hooks.details.are_wanted(), || e));
                    }
                }
            }
            self.finish(id, cell, answers, share + (hooks.clock)() - begin);
        });
    }

    fn finish(&self, id: &str, cell: &Prepared, answers: Vec<Answer>, seconds: f64) {
        let record = Record {
            id: id.to_owned(),
            point: cell.cell.point,
            turn: cell.cell.turn,
            set: cell.set.clone(),
            seed: cell.seed(),
            answers,
            seconds,
        };
        self.hooks.store.keep(record.clone());
        self.have(record);
    }
}

fn failed(ask: &ScopedQuestion, error: &Error) -> Answer {
    let error = Some(error.to_string());
    Answer { question: ask.label.clone(), error, ..Answer::default() }
}
