//! What can be asked of a cell.

use std::sync::Arc;

use darkfiber_fabric::{Entry, Registry};
use darkfiber_packetsim::Observer;
use darkfiber_scenario::{Error, Files, Loaded, Scenario, Tables};

use super::params::Params;
use super::part::QuestionPart;
use super::questions::{faults, impact, latency, patterns, routes, runs, sharing};
use super::row::Answer;

/// A column of a question: its name and what it means, with its unit.
pub type ColumnOf = (&'static str, &'static str);

/// A cell, as a question sees it.
pub struct Asked<'a> {
    /// Its scenario.
    pub scenario: &'a Scenario,
    /// Its fabric.
    pub loaded: &'a Arc<Loaded>,
    /// Its tables; an error if no engine routes the fabric.
    pub tables: Result<Tables, Error>,
    /// Where files are.
    pub files: &'a dyn Files,
    /// Who follows its runs; see [`Asked::follow`].
    pub follower: &'a (dyn Fn(&str) -> Box<dyn Observer + 'a> + Sync),
}

impl<'a> Asked<'a> {
    /// Who follows a run of the cell, and keeps it now and then, so that it goes on after an interruption; runs of a cell that are
    /// not the same have different names.
    pub fn follow(&self, run: &str) -> Box<dyn Observer + 'a> {
        (self.follower)(run)
    }
}

/// A question.
pub trait Question: Sync {
    /// The name that users write.
    fn name(&self) -> &'static str;
    /// What it finds out, in a line.
    fn summary(&self) -> &'static str;
    /// Its parameters, and what they mean.
    fn parameters(&self) -> &'static [ColumnOf] {
        &[]
    }
    /// Its columns; the first is what pictures show if nobody says which.
    fn columns(&self) -> &'static [ColumnOf];
    /// Refuses parameters that cannot be, before anything is computed.
    ///
    /// # Errors
    /// If one is not what it must be.
    fn check(&self, params: &Params) -> Result<(), Error> {
        let _ = params;
        Ok(())
    }
    /// Finds out.
    ///
    /// # Errors
    /// If there is no answer: the reason, which becomes a row.
    fn answer(&self, asked: &Asked<'_>, params: &Params) -> Result<Vec<Answer>, Error>;
}

impl Entry for &'static dyn Question {
    fn name(&self) -> &str {
        Question::name(*self)
    }
}

/// All questions.
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
    ],
);

/// A question with its parameters.
#[derive(Clone)]
pub struct Ask {
    /// What it is called in rows: its name, and its parameters where a study asks it more than once.
    pub label: String,
    /// The question.
    pub question: &'static dyn Question,
    /// Its parameters.
    pub params: Params,
}

impl Ask {
    /// All that answers depend on, in words.
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
            let (name, table) = match part {
                QuestionPart::Name(name) => (name.clone(), toml::Table::new()),
                QuestionPart::Table(table) => {
                    let name = table.get("ask").and_then(toml::Value::as_str).ok_or_else(|| {
                        Error::input("a question as a table needs its name")
                            .hint("for example { ask = \"patterns\", pattern = \"bisect\" }")
                    })?;
                    (name.to_owned(), table.clone())
                }
            };
            let question = *QUESTIONS.get(&name)?;
            let params = Params::new(&name, &table, question.parameters())?;
            question.check(&params)?;
            all.push(Self { label: name, question, params });
        }
        let names: Vec<String> = all.iter().map(|ask| ask.label.clone()).collect();
        for ask in &mut all {
            if names.iter().filter(|name| **name == ask.label).count() > 1 {
                ask.label = ask.key();
            }
        }
        Ok(all)
    }
}
