//! Growing the paths to a destination stage by stage: lattice lines and dragonfly groups.
//!
//! Every channel has a class, its dimension. A minimal path takes its hops in the order of the classes.
//! Seen from the destination, the last class comes first: its stage joins the switches that have a
//! direct cable to one joined before; then comes the stage of the class before it, and so on. Each
//! table entry is made once, so no path can take classes in another order.
//!
//! In a line (the switches of a row, or a whole dragonfly group) that lacks a cable, a switch without
//! a direct one may first hop to another switch of its line that is **above** it: one with fewer
//! missing cables, or the lower id among equals. Within a line, paths so only go up, then once more,
//! which is Up*/Down* on a line (Schroeder et al., "Autonet", 1991) and closes no cycle.

use std::collections::BTreeMap;

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
    /// Switches that each switch has no cable to in its line; `missing[class * switches + s]`.
    missing: Vec<u32>,
    /// Whether any cable is missing in the switch's line, as `missing`.
    damaged: Vec<bool>,
    switches: usize,
    /// Classes that have lines: `0..dims`.
    dims: u8,
}

impl Lines {
    /// Lines along the first `dims` of the coordinates of each switch. Channels that change a
    /// coordinate behind those are [`GLOBAL`]; channels that change none or several are [`ODD`].
    pub(super) fn new(fabric: &Fabric, dims: usize, coords: &[Vec<u32>]) -> Self {
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
        let mut lines = Self {
            class,
            missing: vec![0; dims * n],
            damaged: vec![false; dims * n],
            switches: n,
            dims: dims as u8,
        };
        for d in 0..dims {
            lines.find_missing(fabric, d, coords);
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
        let (missing, damaged) = (vec![0; 2 * n], vec![false; 2 * n]);
        Self { class, missing, damaged, switches: n, dims: 2 }
    }

    fn find_missing(&mut self, fabric: &Fabric, d: usize, coords: &[Vec<u32>]) {
        let n = self.switches;
        let mut lines: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
        for (s, at) in coords.iter().enumerate() {
            let mut line = at.clone();
            line[d] = 0;
            lines.entry(line).or_default().push(s);
        }
        for line in lines.values() {
            for &s in line {
                let mut joined: Vec<u32> = fabric
                    .channels_from(SwitchId::new(s))
                    .filter(|&c| usize::from(self.class[c]) == d)
                    .map(|c| fabric.heads()[c])
                    .collect();
                joined.sort_unstable();
                joined.dedup();
                self.missing[d * n + s] = (line.len() - 1).saturating_sub(joined.len()) as u32;
            }
            let damaged = line.iter().any(|&s| self.missing[d * n + s] > 0);
            for &s in line {
                self.damaged[d * n + s] = damaged;
            }
        }
    }

    /// The class of a channel.
    #[inline]
    pub(super) fn class(&self, c: u32) -> u8 {
        self.class[c as usize]
    }

    /// Whether `v` is above `s` in their line.
    #[inline]
    fn above(&self, class: u8, v: u32, s: u32) -> bool {
        let key = |x: u32| (self.missing[usize::from(class) * self.switches + x as usize], x);
        key(v) < key(s)
    }

    /// Whether a path may go on from local channel `c` to local channel `next`: to a later class, or
    /// in the same line, but not over a switch that both others are above of.
    pub(super) fn may_turn(&self, fabric: &Fabric, c: u32, next: u32) -> bool {
        let (a, b) = (self.class(c), self.class(next));
        let (s, v) = (fabric.tails()[c as usize], fabric.heads()[c as usize]);
        let t = fabric.heads()[next as usize];
        a < b || a == b && (self.above(a, v, s) || self.above(a, v, t))
    }
}

/// The paths to one destination switch, as far as they have grown.
pub(super) struct Growth<'a> {
    fabric: &'a Fabric,
    lines: &'a Lines,
    dag: &'a mut Dag,
    dest: u32,
    work: &'a mut Work,
}

/// Room for a [`Growth`], to be used again.
#[derive(Default)]
pub(super) struct Work {
    /// Number of the stage that joined each switch.
    stage: Vec<u32>,
    /// Class and kind (whether by climbing in a line) of each stage.
    stages: Vec<(u8, bool)>,
    /// Of the candidates of each switch the one that a draw by channel and destination takes.
    pub(super) choice: Vec<u32>,
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
        work.stage.clear();
        work.stage.resize(n, 0);
        work.choice.clear();
        work.choice.resize(n, NONE);
        work.stages.clear();
        work.stages.push((ODD, false));
        Self { fabric, lines, dag, dest: dest.0, work }
    }

    /// Switches joined so far.
    pub(super) fn joined(&self) -> usize {
        self.dag.order.len()
    }

    /// Whether every switch is joined.
    pub(super) fn complete(&self) -> bool {
        self.joined() == self.fabric.switch_count()
    }

    /// The stages of all lines, last class first.
    pub(super) fn join_lines(&mut self) {
        for class in (0..self.lines.dims).rev() {
            let mut before = self.dag.order.len();
            self.join(class, 0, false);
            while before < self.dag.order.len() {
                let first = before;
                before = self.dag.order.len();
                self.join(class, first, true);
            }
        }
    }

    /// The stage of cables between groups.
    pub(super) fn join_groups(&mut self) {
        self.join(GLOBAL, 0, false);
    }

    /// One stage: joins the switches that send on a channel of `class` to one of those joined so
    /// far, from place `first` of the order; with `climb` only to one above them in a damaged line.
    fn join(&mut self, class: u8, first: usize, climb: bool) {
        let (fabric, lines, n) = (self.fabric, self.lines, self.lines.switches);
        let now = self.work.stages.len() as u32;
        self.work.stages.push((class, climb));
        for i in first..self.dag.order.len() {
            let v = self.dag.order[i];
            if climb && !lines.damaged[usize::from(class) * n + v as usize] {
                continue;
            }
            let dist = self.dag.dist[v as usize] + 1;
            for back in fabric.channels_from(SwitchId(v)) {
                let c = fabric.reverses()[back];
                let s = fabric.heads()[back];
                let at = s as usize;
                if lines.class(c) != class || climb && !lines.above(class, v, s) {
                    continue;
                }
                let far = self.dag.dist[at];
                if far == FAR {
                    self.dag.order.push(s);
                    self.work.stage[at] = now;
                } else if self.work.stage[at] != now || far < dist {
                    continue;
                }
                let drawn =
                    far == dist && draw(self.work.choice[at], self.dest) >= draw(c, self.dest);
                if !drawn {
                    self.work.choice[at] = c;
                }
                self.dag.dist[at] = dist;
            }
        }
    }

    /// Joins the rest on shortest ways as strays, and makes the graph of all candidates.
    pub(super) fn finish(self) {
        let Self { fabric, lines, dag, work, .. } = self;
        dag.legal = dag.order.len();
        for &s in &dag.order[1..] {
            debug_assert!(work.stage[s as usize] > 0);
        }
        spread(fabric, dag, |_| true);
        let stage = &work.stage;
        let dest = dag.order[0] as usize;
        dag.collect(fabric, |c, s, v| {
            if s != dest && stage[s] == 0 {
                return true;
            }
            let (class, climb) = work.stages[stage[s] as usize];
            let earlier = stage[v] < stage[s] && (stage[v] > 0 || v == dest);
            earlier && lines.class[c] == class && (!climb || lines.above(class, v as u32, s as u32))
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
