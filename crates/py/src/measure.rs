//! Patterns of traffic, counted: effective bisection bandwidth, worst permutation, the load of every channel.

use std::sync::Arc;

use darkfiber_analysis::count::{Bandwidth, MetricSource, Precision};
use darkfiber_fabric::{Role, TerminalId};
use darkfiber_scenario::{Error as ScenarioError, Folder, Loaded};
use darkfiber_study::grid::Details;
use darkfiber_study::patterns::{PatternPart, PatternPlan};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raised;
use crate::json;
use crate::long::long;
use crate::numbers::{Whole, plain};
use crate::routes::Routes;

/// Default metrics, if neither metrics nor patterns are given.
const USUAL: [&str; 5] = ["worst", "abb", "afpb", "adb", "ebb"];

/// Who takes part, and how closely it is counted.
#[derive(Clone)]
struct Closely {
    among: Option<Vec<u32>>,
    precision: Precision,
    seed: u64,
}

impl Closely {
    fn new(
        among: Option<Vec<Whole<u32>>>,
        samples: Option<Whole<u64>>,
        precision: f64,
        Whole(seed): Whole<u64>,
    ) -> Result<Self, ScenarioError> {
        let (among, samples) = (among.map(plain), samples.map(|samples| samples.0));
        if samples == Some(0) {
            return Err(ScenarioError::usage("samples is 0").hint("expected 1 or more"));
        }
        if !(precision > 0.0 && precision.is_finite()) {
            let error = ScenarioError::usage(format!("precision is {precision}"));
            return Err(error.hint("expected percent above 0, for example 0.5"));
        }
        let closely = Precision { width: 2.0 * precision / 100.0, ..Precision::default() };
        let precision = samples.map_or(closely, Precision::exactly);
        Ok(Self { among, precision, seed })
    }

    /// The terminals that take part: by default all that run jobs.
    fn who(&self, loaded: &Loaded) -> Result<Vec<TerminalId>, ScenarioError> {
        let fabric = &loaded.topology.fabric;
        let count = fabric.terminal_count();
        let Some(among) = &self.among else {
            let all = (0..count).map(TerminalId::new);
            return Ok(all.filter(|&t| fabric.terminal(t).role == Role::Compute).collect());
        };
        if let Some(&t) = among.iter().find(|&&t| t as usize >= count) {
            let error = ScenarioError::usage(format!("among: there is no terminal {t}"));
            return Err(error.hint(format!("expected 0 to {}", count.saturating_sub(1))));
        }
        let mut sorted = among.clone();
        sorted.sort_unstable();
        if let Some([twice, ..]) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let error = ScenarioError::usage(format!("among: terminal {twice} twice"));
            return Err(error.hint("name each terminal once"));
        }
        Ok(among.iter().map(|&t| TerminalId(t)).collect())
    }
}

/// The plan of the request.
fn plan<'a>(
    closely: &Closely,
    loaded: &'a Loaded,
    metrics: Vec<String>,
    patterns: Vec<String>,
    bandwidths: &[Bandwidth],
) -> Result<PatternPlan<'a>, ScenarioError> {
    let planes = loaded.topology.plane_count();
    if planes > 1 {
        let name = loaded.topology.fabric.name();
        let error =
            ScenarioError::usage(format!("patterns are of one plane, and {name} has {planes}"));
        return Err(
            error.hint("plane=1 of darkfiber.Fabric takes the first; each is a subnet of its own")
        );
    }
    let part = PatternPart {
        metrics,
        patterns,
        bandwidths: bandwidths.to_vec(),
        precision: closely.precision,
        ..PatternPart::default()
    };
    let who = closely.who(loaded)?;
    PatternPlan::among(&part, &loaded.topology, who, closely.seed, &Folder::default())
}

