//! Results of `darkfiber measure`.

use std::fmt::Write as _;

use darkfiber_analysis::count::{Bandwidth, Bounds, Estimate, METRICS, MetricSource};
use darkfiber_analysis::{ChannelName, PairName};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::model::{FabricFacts, Provenance, Refused, one_or_all};
use crate::number::{duration, group, mean};
use crate::style::Style;
use crate::table::{headline, plain};
use crate::{Report, comma};

/// Largest loads.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct MaxLoad {
    /// Mean over samples or phases.
    pub mean: f64,
    /// In any sample or phase.
    pub max: usize,
}

/// What routes make of a pattern. Bandwidths are shares of what a terminal's link carries.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct PatternMeasured {
    /// The pattern as asked for.
    pub pattern: String,
    /// 1 / largest load: what the slowest pair gets.
    pub share: Estimate,
    /// Mean over the pairs of 1 / flows on the worst channel of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair_share: Option<Estimate>,
    /// Mean of the max-min fair rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_rate: Option<Estimate>,
    /// 1 / time until the last of equal messages has arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_rate: Option<Estimate>,
    /// Flows on the fullest channel, those of terminals included.
    pub max_load: MaxLoad,
    /// Samples or phases by their largest load, from 0.
    pub max_load_histogram: Vec<u64>,
    /// Directed switch-to-switch channels by load, from 0, summed over samples or phases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub load_histogram: Vec<u64>,
    /// What `share` cannot exceed, whatever the routes.
    pub bounds: Bounds,
    /// Mean flows on each switch-to-switch channel, for pictures.
    #[serde(skip)]
    pub heat: Vec<f64>,
}

impl PatternMeasured {
    /// One of the bandwidths.
    pub fn bandwidth(&self, which: Bandwidth) -> Option<Estimate> {
        match which {
            Bandwidth::Share => Some(self.share),
            Bandwidth::PairShare => self.pair_share,
            Bandwidth::FairRate => self.fair_rate,
            Bandwidth::FinishRate => self.finish_rate,
        }
    }
}

/// What routes are worth.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct EngineMeasured {
    /// Engine that computed them, or what they were read from.
    pub engine: String,
    /// Wall time of computing routes; `null` for routes that were read.
    pub seconds: Option<f64>,
    /// Terminals that take part.
    pub participants: usize,
    /// Most flows of any permutation on one channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<u32>,
    /// How many times as long as alone a flow takes there, with links of several speeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_slowdown: Option<f64>,
    /// The channel; absent if no channel between switches carries more than a terminal's link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_channel: Option<ChannelName>,
    /// A permutation that does it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub worst_pairs: Vec<PairName>,
    /// Average bisection bandwidth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abb: Option<Estimate>,
    /// Average full permutation bandwidth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub afpb: Option<Estimate>,
    /// Average dissemination bandwidth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adb: Option<Estimate>,
    /// Effective bisection bandwidth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ebb: Option<Estimate>,
    /// Mean max-min fair rate of bisections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair: Option<Estimate>,
    /// 1 / completion time of bisections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish: Option<Estimate>,
    /// Every pattern that was counted.
    pub patterns: Vec<PatternMeasured>,
}

impl EngineMeasured {
    /// The place for the mean of a metric of [`METRICS`], by name.
    pub fn mean_mut(&mut self, metric: &str) -> Option<&mut Option<Estimate>> {
        Some(match metric {
            "abb" => &mut self.abb,
            "afpb" => &mut self.afpb,
            "adb" => &mut self.adb,
            "ebb" => &mut self.ebb,
            "fair" => &mut self.fair,
            "finish" => &mut self.finish,
            _ => return None,
        })
    }
}

/// One row of a comparison.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum MeasureOutcome {
    /// It was measured.
    Measured(Box<EngineMeasured>),
    /// It could not route, or does not reach all.
    Refused(Refused),
}

/// Four decimals, as papers print bandwidths.
fn share(x: f64) -> String {
    format!("{x:.4}")
}

/// Comparison of engines and tables on one fabric.
#[derive(Clone, Copy, Debug)]
pub struct MeasureResult<'a> {
    /// One row an engine, in the requested order.
    pub rows: &'a [MeasureOutcome],
    /// Terminals that take part.
    pub participants: usize,
    /// Metrics that people see, by name.
    pub metrics: &'a [&'a str],
    /// Patterns in the text output, as requested.
    pub patterns: &'a [String],
    /// Facts about the fabric.
    pub fabric: &'a FabricFacts,
    /// Provenance of the result.
    pub provenance: &'a Provenance,
}

