//! Destinations routed side by side.
//!
//! Balancing goes destination by destination: each looks at the paths of those before it. In a large
//! fabric one destination changes little. There several parts work at the same time: a destination sees at
//! once those that its own part routed before it, and those of the other parts as of the last time that they
//! told each other. How many parts there are, and when they tell, follows from the fabric alone, so that
//! tables are the same for any number of threads.
//!
//! On whole trees parts are no less even than one, where each has whole subtrees: a channel down is used by
//! destinations of one part, and channels up are dealt in turn by each.

use rayon::prelude::*;

use crate::Routes;

/// Destination switches for each part; with less than twice as many there is one part, and every
/// destination sees all before it.
const SWITCHES_A_PART: usize = 256;
/// Most parts.
const MOST_PARTS: usize = 16;
/// Channels whose loads are added up in one go.
const CHANNELS: usize = 4096;

/// Destination switches that each part takes before parts tell each other.
pub(super) const SHARE: usize = 8;

/// How many parts route the LIDs of this many destination switches.
pub(super) fn parts(homes: usize) -> usize {
    let parts = (homes / SWITCHES_A_PART).clamp(1, MOST_PARTS);
    1 << parts.ilog2()
}

/// Adds up what parts changed since all had the loads `common`, and tells them all.
pub(super) fn add_up<P>(
    common: &mut Vec<u64>,
    parts: &mut [P],
    load: impl Fn(&mut P) -> &mut Vec<u64>,
) {
    let mut loads: Vec<&mut Vec<u64>> = parts.iter_mut().map(load).collect();
    let mut sum = common.clone();
    let chunks = sum.par_chunks_mut(CHANNELS).zip(common.par_chunks(CHANNELS)).enumerate();
    chunks.for_each(|(i, (sum, before))| {
        for load in &loads {
            let now = &load[i * CHANNELS..];
            for ((sum, before), now) in sum.iter_mut().zip(before).zip(now) {
                // Loads fall, too: the difference may wrap around, the sum does not.
                *sum = sum.wrapping_add(now.wrapping_sub(*before));
            }
        }
    });
    loads.par_iter_mut().for_each(|load| load.copy_from_slice(&sum));
    *common = sum;
}

/// Table rows that a part has made and that are not in the tables yet.
#[derive(Clone, Default)]
pub(super) struct Rows {
    numbers: Vec<usize>,
    ports: Vec<u8>,
}

impl Rows {
    /// A row to be made, as it is in the tables so far.
    pub(super) fn begin(&mut self, routes: &Routes, row: usize) -> &mut [u8] {
        let made = self.ports.len();
        self.numbers.push(row);
        self.ports.extend_from_slice(routes.ports(row));
        &mut self.ports[made..]
    }

    /// Writes all rows into the tables.
    pub(super) fn hand_in(&mut self, routes: &mut Routes) {
        let switches = self.ports.len().checked_div(self.numbers.len()).unwrap_or(0).max(1);
        for (&row, ports) in self.numbers.iter().zip(self.ports.chunks(switches)) {
            routes.ports_mut(row).copy_from_slice(ports);
        }
        self.numbers.clear();
        self.ports.clear();
    }
}
