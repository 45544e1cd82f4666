//! Moving traffic off hot channels, one table entry at a time.
//!
//! Adaptive flow-aware routing (Smith et al., "Mitigating Inter-Job Interference Using Adaptive Flow-Aware Routing",
//! SC'18, section V-A, Algorithm 1): while the hottest channel carries too much, one destination that is reached over it
//! is sent over another path. Beyond the paper: an entry changes only if no channel becomes as hot as the one that is
//! relieved, so that the maximum only falls and the last tables are the best; entries of switches before the hot channel
//! are tried where its own has no other path; a channel that nothing relieves does not keep others from being relieved;
//! and every new path fits into the virtual layers of its paths together with all old ones.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use darkfiber_fabric::{ChannelId, SwitchId};

use super::channel::NONE;
use super::crossing::Index;
use super::cut::Cuts;
use super::mended::Mended;
use super::outcome::{Change, Coexistence};
use super::prepared::Prepared;

/// Choice of the destination that leaves a hot channel, and of its path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// The destination with the lowest LID that can go, to the least loaded channel of the switch: the paper's.
    First,
    /// The destination that most is sent to, to the least loaded channel of the switch.
    Largest,
    /// The destination with the lowest LID that can move, on the path whose fullest channel is
    /// least full.
    Path,
    /// The destination and the path after which the fuller of both is least full.
    #[default]
    Best,
}

/// Limits of the relief of channels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Channels that carry more are hot: demand, on a channel of the fastest kind.
    pub most: f64,
    /// At most this many entries change.
    pub moves: usize,
    /// Choice of the destination that moves.
    pub policy: Policy,
    /// Paths may become this many channels longer than the longest of the old tables.
    pub longer: usize,
}

impl Default for Goal {
    /// As cool as it gets.
    fn default() -> Self {
        Self { most: 0.0, moves: usize::MAX, policy: Policy::Best, longer: 1 }
    }
}

/// One destination that was sent over another path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// The channel that was relieved.
    pub channel: ChannelId,
    /// Its load before that, as time of a channel of the fastest class.
    pub fill: f64,
    /// Amount that left the channel.
    pub amount: u64,
    /// The entry that changed.
    pub change: Change,
    /// Load of the fullest channel now.
    pub fullest: f64,
}

/// The result of relieving channels. The tables are those of [`Prepared::routes`].
#[derive(Clone, Debug, PartialEq)]
pub struct Relief {
    /// The moves, in order.
    pub moves: Vec<Move>,
    /// Entries that differ from the old tables, by (switch, row).
    pub changes: Vec<Change>,
    /// Fill of the fullest channel before the moves.
    pub before: f64,
    /// Fill of the fullest channel after the moves.
    pub after: f64,
    /// Channels that still carry too much although nothing relieves them.
    pub stuck: Vec<ChannelId>,
    /// Whether old and new tables may coexist.
    pub coexistence: Coexistence,
}

/// A destination that may leave a hot channel.
struct Candidate {
    row: usize,
    from: u32,
    /// The paths that it may take, as channels, best first.
    ways: Vec<Vec<u32>>,
}

