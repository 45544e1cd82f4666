//! Counting patterns over routes.

use darkfiber_analysis::Names;
use darkfiber_analysis::count::{
    Bandwidth, Costs, METRICS, Metric, MetricSource, Paths, Precision, Quantities, bounds, measure,
    worst,
};
use darkfiber_fabric::{TerminalId, Topology};
use darkfiber_routing::Routes;
use darkfiber_scenario::{Error, Files, Listener, aliases, participants};
use darkfiber_workload::{Participants, Pattern, PatternError, kind, pattern};

use super::found::{ItemFound, PatternsFound};
use super::part::PatternPart;
use crate::grid::Details;

/// The participants on a fabric, and the counts to make.
pub struct PatternPlan<'a> {
    topology: &'a Topology,
    /// Terminals that take part.
    pub who: Vec<TerminalId>,
    /// Metrics that are requested.
    pub metrics: Vec<&'static Metric>,
    items: Vec<Item>,
    costs: Option<Costs>,
    precision: Precision,
    seed: u64,
}

/// A pattern, and the quantities to compute for it.
struct Item {
    spec: String,
    pattern: Box<dyn Pattern>,
    bandwidths: Vec<Bandwidth>,
}

impl<'a> PatternPlan<'a> {
    /// Resolves a request for a fabric.
    ///
    /// # Errors
    /// If a name, a metric or a pattern does not exist, or a pattern does not fit the participants.
    pub fn of(
        part: &PatternPart,
        topology: &'a Topology,
        seed: u64,
        files: &dyn Files,
        listener: &mut dyn Listener,
    ) -> Result<Self, Error> {
        let fabric = &topology.fabric;
        let names = part.aliases.as_ref().map(|name| files.locate(name));
        let names = aliases(names.as_deref(), fabric, listener)?;
        let who = participants::terminals(fabric, part.among.as_deref(), names, files)?;
        Self::among(part, topology, who, seed, files)
    }

    /// The same for given terminals.
    ///
    /// # Errors
    /// If a metric or a pattern does not exist, or does not fit them.
    pub fn among(
        part: &PatternPart,
        topology: &'a Topology,
        who: Vec<TerminalId>,
        seed: u64,
        files: &dyn Files,
    ) -> Result<Self, Error> {
        let fabric = &topology.fabric;
        let among = Participants::of(fabric, topology.shape.as_ref(), &who);
        let mut metrics: Vec<&'static Metric> = Vec::new();
        for name in &part.metrics {
            let metric = METRICS.get(name)?;
            if metrics.iter().all(|known| known.name != metric.name) {
                metrics.push(metric);
            }
        }
        // A pattern that is requested more than once is counted once.
        let mut wanted: Vec<(String, Vec<Bandwidth>)> = Vec::new();
        let mut want =
            |spec: &str, more: &[Bandwidth]| match wanted.iter_mut().find(|w| w.0 == spec) {
                Some((_, all)) => all.extend(more),
                None => wanted.push((spec.to_owned(), more.to_vec())),
            };
        for metric in METRICS.iter().filter(|m| metrics.iter().any(|known| known.name == m.name)) {
            if let MetricSource::Pattern { pattern, bandwidth } = metric.of {
                want(pattern, &[bandwidth]);
            }
        }
        for spec in &part.patterns {
            want(spec, &part.bandwidths);
        }
        let item = |(spec, bandwidths): (String, Vec<Bandwidth>)| {
            let pattern = pattern_of(&spec, &among, topology, &who, files)?;
            Ok(Item { spec, pattern, bandwidths })
        };
        let items = wanted.into_iter().map(item).collect::<Result<_, Error>>()?;
        let costs = part.link_speeds.then(|| Costs::by_speed(fabric, &who));
        let precision = part.precision;
        Ok(Self { topology, who, metrics, items, costs, precision, seed })
    }

    /// Counts everything; upper bounds and channel loads, too, where such `details` are wanted. `at` is called with the item
    /// that is counted.
    ///
    /// # Errors
    /// If routes do not reach all participants, or there are too many of these.
    pub fn count(
        &self,
        routes: &Routes,
        details: Details,
        at: &dyn Fn(&str),
    ) -> Result<PatternsFound, Error> {
        let fabric = &self.topology.fabric;
        let paths = Paths::new(fabric, routes, &self.who).map_err(|lost| {
            let (s, d) = lost.example;
            Error::infeasible(format!(
                "{} of the ordered pairs have no route, for example {}; `darkfiber check` tells \
                 more, --among takes those that reach each other",
                lost.pairs,
                Names::new(fabric).pair(s, d)
            ))
        })?;
        let is_worst = |metric: &&Metric| matches!(metric.of, MetricSource::Worst);
        let found = self.metrics.iter().copied().find(is_worst).map(|metric| {
            at(metric.name);
            worst(&paths, self.costs.as_ref()).map_err(Error::infeasible)
        });
        let worst = found.transpose()?;
        let item = |item: &Item| {
            at(&item.spec);
            let wanted = Quantities {
                bandwidths: item.bandwidths.clone(),
                loads: details == Details::Drawn,
            };
            let (costs, pattern) = (self.costs.as_ref(), &*item.pattern);
            ItemFound {
                spec: item.spec.clone(),
                measured: measure(&paths, costs, pattern, &wanted, &self.precision, self.seed),
                bounds: details.are_wanted().then(|| {
                    let shape = self.topology.shape.as_ref();
                    bounds(
                        fabric,
                        shape,
                        &self.who,
                        costs,
                        pattern,
                        (self.seed, self.precision.first),
                    )
                }),
            }
        };
        let items = self.items.iter().map(item).collect();
        Ok(PatternsFound {
            engine: routes.engine.clone(),
            seconds: 0.0,
            by_speed: self.costs.is_some(),
            metrics: self.metrics.iter().map(|metric| metric.name).collect(),
            worst,
            items,
        })
    }
}

/// The pattern of a spec, or of a file of pairs.
///
/// # Errors
/// If it does not exist, or does not fit the participants.
pub fn pattern_of(
    spec: &str,
    among: &Participants,
    topology: &Topology,
    who: &[TerminalId],
    files: &dyn Files,
) -> Result<Box<dyn Pattern>, Error> {
    let file = files.locate(spec);
    // A file called like a pattern is not meant.
    let named = kind(spec.split(':').next().unwrap_or_default()).is_ok();
    if !named && file.is_file() {
        return participants::pairs(&topology.fabric, who, &file);
    }
    pattern(spec, among).map_err(|error| {
        let text = error.to_string();
        match error {
            PatternError::Count { fits: Some(fits), .. } => {
                Error::infeasible(text).hint(format!("--among 0-{} takes {fits} of them", fits - 1))
            }
            PatternError::Count { .. } | PatternError::NoGroups { .. } => Error::infeasible(text),
            _ => Error::usage(text).hint("`darkfiber list patterns` shows all; a file holds pairs"),
        }
    })
}
