//! What patterns of traffic get.

use darkfiber_analysis::count::{
    Bandwidth, METRICS, MetricSource, Paths, Precision, Wanted, measure, worst,
};
use darkfiber_fabric::{Role, TerminalId};
use darkfiber_scenario::Error;
use darkfiber_workload::{Participants, pattern};

use crate::grid::params::Params;
use crate::grid::question::{Asked, ColumnOf, Question};
use crate::grid::row::Answer;

/// Metrics where none and no pattern is asked for.
const USUAL: [&str; 1] = ["ebb"];

pub(in crate::grid) struct Patterns;

impl Question for Patterns {
    fn name(&self) -> &'static str {
        "patterns"
    }

    fn summary(&self) -> &'static str {
        "what patterns of traffic get, by counting: metrics with a name, and patterns by their spec"
    }

    fn parameters(&self) -> &'static [ColumnOf] {
        &[
            ("metric", "names of `darkfiber list metrics`; ebb without, if there is no pattern"),
            ("pattern", "specs of `darkfiber list patterns`"),
            ("bandwidth", "of patterns: share, pair_share, fair_rate, finish_rate; all without"),
            ("samples", "draw as many samples of random patterns"),
            (
                "precision",
                "half-width of the 99 % confidence interval of a mean, in percent of it; 0.5 without",
            ),
        ]
    }

    fn columns(&self) -> &'static [ColumnOf] {
        &[
            ("value", "of a metric: its mean, or the largest load of the worst permutation"),
            ("share", "of a pattern: what the slowest pair gets, as part of a terminal's link"),
            ("pair_share", "mean over the pairs of 1 / flows on the fullest channel of the path"),
            ("fair_rate", "mean of the max-min fair rates"),
            ("finish_rate", "1 / time until the last of equal messages has arrived"),
            ("max_load", "flows on the fullest channel of any sample"),
            ("ci_low", "lower end of the 99 % confidence interval of value, or of share"),
            ("ci_high", "its upper end"),
            ("samples", "samples or phases that were counted"),
        ]
    }

    fn check(&self, params: &Params) -> Result<(), Error> {
        for name in params.words("metric")?.unwrap_or_default() {
            METRICS.get(&name)?;
        }
        params.words("pattern")?;
        bandwidths(params)?;
        precision(params)?;
        Ok(())
    }

    fn answer(&self, asked: &Asked<'_>, params: &Params) -> Result<Vec<Answer>, Error> {
        let tables = asked.tables.as_ref().map_err(Clone::clone)?;
        tables.expect_tables("patterns")?;
        let topology = &asked.loaded.topology;
        let fabric = &topology.fabric;
        let all = (0..fabric.terminal_count()).map(TerminalId::new);
        let who: Vec<TerminalId> =
            all.filter(|&t| fabric.terminal(t).role == Role::Compute).collect();
        let paths = Paths::new(fabric, &tables.routes, &who).map_err(|lost| {
            Error::infeasible(format!("{} of the ordered pairs have no route", lost.pairs))
        })?;
        let groups = Participants::of(fabric, topology.shape.as_ref(), &who);
        let precision = precision(params)?;
        let seed = asked.scenario.seed.unwrap_or(1);
        let count = |spec: &str, bandwidths: Vec<Bandwidth>| {
            let pattern =
                pattern(spec, &groups).map_err(|e| Error::infeasible(format!("{spec}: {e}")))?;
            let wanted = Wanted { bandwidths, loads: false };
            Ok::<_, Error>(measure(&paths, None, &*pattern, &wanted, &precision, seed))
        };
        let specs = params.words("pattern")?.unwrap_or_default();
        let metrics = params.words("metric")?.unwrap_or_else(|| {
            let usual = if specs.is_empty() { &USUAL[..] } else { &[] };
            usual.iter().map(|&name| name.to_owned()).collect()
        });
        let mut answers = Vec::new();
        for name in &metrics {
            answers.push(match METRICS.get(name)?.of {
                MetricSource::Worst => {
                    let found = worst(&paths, None).map_err(Error::infeasible)?;
                    Answer::of(name.as_str()).with("value", u64::from(found.load))
                }
                MetricSource::Pattern { pattern, bandwidth } => {
                    let found = count(pattern, vec![bandwidth])?;
                    let e = found.bandwidth(bandwidth);
                    Answer::of(name.as_str())
                        .with_some("value", e.map(|e| e.mean))
                        .with("max_load", found.most())
                        .with_some("ci_low", e.map(|e| e.ci_low))
                        .with_some("ci_high", e.map(|e| e.ci_high))
                        .with_some("samples", e.map(|e| e.samples))
                }
            });
        }
        let bandwidths = bandwidths(params)?;
        for spec in &specs {
            let found = count(spec, bandwidths.clone())?;
            let mut answer = Answer::of(spec.as_str());
            for &bandwidth in &bandwidths {
                let mean = found.bandwidth(bandwidth).map(|e| e.mean);
                answer = answer.with_some(bandwidth.name(), mean);
            }
            let share = found.bandwidth(Bandwidth::Share);
            answers.push(
                answer
                    .with("max_load", found.most())
                    .with_some("ci_low", share.map(|e| e.ci_low))
                    .with_some("ci_high", share.map(|e| e.ci_high))
                    .with_some("samples", share.map(|e| e.samples)),
            );
        }
        Ok(answers)
    }
}

/// What of patterns is found out.
fn bandwidths(params: &Params) -> Result<Vec<Bandwidth>, Error> {
    let Some(names) = params.words("bandwidth")? else { return Ok(Bandwidth::ALL.to_vec()) };
    let named = |name: &String| {
        let known = Bandwidth::ALL.map(Bandwidth::name);
        let found = Bandwidth::ALL.into_iter().find(|bandwidth| bandwidth.name() == name);
        found.ok_or_else(|| Error::unknown("bandwidth", name, &known))
    };
    names.iter().map(named).collect()
}

/// When to stop drawing samples.
fn precision(params: &Params) -> Result<Precision, Error> {
    let samples = params.number("samples", 1.0, 1e9)?;
    let percent = params.number("precision", 1e-6, 100.0)?.unwrap_or(0.5);
    #[expect(clippy::cast_sign_loss, reason = "at least 1")]
    let exactly = samples.map(|n| Precision::exactly(n as u64));
    Ok(exactly.unwrap_or(Precision { width: 2.0 * percent / 100.0, ..Precision::default() }))
}
