//! The proof: every pair of terminals traced, loads, hops, and whether channels can deadlock.

use std::sync::Arc;

use darkfiber_analysis::{Efi, Finding, dark_fiber_percent, finding};
use darkfiber_routing::check::{Report, check as check_routes};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::json;
use crate::long::long;
use crate::routes::Routes;
use crate::text::printable;
use crate::view::view;

/// What the checker, which shares no code with engines, found out about routes.
#[pyclass(frozen, module = "darkfiber")]
pub(crate) struct Check {
    engine: String,
    report: Report,
    efi: Efi,
    dark_percent: f64,
    findings: Vec<Finding>,
}

/// Proves or refutes routes: traces all pairs of terminals, counts, and looks for cyclic channel dependencies.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, routes: &Bound<'_, Routes>) -> PyResult<Check> {
    let (loaded, tables) = (Arc::clone(&routes.get().loaded), Arc::clone(&routes.get().tables));
    long(py, move |_| {
        let report = check_routes(&loaded.topology.fabric, &tables);
        Ok(Check {
            engine: tables.engine.clone(),
            efi: Efi::of(&report.load),
            dark_percent: dark_fiber_percent(&report.load),
            findings: finding::of_routes(&loaded.topology.fabric, &report),
            report,
        })
    })
}

#[pymethods]
impl Check {
    /// The engine, or the file that the tables were read from.
    #[getter]
    fn engine(&self) -> &str {
        &self.engine
    }

    /// Ordered pairs of different terminals (of a plane).
    #[getter]
    fn pairs(&self) -> u64 {
        self.report.pairs
    }

    /// Pairs of a source and a LID whose packets end nowhere.
    #[getter]
    fn unreachable(&self) -> u64 {
        self.report.unreachable
    }

    /// Pairs of a source and a LID whose packets loop.
    #[getter]
    fn loops(&self) -> u64 {
        self.report.loops
    }

    /// Whether every pair reaches.
    #[getter]
    fn complete(&self) -> bool {
        self.report.complete()
    }

    /// Whether no layer has a cycle of channels that wait for each other.
    #[getter]
    fn deadlock_free(&self) -> bool {
        self.report.deadlock_free()
    }

    /// Whether every pair reaches and nothing can deadlock.
    #[getter]
    fn ok(&self) -> bool {
        self.report.complete() && self.report.deadlock_free()
    }

    /// Virtual layers in use.
    #[getter]
    fn layers(&self) -> usize {
        self.report.layers.len().max(1)
    }

    /// Mean number of switches that a pair crosses.
    #[getter]
    fn hops_mean(&self) -> f64 {
        self.report.hops().mean
    }

    /// The largest.
    #[getter]
    fn hops_max(&self) -> usize {
        self.report.hops().max
    }

    /// Pairs by the number of switches that they cross, a view.
    #[getter]
    fn hops<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<u64>> {
        view(slf, |check| &check.report.hops)
    }

    /// Pairs that cross each channel between switches (its edge forwarding index), a view.
    #[getter]
    fn load<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<u64>> {
        view(slf, |check| &check.report.load)
    }

    /// The largest edge forwarding index.
    #[getter]
    fn efi_max(&self) -> u64 {
        self.efi.max
    }

    /// Channels between switches that no route crosses, in percent.
    #[getter]
    fn dark_fiber_percent(&self) -> f64 {
        self.dark_percent
    }

    /// What an operator should act on, each with `kind`, `severity`, `message` and `hint`.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::value(py, &self.findings)
    }

    /// For each layer with a cycle its channels, in their order: each waits for the next, the last for the first.
    #[getter]
    fn cycles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for layer in &self.report.layers {
            if let Some(cycle) = &layer.cycle {
                let channels = cycle.channels.iter().map(|c| c.0).collect();
                all.set_item(layer.layer, PyArray1::from_vec(py, channels))?;
            }
        }
        Ok(all)
    }

    /// The figures with their keys in `darkfiber check --format json`; that has channels, paths and findings, too.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let hops = PyDict::new(py);
        hops.set_item("mean", self.hops_mean())?;
        hops.set_item("max", self.hops_max())?;
        let all = PyDict::new(py);
        all.set_item("engine", &self.engine)?;
        all.set_item("pairs", self.report.pairs)?;
        all.set_item("unreachable", self.report.unreachable)?;
        all.set_item("loops", self.report.loops)?;
        all.set_item("hops", hops)?;
        all.set_item("layers", self.layers())?;
        all.set_item("deadlock_free", self.report.deadlock_free())?;
        all.set_item("efi", json::value(py, &self.efi)?)?;
        all.set_item("dark_fiber_percent", self.dark_percent)?;
        Ok(all)
    }

    fn __repr__(&self) -> String {
        printable(&format!(
            "<darkfiber.Check of {}: {} pairs, {} unreachable, {} loops, deadlock {}, EFI {}, dark fiber {:.1} %>",
            self.engine,
            self.report.pairs,
            self.report.unreachable,
            self.report.loops,
            if self.report.deadlock_free() { "free" } else { "possible" },
            self.efi.max,
            self.dark_percent
        ))
    }
}
