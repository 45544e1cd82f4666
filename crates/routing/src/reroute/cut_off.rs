//! Switches that a fault cuts off, row by row.

use darkfiber_fabric::SwitchId;

use super::channel::{NONE, channel};
use super::cut::{Cut, Node};
use super::labels::layers_of;
use super::prepared::Prepared;
use crate::DELIVER;

impl Prepared<'_> {
    /// The cuts that dead `channels` make, and those that were there before.
    pub(super) fn cuts(&self, channels: &[u32]) -> Vec<Cut> {
        // Row by row, and within a row by switch: tables are read in the order in which they lie in memory.
        let mut ends: Vec<(u32, u8)> = channels
            .iter()
            .map(|&c| (self.fabric.tails()[c as usize], self.fabric.tail_ports()[c as usize]))
            .filter(|&(tail, _)| !self.gone.switch[tail as usize])
            .collect();
        ends.sort_unstable();
        let mut starts: Vec<(usize, u32)> = Vec::new();
        for row in (0..self.traffic.rows.len()).filter(|&row| self.traffic.rows[row].live) {
            let ports = self.routes.ports(row);
            let cut = ends.iter().filter(|&&(tail, port)| ports[tail as usize] == port);
            starts.extend(cut.map(|&(tail, _)| (row, tail)));
        }
        // What led over a cable that is gone already is repaired as if it failed now.
        let is_there = |&&(row, s): &&(usize, u32)| {
            self.traffic.rows[row].live && !self.gone.switch[s as usize]
        };
        if !self.unconnected.is_empty() {
            starts.extend(self.unconnected.iter().filter(is_there));
            starts.sort_unstable();
            starts.dedup();
        }
        let of_cables = starts.len();
        // A switch that is cut off from another may have no way but over one that had none before.
        let is_cut = |row: &&usize| starts.binary_search_by_key(*row, |start| start.0).is_ok();
        let gaps: Vec<usize> = self.with_gaps.iter().filter(is_cut).copied().collect();
        let also = self.broken.iter().copied().chain(gaps);
        for row in also.filter(|&row| self.traffic.rows[row].live) {
            starts.extend(self.lost(row).into_iter().map(|s| (row, s)));
        }
        if starts.len() > of_cables {
            starts.sort_unstable();
            starts.dedup();
        }
        let mut place = vec![NONE; self.fabric.switch_count()];
        starts
            .chunk_by(|a, b| a.0 == b.0)
            .map(|of_row| self.cut(of_row[0].0, of_row.iter().map(|&(_, s)| s), &mut place))
            .collect()
    }

    /// Everything upstream of `starts`. `place`, by switch, is [`NONE`] before and after the call.
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

    /// Switches where packets of a row end at a wrong place, and one switch of each forwarding loop.
    pub(super) fn lost(&self, row: usize) -> Vec<u32> {
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
}
