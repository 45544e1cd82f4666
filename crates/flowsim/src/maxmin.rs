//! Max-min fair shares, kept while flows come and go.

use serde::{Deserialize, Serialize};

use crate::heap::Heap;

/// A flow that shares channels, by number; numbers of flows that are gone are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(pub u32);

/// This many flows begin or end side by side: enough that waiting for the memory is shared, few enough that the nearest
/// cache holds what they touch.
pub(crate) const ABREAST: usize = 32;
/// No channel: a flow without a share yet; a hop whose channel is not in the solve.
const NONE: u32 = u32::MAX;
/// No channel that others use: a flow at its own limit, or that of a channel that it has for itself.
const OWN: u32 = u32::MAX - 1;
/// Levels that differ less than this are one: what is left of a channel is found by subtraction.
const SAME: f64 = 1e-12;
/// A channel counts as full up to this part of its capacity.
const FULL: f64 = 1e-9;
/// After this many times that neighbours had to be taken in, all flows are.
const ROUNDS: u32 = 8;
/// Levels that are found by looking at all channels; beyond, a heap finds them if channels are more than a few.
const SCANS: u32 = 6;
const FEW: usize = 48;
/// The sum of a channel's rates is kept by difference, and recomputed after this many solves.
const AGE: u32 = 256;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Flow {
    /// How many times as much as a flow of weight 1 it gets of a full channel.
    weight: f64,
    /// The largest rate that it takes, in the unit of capacities.
    limit: f64,
    /// What it has, in the unit of capacities.
    rate: f64,
    /// The channel that keeps it from more.
    bottleneck: u32,
    /// Its channels: `path[begin..begin + length]`.
    begin: u32,
    length: u32,
    /// Places that are kept for it there, at least `length`.
    room: u32,
    /// The last solve it took part in.
    solve: u32,
}

/// A place on a path, and its neighbours in the channel's list of flows.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Hop {
    /// The channel, the flow, and places of the next and the previous hop in the channel's list, or [`NONE`].
    channel: u32,
    flow: u32,
    next: u32,
    before: u32,
    /// Where its channel is in the solve that the flow last took part in, and that channel's next hop of a member.
    slot: u32,
    fellow: u32,
}

impl Hop {
    /// The first one of its channel.
    fn of(channel: u32, flow: u32, next: u32) -> Self {
        Self { channel, flow, next, before: NONE, slot: NONE, fellow: NONE }
    }
}

/// A channel. Of one that a single flow has for itself only the capacity counts.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(64))]
struct Channel {
    /// In any unit of amount by time; rates and levels (rates by weight) have the same.
    capacity: f64,
    /// The rates of its flows together.
    used: f64,
    /// No flow that it throttles has a lower level.
    lowest: f64,
    /// None of its flows has a higher level.
    highest: f64,
    /// The first hop of its list, and how many there are.
    first: u32,
    count: u32,
    /// Flows that it keeps from more; during a solve, those that are not members.
    held: u32,
    /// Solves since `used` was summed up.
    age: u32,
    /// Its place in the solve, if that is of this channel.
    slot: u32,
}

/// What a channel is in a solve.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(64))]
struct Work {
    /// The capacity that nobody has yet, and the weight of the members without a share.
    left: f64,
    weight: f64,
    /// The capacity that flows leave that are no members, and the weight of those that are.
    room: f64,
    gross: f64,
    /// The level at which it became full, if it did, and the highest level of a member.
    level: f64,
    top: f64,
    channel: u32,
    /// How many of its flows are not members, how many are, and how many of these have no share yet.
    others: u32,
    members: u32,
    open: u32,
    /// The hop of one of its members.
    fellow: u32,
}

/// A flow in a solve.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Member {
    /// Its rate before.
    old: f64,
    /// The level of its own limit and that of the channels that it has for itself.
    own: f64,
    flow: u32,
    /// Whether it has any other channels.
    shares: bool,
}

