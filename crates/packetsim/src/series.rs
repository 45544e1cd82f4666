//! Counters of ports, interval by interval.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{Net, OutPort};

/// Counters of every port of a network, interval by interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// Picoseconds of an interval. It doubles when there would be too many.
    pub interval: u64,
    /// Number of ports; values of each interval are adjacent, by port.
    pub ports: usize,
    /// Bytes that were sent.
    pub bytes: Vec<u32>,
    /// Nanoseconds in which packets waited for credits, and nothing could be sent.
    pub stalled: Vec<u32>,
    /// Bytes that waited in the switch for the port when the interval was over.
    pub queued: Vec<u32>,
    /// Bytes that were sent, and whose credits the next switch had not returned by then.
    pub ahead: Vec<u32>,
    /// By interval, packets in the network and its sources when it was over.
    pub packets: Vec<u64>,
    /// Bytes sent, and stalled time, before this interval.
    before: Vec<(u64, u64)>,
}

/// Cells at most; then intervals become twice as long.
const CELLS: usize = 1 << 25;

impl Series {
    /// Of a network, by intervals of this many picoseconds.
    pub(crate) fn new(net: &Net, interval: u64) -> Self {
        let ports = net.port_count();
        Self { interval, ports, before: vec![(0, 0); ports], ..Self::default() }
    }

    /// Number of intervals of the series.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether no interval is recorded.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Numbers of an interval, by port.
    pub fn at<'a>(&self, numbers: &'a [u32], interval: usize) -> &'a [u32] {
        &numbers[interval * self.ports..(interval + 1) * self.ports]
    }

    /// Intervals become twice as long when there are too many cells. Between two of them.
    pub(crate) fn halve(&mut self) {
        let (n, rows) = (self.ports, self.len());
        if rows % 2 == 1 || rows * n < CELLS {
            return;
        }
        self.interval *= 2;
        for row in 0..rows / 2 {
            let (first, second, to) = (2 * row * n, (2 * row + 1) * n, row * n);
            for c in 0..n {
                self.bytes[to + c] = self.bytes[first + c].saturating_add(self.bytes[second + c]);
                self.stalled[to + c] =
                    self.stalled[first + c].saturating_add(self.stalled[second + c]);
                self.queued[to + c] = self.queued[second + c];
                self.ahead[to + c] = self.ahead[second + c];
            }
            self.packets[row] = self.packets[2 * row + 1];
        }
        for cells in [&mut self.bytes, &mut self.stalled, &mut self.queued, &mut self.ahead] {
            cells.truncate(rows / 2 * n);
        }
        self.packets.truncate(rows / 2);
    }

    /// Number of cells of each counter.
    pub(crate) fn cell_count(&self) -> usize {
        self.bytes.len()
    }

    /// Cuts off the cells from a number on, which are those of some ports in one interval.
    pub(crate) fn cut_off(&mut self, from: usize, ports: Range<u32>) -> Self {
        let ports = ports.start as usize..ports.end as usize;
        Self {
            bytes: self.bytes.split_off(from),
            stalled: self.stalled.split_off(from),
            queued: self.queued.split_off(from),
            ahead: self.ahead.split_off(from),
            before: self.before[ports].to_vec(),
            ..Self::default()
        }
    }

    /// Appends cells that were cut off, of ports from `first` on.
    pub(crate) fn append(&mut self, first: u32, other: Self) {
        self.bytes.extend(other.bytes);
        self.stalled.extend(other.stalled);
        self.queued.extend(other.queued);
        self.ahead.extend(other.ahead);
        self.before[first as usize..][..other.before.len()].copy_from_slice(&other.before);
    }

    /// An interval is over for ports from `first` on, which come by rising numbers; by port after that, the bytes that it has granted
    /// and not sent.
    pub(crate) fn over(&mut self, first: u32, outputs: &[OutPort], unsent: &BTreeMap<usize, u64>) {
        let mut unsent = unsent.iter().peekable();
        for (i, (o, was)) in outputs.iter().zip(&mut self.before[first as usize..]).enumerate() {
            let left = unsent.next_if(|(at, _)| **at == i).map_or(0, |(_, bytes)| *bytes);
            let sent = o.carried - left;
            self.bytes.push(short(sent - was.0));
            // Whole nanoseconds; the remainder counts later.
            let stalled = (o.stalled - was.1) / 1000;
            self.stalled.push(short(stalled));
            *was = (sent, was.1 + stalled * 1000);
        }
        self.queued.extend(outputs.iter().map(|o| o.queued));
        self.ahead.extend(outputs.iter().map(|o| o.used));
    }
}

fn short(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
