//! The comparison of several scenarios, job by job.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use darkfiber_study::MeanInterval;
use darkfiber_study::compare::{Difference, Variant, rows};
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Provenance;
use crate::quantity::seconds;
use crate::style::Style;
use crate::{Report, comma, table};

/// Confidence level of the intervals.
const CONFIDENCE: f64 = 0.95;
/// Keys of a scenario that a terminal shows.
const KEYS: usize = 8;
/// Letters of a name that fits above a column.
const SHORT: usize = 16;
/// Between names of a job that scenarios call differently.
const BETWEEN: &str = " | ";

/// Scenarios and their jobs side by side. Times are simulated seconds.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct CompareResult<'a> {
    /// What the comparison is called.
    pub title: &'a str,
    /// The seeds that each scenario was simulated with; none if each was simulated once, with its own.
    pub seeds: &'a [u64],
    /// The scenarios; the first is what others are compared with.
    pub scenarios: Vec<ScenarioRow>,
    /// Their jobs.
    pub jobs: Vec<ComparedJob>,
    /// Where the result comes from.
    pub provenance: &'a Provenance,
}

/// A scenario of a comparison.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ScenarioRow {
    /// What it is called.
    pub name: String,
    /// Its file.
    pub file: String,
    /// How deep it was looked at.
    pub depth: String,
    /// Keys whose values are not those of the first scenario; `-` for those that only the first has.
    pub differs: BTreeMap<String, String>,
    /// Why there is no result, for each seed without.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ScenarioError>,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ScenarioError {
    /// With which seed.
    pub seed: u64,
    /// Why.
    pub error: String,
}

/// A job of several scenarios.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct ComparedJob {
    /// Its name; its names, where scenarios call it differently.
    pub job: String,
    /// What became of it, for each scenario in their order.
    pub scenarios: Vec<JobInScenario>,
}

/// A job in a scenario.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct JobInScenario {
    /// The scenario.
    pub scenario: String,
    /// The mean time of a run of the job, over seeds; none if the scenario has no such job, or no run of it ended.
    pub run: Option<RunMean>,
    /// How much longer that is than in the first scenario.
    pub difference: Option<RunDifference>,
}

/// A mean over seeds.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RunMean {
    /// The mean.
    pub mean: f64,
    /// Where its confidence interval begins, by Student's t; none of a single seed.
    pub ci_low: Option<f64>,
    /// Where it ends.
    pub ci_high: Option<f64>,
    /// How sure it is.
    pub confidence: f64,
    /// Seeds.
    pub samples: usize,
}

/// How much longer runs take than those of the first scenario.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct RunDifference {
    /// In percent of the first mean; below zero if they take less.
    pub percent: f64,
    /// Where its confidence interval begins, by Welch's t; none if there is a single seed.
    pub percent_low: Option<f64>,
    /// Where it ends.
    pub percent_high: Option<f64>,
}

impl RunMean {
    fn of(times: &[f64]) -> Option<Self> {
        let found = MeanInterval::of(times, CONFIDENCE)?;
        let is_known = found.half.is_finite();
        Some(Self {
            mean: found.mean,
            ci_low: is_known.then_some(found.mean - found.half),
            ci_high: is_known.then_some(found.mean + found.half),
            confidence: CONFIDENCE,
            samples: found.samples,
        })
    }

    /// Half the width of its interval.
    fn half(&self) -> Option<f64> {
        self.ci_high.map(|high| high - self.mean)
    }
}

impl RunDifference {
    fn of(first: &[f64], times: &[f64]) -> Option<Self> {
        let found = Difference::of(first, times, CONFIDENCE)?;
        let is_known = found.half.is_finite();
        Some(Self {
            percent: found.percent,
            percent_low: is_known.then_some(found.percent - found.half),
            percent_high: is_known.then_some(found.percent + found.half),
        })
    }
}

impl<'a> CompareResult<'a> {
    /// A comparison of scenarios with the times of their runs; the others are compared with the first.
    pub fn new(
        title: &'a str,
        seeds: &'a [u64],
        variants: &[Variant],
        provenance: &'a Provenance,
    ) -> Self {
        let scenarios = variants.iter().map(|v| ScenarioRow {
            name: v.name.clone(),
            file: v.file.clone(),
            depth: v.keys.get("depth").map_or("flow", String::as_str).to_owned(),
            differs: variants.first().map(|first| v.differs(first)).unwrap_or_default(),
            errors: (v.errors.iter())
                .map(|(seed, error)| ScenarioError { seed: *seed, error: error.clone() })
                .collect(),
        });
        let job = |row: Vec<Option<usize>>| {
            let found: Vec<_> =
                variants.iter().zip(&row).map(|(v, job)| job.map(|job| &v.jobs[job])).collect();
            let mut names: Vec<&str> = Vec::new();
            for job in found.iter().flatten() {
                if !names.contains(&job.name.as_str()) {
                    names.push(&job.name);
                }
            }
            let first = found.first().copied().flatten();
            let scenarios = variants.iter().zip(&found).enumerate().map(|(i, (variant, job))| {
                let difference = first.zip(*job).filter(|_| i > 0);
                JobInScenario {
                    scenario: variant.name.clone(),
                    run: job.and_then(|job| RunMean::of(&job.times)),
                    difference: difference.and_then(|(a, b)| RunDifference::of(&a.times, &b.times)),
                }
            });
            ComparedJob { job: names.join(BETWEEN), scenarios: scenarios.collect() }
        };
        let jobs = rows(variants).into_iter().map(job).collect();
        Self { title, seeds, scenarios: scenarios.collect(), jobs, provenance }
    }

