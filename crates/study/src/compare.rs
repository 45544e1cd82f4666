//! Comparison of scenarios: which jobs correspond, and how much longer they take.
//!
//! A [`Variant`] is a scenario with the times of its runs, seed by seed; [`rows`] matches the corresponding jobs, and [`Difference`]
//! gives the difference of two means and its confidence.

use std::collections::BTreeMap;

use crate::grid::{Record, Value};
use crate::interval::student_t;

/// A scenario of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variant {
    /// Name of the variant.
    pub name: String,
    /// The file that it is of.
    pub file: String,
    /// All keys of its scenario, with dots.
    pub keys: BTreeMap<String, String>,
    /// Its jobs, as the scenario numbers them.
    pub jobs: Vec<JobTimes>,
    /// Reasons for missing answers, by seed.
    pub errors: Vec<(u64, String)>,
}

/// Times of the runs of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobTimes {
    /// Name of the job.
    pub name: String,
    /// The mean time of a run in seconds, for each seed with which one ended.
    pub times: Vec<f64>,
}

impl Variant {
    /// Adds the answers to the question `runs`.
    pub fn take(&mut self, record: &Record) {
        for answer in &record.answers {
            if let Some(error) = &answer.error {
                self.errors.push((record.seed, error.clone()));
                continue;
            }
            let at = self.jobs.iter().position(|job| job.name == answer.of).unwrap_or_else(|| {
                self.jobs.push(JobTimes { name: answer.of.clone(), times: Vec::new() });
                self.jobs.len() - 1
            });
            self.jobs[at].times.extend(answer.get("run_mean").and_then(Value::number));
        }
    }

    /// Its keys that another scenario does not have, or has with another value; `-` for those that only the other one has. Names of
    /// jobs are not among them.
    pub fn differs(&self, other: &Self) -> BTreeMap<String, String> {
        let all = self.keys.keys().chain(other.keys.keys());
        let is_name = |key: &str| {
            let mut parts = key.split('.');
            (parts.next(), parts.nth(1)) == (Some("job"), Some("name"))
        };
        all.filter(|key| self.keys.get(*key) != other.keys.get(*key) && !is_name(key))
            .map(|key| (key.clone(), self.keys.get(key).map_or("-", String::as_str).to_owned()))
            .collect()
    }
}

/// All keys of a table by their paths: `job.1.traffic`. Tables are numbered from 1.
pub fn keys(table: &toml::Table) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (key, value) in table {
        add(key, value, &mut all);
    }
    all
}

fn add(path: &str, value: &toml::Value, all: &mut BTreeMap<String, String>) {
    let is_table = |value: &toml::Value| value.is_table();
    match value {
        toml::Value::Table(table) => {
            for (key, value) in table {
                add(&format!("{path}.{key}"), value, all);
            }
        }
        toml::Value::Array(tables) if !tables.is_empty() && tables.iter().all(is_table) => {
            for (number, value) in (1..).zip(tables) {
                add(&format!("{path}.{number}"), value, all);
            }
        }
        toml::Value::String(text) => drop(all.insert(path.to_owned(), text.clone())),
        other => drop(all.insert(path.to_owned(), other.to_string())),
    }
}

/// A job of several scenarios: for each, which of its jobs that is.
pub type Row = Vec<Option<usize>>;

/// The jobs of all scenarios, those that belong together in one row: jobs of one name, and jobs of one number if neither scenario has
/// a job of the other's name and both have as many (a job is called by its traffic unless it has a name).
pub fn rows(variants: &[Variant]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for (v, variant) in variants.iter().enumerate() {
        for (number, job) in variant.jobs.iter().enumerate() {
            let called = |row: &Row, name: &str| {
                let mut all = variants.iter().zip(row);
                all.any(|(variant, job)| job.is_some_and(|job| variant.jobs[job].name == name))
            };
            let is_other = |row: &Row| {
                let mut all = variants.iter().zip(row);
                all.all(|(other, job)| {
                    job.is_none_or(|j| {
                        j == number
                            && other.jobs.len() == variant.jobs.len()
                            && variant.jobs.iter().all(|here| here.name != other.jobs[j].name)
                    })
                })
            };
            let free = |row: &&mut Row| row[v].is_none();
            let same = rows.iter_mut().filter(free).find(|row| called(row, &job.name));
            let row = match same {
                Some(row) => Some(row),
                None => rows.iter_mut().filter(free).find(|row| is_other(row)),
            };
            if let Some(row) = row {
                row[v] = Some(number);
            } else {
                let mut row = vec![None; variants.len()];
                row[v] = Some(number);
                rows.push(row);
            }
        }
    }
    rows
}

/// Difference of a mean from another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The difference in percent of the first mean.
    pub percent: f64,
    /// Half the width of its confidence interval, in percent of the first mean; infinite if one of the means is of a single sample.
    pub half: f64,
}

impl Difference {
    /// Difference of two sets of independent samples whose variances need not be equal, by B. L. Welch ("The generalization of
    /// 'Student's' problem", Biometrika 34, 1947), with the degrees of freedom of Satterthwaite. Percentages take the first mean as
    /// exact. `None` if there is no sample, or the first mean is 0.
    pub fn of(first: &[f64], second: &[f64], confidence: f64) -> Option<Self> {
        let (a, b) = (Moments::of(first)?, Moments::of(second)?);
        if a.mean == 0.0 {
            return None;
        }
        let percent = 100.0 * (b.mean - a.mean) / a.mean;
        let (Some(of_a), Some(of_b)) = (a.error, b.error) else {
            return Some(Self { percent, half: f64::INFINITY });
        };
        let both = of_a + of_b;
        if both == 0.0 {
            return Some(Self { percent, half: 0.0 });
        }
        let part = |error: f64, n: f64| error * error / (n - 1.0);
        let freedom = both * both / (part(of_a, a.n) + part(of_b, b.n));
        let half = 100.0 * student_t(confidence, freedom) * both.sqrt() / a.mean.abs();
        Some(Self { percent, half })
    }
}

