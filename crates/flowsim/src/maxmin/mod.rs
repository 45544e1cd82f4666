//! Max-min fair shares, kept while flows come and go.

mod fill;
mod relax;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

/// A flow that shares channels, by number; numbers of flows that are gone are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(pub u32);

/// This many flows begin or end side by side: enough that waiting for the memory is shared, few enough that the nearest
/// cache holds what they touch.
pub(crate) const ABREAST: usize = 32;
/// No hop, and no channel: the bottleneck of a flow without a share yet, or at its own limit.
const NONE: u32 = u32::MAX;
/// A channel's list has room for this many flows at first.
const ROOM: u32 = 2;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(64))]
struct Flow {
    /// How many times as much as a flow of weight 1 it gets of a full channel.
    weight: f64,
    /// The largest rate by weight that it takes, in the unit of capacities.
    limit: f64,
    /// The least of its limit and the levels of its channels: its rate by weight. 0 before its first share.
    low: f64,
    /// The least without the channel that gives `low`.
    next: f64,
    /// The channel that gives `low`: its bottleneck. [`NONE`] if that is its limit.
    bottleneck: u32,
    /// Its channels: `path[begin..begin + length]`.
    begin: u32,
    length: u32,
    /// Places that are kept for it there, at least `length`.
    room: u32,
    /// The last solve in which its rate changed.
    solve: u32,
}

impl Flow {
    /// In the unit of capacities.
    fn rate(&self) -> f64 {
        self.low * self.weight
    }

    /// What it would take, by weight, of a channel that had room for all.
    fn demand(&self, channel: u32) -> f64 {
        if self.bottleneck == channel { self.next } else { self.low }
    }
}

/// A channel of a flow's path, and which of the channel's flows it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Hop {
    channel: u32,
    place: u32,
}

/// A flow of a channel, and the place in `hops` that leads here.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    flow: u32,
    hop: u32,
}

/// A channel while it fills.
#[derive(Clone, Copy, Debug)]
struct Filling {
    /// What those flows leave that have their share.
    left: f64,
    /// The weights of the flows without a share, and how many these are.
    weight: f64,
    count: u32,
    /// The level at which it was full; infinite if it never is.
    level: f64,
}

/// A flow whose limit may be below its share.
#[derive(Clone, Copy, Debug)]
struct Limited {
    limit: f64,
    flow: u32,
}

/// What a flow would take of a channel if that had room for all.
#[derive(Clone, Copy, Debug)]
struct Offer {
    /// By weight.
    demand: f64,
    weight: f64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Channel {
    /// In any unit of amount by time; rates and levels (rates by weight) have the same.
    capacity: f64,
    /// The rates of its flows together, and their weights.
    used: f64,
    weight: f64,
    /// Its flows: `lists[first..first + count]`, in any order; places that are kept for it there, at least `count`.
    first: u32,
    count: u32,
    room: u32,
    /// Its level is to be found anew.
    is_queued: bool,
    /// It was found, and still is what the queue says.
    is_levelled: bool,
}

impl Channel {
    /// Makes room for one more flow, `entry`: twice the room, at the end of the lists. What is left behind is never more than what is in
    /// use.
    #[cold]
    fn grow(&mut self, lists: &mut Vec<Entry>, entry: Entry) {
        let old = self.first as usize..(self.first + self.count) as usize;
        self.first = lists.len() as u32;
        self.room = (2 * self.room).max(ROOM);
        lists.extend_from_within(old);
        lists.resize((self.first + self.room) as usize, entry);
    }
}

/// Shares of flows on channels that are **weighted max-min fair**: no flow's rate by weight can grow without that of
/// another shrinking that is not larger (Bertsekas, Gallager, "Data Networks", 2nd edition, section 6.5.2).
///
/// A channel has a *level*: the rate by weight of the flows that it keeps from more, infinite if it keeps none. A flow
/// has the least level of its path (and its own limit). What flows would take of a channel if it were infinitely wide
/// gives the channel's level; and these levels belong to the fair shares when each is the one that the others give.
/// So a change is followed from channel to channel: the lowest one whose level may be another is levelled anew, and
/// those of its flows whose rates change pass that on to other channels, but only to such as it matters to: it does
/// not where the flow is kept below its old and new rate anyway, nor where a channel has room for all. Channels are
/// taken by levels, as progressive filling does, so that most are levelled once or twice.
///
/// Complexity of a change: O(flows) of each channel that is looked at, and O(hops) of each flow whose rate changes. Where that comes to
/// several times the hops of all flows, all shares are found from nothing instead, which takes each hop once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MaxMin {
    channels: Vec<Channel>,
    /// Of each channel; apart from the rest, since a flow that changes reads those of its whole path.
    levels: Vec<f64>,
    flows: Vec<Flow>,
    hops: Vec<Hop>,
    lists: Vec<Entry>,
    unused: Vec<u32>,
    alive: usize,
    /// Channels that lost flows, and flows that are new.
    freed: Vec<u32>,
    fresh: Vec<u32>,
    solve: u32,
    /// Hops of all flows.
    hop_count: u64,
    // What is empty between solves, and kept for its memory.
    #[serde(skip)]
    queue: BinaryHeap<Reverse<(u64, u32)>>,
    #[serde(skip)]
    offers: Vec<Offer>,
    /// Flows of channels, and hops, that the solve has looked at.
    #[serde(skip)]
    looks: u64,
    #[serde(skip)]
    filling: Vec<Filling>,
    #[serde(skip)]
    limited: Vec<Limited>,
    #[serde(skip)]
    has_share: Vec<bool>,
}

