//! The permutation that loads a channel most.

use darkfiber_fabric::ChannelId;
use darkfiber_routing::unwind_if_asked;
use rayon::prelude::*;
use thiserror::Error;

use super::paths::{Channels, Store};
use super::{Costs, Paths};

/// Pairs of classes that are held together.
const MOST_EDGES: u64 = 1 << 26;
/// Channels that are solved first; then four times as many, and so on.
const FIRST: usize = 4;
/// Tasks that go through all paths, each with separate counts.
const TASKS: usize = 8;

/// The worst that a permutation can do.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// `WORST`: most flows of any permutation, partial ones included, on any channel.
    pub load: u32,
    /// Time of a flow there relative to its time alone; with links of one speed equal to the load.
    pub slowdown: f64,
    /// The channel; `None` if no channel between switches carries more than a terminal's link.
    pub channel: Option<ChannelId>,
    /// Pairs of participants of such a permutation, all of which cross the channel.
    pub pairs: Vec<[u32; 2]>,
}

/// `WORST` of Nienaber, Mahapatra, Yuan, equation 1, exactly: for every channel the largest matching between
/// the sources and the destinations of the paths that cross it; the largest over the channels. With links of
/// several speeds the channel whose flows take longest.
///
/// Channels come in the order of their bounds: no matching is larger than the number of sources or of destinations,
/// so a channel whose bound does not exceed the best found is not solved. Sources (destinations) that share their
/// paths are one node with the capacity of their number.
///
/// Complexity: O(paths) for the bounds, and for each channel solved O(nodes^0.5 x class pairs).
///
/// # Errors
/// If there are too many paths to hold them.
pub fn worst(paths: &Paths<'_>, costs: Option<&Costs>) -> Result<Worst, TooLarge> {
    match &paths.store {
        Store::Narrow(channels) => Ok(Search { paths, channels, costs }.run()),
        Store::Wide(channels) => Ok(Search { paths, channels, costs }.run()),
        Store::Followed(_) => Err(TooLarge),
    }
}

/// The fabric has too many paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the worst permutation needs all paths in memory, and these are more than 2 GiB")]
pub struct TooLarge;

struct Search<'a, C> {
    paths: &'a Paths<'a>,
    channels: &'a C,
    costs: Option<&'a Costs>,
}

/// The flows that cross a channel.
#[derive(Clone, Default)]
struct Crossing {
    /// Participants that send over it, and that receive.
    sources: Vec<u32>,
    dests: Vec<u32>,
    /// Pairs of classes.
    edges: Vec<u64>,
}

