//! When packets wait for each other for ever.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_workload::state;
use serde::{Deserialize, Serialize};

use crate::{Net, SwitchModel};

/// A buffer: the input port and the lane that it is of.
pub type Buffer = (u32, u8);

/// The first packet of a queue, and the buffer that it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Waits {
    /// Buffer that it is in.
    pub at: Buffer,
    /// Buffer that it waits for; none if it does not wait for buffer space.
    pub wants: Option<Buffer>,
    /// Number of the packet.
    pub packet: u32,
}

/// Packets that wait for each other for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalled {
    /// When that was seen, in picoseconds.
    pub when: u64,
    /// Packets in the network and its sources.
    pub packets: usize,
    /// A cycle of buffers: the first packet of each waits for space in the next one, that of the last for space in the
    /// first.
    pub cycle: Vec<Buffer>,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Some packet can always move.
    Moves,
    /// Some packets cannot, unless credits are in flight: to be checked again.
    Stuck,
    /// They wait for each other for ever.
    Locked(Stalled),
}

/// Checks repeatedly for deadlock.
///
/// A buffer moves if any of its queues does: if that does not wait for buffer space, or waits for space in a buffer that
/// moves, or in one without waiting packets. The buffers left when all those are removed are stuck, unless credits for
/// them are in flight: so it counts if the same packets are stuck when those must have arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    stuck: BTreeSet<Waits>,
    /// Maximum time that anything is in flight, in picoseconds.
    patience: u64,
}

state! {
    pub(crate) struct WatchState of() Watch {
        stuck: BTreeSet<Waits>,
    }
}

impl Watch {
    /// Over packets of at most this many bytes.
    pub(crate) fn new(net: &Net, micro: &SwitchModel, bytes: u32) -> Self {
        let patience = net.slowest(bytes) * 4 + 4 * (micro.pipeline + micro.spread + micro.credit);
        Self { stuck: BTreeSet::new(), patience }
    }

    /// Minimum time between two checks.
    pub(crate) fn patience(&self) -> u64 {
        self.patience
    }

    /// Checks all waiting packets; later than anything that was in flight at the last check.
    pub(crate) fn look(&mut self, now: u64, packets: usize, waits: &[Waits]) -> Look {
        let stuck = stuck(waits);
        let still: Vec<Waits> = self.stuck.intersection(&stuck).copied().collect();
        self.stuck = stuck;
        let cycle = cycle(&still);
        match cycle.is_empty() {
            false => Look::Locked(Stalled { when: now, packets, cycle }),
            true if self.stuck.is_empty() => Look::Moves,
            true => Look::Stuck,
        }
    }
}

/// Those of buffers that do not move.
fn stuck(waits: &[Waits]) -> BTreeSet<Waits> {
    let mut behind: BTreeMap<Buffer, Vec<Buffer>> = BTreeMap::new();
    let held: BTreeSet<Buffer> = waits.iter().map(|w| w.at).collect();
    let mut moves: BTreeSet<Buffer> = BTreeSet::new();
    let mut open: Vec<Buffer> = Vec::new();
    for w in waits {
        match w.wants {
            Some(wanted) if held.contains(&wanted) => behind.entry(wanted).or_default().push(w.at),
            _ if moves.insert(w.at) => open.push(w.at),
            _ => {}
        }
    }
    while let Some(buffer) = open.pop() {
        for &b in behind.get(&buffer).into_iter().flatten() {
            if moves.insert(b) {
                open.push(b);
            }
        }
    }
    waits.iter().filter(|w| !moves.contains(&w.at)).copied().collect()
}

/// A cycle, if there is one: from any buffer on until one comes again.
fn cycle(waits: &[Waits]) -> Vec<Buffer> {
    let mut next: BTreeMap<Buffer, Vec<Buffer>> = BTreeMap::new();
    for w in waits {
        if let Some(wanted) = w.wants {
            next.entry(w.at).or_default().push(wanted);
        }
    }
    let mut done: BTreeSet<Buffer> = BTreeSet::new();
    for &start in next.keys() {
        // The path to here, and the number of the next buffer to examine from each.
        let mut path: Vec<(Buffer, usize)> = vec![(start, 0)];
        while let Some((at, i)) = path.last_mut() {
            let wanted = next.get(at).filter(|_| !done.contains(at)).and_then(|all| all.get(*i));
            let Some(&wanted) = wanted else {
                done.insert(*at);
                path.pop();
                continue;
            };
            *i += 1;
            if let Some(begin) = path.iter().position(|(b, _)| *b == wanted) {
                return path[begin..].iter().map(|(b, _)| *b).collect();
            }
            path.push((wanted, 0));
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(a: u32, b: Option<u32>) -> Waits {
        Waits { at: (a, 0), wants: b.map(|b| (b, 0)), packet: a }
    }

    #[test]
    fn a_cycle_is_found_if_there_is_one() {
        let all = [(1, 2), (2, 3), (2, 4), (5, 1), (4, 6)].map(|(a, b)| wait(a, Some(b)));
        assert!(cycle(&all).is_empty());
        let all = [&all[..], &[wait(6, Some(2))]].concat();
        assert_eq!(cycle(&all), [(2, 0), (4, 0), (6, 0)]);
        assert_eq!(cycle(&[wait(7, Some(7))]), [(7, 0)]);
    }

    #[test]
    fn what_moves_is_not_stuck() {
        // A ring of three, and a fourth that waits for it.
        let ring = [wait(1, Some(2)), wait(2, Some(3)), wait(3, Some(1)), wait(4, Some(1))];
        assert_eq!(stuck(&ring).len(), 4);
        // Another queue of one of them has somewhere to go.
        let mut free = ring.to_vec();
        free.push(wait(2, None));
        assert!(stuck(&free).is_empty());
        // No packet waits in the buffer that the last one needs.
        assert!(stuck(&[wait(1, Some(2)), wait(2, Some(9))]).is_empty());
        let mut watch = Watch::default();
        assert_eq!(watch.look(1, 4, &ring), Look::Stuck, "room may be on its way");
        let cycle = vec![(1, 0), (2, 0), (3, 0)];
        assert_eq!(watch.look(2, 4, &ring), Look::Locked(Stalled { when: 2, packets: 4, cycle }));
        assert_eq!(watch.look(3, 4, &free), Look::Moves);
    }
}
