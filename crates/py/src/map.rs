//! The map of a fabric, alone or with the loads of its channels.

use std::sync::Arc;

use darkfiber_analysis::{finding, main_lanes};
use darkfiber_page::{Origin, Page, Unit, View};
use darkfiber_report::page::{Notes, facts};
use darkfiber_routing::Routes;
use darkfiber_scenario::Loaded;
use pyo3::prelude::*;

use crate::long::long;

/// The map without loads.
pub(crate) fn of_fabric(py: Python<'_>, loaded: &Arc<Loaded>) -> PyResult<String> {
    let loaded = Arc::clone(loaded);
    long(py, move |_| Ok(darkfiber_page::map(&page(&loaded, Vec::new(), None))))
}

/// The map with the loads of channels.
pub(crate) fn with_load(
    py: Python<'_>,
    loaded: &Arc<Loaded>,
    (name, unit): (String, Unit),
    load: Vec<f64>,
) -> PyResult<String> {
    let loaded = Arc::clone(loaded);
    let view = View { name, unit, load, series: None, lanes: Vec::new() };
    long(py, move |_| Ok(darkfiber_page::map(&page(&loaded, vec![view], None))))
}

/// The page of `--html`: one file with the map, in which hosts and paths can be looked up.
pub(crate) fn page_of_routes(
    py: Python<'_>,
    loaded: &Arc<Loaded>,
    routes: &Arc<Routes>,
) -> PyResult<String> {
    let (loaded, routes) = (Arc::clone(loaded), Arc::clone(routes));
    long(py, move |_| {
        let fabric = &loaded.topology.fabric;
        let report = darkfiber_routing::check::check(fabric, &routes);
        let load = report.load.iter().map(|&n| n as f64).collect();
        let name = routes.engine.clone();
        let lanes = main_lanes(fabric, &routes).unwrap_or_default();
        let view = View { name, unit: Unit::Routes, load, series: None, lanes };
        let findings = Notes::new(fabric).of(&finding::of_routes(fabric, &report));
        let page = page(&loaded, vec![view], Some(&routes));
        Ok(darkfiber_page::page(&Page { findings, ..page }))
    })
}

fn page<'a>(loaded: &'a Loaded, views: Vec<View>, routes: Option<&'a Routes>) -> Page<'a> {
    let topology = &loaded.topology;
    Page {
        title: topology.fabric.name().to_owned(),
        subtitle: routes.map_or_else(String::new, |routes| format!("routes of {}", routes.engine)),
        fabric: &topology.fabric,
        shape: topology.shape.as_ref(),
        views,
        jobs: Vec::new(),
        findings: Vec::new(),
        charts: Vec::new(),
        sheets: Vec::new(),
        routes,
        facts: facts(topology),
        origin: Origin { version: env!("CARGO_PKG_VERSION").to_owned(), ..Origin::default() },
    }
}
