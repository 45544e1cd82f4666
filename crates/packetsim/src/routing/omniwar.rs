//! On a HyperX: in any dimension that is not right yet, straight or by one of this many deroutes.

use super::dimwar::{WeightedOutput, lightest_deroute, weight};
use super::lines::{Lines, open};
use super::{Routing, SwitchView};
use crate::packet::Packet;

/// Omni-dimensional weighted adaptive routing: every switch weighs, in every dimension in which a packet differs from its
/// destination, the channel that corrects it and, as long as the packet has deroutes left, those to all other switches of that
/// line, by the bytes that wait there times the remaining channels, and takes the lightest.
///
/// Deadlock-free: lanes rise from switch to switch, so that no packet waits for one in its lane or a lower one. A packet takes
/// one channel for each of N dimensions and one for each of at most M deroutes: N + M lanes.
///
/// N. McDonald, M. Isaev, A. Flores, A. Davis, J. Kim, Practical and Efficient Incremental Adaptive Routing for HyperX Networks
/// (SC'19). The packet itself counts among the waiting bytes: see [`Dimwar`](super::Dimwar).
#[derive(Clone, Debug)]
pub struct Omniwar<'a> {
    lines: Lines<'a>,
    deroutes: u8,
}

impl<'a> Omniwar<'a> {
    /// On a HyperX, with as many deroutes as it has dimensions.
    pub fn new(lines: Lines<'a>) -> Self {
        let deroutes = lines.wide();
        Self { lines, deroutes }
    }

    /// With at most this many deroutes of a packet.
    #[must_use]
    pub fn with_deroutes(self, deroutes: u8) -> Self {
        Self { deroutes, ..self }
    }
}

impl Routing for Omniwar<'_> {
    fn lanes(&self) -> u8 {
        (self.lines.wide() + self.deroutes).max(1)
    }

    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        if let Some(out) = here.to_terminal(packet.to) {
            return (out, 0);
        }
        let at = self.lines.at(here.switch);
        let to = self.lines.at(here.net.switch_of(packet.to));
        let open = open(at, to);
        // Of equal ones, the first from any dimension on; straight on wins over a deroute.
        let from = here.random.below(at.len() as u32) as usize;
        let dims = || (from..at.len()).chain(0..from).filter(|&d| at[d] != to[d]);
        let mut best = WeightedOutput { weight: u64::MAX, out: 0 };
        for d in dims() {
            let out = self.lines.port(here, d, to[d]);
            let weight = weight(here, packet, out, open);
            if weight < best.weight {
                best = WeightedOutput { weight, out };
            }
        }
        // Deroutes that it has had.
        if packet.phase < self.deroutes {
            let straight = best;
            for d in dims() {
                if let Some(deroute) = lightest_deroute(&self.lines, here, packet, d, open, best) {
                    best = deroute;
                }
            }
            let derouted = best.out != straight.out;
            packet.phase += u8::from(derouted);
            packet.round |= derouted;
        }
        (best.out, packet.hops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::walks::WalkFixture;
    use crate::routing::{AnyRouting, registry::hyperx};

    /// As many channels as dimensions and deroutes, and no more.
    #[test]
    fn deroutes_are_counted() {
        let fixture = WalkFixture::new("hyperx:dims=4x3x3,t=1");
        for deroutes in 0..6 {
            let omniwar = Omniwar::new(hyperx(&fixture.context(), "omniwar").expect("it suits"));
            assert_eq!(omniwar.lanes(), 6);
            let made = AnyRouting::Omniwar(omniwar.with_deroutes(deroutes));
            let shown = fixture.walk(&made, 0, 50);
            assert_eq!((made.lanes(), shown.most), (3 + deroutes, 3 + deroutes));
            assert_eq!(shown.nonminimal > 0, deroutes > 0);
        }
    }
}
