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
    Case, Depth, Error as ScenarioError, Folder, Listener, Loaded, Medium, ScenarioFile, Setup,
    Simulated, Tables, isolated, simulate,
};
use darkfiber_study::grid::{Axis, StudyFile};
use darkfiber_workload::play::SECOND;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::columns::Columns;
use crate::error::raised;
use crate::fabric::Fabric;
use crate::json;
use crate::keys;
use crate::long::long;
use crate::map;
use crate::numbers::Whole;
use crate::remarks::Remarks;
use crate::routes::Routes;
use crate::standard_input;
use crate::table::Table;
use crate::text::printable;
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
        (set, seed): (Vec<Axis>, Option<u64>),
    ) -> Result<Self, ScenarioError> {
        if set.is_empty() {
            let mut file = ScenarioFile::parse(text, name)?;
            file.scenario.seed = seed.or(file.scenario.seed);
            return Ok(Self { file, folder });
        }
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

/// The folder, wherever this process goes until it reads there.
pub(crate) fn absolute(folder: Folder) -> Folder {
    // The empty path is this folder.
    std::path::absolute(Path::new(".").join(&folder.0)).map_or(folder, Folder)
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
        set: Option<&Bound<'_, PyMapping>>,
        seed: Option<Whole<u64>>,
    ) -> PyResult<Self> {
        let set = (keys::values(set)?, seed.map(|seed| seed.0));
        let folder = absolute(Folder(folder.unwrap_or_default()));
        py.detach(|| Self::parse(text, name, folder, set)).map_err(|e| raised(py, &e))
    }

    /// Reads a file; what it names is beside it.
    #[staticmethod]
    #[pyo3(signature = (path, *, set = None, seed = None))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        set: Option<&Bound<'_, PyMapping>>,
        seed: Option<Whole<u64>>,
    ) -> PyResult<Self> {
        let set = (keys::values(set)?, seed.map(|seed| seed.0));
        long(py, move |_| {
            standard_input::refuse(&path)?;
            let text = input::read_text(&path)?;
            let folder = absolute(Folder::of(&path));
            Self::parse(&text, &path.display().to_string(), folder, set)
        })
    }

    /// Simulates it.
    ///
    /// `depth` is `count`, `loggp`, `flow` or `packet`, if not what the file says. `routes` are used instead of its fabric and tables,
    /// which it still names: those of a function of yours, for example. With `isolated` each job is run alone, too.
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
        let (case, simulated, alone, of_fabric, remarks) = long(py, move |stop| {
            let (mut of_fabric, mut remarks) = (Remarks::default(), Remarks::default());
            let case = if let Some((loaded, tables)) = own {
                on(&file, &folder, loaded, tables, &mut remarks)?
            } else {
                let loaded = file.scenario.fabric(&folder, &mut of_fabric);
                let loaded = loaded.map_err(|error| file.located(error))?;
                file.resolve_on(loaded, &folder, &mut remarks)?
            };
            if case.scenario.keep.messages && matches!(case.medium, Medium::Count) {
                remarks.note("depth count has no messages to keep");
            }
            let (simulated, alone) =
                simulated(&case, isolated, stop).map_err(|error| file.located(error))?;
            Ok((case, simulated, alone, of_fabric, remarks))
        })?;
        let notes = [&case.tables.routes.notes[..], &of_fabric.all, &remarks.all].concat();
        let fabric = match routes {
            Some(routes) => routes.get().fabric.clone_ref(py),
            None => Py::new(py, Fabric::of(Arc::clone(&case.loaded), of_fabric))?,
        };
        Ok(Run::of(case, simulated, &alone, (fabric, notes)))
    }

    fn __repr__(&self) -> String {
        printable(&format!(
            "<darkfiber.Scenario {} on {}>",
            self.file.name, self.file.scenario.fabric
        ))
    }
}

/// The scenario on tables that are there already.
fn on(
    file: &ScenarioFile,
    folder: &Folder,
    loaded: Arc<Loaded>,
    routes: Arc<darkfiber_routing::Routes>,
    remarks: &mut Remarks,
) -> Result<Case, ScenarioError> {
    if file.scenario.update.is_some() {
        let error = ScenarioError::usage("a scenario with [update] has its own tables");
        return Err(error.hint("run it without routes"));
    }
    let open = file.scenario.open_on(loaded, folder, remarks).map_err(|e| file.located(e))?;
    if let Some(packets) = open.medium.packets()
        && packets.routing.name != "tables"
    {
        let what = format!("packets go by the routing {}, not by routes", packets.routing.name);
        let hint = "set={\"packets.routing\": \"tables\"}, or run it without routes";
        return Err(ScenarioError::usage(what).hint(hint));
    }
    if file.scenario.routes.ecmp.is_some() {
        let error = ScenarioError::usage("a scenario with ecmp goes by hashes, not by routes");
        return Err(error.hint("leave out ecmp, or run it without routes"));
    }
    file.scenario.routes.expect_tables_of_files().map_err(|e| file.located(e))?;
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
    notes: Vec<String>,
}

impl Run {
    fn of(
        case: Case,
        simulated: Simulated,
        alone: &[u64],
        (fabric, notes): (Py<Fabric>, Vec<String>),
    ) -> Self {
        let row = |(j, job)| JobRow::of(job, &simulated, alone.get(j).copied(), j);
        let rows = case.jobs.iter().enumerate().map(row).collect();
        Self { case, simulated, rows, fabric, notes }
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

    /// What the engine gave up, what readers had to say about the files of the scenario, and what else the command line prints beside the
    /// result, a line each.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// When the last job ended, in simulated seconds.
    #[getter]
    fn seconds(&self) -> f64 {
        seconds(self.simulated.end)
    }

    /// The jobs: ranks, runs, times in seconds, messages, bytes, bandwidth. What packets measured of them is in `to_list()`.
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
            .whole("runs_in_time", whole(|row| row.runs_in_time as u64))
            .real("run_mean", real(|row| row.run_mean))
            .some("run_isolated", rows.iter().map(|row| row.run_isolated))
            .some("slowdown", rows.iter().map(|row| row.slowdown))
            .real("run_min", real(|row| row.run_min))
            .real("run_max", real(|row| row.run_max))
            .whole("messages", whole(|row| row.sent.messages))
            .whole("bytes", whole(|row| row.sent.bytes))
            .real("message_mean", real(|row| row.sent.message_mean))
            .real("message_p50", real(|row| row.sent.message_p50))
            .real("message_p95", real(|row| row.sent.message_p95))
            .real("message_p99", real(|row| row.sent.message_p99))
            .real("message_p999", real(|row| row.sent.message_p999))
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
        printable(&format!(
            "<darkfiber.Run of {}: {} jobs, {} s simulated at depth {}>",
            self.case.title,
            self.rows.len(),
            self.seconds(),
            self.case.medium.depth()
        ))
    }
}
