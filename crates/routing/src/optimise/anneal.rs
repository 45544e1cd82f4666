//! Changing an assignment entry by entry.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::estimate::{LogCdf, MOST, log_cdf, mean_share};
use super::tower::{Assignment, Tower};

/// Temperatures at the beginning and the end, in units of the estimate.
const HOT: f64 = 2e-3;
const COLD: f64 = 2e-6;
/// Cost of each excess flow in the bound of a channel.
const PENALTY: f64 = 4e-3;

/// A channel of the subtree that stands for all, in one array: up channels of leaves, down channels to
/// leaves, up and down channels of the second level.
#[derive(Clone, Copy)]
struct Channel {
    log: LogCdf,
    bound: u32,
}

/// An assignment and all that is counted of it.
pub(super) struct Search<'a> {
    tower: &'a Tower,
    of: Assignment,
    /// Places in each class; of each leaf: `in_leaf[leaf * classes + class]`.
    size: Vec<u32>,
    in_leaf: Vec<u32>,
    /// Destinations that a class reaches over a port: `[port * classes + class]`.
    row_low: Vec<u32>,
    row_high: Vec<u32>,
    /// Sources that reach a destination over a port: `[port * places + destination]`.
    col_low: Vec<u32>,
    col_high: Vec<u32>,
    channels: Vec<Channel>,
    total: LogCdf,
    /// The bound that channels should keep, and how much they exceed it.
    limit: u32,
    excess: u64,
}

impl<'a> Search<'a> {
    pub(super) fn new(tower: &'a Tower, of: Assignment) -> Self {
        let (classes, places, leaves) = (of.classes, tower.places, tower.leaves());
        let mut search = Self {
            size: vec![0; classes],
            in_leaf: vec![0; leaves * classes],
            row_low: vec![0; tower.up as usize * classes],
            row_high: vec![0; tower.highs() * classes],
            col_low: vec![0; tower.up as usize * places],
            col_high: vec![0; tower.highs() * places],
            channels: Vec::new(),
            total: [0.0; MOST + 1],
            limit: u32::MAX,
            excess: 0,
            tower,
            of,
        };
        for (u, &class) in search.of.class.iter().enumerate() {
            search.size[class as usize] += 1;
            search.in_leaf[u / tower.leaf * classes + class as usize] += 1;
        }
        for class in 0..classes {
            for v in 0..places {
                search.count(class, v, search.of.slots[class * places + v], true);
            }
        }
        search.recount();
        search
    }

    pub(super) fn classes(&self) -> usize {
        self.of.classes
    }

    pub(super) fn assignment(&self) -> &Assignment {
        &self.of
    }

    pub(super) fn into_assignment(self) -> Assignment {
        self.of
    }

    /// The estimate of the average bisection bandwidth.
    pub(super) fn estimate(&self) -> f64 {
        mean_share(&self.total)
    }

    /// No permutation puts more flows on a channel.
    pub(super) fn bound(&self) -> u32 {
        self.channels.iter().map(|c| c.bound).max().unwrap_or(0)
    }

    /// Everything that follows from the counts.
    fn recount(&mut self) {
        let count = 2 * (self.tower.leaves() * self.tower.up as usize + self.tower.highs());
        self.channels = (0..count).map(|c| self.channel(c)).collect();
        self.total = [0.0; MOST + 1];
        for c in 0..count {
            self.add(c, 1.0);
        }
        self.set_limit(self.limit);
    }

    fn set_limit(&mut self, limit: u32) {
        self.limit = limit;
        self.excess = self.channels.iter().map(|c| self.over(c)).sum();
    }

    fn over(&self, channel: &Channel) -> u64 {
        u64::from(channel.bound.saturating_sub(self.limit))
    }

    fn add(&mut self, c: usize, sign: f64) {
        let times = sign * self.tower.subtrees as f64;
        for (sum, log) in self.total.iter_mut().zip(&self.channels[c].log) {
            *sum += times * log;
        }
    }

    /// Adds an up path if `is_in`, otherwise removes it.
    fn count(&mut self, class: usize, v: usize, slot: u32, is_in: bool) {
        let (classes, places, size) = (self.of.classes, self.tower.places, self.size[class]);
        let change = |place: &mut u32, by: u32| if is_in { *place += by } else { *place -= by };
        let low = (slot % self.tower.up) as usize;
        change(&mut self.row_low[low * classes + class], 1);
        change(&mut self.col_low[low * places + v], size);
        if self.tower.three {
            let high = self.tower.high(slot);
            change(&mut self.row_high[high * classes + class], 1);
            change(&mut self.col_high[high * places + v], size);
        }
    }

