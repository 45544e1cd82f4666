//! The questions that can be answered for a cell.

use std::sync::Arc;

use darkfiber_fabric::{Entry, Registry};
use darkfiber_packetsim::{Observer, Processes};
use darkfiber_scenario::history::LoadedHistory;
use darkfiber_scenario::{Error, Files, Loaded, Scenario, Tables};

use super::kept::KeptRuns;
use super::params::Params;
use super::part::QuestionPart;
use super::questions::{
    faults, impact, latency, patterns, relief, replay, routes, runs, shares, sharing,
};
use super::row::{Answer, Details, Value};
use super::wanted;
use crate::Clock;

/// A column of a question: its name and its meaning, with its unit.
pub type ColumnOf = (&'static str, &'static str);

/// A cell, as a question sees it.
pub struct CellContext<'a> {
    /// Scenario of the cell.
    pub scenario: &'a Scenario,
    /// Fabric of the cell.
    pub loaded: &'a Arc<Loaded>,
    /// Its tables; an error if no engine routes the fabric.
    pub tables: Result<Tables, Error>,
    /// Seconds that making or reading these took.
    pub seconds: f64,
    /// Seconds since some fixed moment.
    pub clock: Clock<'a>,
    /// Nodes and times of all jobs, if they are loaded already.
    pub history: Option<Arc<LoadedHistory>>,
    /// Access to files.
    pub files: &'a dyn Files,
    /// The amount of detail that is wanted.
    pub details: Details,
    /// Store of its runs.
    pub store: &'a dyn KeptRuns,
    /// Processes that simulate loads of packets together, if there are several.
    pub processes: Option<&'a Arc<dyn Processes>>,
    /// The digest of the cell.
    pub id: &'a str,
}

impl<'a> CellContext<'a> {
    /// The observer of a run of the cell, which saves it regularly, so that it can be resumed after an interruption; different
    /// runs of a cell have different names.
    pub fn follow(&self, run: &str) -> Box<dyn Observer + 'a> {
        self.store.follow(self.id, run)
    }

    /// The saved result of a run of the cell, if any.
    pub fn saved_result(&self, run: &str) -> Option<String> {
        self.store.saved_result(self.id, run)
    }

    /// The saved lines of a run of the cell.
    pub fn lines(&self, run: &str) -> Vec<String> {
        self.store.lines(self.id, run)
    }

    /// Stores another line of a run of the cell; returns whether the run is to continue.
    pub fn add_line(&self, run: &str, line: &str) -> bool {
        self.store.add_line(self.id, run, line)
    }

    /// Saves the result of a run of the cell, while other runs of it are pending.
    pub fn keep(&self, run: &str, text: &str) {
        self.store.keep_run(self.id, run, text);
    }
}

/// A question about a cell.
pub trait Question: Sync {
    /// The name that users write.
    fn name(&self) -> &'static str;
    /// Description in one line.
    fn summary(&self) -> &'static str;
    /// Names of its parameters, and their meanings.
    fn parameters(&self) -> &'static [ColumnOf] {
        &[]
    }
    /// Its columns; the first is the default of pictures.
    fn columns(&self) -> &'static [ColumnOf];
    /// Refuses invalid parameters, before anything is computed.
    ///
    /// # Errors
    /// If a parameter is invalid.
    fn check(&self, params: &Params) -> Result<(), Error> {
        let _ = params;
        Ok(())
    }
    /// The files named by parameters, on which answers depend as well.
    fn files(&self, params: &Params) -> Vec<String> {
        let _ = params;
        Vec::new()
    }
    /// Computes the answer for a cell.
    ///
    /// # Errors
    /// If there is no answer: the reason, which becomes a row.
    fn answer(&self, context: &CellContext<'_>, params: &Params) -> Result<Vec<Answer>, Error>;
}

impl Entry for &'static dyn Question {
    fn name(&self) -> &str {
        Question::name(*self)
    }
}

