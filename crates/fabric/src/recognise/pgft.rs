//! Labels of a parallel-port generalized fat-tree, from its connected components.
//!
//! A path along cables changes the digit `x_(l+1)` where it passes between levels `l` and `l + 1`, and no other (see
//! [`Pgft`]). So without the levels above `k` the digits above `x_k` stay as they are: each remaining component
//! consists of the switches that agree in `x_(k+1)..x_h`. Without the levels below `k` it consists of those that
//! agree in `x_1..x_k`. Both nest, and a digit is the number of a piece within the piece around it. Lost cables do
//! not join pieces, and seldom split them.

use std::collections::BTreeMap;

use crate::{Pgft, TerminalId};

use super::fit::Fit;
use super::net::{Net, typical};

/// Most levels; far beyond any real tree.
const MAX_HEIGHT: usize = 15;

/// Labels the switches, whose levels are known, and compares with the ideal tree.
///
/// # Errors
/// Why the tree is not a PGFT.
pub(super) fn label(net: &Net<'_>, level: &[u8]) -> Result<(Pgft, Fit), String> {
    by_pieces(net, level, &[]).or_else(|why| {
        let odd = astray(net, level);
        odd.contains(&true).then(|| by_pieces(net, level, &odd).ok()).flatten().ok_or(why)
    })
}

/// The cables that are in few cycles of four between their two levels, as most there are not. Two switches
/// of a tree that share a parent share others, unless they have just one; but a cable in a wrong place,
/// which joins pieces, closes no such cycle, or one with another of the kind.
fn astray(net: &Net<'_>, level: &[u8]) -> Vec<bool> {
    let alike = |a: u32, b: u32| level[a as usize] == level[b as usize];
    let cycles = |&(s, v): &(u32, u32)| {
        let beyond = net.neighbours(v).iter().filter(|&&x| x != s && alike(x, s));
        let closed = |&x: &u32| net.common(s, x).filter(|&w| w != v && alike(w, v)).count();
        beyond.map(closed).sum::<usize>()
    };
    let low = |&(s, v): &(u32, u32)| usize::from(level[s as usize].min(level[v as usize]));
    let cycles: Vec<usize> = net.edges.iter().map(cycles).collect();
    let levels = usize::from(level.iter().copied().max().unwrap_or(0)) + 1;
    let mut all = vec![Vec::new(); levels];
    for (pair, &cycles) in net.edges.iter().zip(&cycles) {
        all[low(pair)].push(cycles);
    }
    for counts in &mut all {
        counts.sort_unstable();
    }
    let usual = |pair: &(u32, u32)| all[low(pair)][all[low(pair)].len() / 2];
    let few = |(pair, cycles): (&(u32, u32), usize)| usual(pair) > 0 && cycles * 3 <= usual(pair);
    net.edges.iter().zip(cycles).map(few).collect()
}

/// The labels, where the cables that are `odd` join no pieces.
fn by_pieces(net: &Net<'_>, level: &[u8], odd: &[bool]) -> Result<(Pgft, Fit), String> {
    let h = usize::from(level.iter().copied().max().unwrap_or(1));
    if h > MAX_HEIGHT {
        return Err(format!("{h} levels"));
    }
    let mut tree = Tree { net, level, odd, h, digits: vec![0; net.len() * h], below: Vec::new() };
    tree.children();
    tree.parents();

    let radix = |i: usize, of: fn(usize, usize) -> bool| {
        let digits = (0..net.len()).filter(|&s| of(usize::from(level[s]), i));
        digits.map(|s| u32::from(tree.digits[s * h + i]) + 1).max().unwrap_or(1)
    };
    let mut m: Vec<u32> = (0..h).map(|i| radix(i, |l, i| l <= i)).collect();
    if m[1..].contains(&1) {
        return Err("a switch above the leaves has one child".to_owned());
    }
    let w: Vec<u32> = (0..h).map(|i| radix(i, |l, i| l > i)).collect();
    let mut p = vec![1; h];
    for (l, p) in p.iter_mut().enumerate().skip(1) {
        let between = net.edges.iter().filter(|&&(s, v)| {
            let pair = (usize::from(level[s as usize]), usize::from(level[v as usize]));
            pair == (l, l + 1) || pair == (l + 1, l)
        });
        *p = typical(between.map(|&(s, v)| net.cables(s, v))).max(1);
    }
    let fit = tree.compare(&m, &w, &p)?.accept()?;
    let hosts = Hosts::new(net, level);
    (m[0], p[0]) = (hosts.most, hosts.cables);
    let digits = tree.digits;
    let index = hosts.number(net, &digits, &m);
    Ok((Pgft { m, w, p, digits, index }, fit))
}

