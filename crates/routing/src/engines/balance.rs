//! Choosing among candidates by the load of whole paths, and improving the choice.
//!
//! Destinations are routed one after the other, each on the paths with the smallest sum of loads so far,
//! as SSSP does (Hoefler, Schneider, Lumsdaine, "Optimized routing for large-scale InfiniBand networks",
//! HOTI 2009). Then, beyond the paper, further passes remove each destination's paths and route it again
//! among all others, while the largest load falls and stays above its lower bound; at first all sources
//! together, then one after the other.
//!
//! Where there are many destination switches, several parts route them in parallel (see `parallel`).

use std::collections::BTreeSet;

use darkfiber_fabric::{Fabric, Role, SwitchId};
use rayon::prelude::*;

use super::balancer::Balancer;
use super::dag::Dag;
use super::divided::DividedDag;
use super::kept_dags::Dags;
use super::parallel::{Rows, SHARE, add_up, parts};
use crate::{DestId, Routes};

/// Most passes after the first one that choose for all sources of a destination together.
const TOGETHER: usize = 2;
/// Most passes after those that choose source by source.
const APART: usize = 6;
/// Passes end where the largest load is this near to its lower bound: a share of one in this many.
const NEAR: u64 = 50;
/// Passes that choose together end with one that gains less than one in this many.
const GAIN: u64 = 33;
/// As [`GAIN`], for passes that choose source by source, which balance damaged fabrics.
const GAIN_APART: u64 = 200;

/// Destination switches that each part takes at a time where parts exchange nothing.
const ALONE: usize = 64;

/// Switches without terminals whose LIDs are routed at a time.
const SILENT: usize = 512;

/// The first criterion where paths are chosen for all sources of a destination together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstCriterion {
    /// The sum of loads.
    Load,
    /// A channel should have few destinations of the same switch; the sum of loads comes second. Terminals of a
    /// switch that receive at a time, as in any shift of all ranks, then have channels of their own.
    Siblings,
}

/// The LIDs that are routed together at one switch: terminals of one role, and the switch's own LID
/// in its last group.
pub(super) struct LidGroup {
    pub(super) terminals: Vec<u32>,
    pub(super) itself: bool,
}

/// Fills `routes` with balanced paths on the candidate graphs that `make` builds.
///
/// Destinations are taken in OpenSM's order: compute, storage, other terminals; within a role by
/// switch, those with most terminals first; all LIDs of a port one after the other. Ties go to the
/// lower channel. LIDs of switches carry management traffic only and add no load.
///
/// Returns the paths (row, source switch) of terminals on strays, and the largest load of a channel.
///
/// Complexity: O(passes x LIDs x candidates).
pub(crate) fn balance(
    fabric: &Fabric,
    routes: &mut Routes,
    weighs: FirstCriterion,
    make: impl Fn(&mut Dag, SwitchId) + Sync,
) -> BalanceResult {
    let groups = lid_groups(fabric);
    let with_terminals = groups.partition_point(|(_, group)| !group.terminals.is_empty());
    let (sending, silent) = groups.split_at(with_terminals);
    let parts = vec![BalancePart::new(fabric, weighs); parts(sending.len())];
    let mut all_parts = BalanceParts { parts, dags: Dags::new(sending, &make) };
    all_parts.pass(routes, false, BalancePart::first);
    route_silent(&all_parts.parts[0], routes, silent, &make);
    let strays =
        all_parts.parts.iter_mut().flat_map(|part| std::mem::take(&mut part.strays)).collect();
    // All paths to a destination are as long as its graph says, so that their sum is given.
    let balancer = &all_parts.parts[0].balancer;
    let bound = cut_bound(fabric, routes.paths()).max(balancer.mean()).max(all_parts.forced());
    let mut largest = balancer.largest();
    let mut together = TOGETHER;
    let mut apart = APART;
    while !is_near(largest, bound) && together + apart > 0 {
        let before = (routes.clone(), all_parts.parts[0].balancer.load.clone());
        let fine = together == 0;
        all_parts
            .pass(routes, true, |part, routes, group, dag| part.again(routes, &group.1, dag, fine));
        let now = all_parts.parts[0].balancer.largest();
        let passes = if fine { &mut apart } else { &mut together };
        let gain = if fine { GAIN_APART } else { GAIN };
        *passes = if largest.saturating_sub(now) < largest / gain { 0 } else { *passes - 1 };
        if now < largest {
            largest = now;
        } else {
            *routes = before.0;
            for part in &mut all_parts.parts {
                part.balancer.load.clone_from(&before.1);
            }
        }
    }
    BalanceResult { strays, largest }
}

