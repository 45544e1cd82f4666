//! Bytes that outputs have granted and not sent yet when an interval of a series ends.
//!
//! An output grants packets ahead of its channel, as far as its output buffer and the speedup of the crossbar allow: counted when
//! they are granted, a channel would carry more in an interval than it can.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Packets whose last byte leaves after the current interval of a series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Unsent {
    /// When the interval is over, in picoseconds; never without a series.
    until: u64,
    packets: Vec<Departing>,
}

/// A packet, or a note, on its way out of an output.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Departing {
    /// The output, as a place in tables.
    output: u32,
    bytes: u32,
    /// When its first byte leaves, and how long all of it takes, in picoseconds.
    departs: u64,
    long: u64,
}

impl Departing {
    /// Bytes of it that have not left at a time.
    fn left(&self, now: u64) -> u64 {
        let sent = now.saturating_sub(self.departs).min(self.long);
        let bytes = u64::from(self.bytes);
        let gone = u128::from(bytes) * u128::from(sent) / u128::from(self.long.max(1));
        if self.long == 0 && now >= self.departs { 0 } else { bytes - gone as u64 }
    }
}

impl Default for Unsent {
    fn default() -> Self {
        Self { until: u64::MAX, packets: Vec::new() }
    }
}

impl Unsent {
    /// An interval of a series begins, and is over at this time.
    pub(super) fn begin(&mut self, until: u64) {
        self.until = until;
        self.packets.retain(|p| p.departs + p.long > until);
    }

    /// An output sends a packet.
    #[inline]
    pub(super) fn add(&mut self, output: usize, bytes: u32, departs: u64, long: u64) {
        if departs + long > self.until {
            self.packets.push(Departing { output: output as u32, bytes, departs, long });
        }
    }

    /// By output, the bytes that have not left when the interval is over.
    pub(super) fn at(&self, now: u64) -> BTreeMap<usize, u64> {
        let mut left = BTreeMap::new();
        for p in &self.packets {
            *left.entry(p.output as usize).or_default() += p.left(now);
        }
        left
    }

    /// Whether its outputs are among this many.
    pub(super) fn fits(&self, outputs: usize) -> bool {
        self.packets
            .iter()
            .all(|p| (p.output as usize) < outputs && p.departs.max(p.long) < u64::MAX >> 1)
    }
}
