//! All shares found from nothing, by progressive filling (Bertsekas, Gallager, "Data Networks", 2nd edition, section 6.5.2): where most of
//! them change, following each change costs more.

use std::cmp::Reverse;

use super::relax::EXACT;
use super::{Channel, Filling, FlowId, Limited, MaxMin};

impl MaxMin {
    /// As [`MaxMin::share`], from nothing: O(h log c) for `h` hops of all flows and `c` channels, whatever changed. Shares that change
    /// by rounding only stay as they are.
    pub fn share_from_nothing(&mut self, changed: &mut Vec<(FlowId, f64)>) {
        changed.clear();
        self.solve += 1;
        for f in std::mem::take(&mut self.fresh) {
            // Flows without channels have their limits; the others are found below.
            self.take_share(f, changed);
        }
        self.fill(changed);
        self.retain_changes(changed);
    }

    /// Fills all channels, and gives their flows what that leaves; `changed` is added to.
    pub(super) fn fill(&mut self, changed: &mut Vec<(FlowId, f64)>) {
        self.queue.clear();
        self.freed.clear();
        self.begin_filling();
        self.fill_channels();
        self.take_levels();
        for c in 0..self.channels.len() as u32 {
            let channel = &mut self.channels[c as usize];
            (channel.is_queued, channel.is_levelled, channel.used) = (false, false, 0.0);
            for at in self.on(c) {
                let entry = self.lists[at];
                // Each flow once: where its path begins.
                if entry.hop == self.flows[entry.flow as usize].begin {
                    self.take_share(entry.flow, changed);
                }
            }
        }
        // All shares are known: what channels carry.
        for c in 0..self.channels.len() as u32 {
            let rates = self.lists[self.on(c)].iter().map(|e| self.flows[e.flow as usize].rate());
            self.channels[c as usize].used = rates.sum();
        }
    }

    /// Channels as they are before anybody has a share, those that are full first in the queue; flows with limits, least first.
    fn begin_filling(&mut self) {
        let mut filling = std::mem::take(&mut self.filling);
        filling.clear();
        self.limited.clear();
        self.has_share.clear();
        self.has_share.resize(self.flows.len(), false);
        for (c, channel) in (0u32..).zip(&self.channels) {
            let mut weight = 0.0;
            for entry in &self.lists[self.on(c)] {
                let f = &self.flows[entry.flow as usize];
                weight += f.weight;
                if f.limit < f64::INFINITY && entry.hop == f.begin {
                    self.limited.push(Limited { limit: f.limit, flow: entry.flow });
                }
            }
            let Channel { capacity: left, count, .. } = *channel;
            filling.push(Filling { left, weight, count, level: f64::INFINITY });
            if count > 0 {
                self.queue.push(Reverse(((left / weight).to_bits(), c)));
            }
        }
        self.filling = filling;
        // The last ones are the least.
        let order =
            |a: &Limited, b: &Limited| b.limit.total_cmp(&a.limit).then(b.flow.cmp(&a.flow));
        self.limited.sort_unstable_by(order);
    }

    /// Takes channels as they fill, each with the flows that it then keeps from more.
    fn fill_channels(&mut self) {
        while let Some(Reverse((key, c))) = self.queue.pop() {
            let at = self.filling[c as usize];
            if at.count == 0 {
                continue;
            }
            // Levels of channels only rise while others take flows away from them.
            let level = (at.left / at.weight).max(0.0);
            let first = self.queue.peek().map_or(f64::INFINITY, |first| f64::from_bits(first.0.0));
            if level.to_bits() > key && level > first {
                self.queue.push(Reverse((level.to_bits(), c)));
                continue;
            }
            if self.limited.last().is_some_and(|least| least.limit <= level) {
                while let Some(Limited { limit, flow }) =
                    self.limited.pop_if(|least| least.limit <= level)
                {
                    self.settle(flow, limit);
                }
                self.queue.push(Reverse((level.to_bits(), c)));
                continue;
            }
            self.filling[c as usize].level = level;
            for place in self.on(c) {
                self.settle(self.lists[place].flow, level);
            }
        }
    }

    /// Gives a flow its share, if it has none yet.
    fn settle(&mut self, flow: u32, level: f64) {
        if std::mem::replace(&mut self.has_share[flow as usize], true) {
            return;
        }
        let weight = self.flows[flow as usize].weight;
        for h in self.hops_of(flow) {
            let at = &mut self.filling[self.hops[h].channel as usize];
            at.left -= level * weight;
            at.weight -= weight;
            at.count -= 1;
        }
    }

    /// Takes over the levels that were found, but for those that differ by rounding only.
    fn take_levels(&mut self) {
        for (c, at) in self.filling.iter().enumerate() {
            let channel = &self.channels[c];
            let found = match channel.count {
                // All that one flow has to know of it.
                1 => {
                    let only = self.lists[channel.first as usize].flow;
                    channel.capacity / self.flows[only as usize].weight
                }
                _ => at.level,
            };
            let (low, high) = (found.min(self.levels[c]), found.max(self.levels[c]));
            if low < high * (1.0 - EXACT) {
                self.levels[c] = found;
            }
        }
    }

    /// What the levels of its path leave a flow.
    fn take_share(&mut self, flow: u32, changed: &mut Vec<(FlowId, f64)>) {
        let (low, next, bottleneck) = self.least(flow);
        let f = &mut self.flows[flow as usize];
        let old = f.rate();
        let is_same = low.to_bits() == f.low.to_bits();
        (f.low, f.next, f.bottleneck) = (low, next, bottleneck);
        if !is_same && f.solve != self.solve {
            f.solve = self.solve;
            changed.push((FlowId(flow), old));
        }
    }
}
