//! darkfiber as a Python module: fabrics, routes, their proofs, patterns, scenarios and studies as objects that return NumPy
//! arrays and Arrow tables.
//!
//! Nothing prints. Errors are exceptions (`error`) with the hints of the command line. Long computations run without Python's lock,
//! on a separate thread, so that Ctrl-C works (`long`).

mod check;
mod columns;
mod error;
mod fabric;
mod json;
mod keys;
mod long;
mod map;
mod measure;
mod numbers;
mod own_engine;
mod remarks;
mod route;
mod routes;
mod scenario;
mod standard_input;
mod study;
mod table;
mod text;
mod view;

use pyo3::prelude::*;

/// Routing, proofs and simulation of HPC fabrics.
///
/// `Fabric` reads or makes a network, `route` and `read_tables` give it forwarding tables, `check` proves them, `measure` and
/// `loads` count patterns of traffic on them, `Scenario` simulates jobs, and `Study` asks questions of many scenarios.
#[pymodule(gil_used = true)]
fn darkfiber(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Loaded and asked for its interface when an array is first returned, a Ctrl-C meanwhile would be a panic.
    module.py().import("numpy")?;
    drop(numpy::PyArray1::<f64>::zeros(module.py(), 0, false));
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::add_to(module)?;
    module.add_class::<fabric::Fabric>()?;
    module.add_class::<routes::Routes>()?;
    module.add_class::<check::Check>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<scenario::Run>()?;
    module.add_class::<study::Study>()?;
    module.add_function(wrap_pyfunction!(route::route, module)?)?;
    module.add_function(wrap_pyfunction!(route::read_tables, module)?)?;
    module.add_function(wrap_pyfunction!(route::from_ports, module)?)?;
    module.add_function(wrap_pyfunction!(route::engines, module)?)?;
    module.add_function(wrap_pyfunction!(check::check, module)?)?;
    module.add_function(wrap_pyfunction!(measure::measure, module)?)?;
    module.add_function(wrap_pyfunction!(measure::loads, module)?)?;
    Ok(())
}
