//! Distances between switches, and the ports that lead nearer.

use rayon::prelude::*;

use crate::{Net, Peer};

/// Distances between all switches, and minimal ports.
#[derive(Clone, Debug)]
pub struct Distances {
    switches: usize,
    words: usize,
    /// `far[from * switches + to]`: entries that neighbouring switches look up are adjacent, and stay in the cache while these
    /// are simulated.
    far: Vec<u8>,
    /// Ports that lead nearer: `words` words for each `[from * switches + to]`.
    nearer: Vec<u64>,
    /// The port that leads nearer, if there is only one and its number is small: this serves most lookups, in an eighth of
    /// the memory.
    only: Vec<u8>,
    diameter: u8,
}

/// Several ports lead nearer, or none, or one with a large number.
const NOT_ONE: u8 = u8::MAX;

impl Distances {
    /// By the number of channels.
    pub fn new(net: &Net) -> Self {
        Self::weighted(net, |_| 1)
    }

    /// Shortest paths by the sum of port weights, each 1 or more. On a dragonfly a channel between groups weighs more than any
    /// path within one, so that shortest paths have one of them.
    ///
    /// Complexity: O(switches ports weight) time, O(switches^2) memory. Where no path leads, the distance is 255.
    pub fn weighted(net: &Net, weight: impl Fn(u32) -> u8 + Sync) -> Self {
        let (n, words) = (net.switch_count(), net.words());
        let cables = cables(net, &weight);
        let (mut far, mut costs) = (vec![u8::MAX; n * n], vec![u16::MAX; n * n]);
        let rows = far.par_chunks_mut(n).zip(costs.par_chunks_mut(n)).enumerate();
        rows.map_init(Vec::new, |rings, (s, (far, cost))| search(s, &cables, rings, far, cost))
            .collect::<()>();
        let mut nearer = vec![0u64; n * n * words];
        let mut only = vec![NOT_ONE; n * n];
        let rows = nearer.par_chunks_mut(n * words).zip(only.par_chunks_mut(n)).enumerate();
        rows.for_each(|(s, (nearer, only))| {
            let row = |s: usize| &costs[s * n..(s + 1) * n];
            for c in &cables[s] {
                let behind = row(c.to as usize);
                let sets = nearer[c.local as usize / 64..].iter_mut().step_by(words);
                for ((set, &all), &behind) in sets.zip(row(s)).zip(behind) {
                    let is_near = all != u16::MAX && behind.saturating_add(c.out.into()) == all;
                    *set |= u64::from(is_near) << (c.local % 64);
                }
            }
            for (only, set) in only.iter_mut().zip(nearer.chunks(words)) {
                *only = only_one(set);
            }
        });
        let diameter = far.par_iter().copied().filter(|f| *f != u8::MAX).max().unwrap_or(0);
        Self { switches: n, words, far, nearer, only, diameter }
    }

    #[inline]
    fn at(&self, from: u32, to: u32) -> usize {
        from as usize * self.switches + to as usize
    }

    /// Channels of a shortest path from one switch to another.
    #[inline]
    pub fn hops(&self, from: u32, to: u32) -> u8 {
        self.far[self.at(from, to)]
    }

    /// Whether a port leads nearer. A path whose ports all do is a shortest one.
    #[inline]
    pub(super) fn leads_nearer(&self, from: u32, to: u32, local: u32) -> bool {
        // The larger table is not read where the smaller one says it.
        match self.only[self.at(from, to)] {
            NOT_ONE => self.nearer(from, to)[local as usize / 64] >> (local % 64) & 1 == 1,
            only => u32::from(only) == local,
        }
    }

    /// The most of that.
    pub fn diameter(&self) -> u8 {
        self.diameter
    }

    /// Ports of a switch that lead nearer to another, as a set.
    #[inline]
    pub fn nearer(&self, from: u32, to: u32) -> &[u64] {
        let at = self.at(from, to) * self.words;
        &self.nearer[at..at + self.words]
    }

    /// The first of them.
    pub(crate) fn first(&self, from: u32, to: u32) -> u32 {
        nth(self.nearer(from, to), 0)
    }

    /// One of them, each with the same probability.
    #[inline]
    pub(crate) fn any(&self, from: u32, to: u32, random: &mut crate::Random) -> u32 {
        let only = self.only[self.at(from, to)];
        if only != NOT_ONE {
            return u32::from(only);
        }
        let set = self.nearer(from, to);
        drawn(set, count(set), random)
    }

    /// The better of two of them.
    #[inline]
    pub(crate) fn emptier(&self, here: &mut super::SwitchView<'_>, to: u32) -> u32 {
        let only = self.only[self.at(here.switch, to)];
        if only != NOT_ONE {
            return u32::from(only);
        }
        let set = self.nearer(here.switch, to);
        let count = count(set);
        let [a, b] = [(); 2].map(|()| drawn(set, count, here.random));
        if here.pressing(b) < here.pressing(a) { b } else { a }
    }
}