/// A destination switch and LIDs of it.
type HomeGroup = (SwitchId, LidGroup);

/// The parts that route the destinations: one part, or several in parallel where there are many
/// destinations.
struct BalanceParts<'a, M> {
    parts: Vec<BalancePart<'a>>,
    dags: Dags<'a, LidGroup, M>,
}

impl<'a, M: Fn(&mut Dag, SwitchId) + Sync> BalanceParts<'a, M> {
    /// Lets the parts do `work` for every group with terminals. They exchange their loads `often`, or only
    /// at the end: then each stretch is as even as in isolation, and so are all together.
    fn pass(
        &mut self,
        routes: &mut Routes,
        often: bool,
        work: impl Fn(&mut BalancePart<'a>, &Routes, &HomeGroup, &DividedDag) + Sync + Send,
    ) {
        if let [alone] = &mut self.parts[..] {
            self.dags.each(|group, dag| {
                work(alone, routes, group, dag);
                alone.rows.hand_in(routes);
            });
            return;
        }
        self.dags.keep_all();
        let Self { parts, dags } = self;
        let mut common = parts[0].balancer.load.clone();
        // Each part has its own stretch: neighbours, whose paths meet most, see each other.
        let stretch = dags.homes.len().div_ceil(parts.len());
        // Parts that exchange nothing wait for each other only as often as their rows must be handed in, lest these take memory.
        let share = if often { SHARE } else { ALONE };
        for begin in (0..stretch).step_by(share) {
            let shares = parts.par_iter_mut().zip(dags.homes.par_chunks(stretch)).enumerate();
            shares.for_each(|(k, (part, groups))| {
                let mut made = std::mem::take(&mut part.dag);
                for (number, group) in groups.iter().enumerate().skip(begin).take(share) {
                    work(part, routes, group, dags.get(k * stretch + number, &mut made));
                }
                part.dag = made;
            });
            for part in &mut *parts {
                part.rows.hand_in(routes);
            }
            if often || begin + share >= stretch {
                add_up(&mut common, parts, |part| &mut part.balancer.load);
            }
        }
    }

    /// Maximum number of paths on a channel that have no alternative.
    fn forced(&self) -> u64 {
        let of = |c: usize| self.parts.iter().map(|part| part.balancer.forced[c]).sum();
        (0..self.parts[0].balancer.forced.len()).map(of).max().unwrap_or(0)
    }
}

/// One of the parts that route destinations, with its own view of the loads.
#[derive(Clone)]
struct BalancePart<'a> {
    fabric: &'a Fabric,
    weighs: FirstCriterion,
    balancer: Balancer,
    rows: Rows,
    dag: DividedDag,
    /// Paths (row, source switch) against the engine's rule.
    strays: Vec<(u32, u32)>,
}

impl<'a> BalancePart<'a> {
    fn new(fabric: &'a Fabric, weighs: FirstCriterion) -> Self {
        Self {
            fabric,
            weighs,
            balancer: Balancer::new(fabric),
            rows: Rows::default(),
            dag: DividedDag::default(),
            strays: Vec::new(),
        }
    }

