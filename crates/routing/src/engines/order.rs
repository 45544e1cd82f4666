//! Up and down: a direction for every channel, and the legal paths that follow it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use darkfiber_fabric::{Fabric, Role, Shape, SwitchId, lift_pits};
use rayon::prelude::*;

use super::dag::{Dag, FAR};
use crate::{SEARCHES, search_from};

/// A total order of the switches. A channel goes **up** if its head is nearer to the top. Paths that
/// go up, then down, and never turn up again, cannot form a cycle of channel dependencies (Schroeder
/// et al., "Autonet: a high-speed, self-configuring local area network", 1991), whatever the order.
pub(crate) struct UpDown {
    /// Direction of each channel.
    direction: Vec<Direction>,
    /// Whether each switch has terminals.
    inhabited: Vec<bool>,
    /// Whether each switch has others than aggregation nodes.
    hosting: Vec<bool>,
    /// The order for destinations that this one does not lead everybody to; found when it is asked for. An order with one top, which
    /// leads everybody everywhere, has none.
    spare: Option<OnceLock<Box<UpDown>>>,
    /// The switches with hosts on the level that most hosts are on: one of them is the top of the spare order.
    bottom: Vec<SwitchId>,
    /// The one root, of an order by distance from it.
    pub(super) root: Option<SwitchId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
    /// Within a level of a tree: left dark.
    Flat,
}

impl Direction {
    /// Whether a switch may send this way, by whether it and the next one descend.
    #[inline]
    fn allows(self, descends: bool, next_descends: bool) -> bool {
        match self {
            Self::Up => !descends,
            Self::Down => descends && next_descends,
            Self::Flat => false,
        }
    }
}

impl UpDown {
    /// Of switches at these places, in the order of the key by switch that is a level or a distance.
    fn new(
        fabric: &Fabric,
        place: &[u32],
        key: &[u32],
        level: Option<&[u32]>,
        has_one_top: bool,
    ) -> Self {
        let direction = (0..fabric.channel_count())
            .map(|c| {
                let (s, v) = (fabric.tails()[c] as usize, fabric.heads()[c] as usize);
                match level {
                    Some(level) if level[s] == level[v] => Direction::Flat,
                    _ if place[v] < place[s] => Direction::Up,
                    _ => Direction::Down,
                }
            })
            .collect();
        let some = |is: fn(Role) -> bool| -> Vec<bool> {
            let has = |s| fabric.terminals_on(s).any(|t| is(fabric.terminals()[t].role));
            (0..fabric.switch_count()).map(|s| has(SwitchId::new(s))).collect()
        };
        let (inhabited, hosting) = (some(|_| true), some(|role| role != Role::Aggregation));
        let bottom = if has_one_top { Vec::new() } else { bottom(fabric, key) };
        let spare = (!has_one_top).then(OnceLock::new);
        Self { direction, inhabited, hosting, spare, bottom, root: None }
    }

    /// By distance from the roots; equal distances by id.
    pub(crate) fn from_roots(fabric: &Fabric, roots: &[SwitchId]) -> Self {
        let far = distances(fabric, roots);
        let root = if let [root] = roots { Some(*root) } else { None };
        Self { root, ..Self::new(fabric, &places(&far, |d| d), &far, None, root.is_some()) }
    }

    /// By distance from the switches with hosts, the farthest on top; equal distances by distance
    /// from the centre, then by id.
    pub(crate) fn from_leaves(fabric: &Fabric) -> Self {
        let leaf = distances(fabric, &leaves(fabric));
        let centre = distances(fabric, &[centre(fabric)]);
        let mut by: Vec<u32> = (0..fabric.switch_count() as u32).collect();
        by.sort_by_key(|&s| (std::cmp::Reverse(leaf[s as usize]), centre[s as usize], s));
        let mut place = vec![0; by.len()];
        for (i, s) in by.into_iter().enumerate() {
            place[s as usize] = i as u32;
        }
        Self::new(fabric, &place, &leaf, None, false)
    }

    /// By tree level; cables within a level are left dark.
    pub(crate) fn from_levels(fabric: &Fabric, level: &[u32]) -> Self {
        Self::new(fabric, &places(level, |l| u32::MAX - l), level, Some(level), false)
    }