impl MaxMin {
    /// Channels of these capacities, in any unit of amount by time, without flows.
    pub fn new(capacity: &[f64]) -> Self {
        let channel = |&capacity: &f64| Channel {
            capacity,
            used: 0.0,
            weight: 0.0,
            first: 0,
            count: 0,
            room: 0,
            is_queued: false,
            is_levelled: false,
        };
        Self {
            channels: capacity.iter().map(channel).collect(),
            levels: vec![f64::INFINITY; capacity.len()],
            ..Self::default()
        }
    }

    /// Whether another state can be one of these channels: as many of them, and no index that leads out of it.
    pub fn fits(&self, state: &Self) -> bool {
        let (channels, flows) = (state.channels.len() as u32, state.flows.len() as u32);
        let is_free = |x: u32, n: u32| x < n || x == NONE;
        let lies_in =
            |first: u32, room: u32, n: usize| u64::from(first) + u64::from(room) <= n as u64;
        self.channels.len() == state.channels.len()
            && self.levels.len() == state.levels.len()
            && state.channels.iter().zip(&self.channels).all(|(a, b)| {
                a.capacity.to_bits() == b.capacity.to_bits()
                    && a.count <= a.room
                    && lies_in(a.first, a.room, state.lists.len())
                    && !a.is_queued
            })
            && state.flows.iter().all(|f| {
                f.length <= f.room
                    && lies_in(f.begin, f.room, state.hops.len())
                    && is_free(f.bottleneck, channels)
            })
            && state.hops.iter().all(|h| {
                let channel = state.channels.get(h.channel as usize);
                h.channel == NONE || channel.is_some_and(|c| h.place < c.room.max(1))
            })
            && state.lists.iter().all(|e| e.flow < flows && (e.hop as usize) < state.hops.len())
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
        self.flows[flow.0 as usize].rate()
    }

    /// The channel that keeps a flow from more, as of the last [`MaxMin::share`]; none if that is its own limit, or a channel
    /// that it has for itself.
    pub fn bottleneck(&self, flow: FlowId) -> Option<u32> {
        let c = self.flows[flow.0 as usize].bottleneck;
        self.channels.get(c as usize).filter(|channel| channel.count > 1).map(|_| c)
    }

