//! The least value of a key that does something, by bisection.

use darkfiber_scenario::Error;

use super::keys::{self, KeyKind};
use super::means::means;
use super::part::FindPart;
use super::row::{Answer, Record};

/// State of a point whose trials are complete.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PointSearch {
    /// This value is tried next.
    Try(f64),
    /// It is between these: the first does not do it, the second does. The first is missing if the least value does it, the second
    /// if the largest does not.
    Found(Option<f64>, Option<f64>),
    /// A trial without an answer.
    Broken,
}

impl FindPart {
    /// The path of the key.
    pub(super) fn path(&self) -> Vec<String> {
        self.axis.split('.').map(str::to_owned).collect()
    }

    /// Refuses a search that is impossible.
    pub(super) fn check(&self) -> Result<(), Error> {
        if keys::kind(&self.path())? != KeyKind::One {
            return Err(Error::input(format!("{} holds no single value", self.axis)));
        }
        if self.above.is_some() == self.below.is_some() {
            return Err(Error::input("find needs either above or below")
                .hint("for example quantity = \"lost\", above = 0"));
        }
        let finite = [self.from, self.to].iter().all(|x| x.is_finite());
        if !finite || self.from >= self.to {
            return Err(Error::input(format!(
                "from = {} is not below to = {}",
                self.from, self.to
            )));
        }
        let within = self.within();
        if within.is_nan() || within <= 0.0 || (self.is_whole() && within < 1.0) {
            return Err(Error::input(format!("within = {within}: expected a number above 0")));
        }
        if self.text.as_ref().is_some_and(|text| !text.contains("{}")) {
            return Err(Error::input("as: there is no {} for the number in it"));
        }
        Ok(())
    }

    /// Whether only whole numbers are tried: both ends and the tolerance are whole.
    fn is_whole(&self) -> bool {
        [Some(self.from), Some(self.to), self.within]
            .into_iter()
            .flatten()
            .all(|x| x.fract() == 0.0)
    }

    fn within(&self) -> f64 {
        self.within.unwrap_or(1.0)
    }

    /// A number as a value of the key.
    pub(super) fn value(&self, x: f64) -> toml_edit::Value {
        if let Some(text) = &self.text {
            return text.replace("{}", &x.to_string()).into();
        }
        if self.is_whole() { (x as i64).into() } else { x.into() }
    }

    /// Whether a trial does it: the mean over its seeds of the quantity, of anything that has it.
    fn does(&self, trial: &[Record]) -> Option<bool> {
        let means = means(trial, &self.quantity, 0.95);
        let is = |mean: f64| match (self.above, self.below) {
            (Some(above), _) => mean > above,
            (_, Some(below)) => mean < below,
            _ => false,
        };
        (!means.is_empty()).then(|| means.iter().any(|(_, mean)| is(mean.mean)))
    }

    /// The next step after these trials of `seeds` cells each, in the order of the requests.
    pub(super) fn search(&self, records: &[Record], seeds: usize) -> PointSearch {
        let mut trials = records.chunks(seeds).map(|trial| self.does(trial));
        let (mut low, mut high) = (self.from, self.to);
        match trials.next() {
            None => return PointSearch::Try(low),
            Some(None) => return PointSearch::Broken,
            Some(Some(true)) => return PointSearch::Found(None, Some(low)),
            Some(Some(false)) => {}
        }
        match trials.next() {
            None => return PointSearch::Try(high),
            Some(None) => return PointSearch::Broken,
            Some(Some(false)) => return PointSearch::Found(Some(high), None),
            Some(Some(true)) => {}
        }
        while high - low > self.within() {
            let exact = f64::midpoint(low, high);
            let middle = if self.is_whole() { exact.floor() } else { exact };
            match trials.next() {
                None => return PointSearch::Try(middle),
                Some(None) => return PointSearch::Broken,
                Some(Some(true)) => high = middle,
                Some(Some(false)) => low = middle,
            }
        }
        PointSearch::Found(Some(low), Some(high))
    }

    /// The result for a point at the end.
    pub(super) fn conclusion(&self, records: &[Record], seeds: usize) -> Answer {
        let bound = match (self.above, self.below) {
            (Some(x), _) => format!("{} above {x}", self.quantity),
            (_, x) => format!("{} below {}", self.quantity, x.unwrap_or(f64::NAN)),
        };
        let answer = Answer { question: "find".to_owned(), ..Answer::of(bound) };
        let trials = records.len().div_ceil(seeds);
        match self.search(records, seeds) {
            PointSearch::Found(low, high) => {
                answer.with_some("least", high).with_some("not_at", low).with("trials", trials)
            }
            PointSearch::Try(_) => Answer { error: Some("trials are open".to_owned()), ..answer },
            PointSearch::Broken => {
                let why = format!("the last trial has no {}", self.quantity);
                Answer { error: Some(why), ..answer }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(from: f64, to: f64, within: Option<f64>) -> FindPart {
        FindPart {
            axis: "fail-percent".to_owned(),
            from,
            to,
            within,
            text: None,
            quantity: "lost".to_owned(),
            above: Some(0.0),
            below: None,
        }
    }

    /// All values that are tried, and the result, where values from `at` on lose pairs.
    fn run(part: &FindPart, at: f64) -> (Vec<f64>, PointSearch) {
        let (mut tried, mut records) = (Vec::new(), Vec::new());
        loop {
            match part.search(&records, 2) {
                PointSearch::Try(x) => {
                    tried.push(x);
                    for seed in 0..2 {
                        // A seed of each trial finds it a little later.
                        let lost = u64::from(x >= at + 0.01 * seed as f64);
                        records.push(Record {
                            id: String::new(),
                            point: 0,
                            turn: records.len() as u64,
                            set: Vec::new(),
                            seed,
                            answers: vec![Answer::default().with("lost", lost)],
                            seconds: 0.0,
                        });
                    }
                }
                done => return (tried, done),
            }
        }
    }

    #[test]
    fn bisects() {
        let whole = part(0.0, 10.0, None);
        assert_eq!(
            run(&whole, 7.0),
            (vec![0.0, 10.0, 5.0, 7.0, 6.0], PointSearch::Found(Some(6.0), Some(7.0)))
        );
        assert_eq!(run(&whole, 0.0).1, PointSearch::Found(None, Some(0.0)));
        assert_eq!(run(&whole, 11.0).1, PointSearch::Found(Some(10.0), None));
        assert_eq!(whole.value(7.0).as_integer(), Some(7));
        let real = part(0.0, 1.0, Some(0.1));
        let (tried, found) = run(&real, 0.3);
        assert_eq!((tried.len(), found), (6, PointSearch::Found(Some(0.25), Some(0.3125))));
        let text = FindPart { text: Some("imb:bytes={}KiB".to_owned()), ..part(1.0, 64.0, None) };
        assert_eq!(text.value(8.0).as_str(), Some("imb:bytes=8KiB"));
    }

    #[test]
    fn what_cannot_be() {
        assert!(part(0.0, 1.0, Some(0.1)).check().is_ok());
        assert!(part(1.0, 1.0, None).check().is_err());
        assert!(part(0.0, 1.0, Some(0.0)).check().is_err());
        assert!(FindPart { below: Some(1.0), ..part(0.0, 1.0, None) }.check().is_err());
        assert!(
            FindPart { axis: "fail-percnt".to_owned(), ..part(0.0, 1.0, None) }.check().is_err()
        );
        assert!(FindPart { axis: "job".to_owned(), ..part(0.0, 1.0, None) }.check().is_err());
    }
}