    /// By level if the fabric is a tree with at least two, else by distance from the centre.
    pub(crate) fn natural(fabric: &Fabric, shape: Option<&Shape>) -> Self {
        if let Ok(level) = tree_levels(fabric, shape, &[])
            && level.iter().any(|&l| l > 1)
        {
            return Self::new(fabric, &places(&level, |l| u32::MAX - l), &level, None, false);
        }
        Self::from_roots(fabric, &[centre(fabric)])
    }

    /// The order from the leaf that is nearest to all switches, which is no top switch that has hosts, too. On a tree it has the shortest
    /// paths of the tree's levels, and a way more where damage has left two switches without one, or two top switches have hosts: down
    /// to that leaf and up again.
    pub(crate) fn spare(&self, fabric: &Fabric) -> Option<&Self> {
        let found = self.spare.as_ref()?;
        Some(found.get_or_init(|| {
            let root = nearest(fabric, |s| self.bottom.binary_search(&s).is_ok());
            Box::new(Self::from_roots(fabric, &[root]))
        }))
    }

    /// The legal paths to `dest`, as short as destination-based tables allow. If some pair of hosts has none, all paths to `dest`
    /// follow the [`spare`](Self::spare) order, and their sources are **strays** ([`Dag::strays`]): whether one lane carries these beside
    /// the others is to be checked. Else the switches without one are the strays (of aggregation nodes, or to them), and get shortest
    /// paths to the others.
    ///
    /// One table entry serves all sources, so a switch that others enter going down must itself send
    /// down. A breadth-first search from the destination gives every switch its shortest legal path
    /// and marks it *descending* if that path only goes down; a switch may go down to a descending
    /// one only, and up to any. A switch whose shortest path goes up although it also has a longer
    /// path down is closed for descents. If that cuts off some switch, the destination is routed
    /// again with "down wherever there is a path down", which reaches every switch that has a legal
    /// path at all.
    pub(crate) fn legal(&self, fabric: &Fabric, dag: &mut Dag, dest: SwitchId) {
        let n = fabric.switch_count();
        let mut descends = vec![false; n];
        self.short(fabric, dag, &mut descends, dest);
        let reached = dag.order.len();
        if reached == n {
            dag.legal = n;
            return;
        }
        let is_cut_off = |dag: &Dag, is: &[bool]| (0..n).any(|s| dag.dist[s] == FAR && is[s]);
        if is_cut_off(dag, &self.inhabited) {
            self.down_first(fabric, dag, &mut descends, dest);
            if self.hosting[dest.index()]
                && is_cut_off(dag, &self.hosting)
                && let Some(spare) = self.spare(fabric)
            {
                spare.legal(fabric, dag, dest);
                dag.legal = 1;
                return;
            }
            if dag.order.len() == reached {
                self.short(fabric, dag, &mut descends, dest);
            }
        }
        dag.legal = dag.order.len();
        spread(fabric, dag, |_| true);
        let mut stray = vec![false; n];
        for &s in &dag.order[dag.legal..] {
            stray[s as usize] = true;
        }
        dag.collect(fabric, |c, s, v| {
            if stray[s] || stray[v] {
                return stray[s];
            }
            self.direction[c].allows(descends[s], descends[v])
        });
    }

    fn start(dag: &mut Dag, descends: &mut [bool], dest: SwitchId) {
        dag.clear(descends.len());
        descends.fill(false);
        dag.dist[dest.index()] = 0;
        descends[dest.index()] = true;
        dag.order.push(dest.0);
    }

