//! Growing the in-tree of a destination, level by level, under a rule for channel dependencies.
//!
//! The tree grows from the destination outward. A switch joins over the cheapest channel whose
//! dependency on the next channel the rule takes; if there is none it may join a level later, over a
//! detour. This is the search in the complete channel dependency graph of Nue (Domke, Hoefler,
//! Matsuoka, "Routing on the dependency graph: a new approach to deadlock-free high-performance
//! routing", HPDC'16, section 4), by hops and then by load. Dependencies that only switches without
//! terminals would make are not checked until traffic joins behind them.

use darkfiber_fabric::{Fabric, SwitchId};

use super::acyclic::{Acyclic, NONE};
use super::dag::{Dag, FAR};
use super::tree::Tree;

/// The dependencies of a channel on the next one that a tree may have. `source` is the switch that joins.
pub(super) trait Rule {
    /// Whether the rule differs by source, so that each must check its whole path; otherwise the
    /// part of it that traffic passes already needs no check.
    const BY_SOURCE: bool = false;
    /// A tree towards `home` begins.
    fn begin(&mut self, _home: SwitchId) {}
    /// Whether some path makes the dependency already.
    fn known(&self, source: u32, c: u32, next: u32) -> bool;
    /// Whether the dependency is known to be forbidden.
    fn barred(&self, source: u32, c: u32, next: u32) -> bool;
    /// Makes the dependency, if it may be; whether it is there.
    fn take(&mut self, source: u32, c: u32, next: u32) -> bool;
}

/// A rule that allows every dependency.
pub(super) struct Free;

impl Rule for Free {
    fn known(&self, _: u32, _: u32, _: u32) -> bool {
        true
    }
    fn barred(&self, _: u32, _: u32, _: u32) -> bool {
        false
    }
    fn take(&mut self, _: u32, _: u32, _: u32) -> bool {
        true
    }
}

/// Forbids dependencies that close a cycle.
impl Rule for Acyclic<'_> {
    fn known(&self, _: u32, c: u32, next: u32) -> bool {
        self.has(c, next)
    }
    fn barred(&self, _: u32, c: u32, next: u32) -> bool {
        self.is_barred(c, next)
    }
    fn take(&mut self, _: u32, c: u32, next: u32) -> bool {
        self.extend(c, next)
    }
}

/// Choice among channels that bring a switch equally close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preference {
    /// Existing dependencies first, then the least sum of loads: few dependencies, few layers.
    Frugal,
    /// The least sum of loads.
    Balanced,
}

/// The loads that sources look at.
pub(super) enum LoadView<'x, 'a> {
    /// Those of other trees: all sources see the same.
    Joint(&'x [u64], Preference),
    /// Those of the paths that joined this tree, too: each takes the path whose fullest channel has the
    /// least load, and sees the paths of those that joined before it. The loads are restored when the
    /// tree is grown.
    Separate(&'x mut Loads<'a>),
}

/// A channel that a switch may join over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct JoinChannel {
    class: u8,
    /// Load of the fullest channel, if sources look at it.
    fullest: u64,
    /// Sum of loads on the path.
    sum: u64,
    channel: u32,
}

/// Scratch memory for growing trees; kept between trees.
#[derive(Clone)]
pub(super) struct Grower<'a> {
    fabric: &'a Fabric,
    /// Terminals on each switch.
    pub(super) sources: Vec<u32>,
    /// Sum of loads on the path of each switch.
    cost: Vec<u64>,
    /// Whether traffic passes each switch of the tree.
    passed: Vec<bool>,
    mark: Vec<u32>,
    stamp: u32,
    frontier: Vec<u32>,
    options: Vec<JoinChannel>,
}

impl<'a> Grower<'a> {
    pub(super) fn new(fabric: &'a Fabric) -> Self {
        let n = fabric.switch_count();
        Self {
            fabric,
            sources: (0..n).map(|s| fabric.terminals_on(SwitchId::new(s)).len() as u32).collect(),
            cost: vec![0; n],
            passed: vec![false; n],
            mark: vec![0; n],
            stamp: 0,
            frontier: Vec::new(),
            options: Vec::new(),
        }
    }

