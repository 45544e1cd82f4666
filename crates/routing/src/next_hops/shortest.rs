//! All next hops on shortest paths.

use darkfiber_fabric::{ChannelId, Fabric, SwitchId};
use rayon::prelude::*;

use super::group::Group;
use super::sets::{NextHops, NextHopsBuilder};

/// Destinations whose sets are computed in parallel.
const CHUNK: usize = 256;

impl NextHops {
    /// The sets of a fabric whose channels are alive where `is_alive` is true; `make` makes a group of the next hops that
    /// were found.
    ///
    /// Complexity: O(destination switches x channels).
    pub(crate) fn of(
        fabric: &Fabric,
        is_alive: &(dyn Fn(u32) -> bool + Sync),
        make: &(dyn Fn(&NextHopSet<'_>) -> Group + Sync),
    ) -> Self {
        let n = fabric.switch_count();
        let destinations: Vec<usize> =
            (0..n).filter(|&s| !fabric.terminals_on(SwitchId::new(s)).is_empty()).collect();
        let mut made = NextHopsBuilder::new(n, n);
        for chunk in destinations.chunks(CHUNK) {
            let sets: Vec<Vec<Group>> =
                chunk.par_iter().map(|&d| towards(fabric, d, is_alive, make)).collect();
            for (&d, groups) in chunk.iter().zip(sets) {
                made.push(SwitchId::new(d), &[d], groups);
            }
        }
        made.finish()
    }
}

/// A set of next hops that was found.
pub(crate) struct NextHopSet<'a> {
    /// Switch of the destination.
    pub(crate) to: SwitchId,
    /// Switch that chooses among the next hops.
    pub(crate) at: SwitchId,
    /// Its channels that lead nearer, rising.
    pub(crate) members: Vec<u32>,
    /// Capacity of each of them towards the destination, including everything behind it, in bytes a second.
    pub(crate) capacity: Vec<f64>,
    /// Fabric of these switches.
    pub(crate) fabric: &'a Fabric,
}

/// By switch its group towards one.
fn towards(
    fabric: &Fabric,
    to: usize,
    is_alive: &(dyn Fn(u32) -> bool + Sync),
    make: &(dyn Fn(&NextHopSet<'_>) -> Group + Sync),
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
    // In the order of distance, so that the capacity behind a channel is known.
    let mut behind = vec![0.0; n];
    behind[to] = f64::INFINITY;
    let mut groups = vec![Group::default(); n];
    for &s in &queue[1..] {
        let at = SwitchId::new(s);
        let nearer = |c: &usize| {
            is_alive(*c as u32) && distance[fabric.heads()[*c] as usize] == distance[s] - 1
        };
        let members: Vec<u32> = fabric.channels_from(at).filter(nearer).map(|c| c as u32).collect();
        // Parallel cables share the capacity behind the switch that they lead to.
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
        groups[s] = make(&NextHopSet { to: SwitchId::new(to), at, members, capacity, fabric });
    }
    groups
}
