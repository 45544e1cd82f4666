//! Rows that are forwarded over each channel.

use super::prepared::Prepared;

/// The traffic that crosses each channel on each row, by the initial tables.
pub(super) struct Index {
    of_channel: Vec<usize>,
    on: Vec<(usize, u64)>,
}

impl Index {
    /// Complexity: O(demands x hops).
    pub(super) fn new(of: &Prepared<'_>) -> Self {
        let rows = || (0..of.traffic.rows.len()).filter(|&row| of.traffic.rows[row].live);
        let mut of_channel = vec![0; of.load.len() + 1];
        let mut sum = vec![0u64; of.load.len()];
        let mut touched: Vec<u32> = Vec::new();
        let mut all: Vec<(u32, usize, u64)> = Vec::new();
        let mut way = Vec::new();
        for row in rows() {
            for (from, amount) in of.traffic.amounts(row) {
                way.clear();
                if !of.follow(row, from, &mut way) {
                    continue;
                }
                for &c in &way {
                    if sum[c as usize] == 0 {
                        touched.push(c);
                    }
                    sum[c as usize] += amount;
                }
            }
            for c in touched.drain(..) {
                of_channel[c as usize + 1] += 1;
                all.push((c, row, std::mem::take(&mut sum[c as usize])));
            }
        }
        for c in 1..of_channel.len() {
            of_channel[c] += of_channel[c - 1];
        }
        let mut next = of_channel.clone();
        let mut on = vec![(0, 0); all.len()];
        for (c, row, amount) in all {
            on[next[c as usize]] = (row, amount);
            next[c as usize] += 1;
        }
        Self { of_channel, on }
    }

    /// The rows that are sent on over a channel, and how much.
    pub(super) fn on(&self, c: u32) -> &[(usize, u64)] {
        &self.on[self.of_channel[c as usize]..self.of_channel[c as usize + 1]]
    }
}
