//! Execution of programs over a network.
//!
//! A [`Player`] keeps the state of every rank of every job, and a [`NetworkModel`] carries their messages: by a formula
//! ([`LogGp`]), by sharing channels (crate `flowsim`), or packet by packet. Time is in whole picoseconds.

mod agenda;
mod connections;
mod host;
mod job;
mod level;
mod loggp;
mod path_choice;
mod player;
mod repeats;
mod search;
mod snapshot;
mod state;
mod steady;
mod wire;

pub use agenda::Agenda;
pub use connections::{Connection, Connections};
pub use host::{HOSTS, Host, host};
pub use job::{BlockedRanks, Job, JobRun, Lap, Record, Repeat};
pub use loggp::LogGp;
pub use path_choice::{ChooserState, PathChoice, PathChooser};
pub use player::{Player, PlayerState};
pub use repeats::Repeats;
pub use search::{CountStep, Search};
pub use snapshot::Snapshot;
pub use steady::Steady;
pub use wire::{Delivery, Departure, NetworkModel, Ratio, Repeating, Skipping};

/// A second in picoseconds.
pub const SECOND: u64 = 1_000_000_000_000;

/// Runs all jobs to their ends, and reports each message that is received, in the order of time.
///
/// # Errors
/// If jobs wait for events that never come.
pub fn run(
    player: &mut Player<'_>,
    wire: &mut dyn NetworkModel,
    each: &mut dyn FnMut(&Record),
) -> Result<(), BlockedRanks> {
    let mut under_way = UnderWay::default();
    while step(player, wire, &mut under_way, each) {}
    player.finished()
}

/// Reusable memory for the exchange between players and wires: empty between two steps.
#[derive(Debug, Default)]
pub struct UnderWay {
    departures: Vec<Departure>,
    delivered: Vec<Delivery>,
}

/// Advances to the next event of jobs or their messages, and reports each message that is received. Returns whether there was
/// one.
pub fn step(
    player: &mut Player<'_>,
    wire: &mut dyn NetworkModel,
    under_way: &mut UnderWay,
    each: &mut dyn FnMut(&Record),
) -> bool {
    let UnderWay { departures, delivered } = under_way;
    let now = match (player.upcoming(), wire.upcoming()) {
        (None, None) => return false,
        (a, b) => a.unwrap_or(u64::MAX).min(b.unwrap_or(u64::MAX)),
    };
    // Arrivals at this time are reported before any rank acts.
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
