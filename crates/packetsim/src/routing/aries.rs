//! On a dragonfly: two minimal paths and two through other groups, as Aries weighs them.

use darkfiber_fabric::DragonflyShape;

use super::groups::Groups;
use super::{Distances, Routing, SwitchView};
use crate::Net;
use crate::packet::{NOBODY, Packet};

/// Adaptive routing after Cray's Aries: a switch draws two shortest paths and two non-minimal paths, through any other group, and takes
/// the one with the least loaded first output, with a bias to shortest paths. A packet on a shortest path is weighed again at every
/// switch of its first group; once it takes a non-minimal path it stays on it. Such a path heads for any switch of the other group and
/// turns to the destination as soon as it is in that group, so that channels inside it may be the bottleneck of patterns in which all
/// packets of a group cross it alike. Inside a group it goes through any switch of that group.
///
/// Deadlock-free: lanes rise from switch to switch. As many as the longest path has channels: those inside the first group
/// before it is left, those to another group, and those of the longest shortest path; all are counted on the fabric. Five on a
/// dragonfly with fully connected groups and a cable between any two of them.
///
/// B. Alverson, E. Froese, L. Kaplan, D. Roweth, Cray XC Series Network (2012), on adaptive routing; G. Faanes et al., Cray
/// Cascade: a scalable HPC system based on a Dragonfly network (SC'12). Decisions: the load is the bytes sent to the first
/// output whose credits are not back; that of a non-minimal path counts twice, plus two packets. Cables between groups are long
/// and hold more than others even where nothing waits: a switch whose shortest path leaves the group compares it only with its
/// own cables to other groups.
#[derive(Clone, Debug)]
pub struct Aries {
    distances: Distances,
    groups: Groups,
    /// By switch, ports to other groups.
    outside: Vec<Vec<u8>>,
    /// Bytes by which twice a non-minimal path must be lighter.
    more: u32,
    lanes: u8,
}

/// Shortest paths, and non-minimal paths, that are compared.
const WAYS: usize = 2;

/// Phase of packets that may still be weighed again, and of those that may not.
const OPEN: u8 = 0;
const SETTLED: u8 = 1;

impl Aries {
    /// For any dragonfly, with distances in which a cable between groups is longer than any path inside one; packets have this
    /// number of bytes.
    pub fn new(net: &Net, distances: Distances, shape: &DragonflyShape, bytes: u32) -> Self {
        let groups = Groups::new(shape);
        let leave = groups.most_until(net, &distances, |s, t, _| groups.of(s) != groups.of(t));
        let enter = groups.most_until(net, &distances, |_, t, to| groups.of(t) == groups.of(to));
        let inside = |s: u32| groups.members()[groups.of(s) as usize].iter().map(move |&t| (s, t));
        let pairs = (0..net.switch_count() as u32).flat_map(inside);
        let across = pairs.map(|(s, t)| distances.hops(s, t)).max().unwrap_or(0);
        let others = groups.members().len() > 2;
        // The last switch of the group sends a non-minimal path out of it at once, others take a channel less before.
        let before = if others { leave.max(leave.saturating_sub(2) + enter) } else { 0 };
        let between = before + distances.diameter();
        let lanes = between.max(2 * across).max(1);
        let outside = (0..net.switch_count() as u32).map(|s| groups.outside(net, s)).collect();
        Self { distances, groups, outside, more: 2 * bytes, lanes }
    }

    /// An output of a non-minimal path, and the switch that it heads for, if there is one.
    #[inline]
    fn nonminimal(&self, here: &mut SwitchView<'_>, to: u32, leaves: bool) -> Option<(u32, u32)> {
        let (mine, theirs) = (self.groups.of(here.switch), self.groups.of(to));
        if leaves {
            let outside = &self.outside[here.switch as usize];
            let out = u32::from(outside[here.random.below(outside.len() as u32) as usize]);
            let via = here.net.next(here.net.base(here.switch) + out)?;
            return (self.groups.of(via) != theirs).then_some((out, via));
        }
        let group = if mine == theirs { mine } else { self.groups.any_but(here, mine, theirs)? };
        let via = self.groups.any_of(here, group);
        let is_other = via != here.switch && via != to;
        is_other.then(|| (self.distances.any(here.switch, via, here.random), via))
    }

