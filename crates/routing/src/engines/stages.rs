//! Growing the paths to a destination stage by stage: lattice lines and dragonfly groups.
//!
//! Every local channel has a class, its dimension, and its line: the switches of a row, or a whole
//! dragonfly group. A minimal path takes its hops in the order of the classes. Seen from the
//! destination, the last class comes first: its stage joins the switches that have a direct cable to
//! one joined before; then comes the stage of the class before it, and so on. Each table entry is made
//! once, and goes to a switch joined in an earlier stage.
//!
//! Where cables or switches are missing this leaves switches out. Further rounds of stages join them
//! over turns that close no cycle either ([`Lines::may_turn`]). The switches of a line are ranked, the
//! more damaged the higher, and a hop **rises** or falls in rank:
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

use super::dag::{Dag, FAR};
use super::order::spread;

/// Class of channels between dragonfly groups.
pub(super) const GLOBAL: u8 = u8::MAX - 1;
/// Class of channels that fit into no line.
pub(super) const ODD: u8 = u8::MAX;

const NONE: u32 = u32::MAX;

/// The lines of a fabric: what the stages go by.
pub(super) struct Lines {
    /// Class of each channel.
    class: Vec<u8>,
    switches: usize,
    /// Classes that have lines: `0..dims`.
    dims: u8,
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
        // Of all classes from the one at hand on.
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

    /// Ranks all switches by what they miss themselves, then by id.
    fn rank_within_lines(&mut self, d: usize, missing: &[u32]) {
        let mut order: Vec<usize> = (0..self.switches).collect();
        order.sort_by_key(|&s| (missing[s], s));
        for (s, rank) in order.into_iter().zip(0..) {
            self.rank[d * self.switches + s] = rank;
        }
    }

    /// Ranks coordinates: those that lack switches highest, then those whose switches miss most. Two
    /// switches without a cable need a third one below either of them, so the second lowest
    /// coordinate is the one with most cables to the lowest.
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
    fn rank(&self, class: u8, s: u32) -> u32 {
        self.rank[usize::from(class) * self.switches + s as usize]
    }

    /// Whether a path may go on from channel `c` to `next`, as far as lines are concerned.
    pub(super) fn may_turn(&self, fabric: &Fabric, c: u32, next: u32) -> bool {
        let (a, b) = (self.class(c), self.class(next));
        let (s, v) = (fabric.tails()[c as usize], fabric.heads()[c as usize]);
        let t = fabric.heads()[next as usize];
        a >= GLOBAL || b >= GLOBAL || self.may_join(a, s, v, b, self.rank(b, t))
    }

    /// Whether a path may come from `s` on a channel of class `a` to `v`, which goes on in class `b`
    /// to switches of rank `low` or more.
    #[inline]
    fn may_join(&self, a: u8, s: u32, v: u32, b: u8, low: u32) -> bool {
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

/// How many switches of its line in dimension `d` each switch has no cable to.
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

/// The paths to one destination switch, as far as they have grown.
pub(super) struct Growth<'a> {
    fabric: &'a Fabric,
    lines: &'a Lines,
    dag: &'a mut Dag,
    dest: u32,
    work: &'a mut Work,
    /// Stages so far.
    stages: u32,
}

/// Room for a [`Growth`], to be used again.
#[derive(Default)]
pub(super) struct Work {
    /// Number of the stage that joined each switch; 0 for the destination and those not joined.
    stage: Vec<u32>,
    /// Class that each switch sends on.
    class: Vec<u8>,
    /// Lowest rank, in that class, of the coordinates that each switch may send to.
    low: Vec<u32>,
    /// Of the candidates of each switch the one that a draw by channel and destination takes.
    pub(super) choice: Vec<u32>,
}

impl Work {
    fn clear(&mut self, n: usize) {
        self.stage.clear();
        self.stage.resize(n, 0);
        self.class.clear();
        self.class.resize(n, ODD);
        self.low.clear();
        self.low.resize(n, 0);
        self.choice.clear();
        self.choice.resize(n, NONE);
    }
}

impl<'a> Growth<'a> {
    /// Only the destination itself.
    pub(super) fn new(
        fabric: &'a Fabric,
        lines: &'a Lines,
        dag: &'a mut Dag,
        work: &'a mut Work,
        dest: SwitchId,
    ) -> Self {
        let n = fabric.switch_count();
        dag.clear(n);
        dag.dist[dest.index()] = 0;
        dag.order.push(dest.0);
        work.clear(n);
        Self { fabric, lines, dag, dest: dest.0, work, stages: 0 }
    }

