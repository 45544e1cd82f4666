//! What players and networks tell each other.

use darkfiber_fabric::TerminalId;

use super::Snapshot;

/// A message that leaves for the network now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Departure {
    /// What the player calls it.
    pub message: u32,
    /// Number of its job.
    pub job: u32,
    /// Where from.
    pub from: TerminalId,
    /// Where to.
    pub to: TerminalId,
    /// Payload.
    pub bytes: u64,
}

/// A message that a network delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// What the player calls it.
    pub message: u32,
    /// When its last byte left the sender; not before it departed.
    pub left: u64,
    /// When its last byte arrives; not before now.
    pub arrives: u64,
}

/// What carries messages.
pub trait Wire {
    /// How long an empty message takes, in picoseconds.
    fn latency(&self, from: TerminalId, to: TerminalId) -> u64;

    /// Takes the messages that depart at `now`; what is known at once of their delivery goes to `delivered`.
    fn depart(&mut self, now: u64, departures: &[Departure], delivered: &mut Vec<Delivery>);

    /// When something will happen next to messages under way; `None` if nothing will.
    fn upcoming(&mut self) -> Option<u64>;

    /// Goes on to `now`, which is not after [`Wire::upcoming`].
    fn advance(&mut self, now: u64, delivered: &mut Vec<Delivery>);

    /// Itself, if it can tell whether it is in the same state again.
    fn repeating(&mut self) -> Option<&mut dyn Repeating> {
        None
    }
}

/// A [`Wire`] that can tell whether it is in the same state again, and go on by many times what happened in between.
pub trait Repeating {
    /// Adds all that messages under way and to come depend on; `message` adds one of the player's.
    fn describe(&mut self, message: &dyn Fn(u32, &mut Snapshot), snapshot: &mut Snapshot);

    /// What it counts is counted from here on for [`Repeating::skip`], too.
    fn mark(&mut self);

    /// Goes on by so many times the period of this many picoseconds that began at the last [`Repeating::mark`], which is over.
    fn skip(&mut self, times: u64, period: u64);
}