    /// Shortest legal paths by a breadth-first search over reversed channels, with their
    /// candidates.
    fn short(&self, fabric: &Fabric, dag: &mut Dag, descends: &mut [bool], dest: SwitchId) {
        Self::start(dag, descends, dest);
        let mut level = 0..1;
        let mut climbers: Vec<u32> = Vec::new();
        while !level.is_empty() {
            // Descents first: of two paths of one length, down keeps the switch open for others.
            for i in level.clone() {
                let v = dag.order[i] as usize;
                let (d, falls) = (dag.dist[v], descends[v]);
                let channels = fabric.channels_from(SwitchId::new(v));
                let directions = self.direction[channels.clone()].iter().copied();
                let ends = fabric.heads()[channels.clone()].iter().copied().zip(directions);
                for (c, (s, direction)) in (channels.start..).zip(ends) {
                    let far = dag.dist[s as usize];
                    if far == FAR {
                        // Against its direction the channel would bring `s` to `v`.
                        if direction == Direction::Down {
                            climbers.push(s);
                        } else if direction == Direction::Up && falls {
                            dag.dist[s as usize] = d + 1;
                            descends[s as usize] = true;
                            dag.order.push(s);
                        }
                    } else if far + 1 == d && direction.allows(falls, descends[s as usize]) {
                        dag.push(c as u32, s);
                    }
                }
                dag.end_row();
            }
            let d = dag.dist[dag.order[level.start] as usize] + 1;
            for s in climbers.drain(..) {
                if dag.dist[s as usize] == FAR {
                    dag.dist[s as usize] = d;
                    dag.order.push(s);
                }
            }
            level = level.end..dag.order.len();
        }
    }

    /// Down wherever there is a path down; all others climb to the nearest of those.
    fn down_first(&self, fabric: &Fabric, dag: &mut Dag, descends: &mut [bool], dest: SwitchId) {
        Self::start(dag, descends, dest);
        spread(fabric, dag, |against| self.direction[against] == Direction::Up);
        for &s in &dag.order {
            descends[s as usize] = true;
        }
        spread(fabric, dag, |against| self.direction[against] == Direction::Down);
    }
}

/// Adds to `dag.order` all switches that reach those in it against channels that `allowed` accepts, by
/// rising distance from the destination (a search from many starts).
pub(super) fn spread(fabric: &Fabric, dag: &mut Dag, allowed: impl Fn(usize) -> bool) {
    if dag.order.len() == fabric.switch_count() {
        return;
    }
    let mut at: Vec<Vec<u32>> = Vec::new();
    let put = |at: &mut Vec<Vec<u32>>, s: u32, d: u32| {
        let d = d as usize;
        if at.len() <= d {
            at.resize(d + 1, Vec::new());
        }
        at[d].push(s);
    };
    for &s in &dag.order {
        put(&mut at, s, dag.dist[s as usize]);
    }
    let mut d = 0;
    while d < at.len() {
        for v in std::mem::take(&mut at[d]) {
            let channels = fabric.channels_from(SwitchId(v));
            for (c, &s) in (channels.start..).zip(&fabric.heads()[channels.clone()]) {
                if dag.dist[s as usize] == FAR && allowed(c) {
                    dag.dist[s as usize] = d as u32 + 1;
                    dag.order.push(s);
                    put(&mut at, s, d as u32 + 1);
                }
            }
        }
        d += 1;
    }
}

fn places(key: &[u32], rank: impl Fn(u32) -> u32) -> Vec<u32> {
    let mut by: Vec<u32> = (0..key.len() as u32).collect();
    by.sort_by_key(|&s| (rank(key[s as usize]), s));
    let mut place = vec![0; by.len()];
    for (i, s) in by.into_iter().enumerate() {
        place[s as usize] = i as u32;
    }
    place
}

/// Hops from the nearest of `starts`.
pub(crate) fn distances(fabric: &Fabric, starts: &[SwitchId]) -> Vec<u32> {
    let mut dist = vec![FAR; fabric.switch_count()];
    let mut queue: Vec<u32> = Vec::with_capacity(dist.len());
    for &s in starts {
        if dist[s.index()] == FAR {
            dist[s.index()] = 0;
            queue.push(s.0);
        }
    }
    let mut next = 0;
    while next < queue.len() {
        let s = queue[next] as usize;
        next += 1;
        for c in fabric.channels_from(SwitchId::new(s)) {
            let v = fabric.heads()[c];
            if dist[v as usize] == FAR {
                dist[v as usize] = dist[s] + 1;
                queue.push(v);
            }
        }
    }
    dist
}

