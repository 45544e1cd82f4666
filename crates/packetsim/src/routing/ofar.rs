//! On a dragonfly: off the shortest path at any switch.

use darkfiber_fabric::{DragonflyShape, GroupKind};

use super::groups::Groups;
use super::{Distances, Routing, SwitchView};
use crate::Net;
use crate::packet::Packet;

/// On-the-fly adaptive routing, OFAR-like: every switch forwards a packet on the shortest path, unless much waits there and less
/// than half as much at an output to which it may be misrouted. Those are, in its first group if it must leave that, all cables
/// to other groups, once (a global misroute); and in every group, where the shortest path goes to a switch of that group, all
/// cables to such switches, once a group (a local misroute).
///
/// Deadlock freedom differs from the paper's, whose packets escape to a ring with bubble flow control if nothing else has
/// credits: here lanes rise from switch to switch, as many as the longest path has channels. A group whose switches are all
/// joined is crossed by at most two channels, a misroute and a shortest one (a misroute takes the place of a channel inside the
/// group); a packet is in three groups at most: two channels each and two between them, eight lanes. Two consequences: packets
/// cannot leave a full output once they were sent to it, and no packet is ever on a ring.
///
/// M. Garcia, E. Vallejo, R. Beivide, M. Odriozola, C. Camarero, M. Valero, J. Labarta, On-the-Fly Adaptive Routing in
/// High-Radix Hierarchical Networks (ICPP'12). Decisions: much is two packets, and less is less than half, instead of the
/// paper's thresholds; of all outputs that a packet may be misrouted to, the emptiest is taken.
#[derive(Clone, Debug)]
pub struct Ofar {
    distances: Distances,
    groups: Groups,
    /// By switch, ports to others of its group, and to those of other groups.
    inside: Vec<Vec<u8>>,
    outside: Vec<Vec<u8>>,
    /// Bytes that may wait for the shortest path.
    patience: u32,
}

/// Misroutes that a packet has taken: its global one, and the local one of this group.
const GLOBAL: u8 = 1;
const LOCAL: u8 = 2;

impl Ofar {
    /// For a dragonfly whose groups are fully connected, each to every other one by a cable; `None` otherwise. Distances must
    /// make a cable between groups longer than any path inside one, and packets have this number of bytes.
    pub fn new(
        net: &Net,
        distances: Distances,
        shape: &DragonflyShape,
        bytes: u32,
    ) -> Option<Self> {
        let groups = Groups::new(shape);
        let n = net.switch_count();
        let mut inside = vec![Vec::new(); n];
        let outside = (0..n as u32).map(|s| groups.outside(net, s)).collect();
        for (g, members) in groups.members().iter().enumerate() {
            let mut joined = vec![false; groups.members().len()];
            for &s in members {
                let mut others = Vec::new();
                for local in 0..net.radix(s) {
                    let Some(t) = net.next(net.base(s) + local) else { continue };
                    if groups.of(t) == g as u32 {
                        others.push(t);
                        inside[s as usize].push(local as u8);
                    } else {
                        joined[groups.of(t) as usize] = true;
                    }
                }
                others.sort_unstable();
                others.dedup();
                if others.len() + 1 < members.len() {
                    return None;
                }
            }
            joined[g] = true;
            if joined.contains(&false) {
                return None;
            }
        }
        let full = shape.inside == GroupKind::Full;
        full.then_some(Self { distances, groups, inside, outside, patience: 2 * bytes })
    }

    /// An output that a packet may be misrouted to and that holds less than this limit, if there is one, and the new phase of the
    /// packet. The shortest path goes to a switch of this group, or not.
    #[inline]
    fn misroute(
        &self,
        here: &mut SwitchView<'_>,
        packet: &Packet,
        than: u32,
        to_inside: bool,
    ) -> Option<(u32, u8)> {
        let s = here.switch;
        let mine = self.groups.of(s);
        let first = self.groups.of(here.net.switch_of(packet.from));
        let must_leave = mine == first && mine != self.groups.of(here.net.switch_of(packet.to));
        let global = packet.phase & GLOBAL == 0 && must_leave;
        let local = packet.phase & LOCAL == 0 && to_inside;
        let kinds =
            [(global, &self.outside[s as usize], GLOBAL), (local, &self.inside[s as usize], LOCAL)];
        let mut best = None;
        let mut than = than;
        for (_, ports, what) in
            kinds.into_iter().filter(|(may, ports, _)| *may && !ports.is_empty())
        {
            // Of equal ones, the first from any on.
            let from = here.random.below(ports.len() as u32) as usize;
            for &out in ports[from..].iter().chain(&ports[..from]) {
                let occupied = here.pressing(out.into());
                if occupied < than {
                    (best, than) = (Some((out.into(), what)), occupied);
                }
            }
        }
        best
    }
}

impl Routing for Ofar {
    fn lanes(&self) -> u8 {
        8
    }

    #[inline]
    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        if let Some(out) = here.to_terminal(packet.to) {
            return (out, 0);
        }
        let mine = self.groups.of(here.switch);
        let (net, base) = (here.net, here.net.base(here.switch));
        let to_inside = |out| net.next(base + out).is_some_and(|t| self.groups.of(t) == mine);
        let to = net.switch_of(packet.to);
        let mut out = self.distances.any(here.switch, to, here.random);
        let occupied = here.pressing(out);
        if occupied > self.patience {
            let half = occupied.div_ceil(2);
            if let Some((other, what)) = self.misroute(here, packet, half, to_inside(out)) {
                out = other;
                packet.round |= !self.distances.leads_nearer(here.switch, to, out);
                packet.phase |= what;
            }
        }
        if !to_inside(out) {
            packet.phase &= !LOCAL;
        }
        (out, packet.hops)
    }
}

#[cfg(test)]
mod tests {
    use crate::routing::walks::WalkFixture;

    #[test]
    fn eight_channels_are_the_most() {
        let fixture = WalkFixture::new("dragonfly:p=1,a=4,h=2");
        let made = fixture.made("ofar").expect("it suits");
        let shown = fixture.walk(&made, 0, 200);
        assert_eq!((made.lanes(), shown.most), (8, 8));
    }

    #[test]
    fn groups_are_to_be_joined() {
        for fabric in
            ["cascade:groups=3,rows=2,cols=4,p=1,blue=8", "dragonflyplus:leaves=3,spines=3,p=1,h=1"]
        {
            assert!(WalkFixture::new(fabric).made("ofar").is_none(), "{fabric}");
        }
    }
}
