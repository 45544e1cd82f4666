//! Routes: forwarding tables of a fabric, of any origin.

use std::sync::Arc;

use darkfiber_fabric::TerminalId;
use darkfiber_page::Unit;
use darkfiber_routing::check::check;
use darkfiber_routing::{DestId, Routes as Tables, follow};
use darkfiber_scenario::{Error as ScenarioError, Loaded};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::error::{bug, raised};
use crate::fabric::Fabric;
use crate::long::long;
use crate::map;
use crate::numbers::Whole;
use crate::text::printable;
use crate::view::view_rows;

/// Forwarding tables of a fabric, with the virtual layers of its paths.
#[pyclass(frozen, module = "darkfiber")]
pub(crate) struct Routes {
    pub(crate) fabric: Py<Fabric>,
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) tables: Arc<Tables>,
    remarks: Vec<String>,
}

impl Routes {
    /// Tables of this fabric.
    pub(crate) fn of(fabric: &Bound<'_, Fabric>, tables: Tables, remarks: Vec<String>) -> Self {
        let loaded = Arc::clone(&fabric.get().loaded);
        Self { fabric: fabric.clone().unbind(), loaded, tables: Arc::new(tables), remarks }
    }

    /// The terminal of a number, if there is one.
    fn terminal(&self, py: Python<'_>, Whole(number): Whole<usize>) -> PyResult<TerminalId> {
        let count = self.tables.terminal_count();
        if number < count {
            return Ok(TerminalId::new(number));
        }
        let error = ScenarioError::usage(format!("there is no terminal {number}"));
        Err(raised(py, &error.hint(format!("expected 0 to {}", count.saturating_sub(1)))))
    }
}

#[pymethods]
impl Routes {
    /// The fabric.
    #[getter]
    fn fabric(&self, py: Python<'_>) -> Py<Fabric> {
        self.fabric.clone_ref(py)
    }

    /// The engine, or the file that they were read from.
    #[getter]
    fn engine(&self) -> &str {
        &self.tables.engine
    }

    /// What the engine gave up, and what readers had to say.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.tables.notes.iter().chain(&self.remarks).cloned().collect()
    }

    /// LIDs of each terminal.
    #[getter]
    fn lids_per_terminal(&self) -> usize {
        self.tables.paths()
    }

    /// Virtual layers (lanes) in use.
    #[getter]
    fn layer_count(&self) -> usize {
        self.tables.layer_count()
    }

    /// The tables as they are held, a view: `table[rows[d], s]` is the egress port of switch `s` towards LID `d`; 0 at the switch of
    /// the destination, 255 where there is no route.
    #[getter]
    fn table<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let switches = slf.get().tables.switch_count();
        view_rows(slf, switches, |routes| routes.tables.table())
            .ok_or_else(|| bug(slf.py(), "rows that are not whole"))
    }

    /// The row of `table` of each LID: those of terminal 0, of terminal 1, ..., then one of each switch.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        let (terminals, paths) = (self.tables.terminal_count(), self.tables.paths());
        let of_terminals = (0..terminals * paths)
            .map(|lid| self.tables.row(DestId::new(lid / paths.max(1)), lid % paths.max(1)));
        let of_switches = (terminals..terminals + self.tables.switch_count())
            .map(|d| self.tables.row(DestId::new(d), 0));
        PyArray1::from_vec(py, of_terminals.chain(of_switches).map(|row| row as u32).collect())
    }

    /// Egress ports by switch and destination terminal (its base LID), a copy: what `from_ports` takes.
    fn ports<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let (switches, terminals) = (self.tables.switch_count(), self.tables.terminal_count());
        let mut all = vec![0; switches * terminals];
        for t in 0..terminals {
            let row = self.tables.ports(self.tables.row(DestId::new(t), 0));
            for (s, &port) in row.iter().enumerate() {
                all[s * terminals + t] = port;
            }
        }
        PyArray1::from_vec(py, all).reshape([switches, terminals])
    }

    /// The channels between switches that packets from one terminal to another cross, in their order.
    fn path<'py>(
        &self,
        py: Python<'py>,
        source: Whole<usize>,
        destination: Whole<usize>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let [from, to] = [self.terminal(py, source)?, self.terminal(py, destination)?];
        let fabric = &self.loaded.topology.fabric;
        let row = self.tables.row(DestId::terminal(to), self.tables.path_of(from));
        let mut path = Vec::new();
        let first = fabric.terminal(from).switch;
        if !follow(fabric, self.tables.ports(row), to, first, &mut path) {
            let what = format!("terminal {} does not reach terminal {}", source.0, destination.0);
            let error = ScenarioError::infeasible(what);
            return Err(raised(py, &error.hint("darkfiber.check(routes) says why")));
        }
        Ok(PyArray1::from_vec(py, path))
    }

    /// The virtual layer (service level) of the path from one terminal to another.
    fn layer(
        &self,
        py: Python<'_>,
        source: Whole<usize>,
        destination: Whole<usize>,
    ) -> PyResult<u8> {
        let [from, to] = [self.terminal(py, source)?, self.terminal(py, destination)?];
        Ok(self.tables.layer(&self.loaded.topology.fabric, from, to))
    }

    /// The map as a picture (SVG), with the routes over each channel.
    fn map(&self, py: Python<'_>) -> PyResult<String> {
        let (loaded, tables) = (Arc::clone(&self.loaded), Arc::clone(&self.tables));
        let load = long(py, move |_| {
            let report = check(&loaded.topology.fabric, &tables);
            Ok(report.load.iter().map(|&routes| routes as f64).collect())
        })?;
        map::with_load(py, &self.loaded, (self.tables.engine.clone(), Unit::Routes), load)
    }

    /// The page of `darkfiber check --html`: one file, in which hosts and paths can be looked up.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        map::page_of_routes(py, &self.loaded, &self.tables)
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        self.map(py)
    }

    fn __repr__(&self) -> String {
        printable(&format!(
            "<darkfiber.Routes of {} on {}: {} rows of {} switches>",
            self.tables.engine,
            self.loaded.topology.fabric.name(),
            self.tables.row_count(),
            self.tables.switch_count()
        ))
    }
}