/// Shares of flows on channels that are **weighted max-min fair**: no flow's rate by weight can grow without that of
/// another shrinking that is not larger (Bertsekas, Gallager, "Data Networks", 2nd edition, section 6.5.2).
///
/// Shares are changed locally. Flows that are new, or whose bottleneck has room again, have their rates recomputed by progressive
/// filling while all others keep their rates. Then every channel that was touched is tested for the property that
/// makes shares max-min fair: every flow has a full channel on which none has a higher level. Flows that lost theirs
/// join in, and the filling is repeated, until none has. A channel with a single flow is a limit of that flow, and is
/// not looked at otherwise.
///
/// Complexity: O(hops of the flows that change) for each repetition and O(their channels) for each level, and a look at
/// all flows of those channels that became full or are full no longer; a departure of a flow that shared its bottleneck
/// with none costs its hops.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MaxMin {
    channels: Vec<Channel>,
    flows: Vec<Flow>,
    hops: Vec<Hop>,
    unused: Vec<u32>,
    alive: usize,
    /// Channels whose flows may change, and flows that are new.
    freed: Vec<u32>,
    fresh: Vec<u32>,
    // What is used again from solve to solve.
    solve: u32,
    members: Vec<Member>,
    /// The channels of the solve.
    work: Vec<Work>,
    /// Those with members without a share, by place in the solve, and their keys.
    active: Vec<(f64, u32)>,
    limits: Vec<(f64, u32)>,
    heap: Heap,
}

impl MaxMin {
    /// Channels of these capacities, in any unit of amount by time, without flows.
    pub fn new(capacity: &[f64]) -> Self {
        let channel = |&capacity: &f64| Channel {
            capacity,
            used: 0.0,
            lowest: 0.0,
            highest: 0.0,
            first: NONE,
            count: 0,
            held: 0,
            age: 0,
            slot: NONE,
        };
        Self {
            channels: capacity.iter().map(channel).collect(),
            work: Vec::new(),
            flows: Vec::new(),
            hops: Vec::new(),
            unused: Vec::new(),
            alive: 0,
            freed: Vec::new(),
            fresh: Vec::new(),
            solve: 0,
            members: Vec::new(),
            active: Vec::new(),
            limits: Vec::new(),
            heap: Heap::default(),
        }
    }

    /// Whether another state can be one of these channels: as many of them, and no index that leads out of it.
    pub fn fits(&self, state: &Self) -> bool {
        let (channels, flows, hops) =
            (state.channels.len() as u32, state.flows.len() as u32, state.hops.len() as u64);
        let is_free = |x: u32, n: u32| x < n || x >= OWN;
        self.channels.len() == state.channels.len()
            && state.channels.iter().zip(&self.channels).all(|(a, b)| {
                a.capacity.to_bits() == b.capacity.to_bits()
                    && (u64::from(a.first) < hops || a.first == NONE)
            })
            && state.flows.iter().all(|f| {
                f.length <= f.room
                    && u64::from(f.begin) + u64::from(f.room) <= hops
                    && is_free(f.bottleneck, channels)
            })
            && state.hops.iter().all(|h| is_free(h.channel, channels) && is_free(h.flow, flows))
            && state.freed.iter().all(|&c| c < channels)
            && state.fresh.iter().chain(&state.unused).all(|&f| f < flows)
    }

    /// Makes room for this many flows more.
    pub fn reserve(&mut self, flows: usize) {
        let more = flows.saturating_sub(self.unused.len());
        self.flows.reserve(more);
        self.fresh.reserve(flows);
    }

    /// Looks at channels that will be changed soon. Nothing depends on it; but here the memory can be asked for all of
    /// them at once, where a change has to know what the one before found.
    pub fn approach(&self, channels: impl Iterator<Item = u32>) {
        let sum = |sum: u32, c| sum.wrapping_add(self.channels[c as usize].count);
        std::hint::black_box(channels.fold(0, sum));
    }

    /// Number of flows.
    pub fn len(&self) -> usize {
        self.alive
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.alive == 0
    }

    /// How many flows a channel has.
    #[inline]
    pub fn count(&self, channel: u32) -> u32 {
        self.channels[channel as usize].count
    }

    /// The capacity of a channel.
    #[inline]
    pub fn capacity(&self, channel: u32) -> f64 {
        self.channels[channel as usize].capacity
    }

