//! Steps and their features, from counters of many ports.

use std::collections::BTreeMap;

/// Counters of a step: the total, or those at one of many places.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Number of the run.
    pub run: usize,
    /// Number of the step in it.
    pub step: usize,
    /// Duration of the step.
    pub time: f64,
    /// Counters, in the order of their names.
    pub counters: Vec<f64>,
}

/// Steps with their times, and the features that predict them.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Names of the features.
    pub features: Vec<String>,
    /// By step, its features.
    pub rows: Vec<Vec<f64>>,
    /// By step, its time.
    pub times: Vec<f64>,
    /// By step, number of its run.
    pub runs: Vec<usize>,
    /// By step, its own number.
    pub steps: Vec<usize>,
    /// Most readings of a step; if that is not 1, features are sum, mean and most of them.
    pub readings: usize,
    /// Features that never change, which carry no information and are left out.
    pub constant: Vec<String>,
    /// Steps whose readings give different times; the longest counts.
    pub uneven: usize,
}

/// Why learning is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitError {
    /// There are so few steps.
    Few(usize),
    /// All steps take the same time.
    Alike,
    /// No counter changes from step to step.
    Constant,
}

/// Fewer steps than this are not enough.
const FEW: usize = 20;

impl Samples {
    /// Features of each step: its counters, or where there are several readings of one, their sum, mean and maximum over all
    /// of its readings, as in section IV-D. Steps are in the order of (run, step).
    ///
    /// # Errors
    /// If learning from them is impossible.
    pub fn gather(names: &[String], readings: &[Reading]) -> Result<Self, FitError> {
        let mut steps: BTreeMap<(usize, usize), Vec<&Reading>> = BTreeMap::new();
        for reading in readings {
            steps.entry((reading.run, reading.step)).or_default().push(reading);
        }
        if steps.len() < FEW {
            return Err(FitError::Few(steps.len()));
        }
        let most = steps.values().map(Vec::len).max().unwrap_or(0);
        let mut features: Vec<String> = if most == 1 {
            names.to_vec()
        } else {
            let of = |kind| names.iter().map(move |name| format!("{kind} of {name}"));
            ["sum", "mean", "max"].into_iter().flat_map(of).collect()
        };
        let row = |of: &[&Reading]| -> Vec<f64> {
            if most == 1 {
                return of[0].counters.clone();
            }
            let column = |i: usize| of.iter().map(move |r| r.counters[i]);
            let all = |f: &dyn Fn(usize) -> f64| (0..names.len()).map(f).collect::<Vec<_>>();
            let sums = all(&|i| column(i).sum());
            let means = sums.iter().map(|sum| sum / of.len() as f64).collect();
            [sums, means, all(&|i| column(i).fold(f64::NEG_INFINITY, f64::max))].concat()
        };
        let mut rows: Vec<Vec<f64>> = steps.values().map(|of| row(of)).collect();
        let changes = |j: usize| rows.iter().any(|row| row[j].to_bits() != rows[0][j].to_bits());
        let kept: Vec<bool> = (0..features.len()).map(changes).collect();
        let named = std::mem::take(&mut features).into_iter().zip(&kept);
        let (changing, constant): (Vec<_>, Vec<_>) = named.partition(|(_, kept)| **kept);
        let names = |of: Vec<(String, &bool)>| of.into_iter().map(|(name, _)| name).collect();
        let (features, constant): (Vec<String>, Vec<String>) = (names(changing), names(constant));
        for row in &mut rows {
            let mut keep = kept.iter();
            row.retain(|_| *keep.next().unwrap_or(&false));
        }
        if features.is_empty() {
            return Err(FitError::Constant);
        }
        let longest = |of: &Vec<&Reading>| of.iter().map(|r| r.time).fold(f64::MIN, f64::max);
        let times: Vec<f64> = steps.values().map(longest).collect();
        if times.iter().all(|t| t.to_bits() == times[0].to_bits()) {
            return Err(FitError::Alike);
        }
        let differ =
            |of: &&Vec<&Reading>| of.iter().any(|r| r.time.to_bits() != of[0].time.to_bits());
        Ok(Self {
            features,
            rows,
            times,
            runs: steps.keys().map(|k| k.0).collect(),
            steps: steps.keys().map(|k| k.1).collect(),
            readings: most,
            constant,
            uneven: steps.values().filter(differ).count(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(run: usize, step: usize, counters: &[f64]) -> Reading {
        Reading { run, step, time: step as f64, counters: counters.to_vec() }
    }

    #[test]
    fn readings_of_a_step_are_gathered() {
        let names = ["flits".to_owned(), "stalls".to_owned()];
        let readings: Vec<Reading> = (0..20)
            .flat_map(|i| {
                let x = i as f64;
                [reading(i / 10, i, &[x, 7.0]), reading(i / 10, i, &[3.0 * x, 7.0])]
            })
            .collect();
        let samples = Samples::gather(&names, &readings).expect("enough");
        assert_eq!(samples.features, ["sum of flits", "mean of flits", "max of flits"]);
        assert_eq!(samples.rows[5], [20.0, 10.0, 15.0]);
        assert_eq!(samples.constant, ["sum of stalls", "mean of stalls", "max of stalls"]);
        assert_eq!(
            (samples.readings, samples.uneven, samples.runs[9], samples.runs[10]),
            (2, 0, 0, 1)
        );
        let single: Vec<Reading> = readings.into_iter().step_by(2).collect();
        let samples = Samples::gather(&names, &single).expect("enough");
        assert_eq!((samples.features, samples.rows[5].len()), (vec!["flits".to_owned()], 1));
    }

    #[test]
    fn what_tells_nothing_is_refused() {
        let names = ["flits".to_owned()];
        let some = |n: usize, of: fn(usize) -> f64| -> Vec<Reading> {
            (0..n).map(|i| reading(0, i, &[of(i)])).collect()
        };
        let refused = |readings: &[Reading]| Samples::gather(&names, readings).expect_err("unfit");
        assert_eq!(refused(&some(19, |i| i as f64)), FitError::Few(19));
        assert_eq!(refused(&some(20, |_| 1.0)), FitError::Constant);
        let mut alike = some(20, |i| i as f64);
        for reading in &mut alike {
            reading.time = 1.0;
        }
        assert_eq!(refused(&alike), FitError::Alike);
    }
}
