//! Nodes and times of jobs.

use std::cmp::Reverse;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::hash::BuildHasher;

use darkfiber_fabric::{Digest, TerminalId};

/// The stay of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stay {
    /// When it began, in seconds.
    pub start: i64,
    /// When it ended; it no longer ran then.
    pub end: i64,
    /// Its terminals, by number in [`History::places`].
    pub place: u32,
}

/// Jobs in the order of their starts, each place they were on kept once.
#[derive(Clone, Debug, Default)]
pub struct History {
    stays: Vec<Stay>,
    places: Vec<Box<[TerminalId]>>,
    /// Places by their hash, as any two of millions may have the same.
    number: HashMap<u64, Vec<u32>>,
    hasher: RandomState,
    sorted: bool,
}

impl History {
    /// Adds a job; jobs without terminals or without duration are ignored. Returns whether it was added.
    pub fn add(&mut self, start: i64, end: i64, mut terminals: Vec<TerminalId>) -> bool {
        terminals.sort_unstable();
        terminals.dedup();
        if terminals.is_empty() || end <= start {
            return false;
        }
        let alike = self.number.entry(self.hasher.hash_one(&terminals)).or_default();
        let known = alike.iter().find(|&&p| *self.places[p as usize] == *terminals);
        let place = known.copied().unwrap_or_else(|| {
            let next = self.places.len() as u32;
            self.places.push(terminals.into_boxed_slice());
            alike.push(next);
            next
        });
        self.sorted = false;
        self.stays.push(Stay { start, end, place });
        true
    }

    /// Puts the jobs in order.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.stays.sort_unstable();
        self.sorted = true;
        self
    }

    /// Jobs by rising start.
    pub fn stays(&self) -> &[Stay] {
        &self.stays
    }

    /// Sorted terminals of each place.
    pub fn places(&self) -> &[Box<[TerminalId]>] {
        &self.places
    }

    /// First start and last end, if there are jobs.
    pub fn span(&self) -> Option<(i64, i64)> {
        let start = self.stays.iter().map(|s| s.start).min()?;
        Some((start, self.stays.iter().map(|s| s.end).max()?))
    }

    /// Jobs that had a terminal together with another one at the same time: nodes were shared, or the log is wrong.
    ///
    /// Complexity: O(terminals of all jobs + jobs x log jobs).
    ///
    /// # Panics
    /// If it is not [`sorted`](Self::sorted).
    pub fn overlapping(&self) -> usize {
        assert!(self.sorted || self.stays.is_empty(), "a history in order");
        let mut last: BTreeMap<TerminalId, (i64, u32)> = BTreeMap::new();
        let mut overlaps = vec![false; self.stays.len()];
        for (i, stay) in (0u32..).zip(&self.stays) {
            for &t in &self.places[stay.place as usize] {
                let (end, who) = last.get(&t).copied().unwrap_or((i64::MIN, i));
                if end > stay.start {
                    overlaps[i as usize] = true;
                    overlaps[who as usize] = true;
                }
                if stay.end > end {
                    last.insert(t, (stay.end, i));
                }
            }
        }
        overlaps.into_iter().filter(|o| *o).count()
    }

    /// A digest of all jobs, times and places.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        for stay in &self.stays {
            digest.add(stay.start.cast_unsigned());
            digest.add(stay.end.cast_unsigned());
            let place = &self.places[stay.place as usize];
            digest.add(place.len() as u64);
            for t in place {
                digest.add(u64::from(t.0));
            }
        }
        digest.value()
    }

    /// A walk through time.
    ///
    /// # Panics
    /// If it is not [`sorted`](Self::sorted).
    pub fn walk(&self) -> HistoryWalk<'_> {
        assert!(self.sorted || self.stays.is_empty(), "a history in order");
        HistoryWalk {
            history: self,
            next: 0,
            ends: BinaryHeap::new(),
            running: BTreeMap::new(),
            jobs: 0,
        }
    }
}

/// The running jobs at a moment that advances.
#[derive(Clone, Debug)]
pub struct HistoryWalk<'a> {
    history: &'a History,
    next: usize,
    ends: BinaryHeap<Reverse<(i64, u32)>>,
    running: BTreeMap<u32, u32>,
    jobs: usize,
}

