//! When a victim has been timed for long enough.

/// Duration of a victim's measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Iterations or requests at least.
    pub iterations: usize,
    /// Runs of an application at least.
    pub runs: usize,
    /// Both ends of the confidence interval of 95 % of the median are at most such a part of it away.
    pub precision: f64,
    /// Simulated time from the victim's begin on after which it ends all the same, in picoseconds.
    pub limit: u64,
}

/// The fewest samples that have a confidence interval of the median of 95 %.
pub const FEWEST: usize = 6;

impl Rule {
    /// Whether this number of samples, in any order, is enough where at least `least` are required.
    pub(super) fn settled(&self, samples: &[u64], least: usize) -> bool {
        if samples.len() < least.max(FEWEST) {
            return false;
        }
        let mut sorted = samples.to_vec();
        sorted.sort_unstable();
        let (median, [low, high]) = (median(&sorted), interval(&sorted));
        low as f64 >= median * (1.0 - self.precision)
            && high as f64 <= median * (1.0 + self.precision)
    }
}

/// The median of sorted samples: the mean of the two in the middle of an even number.
pub(super) fn median(sorted: &[u64]) -> f64 {
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[half] as f64,
        _ => f64::midpoint(sorted[half - 1] as f64, sorted[half] as f64),
    }
}

/// The confidence interval of 95 % of the median of sorted samples, by their order alone: no distribution is assumed (Le Boudec,
/// "Performance Evaluation of Computer and Communication Systems", 2010, section 2.2.2; Hoefler, Belli, "Scientific Benchmarking of
/// Parallel Computing Systems", SC'15, rule 8). Least and greatest of few samples.
pub(super) fn interval(sorted: &[u64]) -> [u64; 2] {
    let n = sorted.len();
    if n == 0 {
        return [0, 0];
    }
    let half = 1.96 * (n as f64).sqrt() / 2.0;
    // Counted from 1.
    #[expect(clippy::cast_sign_loss, reason = "not below one")]
    let low = ((n as f64 / 2.0 - half).floor().max(1.0) as usize).min(n);
    #[expect(clippy::cast_sign_loss, reason = "above zero")]
    let high = ((n as f64 / 2.0 + half).ceil() as usize + 1).min(n);
    [sorted[low - 1], sorted[high - 1]]
}

/// The least sample that this many of them are not above: nearest rank.
#[expect(clippy::cast_sign_loss, reason = "shares are not below zero")]
pub(super) fn quantile(sorted: &[u64], share: f64) -> u64 {
    let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).or(sorted.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RULE: Rule = Rule { iterations: 10, runs: 6, precision: 0.05, limit: u64::MAX };

    #[test]
    fn a_hundred_samples_as_in_the_book() {
        // Le Boudec, appendix A: for n = 100 the interval is from the 40th to the 61st.
        let all: Vec<u64> = (1..=100).collect();
        assert_eq!(interval(&all), [40, 61]);
        assert!((median(&all) - 50.5).abs() < 1e-12);
        assert_eq!([0.0, 0.5, 0.95, 0.99, 1.0].map(|q| quantile(&all, q)), [1, 50, 95, 99, 100]);
        assert_eq!(interval(&[7]), [7, 7]);
        assert_eq!((interval(&[]), quantile(&[], 0.5)), ([0, 0], 0));
    }

    #[test]
    fn it_goes_on_until_the_interval_is_narrow() {
        assert!(!RULE.settled(&[100; 9], 10), "too few");
        assert!(RULE.settled(&[100; 10], 10));
        assert!(!RULE.settled(&[100; 5], 2), "no interval of five samples holds 95 %");
        let wide: Vec<u64> = (0..100).map(|i| 50 + i).collect();
        assert!(!RULE.settled(&wide, 10));
        let narrow: Vec<u64> = (0..100).map(|i| 1000 + i).collect();
        assert!(RULE.settled(&narrow, 10));
        // A few that take for ever do not move the median.
        assert!(RULE.settled(&[[100; 96].as_slice(), &[1 << 40; 4]].concat(), 10));
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_median(mut all in prop::collection::vec(0u64..1000, 1..300)) {
            all.sort_unstable();
            let [low, high] = interval(&all);
            prop_assert!(low as f64 <= median(&all) && median(&all) <= high as f64);
            // By counting: nearest rank.
            for q in [0.05, 0.5, 0.95, 0.99] {
                let x = quantile(&all, q);
                let count = |f: &dyn Fn(u64) -> bool| all.iter().filter(|y| f(**y)).count() as f64;
                prop_assert!(count(&|y| y <= x) >= q * all.len() as f64);
                prop_assert!(count(&|y| y < x) < q * all.len() as f64);
            }
        }
    }
}
