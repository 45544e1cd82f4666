//! Whether packets may meet a mix of old and new entries.
//!
//! While switches are updated one by one, a packet follows at each switch either the old or the new
//! entry of its row. On a cut-off row all such paths lie in the graph of both next hops of every
//! switch. If that graph is acyclic, every mix is free of loops; if the dependencies of all these paths
//! also fit into the layers together with those of unchanged rows, every mix is free of deadlock.
//!
//! Otherwise an order of updates may do: if every switch is updated after the changed ones on its new path, a packet that
//! has met one new entry meets no old one later, so it does not loop, and makes only the dependencies of an old beginning
//! and a new end. The orders that rows require may contradict each other; then each row has its own.

use std::collections::BTreeMap;

use darkfiber_fabric::SwitchId;

use super::channel::{NONE, channel, channel_at};
use super::cut::Cut;
use super::labels::layers;
use super::outcome::{Coexistence, Drain, Moved};
use super::prepared::Prepared;

/// Both next hops of the cut-off switches of a row.
pub(super) struct Mix<'a> {
    cut: &'a Cut,
    /// Old and new channel of each node, [`NONE`] where packets are dropped.
    next: Vec<[u32; 2]>,
    /// Index among the nodes of the switch that each channel leads to, [`NONE`] outside.
    node: Vec<[u32; 2]>,
    /// Layers of paths that begin at each node, before and after.
    layers: Vec<u32>,
}

/// Layers, and a dependency in them.
pub(super) type Dependency = (u32, u32, u32);

