//! What channels carried in time.

/// Most intervals of a page; more are joined.
const MOST: usize = 120;

/// Shares of what channels can carry, by interval; channels that carry nothing are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Length of an interval in seconds.
    pub interval: f64,
    /// Where each interval begins in the other two, and where the last ends.
    pub(crate) start: Vec<u32>,
    /// Channels, rising within an interval.
    pub(crate) channel: Vec<u32>,
    /// Their shares, in 65535ths.
    pub(crate) share: Vec<u16>,
}

impl Series {
    /// Of so many intervals and channels: `share(interval, channel)` is 1 where a channel carries all that it can.
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
                    // What is little is not nothing.
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
}
