//! Best fit on the tree.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Free;
use crate::Stream;

pub(super) fn best_fit(free: &Free<'_>, n: usize, _: &mut Stream) -> Option<Vec<u32>> {
    let hosts: Vec<u32> = free.hosts().collect();
    if hosts.len() < n {
        return None;
    }
    let mut chosen = Vec::with_capacity(n);
    fill(free, &hosts, n, free.machine.domains().len(), &mut chosen);
    // Ranks go by host, whichever part was filled first.
    chosen.sort_unstable();
    Some(chosen)
}

/// Takes `n` of `hosts`, free hosts of one domain of level `level`: in the part of the lowest level possible, or in
/// as few parts of the level below as can be.
fn fill(free: &Free<'_>, hosts: &[u32], n: usize, level: usize, chosen: &mut Vec<u32>) {
    if level == 0 || hosts.len() == n {
        chosen.extend(&hosts[..n]);
        return;
    }
    for lower in 0..level {
        let enough = parts(free, hosts, lower).into_iter().filter(|part| part.len() >= n);
        if let Some(part) = enough.min_by_key(Vec::len) {
            fill(free, &part, n, lower, chosen);
            return;
        }
    }
    let mut parts = parts(free, hosts, level - 1);
    parts.sort_by_key(|part| Reverse(part.len()));
    let mut left = n;
    let mut parts = parts.into_iter();
    while left > 0 {
        let rest = parts.as_slice();
        // The smallest part that is large enough for the rest; those come first.
        let enough = rest.partition_point(|part| part.len() >= left);
        if let Some(least) = rest[..enough].iter().map(Vec::len).min() {
            let part = rest.iter().find(|part| part.len() == least).expect("one is so small");
            fill(free, part, left, level - 1, chosen);
            return;
        }
        let all = parts.next().expect("there are enough hosts");
        left -= all.len();
        chosen.extend(all);
    }
}

/// Hosts by the domain of a level that they are in.
fn parts(free: &Free<'_>, hosts: &[u32], level: usize) -> Vec<Vec<u32>> {
    let domain = &free.machine.domains()[level];
    let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &h in hosts {
        parts.entry(domain[h as usize]).or_default().push(h);
    }
    parts.into_values().collect()
}
