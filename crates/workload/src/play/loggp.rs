//! A network in which messages never meet: LogGP.

use darkfiber_fabric::TerminalId;

use super::{Delivery, Departure, NetworkModel};

/// Every message takes `latency + (bytes - 1) x per_byte`, one after the other out of each adapter (Alexandrov, Ionescu,
/// Schauser, Scheiman: "LogGP: Incorporating Long Messages into the LogP Model", SPAA'95). Nothing is shared between
/// adapters, and a receiver takes any number at once.
#[derive(Clone, Debug)]
pub struct LogGp {
    latency: u64,
    gap: u64,
    per_byte: f64,
    /// When each adapter is ready for the next message.
    free: Vec<u64>,
}

impl LogGp {
    /// A network for this many terminals: L and g in picoseconds, G in picoseconds a byte.
    pub fn new(terminals: usize, latency: u64, gap: u64, per_byte: f64) -> Self {
        Self { latency, gap, per_byte, free: vec![0; terminals] }
    }
}

impl NetworkModel for LogGp {
    fn latency(&self, _: TerminalId, _: TerminalId) -> u64 {
        self.latency
    }

    fn is_within_host(&self, from: TerminalId, to: TerminalId) -> bool {
        from == to
    }

    #[expect(clippy::cast_sign_loss, reason = "costs are not below zero")]
    fn depart(&mut self, now: u64, departures: &[Departure], delivered: &mut Vec<Delivery>) {
        for d in departures {
            let begin = self.free[d.from.index()].max(now);
            let long = (self.per_byte * d.bytes.saturating_sub(1) as f64) as u64;
            let left = begin + long;
            self.free[d.from.index()] = begin + self.gap + long;
            delivered.push(Delivery { message: d.message, left, arrives: left + self.latency });
        }
    }

    fn upcoming(&mut self) -> Option<u64> {
        None
    }

    fn advance(&mut self, _: u64, _: &mut Vec<Delivery>) {}
}
