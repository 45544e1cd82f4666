//! Accuracy of features in predicting unseen times: ten folds, on the features, on their low-rank part, and on their outliers.

use darkfiber_workload::Stream;
use nalgebra::DMatrix;
use rayon::prelude::*;

use super::{BoostedTrees, BoostingParams, Parts, Samples, decompose};

/// Input of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// The features themselves (X).
    All,
    /// The low-rank part (L).
    Common,
    /// The outliers (S).
    Outliers,
}

/// Accuracy of some features in predicting times.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Features of the model.
    pub features: Features,
    /// Mean squared error of each fold, in variances of all times: 1 is as good as their mean.
    pub errors: Vec<f64>,
    /// Prediction of each step by a model that has not seen it.
    pub predicted: Vec<f64>,
    /// By feature, by how much the squared error of unseen steps grows when its values are dealt out at random, in variances
    /// of all times.
    pub importance: Vec<f64>,
}

impl Model {
    /// Mean of the errors of folds.
    pub fn mean_error(&self) -> f64 {
        self.errors.iter().sum::<f64>() / self.errors.len().max(1) as f64
    }

    /// Their standard deviation (of a sample).
    pub fn error_deviation(&self) -> f64 {
        let mean = self.mean_error();
        let squares: f64 = self.errors.iter().map(|e| (e - mean).powi(2)).sum();
        (squares / self.errors.len().saturating_sub(1).max(1) as f64).sqrt()
    }

    /// Share of the variance of times that is explained for unseen steps; below zero if that is worse than their
    /// mean.
    pub fn r2(&self, times: &[f64]) -> f64 {
        let missed: f64 = times.iter().zip(&self.predicted).map(|(t, p)| (t - p).powi(2)).sum();
        1.0 - missed / (variance(times) * times.len() as f64)
    }
}

/// Results of all models.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelScores {
    /// By features: all, in common, standing out.
    pub models: Vec<Model>,
    /// Parts that steps were dealt into.
    pub folds: usize,
    /// Whether whole runs were left out; otherwise single steps, whose neighbours were seen.
    pub by_run: bool,
    /// Rank of the low-rank part.
    pub rank: usize,
    /// Share of the cells that are outliers.
    pub filled: f64,
}

/// Number of parts of the runs that are left out in turn, as in the paper.
const FOLDS: usize = 10;

/// Learns times three times, each time leaving out a tenth of the runs, and returns how well those are predicted. If there
/// are fewer than ten runs, single steps are left out.
///
/// All steps take part in the decomposition, as in the paper: times are not part of its input.
///
/// The same for any number of threads.
pub fn judge(samples: &Samples, how: BoostingParams, seed: u64) -> ModelScores {
    let Parts { low, sparse, rank, filled, .. } = decompose(&standard(&samples.rows));
    let (fold, by_run) = folds(&samples.runs, seed);
    let given = [
        (Features::All, samples.rows.clone()),
        (Features::Common, rows(&low)),
        (Features::Outliers, rows(&sparse)),
    ];
    let tasks: Vec<(usize, usize)> =
        (0..given.len()).flat_map(|m| (0..FOLDS).map(move |f| (m, f))).collect();
    let unit = variance(&samples.times);
    let found: Vec<Fold> = tasks
        .into_par_iter()
        .with_max_len(1)
        .map(|(m, f)| Fold::of(&given[m].1, &samples.times, &fold, f, how, seed))
        .collect();
    let model = |(m, found): (usize, &[Fold])| {
        let mut model = Model {
            features: given[m].0,
            errors: found.iter().map(|f| f.error / unit).collect(),
            predicted: vec![0.0; samples.times.len()],
            importance: vec![0.0; samples.features.len()],
        };
        for fold in found {
            for &(at, value) in &fold.predicted {
                model.predicted[at] = value;
            }
            let part = fold.predicted.len() as f64 / samples.times.len() as f64;
            for (sum, worse) in model.importance.iter_mut().zip(&fold.worse) {
                *sum += worse * part / unit;
            }
        }
        model
    };
    let models = found.chunks(FOLDS).enumerate().map(model).collect();
    ModelScores { models, folds: FOLDS, by_run, rank, filled }
}

/// Predictions of one fold for its steps.
struct Fold {
    error: f64,
    predicted: Vec<(usize, f64)>,
    /// By feature, how much larger the error is without it.
    worse: Vec<f64>,
}

impl Fold {
    fn of(
        rows: &[Vec<f64>],
        times: &[f64],
        fold: &[usize],
        left_out: usize,
        how: BoostingParams,
        seed: u64,
    ) -> Self {
        let (unseen, seen): (Vec<usize>, Vec<usize>) =
            (0..times.len()).partition(|&i| fold[i] == left_out);
        let of = |which: &[usize]| -> (Vec<Vec<f64>>, Vec<f64>) {
            (
                which.iter().map(|&i| rows[i].clone()).collect(),
                which.iter().map(|&i| times[i]).collect(),
            )
        };
        let (x, y) = of(&seen);
        let model = BoostedTrees::fit(&x, &y, how);
        let (mut x, y) = of(&unseen);
        let missed = |x: &[Vec<f64>]| {
            let predicted = model.predict(x);
            let squares: f64 = predicted.iter().zip(&y).map(|(p, y)| (p - y).powi(2)).sum();
            (squares / y.len() as f64, predicted)
        };
        let (error, predicted) = missed(&x);
        let mut random = Stream::new(seed, 1 + left_out as u64);
        let worse = (0..rows[0].len())
            .map(|j| {
                let order = shuffled(y.len(), &mut random);
                let column: Vec<f64> = x.iter().map(|row| row[j]).collect();
                for (row, &i) in x.iter_mut().zip(&order) {
                    row[j] = column[i];
                }
                let without = missed(&x).0;
                for (row, &value) in x.iter_mut().zip(&column) {
                    row[j] = value;
                }
                without - error
            })
            .collect();
        Self { error, predicted: unseen.into_iter().zip(predicted).collect(), worse }
    }
}