    /// The output that is chosen, and where it heads for if that is a non-minimal path.
    #[inline]
    fn choose(&self, here: &mut SwitchView<'_>, to: u32) -> (u32, u32) {
        let mut best = (u32::MAX, 0, NOBODY);
        for _ in 0..WAYS {
            let out = self.distances.any(here.switch, to, here.random);
            let load = here.pressing(out);
            if load < best.0 {
                best = (load, out, NOBODY);
            }
        }
        // Nothing is lighter than twice an empty output plus the bias.
        if best.0 <= self.more {
            return (best.1, best.2);
        }
        let next = here.net.next(here.net.base(here.switch) + best.1);
        let leaves = next.is_some_and(|t| self.groups.of(t) != self.groups.of(here.switch));
        for _ in 0..WAYS {
            let Some((out, via)) = self.nonminimal(here, to, leaves) else { continue };
            let load = here.biased(u64::from(2 * here.pressing(out) + self.more));
            let load = u32::try_from(load).unwrap_or(u32::MAX);
            if load < best.0 {
                best = (load, out, via);
            }
        }
        (best.1, best.2)
    }

    /// Whether a packet is where its non-minimal path heads for.
    #[inline]
    fn is_nonminimal(&self, here: u32, packet: &Packet, to: u32) -> bool {
        let group = self.groups.of(here);
        // Another group is enough.
        here == packet.via || (group == self.groups.of(packet.via) && group != self.groups.of(to))
    }
}

impl Routing for Aries {
    fn lanes(&self) -> u8 {
        self.lanes
    }

    #[inline]
    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        let to = here.net.switch_of(packet.to);
        if packet.via != NOBODY && self.is_nonminimal(here.switch, packet, to) {
            packet.via = NOBODY;
        }
        if packet.via != NOBODY {
            let out = self.distances.any(here.switch, packet.via, here.random);
            packet.round |= !self.distances.leads_nearer(here.switch, to, out);
            return (out, packet.hops);
        }
        if here.switch == to {
            return (here.net.port(here.net.home(packet.to)).local, 0);
        }
        let mine = self.groups.of(here.switch);
        let first = self.groups.of(here.net.switch_of(packet.from));
        // Inside its group a packet is weighed once.
        let again = mine == first && (packet.hops == 0 || mine != self.groups.of(to));
        if packet.phase == SETTLED || !again {
            return (self.distances.any(here.switch, to, here.random), packet.hops);
        }
        let (out, via) = self.choose(here, to);
        packet.via = via;
        packet.round |= !self.distances.leads_nearer(here.switch, to, out);
        packet.phase = if via == NOBODY { OPEN } else { SETTLED };
        (out, packet.hops)
    }
}

#[cfg(test)]
mod tests {
    use crate::routing::walks::WalkFixture;

    /// The number of lanes is that of channels of the longest path.
    #[test]
    fn lanes_are_enough_and_not_many_more() {
        for (fabric, lanes, most) in [
            ("dragonfly:p=1,a=4,h=2", 5, 5),
            ("dragonfly:p=1,a=4,g=2,per_pair=4", 2, 2),
            ("cascade:groups=3,rows=2,cols=4,p=1,blue=8", 8, 8),
            // The bound is for the worst of each part, which no single path has.
            ("dragonflyplus:leaves=3,spines=3,p=1,h=1", 9, 6),
        ] {
            let fixture = WalkFixture::new(fabric);
            let made = fixture.made("aries").expect("it suits");
            let shown = fixture.walk(&made, 0, 100);
            assert_eq!((made.lanes(), shown.most), (lanes, most), "{fabric}");
        }
    }
}
