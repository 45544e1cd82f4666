//! Candidate graphs: for one destination switch, which channels each switch may send on.
//!
//! An engine is a rule for the candidates (all shortest paths, legal Up*/Down* paths, dimension order,
//! ...) and a rule to choose among them (least loaded port, least loaded path, ...). A [`Dag`] is the
//! first half. It depends on the destination's *switch* only, so it is made once for all LIDs that hang
//! there.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::Zip;
use std::slice::{ArrayWindows, Iter};

use darkfiber_fabric::{Fabric, SwitchId};
use rayon::prelude::*;

use crate::stop::unwind_if_asked;
use crate::{DestId, Refusal, Request, Routes};

/// No distance: the destination cannot be reached.
pub(crate) const FAR: u32 = u32::MAX;

/// A channel that a switch may send on, and where it leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// The inter-switch channel.
    pub(crate) channel: u32,
    /// Its head switch.
    pub(crate) head: u32,
}

/// The candidates towards one destination switch.
#[derive(Clone, Default)]
pub(crate) struct Dag {
    /// Hops to the destination switch; [`FAR`] if there is no path.
    pub(crate) dist: Vec<u32>,
    /// Reached switches, each after all heads of its candidates; the destination first.
    pub(crate) order: Vec<u32>,
    /// `order[legal..]` are strays: switches that reach the destination only against the engine's rule.
    pub(crate) legal: usize,
    /// Candidates of `order[i]` are `candidates[start[i]..start[i + 1]]`.
    start: Vec<u32>,
    /// By rising channel id within a switch.
    candidates: Vec<Candidate>,
}

/// Switches of a [`Dag`] with their candidates, in order or against it.
pub(crate) struct DagRows<'d> {
    /// Each switch, and the bounds of its candidates among all.
    switches: Zip<Iter<'d, u32>, ArrayWindows<'d, u32, 2>>,
    /// Candidates of the switches that are left.
    candidates: &'d [Candidate],
}

impl<'d> Iterator for DagRows<'d> {
    type Item = (u32, &'d [Candidate]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (&s, &[begin, end]) = self.switches.next()?;
        let (row, rest) = self.candidates.split_at((end - begin) as usize);
        self.candidates = rest;
        Some((s, row))
    }
}

impl DoubleEndedIterator for DagRows<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let (&s, &[begin, end]) = self.switches.next_back()?;
        let before = self.candidates.len() - (end - begin) as usize;
        let (rest, row) = self.candidates.split_at(before);
        self.candidates = rest;
        Some((s, row))
    }
}

impl Dag {
    /// Clears the graph and allocates memory for `switches` switches.
    pub(crate) fn clear(&mut self, switches: usize) {
        unwind_if_asked();
        self.dist.clear();
        self.dist.resize(switches, FAR);
        self.order.clear();
        self.legal = 0;
        self.start.clear();
        self.start.push(0);
        self.candidates.clear();
    }

    /// All shortest paths to `dest`: one breadth-first search, O(channels).
    pub(crate) fn shortest(&mut self, fabric: &Fabric, dest: SwitchId) {
        self.clear(fabric.switch_count());
        let (starts, heads) = (fabric.channel_starts(), fabric.heads());
        self.dist[dest.index()] = 0;
        self.order.push(dest.0);
        let mut next = 0;
        while next < self.order.len() {
            let s = self.order[next] as usize;
            next += 1;
            let d = self.dist[s];
            let ends = &heads[starts[s] as usize..starts[s + 1] as usize];
            for (channel, &head) in (starts[s]..).zip(ends) {
                let far = &mut self.dist[head as usize];
                // Cables have two directions: a neighbour one hop closer is known before this switch.
                if *far == FAR {
                    *far = d + 1;
                    self.order.push(head);
                } else if *far + 1 == d {
                    self.push(channel, head);
                }
            }
            self.end_row();
        }
        self.legal = self.order.len();
    }