/// Measures metrics by name (`worst`, `abb`, `afpb`, `adb`, `ebb` and others of `darkfiber list metrics` that count patterns) and patterns
/// by their spec (`darkfiber list patterns`), by counting the flows on channels; where neither is named, these five metrics.
///
/// Returns a dictionary: `worst` is a whole number; other metrics are dictionaries with `mean`, `ci_low`, `ci_high`, ...; patterns are
/// dictionaries with one of these for each of `share`, `pair_share`, `fair_rate`, `finish_rate`, and `max_load`. As on the command line,
/// `precision` is half the width of the 99 % confidence interval in percent, unless `samples` says how many are drawn.
#[pyfunction]
#[pyo3(signature = (routes, metrics = None, patterns = None, *, among = None, samples = None, precision = 0.5, seed = Whole(1)),
    text_signature = "(routes, metrics=None, patterns=None, *, among=None, samples=None, precision=0.5, seed=1)")]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn measure<'py>(
    py: Python<'py>,
    routes: &Bound<'py, Routes>,
    metrics: Option<Vec<String>>,
    patterns: Option<Vec<String>>,
    among: Option<Vec<Whole<u32>>>,
    samples: Option<Whole<u64>>,
    precision: f64,
    seed: Whole<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let (metrics, patterns) = (metrics.unwrap_or_default(), patterns.unwrap_or_default());
    if let Some(both) = patterns.iter().find(|pattern| metrics.contains(pattern)) {
        let error = ScenarioError::usage(format!("'{both}' is a metric and a pattern"));
        return Err(raised(
            py,
            &error.hint("results have one of that name: ask for them one by one"),
        ));
    }
    let closely =
        Closely::new(among, samples, precision, seed).map_err(|error| raised(py, &error))?;
    let (loaded, tables) = (Arc::clone(&routes.get().loaded), Arc::clone(&routes.get().tables));
    let found = long(py, move |stop| {
        let metrics = if metrics.is_empty() && patterns.is_empty() {
            USUAL.map(str::to_owned).to_vec()
        } else {
            metrics
        };
        let plan = plan(&closely, &loaded, metrics, patterns.clone(), &Bandwidth::ALL)?;
        let found = plan.count(&tables, Details::Rows, &|_| stop.unwind_if_asked())?;
        Ok((plan.metrics, patterns, found))
    })?;
    let all = PyDict::new(py);
    let (metrics, patterns, found) = found;
    for metric in metrics {
        match metric.of {
            MetricSource::Worst => {
                all.set_item(metric.name, found.worst.as_ref().map(|worst| worst.load))?;
            }
            MetricSource::Pattern { pattern, bandwidth } => {
                let estimate = found.of(pattern).and_then(|i| i.measured.bandwidth(bandwidth));
                all.set_item(metric.name, json::value(py, &estimate)?)?;
            }
        }
    }
    for item in patterns.iter().filter_map(|spec| found.of(spec)) {
        let of = PyDict::new(py);
        for (bandwidth, estimate) in &item.measured.bandwidths {
            of.set_item(bandwidth.name(), json::value(py, estimate)?)?;
        }
        of.set_item("max_load", item.measured.most())?;
        all.set_item(&item.spec, of)?;
    }
    Ok(all)
}

/// The mean number of flows of a pattern on each channel between switches, over its phases or samples.
#[pyfunction]
#[pyo3(signature = (routes, pattern, *, among = None, samples = None, precision = 0.5, seed = Whole(1)),
    text_signature = "(routes, pattern, *, among=None, samples=None, precision=0.5, seed=1)")]
pub(crate) fn loads<'py>(
    py: Python<'py>,
    routes: &Bound<'py, Routes>,
    pattern: String,
    among: Option<Vec<Whole<u32>>>,
    samples: Option<Whole<u64>>,
    precision: f64,
    seed: Whole<u64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let closely =
        Closely::new(among, samples, precision, seed).map_err(|error| raised(py, &error))?;
    let (loaded, tables) = (Arc::clone(&routes.get().loaded), Arc::clone(&routes.get().tables));
    let heat = long(py, move |stop| {
        let plan = plan(&closely, &loaded, Vec::new(), vec![pattern], &[])?;
        let mut found = plan.count(&tables, Details::Drawn, &|_| stop.unwind_if_asked())?;
        Ok(found.items.pop().map(|item| item.measured.heat).unwrap_or_default())
    })?;
    Ok(PyArray1::from_vec(py, heat))
}
