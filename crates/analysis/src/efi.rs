//! The edge forwarding index and dark fiber.
//!
//! The edge forwarding index (EFI) of a directed switch-to-switch channel is the number of routes between ordered
//! pairs of terminals that cross it. Domke and Hoefler, "Scheduling-Aware Routing for Supercomputers", SC'16:
//! Definition 7 restricts the pairs to those inside jobs (effective EFI), Definition 8 calls the share of channels
//! that no such pair crosses *dark fiber*. Both are the same sums over another set of pairs, so the functions here
//! take the load vector, whatever its pairs are. Terminal cables are left out, as in the paper: their load is fixed.
//!
//! Complexity: O(channels); [`hottest`] O(channels log channels).

use darkfiber_fabric::ChannelId;
use schemars::JsonSchema;
use serde::Serialize;

/// Statistics of the load over all directed switch-to-switch channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Efi {
    /// Largest load.
    pub max: u64,
    /// Mean load.
    pub mean: f64,
    /// Smallest load.
    pub min: u64,
    /// Population standard deviation.
    pub stddev: f64,
}

impl Efi {
    /// The statistics of a load vector; all zero for a fabric without switch-to-switch channels.
    ///
    /// ```
    /// let efi = darkfiber_analysis::Efi::of(&[0, 2, 4, 2]);
    /// assert_eq!((efi.max, efi.min, efi.mean), (4, 0, 2.0));
    /// ```
    pub fn of(load: &[u64]) -> Self {
        let (Some(&max), Some(&min)) = (load.iter().max(), load.iter().min()) else {
            return Self::default();
        };
        let n = load.len() as f64;
        let mean = load.iter().sum::<u64>() as f64 / n;
        let squares: f64 = load.iter().map(|&x| (x as f64 - mean).powi(2)).sum();
        Self { max, mean, min, stddev: (squares / n).sqrt() }
    }
}

/// Share of channels that carry nothing, in percent; 0 for a fabric without such channels.
pub fn dark_fiber_percent(load: &[u64]) -> f64 {
    if load.is_empty() {
        return 0.0;
    }
    let dark = load.iter().filter(|&&x| x == 0).count();
    100.0 * dark as f64 / load.len() as f64
}

/// The `n` channels with the largest load, the largest first, equal ones by id.
pub fn hottest(load: &[u64], n: usize) -> Vec<(ChannelId, u64)> {
    let mut order: Vec<usize> = (0..load.len()).collect();
    order.sort_by_key(|&c| (std::cmp::Reverse(load[c]), c));
    order.truncate(n);
    order.into_iter().map(|c| (ChannelId::new(c), load[c])).collect()
}

/// Classes of a histogram of the loads from 1 upward. Load 0 is a separate class: dark fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bins {
    /// Bins of equal width.
    Linear,
    /// Bins whose upper ends grow by a fixed factor.
    Log,
}

/// Numbers of channels by load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    /// Channels with load 0.
    pub dark: u64,
    /// Largest load of each bin, strictly rising; a bin starts above the end of the previous one.
    pub upper: Vec<u64>,
    /// Channels in each bin.
    pub count: Vec<u64>,
}

impl Histogram {
    /// Counts the channels of `load` in about `bins` bins over `1..=top` (never wider than needed:
    /// fewer if there are fewer integers); loads above `top` count in the last bin. Several
    /// engines are compared on the same `top`.
    #[expect(clippy::cast_sign_loss, reason = "ends of bins are positive")]
    pub fn of(load: &[u64], top: u64, bins: usize, kind: Bins) -> Self {
        let top = top.max(1);
        let bins = bins.max(1);
        let mut upper: Vec<u64> = (1..=bins)
            .map(|i| {
                let share = i as f64 / bins as f64;
                let end = match kind {
                    Bins::Linear => top as f64 * share,
                    Bins::Log => (top as f64).powf(share),
                };
                (end.round() as u64).clamp(1, top)
            })
            .collect();
        upper.dedup();
        let mut count = vec![0; upper.len()];
        let mut dark = 0;
        for &x in load {
            if x == 0 {
                dark += 1;
            } else {
                count[upper.partition_point(|&u| u < x).min(upper.len() - 1)] += 1;
            }
        }
        Self { dark, upper, count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_by_hand() {
        // 2, 4, 4, 4, 5, 5, 7, 9: the textbook vector with mean 5 and population deviation 2.
        let efi = Efi::of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        let expected = Efi { max: 9, mean: 5.0, min: 2, stddev: 2.0 };
        assert_eq!(efi, expected);
        assert_eq!(Efi::of(&[]), Efi::default());
    }

    #[test]
    fn dark_fiber_is_the_share_of_idle_channels() {
        assert!((dark_fiber_percent(&[0, 1, 0, 5]) - 50.0).abs() < 1e-12);
        assert!((dark_fiber_percent(&[3]) - 0.0).abs() < 1e-12);
        assert!((dark_fiber_percent(&[]) - 0.0).abs() < 1e-12);
    }

    #[test]
    fn hottest_first_and_ties_by_id() {
        let hot = hottest(&[1, 7, 3, 7], 3);
        let ids: Vec<(u32, u64)> = hot.iter().map(|(c, n)| (c.0, *n)).collect();
        assert_eq!(ids, [(1, 7), (3, 7), (2, 3)]);
        assert_eq!(hottest(&[5], 10).len(), 1);
    }

    #[test]
    fn linear_bins() {
        let h = Histogram::of(&[0, 1, 2, 3, 5, 9, 10], 10, 5, Bins::Linear);
        assert_eq!(h.dark, 1);
        assert_eq!(h.upper, [2, 4, 6, 8, 10]);
        assert_eq!(h.count, [2, 1, 1, 0, 2]);
    }

    #[test]
    fn log_bins_are_distinct_and_lose_nothing() {
        let load: Vec<u64> = (0..1000).collect();
        let h = Histogram::of(&load, 500, 12, Bins::Log);
        assert!(h.upper.windows(2).all(|w| w[0] < w[1]));
        assert_eq!(h.upper.last(), Some(&500));
        assert_eq!(h.dark + h.count.iter().sum::<u64>(), 1000);
    }
}
