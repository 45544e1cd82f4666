//! Closed forms of balls that are thrown into bins at random: flows on next hops, by a hash as good as random.

use std::collections::BTreeMap;

/// Expected numbers of balls in the fullest bin, each worked out once.
#[derive(Clone, Debug, Default)]
pub struct Balls {
    known: BTreeMap<(u32, u32), f64>,
}

impl Balls {
    /// The expected number of `balls` in the fullest of `bins`; NaN without bins.
    ///
    /// Complexity: O(bins x balls^3) for the first time, with few steps where balls are spread thin. From 512 balls on bins are taken
    /// to be filled independently, which is off by less than the spread of means over hundreds of draws.
    pub fn fullest(&mut self, balls: u32, bins: u32) -> f64 {
        *self.known.entry((balls, bins)).or_insert_with(|| fullest(balls as usize, bins as usize))
    }
}

/// Bins that are empty, of all: (1 - 1/bins)^balls.
pub fn idle(balls: u32, bins: u32) -> f64 {
    (1.0 - 1.0 / f64::from(bins)).powf(f64::from(balls))
}

/// Bins that have a ball at least.
pub fn members_used(balls: u32, bins: u32) -> f64 {
    f64::from(bins) * (1.0 - idle(balls, bins))
}

/// Variance of the bins that have a ball at least: two given bins are both empty with (1 - 2/bins)^balls.
pub fn members_used_variance(balls: u32, bins: u32) -> f64 {
    let (m, one) = (f64::from(bins), idle(balls, bins));
    let both = (1.0 - 2.0 / m).max(0.0).powf(f64::from(balls));
    (m * one * (1.0 - m * one) + m * (m - 1.0) * both).max(0.0)
}

/// The probability that no two balls are in a bin.
pub fn collision_free(balls: u32, bins: u32) -> f64 {
    (0..balls).map(|i| f64::from(bins.saturating_sub(i)) / f64::from(bins)).product()
}

/// Sums the probabilities that the fullest bin has more than k.
fn fullest(balls: usize, bins: usize) -> f64 {
    if bins < 2 || balls < 2 {
        return if bins == 0 { f64::NAN } else { balls as f64 };
    }
    let mut sum = 0.0;
    for k in 0..balls {
        let more = 1.0 - at_most(balls, bins, k);
        sum += more;
        if k * bins > balls && more < 1e-9 {
            break;
        }
    }
    sum
}

/// From this number of balls on, bins count as independent.
const MANY: usize = 512;

/// The probability that no bin has more than k, where each is filled independently: a Poisson distribution, whose spread is that of
/// bins around their common mean.
fn at_most_apart(balls: usize, bins: usize, k: usize) -> f64 {
    let mean = balls as f64 / bins as f64;
    let mut term = -mean;
    let mut sum = term.exp();
    for a in 0..k {
        term += mean.ln() - ((a + 1) as f64).ln();
        sum += term.exp();
    }
    sum.min(1.0).powf(bins as f64)
}

/// The probability that no bin has more than k: bin by bin, how many balls are left for the others.
fn at_most(balls: usize, bins: usize, k: usize) -> f64 {
    if k * bins < balls {
        return 0.0;
    }
    if balls >= MANY {
        return at_most_apart(balls, bins, k);
    }
    let mut left = vec![0.0; balls + 1];
    left[balls] = 1.0;
    for bin in 0..bins - 1 {
        // Each remaining ball is in this bin with probability one in the number of remaining bins.
        let p = 1.0 / (bins - bin) as f64;
        let mut next = vec![0.0; balls + 1];
        for (n, &weight) in left.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            // Binomial(n, p), from 0 up to k.
            let mut here = (1.0 - p).powf(n as f64);
            for a in 0..=k.min(n) {
                next[n - a] += weight * here;
                here *= (n - a) as f64 / (a + 1) as f64 * p / (1.0 - p);
            }
        }
        left = next;
    }
    left[..=k.min(balls)].iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight flows on eight links: 2.596 on the fullest, 34.4 % idle, 0.24 % without a collision.
    #[test]
    fn used_bins_as_counted_one_by_one() {
        // All 4^3 placements of three balls into four bins.
        let used = |outcome: u32| {
            (0..3).fold(0u32, |all, i| all | 1 << (outcome >> (2 * i) & 3)).count_ones()
        };
        let mean = (0..64).map(|outcome| f64::from(used(outcome))).sum::<f64>() / 64.0;
        let squares = (0..64).map(|outcome| f64::from(used(outcome)).powi(2)).sum::<f64>() / 64.0;
        assert!((members_used(3, 4) - mean).abs() < 1e-12);
        assert!((members_used_variance(3, 4) - (squares - mean * mean)).abs() < 1e-12);
    }

    #[test]
    fn eight_on_eight() {
        let mut balls = Balls::default();
        assert!((balls.fullest(8, 8) - 2.596).abs() < 5e-3, "{}", balls.fullest(8, 8));
        assert!((idle(8, 8) - 0.3436).abs() < 1e-4);
        assert!((collision_free(8, 8) - 0.002_403).abs() < 1e-6);
        assert_eq!(
            (balls.fullest(1, 8), balls.fullest(5, 1), collision_free(9, 8)),
            (1.0, 5.0, 0.0)
        );
    }

    /// Where bins count as independent, the expectation continues smoothly.
    #[test]
    fn many_balls_go_on_from_few() {
        let mut balls = Balls::default();
        let at = |balls: &mut Balls, n| balls.fullest(n, 8) - f64::from(n) / 8.0;
        let (few, many) = (at(&mut balls, 511), at(&mut balls, 512));
        assert!((few - many).abs() < 0.6 && many > 8.0, "{few} {many}");
        assert!(balls.fullest(100_000, 8) > 12_600.0 && balls.fullest(100_000, 8) < 12_800.0);
    }

    /// Enumerates all placements of few balls.
    #[test]
    fn as_enumerated() {
        for (n, m) in [(2, 2), (3, 2), (4, 3), (5, 3), (3, 5)] {
            let mut total = 0;
            for outcome in 0..u32::pow(m, n) {
                let mut count = vec![0u32; m as usize];
                (0..n).for_each(|i| count[(outcome / u32::pow(m, i) % m) as usize] += 1);
                total += count.iter().max().copied().unwrap_or(0);
            }
            let mean = f64::from(total) / f64::from(u32::pow(m, n));
            assert!((Balls::default().fullest(n, m) - mean).abs() < 1e-9, "{n} {m}");
        }
    }
}