    /// The load and the bound of a channel.
    fn channel(&self, c: usize) -> Channel {
        let Tower { leaf, places, subtrees, up, .. } = *self.tower;
        let (classes, up) = (self.of.classes, up as usize);
        let lows = self.tower.leaves() * up;
        let terminals = (places * subtrees) as f64;
        let (low, down, at, port) = if c < 2 * lows {
            (true, c >= lows, c % lows / up, c % lows % up)
        } else {
            let c = c - 2 * lows;
            (false, c >= self.tower.highs(), 0, c % self.tower.highs())
        };
        let outside = terminals - if low { leaf } else { places } as f64;
        // In a bisection every other terminal sends, to any other.
        let factor = 0.5 * outside / (terminals - 1.0) / places as f64;
        let (row, col) =
            if low { (&self.row_low, &self.col_low) } else { (&self.row_high, &self.col_high) };
        let row = &row[port * classes..(port + 1) * classes];
        let col = &col[port * places..(port + 1) * places];
        let here = if low { &self.in_leaf[at * classes..(at + 1) * classes] } else { &self.size };
        let within = if low { at * leaf..(at + 1) * leaf } else { 0..places };
        // Sources and destinations of the subtree's own side, and of all others.
        let own_sources: u32 = row.iter().zip(here).filter(|(r, _)| **r > 0).map(|(_, n)| n).sum();
        let own_dests = col[within.clone()].iter().filter(|&&n| n > 0).count() as u32;
        let others = (subtrees - usize::from(!low)) as u32;
        // No terminal sends or receives twice: a load is a sum over sources as well as over
        // destinations, and spreads less over the fewer. (On leaves those on the other side are never
        // fewer by much.)
        let one_pair = 0.5 / (terminals - 1.0);
        if down {
            let sources: u32 =
                row.iter().zip(&self.size).filter(|(r, _)| **r > 0).map(|(_, n)| n).sum();
            let log = if !low && sources * others < own_dests {
                let sources = row.iter().zip(&self.size);
                log_cdf(sources.map(|(&r, &n)| (n * others, one_pair * f64::from(r))))
            } else {
                log_cdf(col[within].iter().map(|&n| (1, factor * f64::from(n))))
            };
            Channel { log, bound: own_dests.min(sources * others) }
        } else {
            let dests = col.iter().filter(|&&n| n > 0).count() as u32;
            let log = if !low && dests * others < own_sources {
                log_cdf(col.iter().map(|&n| (others, one_pair * f64::from(n))))
            } else {
                log_cdf(here.iter().zip(row).map(|(&n, &r)| (n, factor * f64::from(r))))
            };
            Channel { log, bound: own_sources.min(dests * others) }
        }
    }

    /// Changes an entry of the assignment.
    fn set(&mut self, class: usize, v: usize, slot: u32) {
        let place = class * self.tower.places + v;
        let old = std::mem::replace(&mut self.of.slots[place], slot);
        if old == slot {
            return;
        }
        self.count(class, v, old, false);
        self.count(class, v, slot, true);
        let (up, leaves, highs) = (self.tower.up, self.tower.leaves(), self.tower.highs());
        let lows = leaves * up as usize;
        for slot in [old, slot] {
            let low = (slot % up) as usize;
            if old % up != self.of.slots[place] % up {
                for leaf in 0..leaves {
                    if self.in_leaf[leaf * self.of.classes + class] > 0 {
                        self.renew(leaf * up as usize + low);
                    }
                }
                self.renew(lows + v / self.tower.leaf * up as usize + low);
            }
            if highs > 0 {
                let high = self.tower.high(slot);
                self.renew(2 * lows + high);
                self.renew(2 * lows + highs + high);
            }
        }
    }

    fn renew(&mut self, c: usize) {
        self.add(c, -1.0);
        self.excess -= self.over(&self.channels[c]);
        self.channels[c] = self.channel(c);
        self.excess += self.over(&self.channels[c]);
        self.add(c, 1.0);
    }

    fn worth(&self) -> f64 {
        self.estimate() - PENALTY * self.excess as f64
    }

    /// Simulated annealing (Kirkpatrick, Gelatt, Vecchi, 1983): entries get other up paths, or two of a row
    /// or a column are swapped; a change for the worse is accepted with falling probability.
    pub(super) fn anneal(&mut self, limit: u32, steps: u32, seed: u64) {
        self.set_limit(limit);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut below = |n: usize| (((random.next_u64() >> 32) * n as u64) >> 32) as usize;
        let (places, classes) = (self.tower.places, self.of.classes);
        let slots = self.tower.slots() as usize;
        let mut worth = self.worth();
        for step in 0..steps {
            let heat = HOT * (COLD / HOT).powf(f64::from(step) / f64::from(steps));
            let (i, v) = (below(classes), below(places));
            let (j, w) = match below(3) {
                0 => (i, v),
                1 => (i, below(places)),
                _ => (below(classes), v),
            };
            let (a, b) = (self.of.slots[i * places + v], self.of.slots[j * places + w]);
            if (i, v) == (j, w) {
                self.set(i, v, below(slots) as u32);
            } else if a == b {
                continue;
            } else {
                self.set(i, v, b);
                self.set(j, w, a);
            }
            let now = self.worth();
            // A number between 0 and 1, 32 bits fine.
            let chance = below(1 << 32) as f64 / (1u64 << 32) as f64;
            if now >= worth || chance < ((now - worth) / heat).exp() {
                worth = now;
            } else {
                self.set(i, v, a);
                self.set(j, w, b);
            }
        }
        // Sums of many small changes have rounding errors, bounds of channels not looked at are old.
        self.recount();
    }
}