/// Switches with hosts; aggregation pseudo-adapters are not hosts, unless there is nothing else.
pub(crate) fn leaves(fabric: &Fabric) -> Vec<SwitchId> {
    let with = |role: fn(Role) -> bool| -> Vec<SwitchId> {
        (0..fabric.switch_count())
            .map(SwitchId::new)
            .filter(|&s| fabric.terminals_on(s).any(|t| role(fabric.terminals()[t].role)))
            .collect()
    };
    let hosts = with(|role| role != Role::Aggregation);
    if hosts.is_empty() { with(|_| true) } else { hosts }
}

/// Switches with hosts on the level (or at the distance) that most hosts are on, of two alike the lower number; sorted.
fn bottom(fabric: &Fabric, key: &[u32]) -> Vec<SwitchId> {
    let mut leaves = leaves(fabric);
    let mut hosts: BTreeMap<u32, usize> = BTreeMap::new();
    for s in &leaves {
        *hosts.entry(key[s.index()]).or_default() += fabric.terminals_on(*s).len();
    }
    let most = hosts.iter().max_by_key(|&(&at, &count)| (count, std::cmp::Reverse(at)));
    if let Some((&most, _)) = most {
        leaves.retain(|s| key[s.index()] == most);
    }
    leaves
}

/// The switch with the lowest eccentricity, then the smallest sum of distances, then the lowest id.
pub(crate) fn centre(fabric: &Fabric) -> SwitchId {
    nearest(fabric, |_| true)
}

/// As [`centre`], of the switches that `counts` accepts.
fn nearest(fabric: &Fabric, counts: impl Fn(SwitchId) -> bool + Sync) -> SwitchId {
    let starts: Vec<usize> = (0..fabric.switch_count()).step_by(SEARCHES).collect();
    let bundles = starts.into_par_iter().filter_map(|first| {
        let far = (first..).zip(farness(fabric, first));
        let counted = far.filter(|&(s, _)| counts(SwitchId::new(s)));
        counted.map(|(s, (most, sum))| (most, sum, s)).min()
    });
    bundles.min().map_or_else(SwitchId::default, |(_, _, s)| SwitchId::new(s))
}

/// Of each of the switches from `first` on, [`SEARCHES`] at most, the largest distance to a switch that it reaches, and the sum.
fn farness(fabric: &Fabric, first: usize) -> Vec<(u32, u64)> {
    let mut far = vec![(0, 0); SEARCHES.min(fabric.switch_count() - first)];
    search_from(fabric, first, |level, mut searches| {
        while searches != 0 {
            let (most, sum) = &mut far[searches.trailing_zeros() as usize];
            (*most, *sum) = (level, *sum + u64::from(level));
            searches &= searches - 1;
        }
    });
    far
}

/// Levels of a tree, 1 = leaf: from given roots, else from its shape, or by distance from the switches with
/// hosts. The error states what is wrong, and where.
pub(crate) fn tree_levels(
    fabric: &Fabric,
    shape: Option<&Shape>,
    roots: &[SwitchId],
) -> Result<Vec<u32>, String> {
    let level = if !roots.is_empty() {
        levels_below(fabric, roots)
    } else if let Some(Shape::Tree(tree)) = shape {
        tree.level.iter().map(|&l| u32::from(l)).collect()
    } else {
        levels_above_leaves(fabric)
    };
    // A few cables within a level are a quirk of wiring that can stay dark; many are another family.
    let flat = flat(fabric, &level);
    if has_levels(fabric, &flat) {
        return Ok(level);
    }
    let c = flat[0];
    let name = |s: u32| fabric.switch(SwitchId(s)).description.as_str();
    Err(format!(
        "{} of {} switch-to-switch cables join switches of one level, e.g. \"{}\" and \"{}\"{}",
        flat.len(),
        fabric.switch_link_count(),
        name(fabric.tails()[c]),
        name(fabric.heads()[c]),
        if roots.is_empty() { " (--roots says which switches are on top)" } else { "" },
    ))
}

/// Cables within a level, by the lower channel.
fn flat(fabric: &Fabric, level: &[u32]) -> Vec<usize> {
    let is_flat = |&c: &usize| {
        let (s, v) = (fabric.tails()[c] as usize, fabric.heads()[c] as usize);
        s < v && level[s] == level[v]
    };
    (0..fabric.channel_count()).filter(is_flat).collect()
}