    /// Grows the tree of `home`; returns whether all switches joined.
    ///
    /// Complexity: O(channels), times the hops if sources look apart, plus what the rule takes.
    pub(super) fn grow(
        &mut self,
        rule: &mut impl Rule,
        mut view: LoadView<'_, '_>,
        home: SwitchId,
        tree: &mut Tree,
    ) -> bool {
        self.begin(rule, home, tree);
        let mut level = 0..1;
        while !level.is_empty() {
            self.look_around(tree, level.clone());
            let frontier = std::mem::take(&mut self.frontier);
            let distance = tree.dist[tree.order[level.start] as usize];
            for &u in &frontier {
                for c in self.fabric.channels_from(SwitchId(u)) {
                    if tree.dist[self.fabric.heads()[c] as usize] == distance {
                        self.weigh(rule, &view, tree, u, c as u32);
                    }
                }
                self.join(rule, &mut view, tree, u);
            }
            level = level.end..tree.order.len();
            self.frontier = frontier;
        }
        self.end(view, tree);
        tree.order.len() == self.fabric.switch_count()
    }

    /// As [`grow`](Self::grow), on shortest paths alone, whose graph is given; stops at the first
    /// switch that cannot join.
    ///
    /// Complexity: O(candidates), times the hops if sources look apart, plus what the rule takes.
    pub(super) fn grow_shortest(
        &mut self,
        rule: &mut impl Rule,
        mut view: LoadView<'_, '_>,
        dag: &Dag,
        tree: &mut Tree,
    ) -> bool {
        self.begin(rule, SwitchId(dag.order[0]), tree);
        let all = (1..dag.order.len()).all(|i| {
            let u = dag.order[i];
            for c in dag.candidates(i) {
                self.weigh(rule, &view, tree, u, c.channel);
            }
            self.join(rule, &mut view, tree, u)
        });
        self.end(view, tree);
        all
    }

    /// The tree of least sums of loads on shortest paths, if the rule takes it unchanged: then it equals the
    /// tree of [`grow_shortest`](Self::grow_shortest) when known dependencies do not come first, found without
    /// checking channels that are not taken. Otherwise `tree` is invalid, and the rule has the results of the
    /// checks that growing would do first.
    pub(super) fn choose_shortest(
        &mut self,
        rule: &mut impl Rule,
        load: &[u64],
        dag: &Dag,
        tree: &mut Tree,
    ) -> bool {
        self.choose(load, dag, tree);
        self.attach_all(rule, tree)
    }

    /// The tree of least sums of loads on shortest paths, whatever dependencies it makes.
    pub(super) fn choose(&mut self, load: &[u64], dag: &Dag, tree: &mut Tree) {
        let home = SwitchId(dag.order[0]);
        tree.start(self.fabric.switch_count(), home);
        self.cost[home.index()] = 0;
        for (i, &u) in dag.order.iter().enumerate().skip(1) {
            let (mut least, mut best) = (u64::MAX, NONE);
            for c in dag.candidates(i) {
                let sum = self.cost[c.head as usize] + load[c.channel as usize];
                if sum < least {
                    (least, best) = (sum, c.channel);
                }
            }
            self.cost[u as usize] = least;
            tree.push(self.fabric, u, best);
        }
    }

    /// Makes the dependencies of a tree's paths, one path after the other; `false` at the first that may not be.
    pub(super) fn attach_all(&mut self, rule: &mut impl Rule, tree: &Tree) -> bool {
        let home = SwitchId(tree.order[0]);
        rule.begin(home);
        self.passed.fill(false);
        self.passed[home.index()] = true;
        tree.order[1..].iter().all(|&u| {
            let sends = self.sources[u as usize] > 0;
            let joins = !sends || self.attach(rule, tree, u, tree.next[u as usize]);
            self.passed[u as usize] = sends;
            joins
        })
    }

    fn end(&self, view: LoadView<'_, '_>, tree: &Tree) {
        if let LoadView::Separate(loads) = view {
            loads.remove(tree, &self.sources);
        }
    }

    fn begin(&mut self, rule: &mut impl Rule, home: SwitchId, tree: &mut Tree) {
        rule.begin(home);
        tree.start(self.fabric.switch_count(), home);
        self.passed.fill(false);
        self.passed[home.index()] = true;
        self.cost[home.index()] = 0;
        self.options.clear();
    }

    /// Collects the switches outside the tree next to those of a level.
    fn look_around(&mut self, tree: &Tree, level: std::ops::Range<usize>) {
        self.stamp += 1;
        self.frontier.clear();
        for &v in &tree.order[level] {
            for c in self.fabric.channels_from(SwitchId(v)) {
                let u = self.fabric.heads()[c];
                if tree.dist[u as usize] == FAR && self.mark[u as usize] != self.stamp {
                    self.mark[u as usize] = self.stamp;
                    self.frontier.push(u);
                }
            }
        }
    }