impl<C: Channels> Search<'_, C> {
    fn run(&self) -> Worst {
        let crossing = self.crossing();
        let m = self.paths.channel_count();
        let bound = |c: usize| crossing.sources[c].min(crossing.dests[c]);
        let cost = |c: usize| self.costs.map_or(1.0, |costs| costs.channel[c]);
        let time = |c: usize, load: u32| f64::from(load) * cost(c);
        let mut order: Vec<usize> = (0..m).filter(|&c| bound(c) > 0).collect();
        order.sort_by(|&a, &b| time(b, bound(b)).total_cmp(&time(a, bound(a))).then(a.cmp(&b)));

        let mut best = self.of_terminals();
        let (mut begin, mut size) = (0, FIRST);
        while begin < order.len() {
            let mut end = begin;
            let mut edges = 0;
            while end < order.len().min(begin + size) {
                let c = order[end];
                edges += crossing.edges[c];
                let promises = time(c, bound(c)) > best.slowdown;
                if !promises || (edges > MOST_EDGES && end > begin) {
                    break;
                }
                end += 1;
            }
            if end == begin {
                break;
            }
            let graphs = self.graphs(&order[begin..end]);
            let found: Vec<Matching> = graphs
                .into_par_iter()
                .map(|edges| {
                    unwind_if_asked();
                    Matching::largest(&edges, &self.paths.source_size, &self.paths.dest_size)
                })
                .collect();
            for (&c, matching) in order[begin..end].iter().zip(&found) {
                let slowdown = time(c, matching.size);
                if slowdown > best.slowdown {
                    best = Worst {
                        load: matching.size,
                        slowdown,
                        channel: Some(ChannelId::new(c)),
                        pairs: self.members(matching),
                    };
                }
            }
            begin = end;
            size *= 4;
        }
        best
    }

    /// One flow alone on the links of two terminals.
    fn of_terminals(&self) -> Worst {
        let n = self.paths.who.len() as u32;
        let cost = |i: u32| self.costs.map_or(1.0, |costs| costs.terminal[i as usize]);
        let slowest = (0..n).fold(0, |a, b| if cost(b) > cost(a) { b } else { a });
        if n < 2 {
            return Worst { load: 0, slowdown: 0.0, channel: None, pairs: Vec::new() };
        }
        let pairs = vec![[slowest, u32::from(slowest == 0)]];
        Worst { load: 1, slowdown: cost(slowest), channel: None, pairs }
    }

    /// Counts the flows that cross every channel.
    fn crossing(&self) -> Crossing {
        let m = self.paths.channel_count();
        let (sources, dests) = (self.paths.source_size.len(), self.paths.dest_size.len());
        let words = sources.div_ceil(64);
        // Bits of the source classes that cross a channel, in addition to the sums over destinations.
        let parts: Vec<(Crossing, Vec<u64>)> = tasks(dests, |range| {
            let mut part = Crossing { sources: Vec::new(), dests: vec![0; m], edges: vec![0; m] };
            let mut bits = vec![0u64; m * words];
            let mut last = vec![u32::MAX; m];
            for d in range {
                for s in 0..sources as u32 {
                    self.channels.each(s, d, |c| {
                        if c < m {
                            bits[c * words + s as usize / 64] |= 1 << (s % 64);
                            part.edges[c] += 1;
                            if last[c] != d {
                                last[c] = d;
                                part.dests[c] += self.paths.dest_size[d as usize];
                            }
                        }
                    });
                }
            }
            (part, bits)
        });
        let mut all = Crossing { sources: vec![0; m], dests: vec![0; m], edges: vec![0; m] };
        let mut bits = vec![0u64; m * words];
        for (part, more) in parts {
            all.dests.iter_mut().zip(part.dests).for_each(|(a, b)| *a += b);
            all.edges.iter_mut().zip(part.edges).for_each(|(a, b)| *a += b);
            bits.iter_mut().zip(more).for_each(|(a, b)| *a |= b);
        }
        for (sum, bits) in all.sources.iter_mut().zip(bits.chunks(words.max(1))) {
            for (word, &bits) in bits.iter().enumerate() {
                let mut bits = bits;
                while bits != 0 {
                    *sum += self.paths.source_size[word * 64 + bits.trailing_zeros() as usize];
                    bits &= bits - 1;
                }
            }
        }
        all
    }

    /// For each of the channels the pairs of classes, (source, destination), that cross it.
    fn graphs(&self, channels: &[usize]) -> Vec<Vec<(u32, u32)>> {
        let m = self.paths.channel_count();
        let mut slot = vec![u32::MAX; m + 1];
        for (i, &c) in channels.iter().enumerate() {
            slot[c] = i as u32;
        }
        let (sources, dests) = (self.paths.source_size.len(), self.paths.dest_size.len());
        let parts = tasks(dests, |range| {
            let mut edges = vec![Vec::new(); channels.len()];
            for d in range {
                for s in 0..sources as u32 {
                    self.channels.each(s, d, |c| {
                        if let Some(edges) = edges.get_mut(slot[c] as usize) {
                            edges.push((s, d));
                        }
                    });
                }
            }
            edges
        });
        let mut all = vec![Vec::new(); channels.len()];
        for part in parts {
            all.iter_mut().zip(part).for_each(|(all, mut more)| all.append(&mut more));
        }
        all
    }

    /// Participants for the classes of a matching.
    fn members(&self, matching: &Matching) -> Vec<[u32; 2]> {
        let take = |of: &[u32], classes: &mut dyn Iterator<Item = u32>| -> Vec<u32> {
            let mut members: Vec<Vec<u32>> = Vec::new();
            for (i, &class) in of.iter().enumerate() {
                let class = class as usize;
                members.resize(members.len().max(class + 1), Vec::new());
                members[class].push(i as u32);
            }
            // From the last one on; each is taken once.
            classes.filter_map(|class| members[class as usize].pop()).collect()
        };
        let sources = take(&self.paths.source_of, &mut matching.pairs.iter().map(|p| p.0));
        let dests = take(&self.paths.dest_of, &mut matching.pairs.iter().map(|p| p.1));
        let mut pairs: Vec<[u32; 2]> =
            sources.into_iter().zip(dests).map(|(s, d)| [s, d]).collect();
        pairs.sort_unstable();
        pairs
    }
}

