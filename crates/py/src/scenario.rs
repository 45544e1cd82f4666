//! Scenarios: jobs on a fabric, simulated at any depth.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use darkfiber_analysis::Names;
use darkfiber_fabric::ChannelId;
use darkfiber_formats::input;
use darkfiber_packetsim::Pulse;
use darkfiber_page::Unit;
use darkfiber_report::simulate::JobRow;
use darkfiber_routing::Stop;
use darkfiber_scenario::{
    Case, Depth, Error as ScenarioError, Folder, Loaded, ScenarioFile, Setup, Simulated, Tables,
    isolated, simulate,
};
use darkfiber_study::grid::{Axis, StudyFile};
use darkfiber_workload::play::SECOND;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::columns::Columns;
use crate::error::raised;
use crate::fabric::Fabric;
use crate::json;
use crate::long::long;
use crate::map;
use crate::routes::Routes;
use crate::table::Table;
use crate::view::view;

/// A scenario: a fabric, its routes, jobs placed on it, and their traffic, as a file says it.
///
/// `Scenario(text)` takes the text of such a file, whose files are in `folder`; `Scenario.read(path)` reads one. `set` changes keys as
/// `--set` does: `{"routes.engine": "dfsssp"}`.
#[pyclass(frozen, module = "darkfiber")]
pub(crate) struct Scenario {
    file: ScenarioFile,
    folder: Folder,
}

impl Scenario {
    fn parse(
        text: &str,
        name: &str,
        folder: Folder,
        (set, seed): (Vec<(String, String)>, Option<u64>),
    ) -> Result<Self, ScenarioError> {
        if set.is_empty() {
            let mut file = ScenarioFile::parse(text, name)?;
            file.scenario.seed = seed.or(file.scenario.seed);
            return Ok(Self { file, folder });
        }
        let axis = |(key, value): &(String, String)| Axis::parse(&format!("{key}={value}"));
        let set: Vec<Axis> = set.iter().map(axis).collect::<Result<_, _>>()?;
        let study = StudyFile::parse(text, name, &set, seed, None)?;
        if let Some(axis) = study.axes.first() {
            let what = format!("{name}: {} is a list, and a scenario takes one value", axis.name());
            return Err(ScenarioError::input(what).hint("darkfiber.Study takes lists"));
        }
        let cell = study.cells(None)?.into_iter().next();
        let cell = cell.ok_or_else(|| ScenarioError::input(format!("{name}: no cell")))?;
        Ok(Self { file: study.prepare(cell)?.file, folder })
    }
}

/// The keys that are set, as texts.
pub(crate) fn texts(
    set: Option<Vec<(String, Bound<'_, PyAny>)>>,
) -> PyResult<Vec<(String, String)>> {
    let text = |(key, value): (String, Bound<'_, PyAny>)| {
        // Values with a different notation in TOML and Python.
        let text = match value.extract::<bool>() {
            Ok(yes) => yes.to_string(),
            Err(_) => value.str()?.to_string(),
        };
        Ok((key, text))
    };
    set.unwrap_or_default().into_iter().map(text).collect()
}

/// The items of a dictionary, in its order.
pub(crate) fn items<'py>(
    set: Option<&Bound<'py, pyo3::types::PyDict>>,
) -> PyResult<Vec<(String, String)>> {
    let pairs = set.map(|set| {
        let pair = |(key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>)| {
            Ok((key.extract::<String>()?, value))
        };
        set.iter().map(pair).collect::<PyResult<Vec<_>>>()
    });
    texts(pairs.transpose()?)
}

/// A depth by its name.
fn depth(text: &str) -> Result<Depth, ScenarioError> {
    Ok(match text {
        "count" => Depth::Count,
        "loggp" => Depth::LogGp,
        "flow" => Depth::Flow,
        "packet" => Depth::Packet,
        other => {
            let known = ["count", "loggp", "flow", "packet"];
            return Err(ScenarioError::unknown("depth", other, &known));
        }
    })
}

#[pymethods]
impl Scenario {
    #[new]
    #[pyo3(signature = (text, *, name = "scenario", folder = None, set = None, seed = None))]
    fn new(
        py: Python<'_>,
        text: &str,
        name: &str,
        folder: Option<PathBuf>,
        set: Option<&Bound<'_, pyo3::types::PyDict>>,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let set = items(set)?;
        Self::parse(text, name, Folder(folder.unwrap_or_default()), (set, seed))
            .map_err(|e| raised(py, &e))
    }

