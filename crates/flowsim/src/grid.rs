//! Loads of channels over time.

/// Bytes of each channel in intervals of equal length.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Grid {
    /// Length of an interval in picoseconds.
    interval: u64,
    channels: usize,
    /// `bytes[interval * channels + channel]`.
    bytes: Vec<f64>,
}

/// A grid has at most this many cells; then its intervals become twice as long.
const CELLS: usize = 1 << 26;

impl Grid {
    /// An empty grid for this many channels.
    ///
    /// # Panics
    /// If the interval is 0.
    pub fn new(channels: usize, interval: u64) -> Self {
        assert!(interval > 0, "an interval takes time");
        Self { interval, channels, bytes: Vec::new() }
    }

    /// Whether another grid is of the same channels and whole intervals.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.channels == other.channels
            && other.interval > 0
            && other.bytes.len().is_multiple_of(other.channels.max(1))
    }

    /// One with these bytes, those of all channels for each interval.
    ///
    /// # Panics
    /// If the interval is 0, or bytes are not of this many channels.
    pub fn of(channels: usize, interval: u64, bytes: Vec<f64>) -> Self {
        assert!(bytes.len().is_multiple_of(channels.max(1)), "bytes of all channels");
        Self { bytes, ..Self::new(channels, interval) }
    }

    /// Length of an interval in picoseconds. It doubles when there would be too many.
    pub fn interval(&self) -> u64 {
        self.interval
    }

    /// The number of intervals.
    pub fn len(&self) -> usize {
        self.bytes.len().checked_div(self.channels).unwrap_or(0)
    }

    /// Whether no load was recorded.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Bytes of all channels in an interval.
    pub fn at(&self, interval: usize) -> &[f64] {
        &self.bytes[interval * self.channels..(interval + 1) * self.channels]
    }

    /// Adds a flow over some channels at a rate, in bytes a picosecond, for some time.
    pub(crate) fn add(
        &mut self,
        channels: &(impl Iterator<Item = u32> + Clone),
        from: u64,
        to: u64,
        rate: f64,
    ) {
        if to <= from || self.channels == 0 {
            return;
        }
        while (to / self.interval + 1) as usize > (CELLS / self.channels).max(1) {
            self.halve();
        }
        let cells = ((to - 1) / self.interval + 1) as usize * self.channels;
        if self.bytes.len() < cells {
            self.bytes.resize(cells, 0.0);
        }
        let mut begin = from;
        while begin < to {
            let i = begin / self.interval;
            let end = ((i + 1) * self.interval).min(to);
            let bytes = rate * (end - begin) as f64;
            let row = i as usize * self.channels;
            for c in channels.clone() {
                self.bytes[row + c as usize] += bytes;
            }
            begin = end;
        }
    }

    /// Makes intervals twice as long.
    fn halve(&mut self) {
        self.interval *= 2;
        let rows = self.len();
        let n = self.channels;
        for row in 0..rows.div_ceil(2) {
            for c in 0..n {
                let second =
                    if 2 * row + 1 < rows { self.bytes[(2 * row + 1) * n + c] } else { 0.0 };
                self.bytes[row * n + c] = self.bytes[2 * row * n + c] + second;
            }
        }
        self.bytes.truncate(rows.div_ceil(2) * n);
    }
}
