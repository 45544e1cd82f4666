//! The largest hop distance between switches, by searching from 64 switches at once.
//!
//! Then, Kaufmann, Chirigati et al., "The more the merrier: efficient multi-source graph traversal",
//! PVLDB 8(4), 2014: each bit of a word is one search, so one pass over the channels advances 64 of them.
//! Complexity: O(switches / 64 x channels x diameter), split over the caller's rayon pool.

use darkfiber_fabric::Fabric;
use darkfiber_routing::unwind_if_asked;
use rayon::prelude::*;

/// The largest hop distance between two switches of one component.
pub fn diameter(fabric: &Fabric) -> usize {
    let n = fabric.switch_count();
    (0..n.div_ceil(64))
        .into_par_iter()
        .map_init(
            || Search { seen: vec![0; n], now: vec![0; n], next: vec![0; n] },
            |search, batch| {
                unwind_if_asked();
                search.depth(fabric, batch * 64)
            },
        )
        .max()
        .unwrap_or(0)
}

struct Search {
    seen: Vec<u64>,
    now: Vec<u64>,
    next: Vec<u64>,
}

impl Search {
    /// The depth of the deepest search from the 64 switches that begin at `first`.
    fn depth(&mut self, fabric: &Fabric, first: usize) -> usize {
        let (starts, heads) = (fabric.channel_starts(), fabric.heads());
        self.seen.fill(0);
        self.now.fill(0);
        for s in first..(first + 64).min(fabric.switch_count()) {
            self.seen[s] = 1 << (s - first);
            self.now[s] = self.seen[s];
        }
        for depth in 0.. {
            self.next.fill(0);
            for (s, &searches) in self.now.iter().enumerate().filter(|(_, bits)| **bits != 0) {
                for &v in &heads[starts[s] as usize..starts[s + 1] as usize] {
                    self.next[v as usize] |= searches;
                }
            }
            let mut found = 0;
            for (next, seen) in self.next.iter_mut().zip(&mut self.seen) {
                *next &= !*seen;
                *seen |= *next;
                found |= *next;
            }
            if found == 0 {
                return depth;
            }
            std::mem::swap(&mut self.now, &mut self.next);
        }
        unreachable!("every search ends")
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_testkit::oracle;

    #[test]
    fn as_searched_one_by_one() {
        for spec in
            ["torus:dims=7x5x3,t=1", "kary:k=4,n=3", "hyperx:dims=4x3,t=2", "torus:dims=131,t=1"]
        {
            let fabric = darkfiber_fabric::open(spec).expect("valid").fabric;
            assert_eq!(super::diameter(&fabric), oracle::diameter(&fabric), "{spec}");
        }
    }
}
