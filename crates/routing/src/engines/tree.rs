//! In-trees: where every switch sends towards one destination.

use darkfiber_fabric::{AtPort, Fabric, SwitchId};

use super::acyclic::NONE;
use super::dag::FAR;
use crate::{DELIVER, NO_ROUTE};

/// The paths from all switches to one destination switch: a row of the table, ready to be walked.
#[derive(Clone, Default)]
pub(super) struct Tree {
    /// The channel that each switch sends on; [`NONE`] at the destination and where there is no
    /// path.
    pub(super) next: Vec<u32>,
    /// Hops to the destination switch.
    pub(super) dist: Vec<u32>,
    /// Switches that have a path, each after the one it sends to; the destination first.
    pub(super) order: Vec<u32>,
}

impl Tree {
    /// Starts a tree that holds only the destination.
    pub(super) fn start(&mut self, switches: usize, home: SwitchId) {
        self.next.clear();
        self.next.resize(switches, NONE);
        self.dist.clear();
        self.dist.resize(switches, FAR);
        self.order.clear();
        self.dist[home.index()] = 0;
        self.order.push(home.0);
    }

    /// Adds switch `s`, which sends on `channel` to a switch that is in the tree.
    pub(super) fn push(&mut self, fabric: &Fabric, s: u32, channel: u32) {
        let v = fabric.heads()[channel as usize] as usize;
        self.next[s as usize] = channel;
        self.dist[s as usize] = self.dist[v] + 1;
        self.order.push(s);
    }

    /// The tree of a table row that reaches `home` from everywhere.
    pub(super) fn read(&mut self, fabric: &Fabric, ports: &[u8], home: SwitchId) {
        self.start(ports.len(), home);
        for (s, &port) in ports.iter().enumerate() {
            if port != DELIVER
                && port != NO_ROUTE
                && let AtPort::Switch(c, _) = fabric.at_port(SwitchId::new(s), port)
            {
                self.next[s] = c.0;
            }
        }
        let mut chain = Vec::new();
        for s in 0..ports.len() {
            let mut at = s;
            while self.dist[at] == FAR && self.next[at] != NONE {
                chain.push(at as u32);
                at = fabric.heads()[self.next[at] as usize] as usize;
            }
            while let Some(v) = chain.pop() {
                self.push(fabric, v, self.next[v as usize]);
            }
        }
    }

    /// Writes the table row.
    pub(super) fn write(&self, fabric: &Fabric, ports: &mut [u8]) {
        for &s in &self.order {
            let c = self.next[s as usize];
            ports[s as usize] = if c == NONE { DELIVER } else { fabric.tail_ports()[c as usize] };
        }
    }

    /// Calls `each` with every channel on the path over channel `first`.
    #[inline]
    pub(super) fn follow(&self, fabric: &Fabric, first: u32, mut each: impl FnMut(u32)) {
        let mut c = first;
        while c != NONE {
            each(c);
            c = self.next[fabric.heads()[c as usize] as usize];
        }
    }

    /// Hops of all sources together.
    pub(super) fn hops(&self, sources: &[u32]) -> u64 {
        let hops = |&s: &u32| u64::from(self.dist[s as usize]) * u64::from(sources[s as usize]);
        self.order.iter().map(hops).sum()
    }

    /// Calls `each` with every dependency (channel, next channel) that packets of `sources` make.
    pub(super) fn dependencies(
        &self,
        fabric: &Fabric,
        sources: &[u32],
        mut each: impl FnMut(u32, u32),
    ) {
        let mut passed: Vec<bool> = sources.iter().map(|&n| n > 0).collect();
        for &s in self.order.iter().rev() {
            let c = self.next[s as usize];
            if c == NONE || !passed[s as usize] {
                continue;
            }
            let v = fabric.heads()[c as usize] as usize;
            passed[v] = true;
            if self.next[v] != NONE {
                each(c, self.next[v]);
            }
        }
    }
}