/// Divides the destination classes among a fixed number of tasks.
fn tasks<T: Send>(dests: usize, task: impl Fn(std::ops::Range<u32>) -> T + Sync) -> Vec<T> {
    let at = |i: usize| (i * dests / TASKS) as u32;
    (0..TASKS).into_par_iter().with_max_len(1).map(|i| task(at(i)..at(i + 1))).collect()
}

/// A matching of participants, by their classes.
struct Matching {
    size: u32,
    pairs: Vec<(u32, u32)>,
}

impl Matching {
    /// The largest: a flow from sources to destinations with the sizes of classes as capacities, grown along
    /// shortest augmenting paths (Hopcroft, Karp, 1973; Dinic, 1970).
    fn largest(edges: &[(u32, u32)], source_size: &[u32], dest_size: &[u32]) -> Self {
        let mut flow = Flow::new(edges, source_size, dest_size);
        flow.greedy();
        while flow.size < flow.bound && flow.levels() {
            flow.augment();
        }
        let mut pairs = Vec::with_capacity(flow.size as usize);
        for (e, &n) in flow.sent.iter().enumerate() {
            let (s, d) = flow.ends[e];
            let pair = (flow.sources[s as usize], flow.dests[d as usize]);
            pairs.extend(std::iter::repeat_n(pair, n as usize));
        }
        Self { size: flow.size, pairs }
    }
}

/// The flow on a channel's graph. Nodes are numbered within it.
struct Flow {
    sources: Vec<u32>,
    dests: Vec<u32>,
    /// Source and destination of each edge, by source.
    ends: Vec<(u32, u32)>,
    /// Flow on each edge.
    sent: Vec<u32>,
    /// `first[s]..first[s + 1]`: edges of source `s`.
    first: Vec<u32>,
    /// Edges of destination `d`: `into[into_first[d]..into_first[d + 1]]`.
    into: Vec<u32>,
    into_first: Vec<u32>,
    /// Remaining supply of sources, and of destinations.
    supply: Vec<u32>,
    demand: Vec<u32>,
    size: u32,
    bound: u32,
    source_level: Vec<u32>,
    dest_level: Vec<u32>,
    source_next: Vec<u32>,
    dest_next: Vec<u32>,
}

const FAR: u32 = u32::MAX;

