//! Order in which switches must be written, and the ranks that follow.

use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each ordered pair of switches: the first must be written before the second.
pub(super) struct Precedence {
    switches: usize,
    words: usize,
    later: Vec<AtomicU64>,
}

impl Precedence {
    pub(super) fn new(switches: usize) -> Self {
        let words = switches.div_ceil(64);
        Self { switches, words, later: (0..switches * words).map(|_| AtomicU64::new(0)).collect() }
    }

    #[inline]
    pub(super) fn put(&self, first: u32, later: u32) {
        let word = &self.later[first as usize * self.words + later as usize / 64];
        let bit = 1 << (later % 64);
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    fn after(&self, s: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.words).flat_map(move |w| {
            let mut bits = self.later[s * self.words + w].load(Ordering::Relaxed);
            std::iter::from_fn(move || {
                let at = bits.trailing_zeros() as usize;
                bits &= bits.wrapping_sub(1);
                (at < 64).then_some(w * 64 + at)
            })
        })
    }

    /// Ranks of all switches, from 0, or switches of which each must come before the next and the last before the
    /// first.
    pub(super) fn ranks(&self) -> Result<Vec<u32>, Vec<u32>> {
        let n = self.switches;
        let mut waits = vec![0u32; n];
        for s in 0..n {
            self.after(s).for_each(|t| waits[t] += 1);
        }
        let mut rank = vec![0u32; n];
        let mut order: Vec<usize> = (0..n).filter(|&s| waits[s] == 0).collect();
        let mut next = 0;
        while let Some(&s) = order.get(next) {
            next += 1;
            for t in self.after(s) {
                rank[t] = rank[t].max(rank[s] + 1);
                waits[t] -= 1;
                if waits[t] == 0 {
                    order.push(t);
                }
            }
        }
        if order.len() == n { Ok(rank) } else { Err(self.contradiction(&waits)) }
    }

    /// A circle among switches that wait for ever.
    fn contradiction(&self, waits: &[u32]) -> Vec<u32> {
        let n = self.switches;
        // Each switch that waits has a predecessor that waits, too: walking back must close a
        // cycle.
        let mut before = vec![u32::MAX; n];
        for s in (0..n).filter(|&s| waits[s] > 0) {
            for t in self.after(s) {
                before[t] = before[t].min(s as u32);
            }
        }
        let mut at = (0..n).find(|&s| waits[s] > 0).unwrap_or(0);
        let mut seen = vec![false; n];
        while !seen[at] && before[at] != u32::MAX {
            seen[at] = true;
            at = before[at] as usize;
        }
        let end = at;
        let mut circle = vec![end as u32];
        at = before[end] as usize;
        while at != end {
            circle.push(at as u32);
            at = before[at] as usize;
        }
        circle.reverse();
        circle
    }
}

#[cfg(test)]
mod tests {
    use super::Precedence;

    #[test]
    fn ranks_rise_along_every_pair() {
        let p = Precedence::new(70);
        p.put(3, 69);
        p.put(69, 5);
        p.put(3, 5);
        let ranks = p.ranks().expect("no contradiction");
        assert_eq!((ranks[3], ranks[69], ranks[5], ranks[0]), (0, 1, 2, 0));
    }

    #[test]
    fn a_contradiction_is_named() {
        let p = Precedence::new(4);
        for (a, b) in [(0, 1), (1, 2), (2, 1), (2, 3)] {
            p.put(a, b);
        }
        let mut circle = p.ranks().expect_err("1 and 2 wait for each other");
        circle.sort_unstable();
        assert_eq!(circle, [1, 2]);
    }
}