impl Report for MeasureResult<'_> {
    fn text(&self, style: Style) -> String {
        format!(
            "{}\n{} terminals take part\n\n{}",
            headline(self.fabric),
            group(self.participants as u64),
            text(self.rows, self.metrics, self.patterns, style)
        )
    }

    fn csv(&self) -> String {
        csv(self.rows)
    }
}

impl Serialize for MeasureResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        one_or_all(self.rows, self.fabric, self.provenance, serializer)
    }
}

/// A table of engines, metrics first, then the requested patterns.
pub(crate) fn text(
    outcomes: &[MeasureOutcome],
    metrics: &[&str],
    patterns: &[String],
    style: Style,
) -> String {
    let measured: Vec<&EngineMeasured> = outcomes
        .iter()
        .filter_map(|o| match o {
            MeasureOutcome::Measured(m) => Some(&**m),
            MeasureOutcome::Refused(_) => None,
        })
        .collect();
    let mut text = String::new();
    if !metrics.is_empty() && !measured.is_empty() {
        let mut heading = vec!["engine", "time"];
        heading.extend(metrics);
        let mut rows: Vec<Vec<String>> = measured
            .iter()
            .map(|m| {
                let time = m.seconds.map_or("-".to_owned(), duration);
                let cells = metrics.iter().map(|name| metric_cell(m, name));
                [m.engine.clone(), time].into_iter().chain(cells).collect()
            })
            .collect();
        rows.extend(bound_row(measured[0], metrics));
        let numbers: Vec<usize> = (1..heading.len()).collect();
        text.push_str(&plain(&heading, &rows, &numbers, style));
        let mut first = true;
        for m in &measured {
            if let (Some(load), Some(channel)) = (m.worst, &m.worst_channel) {
                let gap = if std::mem::take(&mut first) { "\n" } else { "" };
                // By speed it is the channel that takes longest, and others may have more flows.
                let slower = m.worst_slowdown.map_or_else(String::new, |times| {
                    format!(", {times:.2} times as long as one alone")
                });
                let load = group(load.into());
                let _infallible =
                    writeln!(text, "{gap}{}: {load} flows on {channel}{slower}", m.engine);
            }
        }
    }
    for (i, pattern) in patterns.iter().enumerate() {
        let rows: Vec<(&EngineMeasured, &PatternMeasured)> = measured
            .iter()
            .filter_map(|m| Some((*m, m.patterns.iter().find(|p| p.pattern == *pattern)?)))
            .collect();
        if rows.is_empty() {
            continue;
        }
        if i > 0 || !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&pattern_table(pattern, &rows, style));
    }
    text.push_str(&notes(&measured));
    for outcome in outcomes {
        if let MeasureOutcome::Refused(r) = outcome {
            let _infallible = writeln!(text, "\n{} refused: {}", r.engine, r.refused);
        }
    }
    text
}

/// The pattern that a metric is of, as measured, and which bandwidth of it.
fn measured_of<'a>(m: &'a EngineMeasured, name: &str) -> Option<(&'a PatternMeasured, Bandwidth)> {
    let MetricSource::Pattern { pattern, bandwidth } = METRICS.iter().find(|x| x.name == name)?.of
    else {
        return None;
    };
    Some((m.patterns.iter().find(|p| p.pattern == pattern)?, bandwidth))
}

fn metric_cell(m: &EngineMeasured, name: &str) -> String {
    let number = match measured_of(m, name) {
        Some((p, bandwidth)) => p.bandwidth(bandwidth).map(|e| share(e.mean)),
        None => m.worst.map(|worst| group(worst.into())),
    };
    number.unwrap_or("-".to_owned())
}

/// Upper bounds for any routes, under the columns of shares.
fn bound_row(m: &EngineMeasured, metrics: &[&str]) -> Option<Vec<String>> {
    let bound = |name: &&str| match measured_of(m, name) {
        Some((p, Bandwidth::Share)) => Some(share(p.bounds.least())),
        _ => None,
    };
    let cells: Vec<Option<String>> = metrics.iter().map(bound).collect();
    cells.iter().any(Option::is_some).then(|| {
        let cells = cells.into_iter().map(Option::unwrap_or_default);
        ["(at most)".to_owned(), String::new()].into_iter().chain(cells).collect()
    })
}

