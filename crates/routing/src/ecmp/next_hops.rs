//! All next hops on shortest paths.

use std::collections::BTreeMap;

use darkfiber_fabric::{ChannelId, Fabric, SwitchId};
use rayon::prelude::*;

use super::{Group, Groups};

/// For every switch and every destination switch that has terminals, the set of channels that lead nearer. Switches of real
/// fabrics have few different sets; equal ones are held once, as switches do in their tables of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextHops {
    /// By switch, its number among destinations; `u32::MAX` for those without terminals.
    number: Vec<u32>,
    switches: usize,
    /// By destination and switch, the number of the group.
    of: Vec<u32>,
    /// All groups; the first one is empty.
    groups: Vec<Group>,
}

/// Destinations whose sets are looked for side by side.
const CHUNK: usize = 256;

impl NextHops {
    /// The sets of a fabric whose channels are alive where `is_alive` says so; `make` makes a group of the next hops that
    /// were found.
    ///
    /// Complexity: O(destination switches x channels).
    pub(super) fn of(
        fabric: &Fabric,
        is_alive: &(dyn Fn(u32) -> bool + Sync),
        make: &(dyn Fn(&Found<'_>) -> Group + Sync),
    ) -> Self {
        let n = fabric.switch_count();
        let mut number = vec![u32::MAX; n];
        let mut destinations = Vec::new();
        for s in (0..n).filter(|&s| !fabric.terminals_on(SwitchId::new(s)).is_empty()) {
            number[s] = destinations.len() as u32;
            destinations.push(s);
        }
        let mut groups = vec![Group::default()];
        let mut known: BTreeMap<Group, u32> = BTreeMap::from([(Group::default(), 0)]);
        let mut of = Vec::with_capacity(destinations.len() * n);
        for chunk in destinations.chunks(CHUNK) {
            let sets: Vec<Vec<Group>> =
                chunk.par_iter().map(|&d| towards(fabric, d, is_alive, make)).collect();
            for group in sets.into_iter().flatten() {
                let number = known.get(&group).copied().unwrap_or_else(|| {
                    let number = groups.len() as u32;
                    groups.push(group.clone());
                    known.insert(group, number);
                    number
                });
                of.push(number);
            }
        }
        Self { number, switches: n, of, groups }
    }

    /// The group of next hops of a switch towards a switch with terminals; empty at the destination, where no path leads there, and
    /// towards switches without terminals.
    #[inline]
    pub fn group(&self, at: SwitchId, to: SwitchId) -> &Group {
        &self.groups[self.group_number(at, to) as usize]
    }

    /// The number of that group; a group is of one switch, so that they differ between switches, but for the empty one, which is 0.
    #[inline]
    pub fn group_number(&self, at: SwitchId, to: SwitchId) -> u32 {
        match self.number[to.index()] {
            u32::MAX => 0,
            number => self.of[number as usize * self.switches + at.index()],
        }
    }

    /// All different groups of more than one next hop.
    pub fn groups(&self) -> Groups {
        let several = self.groups.iter().filter(|g| g.members().len() > 1);
        Groups {
            count: several.clone().count(),
            largest: several.map(|g| g.members().len()).max().unwrap_or(0),
        }
    }
}

/// A set of next hops that was found.
pub(super) struct Found<'a> {
    /// The destination.
    pub(super) to: SwitchId,
    /// The switch.
    pub(super) at: SwitchId,
    /// Its channels that lead nearer, rising.
    pub(super) members: Vec<u32>,
    /// What each of them can carry towards the destination together with all that is behind it, in bytes a second.
    pub(super) capacity: Vec<f64>,
    /// The fabric.
    pub(super) fabric: &'a Fabric,
}

/// By switch its group towards one.
fn towards(
    fabric: &Fabric,
    to: usize,
    is_alive: &(dyn Fn(u32) -> bool + Sync),
    make: &(dyn Fn(&Found<'_>) -> Group + Sync),
) -> Vec<Group> {
    const FAR: u32 = u32::MAX;
    let n = fabric.switch_count();
    let mut distance = vec![FAR; n];
    distance[to] = 0;
    let mut queue = vec![to];
    let mut next = 0;
    while let Some(&s) = queue.get(next) {
        next += 1;
        for c in fabric.channels_from(SwitchId::new(s)) {
            let back = fabric.reverses()[c];
            let other = fabric.heads()[c] as usize;
            if distance[other] == FAR && is_alive(back) {
                distance[other] = distance[s] + 1;
                queue.push(other);
            }
        }
    }
    // In the order of distance, so that what is behind a channel is known.
    let mut behind = vec![0.0; n];
    behind[to] = f64::INFINITY;
    let mut groups = vec![Group::default(); n];
    for &s in &queue[1..] {
        let at = SwitchId::new(s);
        let nearer = |c: &usize| {
            distance[fabric.heads()[*c] as usize] + 1 == distance[s] && is_alive(*c as u32)
        };
        let members: Vec<u32> = fabric.channels_from(at).filter(nearer).map(|c| c as u32).collect();
        // Parallel cables share what is behind the switch that they lead to.
        let own = |c: u32| fabric.class_of(ChannelId(c)).bytes_per_second.max(1) as f64;
        let head = |c: u32| fabric.heads()[c as usize];
        let capacity: Vec<f64> = members
            .iter()
            .map(|&c| {
                let beside = members.iter().filter(|&&other| head(other) == head(c));
                let all: f64 = beside.map(|&other| own(other)).sum();
                own(c) / all * all.min(behind[head(c) as usize])
            })
            .collect();
        behind[s] = capacity.iter().sum();
        groups[s] = make(&Found { to: SwitchId::new(to), at, members, capacity, fabric });
    }
    groups
}
