//! Answering all cells of a study.

use std::collections::BTreeMap;
use std::sync::Arc;

use darkfiber_scenario::{Error, Files, Tables};
use rayon::prelude::*;

use super::cell::{Cell, Prepared};
use super::file::StudyFile;
use super::group::{fabric_key, tables_key};
use super::question::{Ask, Asked};
use super::row::{Answer, Record};
use crate::Clock;

/// What was answered before, and where what is answered now is kept.
pub trait Store: Sync {
    /// The digest of all that answers depend on: `key`, and the files that it names.
    fn id(&self, key: &str, cell: &Prepared) -> String;
    /// What was kept of a cell.
    fn find(&self, id: &str) -> Option<Record>;
    /// Keeps what was answered.
    fn keep(&self, record: Record);
}

/// A part of a study: cells `part`, `part + of`, ..., where `part` counts from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 0.
    pub part: u64,
    /// Of how many.
    pub of: u64,
}

/// What a run is given.
pub struct Hooks<'a> {
    /// Where answers are kept.
    pub store: &'a dyn Store,
    /// Where files are.
    pub files: &'a (dyn Files + Sync),
    /// Seconds since some fixed moment.
    pub clock: Clock<'a>,
    /// Called for each cell that is answered, now or before.
    pub done: &'a (dyn Fn() + Sync),
    /// Whether to begin no other cell.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// Cells of the same tables.
struct OfTables(Vec<(String, Prepared)>);

impl StudyFile {
    /// The cells of a part of the study.
    ///
    /// # Errors
    /// If there are more than there may be.
    pub fn cells(&self, shard: Option<Shard>) -> Result<Vec<Cell>, Error> {
        let seeds = self.part.seeds;
        let mut cells = Vec::new();
        let mut number = 0;
        for (point, values) in self.points()? {
            for turn in 0..seeds.unwrap_or(1) {
                let is_ours = shard.is_none_or(|s| number % s.of == s.part);
                number += 1;
                if is_ours {
                    let seed = seeds.map(|_| self.seed.wrapping_add(turn));
                    cells.push(Cell { point, turn, values: values.clone(), seed });
                }
            }
        }
        Ok(cells)
    }
}

/// Answers all questions of all cells that the store does not have, side by side: cells of the same fabric share it, and those of the
/// same tables share them. What is kept of a cell depends on nothing but the cell.
///
/// # Errors
/// If a cell is no scenario, before anything is computed. What a cell cannot answer is an answer that says why.
pub fn run(study: &StudyFile, shard: Option<Shard>, hooks: &Hooks<'_>) -> Result<(), Error> {
    let asks = study.asks()?;
    let questions: Vec<String> =
        asks.iter().map(|ask| format!("{}={}", ask.label, ask.key())).collect();
    let questions = questions.join("\n");
    let prepared: Vec<(String, Prepared)> = study
        .cells(shard)?
        .into_par_iter()
        .map(|cell| {
            let prepared = study.prepare(cell)?;
            let key = format!("{questions}\n{}", prepared.key);
            Ok((hooks.store.id(&key, &prepared), prepared))
        })
        .collect::<Result<_, Error>>()?;
    // By fabric, and by tables on it.
    let mut groups: BTreeMap<String, BTreeMap<String, OfTables>> = BTreeMap::new();
    for (id, cell) in prepared {
        if let Some(mut record) = hooks.store.find(&id) {
            // It may have been kept by a study with other axes.
            if (record.point, record.turn, &record.set)
                != (cell.cell.point, cell.cell.turn, &cell.set)
            {
                (record.point, record.turn) = (cell.cell.point, cell.cell.turn);
                record.set.clone_from(&cell.set);
                hooks.store.keep(record);
            }
            (hooks.done)();
            continue;
        }
        let scenario = &cell.file.scenario;
        let of_fabric = groups.entry(fabric_key(scenario)).or_default();
        let of_tables = of_fabric.entry(tables_key(scenario));
        of_tables.or_insert_with(|| OfTables(Vec::new())).0.push((id, cell));
    }
    let groups: Vec<Vec<OfTables>> =
        groups.into_values().map(|inner| inner.into_values().collect()).collect();
    groups.into_par_iter().with_max_len(1).for_each(|group| of_fabric(&group, &asks, hooks));
    Ok(())
}

/// Cells of one fabric.
fn of_fabric(group: &[OfTables], asks: &[Ask], hooks: &Hooks<'_>) {
    if (hooks.stop)() {
        return;
    }
    let Some((_, first)) = group.first().and_then(|tables| tables.0.first()) else { return };
    let count: usize = group.iter().map(|tables| tables.0.len()).sum();
    let begin = (hooks.clock)();
    let loaded = first.file.scenario.load(hooks.files, &mut ());
    let share = ((hooks.clock)() - begin) / count as f64;
    match loaded {
        Err(e) => {
            let e = first.file.located(e.inside("fabric"));
            for (id, cell) in group.iter().flat_map(|tables| &tables.0) {
                finish(id, cell, asks.iter().map(|ask| failed(ask, &e)).collect(), share, hooks);
            }
        }
        Ok(loaded) => {
            let loaded = Arc::new(loaded);
            group.par_iter().with_max_len(1).for_each(|tables| {
                of_tables(tables, &loaded, asks, share, hooks);
            });
        }
    }
}

/// Cells of one set of tables.
fn of_tables(
    group: &OfTables,
    loaded: &Arc<darkfiber_scenario::Loaded>,
    asks: &[Ask],
    share: f64,
    hooks: &Hooks<'_>,
) {
    if (hooks.stop)() {
        return;
    }
    let Some((_, first)) = group.0.first() else { return };
    let scenario = &first.file.scenario;
    let begin = (hooks.clock)();
    let made = scenario.open_on(Arc::clone(loaded), hooks.files, &mut ());
    let tables: Result<Tables, Error> = made
        .and_then(|case| case.named_tables(hooks.files, &mut ()))
        .map_err(|e| first.file.located(e));
    let share = share + ((hooks.clock)() - begin) / group.0.len() as f64;
    group.0.par_iter().with_max_len(1).for_each(|(id, cell)| {
        if (hooks.stop)() {
            return;
        }
        let begin = (hooks.clock)();
        let asked = Asked {
            scenario: &cell.file.scenario,
            loaded,
            tables: tables.clone(),
            files: hooks.files,
        };
        let mut answers = Vec::new();
        for ask in asks {
            match ask.question.answer(&asked, &ask.params) {
                Ok(found) => answers
                    .extend(found.into_iter().map(|a| Answer { question: ask.label.clone(), ..a })),
                Err(e) => answers.push(failed(ask, &e)),
            }
        }
        finish(id, cell, answers, share + (hooks.clock)() - begin, hooks);
    });
}

fn failed(ask: &Ask, error: &Error) -> Answer {
    let error = Some(error.to_string());
    Answer { question: ask.label.clone(), error, ..Answer::default() }
}

fn finish(id: &str, cell: &Prepared, answers: Vec<Answer>, seconds: f64, hooks: &Hooks<'_>) {
    hooks.store.keep(Record {
        id: id.to_owned(),
        point: cell.cell.point,
        turn: cell.cell.turn,
        set: cell.set.clone(),
        seed: cell.seed(),
        answers,
        seconds,
    });
    (hooks.done)();
}