    /// Switches joined so far.
    pub(super) fn joined(&self) -> usize {
        self.dag.order.len()
    }

    /// Whether every switch is joined.
    pub(super) fn complete(&self) -> bool {
        self.joined() == self.fabric.switch_count()
    }

    /// The stages of all lines, last class first, round by round while they join anybody.
    pub(super) fn join_lines(&mut self) {
        let mut before = 0;
        while self.joined() > before && !self.complete() {
            before = self.joined();
            for class in (0..self.lines.dims).rev() {
                self.join(class);
            }
        }
    }

    /// The stage of cables between groups.
    pub(super) fn join_groups(&mut self) {
        self.join(GLOBAL);
    }

    /// One stage: joins the switches that may send on a channel of `class` to one of those joined so
    /// far.
    fn join(&mut self, class: u8) {
        let Self { fabric, lines, dag, work, dest, .. } = self;
        self.stages += 1;
        let now = self.stages;
        for i in 0..dag.order.len() {
            let v = dag.order[i];
            let dist = dag.dist[v as usize] + 1;
            let (next, low) = (work.class[v as usize], work.low[v as usize]);
            for back in fabric.channels_from(SwitchId(v)) {
                let c = fabric.reverses()[back];
                let s = fabric.heads()[back];
                let at = s as usize;
                let far = dag.dist[at];
                if lines.class(c) != class
                    || far != FAR && (work.stage[at] != now || far < dist)
                    || !lines.may_join(class, s, v, next, low)
                {
                    continue;
                }
                let rank = if class < GLOBAL { lines.rank(class, v) } else { 0 };
                if far == FAR {
                    dag.order.push(s);
                    work.stage[at] = now;
                    work.class[at] = class;
                }
                let equal = far == dist;
                work.low[at] = if equal { work.low[at].min(rank) } else { rank };
                if !equal || draw(c, *dest) > draw(work.choice[at], *dest) {
                    work.choice[at] = c;
                }
                dag.dist[at] = dist;
            }
        }
    }

    /// Joins the rest on shortest ways as strays, and makes the graph of all candidates.
    pub(super) fn finish(self) {
        let Self { fabric, lines, dag, work, dest, .. } = self;
        dag.legal = dag.order.len();
        spread(fabric, dag, |_| true);
        dag.collect(fabric, |c, s, v| {
            let (at, before) = (work.stage[s], work.stage[v]);
            if at == 0 {
                return true;
            }
            let joined = before > 0 || v == dest as usize;
            let (class, next, low) = (work.class[s], work.class[v], work.low[v]);
            joined
                && before < at
                && lines.class[c] == class
                && lines.may_join(class, s as u32, v as u32, next, low)
        });
    }

    /// Joins the rest as [`finish`](Self::finish), and leaves one channel for every switch in
    /// `choice` instead of the graph.
    pub(super) fn choose(self) {
        let Self { fabric, dag, work, dest, .. } = self;
        dag.legal = dag.order.len();
        spread(fabric, dag, |_| true);
        for &s in &dag.order[dag.legal..] {
            let dist = &dag.dist;
            work.choice[s as usize] = fabric
                .channels_from(SwitchId(s))
                .filter(|&c| dist[fabric.heads()[c] as usize] + 1 == dist[s as usize])
                .map(|c| c as u32)
                .max_by_key(|&c| draw(c, dest))
                .unwrap_or(NONE);
        }
    }
}

/// A number that looks random: whoever draws the largest is chosen, so that the choice needs no
/// knowledge of other destinations (Thaler and Ravishankar, "Using name-based mappings to increase
/// hit rates", IEEE/ACM ToN 6(1), 1998).
#[inline]
fn draw(channel: u32, dest: u32) -> u64 {
    let mut x = u64::from(channel) << 32 | u64::from(dest);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}