    /// All paths to `dest` with the fewest channels for which `avoided(tail, head)` is true, of these
    /// the shortest; [`Self::dist`] counts an avoided channel as more hops than any path has.
    ///
    /// Where the other channels leave the fabric connected, the result is the same as if avoided
    /// channels did not exist. Dijkstra's algorithm, O(channels log switches).
    pub(crate) fn avoiding(
        &mut self,
        fabric: &Fabric,
        dest: SwitchId,
        avoided: impl Fn(u32, u32) -> bool,
    ) {
        let n = fabric.switch_count();
        self.clear(n);
        let (starts, heads) = (fabric.channel_starts(), fabric.heads());
        let length = |tail: u32, head: u32| if avoided(tail, head) { n as u32 } else { 1 };
        self.dist[dest.index()] = 0;
        let mut open = BinaryHeap::from([Reverse((0, dest.0))]);
        while let Some(Reverse((d, v))) = open.pop() {
            if d > self.dist[v as usize] {
                continue;
            }
            self.order.push(v);
            // Cables have two directions, so the heads of what leaves here are the tails of what enters.
            for &u in &heads[starts[v as usize] as usize..starts[v as usize + 1] as usize] {
                let through = d + length(u, v);
                if through < self.dist[u as usize] {
                    self.dist[u as usize] = through;
                    open.push(Reverse((through, u)));
                }
            }
        }
        for i in 0..self.order.len() {
            let s = self.order[i];
            for channel in starts[s as usize]..starts[s as usize + 1] {
                let head = heads[channel as usize];
                if self.dist[head as usize] + length(s, head) == self.dist[s as usize] {
                    self.push(channel, head);
                }
            }
            self.end_row();
        }
        self.legal = self.order.len();
    }

    /// Hops of all sources together.
    pub(crate) fn hops(&self, sources: &[u32]) -> u64 {
        let hops = |&s: &u32| u64::from(self.dist[s as usize]) * u64::from(sources[s as usize]);
        self.order.iter().map(hops).sum()
    }

    /// Adds the next switch in order, with its candidates.
    pub(crate) fn add_row(&mut self, s: u32, candidates: &[Candidate]) {
        self.order.push(s);
        self.candidates.extend_from_slice(candidates);
        self.end_row();
    }

    /// Adds a candidate to the row being made, that of the next switch in order.
    #[inline]
    pub(crate) fn push(&mut self, channel: u32, head: u32) {
        self.candidates.push(Candidate { channel, head });
    }

    /// Ends the row being made.
    #[inline]
    pub(crate) fn end_row(&mut self) {
        self.start.push(self.candidates.len() as u32);
    }

    /// The strays that have terminals: their paths need a separate virtual layer.
    pub(crate) fn strays<'a>(&'a self, fabric: &'a Fabric) -> impl Iterator<Item = u32> + 'a {
        self.order[self.legal..]
            .iter()
            .copied()
            .filter(|&s| !fabric.terminals_on(SwitchId(s)).is_empty())
    }

    /// Makes the rows that are missing of distances and order that are already set: candidates of a switch are
    /// its channels that `allowed(channel, tail, head)` accepts and that lead one hop closer.
    pub(crate) fn collect(
        &mut self,
        fabric: &Fabric,
        allowed: impl Fn(usize, usize, usize) -> bool,
    ) {
        let (starts, heads) = (fabric.channel_starts(), fabric.heads());
        let made = self.start.len() - 1;
        for i in made..self.order.len() {
            let s = self.order[i] as usize;
            let d = self.dist[s];
            let ends = &heads[starts[s] as usize..starts[s + 1] as usize];
            for (channel, &head) in (starts[s]..).zip(ends) {
                let far = self.dist[head as usize];
                if far != FAR && far + 1 == d && allowed(channel as usize, s, head as usize) {
                    self.push(channel, head);
                }
            }
            self.end_row();
        }
    }

    /// Copies of another graph what `allowed(tail, channel)` accepts, at least one candidate of each switch.
    pub(crate) fn restrict(&mut self, whole: &Self, allowed: impl Fn(u32, u32) -> bool) {
        self.clear(whole.dist.len());
        self.dist.copy_from_slice(&whole.dist);
        self.order.extend_from_slice(&whole.order);
        self.legal = whole.legal;
        for (i, &s) in whole.order.iter().enumerate() {
            let accepted = whole.candidates(i).iter().filter(|c| allowed(s, c.channel));
            self.candidates.extend(accepted);
            self.end_row();
        }
    }

    /// Memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let words = self.dist.len() + self.order.len() + self.start.len();
        words * size_of::<u32>() + self.candidates.len() * size_of::<Candidate>()
    }

    /// All switches but the destination, which has no candidates, with theirs.
    #[inline]
    pub(crate) fn rows(&self) -> DagRows<'_> {
        let switches = self.order[1..].iter().zip(self.start[1..].array_windows());
        DagRows { switches, candidates: &self.candidates }
    }

    /// Candidates of the `i`-th switch in order.
    #[inline]
    pub(crate) fn candidates(&self, i: usize) -> &[Candidate] {
        &self.candidates[self.start[i] as usize..self.start[i + 1] as usize]
    }
}

/// Graphs made ahead of their use: with 16 threads wait for each other often, and these take 15 MB at 5,256 hosts.
const BATCH: usize = 64;

