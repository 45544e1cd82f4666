//! A small fabric, tables on it, code that repairs and eases them, and a judge of transitions.

use std::collections::BTreeSet;

use darkfiber_operate::{Digest, Rung};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

/// Switches; each is a destination, too.
pub(crate) const SWITCHES: usize = 6;
/// Cables: a ring, three chords, and one that is doubled.
pub(crate) const CABLES: [(usize, usize); 10] =
    [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3), (1, 4), (2, 5), (0, 1)];

/// A number below `n`.
pub(crate) fn below(random: &mut Xoshiro256PlusPlus, n: usize) -> usize {
    (random.next_u64() % n as u64) as usize
}

/// Working cables and switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Net {
    pub(crate) cables: u16,
    pub(crate) switches: u8,
}

impl Net {
    pub(crate) const WHOLE: Self =
        Self { cables: (1 << CABLES.len()) - 1, switches: (1 << SWITCHES) - 1 };

    pub(crate) fn digest(self) -> Digest {
        Digest(0xfab_0000_0000 | u64::from(self.cables) << 8 | u64::from(self.switches))
    }

    fn lives(self, switch: usize) -> bool {
        self.switches >> switch & 1 == 1
    }

    fn works(self, cable: usize) -> bool {
        let (a, b) = CABLES[cable];
        self.cables >> cable & 1 == 1 && self.lives(a) && self.lives(b)
    }

    /// The cables of a switch that work, and where they lead.
    fn around(self, switch: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..CABLES.len()).filter(move |&c| self.works(c)).filter_map(move |c| {
            let (a, b) = CABLES[c];
            if a == switch {
                Some((c, b))
            } else if b == switch {
                Some((c, a))
            } else {
                None
            }
        })
    }

    /// Distances from a switch; `None` where there is no path.
    fn levels(self, root: usize) -> [Option<usize>; SWITCHES] {
        let mut level = [None; SWITCHES];
        if !self.lives(root) {
            return level;
        }
        level[root] = Some(0);
        let mut open = std::collections::VecDeque::from([root]);
        while let Some(s) = open.pop_front() {
            for (_, t) in self.around(s) {
                if level[t].is_none() {
                    level[t] = level[s].map(|l| l + 1);
                    open.push_back(t);
                }
            }
        }
        level
    }
}

/// By destination and switch the cable that packets leave by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tables(pub(crate) [[Option<u8>; SWITCHES]; SWITCHES]);

impl Tables {
    pub(crate) fn digest(&self) -> Digest {
        let mut value = 0xcbf2_9ce4_8422_2325_u64;
        for port in self.0.iter().flatten() {
            let byte = port.map_or(0, |p| u64::from(p) + 1);
            value = (value ^ byte).wrapping_mul(0x0100_0000_01b3);
        }
        Digest(value)
    }

    /// Entries in which they differ, by (destination, switch).
    pub(crate) fn differ(&self, other: &Self) -> Vec<(usize, usize)> {
        let all = (0..SWITCHES).flat_map(|d| (0..SWITCHES).map(move |s| (d, s)));
        all.filter(|&(d, s)| self.0[d][s] != other.0[d][s]).collect()
    }

    /// Clears entries that lead over cables which are not there.
    pub(crate) fn clear_unconnected(&mut self, net: Net) {
        for (s, entry) in self.0.iter_mut().flat_map(|row| row.iter_mut().enumerate()) {
            entry.take_if(|&mut port| next(net, s, Some(port)).is_none());
        }
    }

    fn has_unconnected(&self, net: Net) -> bool {
        let mut all = self.0.iter().flat_map(|row| row.iter().enumerate());
        all.any(|(s, &port)| port.is_some() && next(net, s, port).is_none())
    }

