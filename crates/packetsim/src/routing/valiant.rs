//! Shortest paths through a random intermediate switch.

use super::{Distances, Routing, SwitchView};
use crate::packet::{NOBODY, Packet};

/// Valiant routing: every packet first goes to a switch drawn at random, and from there to its destination, both on shortest paths.
/// Lanes rise from switch to switch: deadlock-free with twice as many as the diameter.
///
/// L. G. Valiant, A Scheme for Fast Parallel Communication (SIAM J. Computing 11, 1982).
#[derive(Clone, Debug)]
pub struct Valiant {
    /// Distances between switches.
    pub distances: Distances,
}

impl Routing for Valiant {
    fn lanes(&self) -> u8 {
        2 * self.distances.diameter().max(1)
    }

    #[inline]
    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        if packet.phase == 0 {
            packet.phase = 1;
            packet.via = here.random.below(here.net.switch_count() as u32);
        }
        step_via_intermediate(&self.distances, here, packet)
    }
}

/// A step to the switch that a packet goes to first, or to its destination if it was there; lanes rise.
#[inline]
pub(super) fn step_via_intermediate(
    distances: &Distances,
    here: &mut SwitchView<'_>,
    packet: &mut Packet,
) -> (u32, u8) {
    if packet.via == here.switch {
        packet.via = NOBODY;
    }
    let home = here.net.switch_of(packet.to);
    if packet.via == NOBODY {
        let end = here.to_terminal(packet.to).map(|out| (out, 0));
        return end.unwrap_or_else(|| (distances.any(here.switch, home, here.random), packet.hops));
    }
    let out = distances.any(here.switch, packet.via, here.random);
    // A switch drawn at random may be on a shortest path.
    packet.round |= !distances.leads_nearer(here.switch, home, out);
    (out, packet.hops)
}
