//! The model learnt from features.

use schemars::JsonSchema;
use serde::Serialize;

use super::times::Times;
use crate::comma;
use crate::figures::scatter;
use crate::number::{counted, group, short};
use crate::style::Style;
use crate::table;

/// How well times are predicted, and from what.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Learned<'a> {
    /// Steps.
    pub steps: usize,
    /// Runs that they are of.
    pub runs: usize,
    /// Rows of a step, at most; features are their sum, mean and maximum if there are several.
    pub rows_per_step: usize,
    /// Parts that steps were dealt into; each was predicted by a model that learnt from the others.
    pub folds: usize,
    /// Whether whole runs were left out together.
    pub by_run: bool,
    /// Rank of what features have in common (L).
    pub rank: usize,
    /// Share of the values that stand out from it (S).
    pub outliers: f64,
    /// From all features (X), from what they have in common (L), from what stands out (S).
    pub models: Vec<LearnedModel>,
    /// Which of them foretells best.
    pub best: &'a str,
    /// What counts in that one, the most important first.
    pub importance: Vec<Importance<'a>>,
    /// Features that never change.
    pub constant: &'a [String],
    /// For pictures and tables.
    #[serde(skip)]
    pub drawn: Vec<Step<'a>>,
}

/// How well times are predicted from some features.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct LearnedModel {
    /// X, L or S.
    pub features: &'static str,
    /// Mean over folds of the mean squared error, in variances of times: 1 is as good as their mean.
    pub error: f64,
    /// Standard deviation of that from fold to fold.
    pub error_deviation: f64,
    /// Share of the variance of times that is predicted, over all steps.
    pub r2: f64,
}

/// A feature.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Importance<'a> {
    /// Its name.
    pub feature: &'a str,
    /// By how much the mean squared error of steps that were not seen grows when its values are shuffled, in variances of
    /// times.
    pub importance: f64,
}

/// A step, and its predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<'a> {
    /// Run of the step.
    pub run: &'a str,
    /// Name of the step.
    pub step: &'a str,
    /// Actual duration of the step.
    pub actual: f64,
    /// Prediction of each model.
    pub predicted: Vec<f64>,
}

/// Number of features that are listed.
const TOP: usize = 10;

fn words(features: &str) -> &'static str {
    match features {
        "X" => "all features (X)",
        "L" => "in common (L)",
        _ => "standing out (S)",
    }
}

pub(super) fn text(of: Times<'_>, l: &Learned<'_>, style: Style) -> String {
    let runs =
        if l.runs > 1 { format!(" of {} runs", group(l.runs as u64)) } else { String::new() };
    let rows: Vec<Vec<String>> = (l.models.iter())
        .map(|m| {
            let error = format!("{:.2} ± {:.2}", m.error, m.error_deviation);
            vec![words(m.features).to_owned(), error, format!("{:.2}", m.r2)]
        })
        .collect();
    let heading = ["times predicted from", "squared error", "R2"];
    let models = table::plain(&heading, &rows, &[1, 2], style);
    let rows: Vec<Vec<String>> = (l.importance.iter().take(TOP))
        .map(|i| vec![i.feature.to_owned(), short(i.importance)])
        .collect();
    let heading = ["what counts", "error without"];
    let importance = table::plain(&heading, &rows, &[1], style);
    format!(
        "{}: {} of {} steps{runs}, from {}\n\n{models}\n{importance}",
        of.file,
        of.column,
        group(l.steps as u64),
        counted(l.importance.len(), "feature", "features"),
    )
}

pub(super) fn csv(time: &str, l: &Learned<'_>) -> String {
    let mut heading = ["run", "step", time].map(str::to_owned).to_vec();
    heading.extend(l.models.iter().map(|m| format!("predicted {}", m.features)));
    let line = |s: &Step<'_>| {
        let mut line = vec![s.run.to_owned(), s.step.to_owned(), s.actual.to_string()];
        line.extend(s.predicted.iter().map(f64::to_string));
        line
    };
    comma::text(&[vec![heading], l.drawn.iter().map(line).collect()].concat())
}

/// Measured times and those predicted by the best model, and the line where both are equal.
pub(super) fn picture(of: Times<'_>, l: &Learned<'_>) -> String {
    let best = l.models.iter().position(|m| m.features == l.best).unwrap_or(0);
    let points: Vec<(f64, f64)> = l.drawn.iter().map(|s| (s.actual, s.predicted[best])).collect();
    let far = points.iter().map(|p| p.0.max(p.1)).fold(0.0, f64::max);
    let near = points.iter().map(|p| p.0.min(p.1)).fold(far, f64::min);
    let title = format!("{}, actual and predicted", of.column);
    let model = &l.models[best];
    let subtitle = format!(
        "{}: steps not seen, from {}. R2 {:.2}, squared error {:.2} ± {:.2}",
        of.file,
        words(l.best),
        model.r2,
        model.error,
        model.error_deviation
    );
    let axes = (format!("{}, actual", of.column), format!("{}, predicted", of.column));
    scatter::scatter((&title, &subtitle), (&axes.0, &axes.1), &points, &[(near, near), (far, far)])
}
