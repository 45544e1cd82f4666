//! The shortest path or a non-minimal one, knowing the queues along both.

use super::valiant::step_via_intermediate;
use super::{Distances, Routing, SwitchView};
use crate::packet::{NOBODY, Packet};

/// Universal globally-adaptive load-balanced routing with global knowledge: the switch at which a packet enters the network
/// compares a shortest path with one through an intermediate switch drawn at random, by the bytes that wait at all outputs of
/// both. Lanes rise: deadlock-free with twice as many as the diameter.
///
/// A. Singh, Load-Balanced Routing in Interconnection Networks (PhD thesis, Stanford, 2005), chapter 5 (UGAL-G): an upper
/// bound for source routing, since no switch knows the state of others instantly. Here all switches report their queues at
/// intervals, which is a decision; the shorter the interval, the nearer to the bound.
#[derive(Clone, Debug)]
pub struct UgalGlobal {
    /// Distances between switches.
    pub distances: Distances,
    /// Bytes that a non-minimal path must be better by.
    pub more: u32,
    /// Interval at which switches report their outputs, in picoseconds.
    pub news: u64,
}

impl UgalGlobal {
    /// Bytes that wait on a shortest path from one switch to another, and the number of its first output.
    fn queued_on_path(&self, here: &mut SwitchView<'_>, from: u32, to: u32) -> (u64, u32) {
        let (mut s, mut sum) = (from, 0);
        let mut first = None;
        while s != to {
            let out = self.distances.any(s, to, here.random);
            let port = here.net.base(s) + out;
            // A switch knows the current state of its own outputs.
            let waits = if s == here.switch { here.pressing(out) } else { here.reported(port) };
            sum += u64::from(waits);
            first = first.or(Some(out));
            let Some(next) = here.net.next(port) else { break };
            s = next;
        }
        (sum, first.unwrap_or(0))
    }
}

impl Routing for UgalGlobal {
    fn lanes(&self) -> u8 {
        2 * self.distances.diameter().max(1)
    }

    fn news(&self) -> Option<u64> {
        Some(self.news)
    }

    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        let (s, to) = (here.switch, here.net.switch_of(packet.to));
        if packet.phase == 0 && s != to {
            packet.phase = 1;
            let via = here.random.below(here.net.switch_count() as u32);
            let direct = self.queued_on_path(here, s, to);
            if via != s && via != to {
                let there = self.queued_on_path(here, s, via);
                let nonminimal =
                    there.0 + self.queued_on_path(here, via, to).0 + u64::from(self.more);
                if nonminimal < direct.0 {
                    packet.via = via;
                    packet.round = !self.distances.leads_nearer(s, to, there.1);
                    return (there.1, packet.hops);
                }
            }
            packet.via = NOBODY;
            return (direct.1, packet.hops);
        }
        step_via_intermediate(&self.distances, here, packet)
    }
}
