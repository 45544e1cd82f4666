//! Experiments that are studies: files of the folder `papers`, whose `[[expect]]` tables hold the printed numbers.

use darkfiber_scenario::{Error, Folder};

use super::context::Context;
use crate::grid::{Hooks, NullStore, QuestionPart, Record, StudyFile, run};
use crate::judged::Row;

/// A published experiment as a study.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Name of the file.
    pub name: &'static str,
    /// Content of the file.
    pub text: &'static str,
}

/// A file of the folder `papers`, by its name without the ending.
macro_rules! paper {
    ($file:literal) => {
        crate::reproduce::paper::Paper {
            name: concat!($file, ".toml"),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/papers/", $file, ".toml")),
        }
    };
}
pub(super) use paper;

impl Paper {
    /// The study, with the first seed of this context.
    ///
    /// # Errors
    /// If the file is not a valid study.
    pub fn study(&self, seed: u64) -> Result<StudyFile, Error> {
        StudyFile::parse(self.text, self.name, &[], Some(seed), None)
    }

    /// Runs the study: the answers of all cells.
    ///
    /// # Panics
    /// If the file is not a study, which a test rules out.
    pub(super) fn records(&self, context: &Context<'_>) -> (StudyFile, Vec<Record>) {
        self.records_with(context, None)
    }

    /// The same with a parameter of its questions.
    ///
    /// # Panics
    /// If the file is no study, which a test makes sure of.
    pub(super) fn records_with(
        &self,
        context: &Context<'_>,
        parameter: Option<(&str, &str)>,
    ) -> (StudyFile, Vec<Record>) {
        let mut study = self.study(context.seed).expect("files of papers are studies");
        for question in &mut study.part.questions {
            if let (QuestionPart::Table(table), Some((key, value))) = (question, parameter) {
                table.insert(key.to_owned(), toml::Value::String(value.to_owned()));
            }
        }
        let cells = study.cells(None).map_or(0, |cells| cells.len());
        let done = std::sync::atomic::AtomicUsize::new(0);
        let step = || {
            let n = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            (context.at)(&format!("{n} of {cells} cells"));
        };
        let files = Folder::default();
        let hooks = Hooks { clock: context.clock, done: &step, ..Hooks::of(&NullStore, &files) };
        let answered = run(&study, None, &hooks).expect("cells of papers are scenarios");
        (study, answered.records)
    }

    /// The printed numbers next to ours.
    pub(super) fn rows(&self, context: &Context<'_>) -> Vec<Row> {
        let (study, records) = self.records(context);
        study.judged(&records)
    }
}
