//! The graph of switches as recognition looks at it: neighbours, how many cables to each, and how many
//! hosts; no names, GUIDs or port numbers.

use crate::{ChannelId, Fabric, Role, SwitchId};

/// The switches of a fabric, or some of them, numbered from 0. Neighbours are sorted.
#[derive(Clone)]
pub(super) struct Net<'a> {
    pub(super) fabric: &'a Fabric,
    /// The switch of the fabric that each number stands for.
    pub(super) ids: Vec<SwitchId>,
    start: Vec<u32>,
    to: Vec<u32>,
    /// Parallel cables to each neighbour.
    cables: Vec<u32>,
    /// Number of the pair of neighbours, the same at both ends.
    edge: Vec<u32>,
    /// The ends of each pair of neighbours, the lower first.
    pub(super) edges: Vec<(u32, u32)>,
    /// Terminals of hosts on each switch; aggregation pseudo-adapters do not count.
    pub(super) hosts: Vec<u32>,
}

impl<'a> Net<'a> {
    /// The graph of `ids`, which are numbered in this order.
    pub(super) fn new(fabric: &'a Fabric, ids: Vec<SwitchId>) -> Self {
        const OUTSIDE: u32 = u32::MAX;
        let mut number = vec![OUTSIDE; fabric.switch_count()];
        for (i, s) in ids.iter().enumerate() {
            number[s.index()] = i as u32;
        }
        let (mut start, mut to, mut cables) = (vec![0], Vec::new(), Vec::new());
        let (mut edge, mut edges) = (Vec::new(), Vec::new());
        let mut hosts = Vec::with_capacity(ids.len());
        let mut heads: Vec<u32> = Vec::new();
        for (u, &s) in (0u32..).zip(&ids) {
            heads.clear();
            let all = fabric.channels_from(s).map(|c| number[fabric.heads()[c] as usize]);
            heads.extend(all.filter(|&v| v != OUTSIDE));
            heads.sort_unstable();
            for run in heads.chunk_by(|a, b| a == b) {
                to.push(run[0]);
                cables.push(run.len() as u32);
                edge.push(edges.len() as u32);
                if u < run[0] {
                    edges.push((u, run[0]));
                }
            }
            start.push(to.len() as u32);
            let host = |t: &usize| fabric.terminals()[*t].role != Role::Aggregation;
            hosts.push(fabric.terminals_on(s).filter(host).count() as u32);
        }
        let mut net = Self { fabric, ids, start, to, cables, edge, edges, hosts };
        for e in 0..net.edges.len() {
            let (low, high) = net.edges[e];
            let slot = net.slot(high, low).expect("cables have two ends");
            net.edge[slot] = e as u32;
        }
        net
    }

    /// The graph of some of its switches.
    pub(super) fn part(&self, members: &[u32]) -> Self {
        Self::new(self.fabric, members.iter().map(|&s| self.ids[s as usize]).collect())
    }

    /// The same graph without the pairs that are `odd`, but with their numbers.
    pub(super) fn without(&self, odd: &[bool]) -> Self {
        let mut net = Self { start: vec![0], ..self.clone() };
        (net.to, net.cables, net.edge) = (Vec::new(), Vec::new(), Vec::new());
        for s in 0..self.len() as u32 {
            for i in self.row(s).filter(|&i| !odd[self.edge[i] as usize]) {
                net.to.push(self.to[i]);
                net.cables.push(self.cables[i]);
                net.edge.push(self.edge[i]);
            }
            net.start.push(net.to.len() as u32);
        }
        net
    }

