//! Estimated cost of a study, by a cell of each kind.

use std::collections::BTreeMap;

use darkfiber_scenario::Error;

use super::axis;
use super::cell::Cell;
use super::file::StudyFile;
use super::row::Value;

/// Keys with the largest effect on the cost of a cell.
const COSTLY: [&str; 4] = ["fabric", "routes.engine", "routes.tables", "depth"];

/// Cells with equal values of the most expensive keys.
#[derive(Clone, Debug)]
pub struct CellGroup {
    /// Their values of the axes that name fabric, tables and depth.
    pub set: Vec<(String, Value)>,
    /// The first of them.
    pub first: Cell,
    /// Number of cells; a lower bound where more are added until a value is known.
    pub cells: u64,
}

impl StudyFile {
    /// All cells by fabric, engine or tables, and depth, in the order in which they first appear.
    ///
    /// # Errors
    /// If there are more than there may be.
    pub fn cell_groups(&self) -> Result<Vec<CellGroup>, Error> {
        let costly: Vec<usize> = (0..self.axes.len())
            .filter(|&axis| COSTLY.contains(&self.axes[axis].name().as_str()))
            .collect();
        let mut known: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        let mut all: Vec<CellGroup> = Vec::new();
        for cell in self.cells(None)? {
            // Axes that go together may have a value more than once.
            let value =
                |&axis: &usize| axis::shown(&self.axes[axis].values[cell.values[axis]]).to_string();
            let key: Vec<String> = costly.iter().map(value).collect();
            if let Some(&at) = known.get(&key) {
                all[at].cells += 1;
                continue;
            }
            let value = |&number: &usize| {
                let axis = &self.axes[number];
                (axis.name(), axis::shown(&axis.values[cell.values[number]]))
            };
            let set = costly.iter().map(value).collect();
            known.insert(key, all.len());
            all.push(CellGroup { set, first: cell, cells: 1 });
        }
        Ok(all)
    }
}