    /// The rate of a flow, as of the last [`MaxMin::share`]; infinite for one without channels and limit.
    #[inline]
    pub fn rate(&self, flow: FlowId) -> f64 {
        self.flows[flow.0 as usize].rate
    }

    /// The channel that keeps a flow from more, as of the last [`MaxMin::share`]; none if that is its own limit, or a channel
    /// that it has for itself.
    pub fn bottleneck(&self, flow: FlowId) -> Option<u32> {
        Some(self.flows[flow.0 as usize].bottleneck).filter(|&c| c < OWN)
    }

    /// The channels of a flow.
    pub fn path(&self, flow: FlowId) -> impl Iterator<Item = u32> + Clone + '_ {
        self.hops[self.hops_of(flow.0)].iter().map(|h| h.channel)
    }

    /// The flows on a channel.
    #[inline]
    fn on(&self, channel: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = self.channels[channel as usize].first;
        std::iter::from_fn(move || {
            let hop = self.hops.get(at as usize)?;
            at = hop.next;
            Some(hop.flow)
        })
    }

    #[inline]
    fn hops_of(&self, flow: u32) -> std::ops::Range<usize> {
        let f = &self.flows[flow as usize];
        f.begin as usize..(f.begin + f.length) as usize
    }

    /// Adds a flow over these channels, each at most once. Its rate is known after [`MaxMin::share`]; it is at most
    /// `limit`, and `weight` times as large as that of another flow with the same bottleneck and weight 1.
    ///
    /// # Panics
    /// If the weight or the limit is not above zero.
    pub fn add(&mut self, path: &[u32], weight: f64, limit: f64) -> FlowId {
        assert!(weight > 0.0 && limit > 0.0, "weight {weight} and limit {limit} must be above 0");
        let length = path.len() as u32;
        let id = match self.unused.pop() {
            Some(id) if self.flows[id as usize].room >= length => id,
            gone => {
                let begin = self.hops.len() as u32;
                self.hops.extend(std::iter::repeat_n(Hop::of(NONE, NONE, NONE), path.len()));
                let flow = Flow {
                    weight,
                    limit,
                    rate: 0.0,
                    bottleneck: NONE,
                    begin,
                    length,
                    room: length,
                    solve: 0,
                };
                if let Some(id) = gone {
                    self.flows[id as usize] = flow;
                    id
                } else {
                    self.flows.push(flow);
                    self.flows.len() as u32 - 1
                }
            }
        };
        let flow = &mut self.flows[id as usize];
        (flow.weight, flow.limit, flow.length) = (weight, limit, length);
        (flow.rate, flow.bottleneck) = (0.0, NONE);
        let begin = flow.begin;
        for (i, &c) in path.iter().enumerate() {
            let channel = &mut self.channels[c as usize];
            let (at, next) = (begin + i as u32, channel.first);
            (channel.first, channel.count) = (at, channel.count + 1);
            let count = channel.count;
            self.hops[at as usize] = Hop::of(c, id, next);
            if let Some(next) = self.hops.get_mut(next as usize) {
                next.before = at;
                let other = next.flow;
                if count == 2 {
                    self.no_longer_alone(c, other);
                }
            }
        }
        self.alive += 1;
        self.fresh.push(id);
        FlowId(id)
    }

    /// A channel that one flow had for itself gets another.
    fn no_longer_alone(&mut self, c: u32, flow: u32) {
        let channel = &mut self.channels[c as usize];
        // Nobody has kept count: it is summed up when it is touched.
        (channel.age, channel.highest, channel.lowest) = (AGE, f64::INFINITY, 0.0);
        let flow = &mut self.flows[flow as usize];
        if flow.bottleneck == OWN {
            flow.bottleneck = c;
            channel.held = 1;
        }
    }

    /// Takes a flow away. What becomes free is shared at the next [`MaxMin::share`].
    pub fn remove(&mut self, flow: FlowId) {
        let Flow { rate, bottleneck, .. } = self.flows[flow.0 as usize];
        if bottleneck == NONE {
            // It may be among the new ones still.
            self.fresh.retain(|&f| f != flow.0);
        } else if bottleneck != OWN {
            self.channels[bottleneck as usize].held -= 1;
        }
        for h in self.hops_of(flow.0) {
            let Hop { channel: c, next, before, .. } = self.hops[h];
            if let Some(next) = self.hops.get_mut(next as usize) {
                next.before = before;
            }
            let channel = &mut self.channels[c as usize];
            channel.count -= 1;
            channel.used -= rate;
            match self.hops.get_mut(before as usize) {
                Some(before) => before.next = next,
                None => channel.first = next,
            }
            if channel.count > 0 && channel.held > 0 {
                self.freed.push(c);
            }
        }
        self.unused.push(flow.0);
        self.alive -= 1;
    }

    /// Makes the shares fair again. `changed` gets the flows whose rates changed, new ones included, and their rates
    /// before.
    pub fn share(&mut self, changed: &mut Vec<(FlowId, f64)>) {
        changed.clear();
        if self.fresh.is_empty() && self.freed.is_empty() {
            return;
        }
        self.solve += 1;
        self.members.clear();
        self.work.clear();
        let mut fresh = std::mem::take(&mut self.fresh);
        self.members.reserve(fresh.len());
        for some in fresh.chunks(ABREAST) {
            self.approach(some.iter().flat_map(|&f| self.path(FlowId(f))));
            for &f in some {
                self.join(f);
            }
        }
        fresh.clear();
        self.fresh = fresh;
        let mut freed = std::mem::take(&mut self.freed);
        for c in freed.drain(..) {
            self.join_held_by(c);
        }
        self.freed = freed;
        // What a new flow meets on full channels has to give way.
        for t in 0..self.work.len() {
            self.join_held_by(self.work[t].channel);
        }
        let mut rounds = 0;
        while !self.work.is_empty() {
            self.fill();
            let before = self.members.len();
            self.test();
            if self.members.len() == before {
                break;
            }
            rounds += 1;
            if rounds == ROUNDS {
                self.join_all();
            }
        }
        self.settle(changed);
    }

    /// Writes down what came of a solve.
    fn settle(&mut self, changed: &mut Vec<(FlowId, f64)>) {
        for work in &self.work {
            let channel = &mut self.channels[work.channel as usize];
            channel.used = channel.capacity - work.left;
            channel.age += 1;
            let whole = work.others == 0;
            channel.highest = if whole { work.top } else { channel.highest.max(work.top) };
        }
        changed.reserve(self.members.len());
        for &Member { flow: f, old, .. } in &self.members {
            let flow = &self.flows[f as usize];
            if let Some(channel) = self.channels.get_mut(flow.bottleneck as usize) {
                let level = flow.rate / flow.weight;
                channel.lowest = if channel.held == 0 { level } else { channel.lowest.min(level) };
                channel.held += 1;
            }
            #[expect(clippy::float_cmp, reason = "any change counts")]
            if flow.rate != old || old == 0.0 {
                changed.push((FlowId(f), old));
            }
        }
    }

    /// Takes a flow into the solve, and the channels that it shares.
    #[inline]
    fn join(&mut self, f: u32) {
        let flow = &mut self.flows[f as usize];
        if flow.solve == self.solve {
            return;
        }
        flow.solve = self.solve;
        let Flow { weight, rate, mut limit, .. } = *flow;
        let bottleneck = std::mem::replace(&mut flow.bottleneck, OWN);
        if let Some(channel) = self.channels.get_mut(bottleneck as usize) {
            channel.held -= 1;
        }
        let mut shares = false;
        for h in self.hops_of(f) {
            let c = self.hops[h].channel;
            let channel = &self.channels[c as usize];
            if channel.count == 1 {
                limit = limit.min(channel.capacity);
                self.hops[h].slot = NONE;
                continue;
            }
            shares = true;
            let mut slot = channel.slot;
            if self.work.get(slot as usize).is_none_or(|w| w.channel != c) {
                slot = self.touch(c);
            }
            let work = &mut self.work[slot as usize];
            (self.hops[h].slot, self.hops[h].fellow) = (slot, work.fellow);
            work.fellow = h as u32;
            work.members += 1;
            work.others -= 1;
            work.gross += weight;
            work.room += rate;
        }
        if !shares {
            self.flows[f as usize].rate = limit;
        }
        self.members.push(Member { old: rate, own: limit / weight, flow: f, shares });
    }

    /// Takes a channel into the solve; returns its place.
    fn touch(&mut self, c: u32) -> u32 {
        let mut used = self.channels[c as usize].used;
        if self.channels[c as usize].age >= AGE {
            used = self.on(c).map(|f| self.flows[f as usize].rate).sum();
            self.channels[c as usize].age = 0;
        }
        let slot = self.work.len() as u32;
        let channel = &mut self.channels[c as usize];
        channel.slot = slot;
        self.work.push(Work {
            left: 0.0,
            weight: 0.0,
            room: channel.capacity - used,
            gross: 0.0,
            level: f64::INFINITY,
            top: 0.0,
            channel: c,
            others: channel.count,
            members: 0,
            open: 0,
            fellow: NONE,
        });
        slot
    }

    /// Takes in the flows that a channel keeps from more.
    fn join_held_by(&mut self, c: u32) {
        let mut at = self.channels[c as usize].first;
        while self.channels[c as usize].held > 0
            && let Some(&Hop { flow, next, .. }) = self.hops.get(at as usize)
        {
            at = next;
            if self.flows[flow as usize].bottleneck == c {
                self.join(flow);
            }
        }
    }

    fn join_all(&mut self) {
        for c in 0..self.channels.len() {
            let mut at = self.channels[c].first;
            while let Some(&Hop { flow, next, .. }) = self.hops.get(at as usize) {
                at = next;
                self.join(flow);
            }
        }
    }

    /// Shares what the others leave among the members, by progressive filling.
    fn fill(&mut self) {
        self.active.clear();
        let mut least = f64::INFINITY;
        for (slot, work) in (0..).zip(&mut self.work) {
            let whole = work.others == 0;
            work.left =
                if whole { self.channels[work.channel as usize].capacity } else { work.room };
            work.left = work.left.max(0.0);
            (work.weight, work.open) = (work.gross, work.members);
            (work.level, work.top) = (f64::INFINITY, 0.0);
            let key = work.left / work.weight;
            self.active.push((key, slot));
            least = least.min(key);
        }
        let mut open = 0;
        let mut lowest = f64::INFINITY;
        for m in self.members.iter().filter(|m| m.shares) {
            // Below zero until it has a share.
            self.flows[m.flow as usize].rate = -1.0;
            lowest = lowest.min(m.own);
            open += 1;
        }
        self.limits.clear();
        let mut level = 0.0f64;
        let mut scans = 0;
        while open > 0 && (scans < SCANS || self.active.len() <= FEW) {
            if scans > 0 {
                least = self.scan();
            }
            scans += 1;
            if lowest < least {
                let limited = self.limited(&mut lowest, least);
                if limited > 0 {
                    // Levels are higher now.
                    open -= limited;
                    continue;
                }
            }
            level = level.max(least);
            let before = open;
            for i in 0..self.active.len() {
                let (key, slot) = self.active[i];
                // Keys only grow while others are given shares.
                if key > level * (1.0 + SAME) {
                    continue;
                }
                let work = &self.work[slot as usize];
                if work.open > 0 && work.left <= level * work.weight * (1.0 + SAME) {
                    open -= self.freeze(slot, level);
                }
            }
            if open == before {
                // Rounding has left a channel with members and no weight: the heap takes it as it comes.
                break;
            }
        }
        if open > 0 {
            self.fill_by_heap(level, lowest);
        }
    }

    /// Finds the keys of all channels with members without a share; returns the least.
    fn scan(&mut self) -> f64 {
        let (mut least, mut kept) = (f64::INFINITY, 0);
        for i in 0..self.active.len() {
            let slot = self.active[i].1;
            let work = &self.work[slot as usize];
            if work.open > 0 {
                let key = work.left / work.weight;
                self.active[kept] = (key, slot);
                kept += 1;
                least = least.min(key);
            }
        }
        self.active.truncate(kept);
        least
    }

    /// The rest of [`Self::fill`], where levels are many.
    fn fill_by_heap(&mut self, mut level: f64, mut lowest: f64) {
        let mut heap = std::mem::take(&mut self.heap);
        heap.items.clear();
        for &(_, slot) in &self.active {
            let work = &self.work[slot as usize];
            if work.open > 0 {
                heap.items.push((work.left / work.weight, slot));
            }
        }
        heap.order();
        while let Some(&(key, slot)) = heap.items.first() {
            let work = &self.work[slot as usize];
            if work.open == 0 {
                heap.pop();
                continue;
            }
            let now = work.left / work.weight;
            // Levels only rise while others are taken out.
            if now > key * (1.0 + SAME) {
                heap.replace(now);
                continue;
            }
            if lowest < key {
                self.limited(&mut lowest, key);
                continue;
            }
            heap.pop();
            if key > level * (1.0 + SAME) {
                level = key;
            }
            self.freeze(slot, level);
        }
        self.heap = heap;
    }

    /// Gives flows whose own limits are below a level these limits; returns how many. `lowest` is the lowest limit of
    /// those without a share, then and now.
    fn limited(&mut self, lowest: &mut f64, level: f64) -> u32 {
        let mut limits = std::mem::take(&mut self.limits);
        if limits.is_empty() {
            let open = self.members.iter().filter(|m| m.shares && m.own < f64::INFINITY);
            limits.extend(open.map(|m| (m.own, m.flow)));
            limits.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        }
        let mut count = 0;
        *lowest = f64::INFINITY;
        while let Some(&(limit, f)) = limits.last() {
            if self.flows[f as usize].rate < 0.0 {
                if limit >= level {
                    *lowest = limit;
                    break;
                }
                self.give(f, limit, OWN);
                count += 1;
            }
            limits.pop();
        }
        self.limits = limits;
        count
    }

    /// All flows of a channel that have no share yet get theirs; returns how many.
    fn freeze(&mut self, slot: u32, level: f64) -> u32 {
        let work = &mut self.work[slot as usize];
        work.level = level;
        let (open, c) = (work.open, work.channel);
        let mut count = 0;
        let mut at = work.fellow;
        while count < open
            && let Some(&Hop { flow: f, fellow, .. }) = self.hops.get(at as usize)
        {
            at = fellow;
            if self.flows[f as usize].rate < 0.0 {
                self.give(f, level, c);
                count += 1;
            }
        }
        count
    }

    #[inline]
    fn give(&mut self, f: u32, level: f64, bottleneck: u32) {
        let flow = &mut self.flows[f as usize];
        let (weight, rate) = (flow.weight, level * flow.weight);
        (flow.rate, flow.bottleneck) = (rate, bottleneck);
        let range = self.hops_of(f);
        for hop in &self.hops[range] {
            // Channels that it has for itself have no place.
            if let Some(work) = self.work.get_mut(hop.slot as usize) {
                work.left = (work.left - rate).max(0.0);
                work.weight -= weight;
                work.open -= 1;
                work.top = work.top.max(level);
            }
        }
    }

    /// Takes in whoever has no bottleneck any more.
    fn test(&mut self) {
        for t in 0..self.work.len() {
            let Work { left, level, top, others, channel: c, .. } = self.work[t];
            if others == 0 {
                continue;
            }
            let Channel { capacity, lowest, highest, first, held, .. } = self.channels[c as usize];
            let full = left <= capacity * FULL;
            // Whether any can be that has more than those that this channel throttles, or is held back here no longer.
            let above = highest > level * (1.0 + FULL);
            let freed = held > 0 && (!full || top > lowest * (1.0 + FULL));
            if !above && !freed {
                continue;
            }
            let mut highest = 0.0f64;
            let mut at = first;
            while let Some(&Hop { flow: f, next, .. }) = self.hops.get(at as usize) {
                at = next;
                let flow = &self.flows[f as usize];
                if flow.solve == self.solve {
                    continue;
                }
                let own = flow.rate / flow.weight;
                let above = own > level * (1.0 + FULL);
                let freed = flow.bottleneck == c && (!full || top > own * (1.0 + FULL));
                if above || freed {
                    self.join(f);
                    // Its share will change, and with it what others have on the channels that it filled.
                    for h in self.hops_of(f) {
                        self.join_held_by(self.hops[h].channel);
                    }
                } else {
                    highest = highest.max(own);
                }
            }
            self.channels[c as usize].highest = highest;
        }
    }
}
