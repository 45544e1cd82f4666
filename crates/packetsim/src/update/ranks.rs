//! An order of switches in which tables may be written.
//!
//! If every switch is written after the changed ones that its new way leads over, a packet that has met a new entry meets no old
//! one later: it goes in no circle, and makes only the channel dependencies of an old beginning and a new end. If those have no
//! cycle in any lane, nothing deadlocks, whatever happens between two ranks.

use std::collections::BTreeSet;

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId};
use darkfiber_routing::{DELIVER, DestId, NO_ROUTE, Routes};

/// Why there is no such order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unranked {
    /// Switches would each have to be written before the other.
    Circle,
    /// Paths with an old beginning and a new end have a cyclic channel dependency in this lane.
    Deadlock(u8),
}

/// By switch, when it is to be written, from 0; nothing for those that do not change. Connections keep the service levels of the
/// old tables, new ones have those of the new.
///
/// Complexity: O(LIDs x switches x longest path).
///
/// # Errors
/// If there is no such order.
pub fn ranks(fabric: &Fabric, from: &Routes, to: &Routes) -> Result<Vec<Option<u32>>, Unranked> {
    let n = fabric.switch_count();
    let mut first: BTreeSet<(u32, u32)> = BTreeSet::new();
    let mut changed = vec![false; n];
    let mut dependencies: Vec<BTreeSet<(u32, u32)>> = Vec::new();
    for t in (0..fabric.terminal_count()).map(TerminalId::new) {
        for path in 0..from.paths().min(to.paths()) {
            let rows = [from, to].map(|r| r.row(DestId::terminal(t), path));
            let next = |k: usize| -> Vec<Option<(u32, u32)>> {
                let ports = [from, to][k].ports(rows[k]);
                (0..n).map(|s| hop(fabric, SwitchId::new(s), ports[s])).collect()
            };
            let next = [next(0), next(1)];
            let differs = |s: u32| next[0][s as usize] != next[1][s as usize];
            for s in (0..n as u32).filter(|&s| differs(s)) {
                changed[s as usize] = true;
                let mut at = next[1][s as usize].map(|h| h.1);
                while let Some(s) = at.filter(|&s| !differs(s)) {
                    at = next[1][s as usize].map(|h| h.1);
                }
                first.extend(at.map(|before| (before, s)));
            }
            depend(fabric, [from, to], rows, &next, path, &mut dependencies);
        }
    }
    for (lane, edges) in dependencies.iter().enumerate() {
        if order(fabric.channel_count(), edges).is_none() {
            return Err(Unranked::Deadlock(lane as u8));
        }
    }
    let rank = order(n, &first).ok_or(Unranked::Circle)?;
    Ok(rank.into_iter().zip(changed).map(|(rank, changed)| changed.then_some(rank)).collect())
}

/// The channel that an entry names, and the switch behind it.
fn hop(fabric: &Fabric, s: SwitchId, port: u8) -> Option<(u32, u32)> {
    if port == DELIVER || port == NO_ROUTE {
        return None;
    }
    let mut channels = fabric.channels_from(s);
    let c = channels.find(|&c| fabric.tail_ports()[c] == port)?;
    match fabric.at_port(s, port) {
        AtPort::Switch(_, next) => Some((c as u32, next.0)),
        _ => None,
    }
}

/// Adds the dependencies of all paths to a LID that begin on old entries and end on new ones, from sources with service levels of
/// either, by lane.
fn depend(
    fabric: &Fabric,
    routes: [&Routes; 2],
    rows: [usize; 2],
    next: &[Vec<Option<(u32, u32)>>; 2],
    path: usize,
    all: &mut Vec<BTreeSet<(u32, u32)>>,
) {
    // By switch, lanes of its terminals.
    let n = fabric.switch_count();
    let mut lanes = vec![0u32; n];
    for source in (0..fabric.terminal_count()).map(TerminalId::new) {
        if routes[0].uses(source, path) || routes[1].uses(source, path) {
            let of = |k: usize| 1u32 << routes[k].layer_on(fabric, source, rows[k]);
            lanes[fabric.terminal(source).switch.index()] |= of(0) | of(1);
        }
    }
    let mut add = |mask: u32, a: u32, b: u32| {
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            if all.len() <= lane {
                all.resize(lane + 1, BTreeSet::new());
            }
            all[lane].insert((a, b));
        }
    };
    for start in (0..n).filter(|&s| lanes[s] != 0) {
        let mask = lanes[start];
        let (mut at, mut last) = (start, None::<u32>);
        // No path is longer than there are switches.
        for _ in 0..=n {
            // From here on new entries.
            let (mut there, mut before) = (at, last);
            for _ in 0..=n {
                let Some((c, to)) = next[1][there] else { break };
                if let Some(b) = before {
                    add(mask, b, c);
                }
                (there, before) = (to as usize, Some(c));
            }
            let Some((c, to)) = next[0][at] else { break };
            if let Some(b) = last {
                add(mask, b, c);
            }
            (at, last) = (to as usize, Some(c));
        }
    }
}

/// A rank for each of `n` things such that the first of each pair is lower; nothing if the pairs go round.
fn order(n: usize, pairs: &BTreeSet<(u32, u32)>) -> Option<Vec<u32>> {
    let mut waits = vec![0u32; n];
    for &(_, later) in pairs {
        waits[later as usize] += 1;
    }
    let mut rank = vec![0u32; n];
    let mut open: Vec<u32> = (0..n as u32).filter(|&i| waits[i as usize] == 0).collect();
    let mut done = 0;
    while done < open.len() {
        let i = open[done];
        done += 1;
        for &(_, later) in pairs.range((i, 0)..=(i, u32::MAX)) {
            rank[later as usize] = rank[later as usize].max(rank[i as usize] + 1);
            waits[later as usize] -= 1;
            if waits[later as usize] == 0 {
                open.push(later);
            }
        }
    }
    (open.len() == n).then_some(rank)
}