impl Prepared<'_> {
    /// Decides whether old and new entries may coexist, for the changes that repairing `cuts` made.
    pub(super) fn coexistence(&mut self, cuts: &[Cut], moved: &[Moved]) -> Coexistence {
        let mut also: BTreeMap<(usize, u32), u32> = BTreeMap::new();
        for m in moved {
            *also.entry((m.row as usize, m.source.0)).or_default() |= 1 << m.new;
        }
        let mut place = vec![NONE; self.fabric.switch_count()];
        let mixes: Vec<Mix<'_>> =
            cuts.iter().filter_map(|cut| self.mix(cut, &also, &mut place)).collect();
        let mut cycle = None;
        for all_in_order in [false, true] {
            let mut dependencies = Vec::new();
            let mut first = Vec::new();
            for mix in &mixes {
                let any = if all_in_order { None } else { self.in_any_order(mix) };
                dependencies.extend(any.unwrap_or_else(|| {
                    let mut of_row = Vec::new();
                    let found = self.in_order(mix, &mut of_row);
                    if !of_row.is_empty() {
                        first.push((mix.cut.row, of_row));
                    }
                    found
                }));
            }
            cycle = self.does_not_fit(&dependencies);
            if cycle.is_none() {
                if first.is_empty() {
                    return Coexistence::AnyOrder;
                }
                let all: Vec<(u32, u32)> = first.iter().flat_map(|(_, of)| of).copied().collect();
                return match ranks(self.fabric.switch_count(), &all) {
                    Some(rank) => Coexistence::Order(self.of_changed(cuts, &rank)),
                    None => self.order_of_entries(cuts, &first),
                };
            }
        }
        Coexistence::Drain(cycle.map_or(Drain::Loop, |layer| Drain::Cycle { layer }))
    }

    /// The first layer that gets a cycle if moved paths are also used in their previous layers: connections keep their
    /// service level until they query the path again.
    pub(super) fn cycle_of_old_levels(&mut self, moved: &[Moved]) -> Option<u8> {
        let mut dependencies = Vec::new();
        let mut way = Vec::new();
        for m in moved {
            way.clear();
            self.follow(m.row as usize, m.source.0, &mut way);
            dependencies.extend(way.windows(2).map(|pair| (1 << m.old, pair[0], pair[1])));
        }
        self.does_not_fit(&dependencies)
    }

    /// Both next hops, if any of them changed where an old one still works.
    pub(super) fn mix<'a>(
        &self,
        cut: &'a Cut,
        also: &BTreeMap<(usize, u32), u32>,
        place: &mut [u32],
    ) -> Option<Mix<'a>> {
        let ports = self.routes.ports(cut.row);
        let working = |c: u32| if c != NONE && self.works(c) { c } else { NONE };
        let next: Vec<[u32; 2]> = cut
            .nodes
            .iter()
            .map(|n| {
                let old = channel_at(self.fabric, n.switch, n.old);
                [working(old), working(channel(self.fabric, ports, n.switch))]
            })
            .collect();
        let own: Vec<u32> = cut
            .nodes
            .iter()
            .map(|n| n.layers | also.get(&(cut.row, n.switch)).copied().unwrap_or(0))
            .collect();
        let moves = own.iter().zip(&cut.nodes).any(|(&all, n)| all != n.layers);
        if !moves && next.iter().all(|&[old, new]| old == NONE || old == new) {
            return None;
        }
        for (i, n) in cut.nodes.iter().enumerate() {
            place[n.switch as usize] = i as u32;
        }
        let node = next
            .iter()
            .map(|both| {
                both.map(|c| match c {
                    NONE => NONE,
                    c => place[self.fabric.heads()[c as usize] as usize],
                })
            })
            .collect();
        for n in &cut.nodes {
            place[n.switch as usize] = NONE;
        }
        Some(Mix { cut, next, node, layers: own })
    }

    /// The dependencies of all mixed paths; `None` if one loops.
    pub(super) fn in_any_order(&self, mix: &Mix<'_>) -> Option<Vec<Dependency>> {
        let order = mix.upstream_first()?;
        let mut mask = mix.layers.clone();
        let mut found = Vec::new();
        let mut way = Vec::new();
        for i in order {
            for k in 0..2 {
                let c = mix.next[i][k];
                if c == NONE || mask[i] == 0 || k == 1 && c == mix.next[i][0] {
                    continue;
                }
                match mix.node[i][k] {
                    NONE => self.rest(mix, c, mask[i], &mut way, &mut found),
                    j => {
                        let j = j as usize;
                        mask[j] |= mask[i];
                        let [old, new] = mix.next[j];
                        found.extend(
                            [old, new].iter().filter(|&&d| d != NONE).map(|&d| (mask[i], c, d)),
                        );
                    }
                }
            }
        }
        Some(found)
    }

    /// The dependencies of paths with an old beginning and a new end, and which switch must be
    /// updated before which.
    fn in_order(&self, mix: &Mix<'_>, first: &mut Vec<(u32, u32)>) -> Vec<Dependency> {
        let mut found = Vec::new();
        let mut way = Vec::new();
        let changed = |i: usize| mix.next[i][0] != mix.next[i][1];
        for i in (0..mix.next.len()).filter(|&i| changed(i)) {
            let mut at = mix.node[i][1];
            while at != NONE && !changed(at as usize) {
                at = mix.node[at as usize][1];
            }
            // A switch whose old entry leads nowhere drops packets; none can loop through it.
            if at != NONE && mix.next[at as usize][0] != NONE {
                first.push((mix.cut.nodes[at as usize].switch, mix.cut.nodes[i].switch));
            }
        }
        for start in 0..mix.next.len() {
            let mask = mix.layers[start];
            if mask == 0 {
                continue;
            }
            let (mut at, mut last) = (start as u32, NONE);
            for _ in 0..=mix.next.len() {
                let [old, new] = mix.next[at as usize];
                if new != NONE && (new != old || last == NONE) {
                    if last != NONE {
                        found.push((mask, last, new));
                    }
                    self.rest(mix, new, mask, &mut way, &mut found);
                }
                if old == NONE {
                    break;
                }
                if last != NONE {
                    found.push((mask, last, old));
                }
                last = old;
                at = mix.node[at as usize][0];
                if at == NONE {
                    self.rest(mix, old, mask, &mut way, &mut found);
                    break;
                }
            }
        }
        found
    }

    /// The dependencies from channel `c` on, over new entries.
    fn rest(
        &self,
        mix: &Mix<'_>,
        c: u32,
        mask: u32,
        way: &mut Vec<u32>,
        found: &mut Vec<Dependency>,
    ) {
        way.clear();
        way.push(c);
        self.follow(mix.cut.row, self.fabric.heads()[c as usize], way);
        found.extend(way.windows(2).map(|pair| (mask, pair[0], pair[1])));
    }

    /// The ranks of the entries that change, by the switches that must come first on each row. Rows do not wait for each
    /// other, and on one row there is always an order, as its new paths do not loop.
    fn order_of_entries(&self, cuts: &[Cut], first: &[(usize, Vec<(u32, u32)>)]) -> Coexistence {
        let mut found = BTreeMap::new();
        for cut in cuts {
            let of_row = first.iter().find(|(row, _)| *row == cut.row);
            let pairs = of_row.map_or(&[][..], |(_, pairs)| pairs);
            let Some(rank) = ranks(self.fabric.switch_count(), pairs) else {
                return Coexistence::Drain(Drain::Loop);
            };
            let ports = self.routes.ports(cut.row);
            for node in cut.nodes.iter().filter(|n| n.old != ports[n.switch as usize]) {
                let rank = rank[node.switch as usize];
                found.insert((SwitchId(node.switch), cut.row as u32), rank);
            }
        }
        Coexistence::OrderOfEntries(found)
    }

    /// The ranks of the switches that change.
    fn of_changed(&self, cuts: &[Cut], rank: &[u32]) -> Vec<Option<u32>> {
        let mut found = vec![None; rank.len()];
        for cut in cuts {
            let ports = self.routes.ports(cut.row);
            for node in cut.nodes.iter().filter(|n| n.old != ports[n.switch as usize]) {
                found[node.switch as usize] = Some(rank[node.switch as usize]);
            }
        }
        found
    }

    /// The first layer that gets a cycle from these dependencies, if any; changes nothing.
    fn does_not_fit(&mut self, dependencies: &[Dependency]) -> Option<u8> {
        let mut put = Vec::new();
        let mut cycle = None;
        'all: for &(mask, c, d) in dependencies {
            for layer in layers(mask) {
                if !self.layers[layer as usize].put(&self.slots, self.fabric, c, d) {
                    cycle = Some(layer);
                    break 'all;
                }
                put.push((layer, c, d));
            }
        }
        for (layer, c, d) in put {
            self.layers[layer as usize].take(&self.slots, self.fabric, c, d);
        }
        cycle
    }
}

