//! The proof for *sets* of next hops: whichever member a switch picks, packets arrive, and no channels wait for each other.
//!
//! A packet that holds a channel may wait for any channel of the set that the next switch has for its destination. If the graph of all
//! these dependencies has no cycle, no choice can deadlock, be it a hash, adaptive, or by packet (Dally and Seitz, 1987, whose argument
//! needs no more than that waiting follows the order of channels). On Ethernet this is whether pauses of priority flow control (PFC)
//! can block each other for ever. The condition is sufficient; a cycle is no proof of a deadlock.

use std::sync::atomic::Ordering;

use darkfiber_fabric::{ChannelId, Fabric, SwitchId};
use rayon::prelude::*;

use super::dependency::Dependencies;
use crate::stop::unwind_if_asked;

/// Lanes that are distinguished: bits of a mask.
const LANES: u8 = 32;

/// Properties that hold for every choice among the sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetReport {
    /// Pairs of a switch with terminals and a destination to which some choice leads nowhere.
    pub unreachable: u64,
    /// Destinations to which some choice loops.
    pub loops: u64,
    /// Dependencies between channels, in all lanes.
    pub dependencies: usize,
    /// Switches crossed at most.
    pub hops: usize,
    /// A shortest cycle of dependencies, if there is one.
    pub cycle: Option<SetCycle>,
}

/// Channels each of which may wait for the next one, and the last one for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetCycle {
    /// Number of the virtual lane.
    pub lane: u8,
    /// Channels of the cycle.
    pub channels: Vec<ChannelId>,
    /// For each of them a destination for which it waits for the next one, and how many there are.
    pub waits: Vec<SetWait>,
}

/// Why a channel waits for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetWait {
    /// The number of the first destination for which it does.
    pub destination: usize,
    /// The switch that this is on.
    pub towards: SwitchId,
    /// For how many destinations it does.
    pub destinations: usize,
}

impl SetReport {
    /// Whether all packets arrive, whatever is picked.
    pub fn complete(&self) -> bool {
        self.unreachable == 0 && self.loops == 0
    }

    /// Whether no choice can deadlock.
    pub fn deadlock_free(&self) -> bool {
        self.cycle.is_none()
    }
}

/// Follows all choices of all switches. `set` has the channels that a switch (first) may pick towards a switch with terminals.
///
/// Complexity: O(destination switches x channels x channels of a switch).
pub fn check_sets<'s>(
    fabric: &Fabric,
    set: &(dyn Fn(SwitchId, SwitchId) -> &'s [u32] + Sync),
) -> SetReport {
    let homes = homes(fabric);
    let component = fabric.component_labels();
    let sources = |d: usize| {
        let to = homes[d];
        let near = |s: &&SwitchId| **s != to && component[s.index()] == component[to.index()];
        homes.iter().filter(near).map(|&s| (s, 1)).collect()
    };
    Sets { fabric, homes: &homes, sources: &sources, set: &|at, d| set(at, homes[d]) }.check()
}

/// Switches that have terminals.
pub(super) fn homes(fabric: &Fabric) -> Vec<SwitchId> {
    let all = (0..fabric.switch_count()).map(SwitchId::new);
    all.filter(|&s| !fabric.terminals_on(s).is_empty()).collect()
}

/// Sets towards numbered destinations, and who sends to them.
pub(super) struct Sets<'a, 's> {
    pub(super) fabric: &'a Fabric,
    /// By destination the switch that it is on.
    pub(super) homes: &'a [SwitchId],
    /// Other switches that send to a destination, each with a mask of the lanes of its packets.
    pub(super) sources: &'a (dyn Fn(usize) -> Vec<(SwitchId, u32)> + Sync),
    /// The channels that a switch may pick towards a destination.
    pub(super) set: &'a (dyn Fn(SwitchId, usize) -> &'s [u32] + Sync),
}