    /// The channels of a flow.
    pub fn path(&self, flow: FlowId) -> impl Iterator<Item = u32> + Clone + '_ {
        self.hops[self.hops_of(flow.0)].iter().map(|h| h.channel)
    }

    /// Where the flows of a channel are in `lists`.
    #[inline]
    fn on(&self, channel: u32) -> std::ops::Range<usize> {
        let Channel { first, count, .. } = self.channels[channel as usize];
        first as usize..(first + count) as usize
    }

    #[inline]
    fn hops_of(&self, flow: u32) -> std::ops::Range<usize> {
        let f = &self.flows[flow as usize];
        f.begin as usize..(f.begin + f.length) as usize
    }

    /// The least of a flow's limit and the levels of its path, the least but that one, and the channel that gives it; [`NONE`] if that
    /// is the limit.
    #[inline]
    fn least(&self, flow: u32) -> (f64, f64, u32) {
        let limit = self.flows[flow as usize].limit;
        let (mut low, mut next, mut bottleneck) = (limit, f64::INFINITY, NONE);
        for &Hop { channel, .. } in &self.hops[self.hops_of(flow)] {
            let level = self.levels[channel as usize];
            if level < low {
                (low, next, bottleneck) = (level, low, channel);
            } else if level < next {
                next = level;
            }
        }
        (low, next, bottleneck)
    }

    /// Adds a flow over these channels, each at most once. Its rate is known after [`MaxMin::share`]; it is at most
    /// `limit`, and `weight` times as large as that of another flow with the same bottleneck and weight 1.
    ///
    /// # Panics
    /// If the weight or the limit is not above zero.
    pub fn add(&mut self, path: &[u32], weight: f64, limit: f64) -> FlowId {
        assert!(weight > 0.0 && limit > 0.0, "weight {weight} and limit {limit} must be above 0");
        let length = path.len() as u32;
        let new = |begin, room| Flow {
            weight,
            limit: limit / weight,
            low: 0.0,
            next: 0.0,
            bottleneck: NONE,
            begin,
            length,
            room,
            solve: 0,
        };
        let id = match self.unused.pop() {
            Some(id) if self.flows[id as usize].room >= length => {
                let Flow { begin, room, .. } = self.flows[id as usize];
                self.flows[id as usize] = new(begin, room);
                id
            }
            gone => {
                let flow = new(self.hops.len() as u32, length);
                let hop = Hop { channel: NONE, place: 0 };
                self.hops.extend(std::iter::repeat_n(hop, path.len()));
                if let Some(id) = gone {
                    self.flows[id as usize] = flow;
                    id
                } else {
                    self.flows.push(flow);
                    self.flows.len() as u32 - 1
                }
            }
        };
        let begin = self.flows[id as usize].begin;
        let hops = &mut self.hops[begin as usize..(begin + length) as usize];
        for ((at, hop), &c) in (begin..).zip(hops).zip(path) {
            let channel = &mut self.channels[c as usize];
            let (place, entry) = (channel.count, Entry { flow: id, hop: at });
            if place == channel.room {
                channel.grow(&mut self.lists, entry);
            }
            self.lists[(channel.first + place) as usize] = entry;
            *hop = Hop { channel: c, place };
            channel.count += 1;
            if place > 0 {
                channel.weight += weight;
            } else {
                // All that one flow has to know of it, whatever others do.
                channel.weight = weight;
                self.levels[c as usize] = channel.capacity / weight;
            }
        }
        self.alive += 1;
        self.hop_count += u64::from(length);
        self.fresh.push(id);
        FlowId(id)
    }

    /// Takes a flow away. What becomes free is shared at the next [`MaxMin::share`].
    pub fn remove(&mut self, flow: FlowId) {
        let gone = self.flows[flow.0 as usize];
        if gone.low == 0.0 {
            self.fresh.retain(|&f| f != flow.0);
        }
        for h in self.hops_of(flow.0) {
            let Hop { channel: c, place } = self.hops[h];
            let channel = &mut self.channels[c as usize];
            channel.count -= 1;
            let level = &mut self.levels[c as usize];
            if channel.count == 0 {
                (channel.used, channel.weight, *level) = (0.0, 0.0, f64::INFINITY);
                continue;
            }
            // The last one takes its place.
            let last = self.lists[(channel.first + channel.count) as usize];
            self.lists[(channel.first + place) as usize] = last;
            self.hops[last.hop as usize].place = place;
            channel.weight -= gone.weight;
            channel.used -= gone.rate();
            if channel.count == 1 || *level < f64::INFINITY {
                self.freed.push(c);
            }
        }
        self.unused.push(flow.0);
        self.alive -= 1;
        self.hop_count -= u64::from(gone.length);
    }
}