struct Tree<'a> {
    net: &'a Net<'a>,
    level: &'a [u8],
    /// Cables that join no pieces.
    odd: &'a [bool],
    h: usize,
    /// As [`Pgft::digits`].
    digits: Vec<u16>,
    /// `below[k][s]`: the piece of `s` without the levels above `k + 1`.
    below: Vec<Vec<u32>>,
}

impl Tree<'_> {
    fn pieces(&self, within: impl Fn(u8) -> bool) -> Vec<u32> {
        let inside = |e: usize| {
            let (s, v) = self.net.edges[e];
            let (a, b) = (self.level[s as usize], self.level[v as usize]);
            let odd = self.odd.get(e).copied().unwrap_or(false);
            within(a) && within(b) && a.abs_diff(b) == 1 && !odd
        };
        self.net.components(inside).0
    }

    /// The digits above a switch's level: its number, or that of the subtree around it, as a child.
    fn children(&mut self) {
        self.below = (1..=self.h).map(|k| self.pieces(|l| usize::from(l) <= k)).collect();
        for i in 1..self.h {
            let mut numbers: BTreeMap<u32, BTreeMap<u32, u16>> = BTreeMap::new();
            for s in (0..self.net.len()).filter(|&s| usize::from(self.level[s]) <= i) {
                let inner = numbers.entry(self.below[i][s]).or_default();
                let next = inner.len() as u16;
                self.digits[s * self.h + i] = *inner.entry(self.below[i - 1][s]).or_insert(next);
            }
        }
    }

    /// The digits up to a switch's level: its number as a parent, and those of the parents below.
    ///
    /// Pieces of one number have a switch of their lowest level in every subtree. Where a switch above is missing
    /// some are split; those that have no subtree in common are joined again, which is all that can be determined
    /// about them.
    fn parents(&mut self) {
        let mut around = vec![0; self.net.len()];
        for i in 1..self.h {
            let above = |s: usize| usize::from(self.level[s]) > i;
            let piece = self.pieces(|l| usize::from(l) > i);
            // By surrounding piece, then piece, the subtrees that it reaches into.
            let mut reach: BTreeMap<u32, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
            for s in (0..self.net.len()).filter(|&s| above(s)) {
                let subtrees = reach.entry(around[s]).or_default().entry(piece[s]).or_default();
                if usize::from(self.level[s]) == i + 1 {
                    subtrees.push(self.below[i][s]);
                }
            }
            let mut number = vec![0; self.net.len()];
            let mut name = vec![0; self.net.len()];
            let mut names = 0;
            for pieces in reach.into_values() {
                let bins = pack(pieces);
                for (digit, bin) in (0u16..).zip(bins) {
                    for piece in bin {
                        number[piece as usize] = digit;
                        name[piece as usize] = names;
                    }
                    names += 1;
                }
            }
            for s in (0..self.net.len()).filter(|&s| above(s)) {
                self.digits[s * self.h + i] = number[piece[s] as usize];
                around[s] = name[piece[s] as usize];
            }
        }
    }

    /// Radix of digit `i` (from 0) of a switch of level `l`.
    fn radix(l: usize, i: usize, m: &[u32], w: &[u32]) -> u64 {
        u64::from(if i < l { w[i] } else { m[i] })
    }

    fn compare(&self, m: &[u32], w: &[u32], p: &[u32]) -> Result<Fit, String> {
        const VACANT: u32 = u32::MAX;
        let h = self.h;
        let count = |l: usize| (1..h).fold(1u64, |n, i| n.saturating_mul(Self::radix(l, i, m, w)));
        let places = (1..=h).map(count).fold(0, u64::saturating_add);
        Fit::worth(places, self.net.len())?;
        let number = |l: usize, digits: &[u16]| {
            (1..h).fold(0, |n, i| n * Self::radix(l, i, m, w) + u64::from(digits[i])) as usize
        };
        let label = |s: usize| &self.digits[s * h..(s + 1) * h];
        let mut at: Vec<Vec<u32>> = (1..=h).map(|l| vec![VACANT; count(l) as usize]).collect();
        for s in 0..self.net.len() {
            let l = usize::from(self.level[s]);
            let place = &mut at[l - 1][number(l, label(s))];
            if *place != VACANT {
                return Err(format!("two switches of level {l} have equal places"));
            }
            *place = s as u32;
        }
        let mut ideal = Vec::with_capacity(self.net.edges.len());
        let mut digits = vec![0; h];
        for s in 0..self.net.len() {
            let l = usize::from(self.level[s]);
            if l == h {
                continue;
            }
            digits.copy_from_slice(label(s));
            for parent in 0..w[l] {
                digits[l] = parent as u16;
                let above = at[l][number(l + 1, &digits)];
                if above != VACANT {
                    ideal.push((s as u32, above, p[l]));
                }
            }
        }
        let mut fit = Fit::of(self.net, ideal, |_, _| true);
        fit.places = places;
        for (l, row) in (1..).zip(&at) {
            for place in (0..row.len()).filter(|&i| row[i] == VACANT) {
                let mut rest = place as u64;
                let mut digits: Vec<String> = (1..h)
                    .rev()
                    .map(|i| {
                        let radix = Self::radix(l, i, m, w);
                        let digit = rest % radix;
                        rest /= radix;
                        digit.to_string()
                    })
                    .collect();
                digits.reverse();
                fit.vacant.push(format!("a switch of level {l} (label {})", digits.join(".")));
            }
        }
        Ok(fit)
    }
}