impl Sets<'_, '_> {
    /// Follows all choices of next hops.
    pub(super) fn check(&self) -> SetReport {
        let dependencies = Dependencies::new(self.fabric);
        let found: Vec<Towards> = (0..self.homes.len())
            .into_par_iter()
            .map(|d| {
                unwind_if_asked();
                self.towards(d, &mut |c, next, lanes| {
                    let slot = dependencies.slot(self.fabric, c as usize, next as usize);
                    slot.fetch_or(lanes, Ordering::Relaxed);
                })
            })
            .collect();
        let lanes = found.iter().fold(0, |all, f| all | f.lanes);
        let mut used = (0..LANES).filter(|lane| lanes >> lane & 1 == 1);
        let cycle = used.find_map(|lane| {
            let channels = dependencies.find_cycle(self.fabric, lane)?;
            let waits = self.waits(&channels, lane);
            Some(SetCycle { lane, channels, waits })
        });
        SetReport {
            unreachable: found.iter().map(|f| f.lost).sum(),
            loops: found.iter().filter(|f| f.loops).count() as u64,
            dependencies: (0..LANES).map(|lane| dependencies.count(lane)).sum(),
            hops: found.iter().map(|f| f.hops).max().unwrap_or(0),
            cycle,
        }
    }

    /// For each channel of a cycle the destinations for which it waits for the next one.
    fn waits(&self, channels: &[ChannelId], lane: u8) -> Vec<SetWait> {
        let pairs: Vec<(u32, u32)> = channels
            .iter()
            .zip(channels.iter().cycle().skip(1))
            .map(|(c, next)| (c.0, next.0))
            .collect();
        let made: Vec<Vec<bool>> = (0..self.homes.len())
            .into_par_iter()
            .map(|d| {
                let mut made = vec![false; pairs.len()];
                self.towards(d, &mut |c, next, lanes| {
                    if lanes >> lane & 1 == 1
                        && let Some(i) = pairs.iter().position(|&pair| pair == (c, next))
                    {
                        made[i] = true;
                    }
                });
                made
            })
            .collect();
        let wait = |i: usize| {
            let mut all = (0..self.homes.len()).filter(|&d| made[d][i]);
            let destination = all.next().expect("a destination makes every dependency");
            let towards = self.homes[destination];
            SetWait { destination, towards, destinations: 1 + all.count() }
        };
        (0..pairs.len()).map(wait).collect()
    }

    /// Follows all choices towards a destination, lane by lane.
    fn towards(&self, d: usize, add: &mut dyn FnMut(u32, u32, u32)) -> Towards {
        let sources = (self.sources)(d);
        let lanes = sources.iter().fold(0, |all, (_, lanes)| all | lanes);
        let mut found = Towards { lanes, lost: 0, loops: false, hops: 0 };
        for lane in (0..LANES).map(|lane| 1u32 << lane).filter(|lane| lanes & lane != 0) {
            let of_lane = sources.iter().filter(|(_, lanes)| lanes & lane != 0);
            let one = self.in_lane(d, of_lane.map(|&(s, _)| s), &mut |c, next| add(c, next, lane));
            found.lost += one.lost;
            found.loops |= one.loops;
            found.hops = found.hops.max(one.hops);
        }
        found
    }

    /// Searches depth first from all sources, so that only channels that a packet can reach have
    /// dependencies.
    fn in_lane(
        &self,
        d: usize,
        sources: impl Iterator<Item = SwitchId>,
        add: &mut dyn FnMut(u32, u32),
    ) -> Towards {
        const OPEN: u32 = u32::MAX;
        const LOST: u32 = u32::MAX - 1;
        let (fabric, to) = (self.fabric, self.homes[d]);
        // Switches crossed from here on at most; 0 is not seen.
        let mut depth = vec![0u32; fabric.switch_count()];
        depth[to.index()] = 1;
        let mut found = Towards { lanes: 0, lost: 0, loops: false, hops: 0 };
        // Switch, its next choice, the most switches crossed behind those before.
        let mut walk: Vec<(SwitchId, usize, u32)> = Vec::new();
        for source in sources {
            if depth[source.index()] == 0 {
                depth[source.index()] = OPEN;
                walk.push((source, 0, 0));
            }
            while let Some(top) = walk.last_mut() {
                let (at, choice, most) = *top;
                let members = (self.set)(at, d);
                let Some(&c) = members.get(choice) else {
                    depth[at.index()] = match (members.is_empty(), most) {
                        (true, _) | (_, LOST) => LOST,
                        _ => most + 1,
                    };
                    walk.pop();
                    continue;
                };
                let head = fabric.head(ChannelId(c));
                match depth[head.index()] {
                    0 => {
                        // Comes back here when the head is known.
                        depth[head.index()] = OPEN;
                        walk.push((head, 0, 0));
                        continue;
                    }
                    OPEN => found.loops = true,
                    behind => top.2 = top.2.max(behind),
                }
                top.1 += 1;
                if head != to {
                    for &next in (self.set)(head, d) {
                        add(c, next);
                    }
                }
            }
            match depth[source.index()] {
                LOST => found.lost += 1,
                hops => found.hops = found.hops.max(hops as usize),
            }
        }
        found
    }
}