    /// Up*/Down* tables from a root; `salt` breaks ties.
    pub(crate) fn up_down(net: Net, root: usize, salt: u64) -> Self {
        let mut tables = Self::default();
        let mut order = [(usize::MAX, usize::MAX); SWITCHES];
        // Every component of a fabric has a separate root.
        for first in std::iter::once(root).chain(0..SWITCHES) {
            if order[first].0 != usize::MAX {
                continue;
            }
            for (s, level) in net.levels(first).into_iter().enumerate() {
                if let Some(level) = level {
                    order[s] = (level, s);
                }
            }
        }
        let turn = |d: usize, s: usize, c: usize| {
            (salt ^ (d * 37 + s * 11 + c * 7) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
        };
        for d in (0..SWITCHES).filter(|&d| net.lives(d)) {
            // Down paths first, then those that go up to one.
            let mut distance = [usize::MAX; SWITCHES];
            distance[d] = 0;
            let by_rising = {
                let mut all: Vec<usize> = (0..SWITCHES).collect();
                all.sort_by_key(|&s| std::cmp::Reverse(order[s]));
                all
            };
            let mut down = [false; SWITCHES];
            down[d] = true;
            for &s in &by_rising {
                let best = net
                    .around(s)
                    .filter(|&(_, t)| order[t] > order[s] && down[t])
                    .min_by_key(|&(c, t)| (distance[t], turn(d, s, c)));
                if let (Some((c, t)), false) = (best, s == d) {
                    (down[s], distance[s], tables.0[d][s]) = (true, distance[t] + 1, Some(c as u8));
                }
            }
            for &s in by_rising.iter().rev().filter(|&&s| !down[s]) {
                let best = net
                    .around(s)
                    .filter(|&(_, t)| order[t] < order[s] && distance[t] != usize::MAX)
                    .min_by_key(|&(c, t)| (distance[t], turn(d, s, c)));
                if let Some((c, t)) = best {
                    (distance[s], tables.0[d][s]) = (distance[t] + 1, Some(c as u8));
                }
            }
        }
        tables
    }
}

/// The switch and port at which a packet that leaves a switch by a cable arrives; none if the cable is dead.
fn next(net: Net, switch: usize, port: Option<u8>) -> Option<(usize, usize)> {
    let cable = usize::from(port?);
    let (a, b) = CABLES[cable];
    // Both directions of a cable are channels.
    let hop = if a == switch {
        (2 * cable, b)
    } else if b == switch {
        (2 * cable + 1, a)
    } else {
        return None;
    };
    net.works(cable).then_some(hop)
}

/// Whether packets that meet any mix of these tables loop or can deadlock.
pub(crate) fn mix_is_unsafe(net: Net, all: &[&Tables]) -> bool {
    let mut waits = [0u32; 2 * CABLES.len()];
    for d in 0..SWITCHES {
        let mut follows = [0u32; SWITCHES];
        for s in (0..SWITCHES).filter(|&s| s != d && net.lives(s)) {
            for t in all {
                let Some((channel, to)) = next(net, s, t.0[d][s]) else { continue };
                follows[s] |= 1 << to;
                for u in all.iter().filter(|_| to != d) {
                    if let Some((onward, _)) = next(net, to, u.0[d][to]) {
                        waits[channel] |= 1 << onward;
                    }
                }
            }
        }
        if has_circle(&follows) {
            return true;
        }
    }
    has_circle(&waits)
}

/// Whether a graph of at most 32 vertices, as masks of successors, has a circle.
fn has_circle(next: &[u32]) -> bool {
    let mut left: u32 = (0..next.len()).fold(0, |m, v| m | 1 << v);
    loop {
        let ends = (0..next.len())
            .filter(|&v| left >> v & 1 == 1 && next[v] & left == 0)
            .fold(0u32, |m, v| m | 1 << v);
        if ends == 0 {
            return left != 0;
        }
        left &= !ends;
    }
}

/// Pairs of switches with a path between them that the tables do not bring together.
pub(crate) fn lost(net: Net, tables: &Tables) -> BTreeSet<(usize, usize)> {
    let mut lost = BTreeSet::new();
    for d in (0..SWITCHES).filter(|&d| net.lives(d)) {
        let near = net.levels(d);
        for s in (0..SWITCHES).filter(|&s| near[s].is_some()) {
            let mut at = s;
            for _ in 0..=SWITCHES {
                match next(net, at, tables.0[d][at]) {
                    Some((_, to)) if at != d => at = to,
                    _ => break,
                }
            }
            if at != d {
                lost.insert((s, d));
            }
        }
    }
    lost
}

/// Whether switches may be written one after the other, in one of a few orders.
fn in_order(net: Net, from: &Tables, to: &Tables) -> bool {
    (0..SWITCHES).any(|first| {
        let mut now = from.clone();
        (0..SWITCHES).map(|n| (first + n) % SWITCHES).all(|s| {
            let old = now.clone();
            for d in 0..SWITCHES {
                now.0[d][s] = to.0[d][s];
            }
            !mix_is_unsafe(net, &[&old, &now])
        })
    })
}

/// The proof about tables in stages after those in place: the level of the ladder, and why not a better one.
pub(crate) fn judge(net: Net, from: &Tables, stages: &[&Tables]) -> (Rung, String) {
    let Some(last) = stages.last() else { return (Rung::Refuse, "no tables".to_owned()) };
    // Whoever puts stages in place may die between two of them: no pair is lost that a fault has not cut, or else only pairs to
    // whom others are lost already.
    let cut = lost(net, from);
    let is_cut = |&(_, d): &(usize, usize)| cut.iter().any(|&(_, other)| other == d);
    let clears = matches!(stages, [first, _] if !lost(net, first).is_subset(&cut));
    let (_, between) = stages.split_last().unwrap_or((last, &[]));
    let may_lose = |t: &Tables| {
        if clears { lost(net, t).iter().all(is_cut) } else { lost(net, t).is_subset(&cut) }
    };
    // Cables may come back while nobody watches: no entry waits for one.
    if stages.iter().any(|t| mix_is_unsafe(net, &[t]) || t.has_unconnected(net))
        || !lost(net, last).is_empty()
        || !between.iter().all(|t| may_lose(t))
    {
        return (Rung::Refuse, "O1 fails".to_owned());
    }
    if from == *last {
        return (Rung::NothingChanges, String::new());
    }
    let mut before = from;
    // An order of switches may be safe where a sweep, which has none, is not.
    if let ([only], true) = (stages, mix_is_unsafe(net, &[from, stages[0]])) {
        let is_safe = in_order(net, from, only);
        return (if is_safe { Rung::Stages } else { Rung::Refuse }, "O4 fails".to_owned());
    }
    for stage in stages {
        if mix_is_unsafe(net, &[before, stage]) {
            return (Rung::Refuse, "O4 fails".to_owned());
        }
        before = stage;
    }
    let rung = match stages.len() {
        1 => Rung::AnyOrder,
        _ if clears => Rung::DropDrain,
        _ => Rung::Stages,
    };
    (rung, String::new())
}

#[test]
fn the_models_engine_is_sound_and_its_judge_is_not_blind() {
    use rand_xoshiro::rand_core::SeedableRng;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut refused, mut ordered, mut any) = (0, 0, 0);
    for _ in 0..300 {
        let cables = Net::WHOLE.cables & !(1 << below(&mut random, CABLES.len()));
        let switches = Net::WHOLE.switches & !(1 << below(&mut random, 3 * SWITCHES).min(7));
        let net = Net { cables, switches };
        let roots = [below(&mut random, SWITCHES), below(&mut random, SWITCHES)];
        let [a, b] = roots.map(|root| Tables::up_down(net, root, random.next_u64()));
        for t in [&a, &b] {
            assert!(lost(net, t).is_empty(), "{net:?}");
            assert!(!mix_is_unsafe(net, &[t]), "{net:?}");
        }
        match judge(net, &a, &[&b]).0 {
            Rung::Refuse => refused += 1,
            // Transitions that no sweep may do, and some order of switches could.
            Rung::Stages => ordered += 1,
            _ => any += 1,
        }
        // A pair less is seen.
        let mut torn = b.clone();
        let (d, s) = (below(&mut random, SWITCHES), below(&mut random, SWITCHES));
        if torn.0[d][s].take().is_some() {
            assert_eq!(judge(net, &a, &[&torn]).0, Rung::Refuse);
        }
    }
    assert!(
        refused > 2 && ordered > 20 && any > 20,
        "{refused} refused, {ordered} in an order, {any} proved"
    );
}
