//! Identity of communicators across ranks, and their members.

use std::collections::BTreeMap;

use super::calls::{CommConstruction, Creation, Rank, SELF, WORLD};

const NONE: u32 = u32::MAX;

/// Adds the communicators that ranks made to those of the trace, which has only the world. Returns by rank the trace's
/// numbers of the communicators that the rank numbers itself.
///
/// Making communicators is collective: the first that one member makes of another one is the first that every member
/// makes of it, and so on.
pub(super) fn resolve(
    ranks: &[(u32, &Rank)],
    communicators: &mut Vec<Vec<u32>>,
) -> Vec<(u32, Vec<u32>)> {
    let at: BTreeMap<u32, usize> =
        ranks.iter().enumerate().map(|(i, (number, _))| (*number, i)).collect();
    let mut maps: Vec<Vec<u32>> =
        ranks.iter().map(|(_, rank)| vec![NONE; rank.creations.len() + 2]).collect();
    // The communicators that a rank made from one of its own, in order.
    let mut made: Vec<BTreeMap<u32, Vec<usize>>> = vec![BTreeMap::new(); ranks.len()];
    for (i, (number, rank)) in ranks.iter().enumerate() {
        maps[i][WORLD as usize] = 0;
        maps[i][SELF as usize] = communicators.len() as u32;
        communicators.push(vec![*number]);
        for (k, creation) in rank.creations.iter().enumerate() {
            made[i].entry(creation.of).or_default().push(k);
        }
    }
    // The members at hand of a communicator, with their own number for it.
    let mut queue: Vec<(u32, Vec<(usize, u32)>)> =
        vec![(0, (0..ranks.len()).map(|i| (i, WORLD)).collect())];
    queue.extend((0..ranks.len()).map(|i| (maps[i][SELF as usize], vec![(i, SELF)])));
    let mut next = 0;
    while next < queue.len() {
        let (parent, holders) = queue[next].clone();
        next += 1;
        let members = communicators[parent as usize].clone();
        let lists: Vec<&[usize]> = holders
            .iter()
            .map(|(i, own)| made[*i].get(own).map_or(&[][..], Vec::as_slice))
            .collect();
        let most = lists.iter().map(|l| l.len()).min().unwrap_or(0);
        for k in 0..most {
            let parts: Vec<(usize, usize, &Creation)> = holders
                .iter()
                .zip(&lists)
                .map(|(&(i, _), l)| (i, l[k], &ranks[i].1.creations[l[k]]))
                .collect();
            for (color, child) in children(&members, &parts, ranks, &at) {
                let id = communicators.len() as u32;
                let inside =
                    |c: &Creation| c.made && (c.how != CommConstruction::Split || c.color == color);
                let holders: Vec<(usize, u32)> = parts
                    .iter()
                    .filter(|(_, _, c)| inside(c))
                    .map(|&(i, own, _)| (i, own as u32 + 2))
                    .collect();
                for &(i, own) in &holders {
                    maps[i][own as usize] = id;
                }
                communicators.push(child);
                queue.push((id, holders));
            }
        }
    }
    for (map, (_, rank)) in maps.iter_mut().zip(ranks) {
        for (own, id) in map.iter_mut().enumerate().filter(|(_, id)| **id == NONE) {
            // Of those that a rank is not in, no call speaks.
            *id = 0;
            if rank.creations[own - 2].made {
                *id = communicators.len() as u32;
                communicators.push(Vec::new());
            }
        }
    }
    ranks.iter().map(|(number, _)| *number).zip(maps).collect()
}

/// The communicators, by color, that members make together, as far as that can be determined.
fn children(
    members: &[u32],
    parts: &[(usize, usize, &Creation)],
    ranks: &[(u32, &Rank)],
    at: &BTreeMap<u32, usize>,
) -> Vec<(i64, Vec<u32>)> {
    let Some((_, _, first)) = parts.first() else { return Vec::new() };
    if parts.iter().any(|(_, _, c)| c.how != first.how) {
        return Vec::new();
    }
    let whole = members.iter().all(|m| at.contains_key(m)) && parts.len() == members.len();
    match first.how {
        CommConstruction::Dup => vec![(0, members.to_vec())],
        // A group is known to its members, and they are in its order.
        CommConstruction::Group => {
            let listed = parts.iter().find(|(_, _, c)| c.made && !c.places.is_empty());
            let Some((_, _, c)) = listed else { return Vec::new() };
            let all: Option<Vec<u32>> =
                c.places.iter().map(|&p| members.get(p as usize).copied()).collect();
            all.map(|m| (0, m)).into_iter().collect()
        }
        CommConstruction::Some if whole => {
            let inside = parts.iter().filter(|(_, _, c)| c.made).map(|(i, _, _)| ranks[*i].0);
            let mut inside: Vec<u32> = inside.collect();
            inside.sort_by_key(|rank| members.iter().position(|m| m == rank));
            vec![(0, inside)]
        }
        CommConstruction::Split if whole => {
            let place: BTreeMap<u32, usize> =
                members.iter().enumerate().map(|(i, m)| (*m, i)).collect();
            let mut colors: BTreeMap<i64, Vec<(i64, usize)>> = BTreeMap::new();
            for (i, _, c) in parts.iter().filter(|(_, _, c)| c.made) {
                colors.entry(c.color).or_default().push((c.key, place[&ranks[*i].0]));
            }
            let sorted = |mut all: Vec<(i64, usize)>| {
                all.sort_unstable();
                all.into_iter().map(|(_, at)| members[at]).collect()
            };
            colors.into_iter().map(|(color, all)| (color, sorted(all))).collect()
        }
        CommConstruction::Some | CommConstruction::Split | CommConstruction::Unknown => Vec::new(),
    }
}