/// Calls `consume` with the graph of every switch in `homes`, in that order. The graphs of the next
/// batch are made on the other threads meanwhile.
pub(crate) fn for_each_dag<T: Sync, G: Default + Send + Sync>(
    homes: &[(SwitchId, T)],
    make: impl Fn(&mut G, SwitchId) + Sync,
    mut consume: impl FnMut(&(SwitchId, T), &G) + Send,
) {
    let each = |batch: &[(SwitchId, T)], dags: &[G]| {
        for (item, dag) in batch.iter().zip(dags) {
            consume(item, dag);
        }
    };
    for_each_batch(homes, make, &mut [each]);
}

/// As [`for_each_dag`], for several switches and their graphs at a time, and for consumers that do not know each other and work side
/// by side.
pub(crate) fn for_each_batch<T: Sync, G: Default + Send + Sync>(
    homes: &[(SwitchId, T)],
    make: impl Fn(&mut G, SwitchId) + Sync,
    consumers: &mut [impl FnMut(&[(SwitchId, T)], &[G]) + Send],
) {
    let fill = |dags: &mut Vec<G>, batch: &[(SwitchId, T)]| {
        dags.resize_with(BATCH, G::default);
        dags.par_iter_mut().zip(batch).for_each(|(dag, (home, _))| make(dag, *home));
    };
    let (mut now, mut ahead) = (Vec::new(), Vec::new());
    let mut batches = homes.chunks(BATCH).peekable();
    if let Some(first) = batches.peek() {
        fill(&mut now, first);
    }
    while let Some(batch) = batches.next() {
        let next = batches.peek().copied();
        let fill_ahead = || {
            if let Some(next) = next {
                fill(&mut ahead, next);
            }
        };
        side_by_side(consumers, &|consume| consume(batch, &now[..batch.len()]), fill_ahead);
        std::mem::swap(&mut now, &mut ahead);
    }
}

/// Does `work` for each of the items, and `last`, which can be divided: threads without an item help with it, so that it is begun as the
/// last one.
fn side_by_side<C: Send>(
    items: &mut [C],
    work: &(impl Fn(&mut C) + Sync),
    last: impl FnOnce() + Send,
) {
    match items.split_first_mut() {
        Some((first, rest)) => {
            rayon::join(|| work(first), || side_by_side(rest, work, last));
        }
        None => last(),
    }
}

/// Calls `send` with the graph, the destination, its path index and its row for every LID of these
/// switches: first the LIDs of a switch's terminals, then its own.
pub(crate) fn for_each_row(
    fabric: &Fabric,
    routes: &mut Routes,
    homes: impl Iterator<Item = SwitchId>,
    make: impl Fn(&mut Dag, SwitchId) + Sync,
    mut send: impl FnMut(&Dag, DestId, usize, &mut [u8]) + Send,
) {
    let homes: Vec<(SwitchId, ())> = homes.map(|home| (home, ())).collect();
    for_each_dag(&homes, make, |&(home, ()), dag| {
        let terminals = fabric.terminals_on(home).map(DestId::new);
        let lids = terminals.flat_map(|d| (0..routes.paths()).map(move |path| (d, path)));
        let lids: Vec<(DestId, usize)> = lids.chain([(DestId::switch(fabric, home), 0)]).collect();
        for (dest, path) in lids {
            let row = routes.row(dest, path);
            send(dag, dest, path, routes.ports_mut(row));
        }
    });
}

/// Largest tables that an engine makes. Balancing keeps a second copy, layers are a third.
pub(crate) const MOST_BYTES: u64 = 4 << 30;

/// Refuses a fabric with nothing to route, in pieces, or too large for one row a LID.
pub(crate) fn require_routable(
    engine: &'static str,
    fabric: &Fabric,
    request: &Request<'_>,
) -> Result<(), Refusal> {
    if fabric.switch_count() == 0 {
        return Err(Refusal::Empty { what: "switch" });
    }
    if fabric.terminal_count() == 0 {
        return Err(Refusal::Empty { what: "host with a link to a switch" });
    }
    let sizes = fabric.components();
    if sizes.len() > 1 {
        let mut text: Vec<String> = sizes.iter().take(5).map(ToString::to_string).collect();
        if sizes.len() > 5 {
            text.push("...".to_owned());
        }
        return Err(Refusal::Disconnected { components: sizes.len(), sizes: text.join(", ") });
    }
    let rows = fabric.terminal_count() * request.paths() + fabric.switch_count();
    let bytes = rows as u64 * fabric.switch_count() as u64;
    if bytes > MOST_BYTES {
        return Err(Refusal::TooLarge {
            engine,
            bytes,
            hint: "the limit is 4 GiB; take a smaller fabric or LMC",
        });
    }
    Ok(())
}