    /// Reads a file; what it names is beside it.
    #[staticmethod]
    #[pyo3(signature = (path, *, set = None, seed = None))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        set: Option<&Bound<'_, pyo3::types::PyDict>>,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let set = items(set)?;
        let read = |path: &Path| {
            let text = input::read_text(path)?;
            Self::parse(&text, &path.display().to_string(), Folder::of(path), (set, seed))
        };
        read(&path).map_err(|e| raised(py, &e))
    }

    /// Simulates it.
    ///
    /// `depth` is `count`, `loggp`, `flow` or `packet`, if not what the file says. `routes` are used instead of its fabric and tables:
    /// those of a function of yours, for example. With `isolated` each job is run alone, too.
    #[pyo3(signature = (*, depth = None, routes = None, isolated = false))]
    fn run(
        &self,
        py: Python<'_>,
        depth: Option<&str>,
        routes: Option<&Bound<'_, Routes>>,
        isolated: bool,
    ) -> PyResult<Run> {
        let (mut file, folder) = (self.file.clone(), self.folder.clone());
        if let Some(text) = depth {
            file.scenario.depth = self::depth(text).map_err(|e| raised(py, &e))?;
        }
        let own = routes.map(|routes| {
            let routes = routes.get();
            (Arc::clone(&routes.loaded), Arc::clone(&routes.tables))
        });
        let (case, simulated, alone) = long(py, move |stop| {
            let case = match own {
                Some((loaded, tables)) => on(&file, &folder, loaded, tables)?,
                None => file.resolve(&folder, &mut ())?,
            };
            let (simulated, alone) =
                simulated(&case, isolated, stop).map_err(|error| file.located(error))?;
            Ok((case, simulated, alone))
        })?;
        Run::of(py, case, simulated, &alone)
    }

    fn __repr__(&self) -> String {
        format!("<darkfiber.Scenario {} on {}>", self.file.name, self.file.scenario.fabric)
    }
}

/// The scenario on tables that are there already.
fn on(
    file: &ScenarioFile,
    folder: &Folder,
    loaded: Arc<Loaded>,
    routes: Arc<darkfiber_routing::Routes>,
) -> Result<Case, ScenarioError> {
    if file.scenario.update.is_some() {
        let error = ScenarioError::usage("a scenario with [update] has its own tables");
        return Err(error.hint("run it without routes"));
    }
    let open = file.scenario.open_on(loaded, folder, &mut ()).map_err(|e| file.located(e))?;
    let from = routes.engine.clone();
    Ok(open.with(Tables { routes, lids: None, from }))
}

/// The run of all jobs, and each alone if that is wanted.
fn simulated(
    case: &Case,
    wants_isolated: bool,
    stop: &Stop,
) -> Result<(Simulated, Vec<u64>), ScenarioError> {
    let stuck = |error: darkfiber_scenario::SimError| {
        ScenarioError::infeasible(error.describe(&case.jobs, case.topology()))
    };
    let alone = if wants_isolated { isolated(&case.setup()).map_err(stuck)? } else { Vec::new() };
    stop.unwind_if_asked();
    let pulse = |_: Pulse| stop.unwind_if_asked();
    let setup = Setup { follow: Some(&pulse), ..case.setup() };
    let simulated = simulate(&setup, &mut |_| stop.unwind_if_asked()).map_err(stuck)?;
    Ok((simulated, alone))
}

/// What came of a scenario.
#[pyclass(frozen, module = "darkfiber")]
pub(crate) struct Run {
    case: Case,
    simulated: Simulated,
    rows: Vec<JobRow>,
    fabric: Py<Fabric>,
}

impl Run {
    fn of(py: Python<'_>, case: Case, simulated: Simulated, alone: &[u64]) -> PyResult<Self> {
        let row = |(j, job)| JobRow::of(job, &simulated, alone.get(j).copied(), j);
        let rows = case.jobs.iter().enumerate().map(row).collect();
        let fabric = Py::new(py, Fabric::of(Arc::clone(&case.loaded)))?;
        Ok(Self { case, simulated, rows, fabric })
    }

    fn name(&self, job: usize) -> &str {
        &self.case.jobs[job].name
    }
}

fn seconds(ps: u64) -> f64 {
    ps as f64 / SECOND as f64
}

#[pymethods]
impl Run {
    /// What the scenario is called.
    #[getter]
    fn title(&self) -> &str {
        &self.case.title
    }

    /// How deep it was looked at.
    #[getter]
    fn depth(&self) -> String {
        self.case.medium.depth().to_string()
    }

    /// The fabric.
    #[getter]
    fn fabric(&self, py: Python<'_>) -> Py<Fabric> {
        self.fabric.clone_ref(py)
    }

    /// The engine that made the tables, or where they are from.
    #[getter]
    fn engine(&self) -> &str {
        &self.case.tables.from
    }

