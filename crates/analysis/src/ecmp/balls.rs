//! Closed forms of balls that are thrown into bins at random: flows on next hops, by a hash as good as random. Bins are given by
//! their shares of all balls, which sum to 1; equal shares where next hops are alike.

use std::collections::BTreeMap;

/// Expected numbers of balls in the fullest bin, each worked out once.
#[derive(Clone, Debug, Default)]
pub struct Balls {
    known: BTreeMap<(u32, Vec<u64>), f64>,
}

impl Balls {
    /// The expected number of `balls` in the fullest of bins of these shares; NaN without bins.
    ///
    /// Complexity: O(bins x balls^3) for the first time, with few steps where balls are spread thin. From 512 balls on bins are taken
    /// to be filled independently, which is off by less than the spread of means over hundreds of draws.
    pub fn fullest(&mut self, balls: u32, shares: &[f64]) -> f64 {
        let key = (balls, shares.iter().map(|share| share.to_bits()).collect());
        *self.known.entry(key).or_insert_with(|| fullest(balls as usize, shares))
    }
}

/// Bins that are expected to be empty, of all.
pub fn idle(balls: u32, shares: &[f64]) -> f64 {
    empty(balls, shares) / shares.len() as f64
}

/// Number of bins that are expected to be empty: the sum of (1 - share)^balls.
fn empty(balls: u32, shares: &[f64]) -> f64 {
    let is_empty = |share: &f64| (1.0 - share).max(0.0).powf(f64::from(balls));
    match shares.first().filter(|_| are_even(shares)) {
        Some(share) => shares.len() as f64 * is_empty(share),
        None => shares.iter().map(is_empty).sum(),
    }
}

#[expect(clippy::float_cmp, reason = "equal shares are the same number")]
fn are_even(shares: &[f64]) -> bool {
    shares.iter().all(|share| *share == shares[0])
}

/// Bins that have a ball at least.
pub fn members_used(balls: u32, shares: &[f64]) -> f64 {
    shares.len() as f64 - empty(balls, shares)
}

/// Variance of the bins that have a ball at least: two given bins are both empty with (1 - their shares)^balls.
pub fn members_used_variance(balls: u32, shares: &[f64]) -> f64 {
    let is_empty = |share: f64| (1.0 - share).max(0.0).powf(f64::from(balls));
    let m = shares.len() as f64;
    if let Some(&first) = shares.first().filter(|_| are_even(shares)) {
        let (one, both) = (is_empty(first), is_empty(2.0 * first));
        return (m * one * (1.0 - m * one) + m * (m - 1.0) * both).max(0.0);
    }
    let mut variance = 0.0;
    for (i, &a) in shares.iter().enumerate() {
        variance += is_empty(a) * (1.0 - is_empty(a));
        for &b in &shares[i + 1..] {
            variance += 2.0 * (is_empty(a + b) - is_empty(a) * is_empty(b));
        }
    }
    variance.max(0.0)
}

/// The probability that no two balls are in a bin.
pub fn collision_free(balls: u32, bins: u32) -> f64 {
    (0..balls).map(|i| f64::from(bins.saturating_sub(i)) / f64::from(bins)).product()
}

/// Sums the probabilities that the fullest bin has more than k.
fn fullest(balls: usize, shares: &[f64]) -> f64 {
    let bins = shares.len();
    if bins < 2 || balls < 2 {
        return if bins == 0 { f64::NAN } else { balls as f64 };
    }
    let largest = shares.iter().copied().fold(0.0, f64::max);
    let mut sum = 0.0;
    for k in 0..balls {
        let more = 1.0 - at_most(balls, shares, k);
        sum += more;
        if k as f64 > balls as f64 * largest && more < 1e-9 {
            break;
        }
    }
    sum
}

/// From this number of balls on, bins count as independent.
const MANY: usize = 512;

/// The probability that no bin has more than k, where each is filled independently: a Poisson distribution, whose spread is that of
/// bins around their common mean.
fn at_most_apart(balls: usize, shares: &[f64], k: usize) -> f64 {
    let of_bin = |share: f64| {
        let mean = balls as f64 * share;
        if mean <= 0.0 {
            return 1.0;
        }
        let mut term = -mean;
        let mut sum = term.exp();
        for a in 0..k {
            term += mean.ln() - ((a + 1) as f64).ln();
            sum += term.exp();
        }
        sum.min(1.0)
    };
    // Alike bins, which are most, once.
    let mut times: BTreeMap<u64, i32> = BTreeMap::new();
    for share in shares {
        *times.entry(share.to_bits()).or_default() += 1;
    }
    times.into_iter().map(|(share, n)| of_bin(f64::from_bits(share)).powi(n)).product()
}

