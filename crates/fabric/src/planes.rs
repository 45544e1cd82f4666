//! Planes: networks that share hosts and no switch.

use crate::{Fabric, SwitchId, TerminalId};

/// Maximum number of planes that are distinguished; a generated fabric has at most [`MAX_PLANES`](crate::MAX_PLANES).
const MOST: usize = 64;

/// The planes of a fabric: networks without a common switch, each of which has at least half of the hosts.
///
/// A message stays in the plane in which it begins, so two terminals of different planes need not reach each other. Those of
/// one plane must, even where the plane itself has fallen to pieces: a piece is counted to the plane with which it has fewest
/// hosts in common. Pieces of a fabric that is no such thing are one plane, which is not connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planes {
    count: usize,
    /// By switch; empty if there is one plane.
    of: Vec<u8>,
}

impl Planes {
    /// Finds the planes of a fabric, numbered by their first switches.
    ///
    /// Complexity: O(channels + terminals x planes).
    pub fn of(fabric: &Fabric) -> Self {
        let label = fabric.component_labels();
        let pieces = label.iter().max().map_or(0, |&last| last as usize + 1);
        if pieces < 2 {
            return Self::one();
        }
        // The hosts of each piece, each once.
        let mut hosts: Vec<Vec<u32>> = vec![Vec::new(); pieces];
        for t in (0..fabric.terminal_count()).map(TerminalId::new) {
            let piece = label[fabric.terminal(t).switch.index()] as usize;
            hosts[piece].push(fabric.host_of(t).0);
        }
        for all in &mut hosts {
            all.sort_unstable();
            all.dedup();
        }
        // Large pieces first: each forms a new plane, or belongs to that with the fewest hosts in common.
        let mut order: Vec<usize> = (0..pieces).collect();
        order.sort_by_key(|&p| (std::cmp::Reverse(hosts[p].len()), p));
        let mut planes_of_host: Vec<u64> = vec![0; fabric.hosts().len()];
        let mut plane_of = vec![0u8; pieces];
        let mut count = 0usize;
        for piece in order {
            let own = &hosts[piece];
            let common = |plane: usize| {
                own.iter().filter(|&&h| planes_of_host[h as usize] >> plane & 1 == 1).count()
            };
            let least = (0..count).map(|plane| (common(plane), plane)).min();
            let plane = match least {
                Some((common, plane)) if own.is_empty() || 2 * common < own.len() => plane,
                _ if count == MOST => return Self::one(),
                _ => {
                    count += 1;
                    count - 1
                }
            };
            plane_of[piece] = plane as u8;
            for &h in own {
                planes_of_host[h as usize] |= 1 << plane;
            }
        }
        let all = planes_of_host.iter().filter(|&&planes| planes != 0).count();
        let has_half = |plane: usize| {
            2 * planes_of_host.iter().filter(|&&planes| planes >> plane & 1 == 1).count() >= all
        };
        if count < 2 || !(0..count).all(has_half) {
            return Self::one();
        }
        let mut number = [u8::MAX; MOST];
        let mut next = 0;
        let of = label.iter().map(|&piece| {
            let number = &mut number[usize::from(plane_of[piece as usize])];
            if *number == u8::MAX {
                *number = next;
                next += 1;
            }
            *number
        });
        Self { of: of.collect(), count }
    }

    fn one() -> Self {
        Self { count: 1, of: Vec::new() }
    }

    /// Number of planes; 1 if the fabric has none.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The plane of a switch, from 0.
    #[inline]
    pub fn of_switch(&self, s: SwitchId) -> usize {
        self.of.get(s.index()).map_or(0, |&plane| plane.into())
    }

    /// The plane of a terminal, from 0: that of its switch.
    #[inline]
    pub fn of_terminal(&self, fabric: &Fabric, t: TerminalId) -> usize {
        self.of_switch(fabric.terminal(t).switch)
    }

    /// The terminals of each plane, rising.
    pub fn terminals(&self, fabric: &Fabric) -> Vec<Vec<TerminalId>> {
        let mut all = vec![Vec::new(); self.count];
        for t in (0..fabric.terminal_count()).map(TerminalId::new) {
            all[self.of_terminal(fabric, t)].push(t);
        }
        all
    }
}
