//! For a HyperX: in any dimension that is not corrected yet, directly or through another switch.

use super::lines::{Lines, open};
use super::{Routing, SwitchView};
use crate::packet::Packet;

/// Dimensionally adaptive, load-balanced routing: every switch weighs, for each dimension in which a packet differs from its
/// destination, the channel that corrects it and one to another switch of that line (a deroute, once a dimension), by the bytes
/// that wait there times the remaining channels. Lanes rise from switch to switch: deadlock-free with twice as many as
/// dimensions.
///
/// J. H. Ahn et al., HyperX: Topology, Routing, and Packaging of Efficient Large-Scale Networks (SC'09), section 3.2.
#[derive(Clone, Debug)]
pub struct Dal<'a> {
    lines: Lines<'a>,
}

impl<'a> Dal<'a> {
    /// For a HyperX of up to eight dimensions; `None` for others.
    pub fn new(lines: Lines<'a>) -> Option<Self> {
        (lines.dims().len() <= 8).then_some(Self { lines })
    }
}

impl Routing for Dal<'_> {
    fn lanes(&self) -> u8 {
        2 * self.lines.dims().len() as u8
    }

    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        if let Some(out) = here.to_terminal(packet.to) {
            return (out, 0);
        }
        let to = self.lines.at(here.net.switch_of(packet.to));
        let at = self.lines.at(here.switch);
        let open = open(at, to);
        // Its weight, whether it is a deroute, its output, and its dimension.
        let mut best = (u64::MAX, false, 0, 0);
        for d in 0..to.len() {
            if at[d] == to[d] {
                continue;
            }
            let out = self.lines.port(here, d, to[d]);
            let cost = u64::from(here.pressing(out)) * open;
            // Equal ones are taken by turns of the dice; straight on wins over a deroute.
            if (cost, false) < (best.0, best.1) || (cost == best.0 && here.random.below(2) == 0) {
                best = (cost, false, out, d);
            }
            let size = self.lines.dims()[d];
            if packet.phase & (1 << d) == 0 && size > 2 {
                let mut by = here.random.below(u32::from(size) - 2) as u16;
                for taken in [at[d].min(to[d]), at[d].max(to[d])] {
                    by += u16::from(by >= taken);
                }
                let out = self.lines.port(here, d, by);
                let cost = u64::from(here.pressing(out)) * (open + 1) + u64::from(packet.bytes);
                if cost < best.0 {
                    best = (cost, true, out, d);
                }
            }
        }
        if best.1 {
            packet.phase |= 1 << best.3;
            packet.round = true;
        }
        (best.2, packet.hops)
    }
}