impl Prepared<'_> {
    /// Moves traffic off the hottest channels; see [`Prepared::with_demands`]. With [`Goal::most`] 0 it ends when nothing
    /// relieves the hottest.
    ///
    /// Complexity: O(demands x hops), and for each move O(channels + destinations over the hot channel + ports x hops of
    /// those examined), and the cut-off part of one destination's tree.
    pub fn relieve(&mut self, goal: &Goal) -> Relief {
        let before = self.hottest().map_or(0.0, |(_, fill)| fill);
        let mut at_work = AtWork::new(self);
        let mut moves: Vec<Move> = Vec::new();
        let mut stuck = BTreeSet::new();
        // Moves after which channels were found to be stuck: those before may have changed that.
        let mut since = 0;
        while moves.len() < goal.moves {
            let Some((hot, fill)) = self.hottest_but(&stuck).filter(|&(_, fill)| fill > goal.most)
            else {
                if stuck.is_empty() || since == moves.len() {
                    break;
                }
                since = moves.len();
                stuck.clear();
                continue;
            };
            let found = self.relieve_channel(hot, fill, goal, &mut at_work);
            if let Some((change, amount)) = found {
                let fullest = self.hottest().map_or(0.0, |(_, fill)| fill);
                moves.push(Move { channel: ChannelId(hot), fill, amount, change, fullest });
            } else if goal.most > 0.0 {
                stuck.insert(hot);
            } else {
                break;
            }
        }
        let AtWork { cuts, mended, .. } = at_work;
        let moved = self.first_to_last(mended.moved);
        let coexistence = self.coexistence(&cuts.all, &moved);
        self.release(mended.held);
        Relief {
            moves,
            changes: self.changes(&cuts.all),
            before,
            after: self.hottest().map_or(0.0, |(_, fill)| fill),
            stuck: stuck.into_iter().map(ChannelId).collect(),
            coexistence,
        }
    }

    fn hottest_but(&self, stuck: &BTreeSet<u32>) -> Option<(u32, f64)> {
        if stuck.is_empty() {
            return self.hottest();
        }
        let others = (0..self.load.len() as u32).filter(|c| !stuck.contains(c));
        others.map(|c| (c, self.fill(c))).reduce(|a, b| if b.1 > a.1 { b } else { a })
    }

    /// Changes one entry so that less crosses a channel, if that helps.
    fn relieve_channel(
        &mut self,
        hot: u32,
        fill: f64,
        goal: &Goal,
        at_work: &mut AtWork,
    ) -> Option<(Change, u64)> {
        let tail = self.fabric.tails()[hot as usize];
        let mut crossing = self.crossing(hot, at_work);
        if matches!(goal.policy, Policy::Largest | Policy::Best) {
            crossing.sort_by_key(|&(row, amount)| (Reverse(amount), row));
        }
        if goal.policy == Policy::Best {
            let found = self.relieve_best(&crossing, (hot, fill), goal, at_work);
            if found.is_some() {
                return found;
            }
        } else {
            for &(row, amount) in &crossing {
                let ways = self.ordered_ways(row, tail, amount, (hot, fill), goal.policy);
                let candidate = Candidate { row, from: tail, ways };
                if let Some(change) = self.change(&candidate, goal, at_work) {
                    return Some((change, amount));
                }
            }
        }
        // Part of the traffic of a destination may take another path before it reaches this
        // channel.
        for (row, _) in crossing {
            let behind = self.cut(row, std::iter::once(tail), &mut at_work.place);
            for node in behind.nodes[1..].iter().filter(|n| n.weight > 0) {
                let ways =
                    self.ordered_ways(row, node.switch, node.weight, (hot, fill), goal.policy);
                let candidate = Candidate { row, from: node.switch, ways };
                if let Some(change) = self.change(&candidate, goal, at_work) {
                    return Some((change, node.weight));
                }
            }
        }
        None
    }

    /// Tries the paths of all destinations, the best first. These come by falling amounts, so that the remaining load
    /// of the channel only rises: a path that is no worse than that is better than all later ones.
    fn relieve_best(
        &mut self,
        crossing: &[(usize, u64)],
        (hot, fill): (u32, f64),
        goal: &Goal,
        at_work: &mut AtWork,
    ) -> Option<(Change, u64)> {
        let tail = self.fabric.tails()[hot as usize];
        let left = |of: &Self, amount: u64| {
            (of.load[hot as usize] - amount) as f64 * of.slowness[hot as usize]
        };
        let mut found: Vec<Vec<u32>> = Vec::new();
        // Fills are not below zero: their bits are in the same order.
        let mut choices: BinaryHeap<Reverse<(u64, usize, usize)>> = BinaryHeap::new();
        for i in 0..=crossing.len() {
            let bound = crossing.get(i).map_or(f64::INFINITY, |&(_, amount)| left(self, amount));
            while let Some(&Reverse((key, way, of))) = choices.peek()
                && key <= bound.to_bits()
            {
                choices.pop();
                let (row, amount) = crossing[of];
                let ways = vec![std::mem::take(&mut found[way])];
                let candidate = Candidate { row, from: tail, ways };
                if let Some(change) = self.change(&candidate, goal, at_work) {
                    return Some((change, amount));
                }
            }
            let Some(&(row, amount)) = crossing.get(i) else { break };
            for way in self.ways_round(row, tail, amount, (hot, fill)) {
                let key = way.fullest.max(bound).to_bits();
                choices.push(Reverse((key, found.len(), i)));
                found.push(way.channels);
            }
        }
        None
    }

    /// The rows that anything is sent on over a channel, rising, and how much.
    fn crossing(&self, c: u32, at_work: &AtWork) -> Vec<(usize, u64)> {
        let tail = self.fabric.tails()[c as usize];
        let port = self.fabric.tail_ports()[c as usize];
        let unchanged = at_work.index.on(c).iter().filter(|x| at_work.cuts.of(x.0).is_none());
        let changed = at_work
            .cuts
            .all
            .iter()
            .map(|cut| cut.row)
            .filter(|&row| self.routes.ports(row)[tail as usize] == port)
            .map(|row| (row, self.amount_through(row, tail)))
            .filter(|&(_, amount)| amount > 0);
        let mut all: Vec<(usize, u64)> = unchanged.copied().chain(changed).collect();
        all.sort_unstable();
        all
    }

    fn ordered_ways(
        &self,
        row: usize,
        from: u32,
        amount: u64,
        hot: (u32, f64),
        policy: Policy,
    ) -> Vec<Vec<u32>> {
        let mut ways = self.ways_round(row, from, amount, hot);
        if matches!(policy, Policy::First | Policy::Largest) {
            ways.sort_by(|a, b| {
                let first = |w: &super::ease::Way| self.fill_with(w.channels[0], amount);
                first(a).total_cmp(&first(b)).then_with(|| a.channels.cmp(&b.channels))
            });
        }
        ways.into_iter().map(|way| way.channels).collect()
    }

    /// Amount that terminals send over a switch on a row.
    fn amount_through(&self, row: usize, s: u32) -> u64 {
        let mut way = Vec::new();
        let passes = |&(from, _): &(u32, u64)| {
            way.clear();
            self.follow(row, from, &mut way)
                && way.iter().any(|&c| self.fabric.tails()[c as usize] == s)
        };
        self.traffic.amounts(row).filter(passes).map(|x| x.1).sum()
    }

    /// Sends a destination over another path, if there is one.
    fn change(&mut self, of: &Candidate, goal: &Goal, at_work: &mut AtWork) -> Option<Change> {
        if of.ways.is_empty() {
            return None;
        }
        let old = self.routes.ports(of.row)[of.from as usize];
        let cut = self.cut(of.row, std::iter::once(of.from), &mut at_work.place);
        let longest = self.longest + goal.longer;
        self.shift(&cut, &of.ways, longest, false, &mut at_work.mended)?;
        at_work.cuts.join(cut);
        let new = self.routes.ports(of.row)[of.from as usize];
        Some(Change { switch: SwitchId(of.from), row: of.row as u32, old, new })
    }
}

/// State that is kept from move to move.
struct AtWork {
    index: Index,
    cuts: Cuts,
    mended: Mended,
    place: Vec<u32>,
}

impl AtWork {
    fn new(of: &Prepared<'_>) -> Self {
        Self {
            index: Index::new(of),
            cuts: Cuts::default(),
            mended: Mended::default(),
            place: vec![NONE; of.fabric.switch_count()],
        }
    }
}
