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

/// Rounds of exchanges. A member starts a round when its previous one is done; there is no barrier.
///
/// They are a formula, not a list: a ring among n ranks has 2 n (n - 1) operations, which for 32,768 ranks would take 100 GB.
#[derive(Clone)]
pub struct Rounds {
    count: u32,
    computes: bool,
    alike: bool,
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
        Self { count, computes, alike: false, digest: 0, exchange: Arc::new(exchange) }
    }

    /// The same, with a digest that distinguishes formulas that agree in the first two, the middle and the last round.
    #[must_use]
    pub fn with_digest(mut self, digest: u64) -> Self {
        self.digest = digest;
        self
    }

    /// The same, where each member does in each round what it does in the first one: a run may multiply repeats.
    #[must_use]
    pub fn all_alike(mut self, alike: bool) -> Self {
        self.alike = alike;
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

    /// Whether all rounds are the same.
    pub(super) fn is_alike(&self) -> bool {
        self.rounds.alike
    }

    /// These rounds and the next ones as one list, where every rank does the same in all of both.
    pub(super) fn joined(&self, next: &Self) -> Option<Self> {
        let is_same = self.is_alike()
            && next.is_alike()
            && self.ranks == next.ranks
            && self.rounds.computes == next.rounds.computes
            && (0..self.ranks).all(|rank| self.exchange(0, rank) == next.exchange(0, rank));
        let count = is_same.then(|| self.count().checked_add(next.count())).flatten()?;
        // The formula is asked for its own rounds only.
        let first = Arc::clone(&self.rounds.exchange);
        let exchange = Arc::new(move |_, index| first(0, index));
        Some(Self { rounds: Rounds { count, exchange, ..self.rounds.clone() }, ..self.clone() })
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