/// Of samples: how many, their mean, and the square of its standard error if there are two or more.
struct Moments {
    n: f64,
    mean: f64,
    error: Option<f64>,
}

impl Moments {
    fn of(samples: &[f64]) -> Option<Self> {
        let first = *samples.first()?;
        let n = samples.len() as f64;
        // A rounded mean of equal samples must not give them a variance.
        if samples.iter().all(|x| x.to_bits() == first.to_bits()) {
            return Some(Self { n, mean: first, error: (samples.len() > 1).then_some(0.0) });
        }
        let mean = samples.iter().sum::<f64>() / n;
        let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
        Some(Self { n, mean, error: Some(squares / (n - 1.0) / n) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(names: &[&str]) -> Variant {
        let jobs =
            names.iter().map(|name| JobTimes { name: (*name).to_owned(), times: Vec::new() });
        Variant { jobs: jobs.collect(), ..Variant::default() }
    }

    #[test]
    fn jobs_belong_together_by_name_then_by_number() {
        let of =
            |all: &[&[&str]]| rows(&all.iter().map(|names| variant(names)).collect::<Vec<_>>());
        let some = |all: &[usize]| all.iter().copied().map(Some).collect::<Row>();
        assert_eq!(of(&[&["a", "b"], &["b", "a"]]), [some(&[0, 1]), some(&[1, 0])]);
        // A job that is called by its traffic, which differs.
        assert_eq!(of(&[&["a", "x=1"], &["a", "x=2"]]), [some(&[0, 0]), some(&[1, 1])]);
        // With one more job it is ambiguous which of them is `b`.
        assert_eq!(
            of(&[&["a", "b"], &["c", "a", "d"]]),
            [vec![Some(0), Some(1)], vec![Some(1), None], vec![None, Some(0)], vec![None, Some(2)]]
        );
        // The other scenario has a job of that name elsewhere.
        assert_eq!(
            of(&[&["a", "b"], &["b", "c"]]),
            [vec![Some(0), None], vec![Some(1), Some(0)], vec![None, Some(1)]]
        );
    }

    #[test]
    fn what_differs_is_named_by_its_key() {
        let table = |text: &str| Variant {
            keys: keys(&toml::from_str(text).expect("TOML")),
            ..Variant::default()
        };
        let a = table(
            "fabric = \"f\"\nseed = 1\n[[job]]\nname = \"x\"\nnodes = 4\nfiles = [\"a\"]\n[packets]\nsize = \"1B\"\n",
        );
        let b =
            table("fabric = \"f\"\nseed = 1\n[[job]]\nname = \"y\"\nnodes = 5\nfiles = [\"a\"]\n");
        let of = |found: BTreeMap<String, String>| found.into_iter().collect::<Vec<_>>();
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(of(b.differs(&a)), [pair("job.1.nodes", "5"), pair("packets.size", "-")]);
        assert_eq!(of(a.differs(&b)), [pair("job.1.nodes", "4"), pair("packets.size", "1B")]);
        assert!(a.differs(&a).is_empty());
    }

    #[test]
    fn differences_as_by_hand() {
        let of = |a: &[f64], b: &[f64]| Difference::of(a, b, 0.95);
        assert_eq!(of(&[], &[1.0]), None);
        assert_eq!(of(&[0.0], &[1.0]), None);
        assert_eq!(of(&[2.0], &[3.0]), Some(Difference { percent: 50.0, half: f64::INFINITY }));
        assert_eq!(of(&[0.1; 3], &[0.2; 3]), Some(Difference { percent: 100.0, half: 0.0 }));
        // Variances 1 and 4 of three each: errors 1/3 and 4/3, freedom (5/3)^2 / (1/18 + 16/18) = 2.941, whose quantile lies between
        // those of 2 and 3 (4.303 and 3.182).
        let found = of(&[9.0, 10.0, 11.0], &[10.0, 12.0, 14.0]).expect("a difference");
        let t = found.half / 100.0 * 10.0 / (5.0f64 / 3.0).sqrt();
        assert!((found.percent - 20.0).abs() < 1e-9 && (3.182..3.3).contains(&t), "{found:?} {t}");
        // Equal variances and numbers: Student's with 2 n - 2 degrees of freedom, 2.776 of four.
        let found = of(&[9.0, 10.0, 11.0], &[10.0, 11.0, 12.0]).expect("a difference");
        let half = 10.0 * 2.776 * (2.0f64 / 3.0).sqrt();
        assert!((found.half - half).abs() < 1e-2, "{found:?} {half}");
    }

    #[test]
    fn the_true_difference_is_inside_as_often_as_it_says() {
        // Six uniform numbers around 10 against nine that are four times as wide around 11.
        let mut draw = darkfiber_workload::Stream::new(11, 0);
        let mut inside = 0;
        for _ in 0..4000 {
            let mut one = || f64::from(draw.below(1 << 20)) / f64::from(1 << 20) - 0.5;
            let a: Vec<f64> = (0..6).map(|_| 10.0 + one()).collect();
            let b: Vec<f64> = (0..9).map(|_| 11.0 + 4.0 * one()).collect();
            let found = Difference::of(&a, &b, 0.95).expect("a difference");
            inside += u32::from((found.percent - 10.0).abs() <= found.half);
        }
        // 3,800 of a fair coin of 95 %; 5 standard deviations are 69, and samples are uniform and few.
        assert!((3710..=3870).contains(&inside), "{inside}");
    }
}
