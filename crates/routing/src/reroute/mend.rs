//! Repairing rows: new entries for the switches that a fault cut off.

use std::collections::BTreeMap;

use darkfiber_fabric::SwitchId;

use super::RerouteError;
use super::channel::{NONE, channel};
use super::cut::{Cut, Cuts, Node};
use super::freedom::{ChoiceBy, Freedom};
use super::graph::Layer;
use super::labels::{layers, relabel};
use super::mended::{Held, Mended};
use super::outcome::Moved;
use super::prepared::Prepared;
use crate::{DELIVER, Layers, NO_ROUTE};

/// The budget of loads where neither they nor lengths of paths count.
const NO_LIMIT: u64 = u64::MAX;
/// Number of times that the cut-off part of a row grows by its neighbors before the row is abandoned.
const GROWTHS: usize = 3;

/// A channel that a cut-off switch may send on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    /// Whether the path is longer than any of the old tables.
    too_long: bool,
    /// Load above the largest of the old tables.
    excess: u64,
    changed: bool,
    hops: usize,
    /// Whether a search is needed to decide if its dependencies close a cycle. Most that need one
    /// do.
    against: bool,
    /// Largest load on the path, and the sum.
    most: u64,
    sum: u64,
    channel: u32,
}

/// The effort that [`Prepared::settle`] may make.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// Only paths that are no longer than those of the old tables, in the current layers of the
    /// paths.
    Good,
    /// Any path and layer that works.
    Any,
}

/// The row that is being repaired.
struct RowAtWork {
    freedom: Freedom,
    budget: u64,
    /// Switches that have a path again.
    settled: Vec<u32>,
    /// Whether some switch has paths of which none fits into the layers of its paths.
    unfit: bool,
    /// Scratch memory for the choices of a switch.
    choices: Vec<Choice>,
}

