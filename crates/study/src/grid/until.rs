//! More seeds, until a mean is known well enough.

use darkfiber_scenario::Error;

use super::means::means;
use super::part::UntilPart;
use super::row::{Answer, Record};

/// Number of seeds of a point at first, unless specified, and at least.
const FIRST: u64 = 5;
const LEAST: u64 = 3;

impl UntilPart {
    fn relative(&self) -> f64 {
        self.relative.unwrap_or(0.02)
    }

    fn confidence(&self) -> f64 {
        self.confidence.unwrap_or(0.95)
    }

    /// Seeds of a point at most.
    pub(super) fn most(&self) -> u64 {
        self.at_most.unwrap_or(200)
    }

    /// Refuses conditions that are impossible.
    pub(super) fn check(&self) -> Result<(), Error> {
        let is_part = |x: f64| x > 0.0 && x < 1.0;
        if !is_part(self.relative()) || !is_part(self.confidence()) {
            return Err(Error::input("relative and confidence are above 0 and below 1"));
        }
        if self.most() < LEAST {
            return Err(Error::input(format!(
                "at-most = {}: expected {LEAST} or more",
                self.most()
            )));
        }
        Ok(())
    }

    /// Number of seeds that a point with these answers has next: half as many again where some mean is not known precisely
    /// enough. It depends only on the answers, so that an interrupted study continues with the same.
    pub(super) fn seeds(&self, records: &[Record], first: Option<u64>) -> u64 {
        let n = records.len() as u64;
        if n == 0 {
            return first.unwrap_or(FIRST).max(LEAST).min(self.most());
        }
        let means = means(records, &self.quantity, self.confidence());
        // Where no row has the quantity more seeds do not add any.
        let is_known = means.iter().all(|(_, mean)| mean.relative() <= self.relative());
        if is_known { n } else { (n + n.div_ceil(2)).min(self.most()) }
    }

    /// The result for a point at the end: an answer for each mean.
    pub(super) fn conclusion(&self, records: &[Record]) -> Vec<Answer> {
        means(records, &self.quantity, self.confidence())
            .into_iter()
            .map(|((question, of), mean)| {
                let of =
                    if of.is_empty() { question.to_owned() } else { format!("{question} {of}") };
                let of = format!("{} of {of}", self.quantity);
                Answer { question: "until".to_owned(), ..Answer::of(of) }
                    .with("mean", mean.mean)
                    .with("half_width_percent", 100.0 * mean.relative())
                    .with("samples", mean.samples)
                    .with("settled", mean.relative() <= self.relative())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(values: &[f64]) -> Vec<Record> {
        (0..)
            .zip(values)
            .map(|(turn, x)| Record {
                id: String::new(),
                point: 0,
                turn,
                set: Vec::new(),
                seed: turn,
                answers: vec![Answer { question: "q".to_owned(), ..Answer::of("a").with("x", *x) }],
                seconds: 0.0,
            })
            .collect()
    }

    #[test]
    fn seeds_are_added_where_the_interval_is_wide() {
        let until = UntilPart {
            quantity: "x".to_owned(),
            relative: Some(0.1),
            confidence: None,
            at_most: Some(12),
        };
        assert_eq!(until.seeds(&[], None), 5);
        assert_eq!(until.seeds(&[], Some(40)), 12);
        assert_eq!(until.seeds(&records(&[1.0; 5]), None), 5);
        assert_eq!(until.seeds(&records(&[1.0, 2.0, 3.0]), None), 5);
        assert_eq!(until.seeds(&records(&[1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0]), None), 12);
        // A quantity without any answer adds no seeds.
        let other = UntilPart { quantity: "y".to_owned(), ..until.clone() };
        assert_eq!(other.seeds(&records(&[1.0, 9.0, 5.0]), None), 3);
        let conclusions = until.conclusion(&records(&[1.0, 2.0, 3.0]));
        assert_eq!(conclusions[0].of, "x of q a");
        assert_eq!(conclusions[0].get("settled"), Some(&false.into()));
    }
}
