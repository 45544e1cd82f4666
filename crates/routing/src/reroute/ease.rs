//! Moving rows off channels that a repair has overloaded.
//!
//! The load of a dead channel moves to its neighbours; some of them may end up above the largest load of
//! the old tables. While the hottest channel is above it, some switch sends a row over another path: one
//! entry, preferably on a row that changed anyway.

use std::collections::BTreeMap;

use darkfiber_fabric::SwitchId;

use super::channel::NONE;
use super::cut::{Cut, Cuts};
use super::labels::layers;
use super::mended::{Held, Mended};
use super::prepared::Prepared;

/// Channels that are looked at before giving up: a limit of time that is the same on every machine.
const MOST_LOOKS: usize = 75_000;
/// A load may be this many times the largest old one before rows that the fault did not touch, and the layers of
/// paths, may change.
const FAR_TOO_MUCH: f64 = 1.02;

/// A path to a destination, and the fill of its fullest channel among those that are new on it.
pub(super) struct Way {
    pub(super) fullest: f64,
    pub(super) channels: Vec<u32>,
}

impl Prepared<'_> {
    /// Moves rows off the hottest channel until no load is above `budget` or nothing helps. Rows that
    /// were not cut before join `cuts`. With `may_move` paths may change layers.
    pub(super) fn ease(
        &mut self,
        cuts: &mut Cuts,
        budget: u64,
        may_move: bool,
        mended: &mut Mended,
    ) {
        let mut users: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut place = vec![NONE; self.fabric.switch_count()];
        // Switches that do not send over the hottest channel any more.
        let mut left = vec![false; self.fabric.switch_count()];
        let mut roughly = false;
        let mut looks = 0;
        let budget = budget as f64;
        let far = budget * FAR_TOO_MUCH;
        loop {
            let goal = if roughly { far } else { budget };
            let Some((hot, most)) = self.hottest().filter(|&(_, most)| most > goal) else {
                return;
            };
            let tail = self.fabric.tails()[hot as usize];
            let port = self.fabric.tail_ports()[hot as usize];
            let rows = users.entry(hot).or_insert_with(|| self.users(hot));
            rows.retain(|&row| self.routes.ports(row)[tail as usize] == port);
            // Rows whose entry changed here already cost nothing.
            rows.sort_by_cached_key(|&row| {
                cuts.of(row).is_none_or(|cut| cut.entry_before(tail) == Some(port))
            });
            let mut users_left = Vec::new();
            let rows = std::mem::take(rows);
            for &row in &rows {
                let known = cuts.of(row);
                if looks > MOST_LOOKS || self.fill(hot) <= goal {
                    break;
                }
                if known.is_none() && !roughly {
                    continue;
                }
                let behind = self.cut(row, std::iter::once(tail), &mut place);
                for node in &behind.nodes {
                    let s = node.switch;
                    looks += self.fabric.channels_from(SwitchId(s)).len();
                    let load = self.fill(hot);
                    if load <= goal {
                        break;
                    }
                    let known = cuts.of(row);
                    if left[s as usize]
                        || !roughly && known.is_some_and(|cut| cut.entry_before(s).is_none())
                    {
                        continue;
                    }
                    let ways = self.ways_round(row, node.switch, node.weight, (hot, load));
                    if ways.is_empty() {
                        continue;
                    }
                    let ways: Vec<Vec<u32>> = ways.into_iter().map(|w| w.channels).collect();
                    let cut = self.cut(row, std::iter::once(s), &mut place);
                    looks += self.longest * cut.nodes.len() * ways.len();
                    let Some(way) =
                        self.shift(&cut, &ways, self.longest, roughly && may_move, mended)
                    else {
                        continue;
                    };
                    for c in way {
                        users.remove(c);
                    }
                    for n in &cut.nodes {
                        left[n.switch as usize] = true;
                        users_left.push(n.switch);
                    }
                    cuts.join(cut);
                }
                for s in users_left.drain(..) {
                    left[s as usize] = false;
                }
            }
            users.insert(hot, rows);
            if looks > MOST_LOOKS {
                return;
            }
            if self.fill(hot) >= most {
                // Changing rows that the fault did not touch, or the layers of paths, disturbs running
                // traffic: it is done only for channels that are far too full.
                if roughly || most <= far {
                    return;
                }
                roughly = true;
            }
        }
    }

    /// Load of a channel in units of time on the fastest one.
    #[inline]
    pub(super) fn fill(&self, c: u32) -> f64 {
        self.fill_with(c, 0)
    }

    /// The same if more crossed it.
    #[inline]
    pub(super) fn fill_with(&self, c: u32, more: u64) -> f64 {
        (self.load[c as usize] + more) as f64 * self.slowness[c as usize]
    }

    /// The fullest channel but some, the lowest of several.
    pub(super) fn hottest(&self) -> Option<(u32, f64)> {
        let all = (0..self.load.len() as u32).map(|c| (c, self.fill(c)));
        all.reduce(|a, b| if b.1 > a.1 { b } else { a })
    }

    /// The rows between terminals that use a channel.
    fn users(&self, c: u32) -> Vec<usize> {
        let tail = self.fabric.tails()[c as usize];
        let port = self.fabric.tail_ports()[c as usize];
        (0..self.traffic.rows.len())
            .filter(|&row| self.traffic.rows[row].live)
            .filter(|&row| self.routes.ports(row)[tail as usize] == port)
            .collect()
    }

    /// Paths for this amount from a switch to the destination of a row that avoid `hot`, on which all channels stay
    /// less full than `most`; the least full first.
    pub(super) fn ways_round(
        &self,
        row: usize,
        from: u32,
        weight: u64,
        (hot, most): (u32, f64),
    ) -> Vec<Way> {
        let mut choices: Vec<Way> = Vec::new();
        if weight == 0 {
            return choices;
        }
        let mut old = Vec::new();
        for c in self.fabric.channels_from(SwitchId(from)).map(|c| c as u32) {
            if !self.works(c) || c == hot || self.fill_with(c, weight) >= most {
                continue;
            }
            let mut channels = vec![c];
            let arrives = self.follow(row, self.fabric.heads()[c as usize], &mut channels);
            let returns = channels.iter().skip(1).any(|&c| self.fabric.tails()[c as usize] == from);
            if !arrives || returns || channels.contains(&hot) {
                continue;
            }
            if old.is_empty() {
                self.follow(row, from, &mut old);
            }
            // Channels that both paths share carry no additional load.
            let fresh = channels.iter().filter(|c| !old.contains(c));
            let fullest = fresh.map(|&c| self.fill_with(c, weight)).fold(0.0, f64::max);
            if fullest < most {
                choices.push(Way { fullest, channels });
            }
        }
        choices.sort_by(|a, b| {
            a.fullest.total_cmp(&b.fullest).then_with(|| a.channels.cmp(&b.channels))
        });
        choices
    }

    /// Sends what passes the first node of `cut` on one of `choices`: the first that fits into its
    /// layers (or into others, if paths `may_move`) and that makes no path longer than `longest`.
    pub(super) fn shift<'w>(
        &mut self,
        cut: &Cut,
        choices: &'w [Vec<u32>],
        longest: usize,
        may_move: bool,
        mended: &mut Mended,
    ) -> Option<&'w [u32]> {
        let (row, node) = (cut.row, &cut.nodes[0]);
        let mut ways: Vec<Vec<u32>> = Vec::new();
        for n in &cut.nodes {
            let mut way = Vec::new();
            self.follow(row, n.switch, &mut way);
            ways.push(way);
        }
        let old = ways[0].clone();
        // Channels before the first node on the path of each.
        let ahead: Vec<usize> = ways.iter().map(|way| way.len() - old.len()).collect();
        let sources = || (0..cut.nodes.len()).filter(|&i| cut.nodes[i].layers != 0);
        let deepest = sources().map(|i| ahead[i]).max().unwrap_or(0);
        for way in choices {
            // A fault may have made paths longer than all were before; these need not get shorter.
            if way.len() > old.len() && way.len() + deepest > longest {
                continue;
            }
            let new_way =
                |i: usize| -> Vec<u32> { ways[i][..ahead[i]].iter().chain(way).copied().collect() };
            let mut entered = Vec::new();
            for i in sources() {
                let mask = cut.nodes[i].layers;
                let moves = if self.enter(mask, &new_way(i)) {
                    Some(Vec::new())
                } else {
                    let most_layers = self.layers.len();
                    may_move.then(|| self.enter_elsewhere(mask, most_layers, &new_way(i))).flatten()
                };
                let Some(moves) = moves else { break };
                entered.push((i, moves));
            }
            if entered.len() < sources().count() {
                for (i, moves) in entered {
                    let left = moves.iter().fold(cut.nodes[i].layers, |mask, m| mask & !(1 << m.0));
                    self.withdraw(left, &new_way(i));
                    for (_, new) in moves {
                        self.withdraw(1 << new, &new_way(i));
                    }
                }
                continue;
            }
            for (i, moves) in entered {
                self.record(row, cut.nodes[i].switch, moves, mended);
            }
            for i in sources() {
                for layer in layers(cut.nodes[i].layers) {
                    let pairs = ways[i].windows(2);
                    let old = pairs.map(|p| Held { layer, from: p[0], to: p[1] });
                    mended.held.extend(old);
                }
            }
            if mended.released {
                self.release(std::mem::take(&mut mended.held));
            }
            for &c in &old {
                self.load[c as usize] -= node.weight;
            }
            for &c in way {
                self.load[c as usize] += node.weight;
            }
            let port = self.fabric.tail_ports()[way[0] as usize];
            self.routes.ports_mut(row)[node.switch as usize] = port;
            return Some(way);
        }
        None
    }
}
