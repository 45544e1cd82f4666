//! Studies: questions about many scenarios.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use darkfiber_formats::input;
use darkfiber_scenario::{Error as ScenarioError, Folder};
use darkfiber_study::grid::{self, Axis, Hooks, NullStore, StudyFile, Table as Grid, Value};
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::columns::Columns;
use crate::error::raised;
use crate::keys;
use crate::long::long;
use crate::numbers::Whole;
use crate::scenario::absolute;
use crate::standard_input;
use crate::table::Table;
use crate::text::printable;

/// A study: a scenario in which lists stand where values belong, and questions that every cell is asked.
///
/// `Study(text)` takes the text of such a file, whose files are in `folder`; `Study.read(path)` reads one. `set` changes keys and makes
/// axes, as `--set` does: `{"routes.engine": "minhop,dfsssp"}`, or `["minhop", "dfsssp"]`. More than `max_cells` cells are refused, a
/// million without.
#[pyclass(frozen, module = "darkfiber")]
pub(crate) struct Study {
    file: Arc<StudyFile>,
    folder: Folder,
}

impl Study {
    fn parse(
        text: &str,
        name: &str,
        folder: Folder,
        (set, seed, max_cells): (&[Axis], Option<Whole<u64>>, Option<Whole<u64>>),
    ) -> Result<Self, ScenarioError> {
        let (seed, max_cells) = (seed.map(|seed| seed.0), max_cells.map(|most| most.0));
        let file = Arc::new(StudyFile::parse(text, name, set, seed, max_cells)?);
        Ok(Self { file, folder })
    }
}

#[pymethods]
impl Study {
    #[new]
    #[pyo3(signature = (text, *, name = "study", folder = None, set = None, seed = None, max_cells = None))]
    fn new(
        py: Python<'_>,
        text: &str,
        name: &str,
        folder: Option<PathBuf>,
        set: Option<&Bound<'_, PyMapping>>,
        seed: Option<Whole<u64>>,
        max_cells: Option<Whole<u64>>,
    ) -> PyResult<Self> {
        let set = keys::axes(set)?;
        let folder = absolute(Folder(folder.unwrap_or_default()));
        py.detach(|| Self::parse(text, name, folder, (&set, seed, max_cells)))
            .map_err(|e| raised(py, &e))
    }

    /// Reads a file; what it names is beside it.
    #[staticmethod]
    #[pyo3(signature = (path, *, set = None, seed = None, max_cells = None))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        set: Option<&Bound<'_, PyMapping>>,
        seed: Option<Whole<u64>>,
        max_cells: Option<Whole<u64>>,
    ) -> PyResult<Self> {
        let set = keys::axes(set)?;
        long(py, move |_| {
            standard_input::refuse(&path)?;
            let text = input::read_text(&path)?;
            let folder = absolute(Folder::of(&path));
            Self::parse(&text, &path.display().to_string(), folder, (&set, seed, max_cells))
        })
    }

    /// What it is called.
    #[getter]
    fn title(&self) -> String {
        self.file.title()
    }

    /// Keys that have several values.
    #[getter]
    fn axes(&self) -> Vec<String> {
        self.file.axis_names()
    }

    /// How many cells there are (that are asked first, where others depend on answers).
    #[getter]
    fn cell_count(&self, py: Python<'_>) -> PyResult<usize> {
        let file = Arc::clone(&self.file);
        long(py, move |_| Ok(file.cells(None)?.len()))
    }

    /// Answers all questions of all cells, on all cores. The table is that of `darkfiber study collect`, without `cell`.
    fn run(&self, py: Python<'_>) -> PyResult<Table> {
        let (file, folder) = (Arc::clone(&self.file), self.folder.clone());
        let grid = long(py, move |stop| {
            let begin = Instant::now();
            let (clock, stop) = (|| begin.elapsed().as_secs_f64(), || stop.is_asked());
            let hooks = Hooks { clock: &clock, stop: &stop, ..Hooks::of(&NullStore, &folder) };
            let answered = grid::run(&file, None, &hooks)?;
            let mut grid = Grid::new(file.axis_names());
            for record in &answered.records {
                grid.add(record);
            }
            for record in file.conclusions(&answered.records) {
                grid.add(&record);
            }
            grid.sort();
            Ok(grid)
        })?;
        Table::of(py, columns(&grid))
    }

    fn __repr__(&self) -> String {
        printable(&format!(
            "<darkfiber.Study {} over {}>",
            self.file.title(),
            self.file.axis_names().join(", ")
        ))
    }
}

/// The columns as `study collect` writes them.
fn columns(grid: &Grid) -> Columns {
    let name = |text: &str| text.replace(['.', '-'], "_");
    let mut columns = Columns::default()
        .whole("seed", grid.rows().map(|row| row.seed()))
        .text("question", grid.rows().map(|row| row.question()))
        .text("of", grid.rows().map(|row| row.of()));
    for (place, axis) in grid.axes().iter().enumerate() {
        let values: Vec<Option<Value>> = grid.rows().map(|row| row.axis(place)).collect();
        columns = columns.values(&name(axis), &values);
    }
    for (place, quantity) in grid.columns().iter().enumerate() {
        let values: Vec<Option<Value>> = grid.rows().map(|row| row.found(place)).collect();
        columns = columns.values(&name(quantity), &values);
    }
    let error = |text: &str| (!text.is_empty()).then(|| Value::Text(text.to_owned()));
    let errors: Vec<Option<Value>> = grid.rows().map(|row| error(row.error())).collect();
    columns.values("error", &errors)
}
