//! Running programs over a network.
//!
//! A [`Player`] knows what every rank of every job may do next, and a [`Wire`] carries its messages: by a formula
//! ([`LogGp`]), by sharing channels (crate `flowsim`), or packet by packet. Time is in picoseconds, whole ones.

mod agenda;
mod host;
mod loggp;
mod player;
mod state;

pub use agenda::Agenda;
pub use host::{HOSTS, Host, host};
pub use loggp::LogGp;
pub use player::{Job, JobRun, Lap, Player, PlayerState, Record, Repeat, Stuck};

use darkfiber_fabric::TerminalId;

/// A second in picoseconds.
pub const SECOND: u64 = 1_000_000_000_000;

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
}

/// Runs all jobs to their ends, and tells of each message that is received, in the order of time.
///
/// # Errors
/// If jobs wait for what never comes.
pub fn run(
    player: &mut Player<'_>,
    wire: &mut dyn Wire,
    each: &mut dyn FnMut(&Record),
) -> Result<(), Stuck> {
    let mut under_way = UnderWay::default();
    while step(player, wire, &mut under_way, each) {}
    player.finished()
}

/// Room for what changes hands between players and wires: empty between two steps.
#[derive(Debug, Default)]
pub struct UnderWay {
    departures: Vec<Departure>,
    delivered: Vec<Delivery>,
}

/// Goes on to the next moment at which anything happens to jobs or their messages, and tells of each that is received. Whether
/// there was one.
pub fn step(
    player: &mut Player<'_>,
    wire: &mut dyn Wire,
    under_way: &mut UnderWay,
    each: &mut dyn FnMut(&Record),
) -> bool {
    let UnderWay { departures, delivered } = under_way;
    let now = match (player.upcoming(), wire.upcoming()) {
        (None, None) => return false,
        (a, b) => a.unwrap_or(u64::MAX).min(b.unwrap_or(u64::MAX)),
    };
    // What arrives now is told before anybody acts.
    wire.advance(now, delivered);
    for d in delivered.drain(..) {
        player.deliver(d);
    }
    player.advance(now, wire, departures, each);
    if !departures.is_empty() {
        wire.depart(now, departures, delivered);
        departures.clear();
        for d in delivered.drain(..) {
            player.deliver(d);
        }
    }
    true
}