    /// Routes the LIDs of a group.
    fn first(&mut self, routes: &Routes, (home, group): &(SwitchId, LidGroup), dag: &DividedDag) {
        let rows = rows(routes, group);
        if !rows.is_empty() {
            self.balancer.force(&dag.whole, rows.len() as u64);
            self.balancer.enter(dag);
            self.balancer.add_settled(dag, rows.len() as u64);
        }
        let tail_ports = self.fabric.tail_ports();
        for row in rows {
            let ports = self.rows.begin(routes, row);
            for (s, only) in &dag.settled {
                ports[*s as usize] = tail_ports[only.channel as usize];
            }
            choose(&mut self.balancer, self.fabric, dag, self.weighs, ports);
            self.strays.extend(dag.whole.strays(self.fabric).map(|s| (row as u32, s)));
        }
        self.balancer.unmark();
        if group.itself {
            let row = routes.row(DestId::switch(self.fabric, *home), 0);
            self.balancer.choose(self.fabric, &dag.whole, self.rows.begin(routes, row));
        }
    }

    /// Removes the LIDs of a group and routes them again, source by source if `apart`.
    fn again(&mut self, routes: &Routes, group: &LidGroup, dag: &DividedDag, apart: bool) {
        self.balancer.enter(dag);
        for row in rows(routes, group) {
            let ports = self.rows.begin(routes, row);
            self.balancer.remove(self.fabric, dag.open(), ports);
            if apart {
                self.balancer.choose_open_apart(self.fabric, dag, ports);
            } else {
                choose(&mut self.balancer, self.fabric, dag, self.weighs, ports);
            }
        }
        self.balancer.unmark();
    }
}

/// Routes a LID for all sources together, and adds its paths, but for the channels of settled switches.
fn choose(
    balancer: &mut Balancer,
    fabric: &Fabric,
    dag: &DividedDag,
    weighs: FirstCriterion,
    ports: &mut [u8],
) {
    balancer.choose(fabric, dag.open(), ports);
    balancer.add(dag.open());
    if weighs == FirstCriterion::Siblings {
        balancer.mark(&dag.whole);
    }
}

/// The rows of the terminals of a group.
pub(super) fn rows(routes: &Routes, group: &LidGroup) -> Vec<usize> {
    let lids = |&t: &u32| (0..routes.paths()).map(move |path| (DestId(t), path));
    group.terminals.iter().flat_map(lids).map(|(d, path)| routes.row(d, path)).collect()
}

/// Routes the LIDs of switches without terminals: they add no load.
fn route_silent(
    part: &BalancePart<'_>,
    routes: &mut Routes,
    silent: &[(SwitchId, LidGroup)],
    make: impl Fn(&mut Dag, SwitchId) + Sync,
) {
    for batch in silent.chunks(SILENT) {
        let work = |groups: &[(SwitchId, LidGroup)]| {
            let mut part = part.clone();
            let mut dag = DividedDag::default();
            for group in groups {
                make(&mut dag.whole, group.0);
                part.first(routes, group, &dag);
            }
            part.rows
        };
        let made: Vec<Rows> = batch.par_chunks(SILENT / 16).map(work).collect();
        for mut rows in made {
            rows.hand_in(routes);
        }
    }
}

/// Whether a further pass is not worth its time.
pub(super) fn is_near(largest: u64, bound: u64) -> bool {
    largest <= bound.saturating_add(bound / NEAR)
}

/// [`balance`] on all shortest paths of a connected fabric; returns the largest load.
pub(crate) fn shortest(fabric: &Fabric, routes: &mut Routes) -> u64 {
    let balanced =
        balance(fabric, routes, FirstCriterion::Load, |dag, home| dag.shortest(fabric, home));
    debug_assert!(balanced.strays.is_empty(), "every shortest path is legal");
    balanced.largest
}

