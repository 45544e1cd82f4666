//! Probability that a channel carries at most a given number of flows.

/// Loads that are distinguished; larger ones count as one more.
pub(super) const MOST: usize = 20;

/// Logarithms of the probabilities that a load is at most 0, 1, ..., [`MOST`].
pub(super) type LogCdf = [f64; MOST + 1];

/// The distribution of a sum of independent senders, `(count, probability)` each.
pub(super) fn log_cdf(senders: impl Iterator<Item = (u32, f64)>) -> LogCdf {
    let mut mass = [0.0; MOST + 1];
    mass[0] = 1.0;
    let mut top = 0;
    for (count, p) in senders {
        if p <= 0.0 {
            continue;
        }
        for _ in 0..count {
            top = (top + 1).min(MOST);
            for x in (1..=top).rev() {
                mass[x] += p * (mass[x - 1] - mass[x]);
            }
            mass[0] *= 1.0 - p;
        }
    }
    let mut sum = 0.0;
    mass.map(|m| {
        sum += m;
        // Rounding must not make a probability of it.
        f64::min(sum, 1.0).ln()
    })
}

/// The mean of 1 / largest load, from the sum over all channels of the logarithms. Terminals' links carry 1.
pub(super) fn mean_share(total: &LogCdf) -> f64 {
    let mut below = 0.0;
    let mut mean = 0.0;
    for (x, log) in total.iter().enumerate().skip(1) {
        let at_most = log.exp();
        mean += (at_most - below) / x as f64;
        below = at_most;
    }
    mean + (1.0 - below) / (MOST + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binomial_and_a_mean() {
        let cdf = log_cdf([(3, 0.5)].into_iter()).map(f64::exp);
        for (x, p) in [0.125, 0.5, 0.875, 1.0, 1.0].into_iter().enumerate() {
            assert!((cdf[x] - p).abs() < 1e-12, "{x}");
        }
        // At most 1 with probability 0.5, 2 with 0.375, 3 with 0.125.
        let mean = mean_share(&log_cdf([(3, 0.5)].into_iter()));
        assert!((mean - (0.5 + 0.375 / 2.0 + 0.125 / 3.0)).abs() < 1e-12);
    }
}
