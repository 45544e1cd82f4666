//! The throughput of traffic patterns.

use darkfiber_analysis::count::{Bandwidth, METRICS, Metric, MetricSource, Precision};
use darkfiber_scenario::Error;

use crate::grid::params::Params;
use crate::grid::question::{CellContext, ColumnOf, Question};
use crate::grid::row::{Answer, Detail};
use crate::patterns::{ItemFound, PatternPart, PatternPlan, PatternsFound};

/// Default metrics, if neither metrics nor patterns are given.
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
            ("pattern", "specs of `darkfiber list patterns`, or files of pairs"),
            ("bandwidth", "of patterns: share, pair_share, fair_rate, finish_rate; all without"),
            ("among", "who takes part, as with measure --among; all that run jobs without"),
            ("aliases", "a file of other names of hosts, and of groups, for among"),
            ("link-speeds", "whether flows are weighted by the speed of links"),
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
        part(params).map(|_| ())
    }

    fn files(&self, params: &Params) -> Vec<String> {
        let named = ["among", "aliases", "pattern"].map(|key| params.words(key));
        named.into_iter().filter_map(|words| words.ok().flatten()).flatten().collect()
    }

    fn answer(&self, context: &CellContext<'_>, params: &Params) -> Result<Vec<Answer>, Error> {
        let tables = context.tables.as_ref().map_err(Clone::clone)?;
        tables.expect_tables("patterns")?;
        let (part, seed) = (part(params)?, context.scenario.seed.unwrap_or(1));
        let plan = PatternPlan::of(&part, &context.loaded.topology, seed, context.files, &mut ())?;
        let found = plan.count(&tables.routes, context.details, &|_| ())?;
        let metrics = plan.metrics.iter().map(|metric| row_of_metric(metric, &found));
        let patterns = part.patterns.iter().filter_map(|spec| found.of(spec));
        let patterns = patterns.map(|item| row_of_pattern(item, &part.bandwidths));
        let mut answers: Vec<Answer> = metrics.chain(patterns).collect();
        if let Some(first) = answers.first_mut().filter(|_| context.details.are_wanted()) {
            first.detail = Detail::new(PatternsFound { seconds: context.seconds, ..found });
        }
        Ok(answers)
    }
}

fn row_of_metric(metric: &Metric, found: &PatternsFound) -> Answer {
    let answer = Answer::of(metric.name);
    match metric.of {
        MetricSource::Worst => {
            answer.with_some("value", found.worst.as_ref().map(|worst| u64::from(worst.load)))
        }
        MetricSource::Pattern { pattern, bandwidth } => {
            let Some(item) = found.of(pattern) else { return answer };
            let e = item.measured.bandwidth(bandwidth);
            answer
                .with_some("value", e.map(|e| e.mean))
                .with("max_load", item.measured.most())
                .with_some("ci_low", e.and_then(|e| e.ci_low))
                .with_some("ci_high", e.and_then(|e| e.ci_high))
                .with_some("samples", e.map(|e| e.samples))
        }
    }
}

fn row_of_pattern(item: &ItemFound, bandwidths: &[Bandwidth]) -> Answer {
    let mut answer = Answer::of(item.spec.as_str());
    for &bandwidth in bandwidths {
        let mean = item.measured.bandwidth(bandwidth).map(|e| e.mean);
        answer = answer.with_some(bandwidth.name(), mean);
    }
    let share = item.measured.bandwidth(Bandwidth::Share);
    answer
        .with("max_load", item.measured.most())
        .with_some("ci_low", share.and_then(|e| e.ci_low))
        .with_some("ci_high", share.and_then(|e| e.ci_high))
        .with_some("samples", share.map(|e| e.samples))
}

/// The parameters as a [`PatternPart`].
fn part(params: &Params) -> Result<PatternPart, Error> {
    let patterns = params.words("pattern")?.unwrap_or_default();
    let metrics = params.words("metric")?.unwrap_or_else(|| {
        let usual = if patterns.is_empty() { &USUAL[..] } else { &[] };
        usual.iter().map(|&name| name.to_owned()).collect()
    });
    Ok(PatternPart {
        metrics,
        patterns,
        bandwidths: bandwidths(params)?,
        among: params.word("among")?,
        aliases: params.word("aliases")?,
        link_speeds: params.flag("link-speeds")?,
        precision: precision(params)?,
    })
}

/// The quantities to compute for patterns.
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
