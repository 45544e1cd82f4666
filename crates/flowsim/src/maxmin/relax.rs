//! Levels of channels, found anew where something changed.

use std::cmp::Reverse;

use super::{ABREAST, FlowId, MaxMin, Offer};

/// Levels that differ by less than this part do so by rounding only.
pub(super) const EXACT: f64 = 1e-12;
/// A channel has room for all as long as they want no more than this part too much of it.
const OVER: f64 = 1e-11;
/// Following changes is given up for all shares from nothing when it has looked at as many times the hops of all flows, and at
/// least at one for each channel.
const MOST_LOOKS: u64 = 4;

impl MaxMin {
    /// Makes the shares fair again. `changed` gets the flows whose rates changed, new ones included, and their rates
    /// before.
    pub fn share(&mut self, changed: &mut Vec<(FlowId, f64)>) {
        changed.clear();
        if self.fresh.is_empty() && self.freed.is_empty() {
            return;
        }
        self.solve += 1;
        let mut fresh = std::mem::take(&mut self.fresh);
        changed.reserve(fresh.len());
        for some in fresh.chunks(ABREAST) {
            self.approach(some.iter().flat_map(|&f| self.path(FlowId(f))));
            for &f in some {
                self.follow(f, changed);
            }
        }
        fresh.clear();
        self.fresh = fresh;
        let mut freed = std::mem::take(&mut self.freed);
        for c in freed.drain(..) {
            self.enqueue(c, 0.0);
        }
        self.freed = freed;
        self.looks = 0;
        let most = (MOST_LOOKS * self.hop_count).max(self.channels.len() as u64);
        while let Some(Reverse((key, c))) = self.queue.pop() {
            let mut level = f64::from_bits(key);
            if !self.channels[c as usize].is_levelled {
                level = self.level(c);
                // Others that may be lower go first: they decide what is left here.
                let first =
                    self.queue.peek().map_or(f64::INFINITY, |first| f64::from_bits(first.0.0));
                if level > first * (1.0 + EXACT) && level < f64::INFINITY {
                    self.channels[c as usize].is_levelled = true;
                    self.queue.push(Reverse((level.to_bits(), c)));
                    continue;
                }
            }
            self.channels[c as usize].is_queued = false;
            self.set(c, level, changed);
            if self.looks > most {
                self.fill(changed);
                break;
            }
        }
        self.retain_changes(changed);
    }

    /// Forgets flows whose rates are again what they were.
    pub(super) fn retain_changes(&self, changed: &mut Vec<(FlowId, f64)>) {
        let flows = &self.flows;
        #[expect(clippy::float_cmp, reason = "any change counts")]
        changed.retain(|&(f, old)| flows[f.0 as usize].rate() != old || old == 0.0);
    }

    /// A channel's level may be another one, but not below `least`.
    fn enqueue(&mut self, c: u32, least: f64) {
        let channel = &mut self.channels[c as usize];
        if channel.is_queued || channel.count == 0 {
            return;
        }
        (channel.is_queued, channel.is_levelled) = (true, false);
        let key = least.max(channel.capacity / channel.weight).max(0.0);
        self.queue.push(Reverse((key.to_bits(), c)));
    }

    /// The level of a channel, as its flows' other channels are.
    fn level(&mut self, c: u32) -> f64 {
        let mut offers = std::mem::take(&mut self.offers);
        offers.clear();
        let (mut wanted, mut weights) = (0.0, 0.0);
        for entry in &self.lists[self.on(c)] {
            let f = &self.flows[entry.flow as usize];
            let (demand, weight) = (f.demand(c), f.weight);
            wanted += demand * weight;
            weights += weight;
            offers.push(Offer { demand, weight });
        }
        self.looks += offers.len() as u64;
        let capacity = self.channels[c as usize].capacity;
        let least = capacity / weights;
        let level = if offers.len() == 1 {
            least
        } else if wanted <= capacity * (1.0 + OVER) {
            f64::INFINITY
        } else {
            let before = self.levels[c as usize];
            full(&offers, capacity, least, if before < f64::INFINITY { before } else { least })
        };
        self.offers = offers;
        level
    }

