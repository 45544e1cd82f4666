//! Global cables between groups, spread evenly over the members of each group.
//!
//! A group has `C = per_pair * (groups - 1)` cable ends. End `c` of group `i` is cable
//! `c / (groups - 1)` of the pair with the group `c % (groups - 1) + 1` places further, and meets end
//! `C - 1 - c` there (palm tree: Camarero, Vallejo, Beivide, "Topological characterization of Hamming
//! and dragonfly networks and its implications on routing", 2014). Member `c * members / C` owns it,
//! so members differ by at most one cable, and the cables of a pair lie on as many members as
//! possible. With one cable a pair and `C = members * h` this is the canonical palm tree.

/// Number of groups, of members of a group, and of cables between two groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub(super) groups: u32,
    pub(super) members: u32,
    pub(super) per_pair: u32,
}

/// One end: group, member of the group, number among the member's ends.
pub(super) type CableEnd = (u32, u32, u32);

impl Spread {
    fn ends(self) -> u64 {
        u64::from(self.per_pair) * u64::from(self.groups.saturating_sub(1))
    }

    /// The most ends that a member has.
    pub(super) fn most(self) -> u64 {
        self.ends().div_ceil(self.members.into())
    }

    fn end(self, group: u32, c: u64) -> CableEnd {
        let (a, ends) = (u64::from(self.members), self.ends());
        let member = c * a / ends;
        let first = (member * ends).div_ceil(a);
        (group, member as u32, (c - first) as u32)
    }

    /// All cables, by group of the first end.
    pub(super) fn cables(self) -> impl Iterator<Item = (CableEnd, CableEnd)> {
        let (g, ends) = (self.groups, self.ends());
        (0..g).flat_map(move |i| {
            (0..ends).filter_map(move |c| {
                let j = (u64::from(i) + c % u64::from(g - 1) + 1) % u64::from(g);
                let j = j as u32;
                (i < j).then(|| (self.end(i, c), self.end(j, ends - 1 - c)))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn members_and_pairs_get_their_even_share(
            groups in 1u32..12, members in 1u32..10, per_pair in 1u32..9,
        ) {
            let spread = Spread { groups, members, per_pair };
            let mut ends = BTreeSet::new();
            let mut pairs: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
            for (a, b) in spread.cables() {
                prop_assert!(ends.insert(a) && ends.insert(b), "an end twice");
                pairs.entry((a.0, b.0)).or_default().push(a.1);
                pairs.entry((b.0, a.0)).or_default().push(b.1);
            }
            prop_assert_eq!(pairs.len(), (groups * (groups - 1)) as usize);
            for on in pairs.values() {
                prop_assert_eq!(on.len(), per_pair as usize);
                let distinct: BTreeSet<u32> = on.iter().copied().collect();
                prop_assert_eq!(distinct.len() as u32, per_pair.min(members));
            }
            let floor = (per_pair * (groups - 1)) / members;
            for group in 0..groups {
                for member in 0..members {
                    let own = ends.range((group, member, 0)..(group, member + 1, 0)).count() as u64;
                    prop_assert!(own == u64::from(floor) || own == spread.most());
                    prop_assert!(own == 0 || ends.contains(&(group, member, own as u32 - 1)));
                }
            }
        }
    }
}
