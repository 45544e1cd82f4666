//! Cutting a fabric in two halves with few cables between them.

use std::collections::VecDeque;

use darkfiber_fabric::{Fabric, Shape, SwitchId, TerminalId};
use schemars::JsonSchema;
use serde::Serialize;

/// Rounds of exchange at most.
const ROUNDS: usize = 8;
/// Beyond this many switches the halves are taken as the structure gives them.
const MOST_SWITCHES: usize = 4096;

/// The smallest cut found between two parts of the terminals that differ by at most those of the largest switch: the bisection into equal
/// halves may have more channels, or fewer than what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Halves {
    /// Channels from one half to the other, one direction.
    pub channels: u64,
    /// Terminals in the smaller half.
    pub terminals: u64,
}

/// Divides the switches in two so that few cables are between terminals in equal numbers: orders that the
/// structure gives are cut in the middle, then switches change sides as long as that saves cables (Fiduccia,
/// Mattheyses, "A linear-time heuristic for improving network partitions", DAC'82). Returns the side of every
/// switch, too.
pub(super) fn halves(
    fabric: &Fabric,
    shape: Option<&Shape>,
    who: &[TerminalId],
) -> (Halves, Vec<u32>) {
    let n = fabric.switch_count();
    let mut weight = vec![0i64; n];
    for &t in who {
        weight[fabric.terminal(t).switch.index()] += 1;
    }
    let mut best: Option<(Halves, Vec<u32>)> = None;
    for order in orders(fabric, shape) {
        let mut cut = Cut::middle(fabric, &weight, &order);
        if n <= MOST_SWITCHES {
            cut.improve();
        }
        let found = Halves { channels: cut.channels(), terminals: cut.smaller().unsigned_abs() };
        // Even halves before narrow ones, up to the terminals of a switch.
        let even = |h: &Halves| {
            let uneven = who.len() as u64 - 2 * h.terminals;
            (uneven > weight.iter().copied().max().unwrap_or(0).unsigned_abs(), h.channels)
        };
        if best.as_ref().is_none_or(|(b, _)| even(&found) < even(b)) {
            best = Some((found, cut.side.iter().map(|&s| u32::from(s)).collect()));
        }
    }
    best.unwrap_or((Halves { channels: 0, terminals: 0 }, vec![0; n]))
}

/// Orders of the switches in which neighbours are near.
fn orders(fabric: &Fabric, shape: Option<&Shape>) -> Vec<Vec<u32>> {
    let all = 0..fabric.switch_count() as u32;
    let sorted = |key: &dyn Fn(usize) -> Vec<u32>| {
        let mut order: Vec<u32> = all.clone().collect();
        order.sort_by_cached_key(|&s| key(s as usize));
        order
    };
    let mut orders = vec![outward(fabric)];
    match shape {
        Some(Shape::Grid(grid)) => {
            for first in 0..grid.dims.len() {
                let at = |s: usize| grid.at(SwitchId::new(s));
                orders.push(sorted(&|s| vec![at(s)[first].into()]));
            }
        }
        Some(Shape::Dragonfly(dragonfly)) => {
            orders.push(sorted(&|s| vec![dragonfly.group[s]]));
        }
        Some(Shape::Tree(tree)) => {
            // Switches without terminals are assigned by the search.
            let place = |s: usize| match &tree.pgft {
                Some(pgft) => {
                    let label = pgft.label(SwitchId::new(s));
                    label.iter().rev().map(|&x| x.into()).collect()
                }
                None => vec![s as u32],
            };
            orders.push(sorted(&place));
        }
        _ => {}
    }
    orders
}

/// Breadth first from a switch that is far from another.
fn outward(fabric: &Fabric) -> Vec<u32> {
    let n = fabric.switch_count();
    let from = |start: u32| {
        let mut order = Vec::with_capacity(n);
        let mut seen = vec![false; n];
        for start in std::iter::once(start).chain(0..n as u32) {
            if std::mem::replace(&mut seen[start as usize], true) {
                continue;
            }
            let mut queue = VecDeque::from([start]);
            while let Some(s) = queue.pop_front() {
                order.push(s);
                for c in fabric.channels_from(SwitchId(s)) {
                    let v = fabric.heads()[c];
                    if !std::mem::replace(&mut seen[v as usize], true) {
                        queue.push_back(v);
                    }
                }
            }
        }
        order
    };
    if n == 0 {
        return Vec::new();
    }
    let first = from(0);
    from(first.last().copied().unwrap_or(0))
}

struct Cut<'a> {
    fabric: &'a Fabric,
    weight: &'a [i64],
    side: Vec<bool>,
    /// Terminals on side `true` less those on side `false`.
    lean: i64,
}

impl<'a> Cut<'a> {
    fn middle(fabric: &'a Fabric, weight: &'a [i64], order: &[u32]) -> Self {
        let total: i64 = weight.iter().sum();
        let mut side = vec![true; weight.len()];
        let mut before = 0;
        for &s in order {
            let w = weight[s as usize];
            if 2 * before + w <= total {
                side[s as usize] = false;
                before += w;
            }
        }
        Self { fabric, weight, side, lean: total - 2 * before }
    }

    fn smaller(&self) -> i64 {
        (self.weight.iter().sum::<i64>() - self.lean.abs()) / 2
    }

    fn channels(&self) -> u64 {
        let ends = self.fabric.tails().iter().zip(self.fabric.heads());
        ends.filter(|(a, b)| !self.side[**a as usize] && self.side[**b as usize]).count() as u64
    }

    /// Cables saved if `s` changes sides.
    fn gain(&self, s: usize) -> i64 {
        let channels = self.fabric.channels_from(SwitchId::new(s));
        let across = |c: usize| self.side[self.fabric.heads()[c] as usize] != self.side[s];
        channels.map(|c| if across(c) { 1 } else { -1 }).sum()
    }

    fn flip(&mut self, s: usize) {
        self.lean += if self.side[s] { -2 } else { 2 } * self.weight[s];
        self.side[s] = !self.side[s];
    }

    fn improve(&mut self) {
        let n = self.side.len();
        let heaviest = self.weight.iter().copied().max().unwrap_or(0);
        let even = self.lean.abs().max(self.weight.iter().sum::<i64>() & 1);
        for _ in 0..ROUNDS {
            let mut gain: Vec<i64> = (0..n).map(|s| self.gain(s)).collect();
            let mut free = vec![true; n];
            let (mut sum, mut best, mut keep) = (0, 0, 0);
            let mut moved = Vec::with_capacity(n);
            for _ in 0..n {
                // A heavier side gives; within a switch's weight of even both may.
                let may = |s: &usize| {
                    let lean = self.lean + if self.side[*s] { -2 } else { 2 } * self.weight[*s];
                    free[*s] && lean.abs() <= even + 2 * heaviest
                };
                let Some(s) = (0..n).filter(may).max_by_key(|&s| (gain[s], std::cmp::Reverse(s)))
                else {
                    break;
                };
                free[s] = false;
                sum += gain[s];
                self.flip(s);
                moved.push(s);
                gain[s] = -gain[s];
                for c in self.fabric.channels_from(SwitchId::new(s)) {
                    let v = self.fabric.heads()[c] as usize;
                    gain[v] += if self.side[v] == self.side[s] { -2 } else { 2 };
                }
                if self.lean.abs() <= even && sum > best {
                    (best, keep) = (sum, moved.len());
                }
            }
            for &s in moved[keep..].iter().rev() {
                self.flip(s);
            }
            if best == 0 {
                break;
            }
        }
    }
}