/// The probability that no bin has more than k: bin by bin, how many balls are left for the others.
fn at_most(balls: usize, shares: &[f64], k: usize) -> f64 {
    if k * shares.len() < balls {
        return 0.0;
    }
    if balls >= MANY {
        return at_most_apart(balls, shares, k);
    }
    let mut left = vec![0.0; balls + 1];
    left[balls] = 1.0;
    let mut others = 1.0;
    for &share in &shares[..shares.len() - 1] {
        // Each remaining ball is in this bin with its probability among the remaining bins.
        let p = (share / others).clamp(0.0, 1.0);
        others -= share;
        let mut next = vec![0.0; balls + 1];
        for (n, &weight) in left.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            if p >= 1.0 {
                if n <= k {
                    next[0] += weight;
                }
                continue;
            }
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

    /// As many equal shares.
    fn even(bins: u32) -> Vec<f64> {
        vec![1.0 / f64::from(bins); bins as usize]
    }

    /// Eight flows on eight links: 2.596 on the fullest, 34.4 % idle, 0.24 % without a collision.
    #[test]
    fn used_bins_as_counted_one_by_one() {
        // All 4^3 placements of three balls into four bins.
        let used = |outcome: u32| {
            (0..3).fold(0u32, |all, i| all | 1 << (outcome >> (2 * i) & 3)).count_ones()
        };
        let mean = (0..64).map(|outcome| f64::from(used(outcome))).sum::<f64>() / 64.0;
        let squares = (0..64).map(|outcome| f64::from(used(outcome)).powi(2)).sum::<f64>() / 64.0;
        assert!((members_used(3, &even(4)) - mean).abs() < 1e-12);
        assert!((members_used_variance(3, &even(4)) - (squares - mean * mean)).abs() < 1e-12);
    }

    /// All placements of four balls into bins of a half, a third and a sixth, each with its probability.
    #[test]
    fn bins_of_unequal_shares_as_counted_one_by_one() {
        let shares = [1.0 / 2.0, 1.0 / 3.0, 1.0 / 6.0];
        let (mut used, mut squares, mut most, mut none) = (0.0, 0.0, 0.0, 0.0);
        for outcome in 0..81u32 {
            let mut count = [0u32; 3];
            let mut p = 1.0;
            for i in 0..4 {
                let bin = (outcome / 3u32.pow(i) % 3) as usize;
                count[bin] += 1;
                p *= shares[bin];
            }
            let here = f64::from(count.iter().filter(|c| **c > 0).count() as u32);
            used += p * here;
            squares += p * here * here;
            most += p * f64::from(count.iter().copied().max().unwrap_or(0));
            none += p * (3.0 - here) / 3.0;
        }
        assert!((members_used(4, &shares) - used).abs() < 1e-12);
        assert!((members_used_variance(4, &shares) - (squares - used * used)).abs() < 1e-12);
        assert!((idle(4, &shares) - none).abs() < 1e-12);
        assert!((Balls::default().fullest(4, &shares) - most).abs() < 1e-9);
    }

    #[test]
    fn eight_on_eight() {
        let mut balls = Balls::default();
        let eight = even(8);
        assert!((balls.fullest(8, &eight) - 2.596).abs() < 5e-3, "{}", balls.fullest(8, &eight));
        assert!((idle(8, &eight) - 0.3436).abs() < 1e-4);
        assert!((collision_free(8, 8) - 0.002_403).abs() < 1e-6);
        assert_eq!(
            (balls.fullest(1, &eight), balls.fullest(5, &even(1)), collision_free(9, 8)),
            (1.0, 5.0, 0.0)
        );
    }

    /// Where bins count as independent, the expectation continues smoothly.
    #[test]
    fn many_balls_go_on_from_few() {
        let mut balls = Balls::default();
        let at = |balls: &mut Balls, n| balls.fullest(n, &even(8)) - f64::from(n) / 8.0;
        let (few, many) = (at(&mut balls, 511), at(&mut balls, 512));
        assert!((few - many).abs() < 0.6 && many > 8.0, "{few} {many}");
        let most = balls.fullest(100_000, &even(8));
        assert!(most > 12_600.0 && most < 12_800.0, "{most}");
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
            assert!((Balls::default().fullest(n, &even(m)) - mean).abs() < 1e-9, "{n} {m}");
        }
    }
}
