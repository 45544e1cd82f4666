//! Lines of lattices and of dragonfly groups, and the turns that close no cycle among them.
//!
//! Every local channel has a class, its dimension, and its line: the switches of a row, or a whole
//! dragonfly group. Minimal paths take their hops in the order of the classes.
//!
//! Where cables or switches are missing, paths take other turns ([`Lines::may_turn`]). The switches of
//! a line are ranked, the more damaged the higher, and a hop **rises** or falls in rank:
//!
//! - In a line a path may take several hops, but not fall after it has risen: Up*/Down* on a line
//!   (Schroeder et al., "Autonet", 1991), upside down.
//! - On a HyperX it may turn back from a later class to an earlier one, if the hop there rises. For
//!   this the rank is one of coordinates, the same in all lines of a class.
//!
//! A cycle would have a smallest class `b`. Its hops of class `b` come after hops of later classes, and
//! then rise, or after hops of their own line. A falling one thus comes after another falling one of its
//! line, and so on for ever, which never closes. So all rise in coordinate `b`, which no other hop of
//! the cycle changes: it never comes back.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{Fabric, SwitchId};

/// Class of channels between dragonfly groups.
pub(super) const GLOBAL: u8 = u8::MAX - 1;
/// Class of channels that fit into no line.
pub(super) const ODD: u8 = u8::MAX;

/// The lines of a fabric, on which the stages are based.
pub(super) struct Lines {
    /// Class of each channel.
    class: Vec<u8>,
    switches: usize,
    /// Classes that have lines: `0..dims`.
    pub(super) dims: u8,
    /// Rank of each switch in its line; `rank[class * switches + s]`.
    rank: Vec<u32>,
    /// Whether paths may turn back to an earlier class.
    back: bool,
}

impl Lines {
    /// The lines of groups, along the first `dims` coordinates of each switch. Channels that change
    /// a coordinate behind those are [`GLOBAL`]; channels that change none or several are [`ODD`].
    pub(super) fn of_groups(fabric: &Fabric, dims: usize, coords: &[Vec<u32>]) -> Self {
        let mut lines = Self::new(fabric, dims, coords);
        for d in 0..dims {
            let missing = missing(fabric, &lines.class, d, coords);
            lines.rank_within_lines(d, &missing);
        }
        lines
    }

    /// The lines of a lattice, in all coordinates.
    pub(super) fn of_lattice(fabric: &Fabric, dims: usize, coords: &[Vec<u32>]) -> Self {
        let mut lines = Self::new(fabric, dims, coords);
        lines.back = true;
        // Of all classes from the current one on.
        let mut all = vec![0; fabric.switch_count()];
        for d in (0..dims).rev() {
            let missing = missing(fabric, &lines.class, d, coords);
            all.iter_mut().zip(&missing).for_each(|(sum, m)| *sum += m);
            if d + 1 == dims {
                // No path turns back to the last class.
                lines.rank_within_lines(d, &missing);
            } else {
                lines.rank_coordinates(fabric, d, &all, coords);
            }
        }
        lines
    }

    /// Groups of leaves and spines: class 0 leads up to a spine, class 1 down to a leaf.
    pub(super) fn leaf_spine(fabric: &Fabric, group: &[u32], leaf: &[bool]) -> Self {
        let n = fabric.switch_count();
        let class = (0..fabric.channel_count())
            .map(|c| {
                let (s, v) = (fabric.tails()[c] as usize, fabric.heads()[c] as usize);
                match (leaf[s], leaf[v]) {
                    _ if group[s] != group[v] => GLOBAL,
                    (true, false) => 0,
                    (false, true) => 1,
                    _ => ODD,
                }
            })
            .collect();
        Self { class, switches: n, dims: 2, rank: vec![0; 2 * n], back: false }
    }

    fn new(fabric: &Fabric, dims: usize, coords: &[Vec<u32>]) -> Self {
        let n = fabric.switch_count();
        let class = (0..fabric.channel_count())
            .map(|c| {
                let (s, v) = (fabric.tails()[c] as usize, fabric.heads()[c] as usize);
                let (a, b) = (&coords[s], &coords[v]);
                if a[dims..] != b[dims..] {
                    return GLOBAL;
                }
                let mut changed = (0..dims).filter(|&d| a[d] != b[d]);
                match (changed.next(), changed.next()) {
                    (Some(d), None) => d as u8,
                    _ => ODD,
                }
            })
            .collect();
        Self { class, switches: n, dims: dims as u8, rank: vec![0; dims * n], back: false }
    }

