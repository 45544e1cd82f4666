//! Bytes from each rank to each other one: the content of profiles and communication graphs.

use crate::schedule::{Block, Program, Schedule, ScheduleError, Script};

/// Bytes between pairs of ranks, without order or time. Only pairs that exchange something have an entry.
///
/// ```
/// use darkfiber_workload::CommMatrix;
///
/// let mut matrix = CommMatrix::new(4);
/// matrix.add(0, 1, 100);
/// matrix.add(2, 3, 50);
/// matrix.add(0, 1, 11);
/// matrix.merge();
/// assert_eq!(matrix.entries(), [(0, 1, 111), (2, 3, 50)]);
/// assert_eq!(matrix.symmetric().entries(), [(0, 1, 56), (1, 0, 55), (2, 3, 25), (3, 2, 25)]);
/// // Two ranks a node.
/// assert_eq!(matrix.sum_by(&[0, 0, 0, 1]).entries(), [(0, 0, 111), (0, 1, 50)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommMatrix {
    ranks: u32,
    /// Sender, receiver, and bytes.
    entries: Vec<(u32, u32, u64)>,
}

impl CommMatrix {
    /// An empty matrix for this number of ranks.
    pub fn new(ranks: u32) -> Self {
        Self { ranks, entries: Vec::new() }
    }

    /// The matrix of all messages of a block.
    pub fn of(block: &Block) -> Self {
        let mut matrix = Self::new(block.ranks());
        let mut merged = 1 << 16;
        block.each_message(|from, to, bytes, alike| {
            matrix.entries.push((from, to, bytes.saturating_mul(alike)));
            // Rounds repeat their pairs: the entries never take more than twice the memory that they need.
            if matrix.entries.len() == 2 * merged {
                matrix.merge();
                merged = merged.max(matrix.entries.len());
            }
        });
        matrix.merge();
        matrix
    }

    /// The matrix of all messages of a program, repetitions counted.
    pub fn of_program(program: &Program) -> Self {
        let mut all = Self::new(program.ranks());
        for (block, times) in program.counts() {
            for &(from, to, bytes) in Self::of(&program.blocks()[block]).entries() {
                all.entries.push((from, to, bytes.saturating_mul(times)));
            }
        }
        all.merge();
        all
    }

    /// A schedule in which all ranks send everything at once: one message for each pair.
    ///
    /// # Errors
    /// If there are too many pairs.
    pub fn schedule(&self) -> Result<Schedule, ScheduleError> {
        let mut script = Script::new(self.ranks);
        for &(from, to, bytes) in self.entries.iter().filter(|e| e.0 != e.1) {
            script.message(from, to, bytes, 0);
        }
        script.finish()
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// From, to and bytes; in order and each pair once after [`CommMatrix::merge`].
    pub fn entries(&self) -> &[(u32, u32, u64)] {
        &self.entries
    }

    /// Adds bytes from a rank to another.
    ///
    /// # Panics
    /// If one of them is not below the number of ranks.
    pub fn add(&mut self, from: u32, to: u32, bytes: u64) {
        assert!(from.max(to) < self.ranks, "{from} to {to} of {} ranks", self.ranks);
        if bytes > 0 {
            self.entries.push((from, to, bytes));
        }
    }

    /// Puts the entries in order and makes one of those of the same pair.
    pub fn merge(&mut self) {
        merge(&mut self.entries);
    }

    /// Bytes of all pairs.
    pub fn total(&self) -> u128 {
        self.entries.iter().map(|e| u128::from(e.2)).sum()
    }

    /// Bytes of all ranks to themselves. After [`CommMatrix::sum_by`], the traffic inside of nodes.
    pub fn inside(&self) -> u128 {
        self.entries.iter().filter(|e| e.0 == e.1).map(|e| u128::from(e.2)).sum()
    }

    /// By rank, bytes that it sends to others, and that others send to it.
    pub fn totals(&self) -> Vec<(u64, u64)> {
        let mut totals = vec![(0u64, 0u64); self.ranks as usize];
        for &(from, to, bytes) in self.entries.iter().filter(|e| e.0 != e.1) {
            let sent = &mut totals[from as usize].0;
            *sent = sent.saturating_add(bytes);
            let received = &mut totals[to as usize].1;
            *received = received.saturating_add(bytes);
        }
        totals
    }

    /// The same bytes, half of those of a pair in each direction; an odd one goes from the lower rank. For graphs
    /// that say how much two ranks exchange, but not who sends.
    #[must_use]
    pub fn symmetric(&self) -> Self {
        let mut both = Self { ranks: self.ranks, entries: Vec::with_capacity(self.entries.len()) };
        for &(from, to, bytes) in &self.entries {
            both.entries.push((from.min(to), from.max(to), bytes));
        }
        both.merge();
        for i in 0..both.entries.len() {
            let (low, high, bytes) = both.entries[i];
            if low != high {
                both.entries[i].2 = bytes.div_ceil(2);
                both.entries.push((high, low, bytes / 2));
            }
        }
        both.entries.retain(|e| e.2 > 0);
        both.merge();
        both
    }

    /// The matrix of the places of ranks: by rank, the number of its place. Traffic between ranks of one place is an
    /// entry from that place to itself.
    ///
    /// # Panics
    /// If there are fewer places than ranks.
    #[must_use]
    pub fn sum_by(&self, places: &[u32]) -> Self {
        assert!(
            places.len() >= self.ranks as usize,
            "{} places for {} ranks",
            places.len(),
            self.ranks
        );
        let used = &places[..self.ranks as usize];
        let ranks = used.iter().max().map_or(0, |&most| most + 1);
        let place = |rank: u32| places[rank as usize];
        let entries =
            self.entries.iter().map(|&(a, b, bytes)| (place(a), place(b), bytes)).collect();
        let mut sum = Self { ranks, entries };
        sum.merge();
        sum
    }
}

/// Puts entries in order and makes one of those of the same pair.
fn merge(entries: &mut Vec<(u32, u32, u64)>) {
    if !entries.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)) {
        entries.sort_unstable_by_key(|e| (e.0, e.1));
        let mut kept = 0;
        for i in 0..entries.len() {
            let (from, to, bytes) = entries[i];
            match entries[..kept].last_mut() {
                Some(last) if (last.0, last.1) == (from, to) => {
                    last.2 = last.2.saturating_add(bytes);
                }
                _ => {
                    entries[kept] = (from, to, bytes);
                    kept += 1;
                }
            }
        }
        entries.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Script;

    #[test]
    fn messages_of_a_schedule_are_summed() {
        let mut script = Script::new(3);
        for _ in 0..2 {
            script.message(2, 0, 10, 0);
            script.message(0, 1, 7, 1);
            script.message(2, 1, 1, 0);
        }
        let matrix = CommMatrix::of(&script.finish().expect("both ends").into());
        assert_eq!(matrix.entries(), [(0, 1, 14), (2, 0, 20), (2, 1, 2)]);
        assert_eq!(matrix.totals(), [(14, 20), (0, 16), (22, 0)]);
        assert_eq!((matrix.total(), matrix.inside()), (36, 0));
        assert_eq!(matrix.symmetric().total(), 36);
        assert_eq!(matrix.symmetric().entries()[0], (0, 1, 7));
    }
}