    /// Adds a channel of switch `u` into the tree to its options.
    #[inline]
    fn weigh(
        &mut self,
        rule: &impl Rule,
        view: &LoadView<'_, '_>,
        tree: &Tree,
        u: u32,
        channel: u32,
    ) {
        let v = self.fabric.heads()[channel as usize] as usize;
        let next = tree.next[v];
        let class = if next == NONE || rule.known(u, channel, next) {
            0
        } else if rule.barred(u, channel, next) {
            // A switch that sends nothing makes no dependency.
            if self.sources[u as usize] > 0 {
                return;
            }
            2
        } else {
            u8::from(matches!(view, LoadView::Joint(_, Preference::Frugal)))
        };
        let (fullest, sum) = match view {
            LoadView::Separate(loads) => self.fullest(tree, &loads.of, channel),
            LoadView::Joint(load, _) => (0, self.cost[v] + load[channel as usize]),
        };
        self.options.push(JoinChannel { class, fullest, sum, channel });
    }

    /// Lets switch `u` join over the best of its options that the rule takes; whether there is one.
    fn join(
        &mut self,
        rule: &mut impl Rule,
        view: &mut LoadView<'_, '_>,
        tree: &mut Tree,
        u: u32,
    ) -> bool {
        let sends = self.sources[u as usize] > 0;
        while let Some((i, &best)) = self.options.iter().enumerate().min_by_key(|(_, o)| **o) {
            if !sends || self.attach(rule, tree, u, best.channel) {
                self.passed[u as usize] = sends;
                self.cost[u as usize] = best.sum;
                tree.push(self.fabric, u, best.channel);
                if let LoadView::Separate(loads) = view
                    && sends
                {
                    let paths = u64::from(self.sources[u as usize]);
                    tree.follow(self.fabric, best.channel, |c| loads.of[c as usize] += paths);
                }
                self.options.clear();
                return true;
            }
            self.options.swap_remove(i);
        }
        false
    }

    /// Largest load and sum of loads on the path over channel `first`.
    fn fullest(&self, tree: &Tree, load: &[u64], first: u32) -> (u64, u64) {
        let (mut most, mut sum) = (0, 0);
        tree.follow(self.fabric, first, |c| {
            most = most.max(load[c as usize]);
            sum += load[c as usize];
        });
        (most, sum)
    }

    /// Makes the dependencies of a path that joins the tree over channel `first`: the first, and those
    /// behind it that no traffic has made yet. `false` if one may not be.
    fn attach<R: Rule>(&mut self, rule: &mut R, tree: &Tree, source: u32, first: u32) -> bool {
        let heads = self.fabric.heads();
        let mut c = first;
        loop {
            let v = heads[c as usize] as usize;
            let next = tree.next[v];
            if next == NONE {
                break;
            }
            if !rule.take(source, c, next) {
                return false;
            }
            if self.passed[v] && !R::BY_SOURCE {
                break;
            }
            c = next;
        }
        // Only now: a switch counts as passed once all behind it is made.
        let mut v = heads[first as usize] as usize;
        while !self.passed[v] {
            self.passed[v] = true;
            v = heads[tree.next[v] as usize] as usize;
        }
        true
    }
}

/// Loads of all channels by the paths of trees.
#[derive(Clone)]
pub(super) struct Loads<'a> {
    fabric: &'a Fabric,
    /// Terminal-to-terminal paths over each inter-switch channel.
    pub(super) of: Vec<u64>,
    through: Vec<u64>,
}

impl<'a> Loads<'a> {
    pub(super) fn new(fabric: &'a Fabric) -> Self {
        Self {
            fabric,
            of: vec![0; fabric.channel_count()],
            through: vec![0; fabric.switch_count()],
        }
    }

    pub(super) fn largest(&self) -> u64 {
        self.of.iter().copied().max().unwrap_or(0)
    }

    /// Mean load, rounded up.
    pub(super) fn mean(&self) -> u64 {
        self.of.iter().sum::<u64>().div_ceil(self.of.len().max(1) as u64)
    }

    /// Adds the paths of a tree, `times` over.
    pub(super) fn add(&mut self, tree: &Tree, sources: &[u32], times: u64) {
        self.pass(tree, sources, |load, paths| *load += paths * times);
    }

    /// Takes the paths of a tree out again.
    pub(super) fn remove(&mut self, tree: &Tree, sources: &[u32]) {
        self.pass(tree, sources, |load, paths| *load -= paths);
    }

    fn pass(&mut self, tree: &Tree, sources: &[u32], change: impl Fn(&mut u64, u64)) {
        for (through, &n) in self.through.iter_mut().zip(sources) {
            *through = u64::from(n);
        }
        for &s in tree.order.iter().rev() {
            let c = tree.next[s as usize];
            if c != NONE {
                let paths = self.through[s as usize];
                change(&mut self.of[c as usize], paths);
                self.through[self.fabric.heads()[c as usize] as usize] += paths;
            }
        }
    }
}
