//! Which switches a fault cuts off, row by row.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::SwitchId;

use super::labels::layers_of;
use super::prepared::{NONE, Prepared, channel};
use crate::DELIVER;

/// A switch whose way to the destination of a row is cut.
pub(super) struct Node {
    pub(super) switch: u32,
    /// Its entry before.
    pub(super) old: u8,
    /// Layers of the paths that begin here, before; 0 if nobody sends from here.
    pub(super) layers: u32,
    /// Pairs of terminals that begin here.
    pub(super) pairs: u64,
    /// What is sent from here.
    pub(super) amount: u64,
    /// What is sent from here or came through here.
    pub(super) weight: u64,
    /// Whether any pair begins here or came through here.
    pub(super) used: bool,
}

/// A row, and the switches that are cut off on it: each behind the one that it sent to, those next to
/// the fault first.
pub(super) struct Cut {
    pub(super) row: usize,
    pub(super) home: u32,
    pub(super) nodes: Vec<Node>,
}

impl Cut {
    /// The entry that a switch had before, if it is cut off.
    pub(super) fn entry_before(&self, s: u32) -> Option<u8> {
        self.nodes.iter().find(|n| n.switch == s).map(|n| n.old)
    }

    /// Adds the switches of another cut of the row that it does not have yet.
    pub(super) fn join(&mut self, other: Self) {
        let known: BTreeSet<u32> = self.nodes.iter().map(|n| n.switch).collect();
        self.nodes.extend(other.nodes.into_iter().filter(|n| !known.contains(&n.switch)));
    }
}

/// Cuts, one for each row that has any.
#[derive(Default)]
pub(super) struct Cuts {
    pub(super) all: Vec<Cut>,
    of_row: BTreeMap<usize, usize>,
}

impl Cuts {
    pub(super) fn new(all: Vec<Cut>) -> Self {
        let of_row = all.iter().enumerate().map(|(i, cut)| (cut.row, i)).collect();
        Self { all, of_row }
    }

    pub(super) fn of(&self, row: usize) -> Option<&Cut> {
        self.of_row.get(&row).map(|&i| &self.all[i])
    }

    /// Adds one, to that of its row if there is any.
    pub(super) fn join(&mut self, cut: Cut) {
        match self.of_row.entry(cut.row) {
            Entry::Occupied(i) => self.all[*i.get()].join(cut),
            Entry::Vacant(new) => {
                new.insert(self.all.len());
                self.all.push(cut);
            }
        }
    }
}

impl Prepared<'_> {
    /// The cuts that dead `channels` make, and those that were there before.
    pub(super) fn cuts(&self, channels: &[u32]) -> Vec<Cut> {
        let mut starts: Vec<(usize, u32)> = Vec::new();
        for &c in channels {
            let (tail, port) =
                (self.fabric.tails()[c as usize], self.fabric.tail_ports()[c as usize]);
            if self.gone.switch[tail as usize] {
                continue;
            }
            let uses = |&row: &usize| {
                self.traffic.rows[row].live && self.routes.ports(row)[tail as usize] == port
            };
            starts.extend((0..self.traffic.rows.len()).filter(uses).map(|row| (row, tail)));
        }
        for &row in self.broken.iter().filter(|&&row| self.traffic.rows[row].live) {
            starts.extend(self.lost(row).into_iter().map(|s| (row, s)));
        }
        starts.sort_unstable();
        starts.dedup();
        let mut place = vec![NONE; self.fabric.switch_count()];
        starts
            .chunk_by(|a, b| a.0 == b.0)
            .map(|of_row| self.cut(of_row[0].0, of_row.iter().map(|&(_, s)| s), &mut place))
            .collect()
    }

    /// Everything upstream of `starts`. `place`, by switch, is [`NONE`] before and after.
    pub(super) fn cut(
        &self,
        row: usize,
        starts: impl Iterator<Item = u32>,
        place: &mut [u32],
    ) -> Cut {
        let fabric = self.fabric;
        let ports = self.routes.ports(row);
        let home = self.traffic.rows[row].home;
        let mut order: Vec<u32> = starts.collect();
        for (i, &s) in order.iter().enumerate() {
            place[s as usize] = i as u32;
        }
        let mut next = 0;
        while next < order.len() {
            let v = order[next];
            next += 1;
            for c in fabric.channels_from(SwitchId(v)) {
                let s = fabric.heads()[c];
                let against = fabric.reverses()[c] as usize;
                if place[s as usize] == NONE
                    && ports[s as usize] == fabric.tail_ports()[against]
                    && !self.gone.switch[s as usize]
                    && !self.gone.channel[against]
                {
                    place[s as usize] = order.len() as u32;
                    order.push(s);
                }
            }
        }
        let mut nodes: Vec<Node> = order
            .iter()
            .map(|&switch| {
                let pairs = if switch == home { 0 } else { self.traffic.pairs(row, switch) };
                let layers = match pairs {
                    0 => 0,
                    _ => layers_of(fabric, &self.routes, row, switch),
                };
                let amount = if pairs == 0 { 0 } else { self.traffic.amount(row, switch) };
                let (weight, used) = (amount, pairs > 0);
                Node { switch, old: ports[switch as usize], layers, pairs, amount, weight, used }
            })
            .collect();
        for i in (0..nodes.len()).rev() {
            let c = channel(fabric, ports, nodes[i].switch);
            if c != NONE && !self.gone.channel[c as usize] {
                let Node { weight, used, .. } = nodes[i];
                let behind = place[fabric.heads()[c as usize] as usize] as usize;
                if behind < i {
                    nodes[behind].weight += weight;
                    nodes[behind].used |= used;
                }
            }
        }
        for &s in &order {
            place[s as usize] = NONE;
        }
        Cut { row, home, nodes }
    }

    /// Switches where packets of a row end at a wrong place, and one of each circle that they go round.
    fn lost(&self, row: usize) -> Vec<u32> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            Unknown,
            Now,
            Known,
        }
        let fabric = self.fabric;
        let ports = self.routes.ports(row);
        let home = self.traffic.rows[row].home;
        let mut state = vec![State::Unknown; ports.len()];
        let mut lost = Vec::new();
        let mut way = Vec::new();
        for start in (0..ports.len() as u32).filter(|&s| !self.gone.switch[s as usize]) {
            let mut at = start;
            while state[at as usize] == State::Unknown {
                state[at as usize] = State::Now;
                way.push(at);
                if at == home && ports[at as usize] == DELIVER {
                    break;
                }
                let c = channel(fabric, ports, at);
                if c == NONE || self.gone.channel[c as usize] {
                    lost.push(at);
                    break;
                }
                at = fabric.heads()[c as usize];
                if state[at as usize] == State::Now {
                    lost.push(at);
                }
            }
            for s in way.drain(..) {
                state[s as usize] = State::Known;
            }
        }
        lost
    }

    /// Adds to `way` the channels that a packet of a row crosses from a switch on, failed ones included;
    /// whether it arrives.
    pub(super) fn follow(&self, row: usize, from: u32, way: &mut Vec<u32>) -> bool {
        let ports = self.routes.ports(row);
        let home = self.traffic.rows[row].home;
        let mut at = from;
        for _ in 0..ports.len() {
            let c = channel(self.fabric, ports, at);
            if c == NONE {
                return at == home && ports[at as usize] == DELIVER;
            }
            way.push(c);
            at = self.fabric.heads()[c as usize];
        }
        false
    }

    /// Whether a packet can cross a channel.
    #[inline]
    pub(super) fn works(&self, c: u32) -> bool {
        !self.gone.channel[c as usize]
    }
}
