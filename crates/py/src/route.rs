//! Making routes: by an engine, by a function of the user, or from existing tables.

use std::path::PathBuf;
use std::sync::Arc;

use darkfiber_fabric::TerminalId;
use darkfiber_routing::{ENGINES, LayerBy, Request, layers_by_hop, layers_by_source};
use darkfiber_scenario::fabric::roots as roots_of;
use darkfiber_scenario::tables::{self, TableFiles};
use darkfiber_scenario::{Chain, Error as ScenarioError};
use pyo3::prelude::*;

use crate::error::raised;
use crate::fabric::Fabric;
use crate::long::long;
use crate::numbers::{Whole, plain};
use crate::own_engine;
use crate::remarks::Remarks;
use crate::routes::Routes;
use crate::standard_input;

/// Lanes of data that InfiniBand has.
const MOST_LANES: u8 = 15;

/// Names of all engines.
#[pyfunction]
pub(crate) fn engines() -> Vec<&'static str> {
    ENGINES.iter().map(|engine| engine.name()).collect()
}

/// Routes a fabric.
///
/// `engine` is the name of one of `engines()`, a chain `a+b` of which the first that does not refuse counts, or a function: it gets
/// the fabric and returns the egress port of every switch towards every terminal, as `from_ports` takes them, alone or with the layers.
/// `layer_by` as on the command line: `pair`, `destination`, `source` or `hop`. For a function it is None, for the layers that it
/// returns, or `source` or `hop`, to have its paths put into at most `lanes` layers that cannot deadlock.
#[pyfunction]
#[pyo3(signature = (fabric, engine, *, lanes = Whole(8), lmc = Whole(0), roots = None, jobs = None, layer_by = None,
    seed = Whole(1)), text_signature = "(fabric, engine, *, lanes=8, lmc=0, roots=None, jobs=None, layer_by=None, seed=1)")]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn route(
    py: Python<'_>,
    fabric: &Bound<'_, Fabric>,
    engine: &Bound<'_, PyAny>,
    lanes: Whole<u8>,
    lmc: Whole<u8>,
    roots: Option<PathBuf>,
    jobs: Option<Vec<Vec<Whole<u32>>>>,
    layer_by: Option<&str>,
    seed: Whole<u64>,
) -> PyResult<Routes> {
    let (Whole(lanes), Whole(lmc), Whole(seed)) = (lanes, lmc, seed);
    let jobs: Vec<Vec<u32>> = jobs.unwrap_or_default().into_iter().map(plain).collect();
    let by = LayersBy::parse(layer_by).map_err(|e| raised(py, &e))?;
    if let Err(error) = possible(lanes, lmc) {
        return Err(raised(py, &error));
    }
    let loaded = Arc::clone(&fabric.get().loaded);
    if engine.is_callable() {
        let has = [
            (lmc > 0, "lmc"),
            (roots.is_some(), "roots"),
            (!jobs.is_empty(), "jobs"),
            (seed != 1, "seed"),
        ];
        let extra = has.iter().find(|(given, _)| *given).map(|(_, name)| *name);
        let by_pair =
            layer_by.filter(|by| ["pair", "destination"].contains(by)).map(|_| "layer_by");
        if let Some(name) = extra.or(by_pair) {
            let error = ScenarioError::usage(format!("{name} is for engines, not for a function"));
            let hint =
                "a function returns ports, or ports and layers; layer_by may be source or hop";
            return Err(raised(py, &error.hint(hint)));
        }
        let mut tables = own_engine::tables(fabric, engine)?;
        if by.is_later() && tables.layer_count() > 1 {
            let error =
                ScenarioError::usage("the function returns layers, and layer_by makes others");
            return Err(raised(py, &error.hint("return ports alone, or leave out layer_by")));
        }
        let layers = tables.layer_count();
        if layers > usize::from(lanes) {
            let error = ScenarioError::infeasible(format!("{layers} layers, and lanes is {lanes}"));
            return Err(raised(py, &error.hint("allow more with lanes=, at most 15")));
        }
        if matches!(by, LayersBy::Source | LayersBy::Hop) {
            tables = long(py, move |_| {
                by.assign(&loaded.topology.fabric, &mut tables, lanes)?;
                Ok(tables)
            })?;
        }
        return Ok(Routes::of(fabric, tables, Vec::new()));
    }
    let chain = Chain::parse(&engine.extract::<String>()?).map_err(|e| raised(py, &e))?;
    let count = loaded.topology.fabric.terminal_count();
    if let Some(t) = jobs.iter().flatten().find(|&&t| t as usize >= count) {
        let error = ScenarioError::usage(format!("there is no terminal {t}"));
        let hint = format!("jobs are lists of terminals, 0 to {}", count.saturating_sub(1));
        return Err(raised(py, &error.hint(hint)));
    }
    let (tables, remarks) = long(py, move |_| {
        let topology = &loaded.topology;
        let mut remarks = Remarks::default();
        let roots = match &roots {
            Some(text) => roots_of(&topology.fabric, &text.to_string_lossy(), &mut remarks)?,
            None => Vec::new(),
        };
        let terminals = |job: Vec<u32>| job.into_iter().map(TerminalId).collect();
        let jobs: Vec<Vec<TerminalId>> = jobs.into_iter().map(terminals).collect();
        let request = Request {
            shape: topology.shape.as_ref(),
            roots: &roots,
            lmc,
            // Layers by source and lanes by hop are found when paths are made.
            lanes: if by.is_later() { MOST_LANES } else { lanes },
            lanes_by_lid: !by.is_later(),
            layer_by: by.of_engine(),
            jobs: &jobs,
            demands: &[],
            seed,
        };
        let mut tables = chain.route_telling(&topology.fabric, &request, &mut remarks)?;
        by.assign(&topology.fabric, &mut tables, lanes)?;
        Ok((tables, remarks.all))
    })?;
    Ok(Routes::of(fabric, tables, remarks))
}