/// The result of all choices towards one destination.
struct Towards {
    lanes: u32,
    lost: u64,
    loops: bool,
    hops: usize,
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::open;

    use super::*;
    use crate::ecmp::{Ecmp, EcmpSpec};

    fn report(spec: &str) -> (SetReport, Fabric) {
        let fabric = open(spec).expect(spec).fabric;
        let ecmp = Ecmp::new(&fabric, &EcmpSpec::parse("crc32").expect("a spec"), 1);
        let set = |at, to| ecmp.hops().group(at, to).members();
        (check_sets(&fabric, &set), fabric.clone())
    }

    /// Trees are free, whichever path goes up and then down; a ring of five is not.
    #[test]
    fn trees_are_free_and_rings_are_not() {
        for tree in [
            "kary:k=4,n=3",
            "fattree2:n=4,m=4,r=4",
            "rails:hosts_per_unit=4,units=2,nics=2,spines=2",
        ] {
            let (found, _) = report(tree);
            assert!(found.complete() && found.deadlock_free(), "{tree}: {found:?}");
        }
        assert_eq!(report("kary:k=4,n=3").0.hops, 5);
        let (found, fabric) = report("torus:dims=5,t=1");
        let cycle = found.cycle.expect("five switches in a ring");
        assert_eq!((cycle.channels.len(), cycle.waits.len(), found.hops), (5, 5, 3));
        // In a ring of five only the one two channels ahead makes a channel wait for the next one.
        assert!(cycle.waits.iter().all(|w| w.destinations == 1));
        for (i, &c) in cycle.channels.iter().enumerate() {
            assert_eq!(fabric.head(c), fabric.tail(cycle.channels[(i + 1) % 5]));
        }
        // Up to four switches no shortest path has two channels of a ring... but for the far corner.
        assert!(report("torus:dims=3,t=1").0.deadlock_free());
    }

    /// Two switches that send packets for a third one to each other, and sets without members.
    #[test]
    fn lost_and_looping_choices_are_found() {
        let fabric = open("torus:dims=4,t=1").expect("a spec").fabric;
        let leads = |from: u32, to: u32| {
            let all = fabric.channels_from(SwitchId(from)).map(|c| c as u32);
            all.filter(|&c| fabric.heads()[c as usize] == to).collect::<Vec<u32>>()
        };
        let none: &[u32] = &[];
        let round: Vec<Vec<u32>> = (0..4).map(|s| leads(s, (s + 1) % 4)).collect();
        let back = leads(1, 0);
        let clockwise = |at: SwitchId, to: SwitchId| {
            if at == to { none } else { &round[at.index()] }
        };
        assert!(check_sets(&fabric, &clockwise).complete());
        let ping_pong = |at: SwitchId, to: SwitchId| match (at.0, to.0) {
            (1, 3) => &back[..],
            _ => clockwise(at, to),
        };
        assert_eq!(check_sets(&fabric, &ping_pong).loops, 1);
        let nobody = |_: SwitchId, _: SwitchId| none;
        assert_eq!(check_sets(&fabric, &nobody).unreachable, 12);
    }
}
