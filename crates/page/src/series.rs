//! Loads of channels over time.

/// Most intervals of a page; more are joined.
const MOST: usize = 120;

/// Shares of the capacity of channels, by interval; channels without load are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Length of an interval in seconds.
    pub interval: f64,
    /// Start of the first interval, in seconds since 1970; `None` where time starts with a run.
    pub begins: Option<i64>,
    /// The value of a share of 1 in the unit of the view; `None` where it is the capacity of a channel.
    pub full: Option<f64>,
    /// Start of each interval in the other two, and the end of the last.
    pub(crate) start: Vec<u32>,
    /// Channels, rising within an interval.
    pub(crate) channel: Vec<u32>,
    /// Their shares, in 65535ths.
    pub(crate) share: Vec<u16>,
}

impl Series {
    /// A series of intervals and channels: `share(interval, channel)` is 1 where a channel is at full capacity.
    pub fn of(
        interval: f64,
        intervals: usize,
        channels: usize,
        share: impl Fn(usize, usize) -> f64,
    ) -> Self {
        let join = intervals.div_ceil(MOST).max(1);
        let mut found = Self { interval: interval * join as f64, ..Self::default() };
        found.start.push(0);
        for from in (0..intervals).step_by(join) {
            let to = (from + join).min(intervals);
            for c in 0..channels {
                let sum: f64 = (from..to).map(|i| share(i, c)).sum();
                if sum > 0.0 {
                    let mean = (sum / (to - from) as f64).clamp(0.0, 1.0);
                    // A small value must not become zero.
                    let whole = (mean * 65535.0).round().max(1.0);
                    #[expect(clippy::cast_sign_loss, reason = "it is at least 1")]
                    found.share.push(whole as u16);
                    found.channel.push(c as u32);
                }
            }
            found.start.push(found.channel.len() as u32);
        }
        found
    }

    /// A series of numbers in the unit of the view: `rows` are intervals, with the load of each channel.
    pub fn of_numbers(interval: f64, begins: Option<i64>, rows: &[Vec<f64>]) -> Self {
        let most = rows.iter().flatten().copied().fold(0.0, f64::max);
        let channels = rows.first().map_or(0, Vec::len);
        let share = |i: usize, c: usize| if most > 0.0 { rows[i][c] / most } else { 0.0 };
        let made = Self::of(interval, rows.len(), channels, share);
        Self { begins, full: Some(most), ..made }
    }

    /// The stride by which a series of this number of moments is thinned without merging any.
    pub fn stride(moments: usize) -> usize {
        moments.div_ceil(MOST).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_series_are_joined() {
        let series = Series::of(0.5, 241, 2, |i, c| if c == 1 { f64::from(i < 3) } else { 0.0 });
        assert!((series.interval - 1.5).abs() < 1e-12);
        assert_eq!(series.start.len(), 82);
        assert_eq!((series.channel.as_slice(), series.share.as_slice()), (&[1][..], &[65535][..]));
    }
    #[test]
    fn numbers_are_shares_of_the_largest() {
        let series = Series::of_numbers(600.0, Some(7), &[vec![0.0, 10.0], vec![20.0, 5.0]]);
        assert_eq!((series.full, series.begins), (Some(20.0), Some(7)));
        assert_eq!(series.channel, [1, 0, 1]);
        assert_eq!(series.share, [32768, 65535, 16384]);
        assert_eq!((Series::stride(1), Series::stride(120), Series::stride(121)), (1, 1, 2));
    }
}
