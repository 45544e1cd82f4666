//! Dimension-order routing of packets.

use darkfiber_fabric::GridKind;

use super::classes::any_lane;
use super::lines::{Lines, first_open};
use super::{Routing, SwitchView};
use crate::packet::Packet;

/// Dimension-ordered routing: every switch corrects the first dimension in which a packet differs from its destination; of
/// parallel cables it takes any. On a ring a packet takes the shorter direction, or either of two that are equal.
///
/// Deadlock-free: a packet waits only for channels of later dimensions, and in one dimension of a HyperX it takes one channel:
/// one lane is enough. On a row it continues in one direction, so that channels can be numbered along the row. On a ring of more
/// than three switches they cannot, since it closes. There a packet that has the cable between the last switch and the first one
/// still ahead, or takes it, is in the first class of lanes, any other in the second (a dateline): numbered along the ring, first
/// those of the first class up to that cable, then those of the second, which never take it, channels rise again.
///
/// W. J. Dally, C. L. Seitz, Deadlock-Free Message Routing in Multiprocessor Interconnection Networks (IEEE Trans. Computers
/// C-36, 1987).
#[derive(Clone, Debug)]
pub struct Dor<'a> {
    lines: Lines<'a>,
    /// Whether there are rings on which packets cross more than one cable.
    rings: bool,
}

impl<'a> Dor<'a> {
    /// The routing on any lattice.
    pub fn new(lines: Lines<'a>) -> Self {
        let rings = lines.kind() == GridKind::Torus && lines.dims().iter().any(|&size| size > 3);
        Self { lines, rings }
    }

    /// The next coordinate on the path from one to another, and the class of lanes.
    #[inline]
    fn step(&self, here: &mut SwitchView<'_>, size: u16, at: u16, to: u16) -> (u16, u8) {
        match self.lines.kind() {
            GridKind::HyperX => (to, 0),
            GridKind::Mesh if to > at => (at + 1, 0),
            GridKind::Mesh => (at - 1, 0),
            GridKind::Torus => {
                let (up, down) = ((to + size - at) % size, (at + size - to) % size);
                if up < down || (up == down && here.random.below(2) == 0) {
                    ((at + 1) % size, u8::from(to > at))
                } else {
                    ((at + size - 1) % size, u8::from(to < at))
                }
            }
        }
    }
}

impl Routing for Dor<'_> {
    fn lanes(&self) -> u8 {
        if self.rings { 2 } else { 1 }
    }

    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        let at = self.lines.at(here.switch);
        let to = self.lines.at(here.net.switch_of(packet.to));
        let Some(d) = first_open(at, to) else {
            return (here.net.port(here.net.home(packet.to)).local, 0);
        };
        let (next, class) = self.step(here, self.lines.dims()[d], at[d], to[d]);
        let out = self.lines.port(here, d, next);
        let lane = if self.rings { any_lane(here, class, 2) } else { any_lane(here, 0, 1) };
        (out, lane)
    }
}

#[cfg(test)]
mod tests {
    use crate::routing::walks::WalkFixture;

    /// On a HyperX, rings and rows: shortest paths, never more channels than the diameter.
    #[test]
    fn ways_are_shortest() {
        for (fabric, lanes, diameter) in [
            ("hyperx:dims=4x3x2,t=1", 1, 3),
            ("torus:dims=3x3,t=1", 1, 2),
            ("torus:dims=6x2x5,t=1", 2, 6),
            ("mesh:dims=3x4,t=1", 1, 5),
        ] {
            let fixture = WalkFixture::new(fabric);
            let made = fixture.made("dor").expect("it suits");
            let shown = fixture.walk(&made, 0, 5);
            assert_eq!(
                (made.lanes(), shown.most, shown.nonminimal),
                (lanes, diameter, 0),
                "{fabric}"
            );
        }
    }
}