fn pattern_table(
    pattern: &str,
    rows: &[(&EngineMeasured, &PatternMeasured)],
    style: Style,
) -> String {
    let wanted: Vec<Bandwidth> = Bandwidth::ALL
        .into_iter()
        .filter(|&b| rows.iter().any(|(_, p)| p.bandwidth(b).is_some()))
        .collect();
    let names: Vec<String> = wanted.iter().map(|b| b.name().replace('_', "\n")).collect();
    let mut heading = vec![pattern, "phases or\nsamples", "fullest\nmean", "\nmax"];
    heading.extend(names.iter().map(String::as_str));
    let mut cells: Vec<Vec<String>> = rows
        .iter()
        .map(|(m, p)| {
            let mut row = vec![
                m.engine.clone(),
                group(p.share.samples),
                mean(p.max_load.mean),
                group(p.max_load.max as u64),
            ];
            let of = |b: &Bandwidth| p.bandwidth(*b).map_or("-".to_owned(), |e| share(e.mean));
            row.extend(wanted.iter().map(of));
            row
        })
        .collect();
    if let Some((_, p)) = rows.first() {
        let mut row = vec!["(at most)".to_owned(), String::new(), String::new(), String::new()];
        row.push(share(p.bounds.least()));
        row.resize(heading.len(), String::new());
        cells.push(row);
    }
    let numbers: Vec<usize> = (1..heading.len()).collect();
    plain(&heading, &cells, &numbers, style)
}

fn notes(measured: &[&EngineMeasured]) -> String {
    let mut text = String::new();
    let estimates = measured
        .iter()
        .flat_map(|m| &m.patterns)
        .flat_map(|p| Bandwidth::ALL.into_iter().filter_map(|b| p.bandwidth(b)))
        .filter(|e| e.confidence < 1.0);
    let (mut least, mut most, mut width, mut is_known) = (u64::MAX, 0, 0.0f64, true);
    for e in estimates {
        least = least.min(e.samples);
        most = most.max(e.samples);
        match e.width() {
            Some(one) => width = width.max(one / e.mean),
            None => is_known = false,
        }
    }
    if most > 0 {
        let samples = if least == most {
            group(most)
        } else {
            format!("{} to {}", group(least), group(most))
        };
        let how_well = if is_known {
            format!("99 % confidence intervals at most {:.2} % wide", 100.0 * width)
        } else {
            "and how far off one of them is, is not known".to_owned()
        };
        let noun = if most == 1 { "sample" } else { "samples" };
        let _infallible =
            writeln!(text, "\n1 = as fast as alone; {samples} random {noun}, {how_well}");
    }
    text
}

/// One line a number.
pub(crate) fn csv(outcomes: &[MeasureOutcome]) -> String {
    let heading =
        ["engine", "pattern", "metric", "value", "ci_low", "ci_high", "samples", "refused"];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for outcome in outcomes {
        let mut line = |pattern: &str, metric: &str, e: Option<Estimate>, value: String| {
            let engine = match outcome {
                MeasureOutcome::Measured(m) => m.engine.clone(),
                MeasureOutcome::Refused(r) => r.engine.clone(),
            };
            let of = |pick: fn(Estimate) -> String| e.map_or(String::new(), pick);
            lines.push(vec![
                engine,
                pattern.to_owned(),
                metric.to_owned(),
                value,
                of(|e| e.ci_low.map_or_else(String::new, |x| x.to_string())),
                of(|e| e.ci_high.map_or_else(String::new, |x| x.to_string())),
                of(|e| e.samples.to_string()),
                match outcome {
                    MeasureOutcome::Refused(r) => r.refused.clone(),
                    MeasureOutcome::Measured(_) => String::new(),
                },
            ]);
        };
        match outcome {
            MeasureOutcome::Refused(_) => line("", "", None, String::new()),
            MeasureOutcome::Measured(m) => {
                if let Some(worst) = m.worst {
                    line("", "worst", None, worst.to_string());
                }
                for p in &m.patterns {
                    line(&p.pattern, "max_load", None, p.max_load.max.to_string());
                    for b in Bandwidth::ALL {
                        if let Some(e) = p.bandwidth(b) {
                            line(&p.pattern, b.name(), Some(e), e.mean.to_string());
                        }
                    }
                }
            }
        }
    }
    comma::text(&lines)
}
