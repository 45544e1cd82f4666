//! For a HyperX: the shortest path or a non-minimal one in the same dimensions, as in BookSim2.

use super::classes::any_lane;
use super::lines::{Lines, first_open, open};
use super::{Routing, SwitchView};
use crate::packet::Packet;

/// Universal globally-adaptive load-balanced routing as BookSim2 has it on the flattened butterfly: the first switch draws an
/// intermediate switch among those that differ from it in no other dimension than the destination does, itself and that included,
/// and compares the shortest path with the one through it, by the bytes at their first outputs times their channels; the
/// non-minimal path must be lighter by more than two flits. Both go dimension by dimension.
///
/// Deadlock-free with two classes of lanes: the first on the path to the switch that was drawn, the second on the path to the
/// destination, shortest paths included. In each class dimensions rise, and a packet changes only from the first to the
/// second. Of several lanes of a class it takes any.
///
/// N. Jiang et al., A detailed and flexible cycle-accurate Network-on-Chip simulator (ISPASS'13), and its `ugal_flatfly_onchip`.
/// After A. Singh, Load-Balanced Routing in Interconnection Networks (PhD thesis, Stanford, 2005), chapter 5.
#[derive(Clone, Debug)]
pub struct BooksimHyperx<'a> {
    lines: Lines<'a>,
}

/// Bytes by which a non-minimal path must be lighter: two flits.
const MORE: u64 = 2;

/// Phase of a packet: new, on the path to the switch that was drawn, on the path to the destination.
const NEW: u8 = 0;
const OUT: u8 = 1;
const HOME: u8 = 2;

impl<'a> BooksimHyperx<'a> {
    /// The routing on a HyperX.
    pub fn new(lines: Lines<'a>) -> Self {
        Self { lines }
    }

    /// The port of the first channel from here.
    #[inline]
    fn first(&self, here: &mut SwitchView<'_>, to: &[u16]) -> Option<u32> {
        let d = first_open(self.lines.at(here.switch), to)?;
        Some(self.lines.port(here, d, to[d]))
    }

    /// The output of a new packet, if it is not there already.
    #[inline]
    fn choose(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> Option<u32> {
        packet.phase = HOME;
        let at = self.lines.at(here.switch);
        let to = self.lines.at(here.net.switch_of(packet.to));
        let direct = self.first(here, to)?;
        let mut place = self.lines.place(at);
        for d in (0..at.len()).filter(|&d| at[d] != to[d]) {
            let by = here.random.below(self.lines.dims()[d].into()) as usize;
            place = place + by * self.lines.step(d) - usize::from(at[d]) * self.lines.step(d);
        }
        let via = self.lines.switch(place);
        let by = self.lines.at(via);
        let Some(nonminimal) = self.first(here, by) else { return Some(direct) };
        let far = open(at, to);
        let longer = open(at, by) + open(by, to);
        let occupied = |out| u64::from(here.occupied(out));
        if far * occupied(direct) <= longer * occupied(nonminimal) + MORE {
            return Some(direct);
        }
        (packet.phase, packet.via, packet.round) = (OUT, via, longer > far);
        Some(nonminimal)
    }
}

impl Routing for BooksimHyperx<'_> {
    fn lanes(&self) -> u8 {
        2
    }

    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        let out = if packet.phase == NEW {
            self.choose(here, packet)
        } else {
            if packet.phase == OUT && packet.via == here.switch {
                packet.phase = HOME;
            }
            let home = here.net.switch_of(packet.to);
            let next = if packet.phase == OUT { packet.via } else { home };
            self.first(here, self.lines.at(next))
        };
        match out {
            Some(out) => (out, any_lane(here, u8::from(packet.phase == HOME), 2)),
            None => (here.net.port(here.net.home(packet.to)).local, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::routing::walks::WalkFixture;

    /// Dimensions in which nothing differs are left alone: two channels for each of the others.
    #[test]
    fn ways_round_stay_in_their_dimensions() {
        for (fabric, most) in [("hyperx:dims=4x3,t=1", 4), ("hyperx:dims=3x2x4,t=1", 5)] {
            let fixture = WalkFixture::new(fabric);
            let made = fixture.made("booksim-hyperx").expect("it suits");
            let shown = fixture.walk(&made, 0, 50);
            assert!(made.lanes() == 2 && shown.nonminimal > 0, "{fabric}");
            // Going there and back again in a dimension of two crosses it not at all, or twice.
            assert!(shown.most == most || shown.most == most + 1, "{fabric}: {}", shown.most);
        }
    }
}
