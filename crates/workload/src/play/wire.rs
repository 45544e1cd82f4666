//! The interface between players and networks.

use darkfiber_fabric::TerminalId;

use super::{Connection, Snapshot};

/// A message that leaves for the network now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Departure {
    /// Number that the player gave it.
    pub message: u32,
    /// Number of its job.
    pub job: u32,
    /// Terminal of the sender.
    pub from: TerminalId,
    /// Terminal of the receiver.
    pub to: TerminalId,
    /// Ranks of the sender and the receiver.
    pub ranks: [u32; 2],
    /// Payload in bytes.
    pub bytes: u64,
    /// Bytes of the whole message: more than `bytes` where it goes in parts.
    pub of: u64,
}

impl Departure {
    /// The connection that it is sent by, if it takes the path of this number.
    pub fn connection(&self, path: u32) -> Connection {
        let [from, to] = self.ranks;
        Connection { job: self.job, from, to, path }
    }
}

/// A message that a network delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Number that the player gave it.
    pub message: u32,
    /// When its last byte left the sender; not before it departed.
    pub left: u64,
    /// When its last byte arrives; not before now.
    pub arrives: u64,
}

/// A network model that carries messages.
pub trait NetworkModel {
    /// Latency of an empty message, in picoseconds.
    fn latency(&self, from: TerminalId, to: TerminalId) -> u64;

    /// Whether messages from one terminal to another go through the memory of a host.
    fn is_within_host(&self, from: TerminalId, to: TerminalId) -> bool;

    /// Takes the messages that depart at `now`; deliveries that are known immediately go to `delivered`.
    fn depart(&mut self, now: u64, departures: &[Departure], delivered: &mut Vec<Delivery>);

    /// Time of the next event of messages in flight; `None` if there is none.
    fn upcoming(&mut self) -> Option<u64>;

    /// Advances to `now`, which is not after [`NetworkModel::upcoming`].
    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>);

    /// Returns itself, if repeats of its events can be left out.
    fn skipping(&mut self) -> Option<&mut dyn Skipping> {
        None
    }

    /// Returns itself, if it can detect that it is in the same state again.
    fn repeating(&mut self) -> Option<&mut dyn Repeating> {
        None
    }
}

/// What counts are multiplied by: `to` divided by `from`.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// The numerator.
    pub to: u64,
    /// The denominator; 0 stands for 1.
    pub from: u64,
}

impl Ratio {
    /// Counts stay as they are.
    pub const ONE: Self = Self { to: 1, from: 1 };

    /// A sum multiplied by it, rounded down.
    pub fn of_sum(self, sum: u128) -> u128 {
        sum.saturating_mul(self.to.into()) / u128::from(self.from.max(1))
    }

    /// A count multiplied by it, rounded down.
    pub fn of(self, count: u64) -> u64 {
        u64::try_from(self.of_sum(count.into())).unwrap_or(u64::MAX)
    }
}

/// A [`NetworkModel`] that can stand still while ranks advance, and estimate what it would have counted.
pub trait Skipping {
    /// Whether equal iterations make equal counts everywhere: not where paths are chosen by load or at random.
    fn repeats_counts(&self) -> bool;

    /// Keeps the counts up to `now`, which nothing that has departed will change, under a number; `None` where that would take longer
    /// than what was counted since.
    fn mark(&mut self, now: u64) -> Option<usize>;

    /// Forgets counts that were kept.
    fn forget(&mut self, mark: usize);

    /// Leaves out so much more of what was counted since a mark up to `now`, which would take this number of picoseconds.
    fn skip(&mut self, since: usize, now: u64, more: Ratio, time: u64);
}

/// A [`NetworkModel`] that can detect that it is in the same state again, and skip repeats of the events in between.
pub trait Repeating {
    /// Starts separate counts for [`Repeating::skip`].
    fn mark(&mut self);

    /// Leaves out this number of repeats of the period that started at the last [`Repeating::mark`] and is over: together
    /// they take this number of picoseconds.
    fn skip(&mut self, times: u64, time: u64);

    /// Adds everything that messages in flight and future ones depend on; `message` adds one of the player's.
    fn describe(&mut self, message: &dyn Fn(u32, &mut Snapshot), snapshot: &mut Snapshot);
}
