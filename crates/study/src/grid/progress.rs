//! Selection of the cells of a point that are run next, round by round.

use super::cell::Cell;
use super::file::StudyFile;
use super::find::PointSearch;
use super::row::{Answer, Record};

/// A point of the grid, and its answers so far, in order.
pub(super) struct GridPoint {
    pub(super) number: u64,
    pub(super) values: Vec<usize>,
    pub(super) records: Vec<Record>,
}

/// Assigns answers to points. Those after a missing turn were requested by answers that no longer exist.
pub(super) fn answered(points: &mut [GridPoint], mut records: Vec<Record>) {
    records.sort_by_key(|record| (record.point, record.turn));
    for record in records {
        let Ok(at) = points.binary_search_by_key(&record.point, |point| point.number) else {
            continue;
        };
        if record.turn == points[at].records.len() as u64 {
            points[at].records.push(record);
        }
    }
}

impl StudyFile {
    /// Whether later cells depend on earlier answers.
    pub fn is_adaptive(&self) -> bool {
        self.part.until.is_some() || self.part.find.is_some()
    }

    /// Seeds of a point, or of a trial, before any are added.
    pub(super) fn seeds(&self) -> u64 {
        self.part.seeds.unwrap_or(1)
    }

    /// The next cells of a point; none once it is done. They depend only on its answers.
    pub(super) fn next(&self, point: &GridPoint) -> Vec<Cell> {
        let have = point.records.len() as u64;
        let cell = |turn: u64, seed: u64, found: Option<f64>| Cell {
            point: point.number,
            turn,
            values: point.values.clone(),
            seed: self.counts_seeds().then(|| self.seed.wrapping_add(seed)),
            found: found.and_then(|x| self.part.find.as_ref().map(|find| find.value(x))),
        };
        if let Some(find) = &self.part.find {
            let seeds = self.seeds();
            return match find.search(&point.records, seeds as usize) {
                PointSearch::Try(x) => (0..seeds).map(|s| cell(have + s, s, Some(x))).collect(),
                PointSearch::Found(..) | PointSearch::Broken => Vec::new(),
            };
        }
        let all = match &self.part.until {
            Some(until) => until.seeds(&point.records, self.part.seeds),
            None => self.seeds(),
        };
        (have..all).map(|turn| cell(turn, turn, None)).collect()
    }

    /// The combined results of answers, where a study runs until a value is known: rows of questions `until` and `find`, by point.
    pub fn conclusions(&self, records: &[Record]) -> Vec<Record> {
        if !self.is_adaptive() {
            return Vec::new();
        }
        let of_point = |records: &[Record]| -> Vec<Answer> {
            match (&self.part.find, &self.part.until) {
                (Some(find), _) => vec![find.conclusion(records, self.seeds() as usize)],
                (None, Some(until)) => until.conclusion(records),
                (None, None) => Vec::new(),
            }
        };
        records
            .chunk_by(|a, b| a.point == b.point)
            .map(|records| {
                let mut record = Record {
                    id: String::new(),
                    turn: u64::MAX,
                    answers: of_point(records),
                    seconds: 0.0,
                    ..records[0].clone()
                };
                if let Some(find) = &self.part.find {
                    record.set.retain(|(name, _)| *name != find.axis);
                }
                record
            })
            .collect()
    }

    /// Names of the columns of values: the axes, and the key that is searched.
    pub fn axis_names(&self) -> Vec<String> {
        let find = self.part.find.iter().map(|find| find.axis.clone());
        self.axes.iter().map(super::Axis::name).chain(find).collect()
    }

    /// Whether seeds are counted, so that cells have one that is not the scenario's.
    fn counts_seeds(&self) -> bool {
        self.part.seeds.is_some() || self.part.until.is_some()
    }
}
