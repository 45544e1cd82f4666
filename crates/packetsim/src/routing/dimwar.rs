//! On a HyperX: dimension by dimension, straight or by one deroute each.

use super::classes::any_lane;
use super::lines::{Lines, first_open, open};
use super::{Routing, SwitchView};
use crate::packet::Packet;

/// Dimensionally-ordered weighted adaptive routing: every switch corrects the first dimension in which a packet differs from
/// its destination, directly, or after one hop to any other switch of that line (a deroute). It weighs all of these by the
/// bytes that wait there times the remaining channels, and takes the lightest.
///
/// Deadlock-free with two classes of lanes: a deroute takes the first, and the channel that corrects its dimension afterwards
/// takes the second. So a packet waits for the second class of its dimension, if it was derouted, or for a later dimension, and
/// never for an earlier one: dimensions and, in each, classes rise. A channel that corrects a dimension directly is followed
/// only by later dimensions, so it may be in a lane of either class.
///
/// N. McDonald, M. Isaev, A. Flores, A. Davis, J. Kim, Practical and Efficient Incremental Adaptive Routing for HyperX Networks
/// (SC'19). The packet itself counts among the waiting bytes, so that an empty network is crossed by shortest paths: our
/// decision, as are lanes of either class for packets that are not derouted.
#[derive(Clone, Debug)]
pub struct Dimwar<'a> {
    lines: Lines<'a>,
}

impl<'a> Dimwar<'a> {
    /// The routing on a HyperX.
    pub fn new(lines: Lines<'a>) -> Self {
        Self { lines }
    }
}

impl Routing for Dimwar<'_> {
    fn lanes(&self) -> u8 {
        2
    }

    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        let at = self.lines.at(here.switch);
        let to = self.lines.at(here.net.switch_of(packet.to));
        let Some(d) = first_open(at, to) else {
            return (here.net.port(here.net.home(packet.to)).local, 0);
        };
        let straight = self.lines.port(here, d, to[d]);
        // The dimension that it was derouted in last, if any.
        let derouted = 1 + d as u8;
        if packet.phase == derouted {
            return (straight, any_lane(here, 1, 2));
        }
        let minimal =
            WeightedOutput { weight: weight(here, packet, straight, open(at, to)), out: straight };
        match lightest_deroute(&self.lines, here, packet, d, open(at, to), minimal) {
            Some(deroute) => {
                (packet.phase, packet.round) = (derouted, true);
                (deroute.out, any_lane(here, 0, 2))
            }
            None => (straight, any_lane(here, 0, 1)),
        }
    }
}

/// An output and its weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightedOutput {
    pub(super) weight: u64,
    pub(super) out: u32,
}

/// Bytes that wait at an output, the packet itself included, times the remaining channels of the path through it.
#[inline]
pub(super) fn weight(here: &SwitchView<'_>, packet: &Packet, out: u32, channels: u64) -> u64 {
    u64::from(here.pressing(out) + packet.bytes) * channels
}

/// The lightest of all deroutes in a dimension that are lighter than a path, if any; of equal ones, the first from a
/// random start.
#[inline]
pub(super) fn lightest_deroute(
    lines: &Lines<'_>,
    here: &mut SwitchView<'_>,
    packet: &Packet,
    d: usize,
    open: u64,
    than: WeightedOutput,
) -> Option<WeightedOutput> {
    let at = lines.at(here.switch)[d];
    let to = lines.at(here.net.switch_of(packet.to))[d];
    let size = lines.dims()[d];
    // Nothing is lighter than a single packet.
    if than.weight <= u64::from(packet.bytes) * (open + 1) || size < 3 {
        return None;
    }
    let from = here.random.below(size.into()) as u16;
    let mut best = than;
    for by in (from..size).chain(0..from).filter(|&by| by != at && by != to) {
        let out = lines.port(here, d, by);
        let weight = weight(here, packet, out, open + 1);
        if weight < best.weight {
            best = WeightedOutput { weight, out };
        }
    }
    (best.weight < than.weight).then_some(best)
}

#[cfg(test)]
mod tests {
    use crate::routing::walks::WalkFixture;

    /// Two channels for each dimension of more than two coordinates, one for others.
    #[test]
    fn one_deroute_a_dimension() {
        for (fabric, most) in
            [("hyperx:dims=4x3,t=1", 4), ("hyperx:dims=3x2x4,t=1", 5), ("hyperx:dims=2x2,t=1", 2)]
        {
            let fixture = WalkFixture::new(fabric);
            let made = fixture.made("dimwar").expect("it suits");
            let shown = fixture.walk(&made, 0, 50);
            assert_eq!((made.lanes(), shown.most), (2, most), "{fabric}");
            assert_eq!(shown.nonminimal > 0, most > 2, "{fabric}");
        }
    }
}
