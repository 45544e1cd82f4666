//! Rounds: a repeated exchange of all ranks of a communicator with changing partners and sizes.

use std::fmt;
use std::sync::Arc;

use darkfiber_fabric::Digest;

use super::Op;

/// The exchange of one member in one round: a message to one member and one from another, concurrently, then a
/// computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Index in the communicator of the receiver.
    pub to: u32,
    /// Bytes of that message.
    pub bytes: u64,
    /// Index of the sender.
    pub from: u32,
    /// Bytes of its message.
    pub expected: u64,
    /// Computation after both, in picoseconds.
    pub compute: u64,
}

/// Messages whose bytes are summed up one by one. A ring of 32,768 ranks has two thousand million: that would take longer than to
/// simulate it.
const LOOKED: u32 = 1 << 21;

/// Least and most bytes of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Of the smallest.
    pub least: u64,
    /// Of the largest.
    pub most: u64,
}

impl Sizes {
    /// Those of messages of these bytes; `None` if there are no messages.
    pub fn of(bytes: impl Iterator<Item = u64>) -> Option<Self> {
        bytes.map(|bytes| Self { least: bytes, most: bytes }).reduce(Self::and)
    }

    /// Those of both.
    #[must_use]
    pub fn and(self, more: Self) -> Self {
        Self { least: self.least.min(more.least), most: self.most.max(more.most) }
    }

    /// By how much they differ, as a part of the smallest.
    pub fn spread(self) -> f64 {
        if self.least == self.most {
            0.0
        } else {
            (self.most - self.least) as f64 / self.least as f64
        }
    }
}

/// Rounds of exchanges. A member starts a round when its previous one is done; there is no barrier.
///
/// They are a formula, not a list: a ring among n ranks has 2 n (n - 1) operations, which for 32,768 ranks would take 100 GB.
#[derive(Clone)]
pub struct Rounds {
    count: u32,
    computes: bool,
    sizes: Option<Sizes>,
    bytes: Option<u128>,
    digest: u64,
    exchange: Arc<dyn Fn(u32, u32) -> Exchange + Send + Sync>,
}

impl fmt::Debug for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rounds", self.count)
    }
}

impl Rounds {
    /// `count` rounds; `exchange` gives the exchange of a member in a round, both from 0. In each round, every receiver must
    /// expect exactly the message sent to it. `computes` is set if any member computes.
    pub fn new(
        count: u32,
        computes: bool,
        exchange: impl Fn(u32, u32) -> Exchange + Send + Sync + 'static,
    ) -> Self {
        Self { count, computes, sizes: None, bytes: None, digest: 0, exchange: Arc::new(exchange) }
    }

    /// The same, with a digest that distinguishes formulas that agree in the first two, the middle and the last round.
    #[must_use]
    pub fn with_digest(mut self, digest: u64) -> Self {
        self.digest = digest;
        self
    }

    /// The same, where each member has the same partners in all rounds, sends and computes the same for the same bytes, and
    /// messages are of these sizes: a run may multiply rounds that are alike.
    #[must_use]
    pub fn with_same_partners(mut self, sizes: Option<Sizes>) -> Self {
        self.sizes = sizes;
        self
    }

    /// The same, whose messages have this number of bytes in all.
    #[must_use]
    pub fn with_bytes(mut self, bytes: Option<u128>) -> Self {
        self.bytes = bytes;
        self
    }

    /// The number of rounds.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The exchange of a member in a round.
    #[inline]
    pub fn of(&self, round: u32, index: u32) -> Exchange {
        (self.exchange)(round, index)
    }
}

/// Rounds of all ranks of a schedule, in any order.
#[derive(Clone)]
pub(super) struct ScheduleRounds {
    rounds: Rounds,
    ranks: u32,
    /// Rank of each index and index of each rank, where they differ.
    order: Option<(Vec<u32>, Vec<u32>)>,
}

/// Identifies the rounds: saved runs are compared by this text to check that they have the same traffic.
impl fmt::Debug for ScheduleRounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, mut digest) = (self.count(), Digest::default());
        digest.add(self.rounds.digest);
        for round in [0, 1, count / 2, count.saturating_sub(1)].into_iter().filter(|&r| r < count) {
            for rank in 0..self.ranks {
                let Exchange { to, bytes, from, expected, compute } = self.exchange(round, rank);
                for word in [to.into(), bytes, from.into(), expected, compute] {
                    digest.add(word);
                }
            }
        }
        write!(f, "{:?} of {} ranks, {:016x}", self.rounds, self.ranks, digest.value())
    }
}

/// Operations of a rank in a round, by their numbers within it.
const SENDS: u32 = 0;
const RECEIVES: u32 = 1;

