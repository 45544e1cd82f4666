//! A snapshot of the state that determines the rest of a run.

use darkfiber_fabric::Digest;

/// Everything that determines the rest of a run, relative to a time and to a place in its program: if two are equal, so is
/// everything that follows.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Its moment, in picoseconds.
    pub now: u64,
    /// Its place: epoch and round of the rank by which it was taken. Numbers of epochs and rounds are relative to it.
    pub origin: (u64, u32),
    /// The smallest epoch and round of any rank or message.
    pub least: (u64, u32),
    /// The largest epoch and round of any rank or message.
    pub most: (u64, u32),
    words: Vec<u64>,
    times: Vec<u64>,
    slack: u64,
    order: Digest,
    /// Number of waits for a processor or an adapter until then.
    waits: u64,
    /// Whether the order counts in any case.
    is_ordered: bool,
    items: Vec<(u64, [u64; TIMES])>,
}

/// Moments of an item at most.
const TIMES: usize = 4;

impl Snapshot {
    /// An empty snapshot at a time and a place.
    pub fn new(now: u64, origin: (u64, u32)) -> Self {
        Self { now, origin, least: (u64::MAX, u32::MAX), ..Self::default() }
    }

    /// Adds a value that must be equal.
    #[inline]
    pub fn word(&mut self, word: u64) {
        self.words.push(word);
    }

    /// Adds a moment, in picoseconds.
    #[inline]
    pub fn time(&mut self, time: u64) {
        self.times.push(time.wrapping_sub(self.now));
    }

    /// Adds an epoch and a round.
    #[inline]
    pub fn place(&mut self, place: (u64, u32)) {
        self.least = self.least.min(place);
        self.most = self.most.max(place);
        self.words.push(place.0.wrapping_sub(self.origin.0));
        self.words.push(place.1.wrapping_sub(self.origin.1).into());
    }

    /// Adds an item of a set whose order matters only where something waits for something else ([`Snapshot::waited`]): its values are
    /// combined with the others at [`Snapshot::end_set`].
    pub fn item(&mut self, add: impl FnOnce(&mut Self)) {
        let (words, times) = (self.words.len(), self.times.len());
        add(self);
        let mut digest = Digest::default();
        self.words.drain(words..).for_each(|word| digest.add(word));
        let mut moments = [0; TIMES];
        for (to, time) in moments.iter_mut().zip(self.times.drain(times..)) {
            *to = time;
        }
        self.order.add(digest.value());
        self.items.push((digest.value(), moments));
    }

    /// Adds all items since the last set.
    pub fn end_set(&mut self) {
        self.items.sort_unstable();
        for (digest, moments) in self.items.drain(..) {
            self.words.push(digest);
            self.times.extend(moments);
        }
    }

    /// Whether its place is this number of epochs and rounds after that of another.
    pub fn is_after(&self, other: &Self, (epochs, rounds): (u64, u32)) -> bool {
        self.origin == (other.origin.0 + epochs, other.origin.1 + rounds)
    }

    /// Number of values in it.
    pub fn len(&self) -> usize {
        self.words.len() + self.times.len()
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Moments are rounded by this many picoseconds at most.
    pub fn rounded(&mut self, by: u64) {
        self.slack = self.slack.max(by);
    }

    /// By how many picoseconds moments of two that are the same may differ.
    pub fn slack(&self, other: &Self) -> u64 {
        self.slack.max(other.slack)
    }

    /// Something had waited for a processor or an adapter so often until now: who came first decided.
    pub fn waited(&mut self, times: u64) {
        self.waits = self.waits.wrapping_add(times);
    }

    /// The order of arrivals decides whether anything waits or not.
    pub fn keep_order(&mut self) {
        self.is_ordered = true;
    }

    /// Whether another is equal, times up to rounding, and the order of events in the same picosecond where anything waited
    /// between the two.
    pub fn is_like(&self, other: &Self) -> bool {
        let slack = self.slack(other);
        let is_free = self.waits == other.waits && !self.is_ordered;
        let near = |(&a, &b): (&u64, &u64)| a.wrapping_sub(b).min(b.wrapping_sub(a)) <= slack;
        self.words == other.words
            && (is_free || self.order.value() == other.order.value())
            && self.times.len() == other.times.len()
            && self.times.iter().zip(&other.times).all(near)
    }
}