    /// Whether there is a scenario without any result.
    pub fn lacks_some(&self) -> bool {
        let has_result = |i: usize| {
            let mut of = self.jobs.iter().filter_map(|job| job.scenarios.get(i));
            of.any(|job| job.run.is_some())
        };
        !(0..self.scenarios.len()).all(has_result)
    }

    /// Description of the simulations, in a line.
    pub fn subtitle(&self) -> String {
        let mut depths: Vec<&str> = self.scenarios.iter().map(|s| s.depth.as_str()).collect();
        depths.dedup();
        let seeds = match self.seeds {
            [] => String::new(),
            [one] => format!(", seed {one}"),
            [first, .., last] => format!(", seeds {first} to {last}"),
        };
        let what = match depths[..] {
            ["count"] => "what the fullest channel of a job takes",
            _ => "mean time of a run",
        };
        format!("{what}, depth {}{seeds}", depths.join(" and "))
    }
}

fn signed(percent: f64) -> String {
    // A value that rounds to zero has no sign.
    let text = format!("{percent:+.1}");
    if matches!(text.as_str(), "+0.0" | "-0.0") { "0.0".to_owned() } else { text }
}

impl CompareResult<'_> {
    /// Labels of scenarios above columns: letters where names are long.
    fn labels(&self) -> Vec<String> {
        let names = self.scenarios.iter().map(|row| row.name.clone());
        if names.clone().all(|name| name.chars().count() <= SHORT) {
            return names.collect();
        }
        let letters = ('A'..='Z').map(String::from);
        letters.chain((27..).map(|n: usize| n.to_string())).take(self.scenarios.len()).collect()
    }

    /// Description of the scenarios, one in a line.
    fn scenario_table(&self, labels: &[String], style: Style) -> String {
        let keys = |row: &ScenarioRow| {
            let most = if style.full { usize::MAX } else { KEYS };
            let all = row.differs.iter().take(most);
            let mut keys: Vec<String> =
                all.map(|(key, value)| format!("{key} = {value}")).collect();
            if row.differs.len() > most {
                keys.push(format!("{} more (-v)", row.differs.len() - most));
            }
            keys.join(", ")
        };
        let has_labels = self.scenarios.iter().zip(labels).any(|(row, label)| row.name != *label);
        let mut heading = vec!["", "scenario", "file", "what differs"];
        let lines = self.scenarios.iter().zip(labels).map(|(row, label)| {
            let mut line = vec![label.clone(), row.name.clone(), row.file.clone(), keys(row)];
            if !has_labels {
                line.remove(0);
            }
            line
        });
        if !has_labels {
            heading.remove(0);
        }
        table::plain(&heading, &lines.collect::<Vec<_>>(), &[], style)
    }

    /// Results of jobs, one in a line.
    fn job_table(&self, labels: &[String], has_intervals: bool, style: Style) -> String {
        let mut heading = vec!["\njob".to_owned()];
        for (i, label) in labels.iter().enumerate() {
            heading.push(format!("{label}\nmean"));
            heading.extend(has_intervals.then(|| "\n+-".to_owned()));
            heading.extend((i > 0).then(|| "\ndifference".to_owned()));
            heading.extend((i > 0 && has_intervals).then(|| "\n95 %".to_owned()));
        }
        let none = || "-".to_owned();
        let line = |job: &ComparedJob| {
            let mut line = vec![job.job.replace(BETWEEN, "\n")];
            for (i, one) in job.scenarios.iter().enumerate() {
                line.push(one.run.map_or_else(none, |run| seconds(run.mean)));
                let half = one.run.and_then(|run| run.half());
                line.extend(has_intervals.then(|| half.map_or_else(none, seconds)));
                if i == 0 {
                    continue;
                }
                let percent = one.difference.map(|d| format!("{} %", signed(d.percent)));
                line.push(percent.unwrap_or_else(none));
                let between = one.difference.and_then(|d| d.percent_low.zip(d.percent_high));
                let between =
                    between.map(|(low, high)| format!("{} .. {}", signed(low), signed(high)));
                line.extend(has_intervals.then(|| between.unwrap_or_else(none)));
            }
            line
        };
        let lines: Vec<Vec<String>> = self.jobs.iter().map(line).collect();
        let numbers: Vec<usize> = (1..heading.len()).collect();
        let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
        table::plain(&heading, &lines, &numbers, style)
    }
}