/// Refuses values that are impossible in a subnet.
fn possible(lanes: u8, lmc: u8) -> Result<(), ScenarioError> {
    if !(1..=MOST_LANES).contains(&lanes) {
        return Err(ScenarioError::usage(format!("lanes is {lanes}")).hint("expected 1 to 15"));
    }
    if lmc > 7 {
        return Err(ScenarioError::usage(format!("lmc is {lmc}")).hint("expected 0 to 7"));
    }
    Ok(())
}

/// What a path's virtual layer may depend on.
#[derive(Clone, Copy)]
enum LayersBy {
    Engine(LayerBy),
    Source,
    Hop,
}

impl LayersBy {
    fn parse(text: Option<&str>) -> Result<Self, ScenarioError> {
        Ok(match text {
            None | Some("pair") => Self::Engine(LayerBy::Pair),
            Some("destination") => Self::Engine(LayerBy::Destination),
            Some("source") => Self::Source,
            Some("hop") => Self::Hop,
            Some(other) => {
                let known = ["pair", "destination", "source", "hop"];
                return Err(ScenarioError::unknown("layer_by", other, &known));
            }
        })
    }

    fn is_later(self) -> bool {
        !matches!(self, Self::Engine(_))
    }

    fn of_engine(self) -> LayerBy {
        match self {
            Self::Engine(by) => by,
            Self::Source | Self::Hop => LayerBy::Pair,
        }
    }

    /// Gives paths that are there their layers, where that comes after routing.
    fn assign(
        self,
        fabric: &darkfiber_fabric::Fabric,
        tables: &mut darkfiber_routing::Routes,
        lanes: u8,
    ) -> Result<(), ScenarioError> {
        match self {
            Self::Engine(_) => Ok(()),
            Self::Source => {
                layers_by_source(fabric, tables, lanes).map_err(ScenarioError::infeasible)
            }
            Self::Hop => layers_by_hop(fabric, tables, lanes).map_err(ScenarioError::infeasible),
        }
    }
}

/// Routes of tables that a user made: `ports[switch, destination]` is the egress port of a switch towards a terminal, 255 or 0 where
/// there is no route; what stands at the switch of the destination itself does not matter. Columns for switches may follow those for
/// terminals. `layers[switch, destination]` is the virtual layer of the paths from the hosts of a switch to a terminal.
#[pyfunction]
#[pyo3(signature = (fabric, ports, layers = None, *, name = "own"))]
pub(crate) fn from_ports(
    fabric: &Bound<'_, Fabric>,
    ports: &Bound<'_, PyAny>,
    layers: Option<&Bound<'_, PyAny>>,
    name: &str,
) -> PyResult<Routes> {
    let tables = own_engine::of_arrays(fabric, ports, layers, name)?;
    Ok(Routes::of(fabric, tables, Vec::new()))
}

/// Reads tables that somebody made: a file (OpenSM's lfts dump, `dump_lfts.sh`, `ibroute`, `osm.fdbs`, netloc paths), or a directory
/// that `darkfiber route -o` or OpenSM wrote. Files beside them are found in a directory, and given by name otherwise.
#[pyfunction]
#[pyo3(signature = (fabric, path, *, guid2lid = None, sl = None, sl2vl = None, path_bits = None, lid_choice = None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn read_tables(
    py: Python<'_>,
    fabric: &Bound<'_, Fabric>,
    path: PathBuf,
    guid2lid: Option<PathBuf>,
    sl: Option<PathBuf>,
    sl2vl: Option<PathBuf>,
    path_bits: Option<PathBuf>,
    lid_choice: Option<PathBuf>,
) -> PyResult<Routes> {
    let beside = [&guid2lid, &sl, &sl2vl, &path_bits, &lid_choice].into_iter().flatten();
    standard_input::refuse_any(std::iter::once(&path).chain(beside))
        .map_err(|error| raised(py, &error))?;
    let files = TableFiles { guid2lid, sl, sl2vl, path_bits, lid_choice, ..TableFiles::at(path) };
    let loaded = Arc::clone(&fabric.get().loaded);
    let (tables, remarks) = long(py, move |_| {
        let mut remarks = Remarks::default();
        let name = loaded.topology.fabric.name().to_owned();
        let read = tables::read(&files, &name, &loaded, &mut remarks)?;
        read.report_assumed_lane(&loaded.topology.fabric, &mut remarks);
        Ok((read.routes, remarks.all))
    })?;
    Ok(Routes::of(fabric, tables, remarks))
}