/// By step, the fold that leaves it out; and whether runs stay together.
fn folds(runs: &[usize], seed: u64) -> (Vec<usize>, bool) {
    let mut of_runs = runs.to_vec();
    of_runs.sort_unstable();
    of_runs.dedup();
    let by_run = of_runs.len() >= FOLDS;
    let parts = if by_run { of_runs.len() } else { runs.len() };
    let order = shuffled(parts, &mut Stream::new(seed, 0));
    let part = |(i, run): (usize, &usize)| {
        let part = if by_run { of_runs.binary_search(run).unwrap_or(0) } else { i };
        order[part] % FOLDS
    };
    (runs.iter().enumerate().map(part).collect(), by_run)
}

/// The numbers below `n` in a random order.
fn shuffled(n: usize, random: &mut Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    random.shuffle(&mut order);
    order
}

/// Features as rows of mean 0 and variance 1, a column for each step.
fn standard(rows: &[Vec<f64>]) -> DMatrix<f64> {
    let mut all = DMatrix::from_fn(rows[0].len(), rows.len(), |j, i| rows[i][j]);
    for mut row in all.row_iter_mut() {
        let mean = row.mean();
        row.add_scalar_mut(-mean);
        let deviation = row.variance().sqrt();
        if deviation > 0.0 {
            row /= deviation;
        }
    }
    all
}

fn rows(all: &DMatrix<f64>) -> Vec<Vec<f64>> {
    all.column_iter().map(|column| column.iter().copied().collect()).collect()
}

fn variance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty runs of twenty steps: features rise and fall together by run, and an outlier costs time now and then.
    fn samples(is_predictable: bool) -> Samples {
        let mut random = Stream::new(3, 0);
        let mut draw = || f64::from(random.below(1 << 20)) / f64::from(1 << 20);
        let (mut rows, mut times, mut runs) = (Vec::new(), Vec::new(), Vec::new());
        for run in 0..20usize {
            let level = draw();
            for _ in 0..20 {
                let mut row: Vec<f64> =
                    (0..8).map(|j| level * f64::from(j + 1) + 0.01 * draw()).collect();
                let held = if draw() < 0.1 { 5.0 + 5.0 * draw() } else { 0.0 };
                row[3] += held;
                rows.push(row);
                times.push(if is_predictable { 1.0 + held / 5.0 + 0.05 * draw() } else { draw() });
                runs.push(run);
            }
        }
        let features = (0..8).map(|j| format!("f{j}")).collect();
        Samples {
            features,
            rows,
            steps: (0..times.len()).collect(),
            times,
            runs,
            readings: 1,
            constant: Vec::new(),
            uneven: 0,
        }
    }

    #[test]
    fn what_stands_out_is_what_costs_time() {
        let samples = samples(true);
        let judged = judge(&samples, BoostingParams::default(), 1);
        assert!(judged.by_run && judged.folds == 10);
        let r2: Vec<f64> = judged.models.iter().map(|m| m.r2(&samples.times)).collect();
        assert!(r2[2] > 0.9 && r2[2] > r2[1], "{r2:?}");
        let outliers = &judged.models[2];
        let (most, _) = outliers
            .importance
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(b.1))
            .expect("eight");
        assert_eq!(most, 3);
        let whole: f64 = outliers.errors.iter().sum::<f64>() / 10.0;
        assert!(
            (whole - outliers.mean_error()).abs() < 1e-12 && (1.0 - r2[2] - whole).abs() < 1e-9
        );
    }

    #[test]
    fn chance_is_not_predicted() {
        let samples = samples(false);
        for model in judge(&samples, BoostingParams::default(), 1).models {
            assert!(model.r2(&samples.times) < 0.1, "{:?}", model.features);
        }
    }

    #[test]
    fn steps_are_left_out_once_and_with_their_run() {
        let runs: Vec<usize> = (0..200).map(|i| i / 8).collect();
        let (fold, by_run) = folds(&runs, 7);
        assert!(by_run);
        for of in fold.chunks(8) {
            assert!(of.iter().all(|f| *f == of[0]));
        }
        let (fold, by_run) = folds(&[0; 45], 7);
        assert!(!by_run);
        for f in 0..10 {
            assert!((4..=5).contains(&fold.iter().filter(|x| **x == f).count()));
        }
    }

    #[test]
    fn threads_change_nothing() {
        let samples = samples(true);
        let with = |threads| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| {
                judge(&samples, BoostingParams { trees: 10, ..BoostingParams::default() }, 1)
            })
        };
        assert_eq!(with(1), with(3));
    }
}