/// The registry of questions.
pub static QUESTIONS: Registry<&'static dyn Question> = Registry::new(
    "question",
    &[
        &routes::Routes,
        &patterns::Patterns,
        &runs::Runs,
        &latency::Latency,
        &impact::Impacts,
        &sharing::JobSharing,
        &faults::SingleFaults,
        &replay::Replays,
        &relief::Reliefs,
        &shares::Shares,
    ],
);

/// The type of a question, its name in the study if given, and the rest of its table.
fn named(mut table: toml::Table) -> Result<(String, Option<String>, toml::Table), Error> {
    let mut word = |key: &str| match table.remove(key) {
        None => Ok(None),
        Some(toml::Value::String(word)) => Ok(Some(word)),
        Some(other) => Err(Error::input(format!("{key} = {other}: expected text in quotes"))),
    };
    let (name, label) = (word("ask")?, word("as")?);
    let name = name.ok_or_else(|| {
        Error::input("a question as a table needs its name")
            .hint("for example { ask = \"patterns\", pattern = \"bisect\" }")
    })?;
    Ok((name, label, table))
}

/// A question with its parameters.
#[derive(Clone)]
pub struct ScopedQuestion {
    /// Name in rows: the one given in the study, or the type, and its parameters where a study has it more than once.
    pub label: String,
    /// Type of the question.
    pub question: &'static dyn Question,
    /// Parameters of the question.
    pub params: Params,
    /// Cells to which it applies.
    pub scope: Scope,
}

/// The cells to which a question applies; all by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scope {
    /// Those that have these values of axes: one, or one of a list.
    pub only: toml::Table,
    /// The first seeds of each point.
    pub seeds: Option<u64>,
}

impl Scope {
    /// The scope of a question, and the rest of its table: its parameters.
    fn split(mut table: toml::Table) -> Result<(Self, toml::Table), Error> {
        let only = match table.remove("only") {
            None => toml::Table::new(),
            Some(toml::Value::Table(only)) => only,
            Some(other) => {
                return Err(Error::input(format!("only = {other}: expected axes and values"))
                    .hint("only = { fabric = \"@malbec\" }"));
            }
        };
        let seeds = match table.remove("seeds") {
            None => None,
            Some(given) => match given.as_integer().and_then(|n| u64::try_from(n).ok()) {
                Some(n) if n > 0 => Some(n),
                _ => return Err(Error::input(format!("seeds = {given}: expected 1 or more"))),
            },
        };
        Ok((Self { only, seeds }, table))
    }

    /// Whether it applies to a cell with these values.
    pub(super) fn has(&self, set: &[(String, Value)], seed: u64, turn: u64) -> bool {
        self.seeds.is_none_or(|seeds| turn < seeds)
            && self.only.iter().all(|(key, wanted)| wanted::has(set, seed, key, wanted))
    }
}

impl ScopedQuestion {
    /// Everything that answers depend on, as text.
    pub fn key(&self) -> String {
        format!("{}:{}", self.question.name(), self.params)
    }

    /// The questions of a study.
    ///
    /// # Errors
    /// If there is no such question, or parameter.
    pub(super) fn all(given: &[QuestionPart], has_jobs: bool) -> Result<Vec<Self>, Error> {
        let usual = if has_jobs { "runs" } else { "routes" };
        let usual = [QuestionPart::Name(usual.to_owned())];
        let given = if given.is_empty() { &usual } else { given };
        let mut all = Vec::new();
        for part in given {
            let (name, label, table) = match part {
                QuestionPart::Name(name) => (name.clone(), None, toml::Table::new()),
                QuestionPart::Table(table) => named(table.clone())?,
            };
            let question = *QUESTIONS.get(&name)?;
            let (scope, table) = Scope::split(table)?;
            let params = Params::new(&name, &table, question.parameters())?;
            question.check(&params)?;
            all.push(Self { label: label.unwrap_or(name), question, params, scope });
        }
        let names: Vec<String> = all.iter().map(|ask| ask.label.clone()).collect();
        // Questions that differ only in their cells are one question.
        for ask in all.iter_mut().filter(|ask| !ask.params.is_empty()) {
            if names.iter().filter(|name| **name == ask.label).count() > 1 {
                ask.label = ask.key();
            }
        }
        Ok(all)
    }
}