impl ScheduleRounds {
    /// `comm` holds each rank once.
    pub(super) fn new(comm: &[u32], rounds: Rounds) -> Self {
        let order = (!comm.iter().copied().eq(0..comm.len() as u32)).then(|| {
            let mut index = vec![0; comm.len()];
            for (i, &rank) in (0..).zip(comm) {
                index[rank as usize] = i;
            }
            (comm.to_vec(), index)
        });
        Self { rounds, ranks: comm.len() as u32, order }
    }

    pub(super) fn count(&self) -> u32 {
        self.rounds.count
    }

    pub(super) fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Bytes of all messages. If nobody said them and there are more than [`LOOKED`], rounds that are evenly spaced stand for all, which
    /// is exact where all have as many bytes.
    pub(super) fn bytes(&self) -> u128 {
        let (count, ranks) = (u128::from(self.count()), u128::from(self.ranks));
        if let Some(bytes) = self.rounds.bytes {
            return bytes;
        }
        if let Some(Sizes { least, most }) = self.rounds.sizes
            && least == most
        {
            return count * ranks * u128::from(least);
        }
        let looked = self.count().min((LOOKED / self.ranks.max(1)).max(16));
        let at = |k: u32| (u64::from(k) * u64::from(self.count()) / u64::from(looked)) as u32;
        let sent = |k| (0..self.ranks).map(move |rank| self.exchange(at(k), rank).bytes);
        let sum: u128 = (0..looked).flat_map(sent).map(u128::from).sum();
        sum * count / u128::from(looked.max(1))
    }

    /// By how much rounds differ: 0 if all are the same, the spread of their sizes if partners are; `None` if nothing is known.
    pub(super) fn spread(&self) -> Option<f64> {
        self.rounds.sizes.map(Sizes::spread)
    }

    /// These rounds and the next ones as one list, where every rank has the same partners in all of both, and computes in both or
    /// in none.
    pub(super) fn joined(&self, next: &Self) -> Option<Self> {
        let sizes = self.rounds.sizes?.and(next.rounds.sizes?);
        let is_same = |rank: u32| {
            let (a, b) = (self.exchange(0, rank), next.exchange(0, rank));
            (a.to, a.from, a.compute > 0) == (b.to, b.from, b.compute > 0)
                && (sizes.least < sizes.most || a == b)
        };
        let fits = self.ranks == next.ranks
            && self.order == next.order
            && self.rounds.computes == next.rounds.computes
            && (0..self.ranks).all(is_same);
        let (first, second) = (&self.rounds, &next.rounds);
        let count = fits.then(|| first.count.checked_add(second.count)).flatten()?;
        let [a, b] = [first, second].map(|rounds| Arc::clone(&rounds.exchange));
        let before = first.count;
        let exchange = move |round: u32, index| match round.checked_sub(before) {
            None => a(round, index),
            Some(round) => b(round, index),
        };
        let mut digest = Digest::default();
        for of in [first.digest, second.digest] {
            digest.add(of);
        }
        let rounds = Rounds::new(count, first.computes, exchange)
            .with_digest(digest.value())
            .with_same_partners(Some(sizes))
            .with_bytes(first.bytes.zip(second.bytes).map(|(a, b)| a + b));
        Some(Self { rounds, ..self.clone() })
    }

    /// The exchange of a rank in a round, `to` and `from` being ranks.
    #[inline]
    pub(super) fn exchange(&self, round: u32, rank: u32) -> Exchange {
        match &self.order {
            None => self.rounds.of(round, rank),
            Some((ranks, index)) => {
                let e = self.rounds.of(round, index[rank as usize]);
                Exchange { to: ranks[e.to as usize], from: ranks[e.from as usize], ..e }
            }
        }
    }

    /// Number of operations of a rank in a round.
    #[inline]
    pub(super) fn width(&self) -> u32 {
        2 + u32::from(self.rounds.computes)
    }

    #[inline]
    pub(super) fn op(&self, round: u32, op: u32) -> Op {
        let e = self.exchange(round, op / self.width());
        match op % self.width() {
            SENDS => Op::Send { to: e.to, bytes: e.bytes, tag: 0 },
            RECEIVES => Op::Recv { from: e.from, bytes: e.expected, tag: 0 },
            _ => Op::Compute { picoseconds: e.compute },
        }
    }

    /// The receive of a send, and vice versa.
    #[inline]
    pub(super) fn partner(&self, round: u32, op: u32) -> u32 {
        let e = self.exchange(round, op / self.width());
        match op % self.width() {
            SENDS => e.to * self.width() + RECEIVES,
            RECEIVES => e.from * self.width() + SENDS,
            _ => op,
        }
    }

    /// The operation that waits for this one.
    #[inline]
    pub(super) fn dependent(&self, op: u32) -> Option<u32> {
        let within = op % self.width();
        (self.rounds.computes && within <= RECEIVES).then(|| op - within + 2)
    }

    /// Number of operations that an operation waits for.
    #[inline]
    pub(super) fn needs(&self, op: u32) -> u32 {
        if op % self.width() > RECEIVES { 2 } else { 0 }
    }
}
