//! Switches of a dragonfly by group, and ports within it and out of it.

use darkfiber_fabric::DragonflyShape;

use super::{Distances, SwitchView};
use crate::Net;

/// Groups that have switches, numbered without gaps.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    of: Vec<u32>,
    members: Vec<Vec<u32>>,
}

impl Groups {
    pub(super) fn new(shape: &DragonflyShape) -> Self {
        let most = shape.group.iter().max().map_or(0, |&g| g as usize + 1);
        let mut members = vec![Vec::new(); most];
        for (s, &g) in shape.group.iter().enumerate() {
            members[g as usize].push(s as u32);
        }
        members.retain(|switches| !switches.is_empty());
        let mut of = vec![0; shape.group.len()];
        for (g, switches) in members.iter().enumerate() {
            for &s in switches {
                of[s as usize] = g as u32;
            }
        }
        Self { of, members }
    }

    /// The group of a switch.
    #[inline]
    pub(super) fn of(&self, s: u32) -> u32 {
        self.of[s as usize]
    }

    /// The switches of each group.
    pub(super) fn members(&self) -> &[Vec<u32>] {
        &self.members
    }

    /// Ports of a switch to other groups.
    pub(super) fn outside(&self, net: &Net, s: u32) -> Vec<u8> {
        let leaves =
            |local: &u32| net.next(net.base(s) + local).is_some_and(|t| self.of(t) != self.of(s));
        (0..net.radix(s)).filter(leaves).map(|local| local as u8).collect()
    }

    /// Any switch of a group.
    #[inline]
    pub(super) fn any_of(&self, here: &mut SwitchView<'_>, group: u32) -> u32 {
        let members = &self.members[group as usize];
        members[here.random.below(members.len() as u32) as usize]
    }

    /// Any group but two, if there is one.
    #[inline]
    pub(super) fn any_but(&self, here: &mut SwitchView<'_>, a: u32, b: u32) -> Option<u32> {
        let others = (self.members.len() as u32).checked_sub(2).filter(|&n| n > 0)?;
        let mut group = here.random.below(others);
        for taken in [a.min(b), a.max(b)] {
            group += u32::from(group >= taken);
        }
        Some(group)
    }

    /// Maximum, over all shortest paths between groups, of the channels up to and including the first one that a rule
    /// selects. The rule gets the switch before it, the one behind it, and the destination.
    ///
    /// Complexity: O(switches^2 ports).
    pub(super) fn most_until(
        &self,
        net: &Net,
        distances: &Distances,
        selects: impl Fn(u32, u32, u32) -> bool,
    ) -> u8 {
        let n = net.switch_count() as u32;
        let mut order: Vec<u32> = (0..n).collect();
        let mut until = vec![0u8; n as usize];
        let mut most = 0;
        for to in 0..n {
            order.sort_by_key(|&s| distances.hops(s, to));
            for &s in order.iter().filter(|&&s| s != to) {
                let nearer = distances.nearer(s, to);
                let is_nearer = |local: u32| nearer[local as usize / 64] >> (local % 64) & 1 == 1;
                let channels = (0..net.radix(s)).filter(|&local| is_nearer(local));
                let behind = channels.filter_map(|local| net.next(net.base(s) + local));
                let left = |t: u32| if selects(s, t, to) { 0 } else { until[t as usize] };
                until[s as usize] = 1 + behind.map(left).max().unwrap_or(0);
                if self.of(s) != self.of(to) {
                    most = most.max(until[s as usize]);
                }
            }
            until[to as usize] = 0;
        }
        most
    }
}
