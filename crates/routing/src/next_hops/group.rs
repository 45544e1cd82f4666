//! A group of next hops, and how a hash picks one of them.

/// The next hops of a switch towards a destination: its members, and the buckets among which a hash chooses.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    members: Vec<u32>,
    /// By bucket, the number of its member; empty where there is a bucket a member.
    buckets: Vec<u16>,
}

/// Number and size of groups of next hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Different groups of more than one next hop, of all switches together.
    pub count: usize,
    /// Members of the largest one.
    pub largest: usize,
}

impl Group {
    /// Channels, rising, each as likely: a hash picks by its remainder.
    pub fn even(members: Vec<u32>) -> Self {
        Self { members, buckets: Vec::new() }
    }

    /// Buckets in proportion to weights, by largest remainders; each member has one at least.
    pub(crate) fn weighted(members: Vec<u32>, weights: &[f64], buckets: usize) -> Self {
        let n = members.len();
        if n < 2 {
            return Self::even(members);
        }
        let buckets = buckets.max(n);
        let total: f64 = weights.iter().sum();
        let spare = (buckets - n) as f64;
        let share: Vec<f64> = weights.iter().map(|w| w / total * buckets as f64).collect();
        let over: Vec<f64> = share.iter().map(|s| (s - 1.0).max(0.0)).collect();
        let all: f64 = over.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let exact: Vec<f64> = over.iter().map(|o| o / all * spare).collect();
        #[expect(clippy::cast_sign_loss, reason = "shares are not below zero")]
        let mut counts: Vec<usize> = exact.iter().map(|e| 1 + e.floor() as usize).collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()).then(a.cmp(&b)));
        let given: usize = counts.iter().sum();
        for i in order.into_iter().cycle().take(buckets.saturating_sub(given)) {
            counts[i] += 1;
        }
        // By turns, so that neighbouring buckets differ.
        let mut table = Vec::with_capacity(buckets);
        while table.len() < buckets {
            for (i, left) in counts.iter_mut().enumerate().filter(|(_, left)| **left > 0) {
                *left -= 1;
                table.push(i as u16);
            }
        }
        Self { members, buckets: table }
    }

    /// A table of this many buckets, shared evenly by turns.
    pub(crate) fn resilient(members: Vec<u32>, buckets: usize) -> Self {
        if members.len() < 2 {
            return Self::even(members);
        }
        let table = (0..buckets.max(members.len())).map(|b| (b % members.len()) as u16).collect();
        Self { members, buckets: table }
    }

    /// The rest of a resilient group after a failure: buckets of members that remain keep them, the others are given to
    /// all members in turn.
    pub(crate) fn mended(&self, members: Vec<u32>) -> Self {
        if members.len() < 2 || self.buckets.is_empty() {
            return Self::even(members);
        }
        let mut turn = 0;
        let table = self.buckets.iter().map(|&old| {
            let stays = members.binary_search(&self.members[usize::from(old)]).ok();
            let new = stays.unwrap_or_else(|| {
                turn += 1;
                (turn - 1) % members.len()
            });
            new as u16
        });
        Self { buckets: table.collect(), members }
    }

    /// The channels, in rising order.
    #[inline]
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// Number of buckets that a hash chooses among.
    pub fn buckets(&self) -> usize {
        self.buckets.len().max(self.members.len())
    }

    /// The share of all hashes that a member gets, by its place.
    pub fn share(&self, member: usize) -> f64 {
        if self.buckets.is_empty() {
            return 1.0 / self.members.len() as f64;
        }
        let own = self.buckets.iter().filter(|&&b| usize::from(b) == member).count();
        own as f64 / self.buckets.len() as f64
    }

    /// The channel that a hash picks, if there is any.
    #[inline]
    pub fn pick(&self, hash: u32) -> Option<u32> {
        match (self.members.len(), self.buckets.len()) {
            (0, _) => None,
            (1, _) => self.members.first().copied(),
            (n, 0) => Some(self.members[hash as usize % n]),
            (_, n) => Some(self.members[usize::from(self.buckets[hash as usize % n])]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(group: &Group) -> Vec<usize> {
        let of = |m: u16| group.buckets.iter().filter(|b| **b == m).count();
        (0..group.members.len() as u16).map(of).collect()
    }

    #[test]
    fn weights_are_shares_of_buckets() {
        let group = Group::weighted(vec![4, 5, 9], &[1.0, 2.0, 1.0], 64);
        assert_eq!(counts(&group), [16, 32, 16]);
        assert!((group.share(1) - 0.5).abs() < 1e-12);
        // However little it can carry, a member has a bucket.
        assert_eq!(counts(&Group::weighted(vec![1, 2], &[1e-9, 1.0], 8)), [1, 7]);
    }

    /// Of 64 buckets of 4 members a failed one's 16 are given away, and no other changes.
    #[test]
    fn resilient_buckets_stay() {
        let before = Group::resilient(vec![10, 11, 12, 13], 64);
        let after = before.mended(vec![10, 11, 13]);
        let moved = (0..64).filter(|&h| before.pick(h) != after.pick(h)).count();
        assert_eq!((moved, counts(&after)), (16, vec![22, 21, 21]));
        // Without buckets most flows move.
        let (before, after) = (Group::even(vec![10, 11, 12, 13]), Group::even(vec![10, 11, 13]));
        let moved = (0..1200).filter(|&h| before.pick(h) != after.pick(h)).count();
        assert!(moved > 800, "{moved}");
    }
}
