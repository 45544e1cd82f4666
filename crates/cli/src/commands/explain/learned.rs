//! By features: trees that learn times from counters.

use darkfiber_analysis::learn::{
    BoostingParams, Features, FitError, Model, ModelScores, Reading, Samples, judge,
};
use darkfiber_formats::numbers::Steps;
use darkfiber_report::explain::{Importance, Learned, LearnedModel, Step};
use darkfiber_report::number::counted;

use crate::failure::Failure;

/// Foretelling less of the variance than this is next to nothing.
const LITTLE: f64 = 0.1;
/// A model is better if its error is less, fold by fold, by this many standard errors of the difference.
const BETTER: f64 = 2.0;
/// Fewer steps than this say little about themselves.
const FEW: usize = 200;

/// What was learnt, and from what.
pub(super) struct FittedModels {
    samples: Samples,
    judged: ModelScores,
}

impl FittedModels {
    /// Learns.
    pub(super) fn of(steps: &Steps, file: &str, seed: u64) -> Result<Self, Failure> {
        let readings: Vec<Reading> = (steps.rows.iter())
            .map(|r| Reading {
                run: r.run,
                step: r.step,
                time: r.time,
                counters: r.counters.clone(),
            })
            .collect();
        let samples = Samples::gather(&steps.names, &readings).map_err(|unfit| match unfit {
            FitError::Few(n) => {
                let n = counted(n, "step is", "steps are");
                Failure::input(format!("{file}: {n} too few to learn from"))
                    .hint("at least twenty are needed, hundreds are better")
            }
            FitError::Alike => Failure::input(format!("{file}: all steps take the same time"))
                .hint("there is nothing to explain"),
            FitError::Constant => Failure::input(format!(
                "{file}: no counter changes from step to step"
            ))
            .hint("counters must be differences over a step; name their columns with --features"),
        })?;
        let judged = judge(&samples, BoostingParams::default(), seed);
        Ok(Self { samples, judged })
    }

    pub(super) fn results<'a>(&'a self, steps: &'a Steps) -> Learned<'a> {
        let Self { samples, judged } = self;
        let name = |features| match features {
            Features::All => "X",
            Features::Common => "L",
            Features::Outliers => "S",
        };
        let models: Vec<LearnedModel> = (judged.models.iter())
            .map(|m| LearnedModel {
                features: name(m.features),
                error: m.mean_error(),
                error_deviation: m.error_deviation(),
                r2: m.r2(&samples.times),
            })
            .collect();
        let best = models.iter().zip(&judged.models).max_by(|a, b| a.0.r2.total_cmp(&b.0.r2));
        let (best, importance) = best.map_or(("X", &[][..]), |b| (b.0.features, &b.1.importance));
        let mut importance: Vec<Importance<'_>> = (samples.features.iter().zip(importance))
            .map(|(feature, &importance)| Importance { feature, importance })
            .collect();
        importance.sort_by(|a, b| b.importance.total_cmp(&a.importance));
        let mut runs = samples.runs.clone();
        runs.dedup();
        let drawn = (0..samples.times.len()).map(|i| Step {
            run: &steps.runs[samples.runs[i]],
            step: &steps.steps[samples.steps[i]],
            actual: samples.times[i],
            predicted: judged.models.iter().map(|m| m.predicted[i]).collect(),
        });
        Learned {
            steps: samples.times.len(),
            runs: runs.len(),
            rows_per_step: samples.readings,
            folds: judged.folds,
            by_run: judged.by_run,
            rank: judged.rank,
            outliers: judged.filled,
            models,
            best,
            importance,
            constant: &samples.constant,
            drawn: drawn.collect(),
        }
    }

    /// What was learnt, and what was not.
    pub(super) fn findings(&self, l: &Learned<'_>, time: &str) -> Vec<String> {
        let mut all = Vec::new();
        let r2 = l.models.iter().map(|m| m.r2).fold(f64::NEG_INFINITY, f64::max);
        if r2 < LITTLE {
            all.push(format!(
                "these counters tell next to nothing of {time}: what slows steps down is not seen in them, or not in sums over a step"
            ));
        } else {
            all.push(format!("{:.0} % of the variance of {time} is predicted", 100.0 * r2));
            let [_, common, outliers] = &self.judged.models[..] else { return all };
            if better(outliers, common) {
                all.push("what stands out of the counters tells more than what they have in common: slow steps meet a few full channels, not a network that is busy".to_owned());
            } else if better(common, outliers) {
                all.push("what counters have in common tells more than what stands out: steps are slow when all of the network is busy".to_owned());
            } else {
                all.push(
                    "whether what stands out of the counters or what they have in common tells more is not seen"
                        .to_owned(),
                );
            }
        }
        if !l.by_run {
            all.push(format!(
                "single steps were left out, not runs ({} of them): neighbours of a step were seen, and foretelling a new run is harder",
                l.runs
            ));
        }
        if l.steps < FEW {
            all.push(format!("{} steps are few: errors differ much from fold to fold", l.steps));
        }
        if self.samples.uneven > 0 {
            let of = counted(self.samples.uneven, "step has", "steps have");
            all.push(format!("{of} rows with different {time}: the longest counts"));
        }
        if !l.constant.is_empty() {
            let of = counted(
                l.constant.len(),
                "feature never changes and is left out",
                "features never change and are left out",
            );
            all.push(format!("{of}: {}", l.constant.join(", ")));
        }
        all.push("features that say the same share their importance, and none is a cause for being important; what was learnt holds for this machine, this job and this routing, within times that were seen".to_owned());
        all
    }
}

/// Whether one errs less than the other on the same folds, and not at random.
fn better(a: &Model, b: &Model) -> bool {
    let n = a.errors.len() as f64;
    let less: Vec<f64> = a.errors.iter().zip(&b.errors).map(|(a, b)| b - a).collect();
    let mean = less.iter().sum::<f64>() / n;
    let variance = less.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    mean > BETTER * (variance / n).sqrt()
}