    /// Ranks all switches by their number of missing cables, then by id.
    fn rank_within_lines(&mut self, d: usize, missing: &[u32]) {
        let mut order: Vec<usize> = (0..self.switches).collect();
        order.sort_by_key(|&s| (missing[s], s));
        for (s, rank) in order.into_iter().zip(0..) {
            self.rank[d * self.switches + s] = rank;
        }
    }

    /// Ranks coordinates: those with missing switches highest, then those whose switches miss most
    /// cables. Two switches without a cable need a third one below either of them, so the second
    /// lowest coordinate is the one with most cables to the lowest.
    fn rank_coordinates(
        &mut self,
        fabric: &Fabric,
        d: usize,
        missing: &[u32],
        coords: &[Vec<u32>],
    ) {
        let mut of: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for (at, &missing) in coords.iter().zip(missing) {
            let (switches, cables) = of.entry(at[d]).or_default();
            *switches += 1;
            *cables += missing;
        }
        let mut order: Vec<u32> = of.keys().copied().collect();
        order.sort_by_key(|x| (Reverse(of[x].0), of[x].1, *x));
        let mut joined: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for c in (0..fabric.channel_count()).filter(|&c| usize::from(self.class[c]) == d) {
            let (s, v) = (fabric.tails()[c], fabric.heads()[c]);
            if order.first() == Some(&coords[s as usize][d]) {
                joined.entry(coords[v as usize][d]).or_default().insert(v);
            }
        }
        let cables = |x: &u32| joined.get(x).map_or(0, BTreeSet::len);
        if let Some(second) = (1..order.len()).max_by_key(|&i| (cables(&order[i]), Reverse(i))) {
            order[1..=second].rotate_right(1);
        }
        let rank: BTreeMap<u32, u32> = order.into_iter().zip(0..).collect();
        for (s, at) in coords.iter().enumerate() {
            self.rank[d * self.switches + s] = rank[&at[d]];
        }
    }

    /// The class of a channel.
    #[inline]
    pub(super) fn class(&self, c: u32) -> u8 {
        self.class[c as usize]
    }

    #[inline]
    pub(super) fn rank(&self, class: u8, s: u32) -> u32 {
        self.rank[usize::from(class) * self.switches + s as usize]
    }

    /// Whether a path may continue from channel `c` to `next`, as far as lines are concerned.
    pub(super) fn may_turn(&self, fabric: &Fabric, c: u32, next: u32) -> bool {
        let (a, b) = (self.class(c), self.class(next));
        let (s, v) = (fabric.tails()[c as usize], fabric.heads()[c as usize]);
        let t = fabric.heads()[next as usize];
        a >= GLOBAL || b >= GLOBAL || self.may_join(a, s, v, b, self.rank(b, t))
    }

    /// Whether a path may come from `s` on a channel of class `a` to `v`, and continue in class `b`
    /// to switches of rank `low` or more.
    #[inline]
    pub(super) fn may_join(&self, a: u8, s: u32, v: u32, b: u8, low: u32) -> bool {
        if a >= GLOBAL || b >= GLOBAL {
            return true;
        }
        let rises = || self.rank(b, v) < low;
        match a.cmp(&b) {
            Ordering::Less => true,
            Ordering::Equal => self.rank(b, v) < self.rank(b, s) || rises(),
            Ordering::Greater => self.back && rises(),
        }
    }
}

/// Number of switches of its line in dimension `d` that each switch has no cable to.
fn missing(fabric: &Fabric, class: &[u8], d: usize, coords: &[Vec<u32>]) -> Vec<u32> {
    let mut lines: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    let line = |at: &[u32]| {
        let mut line = at.to_vec();
        line[d] = 0;
        line
    };
    for at in coords {
        *lines.entry(line(at)).or_default() += 1;
    }
    let joined = |s: usize| {
        let channels = fabric.channels_from(SwitchId::new(s));
        let mut heads: Vec<u32> =
            channels.filter(|&c| usize::from(class[c]) == d).map(|c| fabric.heads()[c]).collect();
        heads.sort_unstable();
        heads.dedup();
        heads.len() as u32
    };
    let all = coords.iter().enumerate();
    all.map(|(s, at)| (lines[&line(at)] - 1).saturating_sub(joined(s))).collect()
}