/// Puts pieces that have no subtree in common together, the largest first.
fn pack(pieces: BTreeMap<u32, Vec<u32>>) -> Vec<Vec<u32>> {
    let mut pieces: Vec<(u32, Vec<u32>)> = pieces.into_iter().collect();
    for (_, reach) in &mut pieces {
        reach.sort_unstable();
    }
    let full = pieces.iter().map(|p| p.1.len()).max().unwrap_or(0);
    pieces.sort_by_key(|(piece, reach)| (std::cmp::Reverse(reach.len()), *piece));
    let mut bins: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
    let mut open = 0;
    for (piece, reach) in pieces {
        while open < bins.len() && bins[open].1.len() >= full {
            open += 1;
        }
        let free = |taken: &[u32]| reach.iter().all(|r| taken.binary_search(r).is_err());
        match bins[open..].iter_mut().find(|(_, taken)| free(taken)) {
            Some((bin, taken)) => {
                bin.push(piece);
                taken.extend(reach);
                taken.sort_unstable();
            }
            None => bins.push((vec![piece], reach)),
        }
    }
    bins.into_iter().map(|(bin, _)| bin).collect()
}

/// The hosts of each leaf.
struct Hosts {
    /// Most hosts of a leaf.
    most: u32,
    /// Cables of a host to its leaf.
    cables: u32,
    /// Per terminal of the fabric the number of its host on its switch.
    rank: Vec<u32>,
}

impl Hosts {
    fn new(net: &Net<'_>, level: &[u8]) -> Self {
        let mut rank = vec![0; net.fabric.terminal_count()];
        let (mut most, mut cables) = (1, Vec::new());
        for (s, &id) in net.ids.iter().enumerate() {
            let mut known: Vec<(crate::HostId, u32)> = Vec::new();
            for t in net.fabric.terminals_on(id) {
                let host = net.fabric.host_of(TerminalId::new(t));
                let place = known.iter().position(|k| k.0 == host).unwrap_or_else(|| {
                    known.push((host, 0));
                    known.len() - 1
                });
                known[place].1 += 1;
                rank[t] = place as u32;
            }
            if level[s] == 1 {
                most = most.max(known.len() as u32);
                cables.extend(known.iter().map(|k| k.1));
            }
        }
        Self { most, cables: typical(cables).max(1), rank }
    }

    /// As [`Pgft::index`]; hosts of a leaf are numbered by port.
    fn number(&self, net: &Net<'_>, digits: &[u16], m: &[u32]) -> Vec<u32> {
        let h = m.len();
        let mut index = vec![0; self.rank.len()];
        for (s, &id) in net.ids.iter().enumerate() {
            // Digits of a switch above the leaves can be those of a parent; any host's will do.
            let leaf =
                (1..h).rev().fold(0, |n, i| n * m[i] + u32::from(digits[s * h + i]).min(m[i] - 1));
            for t in net.fabric.terminals_on(id) {
                index[t] = leaf * m[0] + self.rank[t].min(m[0] - 1);
            }
        }
        index
    }
}
