//! Levels of a tree, from where its hosts are.

use super::net::{Net, typical};
use crate::lift_pits;

/// A switch with no more than this part of a leaf's usual hosts, such as a top switch with one for logins, is not taken for a leaf.
const LEAF_SHARE: u32 = 4;
/// Most cables that may join switches of one level or skip one, in percent.
const MOST_FLAT: u64 = 10;
/// Switches from which levels are counted.
const STARTS: usize = 8;
/// Number of rounds in which switches may change sides.
const ROUNDS: usize = 4;
/// Most hosts that may be on switches above the lowest level, in percent.
const MOST_HIGH: u64 = 20;

const NO_HOST: &str = "no switch has a host to count levels from";

/// Divisions of the switches into levels, 1 = leaf, the likeliest first.
///
/// The top are the switches farthest from those with hosts, and all others have their level from the distance to it,
/// so that a leaf need not have hosts. A stub (a management switch at a core, say) may be farther still than the top:
/// a distance counts only if it has at least a tenth as many switches as the one below. Where whole pods have no
/// host, these are farther from the hosts than the top is; hence the other divisions.
///
/// # Errors
/// If no switch has hosts.
pub(super) fn candidates(net: &Net<'_>) -> Result<Vec<Vec<u8>>, String> {
    Ok(below(net, &heights(net)?))
}

/// The graph without the cables that close odd cycles, if there are any and they are few: cables of a tree
/// join an odd level and an even one, and one that does not would bring a high switch near to the hosts.
/// A switch that has such a cable itself is a bad one to count from.
pub(super) fn even<'a>(net: &Net<'a>) -> Option<Net<'a>> {
    let n = net.len();
    let starts = (0..STARTS.min(n)).map(|i| (i * n / STARTS.min(n)) as u32);
    let astray = starts
        .map(|start| same_side(net, start))
        .min_by_key(|astray| astray.iter().filter(|a| **a).count())?;
    let count = astray.iter().filter(|a| **a).count();
    (count > 0 && count as u64 * 100 <= net.edges.len() as u64 * MOST_FLAT)
        .then(|| net.without(&astray))
}

/// The cables between switches that are both of an odd level or both of an even one, as counted from `start` and then
/// by the majority of their neighbours.
fn same_side(net: &Net<'_>, start: u32) -> Vec<bool> {
    let mut odd: Vec<bool> = net.distances([start]).into_iter().map(|d| d % 2 == 1).collect();
    for _ in 0..ROUNDS {
        for s in 0..net.len() as u32 {
            let near = net.neighbours(s);
            let same = near.iter().filter(|&&v| odd[v as usize] == odd[s as usize]).count();
            odd[s as usize] ^= same * 2 > near.len();
        }
    }
    net.edges.iter().map(|&(s, v)| odd[s as usize] == odd[v as usize]).collect()
}

/// The levels of an otherwise unknown tree, where every switch with a host is a leaf.
///
/// # Errors
/// If no switch has hosts.
pub(super) fn plain(net: &Net<'_>) -> Result<Vec<u8>, String> {
    let leaves: Vec<u32> = (0..net.len() as u32).filter(|&s| net.hosts[s as usize] > 0).collect();
    if leaves.is_empty() {
        return Err(NO_HOST.to_owned());
    }
    let levels = below(net, &net.distances(leaves)).swap_remove(0);
    let mut level: Vec<u32> = levels.into_iter().map(u32::from).collect();
    lift_pits(&mut level, |s| net.hosts[s] > 0, |s| net.neighbours(s as u32));
    Ok(level.into_iter().map(|l| l.min(255) as u8).collect())
}

/// Levels by distance from the top, for each height that may be the top.
fn below(net: &Net<'_>, height: &[u32]) -> Vec<Vec<u8>> {
    let mut count: Vec<usize> = Vec::new();
    for &h in height {
        count.resize(count.len().max(h as usize + 1), 0);
        count[h as usize] += 1;
    }
    let top = (1..count.len()).find(|&h| count[h] * 10 < count[h - 1]).unwrap_or(count.len()) - 1;
    let lowest = (count.len() - 1).div_ceil(2).max(1);
    let others = (lowest..count.len()).rev().filter(|&h| h != top);
    std::iter::once(top)
        .chain(others)
        .map(|top| {
            let tops = (0u32..).zip(height).filter(|(_, h)| **h as usize == top).map(|(s, _)| s);
            let depth = net.distances(tops);
            let deepest = depth.iter().copied().max().unwrap_or(0).min(254);
            depth.into_iter().map(|d| (deepest - d.min(deepest) + 1) as u8).collect()
        })
        .collect()
}

/// Hops from the nearest leaf with hosts; 0 also for a switch without any that has the neighbours of one.
///
/// # Errors
/// If no switch has hosts.
pub(super) fn heights(net: &Net<'_>) -> Result<Vec<u32>, String> {
    let enough = typical(net.hosts.iter().copied()) / LEAF_SHARE + 1;
    let mut leaves: Vec<u32> =
        (0..net.len() as u32).filter(|&s| net.hosts[s as usize] >= enough).collect();
    if leaves.is_empty() {
        return Err(NO_HOST.to_owned());
    }
    let height = net.distances(leaves.iter().copied());
    let inhabited = leaves.len();
    for s in (0..net.len() as u32).filter(|&s| height[s as usize] == 2) {
        let alike = |&leaf: &u32| {
            let most = net.degree(s).max(net.degree(leaf));
            net.common(s, leaf).count() * 5 >= most * 3
        };
        // Leaves below any one of its neighbours, of which a twin must be one of most.
        let near = net.neighbours(s).iter().take(3).flat_map(|&v| net.neighbours(v));
        if near.filter(|&&l| height[l as usize] == 0).any(alike) {
            leaves.push(s);
        }
    }
    if leaves.len() == inhabited { Ok(height) } else { Ok(net.distances(leaves)) }
}

/// Whether nearly all cables join neighbouring levels, and nearly all hosts are on the lowest.
///
/// # Errors
/// How many are not.
pub(super) fn check(net: &Net<'_>, level: &[u8]) -> Result<(), String> {
    let flat: u64 = (net.edges.iter())
        .filter(|&&(s, v)| level[s as usize].abs_diff(level[v as usize]) != 1)
        .map(|&(s, v)| u64::from(net.cables(s, v)))
        .sum();
    let all = net.cable_count();
    if flat * 100 > all * MOST_FLAT {
        return Err(format!("{flat} of {all} cables do not join neighbouring levels"));
    }
    let on = |s: usize| u64::from(net.hosts[s]);
    let hosts: u64 = (0..net.len()).map(on).sum();
    let high: u64 = (0..net.len()).filter(|&s| level[s] > 1).map(on).sum();
    if high * 100 > hosts * MOST_HIGH {
        return Err(format!("{high} of {hosts} hosts are above the lowest level"));
    }
    Ok(())
}