impl Report for CompareResult<'_> {
    fn text(&self, style: Style) -> String {
        let labels = self.labels();
        let mut all = self.jobs.iter().flat_map(|job| &job.scenarios);
        let has_intervals = all.any(|job| job.run.is_some_and(|run| run.ci_low.is_some()));
        let mut text = format!("{}: {}\n", self.title, self.subtitle());
        if labels.len() > 1 {
            text.push('\n');
            text.push_str(&self.scenario_table(&labels, style));
        }
        text.push('\n');
        text.push_str(&self.job_table(&labels, has_intervals, style));
        // Notes for readers, and missing results.
        let over = "confidence intervals of 95 % over seeds (Student's t";
        match (&labels[..], has_intervals) {
            ([first, _, ..], true) => {
                let _infallible = writeln!(
                    text,
                    "\ndifference: in percent of {first}; +- and 95 %: {over}; of differences Welch's)"
                );
            }
            ([first, _, ..], false) => {
                let _infallible = writeln!(text, "\ndifference: in percent of {first}");
            }
            (_, true) => {
                let _infallible = writeln!(text, "\n+-: {over})");
            }
            (_, false) => {}
        }
        for row in &self.scenarios {
            // Seeds that fail for one reason are one line.
            let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
            for ScenarioError { seed, error } in &row.errors {
                match reasons.iter_mut().find(|(reason, _)| reason == error) {
                    Some((_, seeds)) => seeds.push(seed.to_string()),
                    None => reasons.push((error, vec![seed.to_string()])),
                }
            }
            for (reason, seeds) in reasons {
                let word = if seeds.len() > 1 { "seeds" } else { "seed" };
                let seeds = seeds.join(", ");
                let _infallible =
                    writeln!(text, "no result of {}, {word} {seeds}: {reason}", row.name);
            }
        }
        text
    }

    fn csv(&self) -> String {
        let heading = [
            "job",
            "scenario",
            "file",
            "samples",
            "mean",
            "ci_low",
            "ci_high",
            "difference_percent",
            "difference_percent_low",
            "difference_percent_high",
            "error",
        ];
        let mut lines = vec![heading.map(str::to_owned).to_vec()];
        let line = |job: &str, row: &ScenarioRow, one: Option<&JobInScenario>, error: &str| {
            let run = one.and_then(|one| one.run);
            let difference = one.and_then(|one| one.difference);
            vec![
                job.to_owned(),
                row.name.clone(),
                row.file.clone(),
                comma::some(run.map(|run| run.samples)),
                comma::some(run.map(|run| run.mean)),
                comma::some(run.and_then(|run| run.ci_low)),
                comma::some(run.and_then(|run| run.ci_high)),
                comma::some(difference.map(|d| d.percent)),
                comma::some(difference.and_then(|d| d.percent_low)),
                comma::some(difference.and_then(|d| d.percent_high)),
                error.to_owned(),
            ]
        };
        for job in &self.jobs {
            for (row, one) in self.scenarios.iter().zip(&job.scenarios) {
                lines.push(line(&job.job, row, Some(one), ""));
            }
        }
        for row in &self.scenarios {
            lines.extend(row.errors.iter().map(|e| line("", row, None, &e.error)));
        }
        comma::text(&lines)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use darkfiber_study::compare::JobTimes;

    use super::*;

    fn provenance() -> Provenance {
        Provenance {
            version: "0".to_owned(),
            command: "darkfiber simulate".to_owned(),
            seed: 1,
            fabric_digest: String::new(),
        }
    }

    pub(crate) fn variant(name: &str, jobs: &[(&str, &[f64])]) -> Variant {
        let jobs = jobs
            .iter()
            .map(|(name, times)| JobTimes { name: (*name).to_owned(), times: times.to_vec() });
        Variant {
            name: name.to_owned(),
            file: format!("{name}.toml"),
            jobs: jobs.collect(),
            ..Variant::default()
        }
    }

    #[test]
    fn one_table_of_all() {
        let mut b = variant("b", &[("x", &[1.0, 1.2, 1.4]), ("z", &[5.0])]);
        b.keys.insert("routes.engine".to_owned(), "nue".to_owned());
        b.errors.push((4, "no engine".to_owned()));
        let variants = [variant("a", &[("x", &[1.0, 1.0, 1.0])]), b];
        let provenance = provenance();
        let result = CompareResult::new("t", &[1, 2, 3], &variants, &provenance);
        insta::assert_snapshot!(result.text(Style::default()));
        insta::assert_snapshot!(result.csv());
        assert!(!result.lacks_some());
        let one = [variant("a", &[("x", &[1.0])]), variant("b", &[("x", &[])])];
        assert!(CompareResult::new("t", &[], &one, &provenance).lacks_some());
    }
}
