//! Cells: a value for each axis, and a seed.

use darkfiber_scenario::{Error, ScenarioFile};

use super::axis::{self, Axis};
use super::file::StudyFile;
use super::question::ScopedQuestion;
use super::row::Value;
use super::wanted;

/// Maximum number of cells of a study, unless it sets another limit.
const USUAL_MOST: u64 = 1_000_000;

/// A cell of a study.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The point of the grid, from 0, in the order of the axes.
    pub point: u64,
    /// The place among the cells of a point.
    pub turn: u64,
    /// By axis, the number of its value.
    pub(super) values: Vec<usize>,
    /// The seed, if the study counts seeds; else the scenario has it.
    pub(super) seed: Option<u64>,
    /// The value of the key that is looked for, if one is.
    pub(super) found: Option<toml_edit::Value>,
}

/// A cell with its scenario.
pub struct Prepared {
    /// Coordinates of the cell.
    pub cell: Cell,
    /// Scenario of the cell, whose errors name lines of the study.
    pub file: ScenarioFile,
    /// The values of the axes, as rows have them.
    pub set: Vec<(String, Value)>,
    /// Everything that answers depend on except the files that it names.
    pub key: String,
    /// Files that its questions name.
    pub files: Vec<String>,
}

impl StudyFile {
    /// Axes that go together, as their numbers: all but zipped ones are alone.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let number = |key: &String| self.axes.iter().position(|axis| &axis.name() == key);
        for (i, axis) in self.axes.iter().enumerate() {
            if groups.iter().flatten().any(|&j| j == i) {
                continue;
            }
            let zip = self.part.zip.iter().find(|zip| zip.contains(&axis.name()));
            groups.push(zip.map_or_else(|| vec![i], |zip| zip.iter().filter_map(number).collect()));
        }
        groups
    }

    /// Number of points of the grid, those that are left out included.
    ///
    /// # Errors
    /// If there are more cells than there may be.
    pub fn point_count(&self) -> Result<u64, Error> {
        let sizes = self.groups().into_iter().map(|group| self.axes[group[0]].values.len() as u128);
        let points = sizes.fold(1u128, u128::saturating_mul);
        let seeds = match &self.part.until {
            Some(until) => until.most(),
            None => self.seeds(),
        };
        let seeds = u128::from(seeds);
        let most = self.part.max_cells.unwrap_or(USUAL_MOST);
        let cells = points.saturating_mul(seeds);
        if cells > u128::from(most) {
            let each: Vec<String> =
                self.axes.iter().map(|a| format!("{} ({})", a.name(), a.values.len())).collect();
            return Err(Error::input(format!(
                "{cells} cells are more than {most}: {}, seeds ({seeds})",
                each.join(" x ")
            ))
            .hint(format!("--max-cells {cells} has them all; zip and exclude make them fewer")));
        }
        Ok(points as u64)
    }

    /// The values of all points, by their numbers, without those that are left out.
    ///
    /// # Errors
    /// If there are more cells than there may be.
    pub fn points(&self) -> Result<Vec<(u64, Vec<usize>)>, Error> {
        let count = self.point_count()?;
        let groups = self.groups();
        let mut points = Vec::new();
        for point in 0..count {
            // The last axis is the fastest.
            let mut left = point as usize;
            let mut values = vec![0; self.axes.len()];
            for group in groups.iter().rev() {
                let n = self.axes[group[0]].values.len();
                for &axis in group {
                    values[axis] = left % n;
                }
                left /= n;
            }
            if !self.is_excluded(&values) {
                points.push((point, values));
            }
        }
        Ok(points)
    }

    fn is_excluded(&self, values: &[usize]) -> bool {
        let has = |key: &String, wanted: &toml::Value| {
            let at = self.axes.iter().position(|axis| &axis.name() == key);
            let value = at.map(|i| axis::shown(&self.axes[i].values[values[i]]));
            value.is_some_and(|value| wanted::is(&value, wanted))
        };
        let matches = |rule: &toml::Table| rule.iter().all(|(key, wanted)| has(key, wanted));
        self.part.exclude.iter().any(|rule| !rule.is_empty() && matches(rule))
    }

    /// The questions that apply to a cell, each once: those that differ only in their cells are one question.
    pub(super) fn asked<'a>(
        &self,
        cell: &Cell,
        questions: &'a [ScopedQuestion],
    ) -> Vec<&'a ScopedQuestion> {
        let set = self.set(cell);
        let seed = cell.seed.unwrap_or(self.seed);
        let mut asked: Vec<&ScopedQuestion> = Vec::new();
        for ask in questions.iter().filter(|ask| ask.scope.has(&set, seed, cell.turn)) {
            let is_same =
                |known: &&ScopedQuestion| known.label == ask.label && known.key() == ask.key();
            if !asked.iter().any(is_same) {
                asked.push(ask);
            }
        }
        asked
    }

    /// The values of the axes, as rows have them.
    fn set(&self, cell: &Cell) -> Vec<(String, Value)> {
        let shown = |(axis, &i): (&Axis, &usize)| (axis.name(), axis::shown(&axis.values[i]));
        self.axes.iter().zip(&cell.values).map(shown).collect()
    }

    /// Prepares the scenario of a cell.
    ///
    /// # Errors
    /// If it is not a scenario: with the name of the study, and the line.
    pub fn prepare(&self, cell: Cell) -> Result<Prepared, Error> {
        self.prepare_from(cell, &self.text)
    }

    /// As [`Self::prepare`], where errors name lines of this text: without one a cell is prepared in a time that does not grow with the
    /// study.
    pub(super) fn prepare_from(&self, cell: Cell, original: &str) -> Result<Prepared, Error> {
        let mut document = self.base.clone();
        let mut set = self.set(&cell);
        let located = |e| ScenarioFile::locate(&self.text, &self.name, e);
        for (axis, &i) in self.axes.iter().zip(&cell.values) {
            let Axis { path, values } = axis;
            axis::set(&mut document, path, &values[i]).map_err(located)?;
        }
        if let (Some(find), Some(value)) = (&self.part.find, &cell.found) {
            axis::set(&mut document, &find.path(), value).map_err(located)?;
            set.push((find.axis.clone(), axis::shown(value)));
        }
        if let Some(seed) = cell.seed {
            document.insert("seed", toml_edit::value(i64::try_from(seed).unwrap_or(i64::MAX)));
        }
        // A question may need no jobs and no routes.
        for key in ["job", "routes"] {
            if !document.contains_key(key) {
                let none: toml_edit::Value = match key {
                    "job" => toml_edit::Array::new().into(),
                    _ => toml_edit::InlineTable::new().into(),
                };
                document.insert(key, toml_edit::Item::Value(none));
            }
        }
        let file = ScenarioFile::variant(&document.to_string(), original, &self.name)?;
        let mut plain = file.scenario.clone();
        plain.title = None;
        let key =
            toml::to_string(&plain).map_err(|e| Error::input(format!("{}: {e}", self.name)))?;
        Ok(Prepared { cell, file, set, key, files: Vec::new() })
    }
}

impl Prepared {
    /// Seed of the cell.
    pub fn seed(&self) -> u64 {
        self.file.scenario.seed.unwrap_or(1)
    }
}
