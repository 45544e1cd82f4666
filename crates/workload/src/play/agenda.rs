//! A priority queue of future events.

use serde::{Deserialize, Serialize};

/// A queue of events by time that never goes back: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan: "Faster algorithms for
/// the shortest path problem", JACM 1990). Events of one time come out in the order in which they went in.
///
/// Complexity: an event moves at most 64 times, in practice a handful; no comparison of events.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "E: Serialize + serde::de::DeserializeOwned")]
pub struct Agenda<E> {
    /// Events whose time differs from `last` in bit `i - 1` and in none above; bucket 0 is those at `last`.
    buckets: Vec<Vec<(u64, E)>>,
    /// Buckets that are not empty, as bits.
    filled: u64,
    last: u64,
    len: usize,
    /// Events of bucket 0 that are gone.
    taken: usize,
    /// The earliest time in the buckets above 0, where known.
    peeked: Option<u64>,
}

impl<E: Copy> Default for Agenda<E> {
    fn default() -> Self {
        Self {
            buckets: (0..65).map(|_| Vec::new()).collect(),
            filled: 0,
            last: 0,
            len: 0,
            taken: 0,
            peeked: None,
        }
    }
}

impl<E: Copy> Agenda<E> {
    /// Whether a restored queue is valid: the right number of buckets and of events; `is_there` checks what an event refers to.
    pub fn fits(&self, is_there: impl Fn(&E) -> bool) -> bool {
        let all = || self.buckets.iter().flatten();
        self.buckets.len() == 65
            && self.taken <= self.buckets[0].len()
            && all().count() == self.len + self.taken
            && all().all(|(_, event)| is_there(event))
    }

    /// All events to come, in the order in which they will come out.
    pub fn ordered(&self) -> Vec<(u64, E)> {
        let rest = self.buckets[0][self.taken..].iter();
        let mut all: Vec<_> = rest.chain(self.buckets[1..].iter().flatten()).copied().collect();
        // Events of one time are in one bucket, in order.
        all.sort_by_key(|&(time, _)| time);
        all
    }

    /// Puts all events off by this long.
    pub fn put_off(&mut self, by: u64) {
        let all = self.ordered();
        *self = Self { last: self.last + by, ..Self::default() };
        for (time, event) in all {
            self.push(time + by, event);
        }
    }

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an event.
    ///
    /// # Panics
    /// If its time is before that of the last event that came out.
    #[inline]
    pub fn push(&mut self, time: u64, event: E) {
        assert!(time >= self.last, "an event at {time} after one at {}", self.last);
        let i = (64 - (time ^ self.last).leading_zeros()) as usize;
        self.buckets[i].push((time, event));
        if i > 0 {
            self.filled |= 1 << (i - 1);
            self.peeked = self.peeked.map(|p| p.min(time));
        }
        self.len += 1;
    }

    /// The time of the next event.
    #[inline]
    pub fn upcoming(&mut self) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        if self.taken < self.buckets[0].len() {
            return Some(self.last);
        }
        if self.peeked.is_none() {
            let i = self.filled.trailing_zeros() as usize + 1;
            self.peeked = self.buckets[i].iter().map(|e| e.0).min();
        }
        self.peeked
    }

    /// Takes the next event out if it is not after `until`.
    #[inline]
    pub fn pop(&mut self, until: u64) -> Option<(u64, E)> {
        let time = self.upcoming()?;
        if time > until {
            return None;
        }
        if self.taken == self.buckets[0].len() {
            self.turn(time);
        }
        let event = self.buckets[0][self.taken];
        self.taken += 1;
        self.len -= 1;
        if self.taken == self.buckets[0].len() {
            self.buckets[0].clear();
            self.taken = 0;
        }
        Some(event)
    }

    /// Makes `time`, the earliest, the last one, and sorts its bucket into those below.
    fn turn(&mut self, time: u64) {
        self.buckets[0].clear();
        self.taken = 0;
        self.peeked = None;
        let i = self.filled.trailing_zeros() as usize + 1;
        self.filled &= !(1 << (i - 1));
        self.last = time;
        let mut moved = std::mem::take(&mut self.buckets[i]);
        for &(t, event) in &moved {
            let j = (64 - (t ^ time).leading_zeros()) as usize;
            self.buckets[j].push((t, event));
            if j > 0 {
                self.filled |= 1 << (j - 1);
            }
        }
        moved.clear();
        // The memory of the bucket is reused.
        if self.buckets[i].is_empty() {
            self.buckets[i] = moved;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn events_come_by_time_and_then_as_they_went_in(
            steps in prop::collection::vec((any::<bool>(), 0u64..1 << 20, 0u32..40), 1..200)
        ) {
            let mut agenda = Agenda::default();
            let mut oracle: Vec<(u64, u32)> = Vec::new();
            let mut now = 0;
            let mut count = 0;
            for (push, delta, shift) in steps {
                if push {
                    let time = now + (delta >> (shift / 2));
                    agenda.push(time, count);
                    oracle.push((time, count));
                    count += 1;
                } else {
                    // A stable sort keeps those of one time in order.
                    oracle.sort_by_key(|e| e.0);
                    prop_assert_eq!(agenda.upcoming(), oracle.first().map(|e| e.0));
                    let until = now + delta;
                    let expected = oracle.first().copied().filter(|e| e.0 <= until);
                    prop_assert_eq!(agenda.pop(until), expected);
                    if let Some((t, _)) = expected {
                        oracle.remove(0);
                        now = t;
                    }
                }
                prop_assert_eq!(agenda.len(), oracle.len());
                if delta % 7 == 0 {
                    oracle.sort_by_key(|e| e.0);
                    prop_assert_eq!(&agenda.ordered(), &oracle);
                    agenda.put_off(delta);
                    now += delta;
                    for event in &mut oracle {
                        event.0 += delta;
                    }
                }
            }
        }
    }
}