/// A cable to another switch: its port and its weight.
#[derive(Clone, Copy)]
struct Cable {
    to: u32,
    local: u32,
    out: u8,
}

/// By switch, its cables to others.
fn cables(net: &Net, weight: &impl Fn(u32) -> u8) -> Vec<Vec<Cable>> {
    let of_port = |p: u32| {
        let Peer::Port(back) = net.port(p).peer() else { return None };
        let (to, local) = (net.port(back).switch, net.port(p).local);
        Some(Cable { to, local, out: weight(p) })
    };
    let of = |s: u32| (net.base(s)..net.base(s + 1)).filter_map(of_port).collect();
    (0..net.switch_count() as u32).map(of).collect()
}

/// The weights of the lightest paths from a switch to all others, and their numbers of channels. `rings` is scratch memory:
/// switches by weight, those of equal weight adjacent.
fn search(
    from: usize,
    cables: &[Vec<Cable>],
    rings: &mut Vec<Vec<u32>>,
    far: &mut [u8],
    cost: &mut [u16],
) {
    (cost[from], far[from]) = (0, 0);
    rings.iter_mut().for_each(Vec::clear);
    rings.resize_with(rings.len().max(1), Vec::new);
    rings[0].push(from as u32);
    let mut ring = 0;
    while ring < rings.len() {
        let mut i = 0;
        while let Some(&s) = rings[ring].get(i) {
            i += 1;
            if usize::from(cost[s as usize]) != ring {
                continue;
            }
            for c in &cables[s as usize] {
                let (t, new) = (c.to as usize, ring + usize::from(c.out));
                if new < cost[t].into() {
                    cost[t] = new as u16;
                    far[t] = far[s as usize] + 1;
                    if rings.len() <= new {
                        rings.resize_with(new + 1, Vec::new);
                    }
                    rings[new].push(c.to);
                }
            }
        }
        ring += 1;
    }
}

/// The number of a set that is the only one.
fn only_one(set: &[u64]) -> u8 {
    let mut words = set.iter().enumerate().filter(|(_, w)| **w != 0);
    match (words.next(), words.next()) {
        (Some((i, w)), None) if w.is_power_of_two() => {
            u8::try_from(i as u32 * 64 + w.trailing_zeros()).unwrap_or(NOT_ONE)
        }
        _ => NOT_ONE,
    }
}

/// How many numbers are in a set.
#[inline]
fn count(set: &[u64]) -> u32 {
    set.iter().map(|w| w.count_ones()).sum()
}

/// One of the numbers of a set that has `count`, each with the same probability.
#[inline]
fn drawn(set: &[u64], count: u32, random: &mut crate::Random) -> u32 {
    nth(set, if count > 1 { random.below(count) } else { 0 })
}

/// The number of a set that this many are before.
#[inline]
fn nth(set: &[u64], mut skip: u32) -> u32 {
    for (i, &word) in set.iter().enumerate() {
        let count = word.count_ones();
        if skip < count {
            return i as u32 * 64 + nth_bit(word, skip);
        }
        skip -= count;
    }
    unreachable!("there is a way from every switch to every other")
}

/// The bit of a word that this many are before, fewer than it has: drawn numbers make a loop over bits unpredictable, so that there
/// is none (Vigna, "Broadword Implementation of Rank/Select Queries", WEA 2008, section 3).
#[inline]
fn nth_bit(word: u64, skip: u32) -> u32 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    // By byte, the bits up to its end.
    let pairs = word - ((word >> 1) & (u64::MAX / 3));
    let fours = (pairs & (u64::MAX / 5)) + ((pairs >> 2) & (u64::MAX / 5));
    let sums = ((fours + (fours >> 4)) & (ONES * 15)).wrapping_mul(ONES);
    // The high bit of each byte that ends before the bit; no sum is above 64.
    let before = ((u64::from(skip) * ONES) | HIGH) - sums;
    let place = (before & HIGH).count_ones() * 8;
    let rest = skip - ((sums << 8) >> place & 0xff) as u32;
    place + u32::from(BITS[(word >> place & 0xff) as usize][rest as usize])
}

/// By byte and number, its bit of this number.
const BITS: [[u8; 8]; 256] = {
    let mut bits = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut number) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                bits[byte][number] = bit;
                number += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    bits
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_found_by_number() {
        let mut random = crate::Random::new(7, 0);
        let drawn = (0..2000).map(|_| {
            let half = |random: &mut crate::Random| u64::from(random.below(u32::MAX));
            half(&mut random) << 32 | half(&mut random)
        });
        for word in drawn.chain((0..64).map(|i| 1 << i)).chain([u64::MAX, 1 << 63 | 1]) {
            let (mut left, mut skip) = (word, 0);
            while left != 0 {
                assert_eq!(nth_bit(word, skip), left.trailing_zeros(), "bit {skip} of {word:x}");
                left &= left - 1;
                skip += 1;
            }
        }
    }
}