impl Mix<'_> {
    /// The nodes in topological order, each before those that it may send to; `None` if there is a
    /// cycle.
    fn upstream_first(&self) -> Option<Vec<usize>> {
        let n = self.next.len();
        let targets = |i: usize| {
            let [a, b] = self.node[i];
            [a, if a == b { NONE } else { b }].into_iter().filter(|&j| j != NONE)
        };
        let mut waits = vec![0u32; n];
        for i in 0..n {
            targets(i).for_each(|j| waits[j as usize] += 1);
        }
        let mut order: Vec<usize> = (0..n).filter(|&i| waits[i] == 0).collect();
        let mut next = 0;
        while next < order.len() {
            let i = order[next];
            next += 1;
            for j in targets(i) {
                waits[j as usize] -= 1;
                if waits[j as usize] == 0 {
                    order.push(j as usize);
                }
            }
        }
        (order.len() == n).then_some(order)
    }
}

/// Ranks of all switches such that the first of each pair comes before the second; `None` if the pairs
/// contradict each other.
fn ranks(switches: usize, pairs: &[(u32, u32)]) -> Option<Vec<u32>> {
    let mut pairs = pairs.to_vec();
    pairs.sort_unstable();
    pairs.dedup();
    let mut waits = vec![0u32; switches];
    for &(_, later) in &pairs {
        waits[later as usize] += 1;
    }
    let mut rank = vec![0u32; switches];
    let mut order: Vec<u32> = (0..switches as u32).filter(|&s| waits[s as usize] == 0).collect();
    let mut next = 0;
    while next < order.len() {
        let s = order[next];
        next += 1;
        let from = pairs.partition_point(|p| p.0 < s);
        for &(_, later) in pairs[from..].iter().take_while(|p| p.0 == s) {
            rank[later as usize] = rank[later as usize].max(rank[s as usize] + 1);
            waits[later as usize] -= 1;
            if waits[later as usize] == 0 {
                order.push(later);
            }
        }
    }
    (order.len() == switches).then_some(rank)
}
