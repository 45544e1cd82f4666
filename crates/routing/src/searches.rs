//! Breadth-first searches from 64 switches at once.
//!
//! Then, Kaufmann, Chirigati et al., "The more the merrier: efficient multi-source graph traversal", PVLDB 8(4), 2014: each bit of a
//! word is one search, so that one pass over the channels advances 64 of them.

use darkfiber_fabric::{Fabric, SwitchId};

/// Switches whose searches go on at once.
pub const SEARCHES: usize = u64::BITS as usize;

/// Searches from the switch `first` and those after it, [`SEARCHES`] at most. Of each switch and level, `each` hears the level, from 1, and
/// the searches that come to the switch in it, a bit each. Returns the deepest level.
///
/// Complexity: O(levels x channels).
pub fn search_from(fabric: &Fabric, first: usize, mut each: impl FnMut(u32, u64)) -> u32 {
    let n = fabric.switch_count();
    // By switch, the searches that have been there, those that came in the last level, and those that come in this one.
    let (mut seen, mut last, mut come) = (vec![0u64; n], vec![0u64; n], vec![0u64; n]);
    for s in first..n.min(first + SEARCHES) {
        seen[s] = 1 << (s - first);
        last[s] = seen[s];
    }
    for level in 1.. {
        for (s, &came) in last.iter().enumerate().filter(|(_, came)| **came != 0) {
            for c in fabric.channels_from(SwitchId::new(s)) {
                come[fabric.heads()[c] as usize] |= came;
            }
        }
        let mut all = 0;
        for ((come, seen), last) in come.iter_mut().zip(&mut seen).zip(&mut last) {
            let new = std::mem::take(come) & !*seen;
            *seen |= new;
            *last = new;
            all |= new;
            if new != 0 {
                each(level, new);
            }
        }
        if all == 0 {
            return level - 1;
        }
    }
    unreachable!("every search ends")
}
