//! Shortest paths, whichever is emptier.

use super::{Distances, Routing, SwitchView};
use crate::packet::Packet;

/// Every switch forwards a packet to one of the ports that lead nearer: any, or the emptier of two drawn at random. Lanes rise
/// from switch to switch, so that no packet waits for one in its lane: deadlock-free with as many lanes as the diameter. On a
/// fat-tree this is adaptive routing upwards, and lanes need not rise: a path goes up and then down.
#[derive(Clone, Debug)]
pub struct Minimal {
    /// Distances between switches.
    pub distances: Distances,
    /// Whether switches look at two ports; at one otherwise.
    pub adaptive: bool,
    /// Whether lanes rise; packets take any lane otherwise.
    pub rising: bool,
}

impl Routing for Minimal {
    fn lanes(&self) -> u8 {
        if self.rising { self.distances.diameter().max(1) } else { 1 }
    }

    #[inline]
    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        if let Some(out) = here.to_terminal(packet.to) {
            return (out, 0);
        }
        let to = here.net.switch_of(packet.to);
        let out = if self.adaptive {
            self.distances.emptier(here, to)
        } else {
            self.distances.any(here.switch, to, here.random)
        };
        if self.rising {
            return (out, packet.hops);
        }
        here.alike = Some((0, here.lanes));
        (out, here.random.below(here.lanes.into()) as u8)
    }
}