    /// The number of switches.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    fn row(&self, s: u32) -> std::ops::Range<usize> {
        self.start[s as usize] as usize..self.start[s as usize + 1] as usize
    }

    fn slot(&self, s: u32, v: u32) -> Option<usize> {
        let row = self.row(s);
        self.to[row.clone()].binary_search(&v).ok().map(|i| row.start + i)
    }

    /// The neighbours of a switch, sorted.
    pub(super) fn neighbours(&self, s: u32) -> &[u32] {
        &self.to[self.row(s)]
    }

    /// Its neighbours with the number of the pair.
    pub(super) fn incident(&self, s: u32) -> impl Iterator<Item = (u32, usize)> {
        self.row(s).map(|i| (self.to[i], self.edge[i] as usize))
    }

    /// The number of neighbours.
    pub(super) fn degree(&self, s: u32) -> usize {
        self.row(s).len()
    }

    /// Number of cables to other switches.
    pub(super) fn ends(&self, s: u32) -> u32 {
        self.row(s).map(|i| self.cables[i]).sum()
    }

    /// The number of a pair of neighbours.
    pub(super) fn edge_of(&self, s: u32, v: u32) -> Option<usize> {
        self.slot(s, v).map(|i| self.edge[i] as usize)
    }

    /// Cables between two switches.
    pub(super) fn cables(&self, s: u32, v: u32) -> u32 {
        self.slot(s, v).map_or(0, |i| self.cables[i])
    }

    /// Total number of cables.
    pub(super) fn cable_count(&self) -> u64 {
        self.cables.iter().map(|&c| u64::from(c)).sum::<u64>() / 2
    }

    /// The neighbours that two switches share.
    pub(super) fn common(&self, s: u32, v: u32) -> impl Iterator<Item = u32> + '_ {
        let (mut a, mut b) = (self.neighbours(s), self.neighbours(v));
        std::iter::from_fn(move || {
            while let (Some((&x, rest_a)), Some((&y, rest_b))) = (a.split_first(), b.split_first())
            {
                if x <= y {
                    a = rest_a;
                }
                if y <= x {
                    b = rest_b;
                }
                if x == y {
                    return Some(x);
                }
            }
            None
        })
    }

    /// For each switch the number of its connected component over the pairs that `keep` accepts, in
    /// order of first appearance, and how many there are.
    pub(super) fn components(&self, keep: impl Fn(usize) -> bool) -> (Vec<u32>, usize) {
        const NONE: u32 = u32::MAX;
        let mut label = vec![NONE; self.len()];
        let mut count = 0;
        let mut stack = Vec::new();
        for first in 0..self.len() {
            if label[first] != NONE {
                continue;
            }
            label[first] = count as u32;
            stack.push(first as u32);
            while let Some(s) = stack.pop() {
                for (v, e) in self.incident(s) {
                    if label[v as usize] == NONE && keep(e) {
                        label[v as usize] = count as u32;
                        stack.push(v);
                    }
                }
            }
            count += 1;
        }
        (label, count)
    }

    /// Hops from the nearest of `starts`, `u32::MAX` where none leads.
    pub(super) fn distances(&self, starts: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut dist = vec![u32::MAX; self.len()];
        let mut queue: Vec<u32> = starts.into_iter().collect();
        for &s in &queue {
            dist[s as usize] = 0;
        }
        let mut next = 0;
        while next < queue.len() {
            let s = queue[next];
            next += 1;
            for &v in self.neighbours(s) {
                if dist[v as usize] == u32::MAX {
                    dist[v as usize] = dist[s as usize] + 1;
                    queue.push(v);
                }
            }
        }
        dist
    }

    /// The channels from one switch to another, by port number.
    pub(super) fn channels(&self, s: u32, v: u32) -> impl Iterator<Item = ChannelId> {
        let (s, v) = (self.ids[s as usize], self.ids[v as usize]);
        self.fabric.channels_from(s).map(ChannelId::new).filter(move |&c| self.fabric.head(c) == v)
    }
}

/// The value of a regular structure whose damaged copies show these values: the largest that at least every twentieth
/// reaches. Cables get lost more often than they get added, so it is near the maximum; it is not the maximum, so that
/// one extra cable does not decide. 0 if there are no values.
pub(super) fn typical(values: impl IntoIterator<Item = u32>) -> u32 {
    let mut values: Vec<u32> = values.into_iter().collect();
    values.sort_unstable_by(|a, b| b.cmp(a));
    values.get(values.len() / 20).copied().unwrap_or(0)
}
