//! A routing engine of the user: a Python function over a fabric, whose arrays become tables if they are valid for a
//! switch.

use std::sync::Arc;

use darkfiber_fabric::{AtPort, SwitchId, TerminalId};
use darkfiber_routing::{
    DELIVER, DestId, Layers, NO_ROUTE, Request, Routes as Tables, find_engine,
};
use darkfiber_scenario::Error as ScenarioError;
use numpy::ndarray::Array2;
use numpy::{PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::raised;
use crate::fabric::Fabric;
use crate::long::long;
use crate::text::{shown, text};

/// Layers that there may be.
const MOST_LAYERS: u8 = 15;

/// The result of a function for a fabric: ports, or ports and layers.
pub(crate) fn tables(fabric: &Bound<'_, Fabric>, engine: &Bound<'_, PyAny>) -> PyResult<Tables> {
    let name = engine.getattr("__name__").and_then(|name| name.extract::<String>());
    let name = name.unwrap_or_else(|_| "own".to_owned());
    let made = engine.call1((fabric,))?;
    if let Ok(pair) = made.cast::<PyTuple>()
        && pair.len() == 2
    {
        return of_arrays(fabric, &pair.get_item(0)?, Some(&pair.get_item(1)?), &name);
    }
    of_arrays(fabric, &made, None, &name)
}

/// The tables of arrays by switch and destination.
pub(crate) fn of_arrays(
    fabric: &Bound<'_, Fabric>,
    ports: &Bound<'_, PyAny>,
    layers: Option<&Bound<'_, PyAny>>,
    name: &str,
) -> PyResult<Tables> {
    let py = fabric.py();
    let (ports, name) = (whole(ports, "ports")?, name.to_owned());
    let layers = layers.map(|layers| whole(layers, "layers")).transpose()?;
    let loaded = Arc::clone(&fabric.get().loaded);
    long(py, move |_| {
        let network = &loaded.topology.fabric;
        let mut tables = with_ports(network, &ports, &name)?;
        if ports.ncols() == network.terminal_count() {
            towards_switches(&loaded.topology, &mut tables);
        }
        if let Some(layers) = layers {
            tables.layers = with_layers(network, &layers, &tables)?;
        }
        Ok(tables)
    })
}

/// An array of whole numbers in rows and columns.
fn whole(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Array2<i64>> {
    let py = array.py();
    let refused = |found: &str| {
        let error = ScenarioError::usage(format!("{what}: {found}"));
        raised(py, &error.hint("expected whole numbers in an array [switch, destination]"))
    };
    let numpy = PyModule::import(py, "numpy")?;
    if numpy.getattr("ma")?.call_method1("isMaskedArray", (array,))?.is_truthy()? {
        return Err(refused(
            "an array with a mask, as which its values would count; fill it first",
        ));
    }
    let array = numpy.call_method1("asarray", (array,)).map_err(|error| {
        // Ctrl-C is no fault of the array.
        if !error.is_instance_of::<PyException>(py) {
            return error;
        }
        let said =
            || Ok(format!("{}: {}", text(&error.get_type(py).name()?)?, shown(error.value(py))?));
        said().map_or_else(|other: PyErr| other, |what| refused(&what))
    })?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !matches!(kind.as_str(), "i" | "u") {
        return Err(refused(&format!("an array of {}", shown(&array.getattr("dtype")?)?)));
    }
    // What is beyond is no port and no layer: the largest number stands for it, so that it is refused as such.
    let is_wide = kind == "u" && array.getattr("itemsize")?.extract::<usize>()? == 8;
    let array = if is_wide { numpy.call_method1("minimum", (&array, i64::MAX))? } else { array };
    let array = array.call_method1("astype", ("int64",))?;
    let Ok(array) = array.cast::<PyArray2<i64>>() else {
        return Err(refused(&format!(
            "an array of {} dimensions",
            shown(&array.getattr("ndim")?)?
        )));
    };
    if array.shape().contains(&0) {
        return Err(refused("an empty array"));
    }
    Ok(array.readonly().as_array().to_owned())
}

/// Refuses arrays of another shape than the fabric.
fn of_shape(
    network: &darkfiber_fabric::Fabric,
    array: &Array2<i64>,
    what: &str,
) -> Result<(), ScenarioError> {
    let (switches, terminals) = (network.switch_count(), network.terminal_count());
    let columns = array.ncols();
    if array.nrows() == switches && (columns == terminals || columns == terminals + switches) {
        return Ok(());
    }
    let error = ScenarioError::usage(format!("{what}: an array of {} x {columns}", array.nrows()));
    Err(error.hint(format!(
        "expected {switches} switches x {terminals} terminals, or x {} with the switches behind them",
        terminals + switches
    )))
}

/// Tables of ports, each of which is a port that leads somewhere.
fn with_ports(
    network: &darkfiber_fabric::Fabric,
    ports: &Array2<i64>,
    name: &str,
) -> Result<Tables, ScenarioError> {
    of_shape(network, ports, "ports")?;
    let mut tables = Tables::empty(name, network, 1);
    for d in 0..ports.ncols() {
        let dest = DestId::new(d);
        let home = dest.home(network);
        let row = tables.row(dest, 0);
        for s in 0..ports.nrows() {
            let at = SwitchId::new(s);
            let port = ports[[s, d]];
            tables.ports_mut(row)[s] = match u8::try_from(port) {
                _ if at == home => DELIVER,
                Ok(NO_ROUTE | DELIVER) => NO_ROUTE,
                Ok(port) if leads_to_a_switch(network, at, port) => port,
                _ => return Err(no_port(network, at, dest, port)),
            };
        }
    }
    Ok(tables)
}

fn leads_to_a_switch(network: &darkfiber_fabric::Fabric, at: SwitchId, port: u8) -> bool {
    matches!(network.at_port(at, port), AtPort::Switch(..))
}

fn no_port(
    network: &darkfiber_fabric::Fabric,
    at: SwitchId,
    dest: DestId,
    port: i64,
) -> ScenarioError {
    let names = darkfiber_analysis::Names::new(network);
    let towards = match dest.as_terminal(network) {
        Some(t) => names.terminal(t),
        None => names.switch(dest.home(network)),
    };
    let what = format!(
        "ports[{}, {}]: switch {} has no cable to a switch at port {port}, towards {towards}",
        at.index(),
        dest.index(),
        names.switch(at)
    );
    let own = network.channels_from(at).map(|c| network.tail_ports()[c].to_string());
    ScenarioError::usage(what).hint(format!(
        "ports of this switch that lead to others: {}; 255 for no route",
        own.collect::<Vec<_>>().join(", ")
    ))
}

/// Rows towards switches, which carry no traffic of jobs, as in `minhop`, where a function does not return them.
fn towards_switches(topology: &darkfiber_fabric::Topology, tables: &mut Tables) {
    let network = &topology.fabric;
    let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
    let minhop = find_engine("minhop").ok().and_then(|e| e.route(network, &request).ok());
    let Some(minhop) = minhop else { return };
    for s in (0..network.switch_count()).map(SwitchId::new) {
        let dest = DestId::switch(network, s);
        let row = tables.row(dest, 0);
        tables.ports_mut(row).copy_from_slice(minhop.ports(minhop.row(dest, 0)));
    }
}

/// Layers by source switch and destination.
fn with_layers(
    network: &darkfiber_fabric::Fabric,
    layers: &Array2<i64>,
    tables: &Tables,
) -> Result<Layers, ScenarioError> {
    of_shape(network, layers, "layers")?;
    let switches = network.switch_count();
    let mut all = vec![0; tables.row_count() * switches];
    for t in 0..network.terminal_count() {
        let row = tables.row(DestId::terminal(TerminalId::new(t)), 0);
        // No path begins at a switch without hosts, whatever its row says.
        let begin = |s: &usize| !network.terminals_on(SwitchId::new(*s)).is_empty();
        for s in (0..switches).filter(begin) {
            let layer = u8::try_from(layers[[s, t]]).ok().filter(|&layer| layer < MOST_LAYERS);
            all[row * switches + s] = layer.ok_or_else(|| {
                let what = format!("layers[{s}, {t}] is {}", layers[[s, t]]);
                ScenarioError::usage(what).hint("expected 0 to 14")
            })?;
        }
    }
    Ok(if all.iter().all(|&layer| layer == 0) { Layers::One } else { Layers::BySourceSwitch(all) })
}
