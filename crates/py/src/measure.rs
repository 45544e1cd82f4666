//! Patterns of traffic, counted: effective bisection bandwidth, worst permutation, the load of every channel.

use std::path::Path;
use std::sync::Arc;

use darkfiber_analysis::count::{
    Bandwidth, METRICS, Measured, MetricSource, Paths, Precision, Wanted, measure as count, worst,
};
use darkfiber_fabric::{Role, TerminalId};
use darkfiber_scenario::{Error as ScenarioError, Loaded};
use darkfiber_workload::{Participants, Pattern, PatternError, pattern};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raised;
use crate::json;
use crate::long::long;
use crate::routes::Routes;
use crate::stop::Stop;

/// Metrics where none and no pattern is asked for.
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
        among: Option<Vec<u32>>,
        samples: Option<u64>,
        precision: f64,
        seed: u64,
    ) -> Result<Self, ScenarioError> {
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

    /// The terminals that take part: all that run jobs, if nobody is named.
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

/// A pattern by its spec.
fn named(
    spec: &str,
    loaded: &Loaded,
    who: &[TerminalId],
) -> Result<Box<dyn Pattern>, ScenarioError> {
    let topology = &loaded.topology;
    let among = Participants::of(&topology.fabric, topology.shape.as_ref(), who);
    pattern(spec, &among).map_err(|error| match error {
        PatternError::Count { fits: Some(fits), .. } => {
            ScenarioError::infeasible(&error).hint(format!("among=range({fits}) has as many"))
        }
        PatternError::Count { .. } | PatternError::NoGroups { .. } => {
            ScenarioError::infeasible(&error)
        }
        _ if Path::new(spec).is_file() => {
            ScenarioError::usage(&error).hint("files of pairs are read by the command line only")
        }
        _ => ScenarioError::usage(&error).hint("`darkfiber list patterns` shows all"),
    })
}

/// The channels of all pairs that take part.
fn paths<'a>(
    loaded: &'a Loaded,
    tables: &'a darkfiber_routing::Routes,
    who: &[TerminalId],
) -> Result<Paths<'a>, ScenarioError> {
    Paths::new(&loaded.topology.fabric, tables, who).map_err(|lost| {
        let error =
            ScenarioError::infeasible(format!("{} of the ordered pairs have no route", lost.pairs));
        error.hint("darkfiber.check(routes) says why; `among` takes those that reach each other")
    })
}

/// What was found out about a metric or pattern.
enum Found {
    Worst(u32),
    Metric(Bandwidth, Measured),
    Pattern(Measured),
}

/// Measures metrics by name (`darkfiber list metrics`) and patterns by their spec (`darkfiber list patterns`), by counting the flows on
/// channels; where neither is named, the metrics `worst`, `abb`, `afpb`, `adb` and `ebb`.
///
/// Returns a dictionary: `worst` is a whole number; other metrics are dictionaries with `mean`, `ci_low`, `ci_high`, ...; patterns are
/// dictionaries with one of these for each of `share`, `pair_share`, `fair_rate`, `finish_rate`, and `max_load`. As on the command line,
/// `precision` is half the width of the 99 % confidence interval in percent, unless `samples` says how many are drawn.
#[pyfunction]
#[pyo3(signature = (routes, metrics = Vec::new(), patterns = Vec::new(), *, among = None, samples = None, precision = 0.5, seed = 1))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn measure<'py>(
    py: Python<'py>,
    routes: &Bound<'py, Routes>,
    metrics: Vec<String>,
    patterns: Vec<String>,
    among: Option<Vec<u32>>,
    samples: Option<u64>,
    precision: f64,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let closely =
        Closely::new(among, samples, precision, seed).map_err(|error| raised(py, &error))?;
    let (loaded, tables) = (Arc::clone(&routes.get().loaded), Arc::clone(&routes.get().tables));
    let stop = Stop::default();
    let asked = stop.clone();
    let found = long(py, &stop, move || {
        let who = closely.who(&loaded)?;
        let paths = paths(&loaded, &tables, &who)?;
        let counted = |spec: &str, bandwidths: Vec<Bandwidth>| {
            asked.unwind_if_asked();
            let pattern = named(spec, &loaded, &who)?;
            let wanted = Wanted { bandwidths, loads: false };
            let Closely { precision, seed, .. } = &closely;
            let measured = count(&paths, None, &*pattern, &wanted, precision, *seed);
            Ok::<_, ScenarioError>(measured)
        };
        let metrics = if metrics.is_empty() && patterns.is_empty() {
            USUAL.map(str::to_owned).to_vec()
        } else {
            metrics
        };
        let mut found: Vec<(String, Found)> = Vec::new();
        for name in metrics {
            let found_of = match METRICS.get(&name)?.of {
                MetricSource::Worst => {
                    let worst = worst(&paths, None).map_err(ScenarioError::infeasible)?;
                    Found::Worst(worst.load)
                }
                MetricSource::Pattern { pattern, bandwidth } => {
                    Found::Metric(bandwidth, counted(pattern, vec![bandwidth])?)
                }
            };
            found.push((name, found_of));
        }
        for spec in patterns {
            let measured = counted(&spec, Bandwidth::ALL.to_vec())?;
            found.push((spec, Found::Pattern(measured)));
        }
        Ok(found)
    })?;
    let all = PyDict::new(py);
    for (name, found) in found {
        match found {
            Found::Worst(load) => all.set_item(name, load)?,
            Found::Metric(bandwidth, measured) => {
                all.set_item(name, json::value(py, &measured.bandwidth(bandwidth))?)?;
            }
            Found::Pattern(measured) => {
                let of = PyDict::new(py);
                for (bandwidth, estimate) in &measured.bandwidths {
                    of.set_item(bandwidth.name(), json::value(py, estimate)?)?;
                }
                of.set_item("max_load", measured.most())?;
                all.set_item(name, of)?;
            }
        }
    }
    Ok(all)
}

/// The mean number of flows of a pattern on each channel between switches, over its phases or samples.
#[pyfunction]
#[pyo3(signature = (routes, pattern, *, among = None, samples = None, precision = 0.5, seed = 1))]
pub(crate) fn loads<'py>(
    py: Python<'py>,
    routes: &Bound<'py, Routes>,
    pattern: String,
    among: Option<Vec<u32>>,
    samples: Option<u64>,
    precision: f64,
    seed: u64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let closely =
        Closely::new(among, samples, precision, seed).map_err(|error| raised(py, &error))?;
    let (loaded, tables) = (Arc::clone(&routes.get().loaded), Arc::clone(&routes.get().tables));
    let heat = long(py, &Stop::default(), move || {
        let who = closely.who(&loaded)?;
        let paths = paths(&loaded, &tables, &who)?;
        let pattern = named(&pattern, &loaded, &who)?;
        let wanted = Wanted { bandwidths: Vec::new(), loads: true };
        Ok(count(&paths, None, &*pattern, &wanted, &closely.precision, closely.seed).heat)
    })?;
    Ok(PyArray1::from_vec(py, heat))
}