impl Prepared<'_> {
    /// Repairs all cuts in turn, trying to keep all loads within `budget`. An error also returns
    /// which paths had been moved.
    pub(super) fn mend(
        &mut self,
        cuts: &mut Cuts,
        budget: u64,
        freedom: Freedom,
    ) -> Result<Mended, (RerouteError, Vec<Moved>)> {
        if freedom.choice == ChoiceBy::Plan {
            return self.mend_by_detours(&cuts.all).map_err(|error| (error, Vec::new()));
        }
        if freedom.choice == ChoiceBy::Fit {
            return self.mend_by_fit(&cuts.all).map_err(|error| (error, Vec::new()));
        }
        let mut mended = Mended::default();
        let budget = if freedom.choice == ChoiceBy::Entries { NO_LIMIT } else { budget };
        for cut in &cuts.all {
            self.lift(cut.row, &cut.nodes, &mut mended.held);
        }
        let mut open = vec![false; self.fabric.switch_count()];
        for i in 0..cuts.all.len() {
            let mut result = self.mend_row(&cuts.all[i], budget, freedom, &mut open, &mut mended);
            for _ in 0..GROWTHS {
                if !matches!(result, Err(RerouteError::Levels)) {
                    break;
                }
                let Some(grown) = self.grown(&cuts.all[i]) else { break };
                let known = &cuts.all[i];
                let is_new = |node: &&Node| known.entry_before(node.switch).is_none();
                self.lift(grown.row, grown.nodes.iter().filter(is_new), &mut mended.held);
                if mended.released {
                    self.release(std::mem::take(&mut mended.held));
                }
                cuts.all[i] = grown;
                result = self.mend_row(&cuts.all[i], budget, freedom, &mut open, &mut mended);
            }
            // The only way may lead over switches that have had no entry so far, as those that `close` left.
            if let Err(RerouteError::CutOff { .. }) = result
                && let Some(grown) = self.with_lost(&cuts.all[i])
            {
                cuts.all[i] = grown;
                result = self.mend_row(&cuts.all[i], budget, freedom, &mut open, &mut mended);
            }
            if let Err(error) = result {
                return Err((error, mended.moved));
            }
        }
        if freedom.ease {
            self.ease(cuts, budget, freedom.levels, &mut mended);
        }
        if freedom.close {
            self.close(&cuts.all, &mut mended);
        }
        Ok(mended)
    }

    /// A cut with the neighbors of its switches and all that sends over these; `None` if that adds nothing. The row
    /// has its old entries.
    fn grown(&self, cut: &Cut) -> Option<Cut> {
        let fabric = self.fabric;
        let mut taken = vec![false; fabric.switch_count()];
        for node in &cut.nodes {
            taken[node.switch as usize] = true;
            for c in fabric.channels_from(SwitchId(node.switch)).filter(|&c| self.works(c as u32)) {
                taken[fabric.heads()[c] as usize] = true;
            }
        }
        taken[cut.home as usize] = false;
        // Nearest to the destination first, so that each follows the one that it sends to.
        let mut way = Vec::new();
        let mut starts: Vec<(usize, u32)> = (0..taken.len() as u32)
            .filter(|&s| taken[s as usize])
            .map(|s| {
                way.clear();
                self.follow(cut.row, s, &mut way);
                (way.len(), s)
            })
            .collect();
        starts.sort_unstable();
        let mut place = vec![NONE; fabric.switch_count()];
        let grown = self.cut(cut.row, starts.into_iter().map(|(_, s)| s), &mut place);
        (grown.nodes.len() > cut.nodes.len()).then_some(grown)
    }

    /// Removes the paths from cut-off switches of a row from the loads, and from the dependencies those that no packet
    /// can make any more; the others are held.
    pub(super) fn lift<'n>(
        &mut self,
        row: usize,
        nodes: impl IntoIterator<Item = &'n Node>,
        held: &mut Vec<Held>,
    ) {
        let mut way = Vec::new();
        for node in nodes.into_iter().filter(|n| n.layers != 0) {
            way.clear();
            if !self.follow(row, node.switch, &mut way) {
                continue;
            }
            for &c in &way {
                self.load[c as usize] -= node.amount;
            }
            for layer in layers(node.layers) {
                for pair in way.windows(2) {
                    let (from, to) = (pair[0], pair[1]);
                    if self.works(from) && self.works(to) {
                        held.push(Held { layer, from, to });
                    } else {
                        self.layers[layer as usize].take(&self.slots, self.fabric, from, to);
                    }
                }
            }
        }
    }

    /// Takes old dependencies out.
    pub(super) fn release(&mut self, held: Vec<Held>) {
        for Held { layer, from, to } in held {
            self.layers[layer as usize].take(&self.slots, self.fabric, from, to);
        }
    }

    /// A cut with the switches that reach nothing on its row, and all that sends over these; `None` if that adds nothing. The row has its
    /// old entries.
    fn with_lost(&self, cut: &Cut) -> Option<Cut> {
        let mut place = vec![NONE; self.fabric.switch_count()];
        let mut starts = self.lost(cut.row);
        starts.sort_unstable();
        let whole = self.cut(cut.row, starts.into_iter(), &mut place);
        (whole.nodes.len() > cut.nodes.len()).then_some(whole)
    }

    /// Gives the switches of a cut new entries. Where [`RerouteError::Levels`] or [`RerouteError::CutOff`] is the error, the row is as it
    /// was.
    fn mend_row(
        &mut self,
        cut: &Cut,
        budget: u64,
        freedom: Freedom,
        open: &mut [bool],
        mended: &mut Mended,
    ) -> Result<(), RerouteError> {
        for node in &cut.nodes {
            open[node.switch as usize] = true;
        }
        let mut row =
            RowAtWork { freedom, budget, settled: Vec::new(), unfit: false, choices: Vec::new() };
        let mut left = Vec::new();
        for node in &cut.nodes {
            if self.settle(cut, node, &mut row, open, Effort::Good, mended)? {
                open[node.switch as usize] = false;
            } else {
                left.push(node);
            }
        }
        let mut before = left.len() + 1;
        while left.len() < before {
            before = left.len();
            let mut still = Vec::new();
            for node in left {
                if self.settle(cut, node, &mut row, open, Effort::Any, mended)? {
                    open[node.switch as usize] = false;
                } else {
                    still.push(node);
                }
            }
            left = still;
        }
        for node in &left {
            open[node.switch as usize] = false;
        }
        if row.unfit && left.iter().any(|node| node.pairs > 0) {
            self.unsettle(cut, &row);
            return Err(RerouteError::Levels);
        }
        if let Some(node) = left.iter().find(|node| node.pairs > 0) {
            self.unsettle(cut, &row);
            return Err(RerouteError::CutOff { source_switch: node.switch, home: cut.home });
        }
        let mut is_closed = false;
        for node in left {
            self.routes.ports_mut(cut.row)[node.switch as usize] = NO_ROUTE;
            mended.dead_ends += 1;
            is_closed = true;
        }
        if is_closed && self.traffic.is_of_switch(cut.row) {
            self.with_gaps.push(cut.row);
        }
        Ok(())
    }

    /// Undoes what was done for a row.
    fn unsettle(&mut self, cut: &Cut, row: &RowAtWork) {
        let mut way = Vec::new();
        // Paths lead over switches that were settled earlier: all are followed before any entry is
        // restored.
        for &switch in &row.settled {
            let Some(node) = cut.nodes.iter().find(|n| n.switch == switch) else { continue };
            way.clear();
            self.follow(cut.row, switch, &mut way);
            for &c in &way {
                self.load[c as usize] -= node.amount;
            }
            self.withdraw(node.layers, &way);
        }
        for node in &cut.nodes {
            self.routes.ports_mut(cut.row)[node.switch as usize] = node.old;
        }
    }

    /// Gives one switch a path to the destination over switches that are not `open`; `false` if there
    /// is none that `effort` allows.
    fn settle(
        &mut self,
        cut: &Cut,
        node: &Node,
        row: &mut RowAtWork,
        open: &[bool],
        effort: Effort,
        mended: &mut Mended,
    ) -> Result<bool, RerouteError> {
        if node.switch == cut.home {
            self.routes.ports_mut(cut.row)[node.switch as usize] = DELIVER;
            return Ok(true);
        }
        let budget = row.budget;
        let mut way = Vec::new();
        let kept = channel(self.fabric, self.routes.ports(cut.row), node.switch);
        if let Some(choice) = self.choice(cut, node, kept, budget, open, &mut way)
            && !choice.too_long
            && choice.excess == 0
            && self.enter(node.layers, &way)
        {
            self.take(cut, node, &way, row);
            return Ok(true);
        }
        let mut choices = std::mem::take(&mut row.choices);
        choices.clear();
        let ways = self
            .fabric
            .channels_from(SwitchId(node.switch))
            .filter_map(|c| self.choice(cut, node, c as u32, budget, open, &mut way));
        choices.extend(ways.filter(|choice| effort == Effort::Any || !choice.too_long));
        // Usually the best one fits: the others are sorted only where it does not.
        let best = (0..choices.len()).min_by_key(|&i| choices[i]);
        if let Some(best) = best {
            choices.swap(0, best);
            if self.enter_first(cut, node, &choices[..1], row) {
                row.choices = choices;
                return Ok(true);
            }
            choices[1..].sort_unstable();
            if self.enter_first(cut, node, &choices[1..], row) {
                row.choices = choices;
                return Ok(true);
            }
        }
        if effort == Effort::Good || choices.is_empty() {
            return Ok(false);
        }
        row.unfit |= !row.freedom.levels;
        // A path that keeps its layer but may not coexist with old ones is better than one in another
        // layer: connections learn of that only with their next path query.
        if row.freedom.apart && !std::mem::replace(&mut mended.released, true) {
            self.release(std::mem::take(&mut mended.held));
            if self.enter_first(cut, node, &choices, row) {
                return Ok(true);
            }
        }
        if !row.freedom.levels {
            // Other switches of the row may find paths that suit this one, too.
            return Ok(false);
        }
        for choice in &choices {
            self.way(cut.row, choice.channel, &mut way);
            let most = self.layers.len().max(usize::from(self.lanes));
            if let Some(moves) = self.enter_elsewhere(node.layers, most, &way) {
                self.take(cut, node, &way, row);
                self.record(cut.row, node.switch, moves, mended);
                return Ok(true);
            }
        }
        Err(RerouteError::Lanes { lanes: self.lanes })
    }

    /// Takes the first of these paths that fits into all layers of a switch's paths.
    fn enter_first(
        &mut self,
        cut: &Cut,
        node: &Node,
        choices: &[Choice],
        row: &mut RowAtWork,
    ) -> bool {
        let mut way = Vec::new();
        for choice in choices {
            self.way(cut.row, choice.channel, &mut way);
            if self.enter(node.layers, &way) {
                self.take(cut, node, &way, row);
                return true;
            }
        }
        false
    }

    /// The channels of a row from channel `c` on.
    fn way(&self, row: usize, c: u32, way: &mut Vec<u32>) -> bool {
        way.clear();
        way.push(c);
        self.follow(row, self.fabric.heads()[c as usize], way)
    }

    /// The rank of sending on channel `c`; `None` if that is no path. Leaves the path in `way`.
    fn choice(
        &self,
        cut: &Cut,
        node: &Node,
        c: u32,
        budget: u64,
        open: &[bool],
        way: &mut Vec<u32>,
    ) -> Option<Choice> {
        if c == NONE || !self.works(c) || open[self.fabric.heads()[c as usize] as usize] {
            return None;
        }
        if !self.way(cut.row, c, way) {
            return None;
        }
        let hops = way.len();
        let changed = self.fabric.tail_ports()[c as usize] != node.old;
        if !node.used {
            let (too_long, against) = (false, false);
            let (excess, most, sum) = (0, 0, 0);
            return Some(Choice {
                too_long,
                excess,
                changed,
                hops,
                against,
                most,
                sum,
                channel: c,
            });
        }
        let follows =
            |layer| self.layers[usize::from(layer)].follows(&self.slots, self.fabric, way);
        let against = !layers(node.layers).all(follows);
        let loads = way.iter().map(|&c| self.load[c as usize]);
        let most = loads.clone().max().unwrap_or(0);
        Some(Choice {
            too_long: hops > self.longest && budget != NO_LIMIT,
            excess: (most + node.weight).saturating_sub(budget),
            changed,
            hops,
            against,
            most,
            sum: loads.sum(),
            channel: c,
        })
    }

    /// Writes the entry and adds the load.
    fn take(&mut self, cut: &Cut, node: &Node, way: &[u32], row: &mut RowAtWork) {
        row.settled.push(node.switch);
        let port = self.fabric.tail_ports()[way[0] as usize];
        self.routes.ports_mut(cut.row)[node.switch as usize] = port;
        for &c in way {
            self.load[c as usize] += node.amount;
        }
    }

    /// Puts a path into all layers of `mask`, or none.
    pub(super) fn enter(&mut self, mask: u32, way: &[u32]) -> bool {
        for layer in layers(mask) {
            if !self.layers[layer as usize].admit(&self.slots, self.fabric, way) {
                let earlier = mask & ((1 << layer) - 1);
                self.withdraw(earlier, way);
                return false;
            }
        }
        true
    }

    /// Undoes the last [`Self::enter`].
    pub(super) fn withdraw(&mut self, mask: u32, way: &[u32]) {
        for layer in layers(mask) {
            self.layers[layer as usize].undo(&self.slots, self.fabric, way);
        }
    }

    /// Puts a path into all layers of `mask` or, where one does not take it, into another of the first
    /// `most`; returns the (old, new) layers, `None` if there are none.
    pub(super) fn enter_elsewhere(
        &mut self,
        mask: u32,
        most: usize,
        way: &[u32],
    ) -> Option<Vec<(u8, u8)>> {
        let mut entered: Vec<(u8, u8)> = Vec::new();
        for old in layers(mask) {
            let others = std::iter::once(old).chain((0..most as u8).filter(|&l| l != old));
            let mut found = None;
            for new in others {
                if usize::from(new) >= self.layers.len() {
                    self.layers.push(Layer::new(&self.slots));
                }
                if self.layers[usize::from(new)].admit(&self.slots, self.fabric, way) {
                    found = Some(new);
                    break;
                }
            }
            let Some(new) = found else {
                for (_, new) in entered {
                    self.withdraw(1 << new, way);
                }
                return None;
            };
            entered.push((old, new));
        }
        entered.retain(|(old, new)| old != new);
        Some(entered)
    }

    /// Moves the paths from a switch on a row to other layers.
    pub(super) fn record(&mut self, row: usize, s: u32, moves: Vec<(u8, u8)>, mended: &mut Mended) {
        for (old, new) in moves {
            self.relabel(row, s, old, new);
            mended.moved.push(Moved { source: SwitchId(s), row: row as u32, old, new });
        }
    }

    /// What became of paths that moved more than once: from the layer that they had before all of it. Those that are back are left
    /// out. Where terminals of a switch have layers of their own, the moves stay one by one.
    pub(super) fn first_to_last(&self, moved: Vec<Moved>) -> Vec<Moved> {
        if matches!(self.routes.layers, Layers::BySource(_)) {
            return moved;
        }
        let mut of_path: BTreeMap<(u32, SwitchId), Moved> = BTreeMap::new();
        for m in moved {
            of_path.entry((m.row, m.source)).and_modify(|all| all.new = m.new).or_insert(m);
        }
        of_path.into_values().filter(|m| m.old != m.new).collect()
    }

    pub(super) fn relabel(&mut self, row: usize, s: u32, old: u8, new: u8) {
        relabel(self.fabric, &mut self.routes, (row, s), old, new);
    }
}
