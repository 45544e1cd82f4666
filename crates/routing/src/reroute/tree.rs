//! A table row as a tree: which switch sends to which, and its distance.

use darkfiber_fabric::Fabric;

use super::channel::{NONE, channel};
use crate::DELIVER;

/// The tree of paths of a row from all switches.
pub(super) struct Tree {
    /// The channel that each switch sends on.
    pub(super) next: Vec<u32>,
    /// The switches, each before the one that it sends to; those in forwarding loops are left out.
    pub(super) order: Vec<u32>,
    /// Channels to the destination, [`NONE`] if packets are lost.
    hops: Vec<u32>,
    waits: Vec<u32>,
}

impl Tree {
    pub(super) fn new(switches: usize) -> Self {
        let none = || vec![NONE; switches];
        Self { next: none(), order: Vec::new(), hops: none(), waits: vec![0; switches] }
    }

    /// Reads a row. Complexity: O(switches).
    pub(super) fn read(&mut self, fabric: &Fabric, ports: &[u8], home: u32) {
        let heads = fabric.heads();
        for s in 0..self.next.len() {
            self.next[s] = channel(fabric, ports, s as u32);
            if self.next[s] != NONE {
                self.waits[heads[self.next[s] as usize] as usize] += 1;
            }
        }
        self.order.clear();
        self.order.extend((0..self.next.len() as u32).filter(|&s| self.waits[s as usize] == 0));
        let mut done = 0;
        while let Some(&s) = self.order.get(done) {
            done += 1;
            let c = self.next[s as usize];
            if c != NONE {
                let head = heads[c as usize];
                self.waits[head as usize] -= 1;
                if self.waits[head as usize] == 0 {
                    self.order.push(head);
                }
            }
        }
        // Switches that still wait are in a loop.
        self.waits.fill(0);
        self.hops.fill(NONE);
        if ports[home as usize] == DELIVER {
            self.hops[home as usize] = 0;
        }
        for &s in self.order.iter().rev() {
            let c = self.next[s as usize];
            if c != NONE {
                let behind = self.hops[heads[c as usize] as usize];
                self.hops[s as usize] = if behind == NONE { NONE } else { behind + 1 };
            }
        }
    }

    /// Channels that a packet from a switch crosses; `None` if it is lost.
    pub(super) fn hops(&self, s: u32) -> Option<usize> {
        let hops = self.hops[s as usize];
        (hops != NONE).then_some(hops as usize)
    }
}
