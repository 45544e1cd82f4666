//! Places in a lattice for the switches that are left over.

use std::collections::{BTreeMap, BTreeSet};

use super::net::Net;
use super::torus::NOWHERE;

/// The size of a lattice.
pub(super) struct Room<'a> {
    pub(super) size: &'a [i32],
    /// Which dimensions are rings.
    pub(super) ring: &'a [Option<i32>],
}

impl Room<'_> {
    /// Places what no step of certain direction leads to: where most of its placed neighbours are next to
    /// it, and fewest others. Those with the fewest choices first; a tie is decided by order.
    pub(super) fn fill(&self, net: &Net<'_>, at: &mut [i32]) -> Result<(), String> {
        let k = self.size.len();
        let mut lost: Vec<u32> =
            (0..net.len() as u32).filter(|&s| at[s as usize * k] == NOWHERE).collect();
        if lost.len() * 3 > net.len() {
            return Err(format!("{} switches are in no cycle of four", lost.len()));
        }
        let mut taken: BTreeSet<Vec<i32>> =
            at.chunks(k).filter(|x| x[0] != NOWHERE).map(<[i32]>::to_vec).collect();
        while !lost.is_empty() {
            let best = (0..lost.len())
                .map(|i| (i, self.choices(net, lost[i], at, &taken)))
                .filter(|(_, free)| !free.is_empty())
                .min_by_key(|(i, free)| (free.len(), *i));
            let Some((i, mut free)) = best else {
                return Err(format!("{} switches have no place in the lattice", lost.len()));
            };
            let place = free.swap_remove(0);
            let s = lost.remove(i) as usize;
            at[s * k..(s + 1) * k].copy_from_slice(&place);
            taken.insert(place);
        }
        Ok(())
    }

    /// The positions next to one.
    fn beside(&self, position: &[i32]) -> Vec<Vec<i32>> {
        let mut all = Vec::new();
        for (d, (&size, ring)) in self.size.iter().zip(self.ring).enumerate() {
            for step in [1, -1] {
                let mut x = position[d] + step;
                if ring.is_some() {
                    x = x.rem_euclid(size);
                }
                if (0..size).contains(&x) {
                    let mut place = position.to_vec();
                    place[d] = x;
                    all.push(place);
                }
            }
        }
        all
    }

    /// The free positions next to most of a switch's neighbours, those next to fewest others first.
    fn choices(
        &self,
        net: &Net<'_>,
        s: u32,
        at: &[i32],
        taken: &BTreeSet<Vec<i32>>,
    ) -> Vec<Vec<i32>> {
        let k = self.size.len();
        let mut votes: BTreeMap<Vec<i32>, usize> = BTreeMap::new();
        let positions = net.neighbours(s).iter().map(|&v| &at[v as usize * k..][..k]);
        for from in positions.filter(|from| from[0] != NOWHERE) {
            for place in self.beside(from) {
                if !taken.contains(&place) {
                    *votes.entry(place).or_default() += 1;
                }
            }
        }
        let most = votes.values().copied().max().unwrap_or(0);
        let others = |place: &[i32]| {
            self.beside(place).iter().filter(|&beside| taken.contains(beside)).count()
        };
        let mut best: Vec<_> = votes.into_iter().filter(|v| v.1 == most).map(|v| v.0).collect();
        best.sort_by_key(|place| others(place));
        best
    }
}