/// The result of [`balance`].
pub(crate) struct BalanceResult {
    /// Paths (row, source switch) against the engine's rule.
    pub(crate) strays: Vec<(u32, u32)>,
    /// Most terminal-to-terminal paths on a channel.
    pub(crate) largest: u64,
}

/// No routing can bring the largest load below this bound: the traffic of the terminals of some
/// switch to all others leaves over that switch's own channels, all of it for one LID over one of
/// them.
pub(super) fn cut_bound(fabric: &Fabric, paths: usize) -> u64 {
    let all = fabric.terminal_count() as u64;
    (0..fabric.switch_count())
        .map(SwitchId::new)
        .map(|s| {
            let here = fabric.terminals_on(s).len() as u64;
            let lids = (all - here) * paths as u64;
            match fabric.channels_from(s).len() as u64 {
                0 => 0,
                channels => here * lids.div_ceil(channels),
            }
        })
        .max()
        .unwrap_or(0)
}

/// The switches with terminals, in the order of their first group.
pub(super) fn homes(groups: &[(SwitchId, LidGroup)]) -> Vec<SwitchId> {
    let mut seen = BTreeSet::new();
    let groups = groups.iter().filter(|(_, group)| !group.terminals.is_empty());
    groups.map(|(home, _)| *home).filter(|&home| seen.insert(home)).collect()
}

/// All groups in the order in which destinations are routed, but those at switches with few terminals
/// in a separate wave, the second.
///
/// Where few dependencies may be made, the few paths to such switches (aggregation nodes in the top of a
/// tree) must not claim those that the balance of all others needs.
pub(super) fn waves(fabric: &Fabric) -> Vec<Vec<(SwitchId, LidGroup)>> {
    /// A switch has few terminals if it has this many times fewer than those that most terminals are on.
    const FEW: usize = 2;
    let on = |home: SwitchId| fabric.terminals_on(home).len();
    let mut all: Vec<usize> = fabric.terminals().iter().map(|t| on(t.switch)).collect();
    all.sort_unstable();
    let usual = all.get(all.len() / 2).copied().unwrap_or(0);
    let (many, few): (Vec<_>, Vec<_>) =
        lid_groups(fabric).into_iter().partition(|&(home, _)| on(home) * FEW > usual);
    let waves = [many, few].into_iter();
    waves.filter(|groups| groups.iter().any(|(_, group)| !group.terminals.is_empty())).collect()
}

/// All groups in the order in which destinations are routed.
pub(super) fn lid_groups(fabric: &Fabric) -> Vec<(SwitchId, LidGroup)> {
    let mut homes: Vec<SwitchId> = (0..fabric.switch_count()).map(SwitchId::new).collect();
    homes.sort_by_key(|&s| std::cmp::Reverse(fabric.terminals_on(s).len()));
    let mut groups: Vec<(SwitchId, LidGroup)> = Vec::new();
    let mut last = vec![usize::MAX; fabric.switch_count()];
    for role in [Role::Compute, Role::Storage, Role::Other, Role::Aggregation] {
        for &home in &homes {
            let terminals: Vec<u32> = fabric
                .terminals_on(home)
                .filter(|&t| fabric.terminals()[t].role == role)
                .map(|t| t as u32)
                .collect();
            if !terminals.is_empty() {
                last[home.index()] = groups.len();
                groups.push((home, LidGroup { terminals, itself: false }));
            }
        }
    }
    for home in homes {
        match groups.get_mut(last[home.index()]) {
            Some((_, group)) => group.itself = true,
            None => groups.push((home, LidGroup { terminals: Vec::new(), itself: true })),
        }
    }
    groups
}

/// Divisions of the work into waves, the best first; the last is one wave, which is most likely to need few layers.
pub(super) fn schedules(fabric: &Fabric) -> Vec<Vec<Vec<(SwitchId, LidGroup)>>> {
    let waves = waves(fabric);
    if waves.len() == 1 { vec![waves] } else { vec![waves, vec![lid_groups(fabric)]] }
}