/// Whether few enough cables are within a level.
fn has_levels(fabric: &Fabric, flat: &[usize]) -> bool {
    flat.len() * 10 <= fabric.switch_link_count()
}

/// Levels by distance from the leaves: the switches with hosts. If that makes no tree, top switches may have some, too, for logins or
/// storage: then those are leaves that have a quarter of what leaves usually have, or half, or all of it.
fn levels_above_leaves(fabric: &Fabric) -> Vec<u32> {
    let all = leaves(fabric);
    let hosts = |s: SwitchId| fabric.terminals_on(s).len();
    let mut counts: Vec<usize> = all.iter().map(|&s| hosts(s)).collect();
    counts.sort_unstable();
    let usual = counts.get(counts.len() / 2).copied().unwrap_or(0);
    let levels = |leaves: &[SwitchId]| {
        let mut level = levels_below(fabric, &top_switches(fabric, leaves));
        let near = |s| &fabric.heads()[fabric.channels_from(SwitchId::new(s))];
        lift_pits(&mut level, |s| leaves.binary_search(&SwitchId::new(s)).is_ok(), near);
        level
    };
    // Nearly all hosts of a tree are on its lowest level.
    let is_tree = |level: &[u32]| {
        let high: usize = all.iter().filter(|s| level[s.index()] > 1).map(|&s| hosts(s)).sum();
        has_levels(fabric, &flat(fabric, level)) && high * 5 <= counts.iter().sum::<usize>()
    };
    let first = levels(&all);
    if is_tree(&first) {
        return first;
    }
    let fewer = [usual / 4 + 1, usual / 2 + 1, usual].into_iter().map(|enough| {
        let some: Vec<SwitchId> = all.iter().copied().filter(|&s| hosts(s) >= enough).collect();
        levels(&some)
    });
    fewer.into_iter().find(|level| is_tree(level)).unwrap_or(first)
}

fn levels_below(fabric: &Fabric, roots: &[SwitchId]) -> Vec<u32> {
    let depth = distances(fabric, roots);
    let deepest = depth.iter().copied().filter(|&d| d != FAR).max().unwrap_or(0);
    depth.into_iter().map(|d| deepest.saturating_sub(d) + 1).collect()
}

/// The switches farthest from the leaves. A stub (a management switch that hangs on a
/// core, say) may be farther still: a distance counts only if it has at least a tenth as many switches
/// as the one below.
fn top_switches(fabric: &Fabric, leaves: &[SwitchId]) -> Vec<SwitchId> {
    let height = distances(fabric, leaves);
    let mut count: Vec<usize> = Vec::new();
    for &h in height.iter().filter(|&&h| h != FAR) {
        count.resize(count.len().max(h as usize + 1), 0);
        count[h as usize] += 1;
    }
    let top = (1..count.len()).find(|&h| count[h] * 10 < count[h - 1]).unwrap_or(count.len()) - 1;
    (0..height.len()).filter(|&s| height[s] as usize == top).map(SwitchId::new).collect()
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::parse_spec;

    use super::*;

    /// All searches at once find what one search after the other finds.
    #[test]
    fn bundled_searches_find_all_distances() {
        for spec in
            ["mesh:dims=130x1,t=1", "torus:dims=5x4x4,t=1", "dragonfly:p=1,a=4,h=2", "kary:k=3,n=3"]
        {
            let fabric = parse_spec(spec).expect("a spec").fabric;
            let n = fabric.switch_count();
            let bundled: Vec<(u32, u64)> =
                (0..n).step_by(SEARCHES).flat_map(|first| farness(&fabric, first)).collect();
            let alone = (0..n).map(|s| {
                let all = distances(&fabric, &[SwitchId::new(s)]);
                (all.iter().copied().max().unwrap_or(0), all.iter().map(|&d| u64::from(d)).sum())
            });
            assert_eq!(bundled, alone.collect::<Vec<(u32, u64)>>(), "{spec}");
        }
    }
}