    /// Gives a channel this level, and follows what that changes of its flows.
    fn set(&mut self, c: u32, level: f64, changed: &mut Vec<(FlowId, f64)>) {
        let before = self.levels[c as usize];
        let is_same = before.min(level) >= before.max(level) * (1.0 - EXACT);
        if !is_same {
            self.levels[c as usize] = level;
        }
        let mut used = 0.0;
        self.looks += u64::from(self.channels[c as usize].count);
        for at in self.on(c) {
            let flow = self.lists[at].flow;
            let f = &mut self.flows[flow as usize];
            // Whether the channel's is, or was, one of the two least levels of the path.
            if !is_same && (f.bottleneck == c || before.min(level) <= f.next) {
                if level >= f.low && level < before && f.bottleneck != c {
                    f.next = level;
                    let bottleneck = f.bottleneck;
                    self.other_demand(bottleneck);
                } else {
                    self.follow(flow, changed);
                }
            }
            used += self.flows[flow as usize].rate();
        }
        self.channels[c as usize].used = used;
    }

    /// What a channel waits to be set to does not hold any more.
    fn other_demand(&mut self, c: u32) {
        if let Some(channel) = self.channels.get_mut(c as usize) {
            channel.is_levelled = false;
        }
    }

    /// Looks at a flow's path again, and at those of its channels to which a change of its rate matters.
    fn follow(&mut self, flow: u32, changed: &mut Vec<(FlowId, f64)>) {
        let range = self.hops_of(flow);
        self.looks += range.len() as u64;
        let old = self.flows[flow as usize];
        let (low, next, bottleneck) = self.least(flow);
        let f = &mut self.flows[flow as usize];
        (f.next, f.bottleneck) = (next, bottleneck);
        if low.to_bits() == old.low.to_bits() {
            for c in [old.bottleneck, bottleneck] {
                self.other_demand(c);
            }
            return;
        }
        f.low = low;
        let new = *f;
        if f.solve != self.solve {
            f.solve = self.solve;
            changed.push((FlowId(flow), old.rate()));
        }
        // Without any level yet it gets one from the first channel that is levelled.
        let more = if low < f64::INFINITY { new.rate() } else { 0.0 }
            - if old.low < f64::INFINITY { old.rate() } else { 0.0 };
        for h in range {
            let c = self.hops[h].channel;
            let channel = &mut self.channels[c as usize];
            channel.used += more;
            if channel.count == 1 {
                continue;
            }
            let level = self.levels[c as usize];
            let (a, b) = (old.demand(c), new.demand(c));
            let (least, differs) = (a.min(b), a.to_bits() != b.to_bits());
            // What it waits to be set to may depend on it.
            channel.is_levelled &= !differs;
            let matters = if level < f64::INFINITY {
                differs && least < level
            } else {
                low == f64::INFINITY || channel.used > channel.capacity * (1.0 + OVER)
            };
            if matters {
                self.enqueue(c, least);
            }
        }
    }
}

/// The level at which flows that want more than a channel has fill it: the sum of `min(demand, level)` by weight is the
/// capacity. `least` is what all get if none wants less; `guess` any level.
fn full(offers: &[Offer], capacity: f64, least: f64, guess: f64) -> f64 {
    // The sum is concave: a step of Newton's leads to the level or below it, and from there up without ever passing it.
    let mut level = guess;
    let mut is_below = false;
    loop {
        let (mut held, mut free) = (0.0, 0.0);
        for o in offers {
            if o.demand > level {
                held += o.weight;
            } else {
                free += o.demand * o.weight;
            }
        }
        let next = if held > 0.0 { ((capacity - free) / held).max(least) } else { least };
        if next.to_bits() == level.to_bits() || (is_below && next < level) {
            return level;
        }
        (level, is_below) = (next, true);
    }
}
