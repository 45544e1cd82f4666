//! The shortest path or one round, knowing what waits on all of both.

use super::valiant::onwards;
use super::{Distances, Routing, SwitchView};
use crate::packet::{NOBODY, Packet};

/// Universal globally-adaptive load-balanced routing with global knowledge: the switch that a packet enters the network at
/// compares a shortest path with one by way of a switch drawn at random, by what waits at all outputs of both. Lanes rise: free of
/// deadlock with twice as many as the diameter.
///
/// A. Singh, Load-Balanced Routing in Interconnection Networks (PhD thesis, Stanford, 2005), chapter 5 (UGAL-G): the bound of
/// what source routing could do, since no switch knows of others at once. Here all tell each other every so often, which is a
/// decision, and the less the nearer to it.
#[derive(Clone, Debug)]
pub struct UgalGlobal {
    /// Distances.
    pub distances: Distances,
    /// Bytes that a non-minimal path must be better by.
    pub more: u32,
    /// How often switches tell of their outputs, in picoseconds.
    pub news: u64,
}

impl UgalGlobal {
    /// What waits on a shortest path from one switch to another, and the number of its first output.
    fn way(&self, here: &mut SwitchView<'_>, from: u32, to: u32) -> (u64, u32) {
        let (mut s, mut sum) = (from, 0);
        let mut first = None;
        while s != to {
            let out = self.distances.any(s, to, here.random);
            let port = here.net.base(s) + out;
            // Its own outputs a switch knows as they are.
            let waits = if s == here.switch { here.pressing(out) } else { here.told(port) };
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
            let direct = self.way(here, s, to);
            if via != s && via != to {
                let there = self.way(here, s, via);
                let round = there.0 + self.way(here, via, to).0 + u64::from(self.more);
                if round < direct.0 {
                    (packet.via, packet.round) = (via, true);
                    return (there.1, packet.hops);
                }
            }
            packet.via = NOBODY;
            return (direct.1, packet.hops);
        }
        onwards(&self.distances, here, packet)
    }
}
