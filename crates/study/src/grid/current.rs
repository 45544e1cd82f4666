//! The answers of a study that were kept, of its cells as they are now: files that it names may have changed since.

use std::collections::BTreeSet;

use darkfiber_scenario::Error;
use rayon::prelude::*;

use super::cell::{Cell, Prepared};
use super::file::StudyFile;
use super::progress::answered;
use super::question::ScopedQuestion;
use super::row::Record;

/// The digest of everything that answers of a cell depend on; see [`super::Store::id`].
type IdOf<'a> = &'a (dyn Fn(&str, &Prepared) -> String + Sync);

impl StudyFile {
    /// Cells with their scenarios, and their digests; errors name lines of the original.
    ///
    /// # Errors
    /// If one is not a valid scenario.
    pub(super) fn identified(
        &self,
        cells: Vec<Cell>,
        questions: &[ScopedQuestion],
        id: IdOf<'_>,
        original: &str,
    ) -> Result<Vec<(String, Prepared)>, Error> {
        let one = |cell: Cell| {
            let asked = self.asked(&cell, questions);
            let texts: Vec<String> =
                asked.iter().map(|ask| format!("{}={}", ask.label, ask.key())).collect();
            let files = asked.iter().flat_map(|ask| ask.question.files(&ask.params)).collect();
            let prepared = Prepared { files, ..self.prepare_from(cell, original)? };
            Ok((id(&texts.join("\n"), &prepared), prepared))
        };
        cells.into_par_iter().map(one).collect()
    }

    /// A few cells which together have every value of every axis.
    ///
    /// # Errors
    /// If one is not a valid scenario, or there are more cells than there may be.
    pub fn samples(&self) -> Result<Vec<Prepared>, Error> {
        let mut seen = BTreeSet::new();
        let mut has_new = |cell: &Cell| {
            let values = cell.values.iter().copied().enumerate();
            values.fold(false, |any, value| seen.insert(value) | any)
        };
        let cells = self.cells(None)?.into_iter().filter(|cell| has_new(cell)).collect();
        let all = self.identified(cells, &self.questions()?, &|_, _| String::new(), "")?;
        Ok(all.into_iter().map(|(_, cell)| cell).collect())
    }

    /// The answers of its cells, as `find` has them by the digest of a cell; those of other cells, such as of files that have changed,
    /// are none of it.
    ///
    /// # Errors
    /// As [`StudyFile::samples`].
    pub fn current(
        &self,
        id: IdOf<'_>,
        find: impl Fn(&str) -> Option<Record>,
    ) -> Result<Vec<Record>, Error> {
        let questions = self.questions()?;
        let found = |cells: Vec<Cell>| -> Result<Vec<Record>, Error> {
            let all = self.identified(cells, &questions, id, "")?;
            let records = all.into_iter().filter_map(|(id, Prepared { cell, set, .. })| {
                Some(Record { point: cell.point, turn: cell.turn, set, ..find(&id)? })
            });
            Ok(records.collect())
        };
        if !self.is_adaptive() {
            return found(self.cells(None)?);
        }
        // Later cells depend on answers.
        let mut points = self.begin(None)?;
        loop {
            let records = found(points.iter().flat_map(|point| self.next(point)).collect())?;
            if records.is_empty() {
                return Ok(points.into_iter().flat_map(|point| point.records).collect());
            }
            answered(&mut points, records);
        }
    }
}