impl Flow {
    fn new(edges: &[(u32, u32)], source_size: &[u32], dest_size: &[u32]) -> Self {
        let distinct = |pick: fn(&(u32, u32)) -> u32| {
            let mut all: Vec<u32> = edges.iter().map(pick).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let (sources, dests) = (distinct(|e| e.0), distinct(|e| e.1));
        let place = |all: &[u32], x: u32| all.partition_point(|&y| y < x) as u32;
        let mut ends: Vec<(u32, u32)> =
            edges.iter().map(|&(s, d)| (place(&sources, s), place(&dests, d))).collect();
        ends.sort_unstable();
        // A path that crosses the channel twice would be here twice.
        ends.dedup();
        let starts = |count: usize, of: &dyn Fn(usize) -> u32| {
            let mut first = vec![0u32; count + 1];
            (0..ends.len()).for_each(|e| first[of(e) as usize + 1] += 1);
            (0..count).for_each(|i| first[i + 1] += first[i]);
            first
        };
        let first = starts(sources.len(), &|e| ends[e].0);
        let into_first = starts(dests.len(), &|e| ends[e].1);
        let mut into = vec![0; ends.len()];
        let mut fill = into_first.clone();
        for (e, &(_, d)) in ends.iter().enumerate() {
            into[fill[d as usize] as usize] = e as u32;
            fill[d as usize] += 1;
        }
        let supply: Vec<u32> = sources.iter().map(|&s| source_size[s as usize]).collect();
        let demand: Vec<u32> = dests.iter().map(|&d| dest_size[d as usize]).collect();
        Self {
            bound: supply.iter().sum::<u32>().min(demand.iter().sum()),
            sent: vec![0; ends.len()],
            source_level: vec![FAR; sources.len()],
            dest_level: vec![FAR; dests.len()],
            source_next: first.clone(),
            dest_next: into_first.clone(),
            size: 0,
            ends,
            first,
            into,
            into_first,
            supply,
            demand,
            sources,
            dests,
        }
    }

    fn of_source(&self, s: usize) -> std::ops::Range<usize> {
        self.first[s] as usize..self.first[s + 1] as usize
    }

    fn push(&mut self, e: usize, n: u32) {
        self.sent[e] += n;
    }

    fn greedy(&mut self) {
        for s in 0..self.sources.len() {
            for e in self.of_source(s) {
                let d = self.ends[e].1 as usize;
                let n = self.supply[s].min(self.demand[d]);
                self.push(e, n);
                self.supply[s] -= n;
                self.demand[d] -= n;
                self.size += n;
            }
        }
    }

    /// Distances from the sources that can send; whether a destination that can receive is near.
    fn levels(&mut self) -> bool {
        self.source_level.fill(FAR);
        self.dest_level.fill(FAR);
        let mut front: Vec<usize> =
            (0..self.sources.len()).filter(|&s| self.supply[s] > 0).collect();
        for &s in &front {
            self.source_level[s] = 0;
        }
        let mut level = 0;
        let mut near = false;
        while !front.is_empty() && !near {
            let mut reached = Vec::new();
            for &s in &front {
                for e in self.of_source(s) {
                    let d = self.ends[e].1 as usize;
                    if self.dest_level[d] == FAR {
                        self.dest_level[d] = level + 1;
                        near |= self.demand[d] > 0;
                        reached.push(d);
                    }
                }
            }
            front.clear();
            for d in reached {
                for i in self.into_first[d]..self.into_first[d + 1] {
                    let e = self.into[i as usize] as usize;
                    let s = self.ends[e].0 as usize;
                    if self.sent[e] > 0 && self.source_level[s] == FAR {
                        self.source_level[s] = level + 2;
                        front.push(s);
                    }
                }
            }
            level += 2;
        }
        near
    }

    /// Augments along shortest paths until none is left.
    fn augment(&mut self) {
        self.source_next.copy_from_slice(&self.first);
        self.dest_next.copy_from_slice(&self.into_first);
        for s in 0..self.sources.len() {
            while self.supply[s] > 0 {
                let sent = self.send(s, self.supply[s]);
                if sent == 0 {
                    break;
                }
                self.supply[s] -= sent;
                self.size += sent;
            }
        }
    }

    /// Sends up to `most` from a source on; depth is the length of a shortest augmenting path.
    fn send(&mut self, s: usize, most: u32) -> u32 {
        while self.source_next[s] < self.first[s + 1] {
            let e = self.source_next[s] as usize;
            let d = self.ends[e].1 as usize;
            if self.dest_level[d] == self.source_level[s] + 1 {
                let sent = self.pass(d, most);
                if sent > 0 {
                    self.push(e, sent);
                    return sent;
                }
            }
            self.source_next[s] += 1;
        }
        0
    }

    fn pass(&mut self, d: usize, most: u32) -> u32 {
        if self.demand[d] > 0 {
            let sent = most.min(self.demand[d]);
            self.demand[d] -= sent;
            return sent;
        }
        while self.dest_next[d] < self.into_first[d + 1] {
            let e = self.into[self.dest_next[d] as usize] as usize;
            let s = self.ends[e].0 as usize;
            if self.sent[e] > 0 && self.source_level[s] == self.dest_level[d] + 1 {
                let sent = self.send(s, most.min(self.sent[e]));
                if sent > 0 {
                    self.sent[e] -= sent;
                    return sent;
                }
            }
            self.dest_next[d] += 1;
        }
        0
    }
}
