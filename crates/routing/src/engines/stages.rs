//! Growing the paths to a destination stage by stage: lattice lines and dragonfly groups.
//!
//! Seen from the destination, the last class comes first: its stage joins the switches that have a
//! direct cable to one joined before; then comes the stage of the class before it, and so on. Each table
//! entry is made once, and goes to a switch joined in an earlier stage. Where cables or switches are
//! missing this leaves switches out; further rounds of stages join them over the other turns that
//! [`Lines`] allows.

use darkfiber_fabric::{Fabric, SwitchId};

use super::dag::{Dag, FAR};
use super::lines::{GLOBAL, Lines, ODD};
use super::order::spread;

const NONE: u32 = u32::MAX;

/// The paths to one destination switch, as far as they have grown.
pub(super) struct Growth<'a> {
    fabric: &'a Fabric,
    lines: &'a Lines,
    dag: &'a mut Dag,
    dest: u32,
    work: &'a mut GrowthScratch,
    /// Number of stages so far.
    stages: u32,
}

/// Reusable memory for a [`Growth`].
#[derive(Default)]
pub(super) struct GrowthScratch {
    /// Number of the stage that joined each switch; 0 for the destination and those not joined.
    stage: Vec<u32>,
    /// Class that each switch sends on.
    class: Vec<u8>,
    /// Lowest rank, in that class, of the coordinates that each switch may send to.
    low: Vec<u32>,
    /// Of the candidates of each switch the one selected by hashing channel and destination.
    pub(super) choice: Vec<u32>,
}

impl GrowthScratch {
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
        work: &'a mut GrowthScratch,
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

    /// The stages of all lines, last class first, round by round while they join any switch.
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
    /// far. Looks from whichever side has fewer switches.
    fn join(&mut self, class: u8) {
        self.stages += 1;
        let (fabric, joined) = (self.fabric, self.joined());
        if 2 * joined <= fabric.switch_count() {
            for i in 0..joined {
                for back in fabric.channels_from(SwitchId(self.dag.order[i])) {
                    self.offer(class, fabric.reverses()[back]);
                }
            }
        } else {
            let missing = (0..fabric.switch_count()).filter(|&s| self.dag.dist[s] == FAR);
            for s in missing.collect::<Vec<_>>() {
                for c in fabric.channels_from(SwitchId::new(s)) {
                    self.offer(class, c as u32);
                }
            }
        }
    }

    /// Lets the tail of channel `c` send on it, if it is not joined nearer, and may.
    #[inline]
    fn offer(&mut self, class: u8, c: u32) {
        let Self { fabric, lines, dag, work, dest, stages: now } = self;
        let (s, v) = (fabric.tails()[c as usize], fabric.heads()[c as usize]);
        let (at, to) = (s as usize, v as usize);
        let far = dag.dist[at];
        if lines.class(c) != class
            || dag.dist[to] == FAR
            || work.stage[to] == *now
            || far != FAR && (work.stage[at] != *now || far < dag.dist[to] + 1)
            || !lines.may_join(class, s, v, work.class[to], work.low[to])
        {
            return;
        }
        let dist = dag.dist[to] + 1;
        let rank = if class < GLOBAL { lines.rank(class, v) } else { 0 };
        if far == FAR {
            dag.order.push(s);
            work.stage[at] = *now;
            work.class[at] = class;
        }
        let equal = far == dist;
        work.low[at] = if equal { work.low[at].min(rank) } else { rank };
        if !equal || draw(c, *dest) > draw(work.choice[at], *dest) {
            work.choice[at] = c;
        }
        dag.dist[at] = dist;
    }

    /// Joins the rest on shortest paths as strays, and makes the graph of all candidates.
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
                && lines.class(c as u32) == class
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

/// A pseudo-random number: the candidate with the largest one is chosen, so that the choice needs
/// no knowledge of other destinations (Thaler and Ravishankar, "Using name-based mappings to
/// increase hit rates", IEEE/ACM ToN 6(1), 1998).
#[inline]
fn draw(channel: u32, dest: u32) -> u64 {
    let mut x = u64::from(channel) << 32 | u64::from(dest);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}