    /// When the last job ended, in simulated seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        seconds(self.simulated.end)
    }

    /// The jobs: ranks, runs, times in seconds, messages, bytes, bandwidth.
    #[getter]
    fn jobs(&self, py: Python<'_>) -> PyResult<Table> {
        let rows = &self.rows;
        let whole = |of: fn(&JobRow) -> u64| rows.iter().map(of);
        let real = |of: fn(&JobRow) -> f64| rows.iter().map(of);
        let columns = Columns::default()
            .text("name", rows.iter().map(|row| row.name.as_str()))
            .whole("ranks", whole(|row| u64::from(row.ranks)))
            .whole("nodes", whole(|row| row.nodes as u64))
            .real("begin", real(|row| row.begin))
            .real("end", real(|row| row.end))
            .whole("runs", whole(|row| row.runs as u64))
            .real("run_mean", real(|row| row.run_mean))
            .some("run_isolated", rows.iter().map(|row| row.run_isolated))
            .some("slowdown", rows.iter().map(|row| row.slowdown))
            .real("run_min", real(|row| row.run_min))
            .real("run_max", real(|row| row.run_max))
            .whole("messages", whole(|row| row.sent.messages))
            .whole("bytes", whole(|row| row.sent.bytes))
            .real("message_mean", real(|row| row.sent.message_mean))
            .real("message_p99", real(|row| row.sent.message_p99))
            .real("message_max", real(|row| row.sent.message_max))
            .some("pair_bandwidth", rows.iter().map(|row| row.pair_bandwidth));
        Table::of(py, columns)
    }

    /// The runs of each job: begin and end in seconds.
    #[getter]
    fn runs(&self, py: Python<'_>) -> PyResult<Table> {
        let runs = || {
            let of = |(j, runs): (usize, &'_ Vec<_>)| (j, runs.len());
            let counts: Vec<(usize, usize)> =
                self.simulated.runs.iter().enumerate().map(of).collect();
            counts.into_iter().flat_map(|(j, n)| (0..n).map(move |r| (j, r)))
        };
        let run = |(j, r): (usize, usize)| &self.simulated.runs[j][r];
        let columns = Columns::default()
            .text("job", runs().map(|(j, _)| self.name(j)))
            .real("begin", runs().map(|at| seconds(run(at).begin)))
            .real("end", runs().map(|at| seconds(run(at).end)));
        Table::of(py, columns)
    }

    /// Pairs of ranks that sent: messages, bytes, seconds.
    #[getter]
    fn pairs(&self, py: Python<'_>) -> PyResult<Table> {
        let all: Vec<_> = (self.simulated.pairs.iter().enumerate())
            .flat_map(|(j, pairs)| pairs.sent().map(move |(ends, pair)| (j, ends, pair)))
            .collect();
        let columns = Columns::default()
            .text("job", all.iter().map(|pair| self.name(pair.0)))
            .whole("from", all.iter().map(|pair| u64::from(pair.1.0)))
            .whole("to", all.iter().map(|pair| u64::from(pair.1.1)))
            .whole("messages", all.iter().map(|pair| pair.2.messages))
            .whole("bytes", all.iter().map(|pair| pair.2.bytes))
            .real("seconds", all.iter().map(|pair| seconds(pair.2.time)))
            .real("longest", all.iter().map(|pair| seconds(pair.2.longest)));
        Table::of(py, columns)
    }

    /// Channels between switches: both ends, bytes.
    #[getter]
    fn channels(&self, py: Python<'_>) -> PyResult<Table> {
        let fabric = self.case.fabric();
        let names = Names::new(fabric);
        let m = fabric.channel_count();
        let ends: Vec<_> = (0..m).map(|c| names.channel(ChannelId::new(c))).collect();
        let columns = Columns::default()
            .text("from", ends.iter().map(|end| end.from.as_str()))
            .whole("from_port", ends.iter().map(|end| u64::from(end.from_port)))
            .text("to", ends.iter().map(|end| end.to.as_str()))
            .whole("bytes", self.simulated.carried[..m].iter().copied());
        Table::of(py, columns)
    }

    /// Bytes that each channel between switches carried, a view.
    #[getter]
    fn channel_bytes<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<u64>> {
        view(slf, |run| &run.simulated.carried[..run.case.fabric().channel_count()])
    }

    /// All messages, if the scenario keeps them (`[keep] messages = true`): job, ranks, bytes, times in seconds.
    #[getter]
    fn messages(&self, py: Python<'_>) -> PyResult<Table> {
        let all = &self.simulated.messages;
        let columns = Columns::default()
            .text("job", all.iter().map(|message| self.name(message.job as usize)))
            .whole("epoch", all.iter().map(|message| message.epoch))
            .whole("from", all.iter().map(|message| u64::from(message.from)))
            .whole("to", all.iter().map(|message| u64::from(message.to)))
            .whole("bytes", all.iter().map(|message| message.bytes))
            .real("departed", all.iter().map(|message| seconds(message.departed)))
            .real("arrived", all.iter().map(|message| seconds(message.arrived)));
        Table::of(py, columns)
    }

    /// The jobs with the keys of `darkfiber simulate --format json`.
    fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::value(py, &self.rows)
    }

    /// The map as a picture (SVG), with the bytes over each channel.
    fn map(&self, py: Python<'_>) -> PyResult<String> {
        let carried = &self.simulated.carried[..self.case.fabric().channel_count()];
        let load = carried.iter().map(|&bytes| bytes as f64).collect();
        let name = format!("{}, {}", self.case.title, self.case.tables.from);
        map::with_load(py, &self.case.loaded, (name, Unit::Bytes), load)
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        self.map(py)
    }

    fn __repr__(&self) -> String {
        format!(
            "<darkfiber.Run of {}: {} jobs, {} s simulated at depth {}>",
            self.case.title,
            self.rows.len(),
            self.seconds(),
            self.case.medium.depth()
        )
    }
}