impl HistoryWalk<'_> {
    /// Moves to a moment, not before the current one.
    pub fn to(&mut self, time: i64) {
        let stays = &self.history.stays;
        while let Some(stay) = stays.get(self.next).filter(|s| s.start <= time) {
            self.next += 1;
            if stay.end > time {
                self.ends.push(Reverse((stay.end, stay.place)));
                *self.running.entry(stay.place).or_default() += 1;
                self.jobs += 1;
            }
        }
        while let Some(&Reverse((end, place))) = self.ends.peek().filter(|e| e.0.0 <= time) {
            debug_assert!(end <= time, "the earliest end comes first");
            self.ends.pop();
            self.jobs -= 1;
            if let Some(count) = self.running.get_mut(&place) {
                *count -= 1;
                if *count == 0 {
                    self.running.remove(&place);
                }
            }
        }
    }

    /// Places with jobs now, rising, and how many jobs each has.
    pub fn running(&self) -> impl Iterator<Item = (u32, u32)> {
        self.running.iter().map(|(&place, &count)| (place, count))
    }

    /// Jobs that run now.
    pub fn jobs(&self) -> usize {
        self.jobs
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn on(ids: &[u32]) -> Vec<TerminalId> {
        ids.iter().map(|&t| TerminalId(t)).collect()
    }

    #[test]
    fn places_are_kept_once() {
        let mut all = History::default();
        assert!(all.add(10, 20, on(&[2, 1, 2])));
        assert!(all.add(0, 10, on(&[1, 2])));
        assert!(all.add(15, 30, on(&[2, 3])));
        assert!(!all.add(5, 5, on(&[1])) && !all.add(5, 4, on(&[1])) && !all.add(0, 9, on(&[])));
        let all = all.sorted();
        assert_eq!((all.places().len(), all.stays().len()), (2, 3));
        assert_eq!(all.span(), Some((0, 30)));
        // The second and the third; the first ends when the second begins.
        assert_eq!(all.overlapping(), 2);
        let mut walk = all.walk();
        let mut at = |time| {
            walk.to(time);
            (walk.jobs(), walk.running().collect::<Vec<_>>())
        };
        assert_eq!(at(-1), (0, vec![]));
        assert_eq!(at(0), (1, vec![(0, 1)]));
        assert_eq!(at(10), (1, vec![(0, 1)]));
        assert_eq!(at(16), (2, vec![(0, 1), (1, 1)]));
        assert_eq!(at(29), (1, vec![(1, 1)]));
        assert_eq!(at(30), (0, vec![]));
    }

    proptest! {
        #[test]
        fn a_walk_sees_who_runs(
            jobs in prop::collection::vec((0i64..50, 1i64..30, 0u32..4), 0..40),
            mut times in prop::collection::vec(-5i64..90, 1..20),
        ) {
            times.sort_unstable();
            let mut all = History::default();
            for &(start, run, t) in &jobs {
                all.add(start, start + run, on(&[t]));
            }
            let all = all.sorted();
            let mut walk = all.walk();
            for time in times {
                walk.to(time);
                let mut seen: Vec<u32> = walk
                    .running()
                    .flat_map(|(p, n)| vec![all.places()[p as usize][0].0; n as usize])
                    .collect();
                seen.sort_unstable();
                let mut truth: Vec<u32> = jobs
                    .iter()
                    .filter(|(s, r, _)| *s <= time && time < s + r)
                    .map(|j| j.2)
                    .collect();
                truth.sort_unstable();
                prop_assert_eq!(seen, truth);
            }
            let overlaps = |i: usize| jobs.iter().enumerate().any(|(k, b)| {
                let a = jobs[i];
                k != i && a.2 == b.2 && a.0 < b.0 + b.1 && b.0 < a.0 + a.1
            });
            // Two that both overlap a long one are found through it.
            prop_assert_eq!(all.overlapping(), (0..jobs.len()).filter(|&i| overlaps(i)).count());
        }
    }
}
